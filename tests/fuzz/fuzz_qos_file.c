// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* qos-policy.conf: a policy that always has a level for a path, or a message. */
#include "policy/qos_file.h"
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

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(GError) error = NULL;
	struct qos_policy *policy = qos_policy_parse("qos", text, &error);
	struct qos_query query = {.has_p_key = true,
				  .p_key = 0x8001,
				  .has_service = true,
				  .service_id = 0x10001,
				  .is_in = is_in,
				  .arg = policy};

	(void)state;
	fuzz_expect(!policy == (error != NULL) && (policy || *error->message));
	if (policy)
		fuzz_expect(qos_policy_level(policy, &query) != NULL);
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
