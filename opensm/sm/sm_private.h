// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of sm/ share. Everything here belongs to the actor "sm". */
#ifndef SM_SM_PRIVATE_H
#define SM_SM_PRIVATE_H

#include "complib/bucket.h"
#include "core/options.h"
#include "fabric/builder.h"
#include "policy/groups.h"
#include "policy/partition.h"
#include "policy/subnet.h"
#include "route/engine.h"
#include "sm/guid2lid.h"
#include "sm/key_ring.h"
#include "sm/plan.h"
#include "sm/sm.h"

enum step_result {
	STEP_NEXT,  /* go on at once */
	STEP_WAIT,  /* go on when every SMP of the step was answered or given up */
	STEP_AGAIN, /* the same step again then */
	STEP_ABORT, /* end the sweep with an error */
};

struct sweep {
	enum sweep_kind kind; /* SWEEP_KIND_NONE: no sweep runs */
	unsigned int reasons; /* that it was begun for */
	unsigned int step;
	bool again;
	bool at_step;	      /* inside a step function: completions do not go on by themselves */
	unsigned int pending; /* SMPs of this step that are out */
	unsigned int errors;
	uint64_t started_ns, step_started_ns;
	uint64_t smps_before, retries_before; /* counters at its start */
	bool lost_link;			      /* LID routes may lead over a dead link */
	bool twins;			      /* two nodes with one GUID were met */
	unsigned int round; /* how often the step has run before: STEP_AGAIN adds one */
};

/* The SM that the own port was configured by, if that is not this one. */
struct rival {
	uint16_t lid; /* 0: there is none */
	uint64_t guid;
	uint8_t priority;
	bool is_master;
};

struct survey;

struct sm {
	struct context *context;
	struct log *log;
	struct mad *mad;
	struct vendor *vendor;
	struct actor *actor;
	struct options *options; /* of this sweep */
	struct builder *builder;
	struct builder_node *here; /* stands for the SM's own node until that is known: no hops */
	struct guid2lid *guid2lid;
	struct key_ring *keys; /* M_Keys of ports */
	struct survey *survey; /* tables read for the SA */
	struct sweep sweep;
	unsigned int reasons; /* why the next sweep is wanted */
	bool inhibited;	      /* none may begin */
	struct timer interval;
	struct timer lease;	   /* looks at what M_Keys protect, before their leases end */
	struct timer settle;	   /* gathers traps that come together */
	struct bucket trap_sweeps; /* sweeps that traps may still cause */
	struct rival rival;
	bool standing_aside; /* another SM is MASTER */
	bool first_sweep_done;
	bool up;	       /* the last sweep had no errors */
	unsigned int failures; /* sweeps with errors in a row */

	/* of the last sweep after which all was as it should be */
	struct options *settled_for;
	uint16_t settled_lid; /* of the SM */
	bool names_wanted;    /* again, since a sweep looked which are missing */

	/* values of this sweep; kept for the next */
	struct fabric *fabric;
	struct routing *routing;
	struct route_files *route_files; /* of the computation at hand */
	struct route_files *routed_by;	 /* of that of routing */
	struct options *routed_for;	 /* likewise */
	bool roots_found; /* routing goes by other roots than those files name */
	bool reroute; /* the operator wants routes computed anew, and they were not yet */
	struct routing *programmed; /* whose rows the nodes point to */
	uint64_t programs;	    /* its number */
	struct partitions *partitions;
	char *credit_loop, *fallback, *held; /* as in struct subnet */
	char *told_note, *told_strangers;    /* what the log said last of the routes and files */
	uint64_t partitions_shape; /* of the fabric that they were made for */
	uint64_t lids_arrivals;	   /* of the builder when LIDs were assigned last */
	uint16_t lids_last;	   /* what the switches could forward then */
	bool duplicate_guids;	   /* two endports with one GUID were met when LIDs were assigned */
	unsigned int fatal_sweeps; /* in a row that met what fatal.c tells of */
	bool lids_short;	   /* not every endport got LIDs of its own */
	bool lids_assigned;	   /* LIDs were assigned since the start: reassign_lids is done */
	uint16_t mlid_top; /* highest MLID ever programmed */

	uint32_t act_count; /* SMInfo ActCount */
	struct log_limit trap_log, error_log;
	GHashTable *trap_sources; /* LID -> struct bucket */
	sm_progress_fn *show;
	void *show_arg;
};

/* ---- requests ---- */
struct sm_request {
	struct mad_request mad;
	struct sm *sm;
	struct builder_node *node;
	struct builder_port *port; /* what it is about; NULL: the node */
	uint32_t block;
	uint64_t sent; /* digest of what a Set carries: the answer overwrites it */
	bool unreachable;
	bool other_key; /* it was sent again with another M_Key */
	bool aside; /* of no sweep: when it comes back, node and port are NULL */
	unsigned int rounds;			  /* how often all retries were used up */
	void (*done)(struct sm_request *request); /* NULL: nothing but counting errors */
};

