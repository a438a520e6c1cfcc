// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Many groups without the wire: the registry, its publications and the trees, as the daemon makes
 * them. MLIDs, blocks of multicast tables that hold something, CPU seconds and memory; then what
 * one join and one leave cost.
 *
 *	multicast random TOPOLOGY GROUPS MEMBERS [MULTICASTFDBCAP]	members at random
 *	multicast snm TOPOLOGY HOSTS [MULTICASTFDBCAP]	hosts in their IPv6 solicited-node groups
 *
 * SPREAD=1 in the environment spreads the roots of trees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "route/renew/renew.h"
#include "sm/forward/trees.h"
#include "tests/memory_used.h"
#include "tests/unit/test_sa_make.h"

struct bench {
	struct subnet *subnet;
	struct sa_store *store;
	struct trees *trees;
	struct mc_groups *groups; /* that they were made for */
	uint64_t *guids;	  /* of hosts */
	uint32_t n_hosts;
	uint64_t state;
	double since;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double used_mb(void)
{
	return (double)memory_used() / (1 << 20);
}

static void lap(struct bench *bench, const char *what)
{
	double now = seconds();

	printf("%-28s %12.6f s  %9.1f MB\n", what, now - bench->since, used_mb());
	bench->since = seconds();
}

static void on_trouble(void *arg, uint16_t mlid, uint32_t excluded, const char *witness)
{
	(void)arg;
	printf("MLID 0x%04x: %u left out; %s\n", mlid, excluded, witness ? witness : "");
	exit(1);
}

/* Blocks of 32 MLIDs and 16 ports that hold something, and MLIDs. */
static void count_tables(const struct bench *bench)
{
	size_t n = (size_t)bench->subnet->fabric->n_switches * IBA_MFT_BLOCKS * IBA_MFT_POSITIONS;
	g_autofree bool *used = g_new0(bool, n);
	uint32_t mlids = 0, blocks = 0;

	for (uint32_t i = 0; i < MC_N_MLIDS; i++) {
		const struct route_tree *tree =
			trees_get(bench->trees, (uint16_t)(IBA_LID_MCAST_FIRST + i));

		mlids += tree != NULL;
		for (uint32_t k = 0; tree && k < tree->n; k++)
			for (uint32_t p = 0; p < IBA_MFT_POSITIONS; p++)
				if (tree->ports[k].bits[p / 4] >> (p % 4 * 16) & 0xFFFF)
					used[((size_t)tree->switches[k] * IBA_MFT_BLOCKS + i / 32) *
						     IBA_MFT_POSITIONS +
					     p] = true;
	}
	for (size_t i = 0; i < n; i++)
		blocks += used[i];
	printf("%u MLIDs, %u blocks of %u switches\n", mlids, blocks,
	       bench->subnet->fabric->n_switches);
}

/* Trees that cross a cable between switches, and roots. */
static void count_load(const struct bench *bench)
{
	const struct fabric *fabric = bench->subnet->fabric;
	g_autofree uint32_t *load = g_new0(uint32_t, fabric->n_ports);
	g_autofree uint32_t *roots = g_new0(uint32_t, fabric->n_switches);
	uint32_t used = 0, most = 0, n_roots = 0, most_roots = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MC_N_MLIDS; i++) {
		const struct route_tree *tree =
			trees_get(bench->trees, (uint16_t)(IBA_LID_MCAST_FIRST + i));

		if (tree && tree->n)
			roots[tree->root]++;
		for (uint32_t k = 0; tree && k < tree->n; k++)
			if (tree->up[k])
				load[fabric_switch_port(fabric, tree->switches[k], tree->up[k])]++;
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		used += load[i] != 0;
		sum += load[i];
		most = MAX(most, load[i]);
	}
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		n_roots += roots[sw] != 0;
		most_roots = MAX(most_roots, roots[sw]);
	}
	printf("%u roots, the most used of %u trees; trees on a cable between switches: %.1f of "
	       "%u cables in use, at most %u\n",
	       n_roots, most_roots, (double)sum / MAX(used, 1), used, most);
}

static uint32_t follow(struct bench *bench, struct mc_groups *groups, double *longest)
{
	bool changed[IBA_MFT_BLOCKS] = {false};
	uint32_t n = 0;

	trees_begin(bench->trees, bench->subnet->fabric, bench->subnet->routing, groups, false,
		    bench->subnet->options->mc_spread_roots);
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++) {
		double begun = longest ? seconds() : 0;

		trees_follow(bench->trees, i, on_trouble, NULL, NULL);
		if (longest)
			*longest = MAX(*longest, seconds() - begun);
	}
	trees_end(bench->trees, changed);
	for (uint32_t i = 0; i < IBA_MFT_BLOCKS; i++)
		n += changed[i];
	return n;
}

static void publish(struct bench *bench, const char *what)
{
	struct mc_groups *groups = sa_store_publish(bench->store);
	g_autofree char *trees = g_strdup_printf("%s: trees", what);
	g_autofree char *list = g_strdup_printf("%s: publication", what);

	lap(bench, list);
	follow(bench, groups, NULL);
	lap(bench, trees);
	mc_groups_unref(bench->groups);
	bench->groups = groups;
	bench->since = seconds();
}

