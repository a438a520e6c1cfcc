# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libperf.a
EXTRA_DIST += opensm/perf/image/counters.def opensm/perf/image/details.def \
	opensm/perf/judge/perf_rules.def
libperf_a_SOURCES = \
	opensm/perf/read/account.c opensm/perf/read/account.h \
	opensm/perf/read/agent.c opensm/perf/read/agent.h \
	opensm/perf/disk/columns.c opensm/perf/disk/columns.h \
	opensm/perf/disk/history.c opensm/perf/disk/history.h \
	opensm/perf/image/image.c opensm/perf/image/image.h \
	opensm/perf/disk/image_file.c opensm/perf/disk/image_file.h \
	opensm/perf/read/images.c opensm/perf/read/late.c \
	opensm/perf/image/layout.c opensm/perf/image/layout.h \
	opensm/perf/perf.c opensm/perf/perf.h \
	opensm/perf/perf_private.h \
	opensm/perf/image/query.c opensm/perf/image/query.h \
	opensm/perf/image/query_rows.c \
	opensm/perf/image/record.c opensm/perf/image/record.h \
	opensm/perf/read/report.c opensm/perf/read/report.h \
	opensm/perf/disk/resume.c opensm/perf/disk/resume.h opensm/perf/read/resumed.c \
	opensm/perf/read/sweep.c \
	opensm/perf/judge/perf_rules.c opensm/perf/judge/perf_rules.h \
	opensm/perf/judge/judge.c opensm/perf/judge/judge.h \
	opensm/perf/judge/cause.c opensm/perf/judge/cause.h \
	opensm/perf/image/growth.c opensm/perf/image/growth.h \
	opensm/perf/judge/verdict.c opensm/perf/judge/verdict.h
