// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The words that say which metrics are wanted. */
#include <string.h>

#include "ctl/metrics/metrics.h"

#define SHARDS_MAX 1024

static const char *const levels[] = {
	[METRICS_OFF] = "off",	       [METRICS_DAEMON] = "daemon", [METRICS_ERRORS] = "errors",
	[METRICS_TRAFFIC] = "traffic", [METRICS_ALL] = "all",
};

static const char *const scopes[] = {
	[PERF_EVERY_PORT] = "all",
	[PERF_SWITCH_LINKS] = "switches",
	[PERF_HOST_LINKS] = "hosts",
};

static int find(const char *const *words, unsigned int n, const char *word)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(words[i], word))
			return (int)i;
	return -1;
}

static char *parse_shard(struct metrics_request *request, const char *text)
{
	g_auto(GStrv) parts = g_strsplit(text, "/", 3);
	guint64 shard = 0, shards = 0;

	if (g_strv_length(parts) != 2 ||
	    !g_ascii_string_to_unsigned(parts[1], 10, 1, SHARDS_MAX, &shards, NULL) ||
	    !g_ascii_string_to_unsigned(parts[0], 10, 1, shards, &shard, NULL))
		return g_strdup_printf("shard=%s: expected I/N: a number from 1 to N, and N, at "
				       "most %d",
				       text, SHARDS_MAX);
	request->shard = (uint32_t)shard;
	request->shards = (uint32_t)shards;
	return NULL;
}

static char *parse_guid(struct metrics_request *request, const char *text)
{
	bool hex = g_str_has_prefix(text, "0x");
	guint64 guid = 0;

	if (!g_ascii_string_to_unsigned(hex ? text + 2 : text, 16, 1, G_MAXUINT64, &guid, NULL))
		return g_strdup_printf("guid=%s: expected 0x and up to 16 digits", text);
	g_array_append_val(request->guids, guid);
	return NULL;
}

static char *parse_scope(struct metrics_request *request, const char *text)
{
	int scope = find(scopes, G_N_ELEMENTS(scopes), text);

	if (scope < 0)
		return g_strdup_printf("scope=%s: expected all, switches or hosts", text);
	request->scope = (enum perf_scope)scope;
	return NULL;
}

static char *parse_group(struct metrics_request *request, const char *text)
{
	if (!*text)
		return g_strdup("group=: expected the name of a group in perfmgr_rules_file");
	g_free(request->group);
	request->group = g_strdup(text);
	return NULL;
}

static const struct {
	const char *name;
	char *(*parse)(struct metrics_request *request, const char *text);
} filters[] = {
	{"shard=", parse_shard},
	{"guid=", parse_guid},
	{"scope=", parse_scope},
	{"group=", parse_group},
};

static char *parse_word(struct metrics_request *request, const char *word)
{
	int level = find(levels, G_N_ELEMENTS(levels), word);

	if (level >= 0) {
		request->level = (enum metrics_level)level;
		return NULL;
	}
	if (!strcmp(word, "openmetrics") || !strcmp(word, "--openmetrics")) {
		request->open_metrics = true;
		return NULL;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++)
		if (g_str_has_prefix(word, filters[i].name))
			return filters[i].parse(request, word + strlen(filters[i].name));
	return g_strdup_printf("'%s': expected off, daemon, errors, traffic, all, openmetrics, "
			       "shard=I/N, guid=GUID, scope=SCOPE or group=NAME",
			       word);
}

static bool has_filter(const struct metrics_request *request)
{
	return request->shards || request->guids->len || request->group ||
	       request->scope != PERF_EVERY_PORT;
}

char *metrics_request_parse(struct metrics_request *request, char *const *words)
{
	char *why = NULL;

	*request = (struct metrics_request){
		.level = METRICS_DAEMON,
		.guids = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};
	for (; !why && *words; words++)
		why = parse_word(request, *words);
	if (!why && request->level <= METRICS_DAEMON && has_filter(request))
		why = g_strdup("shard=, guid=, scope= and group= choose ports: expected errors, "
			       "traffic or all with them");
	return why;
}

void metrics_request_clear(struct metrics_request *request)
{
	g_array_free(request->guids, TRUE);
	g_free(request->group);
	request->group = NULL;
}
