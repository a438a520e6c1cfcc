# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libsim_a_SOURCES = \
	libvendor/sim/agent.c libvendor/sim/agent.h \
	libvendor/sim/cc/cc.h \
	libvendor/sim/cc/cca.c \
	libvendor/sim/cc/command.c \
	libvendor/sim/cc/control.c \
	libvendor/sim/cc/key.c \
	libvendor/sim/cc/log.c \
	libvendor/sim/cc/old_form.c \
	libvendor/sim/cc/settings.c \
	libvendor/sim/command.c \
	libvendor/sim/counts.c \
	libvendor/sim/fault.c \
	libvendor/sim/flows.c \
	libvendor/sim/forward.c \
	libvendor/sim/gsa.c \
	libvendor/sim/link.c \
	libvendor/sim/local.c \
	libvendor/sim/pma.c libvendor/sim/pma.def \
	libvendor/sim/port.c \
	libvendor/sim/port_rmpp.c \
	libvendor/sim/samples.c \
	libvendor/sim/sim.c \
	libvendor/sim/sim_private.h \
	libvendor/sim/sma.c \
	libvendor/sim/sma_optional.c \
	libvendor/sim/sma_port.c \
	libvendor/sim/sma_tables.c \
	libvendor/sim/topology.c \
	libvendor/sim/topology.h \
	libvendor/sim/topology_file.c \
	libvendor/sim/topology_generate.c libvendor/sim/topology_generator.h \
	libvendor/sim/topology_planes.c \
	libvendor/sim/topology_wide.c \
	libvendor/sim/traffic.c libvendor/sim/traffic.h \
	libvendor/sim/trap.c \
	libvendor/sim/words.c libvendor/sim/words.h
