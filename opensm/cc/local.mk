# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libcc.a
libcc_a_SOURCES = \
	opensm/cc/agent.c opensm/cc/agent.h \
	opensm/cc/cc.c opensm/cc/cc.h \
	opensm/cc/cc_private.h \
	opensm/cc/memory.c \
	opensm/cc/profile.c opensm/cc/profile.h \
	opensm/cc/report.c opensm/cc/report.h \
	opensm/cc/round.c \
	opensm/cc/values.c opensm/cc/values.h \
	opensm/cc/watch.c
