// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The commands that begin with "cc": what congestion control agents are, do and hold. */
#include <inttypes.h>
#include <string.h>

#include "iba/attributes.h"
#include "libvendor/sim/cc/cc.h"
#include "libvendor/sim/words.h"

#define LINES_MAX 1000 /* of a list */
#define SILENCE_MAX_MS 1000000000

static const char *const kind_names[SIM_CC_BITS] = {
#define SIM_CC_KIND(name, text, help) text,
#include <vendor/sim_cc_kind.def>
};

static const char *const kind_help[SIM_CC_BITS] = {
#define SIM_CC_KIND(name, text, help) help,
#include <vendor/sim_cc_kind.def>
};

static const char *const answer_names[SIM_CC_ANSWERS] = {
	[SIM_CC_SERVE] = "serve",   [SIM_CC_STATUS] = "status", [SIM_CC_SILENCE] = "silence",
	[SIM_CC_IGNORE] = "ignore", [SIM_CC_FORGET] = "forget",
};

/* ---- kinds and rules ---- */

static void append_agent(const struct words *words, const struct sim_node *node)
{
	const struct sim_cca *cca = node->cca;
	uint32_t kinds = sim_cc_kinds(words->sim, node->index);

	g_string_append_printf(words->out, "\"%s\"", node->description);
	for (unsigned int i = 0; i < SIM_CC_BITS; i++)
		if (kinds >> i & 1)
			g_string_append_printf(words->out, " %s", kind_names[i]);
	g_string_append_printf(words->out, " info 0x%x %u", cc_info_bits(node), cc_cap(node));
	for (unsigned int i = 0; cca && i < cca->n_rules; i++) {
		const struct sim_cc_rule *rule = &cca->rules[i];

		g_string_append_printf(words->out, " answer 0x%x %s %s", rule->attribute,
				       !rule->method			? "all"
				       : rule->method == IBA_METHOD_SET ? "set"
									: "get",
				       answer_names[rule->answer]);
		if (rule->answer == SIM_CC_STATUS)
			g_string_append_printf(words->out, " 0x%x", rule->status);
	}
	if (cca && timer_running(&cca->silence))
		g_string_append(words->out, " silent");
	g_string_append_c(words->out, '\n');
}

static bool is_usual(const struct sim_node *node)
{
	const struct sim_cca *cca = node->cca;

	return !cca || (cca->kinds == SIM_CC_DEFAULT && !cca->n_rules && !cca->has_info &&
			!timer_running(&cca->silence));
}

static bool cc_list(const struct words *words)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SIM_CC_BITS; i++)
		g_string_append_printf(words->out, "%-16s %s\n", kind_names[i], kind_help[i]);
	for (unsigned int i = 0; i < words->sim->n_nodes; i++)
		if (!is_usual(&words->sim->nodes[i]) && ++n <= LINES_MAX)
			append_agent(words, &words->sim->nodes[i]);
	if (n > LINES_MAX)
		g_string_append_printf(words->out, "and %u more\n", n - LINES_MAX);
	return true;
}

/* Changes of an agent, applied when all words were understood. */
struct change {
	uint32_t on, off;
	bool usual; /* first as at the start */
	bool sets_info, silences;
	uint64_t info, cap, silent_ms;
	unsigned int n_rules;
	struct sim_cc_rule rules[SIM_CC_RULES_MAX];
};

static bool change_kind(const char *word, struct change *change)
{
	bool off = g_str_has_prefix(word, "no-");

	for (unsigned int i = 0; i < SIM_CC_BITS; i++) {
		if (strcmp(word + (off ? 3 : 0), kind_names[i]) != 0)
			continue;
		change->on = off ? change->on & ~(1U << i) : change->on | 1U << i;
		change->off = off ? change->off | 1U << i : change->off & ~(1U << i);
		return true;
	}
	return false;
}

static bool read_method(const struct words *words, const char *word, struct sim_cc_rule *rule)
{
	if (!strcmp(word, "get"))
		rule->method = IBA_METHOD_GET;
	else if (!strcmp(word, "set"))
		rule->method = IBA_METHOD_SET;
	else if (strcmp(word, "all") != 0)
		return words_fail(words, "'%s' is not get, set or all", word);
	return true;
}

/* ATTRIBUTE|all get|set|all serve|status N|silence|ignore|forget, from that word on. */
static bool read_rule(const struct words *words, unsigned int *word, struct change *change)
{
	struct sim_cc_rule *rule = &change->rules[change->n_rules];
	char *const *at = words->at + *word + 1;
	unsigned int left = words->n - *word - 1, answer = 0;
	uint64_t value = 0;

	*rule = (struct sim_cc_rule){0};
	if (left < 3)
		return words_fail(words, "answer needs ATTRIBUTE|all get|set|all "
					 "serve|status N|silence|ignore|forget");
	if (change->n_rules == SIM_CC_RULES_MAX - 1)
		return words_fail(words, "at most %u rules", SIM_CC_RULES_MAX - 1);
	if (strcmp(at[0], "all") != 0 && !words_number(words, at[0], UINT16_MAX, &value))
		return false;
	rule->attribute = (uint16_t)value;
	if (!read_method(words, at[1], rule))
		return false;
	while (answer < SIM_CC_ANSWERS && strcmp(at[2], answer_names[answer]) != 0)
		answer++;
	if (answer == SIM_CC_ANSWERS)
		return words_fail(words, "'%s' is not serve, status, silence, ignore or forget",
				  at[2]);
	rule->answer = answer;
	*word += 3;
	if (answer == SIM_CC_STATUS) {
		if (left < 4)
			return words_fail(words, "status needs a number");
		if (!words_number(words, at[3], UINT16_MAX, &value))
			return false;
		rule->status = (uint16_t)value;
		++*word;
	}
	change->n_rules++;
	return true;
}

