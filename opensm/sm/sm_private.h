// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of sm/ share. Everything here belongs to the actor "sm". */
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
#include "sm/keys/key_ring.h"
#include "sm/schedule/schedule.h"
#include "sm/sm.h"
#include "sm/store/disk.h"
#include "sm/store/guid2lid.h"
#include "sm/store/neighbors.h"
#include "sm/store/path_sls.h"
#include "subnet/subnet.h"

/* What this SM settles with another one at the moment: mastership.c. */
enum dealing {
	ALONE,	      /* nothing */
	HANDING_OVER, /* to one that has not accepted yet */
	AWAITING,     /* a HANDOVER of that one */
	RETIRING,     /* the daemon ends when that one, if there is one, took over */
	ABSTAINING,   /* this SM cannot lead, and no other is there to: it looks again later */
};

/* How LIDs were assigned last: lid.c. */
struct lid_state {
	uint64_t arrivals; /* of the builder then */
	uint16_t last;	   /* what the switches could forward */
	bool short_of;	   /* not every endport got LIDs of its own */
	bool assigned;	   /* they were assigned since the start: reassign_lids is done */
	bool duplicate_guids; /* two endports with one GUID were met then */
	bool changing;	      /* some endport carries a LID that is not its own any more */
};

struct sm_request;   /* smp/smp.h */
struct routes;	     /* routing.c */
struct program;	     /* program.c */
struct aliases;	     /* aliases.c */
struct held;	     /* held.h */
struct route_stages; /* route/transition/transition.h */
struct multicast;    /* multicast.c */
struct table_reader; /* table_reader.c */
struct audit;	     /* audit.c */
struct mastership;   /* mastership.c */
struct other_sms;    /* other_sm.h */
struct state_writer; /* state_writer.h */
struct keys;	     /* keys.h */
struct dry;	     /* dry_send.c */
struct port_health;  /* port_health.c */
struct p_key_indexes; /* pkey_indexes.c */
struct reregister;   /* reregister.c */

/* What the SM before left: replicate.c. */
struct takeover {
	bool due;	      /* this SM became MASTER and has not asked for it */
	bool reconcile;	      /* multicast tables may hold members that the replica lacks */
	uint64_t of;	      /* GUID of the SM whose replica was taken over; 0: none */
	uint16_t vouched_lid; /* of the SM before, whose clients need not register again; 0: none */
	uint64_t lids_told;   /* guid2lid_changes() when the replicator was told; 0: never */
	uint64_t sls_told;    /* path_sls_changes() then; 0: never */
	uint64_t partitions_told;   /* serial of the partition changes told; 0: none */
};

struct sm {
	struct context *context;
	struct log *log;
	struct mad *mad;
	struct vendor *vendor;
	struct actor *actor;
	struct options *options; /* of this sweep */

	/* what is: the subnet as far as it is known */
	struct builder *builder;
	struct builder_node *local; /* stands for the SM's own node until that is known: no hops */
	struct guid2lid *guid2lid;
	struct path_sls *path_sls;
	struct keys *keys; /* M_Keys of ports: keys.c */

	/* what should be: values of this sweep, kept for the next */
	struct fabric *fabric;
	struct routing *routing;
	struct partitions *partitions;
	uint64_t partitions_shape; /* of the fabric that they were made for */
	bool p_keys_settled;	   /* all tables were set by the rules of these */
	bool p_keys_looked, p_keys_held; /* pkey_guard.c: at the tables of another SM; which stay */
	unsigned int index0_kept;  /* ports in use with another key at index 0 than indx0 asks */
	struct qos_paths *qos;	   /* NULL: QoS is off, and no table is to be set */
	bool vl_tables_known;	   /* an SM has written those of qos.c in some node */
	uint16_t told_sls; /* qos.c: bits of the SLs that hosts are told while QoS is off */
	unsigned int vl_resets;	   /* nodes of which they are reset since that was told */
	bool had_lanes;		   /* SL2VL tables were set for lanes of routes */
	bool lanes_left;	   /* those that can be reached may have lanes of other routes */
	GPtrArray *lane_conflicts; /* texts: where it meets lanes of routes, as told; NULL */
	struct p_key_changes *p_key_changes; /* pkey.c: of the sweep that runs */
	struct p_key_indexes *p_key_indexes;
	struct mc_groups *groups;  /* whose trees are programmed */
	bool mft_used[IBA_MFT_BLOCKS]; /* blocks that may hold something in some switch */
	uint16_t mlid_top;	       /* highest MLID in them; 0: there are none */

