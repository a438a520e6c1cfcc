// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What to do about ports that misbehave: one rule for each condition (port_conditions.def) and node
 * type, from the file named by hm_ports_health_policy_file. A line of it:
 *
 *	CONDITION TYPE ACTION [N in SECONDS | N of SWEEPS] [release SECONDS|never] [cut_off]
 *
 * '#' begins a comment. A condition without a line is reported.
 */
#ifndef POLICY_FILES_PORTS_POLICY_H
#define POLICY_FILES_PORTS_POLICY_H

#include <complib/handoff.h>
#include <glib.h>
#include <stdint.h>

#include "core/options.h"
#include "iba/constants.h"

enum port_condition {
#define PORT_CONDITION(name, word, unit, count, window, text) PORT_##name,
#include "policy/files/port_conditions.def"
	PORT_CONDITIONS
};

/* From the mildest to the most severe. */
enum port_action {
	PORT_IGNORE,	  /* not even counted */
	PORT_REPORT,	  /* log it, nothing else */
	PORT_NO_DISCOVER, /* discovery does not go through the port, which is unchanged */
	PORT_ISOLATE,	  /* also exclude it from routing, and keep its link in INIT */
	PORT_DISABLE,	  /* disable the link */
	PORT_ENABLE,	  /* not in rules: was disabled, and is to be enabled */
	PORT_ACTIONS
};

struct port_rule {
	uint8_t action;	  /* enum port_action */
	bool cut_off;	  /* even if that cuts off more than the port */
	bool sweeps;	  /* window counts sweeps, not seconds */
	uint16_t count;	  /* number of events ... */
	uint32_t window;  /* ... within this time that make the condition true */
	uint32_t release; /* seconds without an event after which it ends; 0: never */
};

struct ports_policy {
	struct ref ref;
	unsigned int n_rules; /* in the file */
	struct port_rule rules[PORT_CONDITIONS][IBA_NODE_ROUTER + 1]; /* by IBA_NODE_CA .. ROUTER */
};

#define PORT_RULE_COUNT_MAX 1000
#define PORT_RULE_WINDOW_MAX 86400
#define PORT_RULE_RELEASE_MAX (30 * 86400)

const char *port_condition_word(unsigned int condition); /* as in the file */
const char *port_condition_text(unsigned int condition); /* "its link goes down again and again" */
const char *port_action_word(unsigned int action);
const char *port_type_word(unsigned int node_type);
/* The condition with that word of length octets; -1: unknown word. */
int port_condition_find(const char *word, size_t length);
int port_action_find(const char *word, size_t length);
int port_type_find(const char *word, size_t length);

#define PORTS_POLICY_ERROR ports_policy_error_quark()
GQuark ports_policy_error_quark(void);

/*
 * Loads the file that the options name; without one, all conditions are reported. NULL and an error
 * with the option, file, line and column, what was found there and what was expected.
 */
struct ports_policy *ports_policy_load(const struct options *options, GError **error);
/* Parses length octets of text, which messages call file. */
struct ports_policy *ports_policy_parse(const char *file, const char *text, size_t length,
					GError **error);
struct ports_policy *ports_policy_ref(struct ports_policy *policy);
void ports_policy_unref(struct ports_policy *policy); /* NULL is fine */

#endif
