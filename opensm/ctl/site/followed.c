// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/site/followed.h"

#include <stdlib.h>
#include <sys/stat.h>

#define YOUNG_US (2 * G_USEC_PER_SEC)

static bool is_young(const struct stat *st)
{
	int64_t changed = st->st_mtim.tv_sec * G_USEC_PER_SEC + st->st_mtim.tv_nsec / 1000;

	return llabs(g_get_real_time() - changed) < YOUNG_US;
}

/* One line per file; its numbers change if the file is replaced or written. */
static char *look(const GPtrArray *names, bool *young)
{
	GString *text = g_string_new(NULL);

	*young = false;
	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i] ?: "";
		struct stat st = {0};

		if (stat(name, &st) != 0)
			st = (struct stat){0};
		*young |= is_young(&st);
		g_string_append_printf(text, "%s %ju %ju %ju %ju.%09lu\n", name,
				       (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
				       (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec,
				       (unsigned long)st.st_mtim.tv_nsec);
	}
	return g_string_free(text, FALSE);
}

void followed_read(struct followed *followed, const GPtrArray *names)
{
	bool young;

	g_free(followed->read);
	followed->read = look(names, &young);
	g_clear_pointer(&followed->seen, g_free);
}

enum followed_state followed_look(struct followed *followed, const GPtrArray *names,
				  uint64_t now_ns)
{
	bool young;
	g_autofree char *now = look(names, &young);

	if (g_strcmp0(now, followed->read) == 0)
		return FOLLOWED_SAME;
	if (!young)
		return FOLLOWED_OTHER;
	if (g_strcmp0(now, followed->seen) == 0)
		return now_ns - followed->seen_ns < FOLLOWED_AGAIN_NS ? FOLLOWED_YOUNG
								      : FOLLOWED_OTHER;
	g_free(followed->seen);
	followed->seen = g_steal_pointer(&now);
	followed->seen_ns = now_ns;
	return FOLLOWED_YOUNG;
}

void followed_clear(struct followed *followed)
{
	g_clear_pointer(&followed->read, g_free);
	g_clear_pointer(&followed->seen, g_free);
}