	struct sweep sweep;
	GQueue walks; /* walk.c: of the step that runs */
	struct schedule schedule;
	struct lid_state lids;
	struct routes *routes;
	struct program *program;
	struct multicast *multicast;
	struct aliases *aliases;
	struct table_reader *table_reader;
	struct audit *audit;
	struct mastership *mastership;
	enum dealing dealing;
	struct other_sms *others;
	uint64_t outlook_since; /* outlook.c: the heavy sweep, of the builder, that looked last */
	struct state_writer *writer;
	struct disk *disk;
	GArray *held_up; /* of struct held_up: held_up.c */
	struct dry *dry;   /* of a dry run: no Set leaves; NULL: it is none */
	struct port_health *port_health;
	struct takeover takeover;
	struct reregister *reregister;
	bool names_wanted; /* again, since a sweep looked which are missing */

	/* health.c, silence.c */
	GPtrArray *sick;      /* nodes */
	struct timer retry;   /* of the first of them */
	struct timer watch;   /* own_port.c */
	uint32_t first_act;   /* of ActCount: another one in each life of the daemon */
	bool port_lost;	      /* own_port.c: the device of the SM's port is gone */
	struct timer lease;   /* lease.c: looks at M_Keys before their leases end */
	unsigned int fatal_sweeps; /* in a row that met what fatal.c tells of */
	GPtrArray *suspects;  /* struct suspect */
	GPtrArray *cables_asked; /* struct sm_request that waits for what its near end says */
	struct log_limit error_log;
	struct log_limit groups_log; /* sweep.c: lines of sweeps that clients' joins provoke */

	GPtrArray *askers; /* struct asker: sm_asker.c */
	_Atomic bool asked; /* by somebody of whom the actor "sm" has yet to look who that is */

	/* trap.c */
	struct log_limit trap_log;
	GHashTable *trap_sources; /* LID -> struct source */

	sm_progress_fn *show;
	void *show_arg;
};

static inline unsigned int sm_state(const struct sm *sm) /* enum iba_sm_state */
{
	return atomic_load(&sm->context->sm_state);
}

static inline bool sm_is_master(const struct sm *sm)
{
	return sm_state(sm) == IBA_SM_MASTER;
}

/* This SM does not sweep: it is standby, not active, without a port, or settles a handover. */
static inline bool sm_rests(const struct sm *sm)
{
	unsigned int state = sm_state(sm);

	return state == IBA_SM_STANDBY || state == IBA_SM_NOT_ACTIVE || sm->port_lost ||
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
void sweep_allow(struct sm *sm, bool allowed); /* false: what is wanted waits for a true */
void sweep_break(struct sm *sm); /* the SM's link fell: the one that runs begins anew */
void sweep_look(struct sm *sm);	 /* a standby reads what there is: a heavy sweep as far as ELECT */
void sweep_rest(struct sm *sm); /* this SM is not master: no sweeps, and nothing is known */
/* "main" has read the files again, for bits of enum sweep_reason. */
void sweep_files_read(struct sm *sm, unsigned int reasons);
void sweep_take_options(struct sm *sm);	       /* those of now, if no sweep runs on the old ones */
void sweep_advance(struct sm *sm); /* an SMP or a job of it came back */
/* Others have waited since that time for as long as they may; then a message goes on later. */
bool sweep_gives_way(struct sm *sm, uint64_t since);

/* ---- steps ---- */
#define STEP(name, function, kinds, text) enum step_result function(struct sm *sm);
#include "sm/steps.def"

/* ---- policy.c ---- */
/*
 * Partitions on the fabric of the sweep, before names of nodes are read: those that a
 * sweep before read count. NULL if routes are not to mind them, or rules go by names and none was
 * read yet.
 */
struct partitions *policy_partitions_for_routes(struct sm *sm, const struct route_files *files);

/* ---- routing.c ---- */
/* Those that the routes in use were made by; NULL: they mind none. */
const struct partitions *routes_minded(const struct sm *sm);
struct routes *routes_new(void);
void routes_free(struct routes *routes);
void routes_compute_anew(struct sm *sm); /* the operator wants it */
void routes_written(struct sm *sm);	 /* to all switches that take them */
struct subnet;
void routes_go_on_from(struct sm *sm, const struct subnet *subnet); /* as another SM made them */

#endif
