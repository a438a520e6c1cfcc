// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeps what the daemon has answered, and asks it again when its answers are needed and are old.
 * Several that need them wait for one question together. On the default main context.
 */
#ifndef SNMP_MIRROR_H
#define SNMP_MIRROR_H

#include "snmp/facts.h"

enum mirror_part {
	MIRROR_STATUS = 1 << 0, /* with health and unhealthy ports */
	MIRROR_POLICY = 1 << 1, /* partitions and members */
	MIRROR_FABRIC = 1 << 2, /* nodes and ports */
	MIRROR_PARTS = 1 << 3,	/* all parts are below */
};

struct mirror;

/* path: the socket of the daemon; NULL: the only one. Nothing is asked yet. */
struct mirror *mirror_new(const char *path);
void mirror_free(struct mirror *mirror); /* no done() is called; NULL is fine */

const struct facts *mirror_facts(const struct mirror *mirror);

typedef void mirror_done_fn(void *arg);
/*
 * False if these parts are known and young: at most a second old, nodes and ports at most ten. Else
 * done is called once, later, when the daemon has answered or cannot.
 */
bool mirror_want(struct mirror *mirror, unsigned int parts, mirror_done_fn *done, void *arg);
/* As if these parts were old. */
void mirror_forget(struct mirror *mirror, unsigned int parts);

typedef void mirror_changed_fn(void *arg, unsigned int status, const char *output);
/*
 * Has the daemon run a command that changes partitions. Once done is called, with the answer, what
 * was known before is old.
 */
void mirror_change(struct mirror *mirror, const char *line, mirror_changed_fn *done, void *arg);

#endif
