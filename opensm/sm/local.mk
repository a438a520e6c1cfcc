# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libsm.a
libsm_a_SOURCES = \
	opensm/sm/aliases.c \
	opensm/sm/audit.c \
	opensm/sm/description.c \
	opensm/sm/cables.c \
	opensm/sm/discover.c \
	opensm/sm/disk.c opensm/sm/disk.h \
	opensm/sm/dry_run.c opensm/sm/dry_run.h \
	opensm/sm/dry_send.c \
	opensm/sm/ability.c opensm/sm/ability.h \
	opensm/sm/election.c opensm/sm/election.h \
	opensm/sm/fatal.c \
	opensm/sm/guid2lid.c opensm/sm/guid2lid.h \
	opensm/sm/held.c opensm/sm/held.h \
	opensm/sm/health.c opensm/sm/held_up.c \
	opensm/sm/identity.c \
	opensm/sm/key_ring.c opensm/sm/key_ring.h \
	opensm/sm/key_loops.c \
	opensm/sm/kept.c opensm/sm/key_memory.c \
	opensm/sm/key_strays.c \
	opensm/sm/key_trails.c \
	opensm/sm/key_unknown.c \
	opensm/sm/key_update.c \
	opensm/sm/keys.c opensm/sm/keys.h \
	opensm/sm/lease.c \
	opensm/sm/lft_read.c \
	opensm/sm/lid.c \
	opensm/sm/lid_plan.c opensm/sm/lid_plan.h \
	opensm/sm/light.c \
	opensm/sm/mastership.c \
	opensm/sm/multicast.c \
	opensm/sm/neighbors.c opensm/sm/neighbors.h \
	opensm/sm/orphans.c \
	opensm/sm/outlook.c opensm/sm/outlook.h \
	opensm/sm/other_sm.c opensm/sm/other_sm.h \
	opensm/sm/own_port.c \
	opensm/sm/peers.c opensm/sm/peers.h \
	opensm/sm/path_sls.c opensm/sm/path_sls.h \
	opensm/sm/pkey.c \
	opensm/sm/pkey_guard.c \
	opensm/sm/pkey_indexes.c \
	opensm/sm/pkey_memory.c opensm/sm/pkey_memory.h \
	opensm/sm/pkey_plan.c opensm/sm/pkey_plan.h \
	opensm/sm/policy.c \
	opensm/sm/plan.c opensm/sm/plan.h \
	opensm/sm/port.c \
	opensm/sm/port_health.c \
	opensm/sm/program.c \
	opensm/sm/qos.c \
	opensm/sm/reach.c \
	opensm/sm/replicate.c \
	opensm/sm/request.c \
	opensm/sm/reregister.c \
	opensm/sm/routing.c \
	opensm/sm/run_time_partitions.c opensm/sm/run_time_partitions.h \
	opensm/sm/settle.c \
	opensm/sm/silence.c \
	opensm/sm/sm.c opensm/sm/sm.h opensm/sm/sm_private.h \
	opensm/sm/sm_asker.c \
	opensm/sm/sm_info.c \
	opensm/sm/state_file.c opensm/sm/state_file.h \
	opensm/sm/state_writer.c opensm/sm/state_writer.h \
	opensm/sm/steps.def \
	opensm/sm/sweep.c \
	opensm/sm/table_reader.c \
	opensm/sm/trap.c \
	opensm/sm/trees.c opensm/sm/trees.h \
	opensm/sm/unhealthy.c opensm/sm/unhealthy.h \
	opensm/sm/unhealthy_file.c \
	opensm/sm/walk.c
