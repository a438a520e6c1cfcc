// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See mlid_rules.h. */
#include "core/mlid_rules.h"

#include <arpa/inet.h>
#include <glib.h>
#include <string.h>

static bool parse_gid(const char *text, struct iba_gid *gid)
{
	uint8_t octets[16];

	if (inet_pton(AF_INET6, text, octets) != 1)
		return false;
	wire_decode(&iba_gid_type, octets, gid);
	return true;
}

/* A base with bits outside its mask is an error, and so is one that no multicast GID has. */
static bool is_base(const struct mlid_rule *rule)
{
	return iba_gid_is_multicast(rule->mgid) && iba_gid_is_multicast(rule->mask) &&
	       !(rule->mgid.prefix & ~rule->mask.prefix) && !(rule->mgid.guid & ~rule->mask.guid);
}

static bool parse_rule(char *text, struct mlid_rule *rule)
{
	char *mask = strchr(text, '/'), *number = mask ? strchr(mask, '=') : NULL;
	guint64 n;

	if (!number)
		return false;
	*mask++ = '\0';
	*number++ = '\0';
	if (!g_ascii_string_to_unsigned(number, 10, 1, MLID_RULE_MLIDS_MAX, &n, NULL))
		return false;
	rule->n = (uint32_t)n;
	return parse_gid(text, &rule->mgid) && parse_gid(mask, &rule->mask) && is_base(rule);
}

int mlid_rules_parse(const char *text, struct mlid_rule rules[MLID_RULES_MAX])
{
	g_auto(GStrv) words = g_strsplit_set(text ? text : "", ", \t", -1);
	int n = 0;

	for (unsigned int i = 0; words[i]; i++) {
		if (!*words[i])
			continue;
		if (n == MLID_RULES_MAX || !parse_rule(words[i], &rules[n]))
			return -1;
		n++;
	}
	return n;
}
