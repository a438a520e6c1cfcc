// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the readers of qos-policy.conf share: its sections and keywords, and the short form. */
#ifndef POLICY_QOS_QOS_FILE_PRIVATE_H
#define POLICY_QOS_QOS_FILE_PRIVATE_H

#include "core/mistakes.h"
#include "policy/qos/qos_file.h"

#define QOS_P_KEY_MASK 0x7FFF

enum qos_section {
	TOP,
	GROUPS,
	GROUP,
	SETUP,
	VLARBS,
	VLARB,
	SL2VLS,
	SL2VL,
	LEVELS,
	LEVEL,
	RULES,
	RULE,
	ULPS,
	N_SECTIONS
};

/* A reference to a name that may be defined further down: resolved at the end. */
struct qos_mention {
	unsigned int line;
	char *name;
	GArray *groups;	       /* int: the index of the group is added here, */
	bool of_scope;	       /* where the group need not exist; */
	struct qos_rule *rule; /* or the rule gets the index of the level */
};

struct qos_parser {
	unsigned int line, last_line; /* being read; they differ if a list continues */
	enum qos_section section;
	unsigned int section_line;
	struct qos_policy *policy;
	void *object;	     /* struct qos_group, _level, _rule or _scope of the section */
	bool scope_has_ends; /* a line of it names ports */
	bool rule_has_level;
	GPtrArray *ulps;		 /* struct qos_rule of the short form */
	GArray *mentions;		 /* struct qos_mention */
	GHashTable *names[N_SECTIONS];	 /* of GROUP, LEVEL: name -> index + 1 */
	unsigned int ulp_level[QOS_SLS]; /* index + 1; 0: not created yet */
	bool has_fallback;
	/* State about errors, to avoid reporting their consequences as well: */
	struct mistakes mistakes;
	bool object_is_wrong;	/* there was an error in the current section */
	bool lost[N_SECTIONS];	/* some names of GROUP, LEVEL may be missing */
	char *skipped;		/* name of an unknown section that is skipped; NULL: none */
	bool is_full;		/* stop reading */
};

const char *qos_section_name(enum qos_section section);
/* The word found is not a keyword of this section: reports the valid ones. */
bool qos_no_word(struct qos_parser *p, const char *found);

/* Keeps "FILE:LINE:COLUMN: found ..., expected ...". Returns false. */
G_GNUC_PRINTF(3, 4)
bool qos_wrong(struct qos_parser *p, const char *found, const char *format, ...);

bool qos_read_number(const char *text, uint64_t max, uint64_t *value);
bool qos_read_ranges(struct qos_parser *p, const char *text, uint64_t max, GArray *ranges);
bool qos_read_p_keys(struct qos_parser *p, const char *text, GArray *ranges);

/* Adds a group to the policy; NULL and an error: the limit is reached. */
struct qos_group *qos_group_new(struct qos_parser *p);
struct qos_level *qos_level_new(struct qos_policy *policy, const char *name);
struct qos_scope *qos_scope_new(struct qos_parser *p);
/* Adds a rule to rules, which owns it: those of the policy, or p->ulps. */
struct qos_rule *qos_rule_new(struct qos_parser *p, GPtrArray *rules);
void qos_rule_free(void *data);
struct qos_policy *qos_policy_new(const char *file);

/* Adds the warning "FILE:LINE: ...". */
G_GNUC_PRINTF(2, 3)
void qos_warn(const struct qos_parser *p, const char *format, ...);

/* The keywords of all sections, by number; NULL past the last. For the test of the manual. */
const char *qos_keyword(unsigned int n);
/* Adds the keywords of a section, each with a colon. */
void qos_keywords_of(enum qos_section section, GPtrArray *words);
/* Reads "keyword: value" in the parser's current section. */
bool qos_read_keyword(struct qos_parser *p, char *text);
/* Reads a line of qos-ulps. */
bool qos_read_ulp(struct qos_parser *p, char *text);

#endif
