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

/* A name that may be given to something further down: looked up at the end. */
struct qos_mention {
	unsigned int line;
	char *name;
	GArray *groups;	       /* int: gets the index of the group, */
	bool of_scope;	       /* which there need not be; */
	struct qos_rule *rule; /* or gets that of the level */
};

struct qos_parser {
	unsigned int line, last_line; /* being read: more than one if a list goes on */
	enum qos_section section;
	unsigned int section_line;
	struct qos_policy *policy;
	void *object;	     /* struct qos_group, _level, _rule or _scope of the section */
	bool scope_has_ends; /* some line of it names ports */
	bool rule_has_level;
	GPtrArray *ulps;		 /* struct qos_rule of the short form */
	GArray *mentions;		 /* struct qos_mention */
	GHashTable *names[N_SECTIONS];	 /* of GROUP, LEVEL: name -> index + 1 */
	unsigned int ulp_level[QOS_SLS]; /* index + 1; 0: not made yet */
	bool has_fallback;
	/* What is wrong, and what follows from that need not be told as well: */
	struct mistakes mistakes;
	bool object_is_wrong;	/* something in the section at hand */
	bool lost[N_SECTIONS];	/* names of GROUP, LEVEL may not be known */
	char *skipped;		/* a section that there is not: its name; NULL: none */
	bool is_full;		/* no more is to be read */
};

const char *qos_section_name(enum qos_section section);
/* What is found is no word of this section: tells those that are. */
bool qos_no_word(struct qos_parser *p, const char *found);

/* Keeps "FILE:LINE:COLUMN: found ..., expected ...". Returns false. */
G_GNUC_PRINTF(3, 4)
bool qos_wrong(struct qos_parser *p, const char *found, const char *format, ...);

bool qos_read_number(const char *text, uint64_t max, uint64_t *value);
bool qos_read_ranges(struct qos_parser *p, const char *text, uint64_t max, GArray *ranges);
bool qos_read_p_keys(struct qos_parser *p, const char *text, GArray *ranges);

/* In the policy; NULL and error: it has as many as may be. */
struct qos_group *qos_group_new(struct qos_parser *p);
struct qos_level *qos_level_new(struct qos_policy *policy, const char *name);
struct qos_scope *qos_scope_new(struct qos_parser *p);
/* In rules: those of the policy, or p->ulps, which take it over. */
struct qos_rule *qos_rule_new(struct qos_parser *p, GPtrArray *rules);
void qos_rule_free(void *data);
struct qos_policy *qos_policy_new(const char *file);

/* "FILE:LINE: ..." of what is taken. */
G_GNUC_PRINTF(2, 3)
void qos_warn(const struct qos_parser *p, const char *format, ...);

/* Of all sections, by number; NULL past the last. For the test of the manual. */
const char *qos_keyword(unsigned int n);
/* Adds those of a section, each with a colon. */
void qos_keywords_of(enum qos_section section, GPtrArray *words);
/* "keyword: value" of the section that the parser is in. */
bool qos_read_keyword(struct qos_parser *p, char *text);
/* A line of qos-ulps. */
bool qos_read_ulp(struct qos_parser *p, char *text);

#endif
