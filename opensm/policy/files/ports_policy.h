// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is to be done about ports that misbehave: a rule for each condition (port_conditions.def)
 * and type of node, as the file says that hm_ports_health_policy_file names. A line of it:
 *
 *	CONDITION TYPE ACTION [N in SECONDS | N of SWEEPS] [release SECONDS|never] [cut_off]
 *
 * '#' begins a comment. What no line names is reported.
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

/* From the mildest to the gravest. */
enum port_action {
	PORT_IGNORE,	  /* not even counted */
	PORT_REPORT,	  /* said, and nothing else */
	PORT_NO_DISCOVER, /* the sweep does not look behind the port, which stays as it is */
	PORT_ISOLATE,	  /* nor is it routed to, and its link is kept in INIT */
	PORT_DISABLE,	  /* the link is switched off */
	PORT_ENABLE,	  /* of no rule: was disabled, and is to be switched on */
	PORT_ACTIONS
};

struct port_rule {
	uint8_t action;	  /* enum port_action */
	bool cut_off;	  /* also where that cuts off more than the port */
	bool sweeps;	  /* window is one of sweeps, not of seconds */
	uint16_t count;	  /* how often ... */
	uint32_t window;  /* ... within this the condition is met */
	uint32_t release; /* seconds without a new event after which it is over; 0: never */
};

struct ports_policy {
	struct ref ref;
	unsigned int n_rules; /* that the file has */
	struct port_rule rules[PORT_CONDITIONS][IBA_NODE_ROUTER + 1]; /* by IBA_NODE_CA .. ROUTER */
};

#define PORT_RULE_COUNT_MAX 1000
#define PORT_RULE_WINDOW_MAX 86400
#define PORT_RULE_RELEASE_MAX (30 * 86400)

const char *port_condition_word(unsigned int condition); /* as in the file */
const char *port_condition_text(unsigned int condition); /* "its link goes down again and again" */
const char *port_action_word(unsigned int action);
const char *port_type_word(unsigned int node_type);
/* The other way: the number of such a word of length octets, -1: it is none. */
int port_condition_find(const char *word, size_t length);
int port_action_find(const char *word, size_t length);
int port_type_find(const char *word, size_t length);

#define PORTS_POLICY_ERROR ports_policy_error_quark()
GQuark ports_policy_error_quark(void);

/*
 * As the file that the options name has it; without one, all is reported. NULL and error, with the
 * option, file, line and column, what was found there and what was expected.
 */
struct ports_policy *ports_policy_load(const struct options *options, GError **error);
/* The same of length octets of text, called file in messages. */
struct ports_policy *ports_policy_parse(const char *file, const char *text, size_t length,
					GError **error);
struct ports_policy *ports_policy_ref(struct ports_policy *policy);
void ports_policy_unref(struct ports_policy *policy); /* NULL is fine */

#endif
