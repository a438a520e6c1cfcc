# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# opensm-snmp: links libclient.a and libraries of others, nothing of the daemon.
noinst_LIBRARIES += libsnmp.a
libsnmp_a_SOURCES = \
	opensm/snmp/changes.c opensm/snmp/changes.h \
	opensm/snmp/facts.c opensm/snmp/facts.h \
	opensm/snmp/mib.c opensm/snmp/mib.h opensm/snmp/mib.def \
	opensm/snmp/mirror.c opensm/snmp/mirror.h \
	opensm/snmp/news.c opensm/snmp/news.h \
	opensm/snmp/notices.c opensm/snmp/notices.h opensm/snmp/notices.def \
	opensm/snmp/rows.c

dist_man_MANS += man/opensm-snmp.8
sbin_PROGRAMS += opensm/snmp/opensm-snmp
opensm_snmp_opensm_snmp_SOURCES = opensm/snmp/main.c \
	opensm/snmp/subagent.c opensm/snmp/subagent.h \
	opensm/snmp/loop.c opensm/snmp/loop.h
opensm_snmp_opensm_snmp_CFLAGS = $(AM_CFLAGS) $(SNMP_CFLAGS)
opensm_snmp_opensm_snmp_LDADD = $(LIBS_SNMP) $(SNMP_LIBS)
