// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Declarations shared by the files of sm/. Everything here belongs to the actor "sm". */
#ifndef SM_SM_PRIVATE_H
#define SM_SM_PRIVATE_H

#include "complib/bucket.h"
#include "core/milestones.h"
#include "core/options.h"
#include "fabric/builder.h"
#include "ha/replicator.h"
#include "policy/files/ports_policy.h"
#include "policy/partition/groups.h"
#include "policy/partition/partition.h"
#include "route/engine.h"
#include "sm/election/ability.h"
#include "sm/election/peers.h"
#include "policy/keys/key_ring.h"
#include "sm/schedule/schedule.h"
#include "sm/sm.h"
#include "sm/store/disk.h"
#include "sm/store/guid2lid.h"
#include "sm/store/neighbors.h"
#include "subnet/path_sls.h"
#include "subnet/subnet.h"

/* What this SM is currently negotiating with another one: mastership.c. */
enum dealing {
	ALONE,	      /* nothing */
	HANDING_OVER, /* to an SM that has not accepted yet */
	AWAITING,     /* waits for a HANDOVER from that SM */
	RETIRING,     /* the daemon ends when that SM, if there is one, has taken over */
	ABSTAINING,   /* neither this SM nor any other can lead: it checks again later */
};

/* The last assignment of LIDs: lid.c. */
struct lid_state {
	uint64_t arrivals; /* builder->arrivals at that time */
	uint16_t last;	   /* highest LID that the switches could forward */
	bool short_of;	   /* not every endport got LIDs of its own */
	bool assigned;	   /* done since the start: reassign_lids is no longer needed */
	bool duplicate_guids; /* two endports with the same GUID were found */
	bool changing;	      /* some endport still has a LID that is no longer its own */
};

struct sm_request;   /* smp/smp.h */
struct routes;	     /* routing.c */
struct program;	     /* program.c */
struct held;	     /* held.h */
struct route_stages; /* route/transition/transition.h */
struct multicast;    /* multicast.c */
struct table_reader; /* table_reader.c */
struct audit;	     /* audit.c */
struct mastership;   /* election/mastership_private.h */
struct discovery;    /* discover/discover_private.h */
struct smp_state;    /* smp/smp_private.h */
struct faults;	     /* health/health_private.h */
struct settings;     /* write/write_private.h */
struct state_writer; /* state_writer.h */
struct keys;	     /* keys.h */
struct dry;	     /* dry_send.c */
struct policy;	     /* policy.c */

/* What the previous SM left: replicate.c. */
struct takeover {
	bool due;	      /* this SM became MASTER and has not fetched it yet */
	bool reconcile;	      /* multicast tables may hold members that the replica lacks */
	uint64_t of;	      /* GUID of the SM whose replica was taken over; 0: none */
	uint16_t vouched_lid; /* of the previous SM; its clients need not register; 0: none */
	uint64_t lids_told;   /* guid2lid_changes() last told to the replicator; 0: never */
	uint64_t sls_told;    /* path_sls_changes() last told; 0: never */
	uint64_t partitions_told;   /* serial of the last partition changes reported; 0: none */
};

/* Files that outlive the process: store/. */
struct store {
	struct state_writer *writer;
	struct disk *disk;
	struct guid2lid *guid2lid;
	struct path_sls *path_sls;
};

struct sm {
	struct context *context;
	struct log *log;
	struct mad *mad;
	struct vendor *vendor;
	struct actor *actor;
	struct options *options; /* of the current sweep */

	/* what is: the subnet as far as known */
	struct builder *builder;
	struct builder_node *local; /* stands for the SM's own node until that is known: no hops */
	struct keys *keys;	    /* M_Keys of ports: keys.c */
	struct store store;

	/* what should be: values of the last sweep, kept for the next */
	struct fabric *fabric;
	struct routing *routing;
	struct partitions *partitions;
	struct qos_paths *qos;	  /* NULL: QoS is off, and its tables must not be set */
	struct mc_groups *groups; /* groups whose trees are programmed */
	uint16_t mlid_top; /* highest MLID that some switch may have rows for; 0: none */

