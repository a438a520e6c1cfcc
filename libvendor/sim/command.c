// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands about traffic, errors, performance agents and counters, which the daemon's console and
 * osmsim share. A NODE is a description, its unambiguous beginning or a GUID.
 */
#include <inttypes.h>
#include <string.h>

#include "libvendor/sim/words.h"

#define LINES_MAX 1000 /* of a list */
#define SIZE_USUAL 2048

static const char *const kind_names[SIM_PMA_BITS] = {
#define SIM_AGENT(name, text, help) text,
#include <vendor/sim_agent.def>
};

static const char *const kind_help[SIM_PMA_BITS] = {
#define SIM_AGENT(name, text, help) help,
#include <vendor/sim_agent.def>
};

/* ---- words ---- */

/* A number with K, M, G or T behind it, or a percentage of the link if percent is not NULL. */
static bool rate_of(const struct words *words, const char *text, double max, bool *percent,
		    double *rate)
{
	static const char units[] = "KMGT";
	char *end;
	const char *unit;

	*rate = g_ascii_strtod(text, &end);
	if (end == text || !g_ascii_isdigit(*text))
		return words_fail(words, "'%s' is not a rate", text);
	if (percent && !strcmp(end, "%")) {
		*percent = true;
		*rate /= 100;
		return (*rate >= 0 && *rate <= 10) ||
		       words_fail(words, "'%s' is not a share of a link, at most 1000%%", text);
	}
	unit = *end ? strchr(units, g_ascii_toupper(*end)) : NULL;
	for (const char *up = units; unit && up <= unit; up++)
		*rate *= 1000;
	if ((*end && (!unit || end[1])) || !(*rate >= 0 && *rate <= max))
		return words_fail(words, "'%s' is not a rate from 0 to %.0f, with K, M, G or T%s",
				  text, max, percent ? ", or in % of the link" : "");
	return true;
}

/* The first port of a host with a cable. */
static const struct sim_port *host_port(const struct words *words, unsigned int word)
{
	const struct sim_node *node = words_node(words, word);

	for (unsigned int i = 1; node && !node->sw && i <= node->num_ports; i++)
		if (node->ports[i].peer)
			return &node->ports[i];
	if (node)
		words_fail(words, "'%s' is not a host with a cable", node->description);
	return NULL;
}

static void append_more(GString *out, unsigned int n)
{
	if (n > LINES_MAX)
		g_string_append_printf(out, "and %u more\n", n - LINES_MAX);
}

/* ---- traffic ---- */

static bool traffic_list(const struct words *words)
{
	unsigned int n = sim_traffic_flows(words->sim);

	for (unsigned int i = 0; i < MIN(n, LINES_MAX); i++) {
		struct sim_flow_view view;

		sim_traffic_view(words->sim, i, &view);
		g_string_append_printf(
			words->out,
			"\"%s\" %u => \"%s\" %u  SL %u  wants %.0f B/s, sends %.0f, %.0f arrive",
			words->sim->nodes[view.flow.from_node].description, view.flow.from_port,
			words->sim->nodes[view.flow.to_node].description, view.flow.to_port,
			view.flow.sl, view.wanted, view.sent, view.arrives);
		g_string_append_printf(words->out, "%s%s\n", view.ends ? ": " : "",
				       view.ends ? view.ends : "");
	}
	append_more(words->out, n);
	if (!n)
		g_string_append(words->out, "no flows\n");
	return true;
}

/* "size N" and "sl N" from that word on. */
static bool flow_options(const struct words *words, unsigned int word, struct sim_flow *flow)
{
	uint64_t value;

	flow->size = SIZE_USUAL;
	for (; word < words->n; word += 2) {
		bool size = !strcmp(words->at[word], "size");

		if (!size && strcmp(words->at[word], "sl") != 0)
			return words_fail(words, "'%s' is neither size nor sl", words->at[word]);
		if (word + 1 == words->n)
			return words_fail(words, "%s needs a number", words->at[word]);
		if (!words_number(words, words->at[word + 1], size ? SIM_FLOW_SIZE_MAX : 15,
				  &value))
			return false;
		if (size)
			flow->size = (unsigned int)value;
		else
			flow->sl = (uint8_t)value;
	}
	return true;
}

static bool traffic_add(const struct words *words)
{
	const struct sim_port *from, *to;
	struct sim_flow flow = {0};

	if (words->n < 5)
		return words_fail(words, "usage: traffic add SRC DST RATE [size N] [sl N]");
	from = host_port(words, 2);
	to = from ? host_port(words, 3) : NULL;
	if (!to || !rate_of(words, words->at[4], SIM_FLOW_RATE_MAX, &flow.of_link, &flow.rate) ||
	    !flow_options(words, 5, &flow))
		return false;
	flow.from_node = from->node->index;
	flow.from_port = from->number;
	flow.to_node = to->node->index;
	flow.to_port = to->number;
	return sim_traffic_add(words->sim, &flow) ||
	       words_fail(words, "a flow has two ends, and there are at most %u flows",
			  SIM_FLOWS_MAX);
}

