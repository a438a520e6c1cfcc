# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	opensm/core/context.h \
	opensm/core/counters.def opensm/core/counters.h \
	opensm/core/events.c opensm/core/events.def opensm/core/events.h
