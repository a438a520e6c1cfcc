// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/followed.h"

#include <inttypes.h>
#include <sys/stat.h>

/* A line a file; numbers are others when it is another one, or has been written. */
static char *look(const GPtrArray *names)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i] ?: "";
		struct stat st = {0};

		if (stat(name, &st) != 0)
			st = (struct stat){0};
		g_string_append_printf(text, "%s %ju %ju %ju %ju.%09lu\n", name,
				       (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
				       (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec,
				       (unsigned long)st.st_mtim.tv_nsec);
	}
	return g_string_free(text, FALSE);
}

void followed_read(struct followed *followed, const GPtrArray *names)
{
	g_free(followed->read);
	followed->read = look(names);
}

bool followed_changed(const struct followed *followed, const GPtrArray *names)
{
	g_autofree char *now = look(names);

	return g_strcmp0(now, followed->read) != 0;
}

void followed_clear(struct followed *followed)
{
	g_clear_pointer(&followed->read, g_free);
}
