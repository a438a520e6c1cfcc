// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One thing lost and restored: the cost of repair and programming, and the effect on balance. */
#ifndef OSMROUTE_OUTAGE_H
#define OSMROUTE_OUTAGE_H

#include "osmroute/changes.h"
#include "osmroute/judgement.h"

/* Kinds of outages; bits. */
#define OUTAGE_KINDS(X)                                                                            \
	X(LINK, "link")	    /* a cable between switches */                                         \
	X(SWITCH, "switch") /* without hosts */                                                \
	X(LEAF, "leaf")	    /* a switch with its hosts, except the subnet manager's */

enum outage_kind {
#define X(name, text) OUTAGE_##name,
	OUTAGE_KINDS(X)
#undef X
	OUTAGE_N_KINDS
};
extern const char *const outage_kind_names[OUTAGE_N_KINDS];

/* A thing that can be lost. */
struct outage_thing {
	uint64_t guid; /* of the switch */
	uint8_t num;   /* port of the cable; 0: the switch itself */
};

/* Equivalent things; if the switches are in layers, those of the same ranks. */
struct outage_class {
	enum outage_kind kind;
	char *name;    /* "link 0-1", "switch 2", "leaf" */
	GArray *things; /* struct outage_thing, in the order of the fabric */
};

/* Classes that are not empty; kinds: 1 << enum outage_kind. */
GPtrArray *outage_classes(const struct fabric *fabric, unsigned int kinds);

/* After the loss, or after the restoration. */
struct outage_step {
	struct judgement after;
	struct changes changes;
	double anew; /* load ratio of newly computed tables; 0 without load or if refused */
};

struct outage_trial {
	char *what;	  /* the lost thing, for the report */
	uint32_t n_hosts; /* cut off from the subnet manager meanwhile */
	struct outage_step lost, back;
};

struct outage_report {
	char *name; /* of the class */
	uint32_t n_things;
	GArray *trials; /* struct outage_trial */
};

/*
 * Loses some things of the class, drawn by *state, one after another; all are restored at the end.
 * before is the frozen builder with the routing of the engine, which is judged in judgement.
 */
struct outage_report *outage_judge(const struct judge_task *task, const struct route_engine *engine,
				   const struct picture *before, const struct judgement *judgement,
				   const struct outage_class *class, uint64_t *state);
void outage_report_free(struct outage_report *report);

#endif
