# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libha.a
libha_a_SOURCES = \
	opensm/ha/accord.c opensm/ha/agreement.c opensm/ha/agreement.h \
	opensm/ha/follower.c \
	opensm/ha/frame.c opensm/ha/frame.h \
	opensm/ha/ha_private.h \
	opensm/ha/leader.c \
	opensm/ha/replica.c opensm/ha/replica.h \
	opensm/ha/replicator.c opensm/ha/replicator.h
