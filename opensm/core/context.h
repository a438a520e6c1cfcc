// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The context: what all actors of one daemon share. Everything in it is fixed before the actors
 * start, atomic, or a slot with an immutable object. There are no globals: a process may contain
 * any number of daemons.
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
#define CONTEXT_ATTRIBUTES 256 /* attribute IDs of the SA are below this */

struct context {
	struct runtime *rt;
	struct log *log;
	/* For pure work on snapshots: */
	struct pool *pool;	 /* work that a client waits for */
	unsigned int pool_threads; /* number of its threads */
	struct pool *slow;	   /* for long work: queries of everything */
	struct pool *routes; /* computing and checking routes, separate from other work */
	struct pool *files;  /* dumps, and other work that may wait for a disk */
	_Atomic(gint64) files_until; /* g_get_monotonic_time(): no dumps after; 0: no end */
	struct event_bus bus;
	struct slot options;  /* struct options: replaced when the file is read again */
	struct slot subnet;   /* struct subnet: replaced by each sweep (subnet/subnet.h) */
	struct slot traps;    /* struct traps: replaced by the SM with each trap (core/traps.h) */
	struct slot groups;   /* struct mc_groups: replaced by the SA (policy/partition/groups.h) */
	struct slot subscriptions; /* of subnet/subscriptions.h: replaced by the SA */
	struct slot refused_joins; /* struct refused_joins: replaced by the SA with each refusal */
	struct slot aliases;  /* struct alias_guids: replaced by the SA (subnet/aliases.h) */
	struct slot trees;    /* struct mc_trees: replaced by the SM (subnet/trees.h) */
	struct slot inventory; /* struct inventory: replaced by the SM (subnet/inventory.h) */
	struct slot route_files; /* struct route_files: replaced when they are read again */
	/* These are set before the SM exists, and never empty: */
	struct slot partition_rules; /* struct partition_rules: replaced when they are read again */
	struct slot qos_policy;	     /* struct qos_policy: replaced when it is read again */
	struct slot prefix_routes;   /* struct prefix_routes: replaced when they are read again */
	struct slot ports_policy;    /* struct ports_policy: replaced when the file is read again */
	struct slot unhealthy_ports; /* struct unhealthy_ports: replaced by the SM (unhealthy.h) */
	struct slot replica;	 /* struct replica: found at a takeover, for the SA to adopt */
	struct slot followed_lids; /* struct replica: LIDs of the master that this SM follows */
	struct slot later_partitions; /* GBytes: as in partition_changes.h, from another SM */
	struct slot replication; /* struct replication_status (ha/replicator.h) */
	struct slot peers; /* struct peers: replaced by the SM (sm/election/peers.h) */
	struct slot agreed; /* struct agreed: replaced when its sources are read again */
	struct replicator *replicator; /* NULL: none */
	atomic_uint sm_state; /* IBA_SM_DISCOVERING .. IBA_SM_MASTER */
	atomic_uint sweep;    /* bits of enum sweep_flag, set by the sm actor */
	_Atomic uint64_t sweep_since; /* start of sweeps, each cancelled for the next; 0: none */
	_Atomic uint64_t ability; /* of this SM: ability_pack(); 0: not known yet */
	_Atomic uint64_t contested_until; /* another SM sets ports here; by the sm actor */
	/*
	 * When the device refused the first send since it last took one, and how many it has
	 * refused since; set by the mad actor. 0: it took the last known send.
	 */
	_Atomic uint64_t sends_fail_since;
	atomic_uint sends_failed;
	/*
	 * As STANDBY: when the master last answered a poll (0: never), and how many polls it has
	 * not answered since; set by the sm actor.
	 */
	_Atomic uint64_t master_heard;
	atomic_uint master_misses;
	/* Writes that failed at the last try: */
	/* Ports that another SM has isolated, and whose P_Key tables stay; set by the sm actor. */
	atomic_uint p_keys_held;
	atomic_bool unkept;	/* LIDs, M_Keys or former P_Key indexes; set by the sm actor */
	atomic_bool undumped;	/* a file that shows the subnet; set by the pool for files */
	atomic_bool sa_unkept;	/* registrations of clients; set by the pool for files */
	struct counters counters;
	struct timing steps[CONTEXT_STEPS]; /* of sweeps, in the order of sm/steps.def */
	struct timing sa_answers[CONTEXT_ATTRIBUTES]; /* since the request, by attribute */
	const char *cache_dir;
	bool cache_refused; /* there should be a cache, but it cannot be written */
	bool self_check; /* compare shortcuts with the full computation */
	bool gets_only;	 /* a dry run: only Gets may be sent */
};

#endif
