// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Our options in the file of ibacm, which has a name and a value in each line; ibacm itself and its
 * other providers pass over those that they do not know.
 */
#include "ssa/acm/acm_private.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "ssa_"
#define SNAPSHOT "/run/opensm-ssa/snapshot" /* as opensm-ssa writes it by default */
#define MAX_AGE_S 3600
#define MAX_AGE_LIMIT_S (365 * 24 * 3600)
#define LINE_MAX_OCTETS 4096

static bool set_snapshot(struct acm_options *options, const char *value)
{
	if (*value != '/')
		return false;
	g_ptr_array_add(options->snapshots, g_strdup(value));
	return true;
}

static bool set_max_age(struct acm_options *options, const char *value)
{
	guint64 number;

	if (!g_ascii_string_to_unsigned(value, 10, 1, MAX_AGE_LIMIT_S, &number, NULL))
		return false;
	options->max_age_s = (unsigned int)number;
	return true;
}

static bool set_neighbours(struct acm_options *options, const char *value)
{
	static const char *const words[] = {
		[NEIGHBOURS_NONE] = "none",
		[NEIGHBOURS_IPV4] = "ipv4",
		[NEIGHBOURS_IPV6] = "ipv6",
		[NEIGHBOURS_BOTH] = "both",
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(words); i++) {
		if (strcmp(value, words[i]) == 0) {
			options->neighbours = (enum neighbours_kind)i;
			return true;
		}
	}
	return false;
}

static const struct key {
	const char *name, *expected;
	bool (*set)(struct acm_options *options, const char *value);
} keys[] = {
	{"ssa_snapshot", "an absolute path", set_snapshot},
	{"ssa_max_age", "seconds, from 1 to 31536000", set_max_age},
	{"ssa_neighbours", "none, ipv4, ipv6 or both", set_neighbours},
};

static void set(struct acm_options *options, const char *file, unsigned int number,
		const char *name, const char *value)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (strcmp(name, keys[i].name) != 0)
			continue;
		if (!keys[i].set(options, value))
			acm_write(0, "ssa: %s:%u: %s %s: expected %s; it is ignored\n", file,
				  number, name, value, keys[i].expected);
		return;
	}
	acm_write(0, "ssa: %s:%u: %s is unknown; it is ignored\n", file, number, name);
}

static void read_line(struct acm_options *options, const char *file, unsigned int number,
		      char *line)
{
	char *save, *name = strtok_r(line, " \t\r\n", &save), *value;

	if (!name || !g_str_has_prefix(name, PREFIX))
		return;
	value = strtok_r(NULL, " \t\r\n", &save);
	set(options, file, number, name, value ? value : "");
}

static void read_file(struct acm_options *options, const char *name)
{
	char line[LINE_MAX_OCTETS];
	FILE *file = fopen(name, "re");

	if (!file)
		return; /* ibacm does without, too */
	for (unsigned int number = 1; fgets(line, sizeof(line), file); number++)
		read_line(options, name, number, line);
	fclose(file);
}

void acm_options_read(struct acm_options *options, const char *file)
{
	*options = (struct acm_options){
		.snapshots = g_ptr_array_new_with_free_func(g_free),
		.max_age_s = MAX_AGE_S,
		.netlink = -1,
	};
	if (file)
		read_file(options, file);
	if (!options->snapshots->len)
		g_ptr_array_add(options->snapshots, g_strdup(SNAPSHOT));
}

void acm_options_clear(struct acm_options *options)
{
	g_clear_pointer(&options->snapshots, g_ptr_array_unref);
}
