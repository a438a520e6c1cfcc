// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The policy of a sweep: the rules in context->partition_rules and context->qos_policy applied to
 * the current fabric. It is computed again when one of them changes; problems are logged once.
 */
#include "policy/files/route_files.h"
#include "policy/qos/qos_lanes.h"
#include "route/value/lanes.h"
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/takeover/run_time_partitions.h"
#include "sm/write/write.h"

struct policy {
	uint64_t shape;		   /* of the fabric that the partitions were made for */
	GPtrArray *lane_conflicts; /* texts, as logged: QoS against lanes of routes; or NULL */
};

struct policy *policy_new(void)
{
	return g_new0(struct policy, 1);
}

void policy_free(struct policy *policy)
{
	g_clear_pointer(&policy->lane_conflicts, g_ptr_array_unref);
	g_free(policy);
}

/* The fabric that patterns match: names were read after the sweep froze its fabric. */
static struct fabric *named_fabric(struct sm *sm, bool by_names)
{
	struct fabric *now = by_names ? builder_freeze_changes(sm->builder) : NULL;

	if (now && now->shape == sm->fabric->shape)
		return now;
	fabric_unref(now);
	return fabric_ref(sm->fabric);
}

static bool is_made(const struct sm *sm, const struct partition_rules *rules)
{
	return sm->partitions && sm->partitions->rules == rules && !rules->has_patterns &&
	       sm->sweep.kind == SWEEP_KIND_PARTIAL && sm->policy->shape == sm->fabric->shape;
}

/* The same problem, in a line whose number changed as lines before it were added or removed. */
static gboolean same_problem(gconstpointer a, gconstpointer b)
{
	const char *x = a, *y = b;
	bool position = false; /* after a colon */

	while (*x && *y) {
		while (position && g_ascii_isdigit(*x))
			x++;
		while (position && g_ascii_isdigit(*y))
			y++;
		position = *x == ':';
		if (*x != *y || !*x)
			break;
		x++;
		y++;
	}
	return !*x && !*y;
}

/* The problems that were not logged before. */
static void tell_problems(struct sm *sm, const char *what, unsigned int level,
			  const GPtrArray *problems, const GPtrArray *old)
{
	for (guint i = 0; i < problems->len; i++)
		if (!old || !g_ptr_array_find_with_equal_func((GPtrArray *)old, problems->pdata[i],
							      same_problem, NULL))
			log_at(sm->log, level, "%s: %s", what, (char *)problems->pdata[i]);
}

static bool routes_mind(const struct sm *sm, const struct route_files *files)
{
	const GArray *ties = route_files_ties(files);

	return sm->options->partition_aware_routing || (ties && ties->len);
}

/* Routes were computed before the current rules, or the names that these use, were known. */
static bool are_routes_late(const struct sm *sm, const struct partitions *now)
{
	const struct partitions *minded = routes_minded(sm);
	struct route_files *files = slot_take(&sm->context->route_files);
	bool mind = routes_mind(sm, files);

	route_files_unref(files);
	return mind && !(minded && partitions_same_members(minded, now));
}

/*
 * Other rules may affect every port, not only those that a sweep found changed; but most changes
 * are of GUIDs that are not in the subnet yet.
 */
static bool may_affect_all(const struct sm *sm, const struct partitions *now)
{
	const struct partitions *old = sm->partitions;

	if (!old)
		return true;
	return old->rules != now->rules &&
	       (sm->policy->shape != sm->fabric->shape || !partitions_same_tables(old, now));
}

static void take(struct sm *sm, struct partitions *partitions)
{
	struct partitions *old = sm->partitions;

	if (may_affect_all(sm, partitions))
		p_keys_changed(sm);
	if (are_routes_late(sm, partitions))
		sm->schedule.reasons |= SWEEP_CHANGE;
	sm->partitions = partitions;
	sm->policy->shape = sm->fabric->shape;
	tell_problems(sm, "partitions", LOG_INFO, partitions->problems, old ? old->problems : NULL);
	tell_problems(sm, "partitions", LOG_ERROR, partitions->crowded, old ? old->crowded : NULL);
	partitions_unref(old);
}

