// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Directories that tests make and leave nothing of. */
#ifndef TESTS_DIRECTORY_H
#define TESTS_DIRECTORY_H

#include <glib.h>
#include <glib/gstdio.h>

/* With all that is in it; a file, too. */
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