static bool traffic_random(const struct words *words)
{
	struct sim_flow like = {0};
	uint64_t n;

	if (words->n < 4)
		return words_fail(words, "usage: traffic random N RATE [size N] [sl N]");
	if (!words_number(words, words->at[2], SIM_FLOWS_MAX, &n) ||
	    !rate_of(words, words->at[3], SIM_FLOW_RATE_MAX, &like.of_link, &like.rate) ||
	    !flow_options(words, 4, &like))
		return false;
	return sim_traffic_random(words->sim, (unsigned int)n, &like) ||
	       words_fail(words, "it needs two hosts with cables, and there are at most %u flows",
			  SIM_FLOWS_MAX);
}

static bool traffic_clear(const struct words *words)
{
	sim_traffic_clear(words->sim);
	return true;
}

static bool traffic_discard(const struct words *words)
{
	double share;
	char *end;

	if (words->n != 3)
		return words_fail(words, "usage: traffic discard SHARE");
	share = g_ascii_strtod(words->at[2], &end);
	if (end == words->at[2] || *end || !(share >= 0 && share <= 1))
		return words_fail(words, "'%s' is not a share from 0 to 1", words->at[2]);
	sim_traffic_discard(words->sim, share);
	return true;
}

/* ---- errors ---- */

static bool errors_list(const struct words *words)
{
	unsigned int n = sim_errors(words->sim);

	for (unsigned int i = 0; i < MIN(n, LINES_MAX); i++) {
		g_autofree char *name = NULL;
		struct sim_error_view view;

		sim_errors_view(words->sim, i, &view);
		name = view.which == SIM_BAD_CABLE ? g_strdup("cable")
						   : sim_counter_name(view.which);
		g_string_append_printf(words->out, "\"%s\" %u %s %g/s\n",
				       words->sim->nodes[view.node].description, view.port, name,
				       view.rate);
	}
	append_more(words->out, n);
	if (!n)
		g_string_append(words->out, "no errors\n");
	return true;
}

static bool errors_clear(const struct words *words)
{
	sim_errors_clear(words->sim);
	return true;
}

static bool errors_set(const struct words *words)
{
	enum sim_port_counter which = SIM_PORT_COUNTERS;
	const struct sim_port *port;
	double rate;

	if (words->n != 5)
		return words_fail(words,
				  "usage: errors NODE PORT COUNTER|cable RATE, list or clear");
	if (!words_port(words, 1, &port))
		return false;
	if (strcmp(words->at[3], "cable") != 0 && !sim_find_counter(words->at[3], &which))
		return words_fail(words, "there is no counter '%s'", words->at[3]);
	if (!rate_of(words, words->at[4], SIM_ERROR_RATE_MAX, NULL, &rate))
		return false;
	return sim_errors_set(words->sim, port->node->index, port->number, which, rate) ||
	       words_fail(words, "a rate is at most %.0f", SIM_ERROR_RATE_MAX);
}

/* ---- agents ---- */

static void append_agent(const struct words *words, const struct sim_node *node)
{
	g_string_append_printf(words->out, "\"%s\"", node->description);
	for (unsigned int i = 0; i < SIM_PMA_BITS; i++)
		if (node->pma >> i & 1)
			g_string_append_printf(words->out, " %s", kind_names[i]);
	if (node->pma_status)
		g_string_append_printf(words->out, " status 0x%04x", node->pma_status);
	if (node->redirect && node->redirect->lid)
		g_string_append_printf(words->out, " redirect %u QP 0x%x P_Key 0x%04x Q_Key 0x%08x",
				       node->redirect->lid, node->redirect->qp,
				       node->redirect->p_key, node->redirect->q_key);
	else if (node->redirect)
		g_string_append_printf(words->out, " redirect 0x%016" PRIx64 " QP 0x%x",
				       node->redirect->gid.guid, node->redirect->qp);
	g_string_append_c(words->out, '\n');
}

static bool is_usual(const struct sim_node *node)
{
	return node->pma == sim_pma_default(node->type) && !node->pma_status && !node->redirect;
}

static bool agent_list(const struct words *words)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SIM_PMA_BITS; i++)
		g_string_append_printf(words->out, "%-16s %s\n", kind_names[i], kind_help[i]);
	for (unsigned int i = 0; i < words->sim->n_nodes; i++)
		if (!is_usual(&words->sim->nodes[i]) && ++n <= LINES_MAX)
			append_agent(words, &words->sim->nodes[i]);
	append_more(words->out, n);
	return true;
}

/* Changes of an agent, applied when all words were understood. */
struct change {
	uint32_t on, off;
	bool usual; /* first as all of its type */
	bool sets_status, redirects, ends_redirect;
	uint16_t status;
	struct sim_redirect to;
};

static bool change_kind(const char *word, struct change *change)
{
	bool off = g_str_has_prefix(word, "no-");

	for (unsigned int i = 0; i < SIM_PMA_BITS; i++) {
		if (strcmp(word + (off ? 3 : 0), kind_names[i]) != 0)
			continue;
		change->on = off ? change->on & ~(1U << i) : change->on | 1U << i;
		change->off = off ? change->off | 1U << i : change->off & ~(1U << i);
		return true;
	}
	return false;
}

