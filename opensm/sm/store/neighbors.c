// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file neighbors: see neighbors.h and state_file.h. */
#include "sm/store/neighbors.h"

#include "complib/hash.h"
#include "core/state/state_file.h"

struct end {
	uint64_t guid;
	uint64_t port;
};

struct cable {
	struct end here, there;
};

struct neighbors {
	GHashTable *cables; /* struct end -> struct cable, owned */
	uint64_t edition;
};

static guint end_hash(gconstpointer key)
{
	const struct end *end = key;

	return hash_uint64(&end->guid) + (guint)end->port;
}

static gboolean end_equal(gconstpointer a, gconstpointer b)
{
	const struct end *x = a, *y = b;

	return x->guid == y->guid && x->port == y->port;
}

struct neighbors *neighbors_new(void)
{
	struct neighbors *neighbors = g_new0(struct neighbors, 1);

	neighbors->cables = g_hash_table_new_full(end_hash, end_equal, NULL, g_free);
	return neighbors;
}

void neighbors_free(struct neighbors *neighbors)
{
	g_hash_table_unref(neighbors->cables);
	g_free(neighbors);
}

static void put(struct neighbors *neighbors, struct end here, struct end there)
{
	struct cable *cable = g_hash_table_lookup(neighbors->cables, &here);

	if (cable && end_equal(&cable->there, &there))
		return;
	cable = g_new(struct cable, 1);
	*cable = (struct cable){here, there};
	g_hash_table_replace(neighbors->cables, &cable->here, cable);
	neighbors->edition++;
}

void neighbors_set(struct neighbors *neighbors, uint64_t guid, uint8_t port, uint64_t to_guid,
		   uint8_t to_port)
{
	struct end here = {guid, port}, there = {to_guid, to_port};

	put(neighbors, here, there);
	put(neighbors, there, here);
}

uint64_t neighbors_get(const struct neighbors *neighbors, uint64_t guid, uint8_t port)
{
	const struct end here = {guid, port};
	const struct cable *cable = g_hash_table_lookup(neighbors->cables, &here);

	return cable ? cable->there.guid : 0;
}

void neighbors_keep(struct neighbors *neighbors, bool (*is_there)(void *arg, uint64_t guid),
		    void *arg)
{
	GHashTableIter iter;
	struct cable *cable;

	g_hash_table_iter_init(&iter, neighbors->cables);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&cable)) {
		if (is_there(arg, cable->here.guid) || is_there(arg, cable->there.guid))
			continue;
		g_hash_table_iter_remove(&iter);
		neighbors->edition++;
	}
}

unsigned int neighbors_size(const struct neighbors *neighbors)
{
	return g_hash_table_size(neighbors->cables);
}

GHashTable *neighbors_switches(const struct neighbors *neighbors)
{
	g_autoptr(GHashTable) met = g_hash_table_new(hash_uint64, g_int64_equal);
	GHashTable *switches = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
	GHashTableIter iter;
	struct cable *cable;

	g_hash_table_iter_init(&iter, neighbors->cables);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&cable))
		if (!g_hash_table_add(met, &cable->here.guid))
			g_hash_table_add(switches, g_memdup2(&cable->here.guid, sizeof(uint64_t)));
	return switches;
}

uint64_t neighbors_edition(const struct neighbors *neighbors)
{
	return neighbors->edition;
}

/* ---- the file ---- */

/* "0xGUID:port" */
static bool take_end(const char **line, struct end *end)
{
	char *after;

	if (!state_hex(line, &end->guid) || !end->guid || **line != ':' ||
	    !g_ascii_isdigit((*line)[1]))
		return false;
	end->port = g_ascii_strtoull(*line + 1, &after, 10);
	*line = after;
	return end->port >= 1 && end->port <= 254 && (!*after || g_ascii_isspace(*after));
}

const char *neighbors_take_line(void *arg, const char *line)
{
	struct neighbors *neighbors = arg;
	struct end here, there;

	if (!take_end(&line, &here) || !take_end(&line, &there) || !state_end(line))
		return "expected 0xGUID:PORT 0xGUID:PORT, with ports from 1 to 254";
	if (g_hash_table_contains(neighbors->cables, &here))
		return "expected each port once on the left";
	put(neighbors, here, there);
	return NULL;
}

static gint by_end(gconstpointer a, gconstpointer b)
{
	const struct cable *const *x = a, *const *y = b;

	if ((*x)->here.guid != (*y)->here.guid)
		return (*x)->here.guid < (*y)->here.guid ? -1 : 1;
	return (gint)(*x)->here.port - (gint)(*y)->here.port;
}

char *neighbors_format(const struct neighbors *neighbors)
{
	GString *text = g_string_new(NULL);
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	GHashTableIter iter;
	struct cable *cable;

	g_hash_table_iter_init(&iter, neighbors->cables);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&cable))
		g_ptr_array_add(sorted, cable);
	g_ptr_array_sort(sorted, by_end);
	for (guint i = 0; i < sorted->len; i++) {
		cable = sorted->pdata[i];
		g_string_append_printf(
			text, "0x%016" G_GINT64_MODIFIER "x:%u 0x%016" G_GINT64_MODIFIER "x:%u\n\n",
			cable->here.guid, (unsigned int)cable->here.port, cable->there.guid,
			(unsigned int)cable->there.port);
	}
	return g_string_free(text, FALSE);
}