/* Switches and hosts as before with one cable less, and routes repaired from the earlier ones. */
static void lose_cable(struct bench *bench, const char *spec)
{
	struct subnet *before = bench->subnet, *now = make_subnet(spec, 0, 0);
	struct fabric *fabric = now->fabric;
	const struct route_input input = {.threads = 1};
	uint32_t cable = fabric_switch_port(fabric, fabric->n_switches - 1, 1);
	enum route_way way;

	while (fabric->ports[cable].peer == FABRIC_NONE ||
	       !fabric_is_switch(fabric, fabric->ports[fabric->ports[cable].peer].node))
		cable++;
	fabric->ports[fabric->ports[cable].peer].peer = FABRIC_NONE;
	fabric->ports[cable].peer = FABRIC_NONE;
	fabric->shape = before->fabric->shape;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		fabric->switches[sw].info.multicast_fdb_cap =
			before->fabric->switches[sw].info.multicast_fdb_cap;
	routing_unref(now->routing);
	now->routing =
		routing_renew(before->routing->engine, fabric, &input, before->routing, &way, NULL);
	bench->subnet = now;
}

static uint32_t count_other(const struct mc_trees *before, const struct trees *trees)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MC_N_MLIDS; i++)
		n += before->trees[i] != trees_get(trees, (uint16_t)(IBA_LID_MCAST_FIRST + i));
	return n;
}

/* A cable between switches is lost, and comes back. */
static void change_cable(struct bench *bench, const char *spec)
{
	struct subnet *whole = bench->subnet, *damaged = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		struct mc_trees *before = trees_publish(bench->trees);
		double longest = 0;
		uint32_t n;

		if (!i)
			lose_cable(bench, spec);
		else
			bench->subnet = whole;
		bench->since = seconds();
		n = follow(bench, bench->groups, &longest);
		lap(bench, i ? "the cable is back: trees" : "a cable is lost: trees");
		printf("%u trees grown in %u columns of 32, the longest at once %.3f ms\n",
		       count_other(before, bench->trees), n, longest * 1e3);
		mc_trees_unref(before);
		damaged = i ? damaged : bench->subnet;
	}
	subnet_unref(damaged);
}

static struct sa_group *make_group(struct bench *bench, uint64_t guid, uint64_t creator)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12601BFFFF0000), guid},
		.p_key = 0xFFFF,
		.mtu = IBA_MTU_4096,
		.rate = IBA_RATE_40,
	};
	struct sa_group *group = sa_store_create(bench->store, &record, 0, creator);

	if (!group) {
		printf("no MLID left\n");
		exit(1);
	}
	return group;
}

static void join_at_random(struct bench *bench, struct sa_group *group)
{
	sa_store_join(bench->store, group, bench->guids[make_number(&bench->state, bench->n_hosts)],
		      IBA_JOIN_FULL_MEMBER, false);
}

static void begin(struct bench *bench, const char *spec, const char *cap)
{
	struct fabric *fabric;

	*bench = (struct bench){.state = 1, .trees = trees_new(), .store = sa_store_new(0)};
	bench->subnet = make_subnet(spec, 0, 0);
	fabric = bench->subnet->fabric;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		fabric->switches[sw].info.multicast_fdb_cap =
			(uint16_t)(cap ? strtoul(cap, NULL, 0) : 0x4000);
	bench->guids = g_new(uint64_t, fabric->n_ports);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i) &&
		    !fabric_is_switch(fabric, fabric->ports[i].node))
			bench->guids[bench->n_hosts++] = fabric->ports[i].guid;
	bench->subnet->options->consolidate_ipv6_snm_req = true;
	bench->subnet->options->mc_spread_roots = getenv("SPREAD") != NULL;
	sa_store_follow(bench->store, bench->subnet, 0);
	printf("%u hosts, %u switches\n", bench->n_hosts, fabric->n_switches);
	bench->since = seconds();
	lap(bench, "before");
}

static struct sa_group *fill_at_random(struct bench *bench, uint32_t n, uint32_t members)
{
	struct sa_group *group = NULL;

	for (uint32_t i = 0; i < n; i++) {
		group = make_group(bench, i, 0);
		while (group->members->len < members)
			join_at_random(bench, group);
	}
	return group;
}

static struct sa_group *fill_snm(struct bench *bench, uint32_t n)
{
	struct sa_group *group = NULL;

	for (uint32_t i = 0; i < MIN(n, bench->n_hosts); i++) {
		group = make_group(bench, UINT64_C(0x1FF000000) | (bench->guids[i] & 0xFFFFFF),
				   bench->guids[i]);
		sa_store_join(bench->store, group, bench->guids[i], IBA_JOIN_FULL_MEMBER, false);
	}
	return group;
}

int main(int argc, char **argv)
{
	bool snm = argc > 1 && !strcmp(argv[1], "snm");
	struct sa_group *last;
	struct bench bench;
	uint64_t guid;

	if (argc < (snm ? 4 : 5)) {
		fprintf(stderr, "multicast random TOPOLOGY GROUPS MEMBERS [CAP]\n"
				"multicast snm TOPOLOGY HOSTS [CAP]\n");
		return 2;
	}
	begin(&bench, argv[2], argv[snm ? 4 : 5]);
	last = snm ? fill_snm(&bench, (uint32_t)strtoul(argv[3], NULL, 0))
		   : fill_at_random(&bench, (uint32_t)strtoul(argv[3], NULL, 0),
				    (uint32_t)strtoul(argv[4], NULL, 0));
	lap(&bench, "joins");
	publish(&bench, "all");
	count_tables(&bench);
	count_load(&bench);
	guid = bench.guids[bench.n_hosts - 1];
	bench.since = seconds();
	sa_store_join(bench.store, last, guid, IBA_JOIN_FULL_MEMBER, false);
	publish(&bench, "one join");
	sa_store_leave(bench.store, last, guid, IBA_JOIN_FULL_MEMBER);
	publish(&bench, "one leave");
	change_cable(&bench, argv[2]);
	mc_groups_unref(bench.groups);
	trees_free(bench.trees);
	sa_store_free(bench.store);
	subnet_unref(bench.subnet);
	g_free(bench.guids);
	return 0;
}
