// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GetTable of everything without transport: seconds, octets, and what memory it takes at most.
 *
 *	sa_tables [TOPOLOGY]
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/unit/test_sa_make.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void ask_all(const struct sa_view *view, const struct sa_record *record)
{
	struct vendor_address from = {.lid = view->subnet->sm_lid, .qpn = 1};
	struct ask ask = {.method = IBA_METHOD_GET_TABLE, .attribute = record->attribute};
	uint8_t octets[IBA_MAD_BYTES], *data;
	struct sa_query query;
	atomic_size_t held;
	double start = seconds();
	size_t length;

	atomic_init(&held, 0);
	ask_encode(&ask, octets);
	if (!sa_query_begin(&query, view, &from, octets, sizeof(octets)))
		return;
	query.held = &held;
	sa_query_run(&query, NULL);
	if (query.waits) {
		printf("%-32s to be read first\n", record->name);
		return;
	}
	data = sa_query_finish(&query, &length);
	printf("%-32s status 0x%04x, %8u records, %6.1f MB, %.3f s, peak %.0f MB\n", record->name,
	       query.status, query.reply.n_records, (double)length / 1e6, seconds() - start,
	       peak_mb());
	g_free(data);
}

int main(int argc, char *argv[])
{
	struct subnet *subnet = make_subnet(argc > 1 ? argv[1] : "fattree:16", 0, 0);
	struct sa_view *view = sa_view_new(subnet);
	unsigned int n;
	const struct sa_record *all = sa_records(&n);

	printf("%u endports, %u ports; peak %.0f MB before\n", n_endports(subnet),
	       subnet->fabric->n_ports, peak_mb());
	for (unsigned int i = 0; i < n; i++)
		if (all[i].has_table && !(all[i].flags & (SA_REGISTRY | SA_TRUSTED)))
			ask_all(view, &all[i]);
	sa_view_unref(view);
	return 0;
}