/* redirect LID|GUID [QP [P_KEY [Q_KEY]]]: a LID has at most 16 bits. */
static bool change_redirect(const struct words *words, unsigned int word, struct change *change)
{
	static const uint64_t limits[] = {UINT64_MAX, 0xFFFFFF, UINT16_MAX, UINT32_MAX};
	uint64_t values[] = {0, IBA_QP1, 0xFFFF, IBA_QP1_Q_KEY};

	if (word == words->n || words->n - word > G_N_ELEMENTS(values))
		return words_fail(words,
				  "redirect is the last, with LID|GUID [QP [P_KEY [Q_KEY]]]");
	for (unsigned int i = 0; word + i < words->n; i++)
		if (!words_number(words, words->at[word + i], limits[i], &values[i]))
			return false;
	change->redirects = true;
	change->to = (struct sim_redirect){
		.gid = {IBA_DEFAULT_GID_PREFIX, values[0] > UINT16_MAX ? values[0] : 0},
		.lid = values[0] > UINT16_MAX ? 0 : (uint16_t)values[0],
		.qp = (uint32_t)values[1],
		.p_key = (uint16_t)values[2],
		.q_key = (uint32_t)values[3],
	};
	return true;
}

static bool read_change(const struct words *words, struct change *change)
{
	for (unsigned int i = 2; i < words->n; i++) {
		const char *word = words->at[i];
		uint64_t status;

		if (!strcmp(word, "redirect"))
			return change_redirect(words, i + 1, change);
		if (!strcmp(word, "no-redirect")) {
			change->ends_redirect = true;
		} else if (!strcmp(word, "default")) {
			*change = (struct change){
				.usual = true, .sets_status = true, .ends_redirect = true};
		} else if (!strcmp(word, "status")) {
			if (++i == words->n)
				return words_fail(words, "status needs a number");
			if (!words_number(words, words->at[i], UINT16_MAX, &status))
				return false;
			change->sets_status = true;
			change->status = (uint16_t)status;
		} else if (!change_kind(word, change)) {
			return words_fail(words, "'%s' is not a kind of agent; see agent list",
					  word);
		}
	}
	return true;
}

static void apply(const struct words *words, const struct sim_node *node,
		  const struct change *change)
{
	uint32_t pma = change->usual ? sim_pma_default(node->type) : node->pma;

	sim_pma_set(words->sim, node->index, (pma & ~change->off) | change->on);
	if (change->sets_status)
		sim_pma_set_status(words->sim, node->index, change->status);
	if (change->redirects || change->ends_redirect)
		sim_pma_redirect(words->sim, node->index, change->redirects ? &change->to : NULL);
}

static bool agent_set(const struct words *words)
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

		if (only ? node == only : (node->sw != NULL) == switches)
			apply(words, node, &change);
	}
	return true;
}

static bool agent_usage(const struct words *words)
{
	return words->n >= 2
		       ? agent_set(words)
		       : words_fail(words, "usage: agent NODE|switches|hosts [KIND...], or list");
}

/* ---- counters ---- */

static bool counters(const struct words *words)
{
	const struct sim_port *port;

	if (words->n != 3)
		return words_fail(words, "usage: counters NODE PORT");
	if (!words_port(words, 1, &port))
		return false;
	for (unsigned int i = 0; i < SIM_PORT_COUNTERS; i++) {
		uint64_t n = sim_true_count(words->sim, port->node->index, port->number, i);
		g_autofree char *name = sim_counter_name(i);

		/* Those of lanes, VLs and SLs are many. */
		if (n || i < SIM_COUNT_DETAILS)
			g_string_append_printf(words->out, "%-31s %" PRIu64 "\n", name, n);
	}
	return true;
}

/* ---- dispatch ---- */

static const struct {
	const char *subject, *word; /* word: NULL: any other */
	bool (*run)(const struct words *words);
} commands[] = {
	{"traffic", "add", traffic_add},     {"traffic", "random", traffic_random},
	{"traffic", "clear", traffic_clear}, {"traffic", "discard", traffic_discard},
	{"traffic", "list", traffic_list},   {"errors", "clear", errors_clear},
	{"errors", "list", errors_list},     {"errors", NULL, errors_set},
	{"agent", "list", agent_list},	     {"agent", NULL, agent_usage},
	{"cc", NULL, sim_cc_command},	     {"counters", NULL, counters},
};

bool sim_command(struct sim *sim, char **at, unsigned int n, GString *out)
{
	const struct words words = {sim, at, n, out};

	for (unsigned int i = 0; n && i < G_N_ELEMENTS(commands); i++)
		if (!strcmp(commands[i].subject, at[0]) &&
		    (!commands[i].word || (n > 1 && !strcmp(commands[i].word, at[1]))))
			return commands[i].run(&words);
	if (n && !strcmp(at[0], "traffic"))
		return words_fail(&words, "usage: traffic add|random|discard|list|clear");
	return words_fail(&words, "expected traffic, errors, agent, cc or counters");
}
