// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file qos-policy.conf: which paths get which service level, and the limits that go with it;
 * which ports get other tables than the keys of opensm.conf say. Immutable and counted.
 */
#ifndef POLICY_QOS_QOS_FILE_H
#define POLICY_QOS_QOS_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/handoff.h"
#include "policy/qos/qos.h"

struct qos_range {
	uint64_t first, last;
};

/* Ports by what they are; any of it makes a port a member. */
struct qos_group {
	char *name;
	GArray *guids;	       /* struct qos_range of port GUIDs */
	GArray *p_keys;	       /* struct qos_range, without the membership bit */
	GPtrArray *partitions; /* names */
	GPtrArray *ports;      /* "NodeDescription/Pnum", */
	GArray *port_lines;    /* and for each the line of the file, unsigned int */
	unsigned int types;    /* 1 << IBA_NODE_CA .. */
	bool self;	       /* the SM's port */
};

/* What a path is held to. */
struct qos_level {
	char *name;
	bool has_sl, has_mtu, has_rate, has_life, has_p_key;
	uint8_t sl, mtu, rate, life; /* codes */
	uint16_t p_key;
	GArray *path_bits; /* struct qos_range; empty: any */
};

/* All of it must hold; what is empty holds always. A query that does not say what is asked fails.
 */
struct qos_rule {
	unsigned int line;
	GArray *classes, *services, *p_keys; /* struct qos_range */
	GArray *sources, *destinations; /* int: indexes of groups, one of which it must be in */
	bool either;			/* one of sources at any end */
	unsigned int level;
};

/* Ports that a line of a scope names. */
struct qos_ends {
	bool all;	/* "*" */
	GArray *groups; /* int: indexes of groups, one of which they are in */
};

/* Of a file. */
#define QOS_SCOPES_MAX 256
#define QOS_GROUPS_MAX 4096 /* those of the short form included; a bit for each port in each */
#define QOS_RULES_MAX 4096  /* of each form */

enum qos_setting {
	QOS_SETS_HIGH = 1 << 0,
	QOS_SETS_LOW = 1 << 1,
	QOS_SETS_LIMIT = 1 << 2,
	QOS_SETS_SL2VL = 1 << 3,
};

/* A vlarb-scope or sl2vl-scope of qos-setup: tables, and the ports that get them. */
struct qos_scope {
	unsigned int line;
	unsigned int sets; /* bits of enum qos_setting; SL2VL stands alone */
	struct qos_ends group, across, across_from, across_to;
	bool has_from, has_to;
	bool from[256], to[256]; /* by the number of the port; all if nothing was said */
	struct iba_vl_arbitration_entry high[QOS_ARB_ENTRIES], low[QOS_ARB_ENTRIES];
	unsigned int n_high, n_low;
	uint8_t limit;
	uint8_t vl[QOS_SLS];
};

struct qos_policy {
	struct ref ref;
	char *file;
	GPtrArray *groups, *levels, *rules; /* in the order in which they are tried */
	GPtrArray *scopes;		    /* of those about one port the last one counts */
	unsigned int fallback;		    /* level of what no rule is about */
	GPtrArray *warnings;		    /* "FILE:LINE: text" */
	char *text; /* that it was made of; NULL: there was no file, or it has but comments */
	bool is_there; /* there was a file */
};

#define QOS_FILE_ERROR qos_file_error_quark()
GQuark qos_file_error_quark(void);
enum qos_file_error {
	QOS_FILE_ERROR_READ,  /* it is there, and cannot be read */
	QOS_FILE_ERROR_SYNTAX /* "FILE:LINE:COLUMN: found ..., expected ..." */
};

/* The text of a file of that name, which is for errors; NULL and error if anything is wrong. */
struct qos_policy *qos_policy_parse(const char *file, const char *text, GError **error);
/*
 * The same of a file; no file, or one that has but comments, is a policy without rules, whose level
 * says nothing.
 */
struct qos_policy *qos_policy_load(const char *file, GError **error);
struct qos_policy *qos_policy_ref(struct qos_policy *policy);
void qos_policy_unref(struct qos_policy *policy); /* NULL is fine */
/* Both were made of the same text, or of no file. */
bool qos_policy_same(const struct qos_policy *a, const struct qos_policy *b);

/* What a path query asks, as far as rules look at it. */
struct qos_query {
	bool has_class, has_service, has_p_key;
	uint16_t qos_class;
	uint64_t service_id;
	uint16_t p_key;
	bool (*is_in)(void *arg, unsigned int group, bool destination);
	void *arg;
	const struct qos_rule *rule; /* out: that holds; NULL: none does */
};

/* The level of the first rule that holds. */
const struct qos_level *qos_policy_level(const struct qos_policy *policy, struct qos_query *query);

bool qos_ranges_have(const GArray *ranges, uint64_t value);
/* Whether one of them does below that. */
bool qos_ranges_begin_below(const GArray *ranges, uint64_t limit);

#endif
