// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The policy of a sweep: the rules in context->partition_rules on the fabric at hand. It is made
 * anew when one of them is another; problems are told once.
 */
#include "sm/door.h"
#include "sm/sm_private.h"

/* What patterns are matched with: names were read after the picture of the sweep was taken. */
static struct fabric *named_fabric(struct sm *sm, const struct partition_rules *rules)
{
	struct fabric *now = rules->has_patterns ? builder_freeze_changes(sm->builder) : NULL;

	if (now && now->shape == sm->fabric->shape)
		return now;
	fabric_unref(now);
	return fabric_ref(sm->fabric);
}

static bool is_made(const struct sm *sm, const struct partition_rules *rules)
{
	return sm->partitions && sm->partitions->rules == rules && !rules->has_patterns &&
	       sm->sweep.kind == SWEEP_KIND_PARTIAL && sm->partitions_shape == sm->fabric->shape;
}

static bool was_told(const struct partitions *old, const char *problem)
{
	return old && g_ptr_array_find_with_equal_func(old->problems, problem, g_str_equal, NULL);
}

static void tell_problems(struct sm *sm, const struct partitions *old)
{
	const GPtrArray *problems = sm->partitions->problems;

	for (guint i = 0; i < problems->len; i++)
		if (!was_told(old, problems->pdata[i]))
			log_info(sm->log, "partitions: %s", (char *)problems->pdata[i]);
}

/* Other rules may concern every port, and not only those that a sweep met changed. */
static void take(struct sm *sm, struct partitions *partitions)
{
	struct partitions *old = sm->partitions;

	if (!old || old->rules != partitions->rules)
		sm->p_keys_settled = false;
	sm->partitions = partitions;
	sm->partitions_shape = sm->fabric->shape;
	tell_problems(sm, old);
	partitions_unref(old);
}

enum step_result step_policy(struct sm *sm)
{
	struct partition_rules *rules = slot_take(&sm->context->partition_rules);

	if (!rules) /* nobody has read any */
		rules = sm->partitions ? partition_rules_ref(sm->partitions->rules)
				       : partition_rules_load(NULL, NULL);
	if (!is_made(sm, rules)) {
		struct fabric *fabric = named_fabric(sm, rules);

		take(sm, partitions_make(rules, sm->options, fabric));
		fabric_unref(fabric);
	}
	door_replicate(sm, rules->door);
	partition_rules_unref(rules);
	return STEP_NEXT;
}
