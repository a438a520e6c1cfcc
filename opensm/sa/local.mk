# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libsa.a
libsa_a_SOURCES = \
	opensm/sa/sa.h opensm/sa/sa_private.h \
	opensm/sa/aliases.c opensm/sa/aliases.h \
	opensm/sa/database.c opensm/sa/database.h \
	opensm/sa/dump.c opensm/sa/dump.h \
	opensm/sa/effect.c opensm/sa/effect.h \
	opensm/sa/fabric_records.c \
	opensm/sa/guid_info.c \
	opensm/sa/held.c opensm/sa/held.h \
	opensm/sa/hold.c opensm/sa/hold.h \
	opensm/sa/inform.c \
	opensm/sa/ipoib.c opensm/sa/ipoib.h \
	opensm/sa/lapse.c \
	opensm/sa/limit.c opensm/sa/limit.h \
	opensm/sa/mcmember.c \
	opensm/sa/merge.c \
	opensm/sa/mlids.c opensm/sa/mlids.h \
	opensm/sa/multi_path.c \
	opensm/sa/notices.c opensm/sa/notices.h \
	opensm/sa/park.c opensm/sa/park.h \
	opensm/sa/path.c \
	opensm/sa/paths.c opensm/sa/paths.h \
	opensm/sa/pipeline.c \
	opensm/sa/quota.c opensm/sa/quota.h \
	opensm/sa/rate.c opensm/sa/rate.h \
	opensm/sa/records.c \
	opensm/sa/registries.h \
	opensm/sa/replicate.c opensm/sa/replicate.h \
	opensm/sa/report.c opensm/sa/report.h \
	opensm/sa/server.c \
	opensm/sa/service.c \
	opensm/sa/services.c opensm/sa/services.h \
	opensm/sa/store.c opensm/sa/store.h opensm/sa/store_private.h \
	opensm/sa/subscribers.c opensm/sa/subscribers.h \
	opensm/sa/table_records.c \
	opensm/sa/trace.c \
	opensm/sa/turns.c opensm/sa/turns.h \
	opensm/sa/view.c opensm/sa/view.h \
	opensm/sa/wishes.c
