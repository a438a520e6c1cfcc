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
#include "core/notices.h"
#include "core/timing.h"

struct options;
struct replicator;
struct route_registry;

#define CONTEXT_STEPS 64
#define CONTEXT_SWEEPS 8
#define CONTEXT_ATTRIBUTES 256 /* attribute IDs of the SA are below this */

/* How the SA has answered. */
enum sa_result { SA_RESULT_OK, SA_RESULT_NONE, SA_RESULT_BUSY, SA_RESULT_REFUSED, SA_RESULT_ERROR };
#define SA_RESULTS 5

struct context {
	/* Fixed before the actors start; any thread. */
	struct runtime *rt;
	struct log *log;
	struct event_bus bus;
	struct replicator *replicator; /* NULL: none */
	struct route_registry *engines; /* of routing; NULL: only those built in */
	const char *cache_dir;
	bool cache_refused; /* there should be a cache, but it cannot be written */
	bool self_check;    /* compare shortcuts with the full computation */
	bool gets_only;	    /* a dry run: only Gets may be sent */

	/* Threads for pure work on snapshots: made by ctl/, used by all rooms. */
	struct pool *pool;	   /* work that a client waits for */
	unsigned int pool_threads; /* number of its threads */
	struct pool *slow;	   /* for long work: queries of everything */
	struct pool *routes;	   /* computing and checking routes, separate from other work */
	struct pool *files;	   /* dumps, and other work that may wait for a disk */
	_Atomic(gint64) files_until; /* g_get_monotonic_time(): no dumps after; 0: no end */

	/* What the operator wants: replaced by ctl/ when files are read; read by all rooms. */
	struct slot options;	 /* struct options */
	struct slot route_files; /* struct route_files */
	struct slot agreed;	 /* struct agreed: read by ha/ */
	/* These are set before the SM exists, and never empty: */
	struct slot partition_rules; /* struct partition_rules */
	struct slot qos_policy;	     /* struct qos_policy */
	struct slot prefix_routes;   /* struct prefix_routes */
	struct slot ports_policy;    /* struct ports_policy */
	struct slot perf_rules;	     /* struct perf_rules (perf/judge/perf_rules.h) */
	struct slot node_names;	     /* struct node_names (fabric/node_names.h) */
	struct slot module_flags;    /* struct module_flags (ctl/process/module_flags.h) */

	/* What the SM publishes: read by sa/ and ctl/. */
	struct slot subnet;	     /* struct subnet: by each sweep (subnet/subnet.h) */
	struct slot trees;	     /* struct mc_trees (subnet/trees.h) */
	struct slot inventory;	     /* struct inventory (subnet/inventory.h) */
	struct slot seen; /* struct fabric: as a STANDBY last read it, for perf/ only */
	struct slot traps;	     /* struct traps: with each trap (core/traps.h) */
	struct slot unhealthy_ports; /* struct unhealthy_ports (sm/health/unhealthy.h) */
	struct slot peers;	     /* struct peers (sm/election/peers.h) */
	struct slot route_watch; /* struct route_watch: while routes are computed */
	struct slot replica;	     /* struct replica: found at a takeover, for the SA to adopt */
	struct slot cc_memory;	     /* GBytes: of that, what cc/ is to adopt */

	/* What the SA publishes: aliases read by sm/, groups by sm/ and ctl/, the rest by ctl/. */
	struct slot aliases;	   /* struct alias_guids (subnet/aliases.h) */
	struct slot groups;	   /* struct mc_groups (policy/partition/groups.h) */
	struct slot subscriptions; /* of subnet/subscriptions.h */
	struct slot refused_joins; /* struct refused_joins: with each refusal */
	struct notices notices;	   /* that it reports; taken by ctl/ */

	/* What the performance manager publishes: alarms read by sm/ and ctl/, images by ctl/. */
	struct slot perf_images; /* struct perf_images: after each sweep of counters */
	struct slot perf_alarms; /* struct perf_alarms: when one begins or ends */

	/* What the congestion manager publishes: read by ctl/. */
	struct slot cc; /* struct cc_report (cc/report.h): after each of its rounds */

	/* What replication (ha/) publishes. */
	struct slot followed_lids; /* struct replica: LIDs of the master; read by sm/ */
	/* GBytes: as in partition_changes.h, from another SM; read by ctl/ */
	struct slot later_partitions;
	struct slot replication; /* struct replication_status; read by sm/ and ctl/ */

	/* State of the SM: set by the actor "sm", read by any thread. */
	atomic_uint sm_state;	      /* IBA_SM_DISCOVERING .. IBA_SM_MASTER */
	atomic_uint sweep;	      /* bits of enum sweep_flag */
	_Atomic uint64_t sweep_since; /* start of sweeps, each cancelled for the next; 0: none */
	_Atomic uint64_t ability;     /* of this SM: ability_pack(); 0: not known yet */
	_Atomic uint64_t contested_until; /* another SM sets ports here */
	_Atomic uint64_t master_heard;	  /* as STANDBY: the last answer to a poll; 0: none */
	atomic_uint master_misses;	  /* polls since then that were not answered */
	atomic_uint p_keys_held; /* ports that another SM has isolated: their P_Key tables stay */

	/* State of the device: set by the actor "mad", read by ctl/. */
	_Atomic uint64_t sends_fail_since; /* since it last took a send; 0: it took the last */
	atomic_uint sends_failed;	   /* how many it has refused since then */

	/* Files whose last write failed: set by their writers, read by ctl/. */
	atomic_bool unkept;    /* LIDs, M_Keys or former P_Key indexes; by the actor "sm" */
	atomic_bool undumped;  /* a file that shows the subnet; by the pool for files */
	atomic_bool sa_unkept; /* registrations of clients; by the pool for files */
	atomic_bool perf_unkept; /* counters of ports; by the pool for files */
	atomic_bool ssa_unpublished; /* an epoch of the Scalable SA; by its thread */

	/* Figures: added to by any thread, read by ctl/. */
	struct counters counters;
	struct timing steps[CONTEXT_STEPS]; /* of sweeps, in the order of sm/steps.def */
	struct timing sweeps[CONTEXT_SWEEPS]; /* that ended, by number of the bit of their kind */
	struct timing round_trips[2]; /* of SMPs that were answered; [1]: with a directed route */
	struct timing sa_answers[CONTEXT_ATTRIBUTES]; /* since the request, by attribute */
	_Atomic uint64_t sa_results[CONTEXT_ATTRIBUTES][SA_RESULTS]; /* answers */
};

#endif
