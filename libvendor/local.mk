# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libiba.a libsim.a libumad.a libvendor.a
noinst_HEADERS += include/vendor/vendor.h include/vendor/vendor_private.h include/vendor/sim.h \
	include/vendor/sim_cc.h include/vendor/sim_cc_kind.def \
	include/vendor/sim_agent.def include/vendor/sim_counter.def
noinst_HEADERS += include/vendor/capture.h libvendor/capture_private.h
libvendor_a_SOURCES = libvendor/vendor.c libvendor/admission.c libvendor/admission.h \
	libvendor/rmpp.c libvendor/rmpp.h libvendor/transfers.c libvendor/transfers.h \
	libvendor/tap.c libvendor/watch.c libvendor/capture.c \
	libvendor/capture_frame.c libvendor/frames.c libvendor/frames.h

include libvendor/iba/local.mk
include libvendor/sim/local.mk
include libvendor/umad/local.mk
include libvendor/osmsim/local.mk
include libvendor/preload/local.mk
