// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/perfmgr/word.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/dump/dump_counters.h"

/* ---- errors ---- */

GQuark perfmgr_error_quark(void)
{
	return g_quark_from_static_string("perfmgr-error");
}

bool perfmgr_fail(GError **error, enum perfmgr_error code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(PERFMGR_ERROR, (int)code, format, args));
	va_end(args);
	return false;
}

/* ---- words that give orders; as in the classic daemon, most say nothing ---- */

/* Words after the first n are wrong. */
static bool at_most(const struct perfmgr_call *call, unsigned int n, GError **error)
{
	return call->n <= n ||
	       perfmgr_fail(error, PERFMGR_ERROR_USAGE, "'%s' is not expected", call->words[n]);
}

static void order(struct perfmgr_call *call, enum perf_order what, uint64_t value, const char *word)
{
	perf_order(call->perf, what, value);
	log_info(call->context->log, "console: perfmgr %s", word);
}

static void print_nothing(GVariant *answer, GString *out)
{
	(void)answer;
	(void)out;
}

#define ORDER(name, what, value)                                                                   \
	static bool name(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)       \
	{                                                                                          \
		(void)answer;                                                                      \
		(void)error;                                                                       \
		order(call, what, value, #name);                                                   \
		return true;                                                                       \
	}
ORDER(enable, PERF_ENABLE, true)
ORDER(disable, PERF_ENABLE, false)
ORDER(clear_counters, PERF_ZERO, 0)
ORDER(set_rm_nodes, PERF_RM_NODES, true)
ORDER(clear_rm_nodes, PERF_RM_NODES, false)
ORDER(set_query_cpi, PERF_QUERY_CPI, true)
ORDER(clear_query_cpi, PERF_QUERY_CPI, false)
ORDER(sweep, PERF_SWEEP_NOW, 0)
#undef ORDER

static void print_sweep(GVariant *answer, GString *out)
{
	(void)answer;
	g_string_append(out, "sweep initiated...\n");
}

static bool sweep_time(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	uint64_t seconds;
	char *end;

	if (!call->n)
		return perfmgr_fail(error, PERFMGR_ERROR_UNKNOWN,
				    "sweep_time requires a time period (in seconds) to be "
				    "specified");
	seconds = strtoull(call->words[0], &end, 0);
	if (!seconds || *end || !g_ascii_isdigit(call->words[0][0]))
		return perfmgr_fail(error, PERFMGR_ERROR_UNKNOWN,
				    "sweep_time requires a positive time period (in seconds) to "
				    "be specified");
	if (seconds > UINT16_MAX)
		return perfmgr_fail(error, PERFMGR_ERROR_UNKNOWN,
				    "sweep_time: %s: expected at most %u seconds", call->words[0],
				    UINT16_MAX);
	if (!at_most(call, 1, error))
		return false;
	order(call, PERF_PERIOD, seconds, "sweep_time");
	answer_number(answer, "sweep_time", seconds);
	return true;
}

static bool clear_inactive(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	const struct perf_layout *layout = call->image ? call->image->layout : NULL;
	uint32_t n = 0;

	(void)error;
	for (uint32_t i = 0; layout && i < layout->n_nodes; i++)
		n += !layout->nodes[i].active;
	order(call, PERF_FORGET_GONE, 0, "clear_inactive");
	answer_number(answer, "removed", n);
	return true;
}

static void print_clear_inactive(GVariant *answer, GString *out)
{
	g_string_append_printf(out, "Removed %" PRIu64 " nodes from Database\n",
			       answer_get_number(answer, "removed"));
}

static bool dump_all(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	bool machine = call->n && !strcmp(call->words[0], "mach");
	g_autoptr(GError) why = NULL;

	if (!at_most(call, machine, error))
		return false;
	if (!dump_counters(call->context, machine, &why))
		return perfmgr_fail(error, PERFMGR_ERROR_FAILED, "%s", why->message);
	answer_flag(answer, "machine", machine);
	return true;
}

/* ---- help ---- */

void perfmgr_add_words(GVariantBuilder *answer)
{
	const struct perfmgr_word *word;
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (unsigned int i = 0; (word = perfmgr_describe(i)) != NULL; i++) {
		answer_begin(&row);
		answer_text(&row, "word", word->name);
		if (word->also)
			answer_text(&row, "also", word->also);
		answer_text(&row, "arguments", word->arguments);
		answer_text(&row, "help", word->help);
		answer_append(&list, &row);
	}
	answer_member(answer, "words", &list);
}

static void print_word(GVariant *row, GString *out)
{
	const char *arguments = answer_get_text(row, "arguments");
	const char *also = answer_get_text(row, "also");

	g_string_append_printf(out, "   %s%s%s%s%s%s -- %s\n", answer_get_text(row, "word"),
			       *also ? "(" : "", also, *also ? ")" : "", *arguments ? " " : "",
			       arguments, answer_get_text(row, "help"));
}

void perfmgr_print_words(GVariant *answer, GString *out)
{
	answer_each(answer, "words", print_word, out);
}

static bool help(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	(void)call;
	(void)error;
	perfmgr_add_words(answer);
	return true;
}

/* ---- the table ---- */

static const struct perfmgr_word words[] = {
	{"enable", NULL, "", "start sweeps of the counters", true, enable, print_nothing},
	{"disable", NULL, "", "end them", true, disable, print_nothing},
	{"sweep", NULL, "", "read the counters now", true, sweep, print_sweep},
	{"sweep_time", NULL, "SECONDS", "change the time between two sweeps, and sweep now", true,
	 sweep_time, print_nothing},
	{"clear_counters", NULL, "", "count from 0; devices keep their counters", true,
	 clear_counters, print_nothing},
	{"dump_counters", NULL, "[mach]", "write the counters to a file; mach: in columns", true,
	 dump_all, print_nothing},
	{"print_counters", "pc", "[NODE[:PORT]]", "counters of all ports, or of these", false,
	 perfmgr_counters, perfmgr_print_counters},
	{"print_errors", "pe", "[NODE[:PORT]]", "errors that were counted", false, perfmgr_errors,
	 perfmgr_print_errors},
	{"dump_redir", NULL, "[NODE]", "agents that redirect", false, perfmgr_redir,
	 perfmgr_print_redir},
	{"clear_redir", NULL, "[NODE]", "forget where they redirect to", true, perfmgr_forget_redir,
	 perfmgr_print_redir},
	{"set_rm_nodes", NULL, "", "forget nodes that leave the subnet", true, set_rm_nodes,
	 print_nothing},
	{"clear_rm_nodes", NULL, "", "keep the counters of such nodes", true, clear_rm_nodes,
	 print_nothing},
	{"clear_inactive", NULL, "", "forget those that are kept", true, clear_inactive,
	 print_clear_inactive},
	{"set_query_cpi", NULL, "", "ask agents for ClassPortInfo first", true, set_query_cpi,
	 print_nothing},
	{"clear_query_cpi", NULL, "", "do not: no 64-bit counters, no PortXmitWait", true,
	 clear_query_cpi, print_nothing},
	{"top", NULL, "[N] [VALUE] [TIME] [switches|hosts] [GROUP]",
	 "the N (10) ports with the most of a counter, rate, utilization, wait or ber", false,
	 perfmgr_top, perfmgr_print_top},
	{"history", NULL, "NODE:PORT [VALUE] [HOURS]", "a value of a port in each image", false,
	 perfmgr_history, perfmgr_print_history},
	{"cable", NULL, "NODE:PORT [TIME]", "both ends of a cable side by side", false,
	 perfmgr_cable, perfmgr_print_cable},
	{"images", NULL, "", "the sweeps of which all counters are in memory", false,
	 perfmgr_images, perfmgr_print_images},
	{"groups", NULL, "[TIME]",
	 "sums of all ports, cables between switches, cables of hosts, groups of the rules", false,
	 perfmgr_groups, perfmgr_print_groups},
	{"rules", NULL, "", "the rules by which counters are judged", false, perfmgr_rules,
	 perfmgr_print_rules},
	{"help", NULL, "", "these words", false, help, perfmgr_print_words},
};

static const struct perfmgr_word state = {
	"state", NULL, "", "", false, perfmgr_state, perfmgr_print_state};

static const struct perfmgr_word *find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (!strcmp(words[i].name, name) || !g_strcmp0(words[i].also, name))
			return &words[i];
	return NULL;
}

const struct perfmgr_word *perfmgr_describe(unsigned int number)
{
	return number < G_N_ELEMENTS(words) ? &words[number] : NULL;
}

bool perfmgr_changes(const char *name)
{
	const struct perfmgr_word *word = name ? find(name) : NULL;

	return word && word->changes;
}

GVariant *perfmgr_run(struct perfmgr_call *call, const char *name, GError **error)
{
	const struct perfmgr_word *word = name ? find(name) : &state;
	GVariantBuilder builder;

	if (!word) {
		perfmgr_fail(error, PERFMGR_ERROR_UNKNOWN, "\"%s\" option not found", name);
		return NULL;
	}
	answer_begin(&builder);
	answer_text(&builder, "word", word->name);
	if ((*word->arguments || at_most(call, 0, error)) && word->run(call, &builder, error))
		return g_variant_builder_end(&builder);
	g_variant_builder_clear(&builder);
	return NULL;
}

void perfmgr_print(GVariant *answer, GString *out)
{
	const struct perfmgr_word *word = find(answer_get_text(answer, "word"));

	(word ? word : &state)->print(answer, out);
}
