// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "complib/memory.h"

#include <glib.h>
#include <string.h>
#include <unistd.h>

/* The number in a file; UINT64_MAX if there is none, as where "max" stands. */
static uint64_t read_limit(const char *root, const char *group)
{
	g_autofree char *file = g_build_filename(root, group, "memory.max", NULL), *text = NULL;
	uint64_t limit;

	if (!g_file_get_contents(file, &text, NULL, NULL) ||
	    !g_ascii_string_to_unsigned(g_strstrip(text), 10, 0, UINT64_MAX, &limit, NULL))
		return UINT64_MAX;
	return limit;
}

uint64_t memory_of_group(const char *root, const char *groups)
{
	const char *line = g_str_has_prefix(groups, "0::/") ? groups : strstr(groups, "\n0::/");
	g_autofree char *group = NULL;
	uint64_t least = UINT64_MAX;
	char *end;

	if (!line)
		return least;
	line = strchr(line, '/');
	group = g_strndup(line, strcspn(line, "\n"));
	do {
		least = MIN(least, read_limit(root, group));
		end = strrchr(group, '/');
		if (end)
			*end = '\0';
	} while (end);
	return least;
}

uint64_t memory_of_machine(void)
{
	g_autofree char *groups = NULL;
	long pages = sysconf(_SC_PHYS_PAGES), octets = sysconf(_SC_PAGESIZE);
	uint64_t all = pages > 0 && octets > 0 ? (uint64_t)pages * octets : UINT64_MAX;

	if (!g_file_get_contents("/proc/self/cgroup", &groups, NULL, NULL))
		return all;
	return MIN(all, memory_of_group("/sys/fs/cgroup", groups));
}
