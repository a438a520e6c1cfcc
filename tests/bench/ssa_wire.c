// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What it costs to cut an epoch of the Scalable SA into chunks and to join it, as a whole and for
 * one host; and the next one, in which the cable of another host is lost. Tables are made up: 2 %
 *of the ports are slower.
 *
 *	ssa_wire [LEAVES SPINES HOSTS-A-LEAF]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ssa/wire/wire.h"
#include "tests/unit/ssa_tables.h"

struct store {
	GHashTable *chunks; /* GBytes by name */
	GHashTable *known;  /* names that the reader has had; it does not ask again for them */
	unsigned int n;
	size_t octets;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void count(struct store *store, GHashTable *seen, const char *name, GBytes *frame)
{
	if (!g_hash_table_add(seen, g_strdup(name)))
		return;
	store->n++;
	store->octets += g_bytes_get_size(frame);
}

static bool put(void *arg, const char *name, GBytes *frame, GError **error)
{
	struct store *store = arg;

	(void)error;
	if (g_hash_table_contains(store->chunks, name))
		return true;
	store->n++;
	store->octets += g_bytes_get_size(frame);
	return g_hash_table_insert(store->chunks, g_strdup(name), g_bytes_ref(frame));
}

static GBytes *get(void *arg, const char *name, GError **error)
{
	struct store *store = arg;
	GBytes *frame = g_hash_table_lookup(store->chunks, name);

	(void)error;
	count(store, store->known, name, frame);
	return g_bytes_ref(frame);
}

static void tell(struct store *store, const char *what, double since)
{
	printf("%-40s %7.4f s CPU %5u chunks %8zu octets\n", what, seconds() - since, store->n,
	       store->octets);
	store->n = 0;
	store->octets = 0;
}

static void cut(struct store *store, const char *what, const struct ssa_made *made,
		const struct ssa_manifest *before, struct ssa_manifest *manifest)
{
	double since = seconds();

	if (!ssa_wire_cut(made, before, put, store, manifest, NULL))
		g_error("not cut");
	tell(store, what, since);
}

static struct ssa_snapshot *join(struct store *store, const char *what,
				 const struct ssa_manifest *manifest,
				 const struct ssa_snapshot *before, const struct ssa_wanted *wanted)
{
	g_autoptr(GError) error = NULL;
	double since = seconds();
	struct ssa_snapshot *snapshot = ssa_wire_join(manifest, before, wanted, get, store, &error);

	if (!snapshot)
		g_error("%s", error->message);
	tell(store, what, since);
	return snapshot;
}

static uint8_t *open_rows(struct ssa_made *made, enum ssa_table_id id, gsize *length)
{
	return g_bytes_unref_to_data(g_steal_pointer(&made->rows[id].bytes), length);
}

/* The next epoch: no packet reaches that host. */
static void lose_cable(struct ssa_made *made, const struct ssa_size *size, uint32_t host)
{
	uint16_t lid = ssa_tables_lid(size, host);
	uint32_t paths_size = made->rows[SSA_PATHS].row_size;
	uint32_t reach_size = made->rows[SSA_REACH].row_size;
	gsize ports_length, paths_length, reach_length;
	struct ssa_endport *ports = (void *)open_rows(made, SSA_ENDPORTS, &ports_length);
	uint8_t *paths = open_rows(made, SSA_PATHS, &paths_length);
	uint8_t *reach = open_rows(made, SSA_REACH, &reach_length);

	ports[host].own = SSA_WAY_NONE;
	for (uint32_t row = 0; row < size->leaves; row++)
		paths[(size_t)row * paths_size + lid] = SSA_WAY_NONE;
	memset(reach + (size_t)lid * reach_size, 0, reach_size);
	ssa_tables_replace(made, SSA_ENDPORTS, g_bytes_new_take(ports, ports_length));
	ssa_tables_replace(made, SSA_PATHS, g_bytes_new_take(paths, paths_length));
	ssa_tables_replace(made, SSA_REACH, g_bytes_new_take(reach, reach_length));
	made->epoch++;
}

static void run(const struct ssa_size *size)
{
	const struct ssa_wanted whole = {.whole = true};
	struct ssa_wanted host = {.guids = {ssa_tables_guid(size->leaves * size->hosts / 3)}};
	struct store store = {.chunks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
							      (GDestroyNotify)g_bytes_unref),
			      .known =
				      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
	struct ssa_manifest first, second;
	struct ssa_snapshot *all, *some, *next;
	struct ssa_made made;

	ssa_tables_make(&made, size, 1);
	printf("%u hosts, %u leaves, %u spines\n", size->leaves * size->hosts, size->leaves,
	       size->spines);
	cut(&store, "cut", &made, NULL, &first);
	all = join(&store, "join, whole", &first, NULL, &whole);
	g_hash_table_remove_all(store.known);
	some = join(&store, "join, a host", &first, NULL, &host);
	printf("snapshots: whole %zu octets, a host's %zu\n", g_bytes_get_size(all->bytes),
	       g_bytes_get_size(some->bytes));
	made.epoch++;
	cut(&store, "cut, nothing changed", &made, &first, &second);
	lose_cable(&made, size, size->leaves * size->hosts / 2);
	cut(&store, "cut, another host lost", &made, &first, &second);
	next = join(&store, "join, a host, frames kept", &second, some, &host);
	ssa_snapshot_unref(next);
	g_hash_table_remove_all(store.known);
	next = join(&store, "join, a host, frames not kept", &second, some, &host);
	ssa_snapshot_unref(next);
	g_hash_table_remove_all(store.known);
	next = join(&store, "join, whole, frames not kept", &second, all, &whole);
	ssa_snapshot_unref(next);
	ssa_snapshot_unref(some);
	ssa_snapshot_unref(all);
	ssa_made_clear(&made);
	g_hash_table_unref(store.chunks);
	g_hash_table_unref(store.known);
}

int main(int argc, char **argv)
{
	static const struct ssa_size sizes[] = {
		{.leaves = 648, .spines = 324, .hosts = 18, .classes = 20},
		{.leaves = 1458, .spines = 729, .hosts = 27, .classes = 20},
	};

	if (argc > 3) {
		const struct ssa_size size = {.leaves = (uint32_t)atoi(argv[1]),
					      .spines = (uint32_t)atoi(argv[2]),
					      .hosts = (uint32_t)atoi(argv[3]),
					      .classes = 20};

		run(&size);
		return EXIT_SUCCESS;
	}
	for (unsigned int i = 0; i < G_N_ELEMENTS(sizes); i++)
		run(&sizes[i]);
	return EXIT_SUCCESS;
}
