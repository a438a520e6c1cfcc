# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# All of the program but its main(), so that tests can call it.
noinst_LIBRARIES += libosmroute.a
libosmroute_a_SOURCES = \
	opensm/osmroute/arguments.c opensm/osmroute/arguments.h \
	opensm/osmroute/changes.c opensm/osmroute/changes.h \
	opensm/osmroute/clusters.c opensm/osmroute/clusters.h \
	opensm/osmroute/cost.c opensm/osmroute/cost.h \
	opensm/osmroute/draw.c opensm/osmroute/draw.h \
	opensm/osmroute/grid.c opensm/osmroute/grid.h \
	opensm/osmroute/hosted.c opensm/osmroute/hosted.h \
	opensm/osmroute/judge.c opensm/osmroute/judge.h \
	opensm/osmroute/judgement.c opensm/osmroute/judgement.h \
	opensm/osmroute/layout.c opensm/osmroute/layout.h \
	opensm/osmroute/loss.c opensm/osmroute/loss.h \
	opensm/osmroute/measured.c opensm/osmroute/measured.h \
	opensm/osmroute/median.c opensm/osmroute/median.h \
	opensm/osmroute/outage.c opensm/osmroute/outage.h \
	opensm/osmroute/passage.c opensm/osmroute/passage.h \
	opensm/osmroute/picture.c opensm/osmroute/picture.h \
	opensm/osmroute/quality.c opensm/osmroute/quality.h \
	opensm/osmroute/ranks.c opensm/osmroute/ranks.h \
	opensm/osmroute/report.c opensm/osmroute/report.h \
	opensm/osmroute/report_json.c \
	opensm/osmroute/report_measured.c opensm/osmroute/report_measured.h \
	opensm/osmroute/report_outages.c opensm/osmroute/report_outages.h \
	opensm/osmroute/shade.c opensm/osmroute/shade.h \
	opensm/osmroute/tables.c opensm/osmroute/tables.h
LIBS_OSMROUTE = libosmroute.a libplugin.a libperf.a $(LIBS_SUBNET) $(JSON_LIBS)

bin_PROGRAMS += opensm/osmroute/osmroute
opensm_osmroute_osmroute_SOURCES = opensm/osmroute/main.c
opensm_osmroute_osmroute_LDADD = libosmroute.a $(LIBS_OPENSM)
dist_man_MANS += man/osmroute.1
