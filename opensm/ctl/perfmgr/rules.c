// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rules in effect, as in a file. */
#include "ctl/perfmgr/word.h"
#include "perf/judge/perf_rules.h"
#include "subnet/perf_alarms.h"

static void add_groups(GVariantBuilder *answer, const struct perf_rules *rules)
{
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (unsigned int i = 0; i < rules->n_groups; i++) {
		g_autofree char *text = perf_group_text(&rules->groups[i]);

		answer_begin(&row);
		answer_text(&row, "group", rules->groups[i].name);
		answer_text(&row, "text", text);
		answer_append(&list, &row);
	}
	answer_member(answer, "groups", &list);
}

static void add_rules(GVariantBuilder *answer, const struct perf_rules *rules)
{
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (unsigned int i = 0; i < rules->n; i++) {
		const struct perf_rule *rule = &rules->rules[i];
		g_autofree char *text = NULL;

		if (rule->is_more)
			continue;
		text = perf_rule_text(rules, i);
		answer_begin(&row);
		if (rules->file)
			answer_number(&row, "line", rule->line);
		answer_text(&row, "value", perf_rule_value_name(rule->value));
		answer_text(&row, "level", perf_level_word(rule->level));
		answer_flag(&row, "off", rule->off);
		answer_text(&row, "text", text);
		answer_append(&list, &row);
	}
	answer_member(answer, "rules", &list);
}

bool perfmgr_rules(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	(void)error;
	if (call->rules->file)
		answer_text(answer, "file", call->rules->file);
	add_groups(answer, call->rules);
	add_rules(answer, call->rules);
	return true;
}

static void print_line(GVariant *row, GString *out)
{
	g_string_append_printf(out, "%s\n", answer_get_text(row, "text"));
}

void perfmgr_print_rules(GVariant *answer, GString *out)
{
	const char *file = answer_get_text(answer, "file");

	g_string_append_printf(out, "# %s%s\n", *file ? "rules of " : "rules built in", file);
	answer_each(answer, "groups", print_line, out);
	answer_each(answer, "rules", print_line, out);
}
