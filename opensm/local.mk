# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
sbin_PROGRAMS += opensm/opensm
opensm_opensm_SOURCES = opensm/main.c
opensm_opensm_LDADD = $(LIBS_OPENSM)
