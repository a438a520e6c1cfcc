// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/auth/tries.h"

#include <arpa/inet.h>
#include <string.h>

#define WINDOW_US (60 * G_USEC_PER_SEC)
#define ADDRESSES_MAX 10000

struct count {
	gint64 since_us;
	unsigned int n;
};

struct tries {
	GHashTable *counts; /* address -> struct count */
};

struct tries *tries_new(void)
{
	struct tries *tries = g_new(struct tries, 1);

	tries->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return tries;
}

void tries_free(struct tries *tries)
{
	if (!tries)
		return;
	g_hash_table_unref(tries->counts);
	g_free(tries);
}

static char *key_of(const char *address)
{
	struct in6_addr inet6;
	char text[INET6_ADDRSTRLEN];

	if (inet_pton(AF_INET6, address, &inet6) != 1 || IN6_IS_ADDR_V4MAPPED(&inet6))
		return g_strdup(address);
	memset(inet6.s6_addr + 8, 0, 8);
	return g_strdup(inet_ntop(AF_INET6, &inet6, text, sizeof(text)));
}

static gboolean is_over(gpointer key, gpointer value, gpointer now)
{
	(void)key;
	return ((const struct count *)value)->since_us + WINDOW_US <= *(gint64 *)now;
}

/* NULL: none in the last minute. */
static struct count *find(struct tries *tries, const char *key, gint64 now_us)
{
	struct count *count = g_hash_table_lookup(tries->counts, key);

	return count && !is_over(NULL, count, &now_us) ? count : NULL;
}

void tries_add(struct tries *tries, const char *address, gint64 now_us)
{
	g_autofree char *key = key_of(address);
	struct count *count = find(tries, key, now_us);

	if (count) {
		count->n++;
		return;
	}
	if (g_hash_table_size(tries->counts) >= ADDRESSES_MAX)
		g_hash_table_foreach_remove(tries->counts, is_over, &now_us);
	if (g_hash_table_size(tries->counts) >= ADDRESSES_MAX)
		g_hash_table_remove_all(tries->counts);
	count = g_new(struct count, 1);
	*count = (struct count){now_us, 1};
	g_hash_table_replace(tries->counts, g_steal_pointer(&key), count);
}

void tries_take_back(struct tries *tries, const char *address, gint64 now_us)
{
	g_autofree char *key = key_of(address);
	struct count *count = find(tries, key, now_us);

	if (count && count->n)
		count->n--;
}

bool tries_too_many(struct tries *tries, const char *address, gint64 now_us)
{
	g_autofree char *key = key_of(address);
	const struct count *count = find(tries, key, now_us);

	return count && count->n >= TRIES_MAX;
}
