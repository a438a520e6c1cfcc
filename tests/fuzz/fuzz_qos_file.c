// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* qos-policy.conf: a policy that always has a level for a path, or a message. */
#include "policy/qos/qos_file.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "port-groups\nport-group\nname: A\nport-guid: 1, 0x20-0x2F\n"
			     "port-name: a/P1\nnode-type: CA, SELF\npkey: 1\npartition: P\n"
			     "end-port-group\nend-port-groups\n");
	fuzz_add_text(seeds, "qos-levels\nqos-level\nname: DEFAULT\nsl: 1\nmtu-limit: 4\n"
			     "rate-limit: 5\npacket-life: 8\npath-bits: 0-1\npkey: 2\n"
			     "end-qos-level\nend-qos-levels\n");
	fuzz_add_text(seeds, "qos-match-rules\nqos-match-rule\nqos-class: 7-9,11\n"
			     "service-id: 1\nqos-level-name: DEFAULT\nend-qos-match-rule\n"
			     "end-qos-match-rules\nqos-setup\nend-qos-setup\n");
	fuzz_add_text(seeds,
		      "port-groups\nport-group\nname: A\nport-guid: 1\nend-port-group\n"
		      "end-port-groups\nqos-setup\nvlarb-tables\nvlarb-scope\n"
		      "group: A\nacross: *\nvlarb-high: 0:1,14:255\nvlarb-low: 3:0\n"
		      "vl-high-limit: 7\nend-vlarb-scope\nend-vlarb-tables\n"
		      "sl2vl-tables\nsl2vl-scope\nacross-from: A\nacross-to: *\nfrom: 1-5,7\n"
		      "to: *\nsl2vl-table: 0,1,2,3,4,5,6,7,0,1,2,3,4,5,14,15\n"
		      "end-sl2vl-scope\nend-sl2vl-tables\nend-qos-setup\n"
		      "qos-ulps\ndefault: 0\nend-qos-ulps\n");
	fuzz_add_text(seeds, "qos-ulps\ndefault: 0\nsdp, port-num 1-9: 1\nipoib, pkey 1: 2\n"
			     "any, source-target-port-guid 5: 3\nend-qos-ulps\n");
	return NULL;
}

static bool is_in(void *arg, unsigned int group, bool destination)
{
	const struct qos_policy *policy = arg;

	fuzz_expect(group < policy->groups->len);
	return (group % 2 != 0) == destination;
}

static void check_ends(const struct qos_policy *policy, const struct qos_ends *ends)
{
	for (guint i = 0; i < ends->groups->len; i++)
		fuzz_expect((guint)g_array_index(ends->groups, int, i) < policy->groups->len);
}

static void check_scope(const struct qos_policy *policy, const struct qos_scope *scope)
{
	unsigned int arbitration = QOS_SETS_HIGH | QOS_SETS_LOW | QOS_SETS_LIMIT;

	check_ends(policy, &scope->group);
	check_ends(policy, &scope->across);
	check_ends(policy, &scope->across_from);
	check_ends(policy, &scope->across_to);
	fuzz_expect(scope->sets == QOS_SETS_SL2VL || !(scope->sets & ~arbitration));
	fuzz_expect(scope->n_high <= QOS_ARB_ENTRIES && scope->n_low <= QOS_ARB_ENTRIES);
	for (unsigned int i = 0; i < QOS_ARB_ENTRIES; i++)
		fuzz_expect(scope->high[i].vl < QOS_DROP && scope->low[i].vl < QOS_DROP);
	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		fuzz_expect(scope->vl[sl] <= QOS_DROP);
}

static void check_policy(struct qos_policy *policy)
{
	struct qos_query query = {.has_p_key = true,
				  .p_key = 0x8001,
				  .has_service = true,
				  .service_id = 0x10001,
				  .is_in = is_in,
				  .arg = policy};

	fuzz_expect(qos_policy_level(policy, &query) != NULL);
	fuzz_expect(policy->scopes->len <= QOS_SCOPES_MAX);
	for (guint i = 0; i < policy->scopes->len; i++)
		check_scope(policy, policy->scopes->pdata[i]);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(GError) error = NULL;
	struct qos_policy *policy = qos_policy_parse("qos", text, &error);

	(void)state;
	fuzz_expect(!policy == (error != NULL) && (policy || *error->message));
	if (policy)
		check_policy(policy);
	qos_policy_unref(policy);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "qos_file",
	.max_size = 1 << 14,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
