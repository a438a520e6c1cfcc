// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an epoch of the Scalable SA costs: tables, with one thread and with two; their octets; a
 * look-up.
 *
 *	ssa_make [TOPOLOGY]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ssa/core/make.h"
#include "ssa/look/look.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define LOOKS 1000000

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
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

	for (unsigned int threads = 2; threads; threads--) {
		ssa_made_clear(&made);
		make(view, threads, &made);
	}
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
	subnet_view_unref(view);
	return EXIT_SUCCESS;
}
