// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* When the next sweep begins, and how the one that runs goes through its nodes. */
#ifndef SM_SCHEDULE_SCHEDULE_H
#define SM_SCHEDULE_SCHEDULE_H

#include "complib/bucket.h"
#include "core/options.h"
#include "fabric/builder.h"
#include "sm/schedule/plan.h"

struct sm;

enum step_result {
	/* All of these but the last three when the walks that the step began are through. */
	STEP_NEXT,  /* go on when every SMP of the step was answered or given up */
	STEP_AGAIN, /* the same step again when no more than the slow SMPs are out */
	STEP_LATER, /* the same step again whenever an SMP came back, or something was marked */
	STEP_HEAVY, /* what is known of the subnet is not to be built on: a heavy sweep instead */
	STEP_ABORT, /* end the sweep with an error */
	STEP_END,   /* end the sweep: it is for another SM to go on */
};

enum {
#define STEP(name, function, kinds, text) STEP_INDEX_##name,
#include "sm/steps.def"
};

/* The sweep that runs. */
struct sweep {
	uint64_t serial;      /* from 1; its SMPs and jobs bear it */
	enum sweep_kind kind; /* SWEEP_KIND_NONE: no sweep runs */
	unsigned int reasons; /* that it was begun for */
	unsigned int step;
	unsigned int layers; /* of marked nodes that it has read */
	unsigned int round; /* how often the step ran before, also for its walks */
	bool again;	    /* the step has run */
	uint32_t part;	    /* of the walk that goes on: the one that visit is called for */
	bool gave_way;	    /* a message to go on waits behind those of others */
	enum step_result result; /* of the step function when it was called last */
	bool at_step;	    /* inside a step function: completions do not go on by themselves */
	unsigned int pending; /* SMPs and jobs of this sweep that are out */
	unsigned int slow;    /* of these: to nodes that did not answer at first (silence.c) */
	unsigned int errors;
	unsigned int problems; /* of these: of no node */
	bool duplicate_guid; /* a port was met at two places */
	uint64_t unread; /* a switch that fell silent before anything of its LFT was read */
	bool switch_moved;   /* a switch was met at another place than it was known to be */
	bool qos_set;	     /* tables of qos.c were written */
	bool start_over;     /* the SM's own cable was moved: what was read is of other devices */
	bool port_was_down;  /* schedule.port_down, when it began */
	bool published;
	uint64_t started_ns, step_started_ns;
};

/* Reasons for the next sweep: schedule.c collects them, sweep.c begins it. */
struct schedule {
	unsigned int reasons; /* enum sweep_reason */
	unsigned int lights;  /* light sweeps so far */
	bool inhibited;	      /* none may begin */
	bool looks;	      /* sweep_look(): the one that begins or runs is of a standby */
	bool discovered; /* a heavy discovery was completed: changes can be followed from there */
	bool succeeded;	 /* a sweep has ended without errors */
	bool up;	 /* the last one did, and no node is sick */
	unsigned int failures;	/* sweeps with errors in a row */
	unsigned int cancelled; /* sweeps in a row */
	uint64_t unread;	/* as of the sweep before: it answered since, but to that */
	unsigned int anew;	/* sweeps in a row that began anew for such a switch */
	bool port_down;		/* the SM's own, when a sweep looked last; said once */
	bool traps_lost; /* a cable was met that was down, since the last light sweep */
	struct timer interval;
	struct timer settle;   /* gathers traps that come together */
	struct timer files;    /* how long a heavy sweep waits yet for files to be read */
	bool files_read;       /* and that they were: by the one that begins now */
	struct bucket provoked; /* sweeps that traps and the like may still cause */
	struct options *settled_for; /* options by which the fabric was last all as it should be */
	uint16_t settled_lid;	     /* and the LID of the SM then */
};

/* ---- schedule.c ---- */
void sweep_want(struct sm *sm, unsigned int reasons);
void sweep_want_next(struct sm *sm, unsigned int reasons); /* cancels none that has discovered */
void sweep_look_at(struct sm *sm, struct builder_node *node); /* it may have changed */
void sweep_flag(struct sm *sm, unsigned int flag, bool on);
void schedule_interval(struct sm *sm); /* begins the wait until the subnet is looked at again */
/* How long the reasons for a sweep wait yet, in ns, for more of them and for the rate of sweeps. */
uint64_t schedule_patience(const struct sm *sm);
/* Others than the operator can cause a sweep for these reasons as often as they like. */
bool schedule_is_provoked(unsigned int reasons);
bool sweep_is_discovering(const struct sm *sm); /* what is marked now it will look at */
/*
 * True if only nodes that were touched, and the ports at the other ends of their cables, can be
 * other than they should be.
 */
bool sweep_is_local(const struct sm *sm);
GPtrArray *sweep_nodes(const struct sm *sm); /* those that it looks at; to be unreferenced */
/* The same of ports; local: of nodes that were touched, and at the other ends of their cables. */
GPtrArray *sweep_ports(const struct sm *sm, bool local);

/* ---- walk.c ---- */
typedef void sweep_visit(struct sm *sm, void *item);
/*
 * The step goes on with this after it has returned, and after the walks begun before: for each part
 * (sweep.part, from 0) visit is called for all items, as there is room for SMPs. Takes items over;
 * NULL: once a part, with NULL.
 */
void sweep_walk(struct sm *sm, GPtrArray *items, uint32_t n_parts, sweep_visit *visit);
/* False if they have to wait, for SMPs that come back or as they gave way to others. */
bool walks_are_through(struct sm *sm, uint64_t since);
void walks_drop(struct sm *sm); /* the sweep is over */

#endif
