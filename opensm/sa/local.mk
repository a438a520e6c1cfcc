# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libsa.a
libsa_a_SOURCES = \
	opensm/sa/database.c opensm/sa/database.h \
	opensm/sa/dump.c opensm/sa/dump.h \
	opensm/sa/registries.h \
	opensm/sa/sa.h \
	opensm/sa/sa_private.h \
	opensm/sa/server.c \
	opensm/sa/admit/effect.c opensm/sa/admit/effect.h \
	opensm/sa/admit/held.c opensm/sa/admit/held.h \
	opensm/sa/admit/hold.c opensm/sa/admit/hold.h \
	opensm/sa/admit/park.c opensm/sa/admit/park.h \
	opensm/sa/admit/rate.c opensm/sa/admit/rate.h \
	opensm/sa/admit/turns.c opensm/sa/admit/turns.h \
	opensm/sa/clients/aliases.c opensm/sa/clients/aliases.h \
	opensm/sa/clients/notices.c opensm/sa/clients/notices.h \
	opensm/sa/clients/quota.c opensm/sa/clients/quota.h \
	opensm/sa/clients/services.c opensm/sa/clients/services.h \
	opensm/sa/clients/subscribers.c opensm/sa/clients/subscribers.h \
	opensm/sa/groups/ipoib.c opensm/sa/groups/ipoib.h \
	opensm/sa/groups/lapse.c \
	opensm/sa/groups/merge.c \
	opensm/sa/groups/mlids.c opensm/sa/groups/mlids.h \
	opensm/sa/groups/store.c opensm/sa/groups/store.h \
	opensm/sa/groups/store_private.h \
	opensm/sa/groups/wishes.c \
	opensm/sa/record/fabric_records.c \
	opensm/sa/record/guid_info.c \
	opensm/sa/record/inform.c \
	opensm/sa/record/mcmember.c \
	opensm/sa/record/multi_path.c \
	opensm/sa/record/path.c \
	opensm/sa/record/paths.c opensm/sa/record/paths.h \
	opensm/sa/record/pipeline.c \
	opensm/sa/record/records.c \
	opensm/sa/record/service.c \
	opensm/sa/record/table_records.c \
	opensm/sa/record/trace.c \
	opensm/sa/report/replicate.c opensm/sa/report/replicate.h \
	opensm/sa/report/report.c opensm/sa/report/report.h
