// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The first line of the file has the checksum of the rest, which is in the form described in
 * partition_sources.h: an edited or truncated file is never read in part.
 */
#include "policy/partition/partition_memory.h"

#include <complib/file.h>
#include <string.h>

#include "policy/partition/partition_changes.h"
#include "policy/partition/partition_sources.h"

#define FIRST_WORDS "# opensm partition policy that was taken last, sha256 "
#define SIZE_MAX_KEPT (2 * FILE_MAX_CONFIG) /* with the names of many empty files */

char *partition_memory_file(const char *cache_dir)
{
	return cache_dir ? g_build_filename(cache_dir, PARTITION_MEMORY_FILE, NULL) : NULL;
}

static char *with_first_line(const char *body)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, body, -1);

	return g_strdup_printf(FIRST_WORDS "%s\n%s", sum, body);
}

char *partition_memory_text(const struct partition_rules *rules)
{
	g_autofree char *body = partition_sources_format(rules->sources);

	return with_first_line(body);
}

/* ---- the remembered rules ---- */

struct memory {
	struct partition_rules *rules; /* NULL: none, or unusable */
	GError *unusable;	       /* NULL: usable, or there are no rules */
};

static struct partition_sources *parse(const char *file, const char *text, gsize length,
				       GError **error)
{
	const char *body = strchr(text, '\n');
	g_autofree char *whole = body ? with_first_line(body + 1) : NULL;
	struct partition_sources *sources = NULL;

	if (whole && strlen(text) == length && !strcmp(whole, text))
		sources = partition_sources_parse(body + 1, strlen(body + 1));
	if (!sources)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE,
			    "%s:1: the checksum is not that of the rest of the file, which holds "
			    "the last accepted partition policy",
			    file);
	return sources;
}

static void recall(struct memory *memory, const char *name, const char *cache_dir,
		   struct partition_changes *changes)
{
	g_autofree char *file = partition_memory_file(cache_dir);
	struct partition_sources *sources;
	g_autofree char *text = NULL;
	gsize length;

	if (!file)
		return;
	text = file_read_own(file, SIZE_MAX_KEPT, &length, &memory->unusable);
	if (!text) {
		if (g_error_matches(memory->unusable, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			g_clear_error(&memory->unusable);
		return;
	}
	sources = parse(file, text, length, &memory->unusable);
	if (sources)
		memory->rules = partition_rules_remake(name, sources, changes, &memory->unusable);
	partition_sources_unref(sources);
}

/* ---- the start ---- */

/* Why the contents, or lack of contents, of the file cannot be trusted; NULL: it is valid. */
static char *doubt(const struct partition_rules *rules, bool named, const struct memory *memory)
{
	const char *file = rules->files->pdata[0];
	const char *state =
		partition_sources_n(rules->sources) ? "it is empty" : "there is no such file";
	const char *why = NULL;

	if (!rules->built_in || partition_rules_says_none(rules))
		return NULL;
	if (memory->rules && !memory->rules->built_in)
		why = "there were partitions before";
	else if (named)
		why = "the configuration names it";
	else if (memory->unusable)
		why = "the partitions in force before are unknown";
	else if (!memory->rules && rules->changes->serial)
		why = "there were changes at run time";
	return why ? g_strdup_printf("%s: %s, but %s; expected definitions, or "
				     "'Default=0x7fff,ipoib:ALL=full;' if every port may talk to "
				     "every other",
				     file, state, why)
		   : NULL;
}

/* Takes ownership of why: the file is not used. */
static struct partition_rules *fall_back(struct memory *memory, const char *file, char *why,
					 char **instead, GError **error)
{
	if (memory->rules && !memory->rules->built_in) {
		*instead = g_strconcat(why, "; the last accepted partitions are in force", NULL);
		g_free(why);
		return partition_rules_ref(memory->rules);
	}
	if (memory->unusable)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE,
			    "%s; the saved policy cannot be used either: %s; ports keep their "
			    "present P_Keys: correct %s and start again, which replaces the "
			    "saved policy",
			    why, memory->unusable->message, file);
	else
		g_set_error_literal(error, PARTITION_ERROR, PARTITION_ERROR_FILE, why);
	g_free(why);
	return NULL;
}

struct partition_rules *partition_rules_start(const char *file, bool named, const char *cache_dir,
					      char **instead, GError **error)
{
	struct partition_changes *changes = partition_changes_load(cache_dir, error);
	g_autoptr(GError) wrong = NULL;
	struct partition_rules *rules;
	struct memory memory = {0};
	char *why;

	*instead = NULL;
	if (!changes)
		return NULL;
	rules = partition_rules_load_with(file, changes, &wrong);
	recall(&memory, file, cache_dir, changes);
	why = rules ? doubt(rules, named, &memory) : g_strdup(wrong->message);
	if (why) {
		partition_rules_unref(rules);
		rules = fall_back(&memory, file, why, instead, error);
	}
	partition_rules_unref(memory.rules);
	g_clear_error(&memory.unusable);
	partition_changes_unref(changes);
	return rules;
}