struct sm_request *sm_request_new(struct sm *sm, struct builder_node *node, uint8_t method,
				  uint16_t attribute, uint32_t modifier);
/* The same to one port, by way of that port if it is one of a CA. */
struct sm_request *sm_request_port(struct sm *sm, struct builder_port *port, uint8_t method,
				   uint16_t attribute, uint32_t modifier);
void sm_request_send(struct sm_request *request);
/* A Get whose answer goes to done. */
void sm_get(struct sm *sm, struct builder_node *node, uint16_t attribute, uint32_t modifier,
	    void (*done)(struct sm_request *request));
/* "Set(PortInfo) 3 of NAME (0xGUID): timeout" counted as an error of the sweep. */
void sm_request_failed(const struct sm_request *request);
static inline bool sm_request_ok(const struct sm_request *request)
{
	return request->mad.result == MAD_OK;
}

/* Keeps the block of a table that answered a Get or Set; false if there was no good answer. */
bool sm_block_read(struct sm_request *request, struct builder_table *table,
		   const struct wire_type *type);
/* The same after a Set: without a good answer nobody knows what the block holds, and that failed.
 */
void sm_block_written(struct sm_request *request, struct builder_table *table,
		      const struct wire_type *type);

/* An error of the sweep: it goes on, but the subnet is not up at its end. */
void sm_problem(struct sm *sm, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* "NAME (0xGUID)"; returns buffer. */
const char *sm_node_name(const struct builder_node *node, char *buffer, size_t size);
#define SM_NAME_SIZE 128

/* ---- sweep.c ---- */
void sweep_init(struct sm *sm);
void sweep_want(struct sm *sm, unsigned int reasons);
void sweep_allow(struct sm *sm, bool allowed); /* false: what is wanted waits for a true */
void sweep_take_options(struct sm *sm);	       /* those of now, if no sweep runs on the old ones */
void sweep_flag(struct sm *sm, unsigned int flag, bool on);
void sweep_advance(struct sm *sm); /* an SMP of the step came back */
/*
 * True if only nodes that were touched, and the ports at the other ends of their cables, can be
 * other than they should be.
 */
bool sweep_is_local(const struct sm *sm);

/* ---- the steps, in the order of steps.def ---- */
#define STEP(name, function, kinds, text) enum step_result function(struct sm *sm);
#include "sm/steps.def"

/* details.c */
void details_description(struct sm *sm, struct builder_node *node);
/* Has a sweep read the NodeDescriptions of all nodes again. */
void details_forget_descriptions(struct sm *sm);
/* discover.c */
/* Asks again behind ports that are up but where nobody answered: a change if one does. */
void discover_silent(struct sm *sm, struct builder_node *node);
/* routing.c: the switch with that index in sm->fabric. */
struct builder_node *sm_switch(const struct sm *sm, uint32_t sw);
/* link.c: PortInfo as it should be, PortState apart; true if it differs from port->info. */
bool link_wanted(const struct sm *sm, const struct builder_port *port, struct iba_port_info *want);
void link_send(struct sm *sm, struct builder_port *port, const struct iba_port_info *want,
	       uint8_t state);
/* program.c: Set(SwitchInfo); the answer is kept. */
void switch_info_send(struct sm *sm, struct builder_node *node, const struct iba_switch_info *want);
/* inventory.c: tables that the SA wants to know, read between sweeps. */
struct survey *survey_new(struct sm *sm);
void survey_free(struct survey *survey);
void survey_want(struct sm *sm, uint64_t want); /* inventory_want */
void survey_advance(struct sm *sm); /* a table came, or SMPs may be sent again */
void survey_sweep_ended(struct sm *sm, enum sweep_kind kind);
/* fatal.c: whether the daemon has to end. */
bool fatal_is_met(struct sm *sm);
/* keys.c: M_Keys of requests. */
void keys_init(struct sm *sm);
void keys_use(struct sm_request *request);	 /* before it is sent */
bool keys_try_another(struct sm_request *request); /* no answer came: it has another key now */
uint64_t keys_of_port(const struct sm *sm, const struct builder_port *port);
void keys_answered(const struct sm_request *request);
/* lease.c */
void lease_init(struct sm *sm);
/* trap.c: SMInfo of this SM, SM_Key included. */
struct iba_sm_info sm_info_own(const struct sm *sm);
/* trap.c: what arrives unasked: traps, Get and Set(SMInfo). */
void trap_receive(void *arg, struct vendor_mad *mad);

#endif
