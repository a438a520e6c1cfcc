// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The short form of rules in qos-policy.conf: "ULP, ports: SL", converted to the long form. */
#include <string.h>

#include "policy/qos/qos_file_private.h"

#define IPOIB_P_KEY 0x7FFF
#define SDP_FIRST 0x10000
#define RDS_FIRST 0x1060000
#define RDS_PORT 0x48CA
#define ISER_PORT 0x0CBC
#define PORT_MAX 0xFFFF

/* Adds an unnamed group of just those port GUIDs. */
static bool add_guids(struct qos_parser *p, const char *value, struct qos_rule *rule, bool source)
{
	int index = (int)p->policy->groups->len;
	struct qos_group *group = qos_group_new(p);

	if (!group)
		return false;
	g_array_append_val(*(source ? &rule->sources : &rule->destinations), index);
	return qos_read_ranges(p, value, UINT64_MAX, group->guids);
}

/* Adds TCP ports, as the last 16 bits of service IDs. */
static bool add_ports(struct qos_parser *p, const char *value, uint64_t first,
		      struct qos_rule *rule)
{
	guint before = rule->services->len;

	if (!qos_read_ranges(p, value, PORT_MAX, rule->services))
		return false;
	for (guint i = before; i < rule->services->len; i++) {
		struct qos_range *range = &g_array_index(rule->services, struct qos_range, i);

		range->first += first;
		range->last += first;
	}
	return true;
}

static void add_range(GArray *ranges, uint64_t first, uint64_t last)
{
	struct qos_range range = {first, last};

	g_array_append_val(ranges, range);
}

/* A ULP without parameters. */
static bool ulp_alone(struct qos_parser *p, const char *who, struct qos_rule *rule)
{
	if (!strcmp(who, "sdp"))
		add_range(rule->services, SDP_FIRST, SDP_FIRST + PORT_MAX);
	else if (!strcmp(who, "rds"))
		add_range(rule->services, RDS_FIRST + RDS_PORT, RDS_FIRST + RDS_PORT);
	else if (!strcmp(who, "iser"))
		add_range(rule->services, RDS_FIRST + ISER_PORT, RDS_FIRST + ISER_PORT);
	else if (!strcmp(who, "ipoib"))
		add_range(rule->p_keys, IPOIB_P_KEY, IPOIB_P_KEY);
	else
		return qos_wrong(p, who, "default, sdp, rds, iser, ipoib, or srp or any with more");
	return true;
}

/* A ULP with "WORD value" after the comma. */
static bool ulp_with(struct qos_parser *p, const char *who, const char *word, const char *value,
		     struct qos_rule *rule)
{
	bool any = !strcmp(who, "any");

	if (!strcmp(word, "port-num") && !strcmp(who, "sdp"))
		return add_ports(p, value, SDP_FIRST, rule);
	if (!strcmp(word, "port-num") && (!strcmp(who, "rds") || !strcmp(who, "iser")))
		return add_ports(p, value, RDS_FIRST, rule);
	if (!strcmp(word, "target-port-guid") && (any || !strcmp(who, "srp")))
		return add_guids(p, value, rule, false);
	if (!strcmp(word, "source-port-guid") && any)
		return add_guids(p, value, rule, true);
	if (!strcmp(word, "source-target-port-guid") && any) {
		rule->either = true;
		return add_guids(p, value, rule, true);
	}
	if (!strcmp(word, "service-id") && any)
		return qos_read_ranges(p, value, UINT64_MAX, rule->services);
	if (!strcmp(word, "pkey") && (any || !strcmp(who, "ipoib")))
		return qos_read_p_keys(p, value, rule->p_keys);
	return qos_wrong(p, word, "a valid keyword after '%s'", who);
}

/* The level's name is only for people. */
static unsigned int level_of_sl(struct qos_parser *p, uint8_t sl)
{
	g_autofree char *name = g_strdup_printf("SL %u", sl);
	struct qos_level *level;

	if (!p->ulp_level[sl]) {
		level = qos_level_new(p->policy, name);
		level->sl = sl;
		level->has_sl = true;
		p->ulp_level[sl] = p->policy->levels->len;
	}
	return p->ulp_level[sl] - 1;
}

/* "ulp[, word value]" */
static bool read_rule(struct qos_parser *p, char *text, uint8_t sl)
{
	char *more = strchr(text, ','), *value;
	struct qos_rule *rule;

	if (more)
		*more++ = '\0';
	for (char *c = g_strstrip(text); *c; c++)
		*c = g_ascii_tolower(*c);
	if (!strcmp(text, "default") && !more) {
		if (p->has_fallback)
			qos_warn(p, "'default' is set twice: this line is used, SL %u", sl);
		p->has_fallback = true;
		p->policy->fallback = level_of_sl(p, sl);
		return true;
	}
	rule = qos_rule_new(p, p->ulps);
	if (!rule)
		return false;
	rule->level = level_of_sl(p, sl);
	if (!more)
		return ulp_alone(p, text, rule);
	g_strstrip(more);
	value = more + strcspn(more, " \t");
	if (*value)
		*value++ = '\0';
	return ulp_with(p, text, more, g_strstrip(value), rule);
}

/* The SL follows the last colon. */
bool qos_read_ulp(struct qos_parser *p, char *text)
{
	char *colon = strrchr(text, ':');
	uint64_t sl;

	if (!colon)
		return qos_wrong(p, text, "a rule, ':' and an SL");
	*colon++ = '\0';
	if (!qos_read_number(g_strstrip(colon), 15, &sl))
		return qos_wrong(p, colon, "an SL from 0 to 15");
	return read_rule(p, text, (uint8_t)sl);
}