	/* how it gets there: when a sweep runs, and this SM's part among others */
	struct sweep sweep;
	struct schedule schedule;
	enum dealing dealing;
	struct mastership *mastership;
	struct takeover takeover;
	struct dry *dry; /* dry run: no Set is sent; NULL: not a dry run */

	/* what the files of a subject keep from sweep to sweep */
	struct smp_state *smp;
	struct discovery *discovery;
	struct faults *faults;
	struct settings *settings;
	struct lid_state lids;
	struct policy *policy;
	struct routes *routes;
	struct program *program;
	struct multicast *multicast;
	struct table_reader *table_reader;
	struct audit *audit;
};

static inline unsigned int sm_state(const struct sm *sm) /* enum iba_sm_state */
{
	return atomic_load(&sm->context->sm_state);
}

static inline bool sm_is_master(const struct sm *sm)
{
	return sm_state(sm) == IBA_SM_MASTER;
}

/* The device of its own port is gone: own_port.c. */
static inline bool sm_port_is_lost(const struct sm *sm)
{
	return (atomic_load(&sm->context->sweep) & SWEEP_FLAG_PORT_LOST) != 0;
}

/* This SM does not sweep: it is standby, not active, without a port, or negotiating a handover. */
static inline bool sm_rests(const struct sm *sm)
{
	unsigned int state = sm_state(sm);

	return state == IBA_SM_STANDBY || state == IBA_SM_NOT_ACTIVE || sm_port_is_lost(sm) ||
	       sm->dealing != ALONE;
}

/* The switch with that index in sm->fabric. */
static inline struct builder_node *sm_switch(const struct sm *sm, uint32_t sw)
{
	return builder_node_of(sm->builder, sm->fabric, sm->fabric->switches[sw].node);
}

static inline bool sweep_runs(const struct sm *sm)
{
	return sm->sweep.kind != SWEEP_KIND_NONE;
}

/* ---- sweep.c ---- */
void sweep_init(struct sm *sm);
void sweep_allow(struct sm *sm, bool allowed); /* false: wanted sweeps wait until true */
void sweep_break(struct sm *sm); /* the SM's link went down: the running sweep begins again */
void sweep_look(struct sm *sm);	 /* a standby reads the subnet: a heavy sweep up to ELECT */
void sweep_rest(struct sm *sm); /* this SM is not master: no sweeps, and nothing is known */
/* "main" has read the files again, for these bits of enum sweep_reason. */
void sweep_files_read(struct sm *sm, unsigned int reasons);
void sweep_take_options(struct sm *sm); /* takes the current ones, unless a sweep runs */

/* ---- steps ---- */
#define STEP(name, function, kinds, text) enum step_result function(struct sm *sm);
#include "sm/steps.def"

/* ---- policy.c ---- */
struct policy *policy_new(void);
void policy_free(struct policy *policy);
/*
 * Partitions on the fabric of the sweep, before names of nodes are read: names read by an earlier
 * sweep are used. NULL if routes need not respect partitions, or the rules use names and none has
 * been read yet.
 */
struct partitions *policy_partitions_for_routes(struct sm *sm, const struct route_files *files);

/* ---- routing.c ---- */
/* The partitions that the routes in use were computed with; NULL: routes ignore partitions. */
const struct partitions *routes_minded(const struct sm *sm);
struct routes *routes_new(struct sm *sm);
void routes_free(struct routes *routes);
/* The computation under way is not wanted: it ends within some 10 ms. */
void routes_cancel(struct sm *sm);
void routes_compute_anew(struct sm *sm); /* requested by the operator */
void routes_written(struct sm *sm);	 /* to all switches that accept them */
struct subnet;
void routes_go_on_from(struct sm *sm, const struct subnet *subnet); /* as made by another SM */

#endif
