# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libsim_a_SOURCES = \
	libvendor/sim/topology.c \
	libvendor/sim/topology.h \
	libvendor/sim/topology_file.c \
	libvendor/sim/topology_generate.c
