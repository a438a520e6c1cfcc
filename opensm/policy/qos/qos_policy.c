// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The contents of qos-policy.conf, as an object: its parts, and the level for a query. */
#include <string.h>

#include "policy/qos/qos_file_private.h"

static GArray *ranges_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct qos_range));
}

static void group_free(void *data)
{
	struct qos_group *group = data;

	g_free(group->name);
	g_array_unref(group->guids);
	g_array_unref(group->p_keys);
	g_ptr_array_unref(group->partitions);
	g_ptr_array_unref(group->ports);
	g_array_unref(group->port_lines);
	g_free(group);
}

struct qos_group *qos_group_new(struct qos_parser *p)
{
	struct qos_group *group;

	if (p->policy->groups->len == QOS_GROUPS_MAX) {
		qos_wrong(p, "one more", "at most %u groups", QOS_GROUPS_MAX);
		return NULL;
	}
	group = g_new0(struct qos_group, 1);
	group->guids = ranges_new();
	group->p_keys = ranges_new();
	group->partitions = g_ptr_array_new_with_free_func(g_free);
	group->ports = g_ptr_array_new_with_free_func(g_free);
	group->port_lines = g_array_new(FALSE, FALSE, sizeof(unsigned int));
	g_ptr_array_add(p->policy->groups, group);
	return group;
}

static void level_free(void *data)
{
	struct qos_level *level = data;

	g_free(level->name);
	g_array_unref(level->path_bits);
	g_free(level);
}

struct qos_level *qos_level_new(struct qos_policy *policy, const char *name)
{
	struct qos_level *level = g_new0(struct qos_level, 1);

	level->name = g_strdup(name);
	level->path_bits = ranges_new();
	g_ptr_array_add(policy->levels, level);
	return level;
}

void qos_rule_free(void *data)
{
	struct qos_rule *rule = data;

	g_array_unref(rule->classes);
	g_array_unref(rule->services);
	g_array_unref(rule->p_keys);
	g_array_unref(rule->sources);
	g_array_unref(rule->destinations);
	g_free(rule);
}

struct qos_rule *qos_rule_new(struct qos_parser *p, GPtrArray *rules)
{
	struct qos_rule *rule;

	if (rules->len == QOS_RULES_MAX) {
		qos_wrong(p, "one more", "at most %u rules", QOS_RULES_MAX);
		return NULL;
	}
	rule = g_new0(struct qos_rule, 1);
	rule->line = p->line;
	rule->classes = ranges_new();
	rule->services = ranges_new();
	rule->p_keys = ranges_new();
	rule->sources = g_array_new(FALSE, FALSE, sizeof(int));
	rule->destinations = g_array_new(FALSE, FALSE, sizeof(int));
	g_ptr_array_add(rules, rule);
	return rule;
}

static void scope_free(void *data)
{
	struct qos_scope *scope = data;

	g_array_unref(scope->group.groups);
	g_array_unref(scope->across.groups);
	g_array_unref(scope->across_from.groups);
	g_array_unref(scope->across_to.groups);
	g_free(scope);
}

struct qos_scope *qos_scope_new(struct qos_parser *p)
{
	struct qos_scope *scope;

	if (p->policy->scopes->len == QOS_SCOPES_MAX) {
		qos_wrong(p, "one more", "at most %u scopes", QOS_SCOPES_MAX);
		return NULL;
	}
	scope = g_new0(struct qos_scope, 1);
	scope->line = p->line;
	scope->group.groups = g_array_new(FALSE, FALSE, sizeof(int));
	scope->across.groups = g_array_new(FALSE, FALSE, sizeof(int));
	scope->across_from.groups = g_array_new(FALSE, FALSE, sizeof(int));
	scope->across_to.groups = g_array_new(FALSE, FALSE, sizeof(int));
	memset(scope->from, true, sizeof(scope->from));
	memset(scope->to, true, sizeof(scope->to));
	g_ptr_array_add(p->policy->scopes, scope);
	return scope;
}

struct qos_policy *qos_policy_new(const char *file)
{
	struct qos_policy *policy = g_new0(struct qos_policy, 1);

	ref_init(&policy->ref);
	policy->file = g_strdup(file);
	policy->scopes = g_ptr_array_new_with_free_func(scope_free);
	policy->groups = g_ptr_array_new_with_free_func(group_free);
	policy->levels = g_ptr_array_new_with_free_func(level_free);
	policy->rules = g_ptr_array_new_with_free_func(qos_rule_free);
	policy->warnings = g_ptr_array_new_with_free_func(g_free);
	return policy;
}

struct qos_policy *qos_policy_ref(struct qos_policy *policy)
{
	ref_get(&policy->ref);
	return policy;
}

bool qos_policy_same(const struct qos_policy *a, const struct qos_policy *b)
{
	return !g_strcmp0(a->text, b->text);
}

void qos_policy_unref(struct qos_policy *policy)
{
	if (!policy || !ref_put(&policy->ref))
		return;
	g_ptr_array_unref(policy->groups);
	g_ptr_array_unref(policy->levels);
	g_ptr_array_unref(policy->rules);
	g_ptr_array_unref(policy->scopes);
	g_ptr_array_unref(policy->warnings);
	g_free(policy->file);
	g_free(policy->text);
	g_free(policy);
}

/* ---- matching ---- */

bool qos_ranges_have(const GArray *ranges, uint64_t value)
{
	for (guint i = 0; i < ranges->len; i++) {
		const struct qos_range *range = &g_array_index(ranges, struct qos_range, i);

		if (value >= range->first && value <= range->last)
			return true;
	}
	return false;
}

bool qos_ranges_begin_below(const GArray *ranges, uint64_t limit)
{
	for (guint i = 0; i < ranges->len; i++)
		if (g_array_index(ranges, struct qos_range, i).first < limit)
			return true;
	return false;
}

static bool fits(const GArray *ranges, bool has, uint64_t value)
{
	return !ranges->len || (has && qos_ranges_have(ranges, value));
}

static bool is_in_one(const struct qos_query *query, const GArray *groups, bool destination)
{
	for (guint i = 0; i < groups->len; i++)
		if (query->is_in(query->arg, (unsigned int)g_array_index(groups, int, i),
				 destination))
			return true;
	return false;
}

static bool ends_fit(const struct qos_rule *rule, const struct qos_query *query)
{
	if (rule->either)
		return is_in_one(query, rule->sources, false) ||
		       is_in_one(query, rule->sources, true);
	return (!rule->sources->len || is_in_one(query, rule->sources, false)) &&
	       (!rule->destinations->len || is_in_one(query, rule->destinations, true));
}

const struct qos_level *qos_policy_level(const struct qos_policy *policy, struct qos_query *query)
{
	query->rule = NULL;
	for (guint i = 0; i < policy->rules->len; i++) {
		const struct qos_rule *rule = policy->rules->pdata[i];

		if (fits(rule->classes, query->has_class, query->qos_class) &&
		    fits(rule->services, query->has_service, query->service_id) &&
		    fits(rule->p_keys, query->has_p_key, query->p_key & QOS_P_KEY_MASK) &&
		    ends_fit(rule, query)) {
			query->rule = rule;
			return policy->levels->pdata[rule->level];
		}
	}
	return policy->levels->pdata[policy->fallback];
}
