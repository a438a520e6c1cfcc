# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libsm.a
libsm_a_SOURCES = \
	opensm/sm/policy.c \
	opensm/sm/routing.c \
	opensm/sm/sm.c opensm/sm/sm.h \
	opensm/sm/sm_private.h \
	opensm/sm/steps.def \
	opensm/sm/sweep.c \
	opensm/sm/base/base.h \
	opensm/sm/base/names.c \
	opensm/sm/base/tables.c \
	opensm/sm/discover/cables.c \
	opensm/sm/discover/description.c \
	opensm/sm/discover/discover.c opensm/sm/discover/discover.h \
	opensm/sm/discover/discover_private.h \
	opensm/sm/discover/fatal.c \
	opensm/sm/discover/kept.c \
	opensm/sm/discover/lease.c \
	opensm/sm/discover/light.c \
	opensm/sm/discover/own_port.c \
	opensm/sm/discover/settle.c \
	opensm/sm/discover/trap.c \
	opensm/sm/discover/unsure.c \
	opensm/sm/election/ability.c opensm/sm/election/ability.h \
	opensm/sm/election/dealing.c \
	opensm/sm/election/elect.c \
	opensm/sm/election/election.c opensm/sm/election/election.h \
	opensm/sm/election/mastership.c opensm/sm/election/mastership.h \
	opensm/sm/election/mastership_private.h \
	opensm/sm/election/orphans.c \
	opensm/sm/election/other_sm.c opensm/sm/election/other_sm.h \
	opensm/sm/election/outlook.c opensm/sm/election/outlook.h \
	opensm/sm/election/peers.c opensm/sm/election/peers.h \
	opensm/sm/election/sm_asker.c \
	opensm/sm/election/sm_info.c \
	opensm/sm/election/standby.c \
	opensm/sm/forward/forward.h \
	opensm/sm/forward/held.c opensm/sm/forward/held.h \
	opensm/sm/forward/multicast.c \
	opensm/sm/forward/program.c \
	opensm/sm/forward/trees.c opensm/sm/forward/trees.h \
	opensm/sm/health/health.c opensm/sm/health/health.h \
	opensm/sm/health/health_private.h \
	opensm/sm/health/held_up.c \
	opensm/sm/health/port_health.c \
	opensm/sm/health/unhealthy.c opensm/sm/health/unhealthy.h \
	opensm/sm/health/unhealthy_file.c \
	opensm/sm/keys/advice.h \
	opensm/sm/keys/key_memory.c \
	opensm/sm/keys/key_orphans.c \
	opensm/sm/keys/keys.c opensm/sm/keys/keys.h \
	opensm/sm/keys/keys_private.h \
	opensm/sm/read/audit.c \
	opensm/sm/read/lft_read.c \
	opensm/sm/read/read.h \
	opensm/sm/read/table_reader.c \
	opensm/sm/schedule/plan.c opensm/sm/schedule/plan.h \
	opensm/sm/schedule/schedule.c opensm/sm/schedule/schedule.h \
	opensm/sm/schedule/walk.c \
	opensm/sm/smp/blocks.c \
	opensm/sm/smp/dry_run.c opensm/sm/smp/dry_run.h \
	opensm/sm/smp/dry_send.c \
	opensm/sm/smp/identity.c \
	opensm/sm/smp/key_unknown.c \
	opensm/sm/smp/reach.c \
	opensm/sm/smp/request.c \
	opensm/sm/smp/silence.c \
	opensm/sm/smp/smp.h opensm/sm/smp/smp_private.h \
	opensm/sm/store/disk.c opensm/sm/store/disk.h \
	opensm/sm/store/guid2lid.c opensm/sm/store/guid2lid.h \
	opensm/sm/store/neighbors.c opensm/sm/store/neighbors.h \
	opensm/sm/store/pkey_memory.c opensm/sm/store/pkey_memory.h \
	opensm/sm/takeover/replicate.c opensm/sm/takeover/replicate.h \
	opensm/sm/takeover/run_time_partitions.c opensm/sm/takeover/run_time_partitions.h \
	opensm/sm/write/aliases.c \
	opensm/sm/write/fdr10.c \
	opensm/sm/write/fdr10_devices.def \
	opensm/sm/write/key_update.c \
	opensm/sm/write/lid.c \
	opensm/sm/write/lid_plan.c opensm/sm/write/lid_plan.h \
	opensm/sm/write/pkey.c \
	opensm/sm/write/pkey_guard.c \
	opensm/sm/write/pkey_indexes.c \
	opensm/sm/write/pkey_plan.c opensm/sm/write/pkey_plan.h \
	opensm/sm/write/pkey_private.h \
	opensm/sm/write/port.c \
	opensm/sm/write/qos.c \
	opensm/sm/write/reregister.c \
	opensm/sm/write/write.h opensm/sm/write/write_private.h
