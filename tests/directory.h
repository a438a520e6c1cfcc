// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Directories that tests create and remove again. */
#ifndef TESTS_DIRECTORY_H
#define TESTS_DIRECTORY_H

#include <glib.h>
#include <glib/gstdio.h>

/* Removes the file or directory with everything in it. */
static inline void directory_remove(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		directory_remove(child);
	}
	if (dir)
		g_dir_close(dir);
	g_remove(path);
}

#endif
