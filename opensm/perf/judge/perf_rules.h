// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * By which rules counters are judged: those of the file named by perfmgr_rules_file, or those built
 * in (perf_rules.def). Lines of the file, in any order but that later rules win:
 *
 *	group NAME MEMBER...
 *	VALUE SCOPE LEVEL LIMIT in SECONDS [or LIMIT in SECONDS]... [clear LIMIT] [after SECONDS]
 *		[fec|no_fec] [unhealthy]
 *	VALUE SCOPE LEVEL off
 *	VALUE SCOPE off
 *
 * '#' begins a comment. Immutable and reference counted, in context->perf_rules.
 */
#ifndef PERF_PERF_RULES_H
#define PERF_PERF_RULES_H

#include <glib.h>

#include "core/options.h"
#include "perf/image/image.h"
#include "subnet/perf_alarms.h"

/* What is judged: a counter, a detail, or what is computed from them. */
enum perf_rule_value {
	PERF_VALUE_COUNTERS,					  /* + enum perf_counter */
	PERF_VALUE_DETAILS = PERF_VALUE_COUNTERS + PERF_COUNTERS, /* + enum perf_detail */
	PERF_VALUE_XMIT_WAIT_SHARE = PERF_VALUE_DETAILS + PERF_DETAILS,
	PERF_VALUE_UTILISATION,
	PERF_VALUE_RAW_BER,
	PERF_VALUES
};

const char *perf_rule_value_name(unsigned int value); /* "PortRcvErrors" */
const char *perf_rule_value_unit(unsigned int value); /* "", or " %" */
/* By any name that the console knows as well; -1: no rule can be about it. */
int perf_rule_value_find(const char *name);

#define PERF_RULES_MAX 1024 /* rules of a file, each "or" counts as one more */
#define PERF_GROUPS_MAX 256
#define PERF_WINDOW_MAX (7 * 86400)

enum perf_rule_scope {
	PERF_SCOPE_ALL,
	PERF_SCOPE_SWITCH_SWITCH, /* cables between switches */
	PERF_SCOPE_HOST,	  /* ports of hosts, and switch ports that lead to them */
	PERF_SCOPE_SWITCH,	  /* ports of switches */
	PERF_SCOPE_GROUP,
	PERF_SCOPE_PORT, /* of one node, or one of its ports */
	PERF_SCOPES
};

enum perf_links { PERF_ANY_LINK, PERF_FEC_LINK, PERF_NO_FEC_LINK };

struct perf_rule {
	uint32_t line;	/* in the file; number in the table if it is built in */
	uint16_t next;	/* number of the next rule for that value; n: none */
	uint16_t group; /* index in groups, of PERF_SCOPE_GROUP */
	uint16_t value; /* enum perf_rule_value */
	uint8_t scope;	/* enum perf_rule_scope */
	uint8_t level;	/* enum perf_level */
	uint8_t links;	/* enum perf_links: of those ports, only these */
	uint8_t port;	/* of PERF_SCOPE_PORT; 0: all */
	bool off;	/* the value is not judged there on this level */
	bool is_more;	/* an "or" of the rule before */
	bool unhealthy; /* see struct perf_alarm */
	uint64_t guid;	/* of PERF_SCOPE_PORT */
	uint32_t window_s;
	uint32_t clear_s; /* below clear for that long ends it */
	double limit;	  /* that is reached within window_s */
	double clear;
};

struct perf_rule_member {
	uint64_t guid;
	uint8_t port; /* 0: all of the node */
};

struct perf_group {
	char *name;
	GArray *members;     /* of struct perf_rule_member, sorted */
	GPtrArray *patterns; /* of GPatternSpec */
	GPtrArray *texts;    /* of the patterns, as in the file */
};

struct perf_rules {
	struct ref ref;
	char *file; /* NULL: built in */
	unsigned int n;
	struct perf_rule *rules; /* in order; later ones win */
	unsigned int n_groups;
	struct perf_group *groups;
};

#define PERF_RULES_ERROR perf_rules_error_quark()
GQuark perf_rules_error_quark(void);

/*
 * Loads the file that the options name; without one, the rules built in. NULL and an error with the
 * option, file, line and column, what was found there and what was expected.
 */
struct perf_rules *perf_rules_load(const struct options *options, GError **error);
/* Parses length octets of text, which messages call file. */
struct perf_rules *perf_rules_parse(const char *file, const char *text, size_t length,
				    GError **error);
struct perf_rules *perf_rules_built_in(void);
struct perf_rules *perf_rules_ref(struct perf_rules *rules);
void perf_rules_unref(struct perf_rules *rules); /* NULL is fine */

bool perf_rules_same(const struct perf_rules *a, const struct perf_rules *b);
/* A file with these rules; g_free() it. */
char *perf_rules_text(const struct perf_rules *rules);
/* A rule with its "or"s as in a file, without a newline; number: of the first of them. */
char *perf_rule_text(const struct perf_rules *rules, unsigned int number);
/* A group as in a file, without a newline; g_free() it. */
char *perf_group_text(const struct perf_group *group);
/* The number of the group with that name; -1: none has it. */
int perf_rules_find_group(const struct perf_rules *rules, const char *name);
/* [row]: whether it belongs to the group; g_free() it. */
bool *perf_group_rows(const struct perf_group *group, const struct perf_layout *layout);
/* Whether b judges as a does, though their groups may have other numbers. */
bool perf_rule_same(const struct perf_rules *in_a, const struct perf_rule *a,
		    const struct perf_rules *in_b, const struct perf_rule *b);
/* Whether the scope has the port. */
bool perf_rule_covers(const struct perf_rules *rules, const struct perf_rule *rule,
		      const struct perf_layout *layout, uint32_t row);
/*
 * Whether the rule judges the port: its scope has it, that of no later rule for that value and
 * level does, and it is not off.
 */
bool perf_rule_applies(const struct perf_rules *rules, unsigned int number,
		       const struct perf_layout *layout, uint32_t row);

#endif
