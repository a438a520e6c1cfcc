// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* When the next sweep begins, and how the running one goes through its nodes. */
#ifndef SM_SCHEDULE_SCHEDULE_H
#define SM_SCHEDULE_SCHEDULE_H

#include "complib/bucket.h"
#include "complib/log.h"
#include "core/options.h"
#include "fabric/builder.h"
#include "sm/schedule/plan.h"
#include "sm/sm.h"

struct sm;

enum step_result {
	/* STEP_NEXT to STEP_LATER take effect when the walks started by the step have finished. */
	STEP_NEXT,  /* go on when every SMP of the step was answered or given up */
	STEP_AGAIN, /* the same step again when only slow SMPs are in flight */
	STEP_LATER, /* the same step again whenever an SMP comes back, or a node is marked */
	STEP_HEAVY, /* what is known of the subnet is unusable: start a heavy sweep instead */
	STEP_ABORT, /* end the sweep with an error */
	STEP_END,   /* end the sweep: another SM takes over */
};

enum {
#define STEP(name, function, kinds, text) STEP_INDEX_##name,
#include "sm/steps.def"
};

/* The running sweep. */
struct sweep {
	uint64_t serial;      /* from 1; carried by its SMPs and jobs */
	enum sweep_kind kind; /* SWEEP_KIND_NONE: no sweep runs */
	unsigned int reasons; /* for which it was begun */
	unsigned int step;
	unsigned int layers;	 /* layers of marked nodes that it has read */
	unsigned int round;	 /* how often the step has run before, also for its walks */
	bool again;		 /* the step has run */
	uint32_t part;		 /* index of the part being visited */
	bool yielded;		 /* a message to continue is queued behind others */
	enum step_result result; /* last result of the step function */
	bool at_step;		 /* inside a step function: completions do not advance the sweep */
	unsigned int pending;	 /* SMPs and jobs of this sweep in flight */
	unsigned int slow;	 /* of these, to nodes that did not answer at first (silence.c) */
	unsigned int errors;
	unsigned int problems; /* errors not caused by a node */
	bool duplicate_guid;   /* a port was found in two places */
	uint64_t unread;       /* a switch that fell silent before anything of its LFT was read */
	bool switch_moved;     /* a switch was found elsewhere than known */
	bool qos_set;	       /* tables of qos.c were written */
	bool start_over;       /* the SM's own cable was moved: other devices were read */
	bool port_was_down;    /* schedule.port_down at its begin */
	bool published;
	uint64_t started_ns, step_started_ns;
	uint64_t blocks_before; /* LFT blocks that had been written when it began */
};

/* Reasons for the next sweep: schedule.c collects them, sweep.c begins it. */
struct schedule {
	void (*advance)(struct sm *sm); /* sweep.c: sweep_advance() */
	sm_progress_fn *show;		/* its progress, with show_arg; NULL: not shown */
	void *show_arg;
	unsigned int reasons;		/* enum sweep_reason */
	unsigned int lights;		/* light sweeps so far */
	bool inhibited;			/* no sweep may begin */
	bool looks;	 /* sweep_look(): the sweep that begins or runs belongs to a standby */
	bool discovered; /* a heavy discovery was completed: changes can be tracked from there */
	bool succeeded;	 /* a sweep has ended without errors */
	bool up;	 /* the last one did, and no node has errors */
	unsigned int failures;	/* sweeps with errors in a row */
	unsigned int cancelled; /* sweeps in a row */
	uint64_t unread;	/* as in the previous sweep: it has answered since, but not that */
	unsigned int anew;	/* sweeps in a row that began again for such a switch */
	bool port_down;		/* the SM's own port, when last checked; logged once */
	bool audit_all;	 /* all nodes are compared with the hardware when this sweep has ended */
	bool traps_lost; /* a cable was found that had been down since the last light sweep */
	struct timer interval;
	struct timer settle;	       /* gathers traps that arrive together */
	struct timer files;	       /* how long a heavy sweep still waits for files to be read */
	bool files_read;	       /* they were read, for the sweep that begins now */
	struct bucket provoked;	       /* limits sweeps caused by traps and the like */
	GQueue walks;		       /* walk.c: of the running step */
	bool names_wanted;	       /* wanted again, since a sweep checked which are missing */
	unsigned int fatal_sweeps;     /* in a row that found a fatal condition (fatal.c) */
	struct log_limit groups_log;   /* lines of sweeps that clients' joins cause */
	struct log_limit provoked_log; /* lines that traps and other SMs cause */
	struct options *settled_for;   /* options when the fabric was last as it should be */
	uint16_t settled_lid;	       /* LID of the SM at that time */
};

/* ---- schedule.c ---- */
void sweep_advance(struct sm *sm); /* an SMP or a job of the sweep came back */
void sweep_want(struct sm *sm, unsigned int reasons);
void sweep_want_next(struct sm *sm, unsigned int reasons);    /* cancels none after discovery */
void sweep_look_at(struct sm *sm, struct builder_node *node); /* it may have changed */
void audit_all_soon(struct sm *sm); /* when the sweep has ended, or the next one */
void sweep_flag(struct sm *sm, unsigned int flag, bool on);
void schedule_interval(struct sm *sm); /* starts the wait until the subnet is checked again */
/* Remaining delay of the reasons for a sweep, in ns: gathers more of them and limits the rate. */
uint64_t schedule_patience(const struct sm *sm);
/* Others than the operator can cause sweeps for these reasons at any rate. */
bool schedule_is_provoked(unsigned int reasons);
/* Whether a line that another device causes may be logged; how many were held back before. */
bool schedule_may_log(struct sm *sm, unsigned int *held_back);
bool sweep_is_discovering(const struct sm *sm); /* it will read nodes that are marked now */
/*
 * True if only nodes that were touched, and the ports at the other ends of their cables, can differ
 * from what they should be.
 */
bool sweep_is_local(const struct sm *sm);
/* Like sweep_is_local(), for P_Key tables while the partitions of all ports are as before. */
bool sweep_has_local_p_keys(const struct sm *sm);
GPtrArray *sweep_nodes(const struct sm *sm); /* nodes that it covers; to be unreferenced */
/* Their ports; local: of touched nodes, and at the other ends of their cables. */
GPtrArray *sweep_ports(const struct sm *sm, bool local);

/* ---- walk.c ---- */
typedef void sweep_visit(struct sm *sm, void *item);
/*
 * The step continues with this after it has returned, and after the walks begun before: for each
 * part (sweep.part, from 0) visit is called for all items, as there is room for SMPs. Takes
 * ownership of items; NULL: once per part, with NULL.
 */
void sweep_walk(struct sm *sm, GPtrArray *items, uint32_t n_parts, sweep_visit *visit);
/* False if they have to wait, for SMPs to come back or because they yielded to other messages. */
bool walks_are_through(struct sm *sm, uint64_t since);
/* True if other messages have waited since then for as long as they may; posts one to go on. */
bool sweep_yields(struct sm *sm, uint64_t since);
void walks_drop(struct sm *sm); /* the sweep is over */

#endif
