// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What partitions and a QoS policy cost: processor time and memory to make both, and a PathRecord
 * with them, octets of a request in and octets of the answer out. Each partition has consecutive
 * hosts, all of which are limited members of one more; a group, a match rule and a level of the QoS
 * policy for each partition, and scopes for all cables.
 *
 *	policy_cost [TOPOLOGY [PARTITIONS [COUNT]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "policy/qos/qos_setup.h"
#include "tests/memory_used.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(path_record, name)

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static double megabytes(void)
{
	return memory_used() / 1048576.0;
}

struct bench {
	const struct fabric *fabric;
	GArray *hosts; /* uint32_t ports */
	unsigned int n_partitions;
};

static GString *partition_text(const struct bench *bench)
{
	GString *text = g_string_new("Default=0x7fff:ALL=limited,SELF=full;\n");
	unsigned int each = bench->hosts->len / bench->n_partitions;

	for (unsigned int i = 0; i < bench->n_partitions; i++) {
		g_string_append_printf(text, "p%u=0x%x:", i, i + 1);
		for (unsigned int k = 0; k < each; k++)
			g_string_append_printf(
				text, "%s0x%" G_GINT64_MODIFIER "x=full", k ? "," : "",
				bench->fabric
					->ports[g_array_index(bench->hosts, uint32_t, i * each + k)]
					.guid);
		g_string_append(text, ";\n");
	}
	return text;
}

static GString *qos_text(const struct bench *bench)
{
	GString *text = g_string_new("port-groups\n");

	for (unsigned int i = 0; i < bench->n_partitions; i++)
		g_string_append_printf(text, "port-group\nname: g%u\npkey: 0x%x\nend-port-group\n",
				       i, i + 1);
	g_string_append(text, "end-port-groups\nqos-setup\nvlarb-tables\nvlarb-scope\ngroup: *\n"
			      "vlarb-low: 0:64,1:32\nend-vlarb-scope\nend-vlarb-tables\n"
			      "sl2vl-tables\nsl2vl-scope\nacross: g0\n"
			      "sl2vl-table: 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\nend-sl2vl-scope\n"
			      "end-sl2vl-tables\nend-qos-setup\nqos-levels\n"
			      "qos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"
			      "qos-level\nname: x\nsl: 1\nend-qos-level\nend-qos-levels\n"
			      "qos-match-rules\n");
	for (unsigned int i = 0; i < bench->n_partitions; i++)
		g_string_append_printf(text,
				       "qos-match-rule\nsource: g%u\ndestination: g%u\n"
				       "qos-level-name: x\nend-qos-match-rule\n",
				       i, i);
	g_string_append(text, "end-qos-match-rules\n");
	return text;
}

static void row(const char *what, double started, double before)
{
	printf("%-28s %8.3f s %8.1f MB\n", what, seconds() - started, megabytes() - before);
}

static struct partitions *make_partitions(const struct bench *bench, const struct options *options)
{
	g_autoptr(GString) text = partition_text(bench);
	double started = seconds(), before = megabytes();
	struct partition_rules *rules = partition_rules_parse("bench", text->str, text->len, NULL);
	struct partitions *partitions;

	row("partitions.conf, read", started, before);
	started = seconds();
	before = megabytes();
	partitions = partitions_make(rules, options, bench->fabric);
	row("partitions, made", started, before);
	printf("%28u partitions, %u classes\n", partitions->n, partitions->n_classes - 1);
	partition_rules_unref(rules);
	return partitions;
}

static struct qos_paths *make_qos(const struct bench *bench, const struct options *options,
				  const struct partitions *partitions)
{
	g_autoptr(GString) text = qos_text(bench);
	double started = seconds(), before = megabytes();
	struct qos_policy *policy = qos_policy_parse("bench", text->str, NULL);
	struct qos_paths *paths;

	row("qos-policy.conf, read", started, before);
	started = seconds();
	before = megabytes();
	paths = qos_paths_make(policy, options, bench->fabric, partitions);
	row("QoS policy, made", started, before);
	qos_policy_unref(policy);
	return paths;
}

/* Pairs within one partition: other pairs get only paths in the default one. */
static void ask_one(const struct bench *bench, const struct subnet *subnet, uint64_t *state,
		    uint8_t *octets)
{
	unsigned int each = bench->hosts->len / bench->n_partitions;
	unsigned int first = make_number(state, bench->n_partitions) * each;
	uint32_t a = g_array_index(bench->hosts, uint32_t, first + make_number(state, each));
	uint32_t b = g_array_index(bench->hosts, uint32_t, first + make_number(state, each));
	struct iba_path_record record = {
		.sgid = {subnet->options->subnet_prefix, bench->fabric->ports[a].guid},
		.dgid = {subnet->options->subnet_prefix, bench->fabric->ports[b].guid},
		.reversible = 1,
		.numb_path = 1,
	};
	struct ask ask = {
		.subnet = subnet,
		.from = a,
		.method = IBA_METHOD_GET,
		.attribute = IBA_ATTR_PATH_RECORD,
		.mask = C(sgid) | C(dgid) | C(reversible) | C(numb_path),
		.type = &iba_path_record_type,
		.record = &record,
	};

	ask_encode(&ask, octets);
}

static unsigned int answer(const struct bench *bench, struct subnet *subnet, unsigned int count)
{
	struct subnet_view *view = subnet_view_new(subnet);
	uint8_t *octets = g_malloc((size_t)count * IBA_MAD_BYTES);
	struct vendor_address from = {.lid = subnet->sm_lid, .qpn = 1};
	unsigned int good = 0;
	uint64_t state = 1;
	double started;

	for (unsigned int i = 0; i < count; i++)
		ask_one(bench, subnet, &state, octets + (size_t)i * IBA_MAD_BYTES);
	started = seconds();
	for (unsigned int i = 0; i < count; i++) {
		struct sa_query query;
		size_t length;

		if (!sa_query_begin(&query, view, &from, octets + (size_t)i * IBA_MAD_BYTES,
				    IBA_MAD_BYTES))
			continue;
		sa_query_run(&query, NULL);
		g_free(sa_query_finish(&query, &length));
		good += query.status == IBA_STATUS_OK;
	}
	printf("%-28s %8.3f us each, %u of %u OK\n", "PathRecords",
	       (seconds() - started) / count * 1e6, good, count);
	g_free(octets);
	subnet_view_unref(view);
	return good;
}

int main(int argc, char *argv[])
{
	const char *spec = argc > 1 ? argv[1] : "fattree:48";
	unsigned int count = argc > 3 ? atoi(argv[3]) : 200000;
	struct bench bench = {.n_partitions = argc > 2 ? atoi(argv[2]) : 500};
	struct subnet *plain = make_subnet(spec, 0, 0), *subnet;
	struct partitions *partitions;

	bench.fabric = plain->fabric;
	bench.hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	plain->options->qos = true;
	for (uint32_t i = 0; i < plain->fabric->n_ports; i++)
		if (fabric_is_endport(plain->fabric, i) &&
		    !fabric_is_switch(plain->fabric, plain->fabric->ports[i].node))
			g_array_append_val(bench.hosts, i);
	printf("%s: %u hosts\n", spec, bench.hosts->len);
	if (!bench.n_partitions || bench.hosts->len < bench.n_partitions)
		return EXIT_FAILURE;
	partitions = make_partitions(&bench, plain->options);
	subnet = subnet_new(plain->fabric, plain->routing, partitions, plain->options);
	subnet->sm_lid = plain->sm_lid;
	subnet->sm_guid = plain->sm_guid;
	subnet->qos = make_qos(&bench, plain->options, partitions);
	return answer(&bench, subnet, count) == count ? EXIT_SUCCESS : EXIT_FAILURE;
}