static bool read_info(const struct words *words, unsigned int *word, struct change *change)
{
	if (words->n - *word < 3)
		return words_fail(words, "info needs BITS CAP");
	change->sets_info = true;
	*word += 2;
	return words_number(words, words->at[*word - 1], UINT16_MAX, &change->info) &&
	       words_number(words, words->at[*word], SIM_CC_BLOCKS_MAX, &change->cap);
}

static bool read_silence(const struct words *words, unsigned int *word, struct change *change)
{
	if (++*word == words->n)
		return words_fail(words, "silent needs MS");
	change->silences = true;
	return words_number(words, words->at[*word], SILENCE_MAX_MS, &change->silent_ms);
}

static bool read_change(const struct words *words, struct change *change)
{
	for (unsigned int i = 2; i < words->n; i++) {
		const char *word = words->at[i];
		bool good = true;

		if (!strcmp(word, "default"))
			*change = (struct change){.usual = true};
		else if (!strcmp(word, "answer"))
			good = read_rule(words, &i, change);
		else if (!strcmp(word, "info"))
			good = read_info(words, &i, change);
		else if (!strcmp(word, "silent"))
			good = read_silence(words, &i, change);
		else if (!change_kind(word, change))
			good = words_fail(
				words,
				"'%s' is not a kind of congestion control agent; see cc list",
				word);
		if (!good)
			return false;
	}
	return true;
}

static bool apply(const struct words *words, unsigned int node, const struct change *change)
{
	struct sim *sim = words->sim;

	if (change->usual)
		sim_cc_set_default(sim, node);
	if (change->on || change->off)
		sim_cc_set(sim, node, (sim_cc_kinds(sim, node) & ~change->off) | change->on);
	if (change->sets_info)
		sim_cc_set_info(sim, node, (uint16_t)change->info, (uint8_t)change->cap);
	if (change->silences)
		sim_cc_silence(sim, node, change->silent_ms * NS_PER_MS);
	for (unsigned int i = 0; i < change->n_rules; i++)
		if (!sim_cc_answer(sim, node, &change->rules[i]))
			return words_fail(words, "'%s' has %u rules already",
					  sim->nodes[node].description, SIM_CC_RULES_MAX);
	return true;
}

static bool cc_set(const struct words *words)
{
	const char *name = words->at[1];
	bool switches = !strcmp(name, "switches"), hosts = !strcmp(name, "hosts");
	const struct sim_node *only = NULL;
	struct change change = {0};

	if (!switches && !hosts) {
		only = words_node(words, 1);
		if (!only)
			return false;
	}
	if (words->n == 2 && only) {
		append_agent(words, only);
		return true;
	}
	if (!read_change(words, &change))
		return false;
	for (unsigned int i = 0; i < words->sim->n_nodes; i++) {
		const struct sim_node *node = &words->sim->nodes[i];

		if (only ? node != only : (node->sw != NULL) != switches)
			continue;
		if (!apply(words, i, &change))
			return false;
	}
	return true;
}

/* ---- what agents hold, and what they were asked ---- */

static void show_node(const struct words *words, const struct sim_node *node)
{
	unsigned int first = node->sw ? 0 : 1, last = node->sw ? 0 : node->num_ports;

	for (unsigned int i = first; i <= last; i++) {
		if (!node->ports[i].cc)
			continue;
		g_string_append_printf(words->out, "\"%s\" %u\n", node->description, i);
		sim_cc_append_text(words->sim, node->index, i, words->out);
	}
}

/* Ports that no manager has asked for have nothing to show. */
static bool cc_show(const struct words *words)
{
	const struct sim_node *only = NULL;

	if (words->n > 3)
		return words_fail(words, "usage: cc show [NODE]");
	if (words->n == 3) {
		only = words_node(words, 2);
		if (!only)
			return false;
	}
	for (unsigned int i = 0; i < words->sim->n_nodes; i++)
		if (!only || only == &words->sim->nodes[i])
			show_node(words, &words->sim->nodes[i]);
	return true;
}

