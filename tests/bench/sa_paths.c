// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PathRecords a second without transport: octets of a request in, octets of the answer out.
 *
 *	sa_paths [TOPOLOGY [COUNT]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(path_record, name)

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* One request for each of many random pairs of hosts, as rdma_cm asks. */
static uint8_t *make_requests(const struct subnet *subnet, unsigned int n)
{
	uint8_t *octets = g_malloc((size_t)n * IBA_MAD_BYTES);
	uint64_t state = 1, prefix = subnet->options->subnet_prefix;
	unsigned int n_ports = n_endports(subnet);
	uint32_t *ports = g_new(uint32_t, n_ports);
	unsigned int found = 0;

	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		if (fabric_is_endport(subnet->fabric, i) && subnet->fabric->ports[i].lid)
			ports[found++] = i;
	for (unsigned int i = 0; i < n; i++) {
		const struct fabric_port *ends = subnet->fabric->ports;
		uint32_t a = ports[make_number(&state, found)];
		uint32_t b = ports[make_number(&state, found)];
		struct iba_path_record record = {
			.sgid = {prefix, ends[a].guid},
			.dgid = {prefix, ends[b].guid},
			.reversible = 1,
			.numb_path = 1,
			.p_key = 0xFFFF,
		};
		struct ask ask = {
			.subnet = subnet,
			.from = a,
			.method = IBA_METHOD_GET,
			.attribute = IBA_ATTR_PATH_RECORD,
			.mask = C(sgid) | C(dgid) | C(reversible) | C(numb_path) | C(p_key),
			.type = &iba_path_record_type,
			.record = &record,
		};

		ask_encode(&ask, octets + (size_t)i * IBA_MAD_BYTES);
	}
	g_free(ports);
	return octets;
}

/* A request that was just received is in the cache. */
static void warm(const uint8_t *request)
{
	for (unsigned int i = 0; i < 128; i += 64)
		__builtin_prefetch(request + i);
}

static unsigned int answer_all(const struct subnet_view *view, const uint8_t *octets,
			       unsigned int n, unsigned int count)
{
	struct vendor_address from = {.lid = view->subnet->sm_lid, .qpn = 1};
	unsigned int good = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct sa_query query;
		uint8_t *data;
		size_t length;

		warm(octets + (size_t)((i + 8) % n) * IBA_MAD_BYTES);
		if (!sa_query_begin(&query, view, &from,
				    octets + (size_t)(i % n) * IBA_MAD_BYTES, IBA_MAD_BYTES))
			continue;
		sa_query_run(&query, NULL);
		data = sa_query_finish(&query, &length);
		good += query.status == IBA_STATUS_OK;
		g_free(data);
	}
	return good;
}

int main(int argc, char *argv[])
{
	const char *spec = argc > 1 ? argv[1] : "fattree:16";
	unsigned int count = argc > 2 ? atoi(argv[2]) : 2000000, n = 65536, good;
	struct subnet *subnet = make_subnet(spec, 0, 0);
	struct subnet_view *view = subnet_view_new(subnet);
	uint8_t *octets = make_requests(subnet, n);
	double start = seconds(), took;

	answer_all(view, octets, n, n);
	printf("%s: the first %u in %.0f ns each\n", spec, n, (seconds() - start) / n * 1e9);
	start = seconds();
	good = answer_all(view, octets, n, count);
	took = seconds() - start;
	printf("%s: %u endports, %u of %u PathRecords answered OK, %.0f a second, %.0f ns each\n",
	       spec, n_endports(subnet), good, count, count / took, took / count * 1e9);
	g_free(octets);
	subnet_view_unref(view);
	return good == count ? 0 : 1;
}
