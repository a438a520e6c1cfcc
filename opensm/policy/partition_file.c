// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What stands in for partitions.conf until it is read: the refusal to ignore it. */
#include "policy/partition_file.h"

#include <complib/file.h>
#include <string.h>

GQuark partition_error_quark(void)
{
	return g_quark_from_static_string("partition-error-quark");
}

/* Number of the first line that says something, 0 if none does. */
static unsigned int first_line(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++) {
		const char *line = g_strstrip(lines[i]);

		if (*line && *line != '#')
			return i + 1;
	}
	return 0;
}

bool partition_file_check(const char *file, GError **error)
{
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	unsigned int line;
	gsize length;

	text = file ? file_read(file, FILE_MAX_CONFIG, &length, &failure) : NULL;
	if (!text) {
		if (!file || g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			return true;
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE, "%s", failure->message);
		return false;
	}
	line = memchr(text, '\0', length) ? 1 : first_line(text);
	if (!line)
		return true;
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_NOT_YET,
		    "%s:%u: partitions are not implemented yet, and without them every port could "
		    "talk to every other; to accept that, start with -P and an empty file",
		    file, line);
	return false;
}
