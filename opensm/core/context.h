// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The context: what all actors of one daemon share. Everything in it is fixed before the actors
 * start, atomic, or a slot with an immutable object. There are no globals: a process may hold any
 * number of daemons.
 */
#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include "complib/actor.h"
#include "complib/handoff.h"
#include "complib/log.h"
#include "core/counters.h"
#include "core/events.h"
#include "core/timing.h"

struct options;
struct replicator;

#define CONTEXT_STEPS 64
#define CONTEXT_ATTRIBUTES 256 /* those of the SA have smaller numbers */

struct context {
	struct runtime *rt;
	struct log *log;
	/* pure work on held snapshots */
	struct pool *pool;	 /* that a client waits for */
	unsigned int pool_threads; /* of it */
	struct pool *slow;	   /* the same if it takes long: queries for all there is */
	struct pool *routes; /* computed and verified; nothing else holds them up */
	struct pool *files;  /* dumps, and whatever else may wait for a disk */
	_Atomic(gint64) files_until; /* g_get_monotonic_time(): dumps are left then; 0: never */
	struct event_bus bus;
	struct slot options;  /* struct options: replaced when the file is read again */
	struct slot subnet;   /* struct subnet: replaced by each sweep (subnet/subnet.h) */
	struct slot traps;    /* struct traps: replaced by the SM with each (core/traps.h) */
	struct slot groups;   /* struct mc_groups: replaced by the SA (policy/partition/groups.h) */
	struct slot subscriptions; /* the same of subnet/subscriptions.h: replaced by the SA */
	struct slot refused_joins; /* struct of that name: replaced by the SA with each */
	struct slot aliases;  /* struct alias_guids: replaced by the SA (subnet/aliases.h) */
	struct slot trees;    /* struct mc_trees: replaced by the SM (subnet/trees.h) */
	struct slot inventory; /* struct inventory: replaced by the SM (subnet/inventory.h) */
	struct slot route_files; /* struct route_files: replaced when they are read again */
	/* These two are there before the SM is, and never empty. */
	struct slot partition_rules; /* struct partition_rules: replaced when they are read again */
	struct slot qos_policy;	     /* struct qos_policy: likewise */
	struct slot prefix_routes;   /* struct prefix_routes: likewise */
	struct slot ports_policy;    /* struct ports_policy: replaced when the file is read again */
	struct slot unhealthy_ports; /* struct of that name: replaced by the SM (unhealthy.h) */
	struct slot replica;	 /* struct replica: what a takeover found, for the SA to adopt */
	struct slot followed_lids; /* struct replica: LIDs of the master that this SM stands by */
	struct slot later_partitions; /* GBytes: as partition_changes.h, of another SM */
	struct slot replication; /* struct replication_status (ha/replicator.h) */
	struct slot peers; /* struct of that name: replaced by the SM (sm/election/peers.h) */
	struct slot agreed; /* struct of that name: replaced when what it is of is read again */
	struct replicator *replicator; /* NULL: none */
	atomic_uint sm_state; /* IBA_SM_DISCOVERING .. IBA_SM_MASTER */
	atomic_uint sweep;    /* bits of enum sweep_flag, by the sm actor */
	_Atomic uint64_t sweep_since; /* sweeps, each cancelled for the next; 0: none runs */
	_Atomic uint64_t ability; /* of this SM: ability_pack(); 0: not known yet */
	_Atomic uint64_t contested_until; /* another SM sets ports of the subnet, by the sm actor */
	/*
	 * When the first of the sends was refused by the device since one was taken, and how many
	 * were since, by the mad actor; 0: the last one known of was taken.
	 */
	_Atomic uint64_t sends_fail_since;
	atomic_uint sends_failed;
	/* As STANDBY: when the master answered a poll last (0: none yet), and how many it did not
	 * answer since, by the sm actor. */
	_Atomic uint64_t master_heard;
	atomic_uint master_misses;
	/* What could not be written, the last time it was tried: */
	/* Ports that another SM has kept apart, and whose P_Key tables stay, by the sm actor. */
	atomic_uint p_keys_held;
	atomic_bool unkept;	/* LIDs, M_Keys or left P_Key indexes, by the sm actor */
	atomic_bool undumped;	/* a file that shows the subnet, by the pool for files */
	atomic_bool sa_unkept;	/* registrations of clients, by the pool for files */
	struct counters counters;
	struct timing steps[CONTEXT_STEPS]; /* of sweeps, in the order of sm/steps.def */
	struct timing sa_answers[CONTEXT_ATTRIBUTES]; /* from the request on, by attribute */
	const char *cache_dir;
	bool cache_refused; /* there should be one, but it cannot be written */
	bool self_check; /* compare what short cuts give with the long way */
	bool gets_only;	 /* a dry run: nothing but Gets may leave */
};

#endif
