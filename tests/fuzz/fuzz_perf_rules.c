// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rules for counters: they are within their bounds and read back as printed, or a message. */
#include <string.h>

#include "perf/judge/perf_rules.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	struct perf_rules *rules = perf_rules_built_in();
	g_autofree char *text = perf_rules_text(rules);

	fuzz_add_text(seeds, "group spines 0x1 0x2:7 \"spine # *\" # why\n"
			     "PortRcvErrors group spines alarm 10 in 20 or 30 in 40 clear 2.5 "
			     "after 50 no_fec unhealthy\n");
	fuzz_add_text(seeds,
		      "RawBER switch-switch info 1e-6 in 900 fec\nUtilisation host off\n"
		      "PortLoopingErrors 0x10:3 alarm off\nxmitwaitshare switch warning 99.9 "
		      "in 604800 after 1\n");
	fuzz_add_text(seeds, text);
	perf_rules_unref(rules);
	return NULL;
}

static void check_rule(const struct perf_rules *rules, const struct perf_rule *rule)
{
	fuzz_expect(rule->value < PERF_VALUES && rule->scope < PERF_SCOPES);
	fuzz_expect(rule->level < PERF_LEVELS && rule->next <= rules->n);
	fuzz_expect(rule->scope != PERF_SCOPE_GROUP || rule->group < rules->n_groups);
	if (rule->off)
		return;
	fuzz_expect(rule->level > PERF_OFF);
	fuzz_expect(rule->limit > 0 && rule->clear > 0 && rule->clear <= rule->limit);
	fuzz_expect(rule->window_s >= 1 && rule->window_s <= PERF_WINDOW_MAX);
	fuzz_expect(rule->clear_s >= 1 && rule->clear_s <= 2 * PERF_WINDOW_MAX);
}

/* What is printed is read as the same rules. */
static void check_again(const struct perf_rules *rules)
{
	g_autofree char *text = perf_rules_text(rules);
	struct perf_rules *again = perf_rules_parse("again", text, strlen(text), NULL);

	fuzz_expect(again && perf_rules_same(rules, again));
	perf_rules_unref(again);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	struct perf_rules *rules = perf_rules_parse("input", (const char *)data, size, &error);

	(void)state;
	fuzz_expect(rules ? !error : error && *error->message);
	for (unsigned int i = 0; rules && i < rules->n; i++)
		check_rule(rules, &rules->rules[i]);
	if (rules)
		check_again(rules);
	perf_rules_unref(rules);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "perf_rules",
	.max_size = 1 << 12,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
