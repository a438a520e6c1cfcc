// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The policy of unhealthy ports: rules within their bounds, or a message. */
#include "policy/files/ports_policy.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "flapping ca isolate 3 in 20 release 60 # why\n"
			     "set_errors all no_discover 5 of 7 release never cut_off\n");
	fuzz_add_text(seeds, "reboot router ignore\n\nnoisy_traps switch disable 1000 in 86400\n");
	return NULL;
}

static void check_rule(const struct port_rule *rule)
{
	fuzz_expect(rule->action <= PORT_DISABLE);
	fuzz_expect(rule->count >= 1 && rule->count <= PORT_RULE_COUNT_MAX);
	fuzz_expect(rule->window >= 1 && rule->window <= PORT_RULE_WINDOW_MAX);
	fuzz_expect(rule->release <= PORT_RULE_RELEASE_MAX);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	struct ports_policy *policy = ports_policy_parse("input", (const char *)data, size, &error);

	(void)state;
	fuzz_expect(policy ? !error : error && *error->message);
	for (unsigned int i = 0; policy && i < PORT_CONDITIONS; i++)
		for (unsigned int type = IBA_NODE_CA; type <= IBA_NODE_ROUTER; type++)
			check_rule(&policy->rules[i][type]);
	ports_policy_unref(policy);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "ports_policy",
	.max_size = 1 << 12,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
