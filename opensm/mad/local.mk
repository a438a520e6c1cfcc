# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libmad.a
libmad_a_SOURCES = \
	opensm/mad/mad.c opensm/mad/mad.h \
	opensm/mad/rtt.h \
	opensm/mad/smp.c opensm/mad/smp.h \
	opensm/mad/window.h