struct partitions *policy_partitions_for_routes(struct sm *sm, const struct route_files *files)
{
	struct partition_rules *rules;
	struct partitions *partitions = NULL;
	struct fabric *fabric;

	if (!routes_mind(sm, files))
		return NULL;
	rules = slot_take(&sm->context->partition_rules);
	if (sm->partitions || !rules->has_patterns) {
		fabric = named_fabric(sm, rules->has_patterns);
		partitions = partitions_make(rules, sm->options, fabric);
		fabric_unref(fabric);
	}
	partition_rules_unref(rules);
	return partitions;
}

static struct partitions *partitions_by(struct sm *sm, struct partition_rules *rules, bool by_names)
{
	struct fabric *fabric = named_fabric(sm, by_names);
	struct partitions *partitions = partitions_make(rules, sm->options, fabric);

	fabric_unref(fabric);
	return partitions;
}

/* Messages about ports without room contain names. */
static void make_partitions(struct sm *sm)
{
	struct partition_rules *rules = slot_take(&sm->context->partition_rules);

	if (!is_made(sm, rules)) {
		struct partitions *partitions = partitions_by(sm, rules, rules->has_patterns);

		if (partitions->crowded->len && !rules->has_patterns) {
			partitions_unref(partitions);
			partitions = partitions_by(sm, rules, true);
		}
		take(sm, partitions);
	}
	run_time_partitions_replicate(sm, rules->changes);
	partition_rules_unref(rules);
}

/* Other scopes may affect every port; a partial sweep has to set their part of PortInfo. */
static void take_qos(struct sm *sm, struct qos_paths *qos)
{
	struct qos_paths *old = sm->qos;

	sm->qos = qos;
	if (qos) {
		tell_problems(sm, "QoS", LOG_INFO, qos->unknown, old ? old->unknown : NULL);
		tell_problems(sm, "QoS", LOG_ERROR, qos->problems, old ? old->problems : NULL);
	}
	if (!qos_paths_same_tables(old, qos, sm->fabric)) {
		builder_touch_all(sm->builder);
		if (sm->sweep.kind == SWEEP_KIND_POLICY)
			sm->schedule.reasons |= SWEEP_CHANGE;
	}
	qos_paths_unref(old);
}

static void make_qos(struct sm *sm)
{
	struct qos_policy *policy = slot_take(&sm->context->qos_policy);
	struct fabric *fabric;
	uint8_t demand[ROUTE_SLS];

	fabric = named_fabric(sm, sm->options->qos && policy->groups->len);
	if (!sm->options->qos)
		take_qos(sm, routing_sl_to_vl(sm->routing, demand) || vl_tables_are_known(sm)
				     ? qos_paths_built_in(sm->options, fabric, sm->partitions)
				     : NULL);
	else if (!sm->qos ||
		 !qos_paths_are_of(sm->qos, policy, sm->options, fabric, sm->partitions))
		take_qos(sm, qos_paths_make(policy, sm->options, fabric, sm->partitions));
	fabric_unref(fabric);
	qos_policy_unref(policy);
}

/* Routes take precedence: their lanes keep packets from deadlocking. */
static void tell_lane_conflicts(struct sm *sm)
{
	const struct qos_place place = {sm->qos, sm->fabric};
	uint8_t demand[ROUTE_SLS];
	GPtrArray *texts = sm->options->qos && sm->qos && routing_sl_to_vl(sm->routing, demand)
				   ? qos_lanes_conflicts(&place, sm->routing)
				   : NULL;

	if (texts)
		tell_problems(sm, "QoS", LOG_ERROR, texts, sm->policy->lane_conflicts);
	g_clear_pointer(&sm->policy->lane_conflicts, g_ptr_array_unref);
	sm->policy->lane_conflicts = texts;
}

enum step_result step_policy(struct sm *sm)
{
	make_partitions(sm);
	make_qos(sm);
	tell_lane_conflicts(sm);
	return STEP_NEXT;
}