static const uint16_t counted[] = {
	IBA_ATTR_CLASS_PORT_INFO,
	IBA_ATTR_NOTICE,
	IBA_ATTR_CONGESTION_INFO,
	IBA_ATTR_CONGESTION_KEY_INFO,
	IBA_ATTR_CONGESTION_LOG,
	IBA_ATTR_SWITCH_CONGESTION_SETTING,
	IBA_ATTR_SWITCH_PORT_CONGESTION_SETTING,
	IBA_ATTR_CA_CONGESTION_SETTING,
	IBA_ATTR_CONGESTION_CONTROL_TABLE,
	IBA_ATTR_TIME_STAMP,
	0, /* any other */
};

static uint64_t requests(const struct words *words, const struct sim_node *only, uint16_t attribute,
			 uint8_t method)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < words->sim->n_nodes; i++)
		if (!only || only == &words->sim->nodes[i])
			n += sim_cc_requests(words->sim, i, attribute, method);
	return n;
}

static bool cc_requests(const struct words *words)
{
	const struct sim_node *only = NULL;

	if (words->n > 3)
		return words_fail(words, "usage: cc requests [NODE]");
	if (words->n == 3) {
		only = words_node(words, 2);
		if (!only)
			return false;
	}
	for (unsigned int i = 0; i < G_N_ELEMENTS(counted); i++) {
		const char *name =
			counted[i] ? iba_attribute_name(IBA_CLASS_CC, counted[i]) : "others";

		g_string_append_printf(words->out, "%-27s %" PRIu64 " Get %" PRIu64 " Set\n", name,
				       requests(words, only, counted[i], IBA_METHOD_GET),
				       requests(words, only, counted[i], IBA_METHOD_SET));
	}
	return true;
}

/* ---- what happens to them ---- */

static bool cc_restart(const struct words *words)
{
	const struct sim_node *node;

	if (words->n != 3)
		return words_fail(words, "usage: cc restart NODE");
	node = words_node(words, 2);
	if (node)
		sim_cc_restart(words->sim, node->index);
	return node != NULL;
}

static bool cc_time(const struct words *words)
{
	const struct sim_node *node;
	uint64_t time;

	if (words->n != 4)
		return words_fail(words, "usage: cc time NODE TIMESTAMP");
	node = words_node(words, 2);
	if (!node || !words_number(words, words->at[3], UINT32_MAX, &time))
		return false;
	sim_cc_set_time(words->sim, node->index, (uint32_t)time);
	return true;
}

/* NODE PORT SLID DLID SL [times N] [qp LOCAL REMOTE] [service N] */
static bool event_options(const struct words *words, struct sim_cc_event *event, uint64_t *times)
{
	uint64_t a, b;

	for (unsigned int i = 7; i < words->n; i++) {
		const char *word = words->at[i];
		unsigned int left = words->n - i - 1;

		if (!strcmp(word, "times") && left >= 1) {
			if (!words_number(words, words->at[++i], UINT32_MAX, times))
				return false;
		} else if (!strcmp(word, "service") && left >= 1) {
			if (!words_number(words, words->at[++i], 15, &a))
				return false;
			event->service_type = (uint8_t)a;
		} else if (!strcmp(word, "qp") && left >= 2) {
			if (!words_number(words, words->at[i + 1], 0xFFFFFF, &a) ||
			    !words_number(words, words->at[i + 2], 0xFFFFFF, &b))
				return false;
			i += 2;
			event->local_qp = (uint32_t)a;
			event->remote_qp = (uint32_t)b;
		} else {
			return words_fail(words, "expected times N, qp LOCAL REMOTE or service N");
		}
	}
	return true;
}

static bool cc_event(const struct words *words)
{
	struct sim_cc_event event = {0};
	uint64_t slid, dlid, sl, times = 1;
	const struct sim_port *port;

	if (words->n < 7)
		return words_fail(words, "usage: cc event NODE PORT SLID DLID SL [times N] "
					 "[qp LOCAL REMOTE] [service N]");
	if (!words_port(words, 2, &port) || !words_number(words, words->at[4], UINT16_MAX, &slid) ||
	    !words_number(words, words->at[5], UINT16_MAX, &dlid) ||
	    !words_number(words, words->at[6], 15, &sl) || !event_options(words, &event, &times))
		return false;
	event.slid = (uint16_t)slid;
	event.dlid = (uint16_t)dlid;
	event.sl = (uint8_t)sl;
	return sim_cc_event(words->sim, port->node->index, port->number, &event,
			    (unsigned int)times);
}

/* ---- dispatch ---- */

static const struct {
	const char *word;
	bool (*run)(const struct words *words);
} commands[] = {
	{"list", cc_list},	 {"show", cc_show}, {"requests", cc_requests},
	{"restart", cc_restart}, {"time", cc_time}, {"event", cc_event},
};

bool sim_cc_command(const struct words *words)
{
	for (unsigned int i = 0; words->n > 1 && i < G_N_ELEMENTS(commands); i++)
		if (!strcmp(commands[i].word, words->at[1]))
			return commands[i].run(words);
	return words->n > 1 ? cc_set(words)
			    : words_fail(words, "usage: cc NODE|switches|hosts [KIND...], list, "
						"show, requests, restart, time or event");
}
