// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A plan: what a sweep would change, found by a sweep that changes nothing (dry_send.c). It has a
 * context and an SM of its own. The port, and the mad/ layer above it, belong to a daemon that goes
 * on working, or to the plan.
 */
#ifndef CTL_PLAN_PLAN_H
#define CTL_PLAN_PLAN_H

#include "ctl/daemon.h"
#include "policy/partition/groups.h"
#include "subnet/subnet.h"

struct plan;
struct dry_run;
struct mad;

typedef void plan_done_fn(void *arg, struct plan *plan); /* once; it may free it */

struct plan_config {
	struct daemon_config base;    /* without mad below, vendor is taken over; log is not used */
	struct mad *mad;	      /* of a daemon; NULL: the plan makes one, without servers */
	struct actor *main;	      /* done runs there; NULL: on the loop */
	const struct subnet *running; /* what a master continues from; NULL: starts fresh */
	struct mc_trees *trees;	      /* of that subnet; NULL: none */
	struct mc_groups *groups;     /* a reference is taken; NULL: none are known */
	struct site_policy *policy; /* loaded with these options, emptied; NULL: plan loads it */
	plan_done_fn *done;
	void *arg;
};

struct plan *plan_new(const struct plan_config *config, GError **error);
void plan_start(struct plan *plan);
void plan_note(struct plan *plan, const char *text); /* before its start, or when it is done */
const struct dry_run *plan_result(const struct plan *plan); /* when it is done */
/* If the plan is not done: call before the daemon's mad is freed. */
void plan_stop(struct plan *plan);
void plan_free(struct plan *plan); /* once done, or the daemon's mad is freed; NULL is fine */

/* ---- plan_report.c ---- */

/* Exit codes of opensm --plan: scripts know them by number. */
enum plan_exit {
	PLAN_NOTHING = 0,
	PLAN_ERROR = 1, /* no plan, or an incomplete one whose rest changes nothing */
	PLAN_CHANGES = 2,
};

/* A floating dictionary, with details of at most max_nodes nodes. */
GVariant *plan_answer(const struct dry_run *dry, unsigned int max_nodes);
enum plan_exit plan_exit_code(GVariant *answer);
void print_plan(GVariant *answer, GString *out);

#endif
