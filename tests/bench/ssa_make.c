// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an epoch of the Scalable SA costs: tables, with one thread and with two; their octets; a
 * look-up; the memory of all this.
 *
 *	ssa_make [TOPOLOGY [STORE]]
 *
 * STORE, as files:/tmp/x, gets the epoch, so that an agent can be measured, too.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ssa/core/make.h"
#include "ssa/look/look.h"
#include "ssa/store/store.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define LOOKS 1000000

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static double megabytes(const char *row)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	double found = 0;

	while (file && fgets(line, sizeof(line), file))
		if (g_str_has_prefix(line, row))
			found = atof(line + strlen(row)) / 1024;
	if (file)
		fclose(file);
	return found;
}

/* What is in use now, and the most since the last call. */
static void tell_memory(const char *when)
{
	FILE *file;

	malloc_trim(0);
	printf("memory, %s: %.0f MB, %.0f MB at most\n", when, megabytes("VmRSS:"),
	       megabytes("VmHWM:"));
	file = fopen("/proc/self/clear_refs", "w");
	if (file) {
		fputs("5\n", file); /* the peak is what is in use */
		fclose(file);
	}
}

static bool put(void *store, const char *name, GBytes *frame, GError **error)
{
	return ssa_store_put(store, name, frame, error);
}

static GBytes *get(void *store, const char *name, GError **error)
{
	return ssa_store_get(store, name, error);
}

static void publish(const struct ssa_made *made, const char *uri)
{
	const struct ssa_store_options options = {.writes = true};
	g_autoptr(GError) error = NULL;
	struct ssa_store *store = ssa_store_open(uri, made->prefix, &options, &error);
	g_autoptr(GPtrArray) names = NULL;
	g_autoptr(GBytes) bytes = NULL;
	struct ssa_manifest manifest;

	if (store && ssa_wire_cut(made, NULL, put, store, &manifest, &error))
		names = ssa_wire_names(&manifest, get, store, &error);
	if (names) {
		bytes = ssa_manifest_encode(&manifest, NULL);
		ssa_store_publish(store, bytes, manifest.term, manifest.epoch,
				  (const char *const *)names->pdata, names->len, &error);
	}
	if (error)
		fprintf(stderr, "ssa_make: %s\n", error->message);
	ssa_store_close(store);
	tell_memory("published");
}

static void make(const struct subnet_view *view, unsigned int threads, struct ssa_made *made)
{
	const struct ssa_source source = {.view = view, .threads = threads};
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);

	ssa_make(&source, made);
	printf("%u thread(s): %.3f s CPU, %.3f s\n", threads,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, seconds(CLOCK_MONOTONIC) - wall);
}

static void look(const struct ssa_snapshot *snapshot)
{
	uint64_t state = 1;
	unsigned int found = 0;
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned int i = 0; i < LOOKS; i++) {
		uint32_t from = make_number(&state, snapshot->n_endports);
		uint32_t to = make_number(&state, snapshot->n_endports);
		const struct iba_path_record wanted = {
			.sgid = {snapshot->prefix, ssa_64(snapshot->endports[from].guid)},
			.dgid = {snapshot->prefix, ssa_64(snapshot->endports[to].guid)},
			.reversible = 1,
		};
		struct iba_path_record record;

		found += ssa_look_path(snapshot, from, &wanted, C(sgid) | C(dgid) | C(reversible),
				       &record, NULL) == SSA_LOOK_FOUND;
	}
	printf("look-up: %.0f ns CPU, %u of %u found\n",
	       (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e9 / LOOKS, found, LOOKS);
}

int main(int argc, char **argv)
{
	struct subnet *subnet = make_subnet(argc > 1 ? argv[1] : "fattree:16", 0, 0);
	struct subnet_view *view = subnet_view_new(subnet);
	struct ssa_made made = {.term = 1, .epoch = 1};
	struct ssa_snapshot *snapshot;
	g_autoptr(GBytes) bytes = NULL;
	double cpu;

	tell_memory("the subnet without the Scalable SA");
	for (unsigned int threads = 2; threads; threads--) {
		ssa_made_clear(&made);
		make(view, threads, &made);
		tell_memory("with all tables of an epoch");
	}
	if (argc > 2)
		publish(&made, argv[2]);
	bytes = ssa_made_bytes(&made);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	snapshot = ssa_snapshot_open(bytes, NULL);
	printf("opened and checked: %.3f s CPU\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	printf("%u ports, %u switches, %.1f MB:", snapshot->n_endports, snapshot->n_switches,
	       g_bytes_get_size(bytes) / 1e6);
	for (unsigned int id = 0; id < SSA_TABLE_END; id++)
		if (snapshot->tables[id].rows)
			printf(" %s %.1f KB", ssa_table_name(id),
			       snapshot->tables[id].rows * snapshot->tables[id].row_size / 1e3);
	printf("\n");
	look(snapshot);
	ssa_snapshot_unref(snapshot);
	ssa_made_clear(&made);
	g_clear_pointer(&bytes, g_bytes_unref);
	tell_memory("after the epoch");
	subnet_view_unref(view);
	return EXIT_SUCCESS;
}
