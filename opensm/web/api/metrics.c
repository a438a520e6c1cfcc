// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Metrics. The daemon writes them into a file in memory; those of the daemon itself are small and
 * get those of this process added, those of ports are sent as they are.
 */
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "web/api/stats.h"
#include "web/serve/server.h"

#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define OPEN_END "# EOF\n"
#define PATIENCE_S 10.0 /* if the client does not tell its own */
#define PATIENCE_MAX 120.0
#define AGE_MS 1000	      /* scrapes within it share an answer */
#define SMALL_MAX (16u << 20) /* octets of the daemon's own metrics */

struct scrape {
	struct web *web;
	struct request *request;
	bool open_metrics, with_own;
};

/* ---- what the client takes ---- */

/* How much it wants this type; 0: not at all. */
static double wish(const char *accept, const char *type)
{
	g_auto(GStrv) ranges = g_strsplit(accept, ",", 64);
	double best = 0;

	for (unsigned int i = 0; ranges[i]; i++) {
		g_auto(GStrv) parts = g_strsplit(ranges[i], ";", 16);
		double q = 1;

		if (!parts[0] || g_ascii_strcasecmp(g_strstrip(parts[0]), type) != 0)
			continue;
		for (unsigned int p = 1; parts[p]; p++)
			if (g_str_has_prefix(g_strstrip(parts[p]), "q="))
				q = g_ascii_strtod(parts[p] + 2, NULL);
		best = MAX(best, q);
	}
	return best;
}

static bool wants_open_metrics(const struct request *request)
{
	const char *accept = request_header(request, "Accept");
	double open = accept ? wish(accept, "application/openmetrics-text") : 0;

	return open > 0 && open >= wish(accept, "text/plain");
}

/* Nine tenths of what Prometheus gives. */
static unsigned int patience_ms(const struct request *request)
{
	const char *text = request_header(request, "X-Prometheus-Scrape-Timeout-Seconds");
	double seconds = text ? g_ascii_strtod(text, NULL) : 0;

	if (!(seconds > 0))
		seconds = PATIENCE_S;
	return (unsigned int)(MIN(seconds, PATIENCE_MAX) * 900);
}

/* ---- answers ---- */

static char *read_small(const struct held *file, size_t *size)
{
	char *text;

	*size = (size_t)held_size(file);
	if (*size > SMALL_MAX)
		return NULL;
	text = g_malloc(*size + 1);
	text[*size] = '\0';
	if (held_read(file, text, *size, 0) == (ssize_t)*size)
		return text;
	g_free(text);
	return NULL;
}

/* The daemon's metrics and those of this process, which go before the end line. */
static void answer_with_own(struct scrape *scrape, const struct held *file)
{
	size_t size = 0;
	char *text = read_small(file, &size);
	GString *out;

	if (!text) {
		request_fail(scrape->request, 500, "the metrics cannot be read");
		return;
	}
	out = g_string_new_len(text, (gssize)size);
	g_free(text);
	if (scrape->open_metrics && g_str_has_suffix(out->str, OPEN_END))
		g_string_truncate(out, out->len - strlen(OPEN_END));
	stats_write(scrape->web->stats, server_connections(scrape->web->server),
		    scrape->open_metrics, out);
	if (scrape->open_metrics)
		g_string_append(out, OPEN_END);
	request_answer_text(scrape->request, 200, scrape->open_metrics ? OPEN_TYPE : TEXT_TYPE,
			    g_string_free(out, FALSE));
}

static void on_reply(void *arg, enum control_status status, GBytes *text, struct held *file)
{
	struct scrape *scrape = arg;

	if (status == CONTROL_DONE && file && scrape->with_own)
		answer_with_own(scrape, file);
	else if (status == CONTROL_DONE && file)
		request_answer_file(scrape->request, 200,
				    scrape->open_metrics ? OPEN_TYPE : TEXT_TYPE, held_ref(file));
	else
		api_fail(scrape->web, scrape->request, status, text, 400);
	request_unref(scrape->request);
	g_free(scrape);
}

static void ask(struct web *web, struct request *request, const GPtrArray *words, bool with_own)
{
	g_autofree char *arguments =
		link_line((const char *const *)words->pdata, (unsigned int)words->len);
	g_autofree char *line = g_strdup_printf(
		"metrics descriptor%s%s%s", wants_open_metrics(request) ? " openmetrics" : "",
		arguments && *arguments ? " " : "", arguments ? arguments : "");
	struct scrape *scrape;

	if (!arguments) {
		request_fail(request, 400, "expected words without both kinds of quotes");
		return;
	}
	scrape = g_new(struct scrape, 1);
	*scrape = (struct scrape){web, request_ref(request), wants_open_metrics(request), with_own};
	request_set_header(request, "Vary", "Accept");
	asker_ask_file(web->asker, line, AGE_MS, patience_ms(request), on_reply, scrape);
}

void metrics_daemon(struct web *web, struct request *request)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	if (web->config->metrics == CONFIG_METRICS_OFF)
		request_fail(request, 404, "metrics are off");
	else
		ask(web, request, words, true);
}

/* ---- of ports ---- */

/* The level that is asked for, not above the configured one. False: it is none of them. */
static bool find_level(const struct web *web, const char *word, enum config_metrics *level)
{
	*level = web->config->metrics;
	if (!word)
		return true;
	for (unsigned int i = 0; i <= CONFIG_METRICS_ALL; i++)
		if (!strcmp(config_metrics_word(i), word)) {
			*level = MIN(i, web->config->metrics);
			return true;
		}
	return false;
}

static void add_filters(const struct request *request, GPtrArray *words)
{
	static const char *const filters[] = {"shard", "guid", "group", "scope"};

	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		const char *const *values = request_arguments(request, filters[i]);

		for (; *values; values++)
			g_ptr_array_add(words, g_strconcat(filters[i], "=", *values, NULL));
	}
}

/* collect[]=switch and hca, as exporters have it: which cables. True if ports are wanted at all. */
static bool take_collect(const struct request *request, GPtrArray *words)
{
	const char *const *values = request_arguments(request, "collect[]");
	bool any = *values != NULL, switches = false, hosts = false;

	for (; *values; values++) {
		switches |= !strcmp(*values, "switch");
		hosts |= !strcmp(*values, "hca");
	}
	if (any && switches != hosts && !request_argument(request, "scope"))
		g_ptr_array_add(words, g_strdup(switches ? "scope=switches" : "scope=hosts"));
	return !any || switches || hosts;
}

void metrics_ports(struct web *web, struct request *request)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	enum config_metrics level;

	if (!find_level(web, request_argument(request, "level"), &level)) {
		request_fail(request, 400, "level: expected off, daemon, errors, traffic or all");
	} else if (web->config->metrics == CONFIG_METRICS_OFF) {
		request_fail(request, 404, "metrics are off");
	} else if (level <= CONFIG_METRICS_DAEMON || !take_collect(request, words)) {
		g_ptr_array_add(words, g_strdup("off"));
		ask(web, request, words, false);
	} else {
		add_filters(request, words);
		g_ptr_array_add(words, g_strdup(config_metrics_word(level)));
		ask(web, request, words, false);
	}
}
