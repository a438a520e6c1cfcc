# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libsa.a
libsa_a_SOURCES = \
	opensm/sa/sa.h opensm/sa/sa_private.h \
	opensm/sa/fabric_records.c \
	opensm/sa/held.c opensm/sa/held.h \
	opensm/sa/limit.c opensm/sa/limit.h \
	opensm/sa/mcmember.c \
	opensm/sa/mlids.c opensm/sa/mlids.h \
	opensm/sa/park.c opensm/sa/park.h \
	opensm/sa/path.c \
	opensm/sa/pipeline.c \
	opensm/sa/records.c \
	opensm/sa/replicate.c opensm/sa/replicate.h \
	opensm/sa/server.c \
	opensm/sa/store.c opensm/sa/store.h \
	opensm/sa/table_records.c \
	opensm/sa/view.c opensm/sa/view.h
