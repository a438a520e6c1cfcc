// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file qos-policy.conf: which paths get which service level, and the limits that go with it;
 * which ports get other tables than those of the keys in opensm.conf. Immutable and reference
 * counted.
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

/* A group of ports; a port that any of these describes is a member. */
struct qos_group {
	char *name;
	GArray *guids;	       /* struct qos_range of port GUIDs */
	GArray *p_keys;	       /* struct qos_range, without the membership bit */
	GPtrArray *partitions; /* names */
	GPtrArray *ports;      /* "NodeDescription/Pnum", */
	GArray *port_lines;    /* the line of the file for each, unsigned int */
	unsigned int types;    /* 1 << IBA_NODE_CA .. */
	bool self;	       /* the SM's port */
};

/* The limits of a path. */
struct qos_level {
	char *name;
	bool has_sl, has_mtu, has_rate, has_life, has_p_key;
	uint8_t sl, mtu, rate, life; /* codes */
	uint16_t p_key;
	GArray *path_bits; /* struct qos_range; empty: any */
};

/* All conditions must hold; an empty one always does. A query without the value asked for fails. */
struct qos_rule {
	unsigned int line;
	GArray *classes, *services, *p_keys; /* struct qos_range */
	GArray *sources, *destinations; /* int: indexes of groups; it must be in one */
	bool either;			/* sources apply to either end */
	unsigned int level;
};

/* Ports named by a line of a scope. */
struct qos_ends {
	bool all;	/* "*" */
	GArray *groups; /* int: indexes of groups; the port is in one of them */
};

/* Per file. */
#define QOS_SCOPES_MAX 256
#define QOS_GROUPS_MAX 4096 /* with those of the short form; a bit for each port in each */
#define QOS_RULES_MAX 4096  /* per form */

enum qos_setting {
	QOS_SETS_HIGH = 1 << 0,
	QOS_SETS_LOW = 1 << 1,
	QOS_SETS_LIMIT = 1 << 2,
	QOS_SETS_SL2VL = 1 << 3,
};

/* A vlarb-scope or sl2vl-scope of qos-setup: tables, and the ports that get them. */
struct qos_scope {
	unsigned int line;
	unsigned int sets; /* bits of enum qos_setting; SL2VL is never combined */
	struct qos_ends group, across, across_from, across_to;
	bool has_from, has_to;
	bool from[256], to[256]; /* by port number; all if not given */
	struct iba_vl_arbitration_entry high[QOS_ARB_ENTRIES], low[QOS_ARB_ENTRIES];
	unsigned int n_high, n_low;
	uint8_t limit;
	uint8_t vl[QOS_SLS];
};

struct qos_policy {
	struct ref ref;
	char *file;
	GPtrArray *groups, *levels, *rules; /* in order of precedence */
	GPtrArray *scopes;		    /* if several apply to a port, the last one counts */
	unsigned int fallback;		    /* level of paths without a rule */
	GPtrArray *warnings;		    /* "FILE:LINE: text" */
	char *text; /* source text; NULL: no file, or only comments */
	bool is_there; /* there was a file */
};

#define QOS_FILE_ERROR qos_file_error_quark()
GQuark qos_file_error_quark(void);
enum qos_file_error {
	QOS_FILE_ERROR_READ,  /* the file exists but cannot be read */
	QOS_FILE_ERROR_SYNTAX /* "FILE:LINE:COLUMN: found ..., expected ..." */
};

/*
 * Parses the text of a file of that name, which is for errors; NULL and an error if anything is
 * wrong.
 */
struct qos_policy *qos_policy_parse(const char *file, const char *text, GError **error);
/*
 * Loads a file. No file, or one that has only comments, is a policy without rules, whose level sets
 * nothing.
 */
struct qos_policy *qos_policy_load(const char *file, GError **error);
struct qos_policy *qos_policy_ref(struct qos_policy *policy);
void qos_policy_unref(struct qos_policy *policy); /* NULL is fine */
/* Whether both were made from the same text, or without a file. */
bool qos_policy_same(const struct qos_policy *a, const struct qos_policy *b);

/* The parts of a path query that rules examine. */
struct qos_query {
	bool has_class, has_service, has_p_key;
	uint16_t qos_class;
	uint64_t service_id;
	uint16_t p_key;
	bool (*is_in)(void *arg, unsigned int group, bool destination);
	void *arg;
	const struct qos_rule *rule; /* out: the rule that applies; NULL: none */
};

/* The level of the first rule that applies. */
const struct qos_level *qos_policy_level(const struct qos_policy *policy, struct qos_query *query);

bool qos_ranges_have(const GArray *ranges, uint64_t value);
/* Whether a range begins below the limit. */
bool qos_ranges_begin_below(const GArray *ranges, uint64_t limit);

#endif
