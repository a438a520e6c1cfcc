# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libperf.a
EXTRA_DIST += opensm/perf/counters.def opensm/perf/details.def \
	opensm/perf/perf_rules.def
libperf_a_SOURCES = \
	opensm/perf/account.c opensm/perf/account.h \
	opensm/perf/agent.c opensm/perf/agent.h \
	opensm/perf/columns.c opensm/perf/columns.h \
	opensm/perf/history.c opensm/perf/history.h \
	opensm/perf/image.c opensm/perf/image.h \
	opensm/perf/image_file.c opensm/perf/image_file.h \
	opensm/perf/images.c \
	opensm/perf/layout.c opensm/perf/layout.h \
	opensm/perf/perf.c opensm/perf/perf.h \
	opensm/perf/perf_private.h \
	opensm/perf/query.c opensm/perf/query.h \
	opensm/perf/query_rows.c \
	opensm/perf/record.c opensm/perf/record.h \
	opensm/perf/report.c opensm/perf/report.h \
	opensm/perf/resume.c opensm/perf/resume.h opensm/perf/resumed.c \
	opensm/perf/sweep.c \
	opensm/perf/perf_rules.c opensm/perf/perf_rules.h \
	opensm/perf/judge.c opensm/perf/judge.h \
	opensm/perf/cause.c opensm/perf/cause.h \
	opensm/perf/growth.c opensm/perf/growth.h \
	opensm/perf/verdict.c opensm/perf/verdict.h
