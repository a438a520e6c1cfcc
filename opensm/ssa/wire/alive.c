// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/wire/alive.h"

#include <stdio.h>
#include <string.h>

#define TEXT "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT

static char *sign(const struct ssa_alive *alive, uint64_t prefix, GBytes *key)
{
	g_autofree char *text = g_strdup_printf("opensm-ssa alive %016" G_GINT64_MODIFIER "x " TEXT,
						prefix, alive->term, alive->epoch, alive->time_us);

	if (!key)
		return g_strdup("-");
	return g_compute_hmac_for_string(G_CHECKSUM_SHA256, g_bytes_get_data(key, NULL),
					 g_bytes_get_size(key), text, -1);
}

char *ssa_alive_text(const struct ssa_alive *alive, uint64_t prefix, GBytes *key)
{
	g_autofree char *mac = sign(alive, prefix, key);

	return g_strdup_printf(TEXT " %s", alive->term, alive->epoch, alive->time_us, mac);
}

/* Takes as long wherever they differ. */
static bool is_same(const char *a, const char *b)
{
	guint8 differs = 0;

	if (strlen(a) != strlen(b))
		return false;
	for (size_t i = 0; a[i]; i++)
		differs |= (guint8)(a[i] ^ b[i]);
	return !differs;
}

bool ssa_alive_parse(const char *text, uint64_t prefix, GBytes *key, struct ssa_alive *alive)
{
	const char *mac = strrchr(text, ' ');
	g_autofree char *right = NULL;
	struct ssa_alive read;

	if (!mac || sscanf(text,
			   "%20" G_GINT64_MODIFIER "u %20" G_GINT64_MODIFIER
			   "u %20" G_GINT64_MODIFIER "u",
			   &read.term, &read.epoch, &read.time_us) != 3)
		return false;
	right = sign(&read, prefix, key);
	if (key && !is_same(mac + 1, right))
		return false;
	*alive = read;
	return true;
}

bool ssa_alive_is_news(const struct ssa_alive *alive, const struct ssa_alive *last)
{
	return alive->term > last->term ||
	       (alive->term == last->term && alive->time_us > last->time_us);
}
