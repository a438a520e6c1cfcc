// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See guarded_options.h. The file has a checksum in its first line and a name in each other one.
 * What is damaged counts as if m_key had been in use.
 */
#include "ctl/process/guarded_options.h"

#include <complib/file.h>
#include <string.h>

#define FIRST_WORDS "# opensm options that guard the subnet, in use at the last start, sha256 "
#define SIZE_MAX_KEPT 65536

static const enum option_id guarded[] = {
	OPTION_m_key, OPTION_m_key_per_port, OPTION_m_key_protection_level,
	OPTION_sm_key, OPTION_sa_key,
};

/* Ports have one key or one of their own each; where they have none, no level matters. */
static bool is_replaced(const struct options *now, enum option_id id)
{
	if (id == OPTION_m_key)
		return now->m_key_per_port;
	if (id == OPTION_m_key_per_port)
		return now->m_key != 0;
	return id == OPTION_m_key_protection_level && !now->m_key && !now->m_key_per_port;
}

static bool is_dropped(const struct options *now, enum option_id id)
{
	return options_source(now, id) == OPTION_FROM_DEFAULT && !is_replaced(now, id);
}

static bool refuse(const struct options *now, enum option_id id, const char *since, GError **error)
{
	g_autofree char *text = options_text(now, id);

	g_set_error(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
		    "%s: %s is gone, which was in use %s: expected it, or '%s %s' if the subnet is "
		    "to do without",
		    now->file, options_name(id), since, options_name(id), text);
	return false;
}

bool guarded_options_check(const struct options *now, const struct options *before, GError **error)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(guarded); i++)
		if (options_source(before, guarded[i]) == OPTION_FROM_FILE &&
		    options_is_named(before, guarded[i]) && is_dropped(now, guarded[i]))
			return refuse(now, guarded[i], "until now", error);
	return true;
}

/* ---- from one start to the next ---- */

char *guarded_options_file(const char *cache_dir)
{
	return cache_dir ? g_build_filename(cache_dir, GUARDED_OPTIONS_FILE, NULL) : NULL;
}

static char *with_first_line(const char *body)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, body, -1);

	return g_strdup_printf(FIRST_WORDS "%s\n%s", sum, body);
}

char *guarded_options_text(const struct options *options)
{
	g_autoptr(GString) body = g_string_new(NULL);

	for (unsigned int i = 0; i < G_N_ELEMENTS(guarded); i++)
		if (options_source(options, guarded[i]) == OPTION_FROM_FILE &&
		    options_is_named(options, guarded[i]))
			g_string_append_printf(body, "%s\n", options_name(guarded[i]));
	return with_first_line(body->str);
}

/* The names behind the first line, NULL if it is not what was written. */
static char **names_of(const char *text, gsize length)
{
	const char *body = strchr(text, '\n');
	g_autofree char *whole = body ? with_first_line(body + 1) : NULL;

	return whole && strlen(text) == length && !strcmp(whole, text)
		       ? g_strsplit(body + 1, "\n", -1)
		       : NULL;
}

bool guarded_options_check_start(const struct options *options, const char *cache_dir,
				 GError **error)
{
	g_autofree char *file = guarded_options_file(cache_dir), *text = NULL;
	g_autoptr(GError) why = NULL;
	g_auto(GStrv) names = NULL;
	gsize length = 0;

	text = file ? file_read_own(file, SIZE_MAX_KEPT, &length, &why) : NULL;
	if (!file || g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return true;
	names = text ? names_of(text, length) : NULL;
	if (!names && is_dropped(options, OPTION_m_key)) {
		g_autofree char *since = g_strdup_printf("perhaps, as %s is damaged", file);

		return refuse(options, OPTION_m_key, since, error);
	}
	for (unsigned int i = 0; names && i < G_N_ELEMENTS(guarded); i++)
		if (g_strv_contains((const char *const *)names, options_name(guarded[i])) &&
		    is_dropped(options, guarded[i]))
			return refuse(options, guarded[i], "at the last start", error);
	return true;
}
