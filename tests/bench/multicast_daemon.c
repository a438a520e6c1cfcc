// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Many multicast groups in the whole daemon, sm and sa, on the simulated fabric in virtual time:
 * MLIDs and blocks set, seconds of CPU and memory, both with those of the simulator; then what one
 * join and one leave take, with a packet sent to the group at each MAD, and a cable that is lost.
 *
 *	multicast_daemon random TOPOLOGY HOSTS GROUPS MEMBERS [OPTIONS]	members at random
 *	multicast_daemon snm TOPOLOGY HOSTS [OPTIONS]	hosts in their IPv6 solicited-node groups
 *
 * OPTIONS is text of opensm.conf.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "complib/random.h"
#include "subnet/trees.h"
#include "tests/scenario/client.h"

#define SA_KEY 1
#define PER_MAKER 1000 /* groups: an endport may create only so many */
#define MEMBERS_MAX 1024

struct bench {
	struct scenario *s;
	const struct counters *counters;
	unsigned int n_hosts;
	uint64_t *guids; /* of hosts */
	uint64_t state;
	struct iba_gid mgid; /* of the group that is measured: the last one */
	uint16_t mlid;
	uint64_t members[MEMBERS_MAX];
	unsigned int n;
	/* while a host joins or leaves: */
	bool probes;
	uint64_t newcomer, received_ns;
	unsigned int mads;
	char *lost;
	/* at the last lap: */
	double cpu;
	uint64_t begun_ns, blocks;
};

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double rss_mb(void)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) words = NULL;

	if (!g_file_get_contents("/proc/self/statm", &text, NULL, NULL))
		return 0;
	words = g_strsplit(text, " ", 3);
	return (double)atol(words[1]) * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static uint64_t blocks_set(const struct bench *bench)
{
	return counter_get(bench->counters, mft_blocks_set);
}

static void begin_lap(struct bench *bench)
{
	bench->cpu = cpu_s();
	bench->begun_ns = runtime_now(bench->s->rt);
	bench->blocks = blocks_set(bench);
}

static void lap(struct bench *bench, const char *what)
{
	printf("%-34s %9.3f s of CPU, %9.3f s virtual, %7" PRIu64 " MFT blocks set, RSS %6.0f MB\n",
	       what, cpu_s() - bench->cpu,
	       (double)(runtime_now(bench->s->rt) - bench->begun_ns) / (double)NS_PER_S,
	       blocks_set(bench) - bench->blocks, rss_mb());
	begin_lap(bench);
}

/* The other checks of a scenario take longer on large fabrics than all that is measured. */
static void wait_until_up(const struct bench *bench)
{
	const struct context *context = daemon_context(bench->s->daemon);
	unsigned int sweep;

	do {
		scenario_run_ms(bench->s, 100);
		sweep = atomic_load(&context->sweep);
	} while (!(sweep & SWEEP_FLAG_UP_BEFORE) || sweep & SWEEP_FLAG_RUNNING);
}

/* ---- hosts and groups ---- */

static struct client *client_of(struct bench *bench, unsigned int host)
{
	g_autofree char *name = g_strdup_printf("host-%u", host);
	struct client *client = client_new(bench->s, scenario_node(bench->s, name));

	client_trust(client, SA_KEY);
	return client;
}

static void find_hosts(struct bench *bench)
{
	bench->guids = g_new(uint64_t, bench->n_hosts);
	for (unsigned int i = 0; i < bench->n_hosts; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		bench->guids[i] = sim_port_guid(bench->s->sim, scenario_node(bench->s, name), 1);
	}
}

static void ask(struct bench *bench, struct client *client, uint8_t method, uint64_t guid)
{
	int status = client_member(client, method, bench->mgid, guid, &bench->mlid);

	if (!status)
		return;
	fprintf(stderr, "multicast_daemon: status 0x%x\n", status);
	exit(1);
}

static bool is_member(const struct bench *bench, uint64_t guid)
{
	for (unsigned int i = 0; i < bench->n; i++)
		if (bench->members[i] == guid)
			return true;
	return false;
}

static void fill_group(struct bench *bench, struct client *maker, unsigned int n)
{
	bench->n = 0;
	while (bench->n < n) {
		uint64_t guid = bench->guids[random_below(&bench->state, bench->n_hosts - 1)];

		if (is_member(bench, guid))
			continue;
		ask(bench, maker, IBA_METHOD_SET, guid);
		bench->members[bench->n++] = guid;
	}
}

static void fill_at_random(struct bench *bench, unsigned int n_groups, unsigned int n)
{
	struct client *maker = NULL;

	for (unsigned int i = 0; i < n_groups; i++) {
		if (i % PER_MAKER == 0) {
			g_clear_pointer(&maker, client_free);
			maker = client_of(bench, 1 + i / PER_MAKER);
		}
		bench->mgid = (struct iba_gid){UINT64_C(0xFF15A01C00000000), i + 1};
		fill_group(bench, maker, n);
	}
	g_clear_pointer(&maker, client_free);
}

static void fill_snm(struct bench *bench, unsigned int n)
{
	for (unsigned int i = 1; i <= n; i++) {
		struct client *client = client_of(bench, i % bench->n_hosts);
		uint64_t guid = bench->guids[i % bench->n_hosts];

		client_join_broadcast(client, &bench->mlid);
		bench->mgid = (struct iba_gid){UINT64_C(0xFF12601BFFFF0000),
					       UINT64_C(0x1FF000000) | (guid >> 8 & 0xFFFFFF)};
		ask(bench, client, IBA_METHOD_SET, guid);
		bench->members[0] = guid;
		bench->n = 1;
		client_free(client);
	}
}

static void tell_groups(const struct bench *bench)
{
	struct mc_groups *groups = slot_take(&daemon_context(bench->s->daemon)->groups);
	struct mc_cursor cursor = {0};
	const struct mc_group *group;
	uint32_t mlids = 0, members = 0;
	uint16_t last = 0;

	while ((group = mc_groups_next(groups, &cursor))) {
		mlids += group->mlid != last;
		members += group->n_ports;
		last = group->mlid;
	}
	printf("%u groups with %u members on %u MLIDs\n", groups->n, members, mlids);
	mc_groups_unref(groups);
}

/* ---- one join, one leave ---- */

/* A packet to the group at each MAD: those that were members before get it. */
static void on_mad(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		   const uint8_t *data, size_t length)
{
	struct bench *bench = arg;
	uint64_t both[] = {bench->members[0], bench->newcomer};
	g_autofree char *lost = NULL;

	(void)to;
	(void)from;
	(void)data;
	(void)length;
	bench->mads++;
	if (!bench->probes)
		return;
	if (!bench->lost)
		bench->lost = scenario_tree_loss(bench->s, bench->mlid, bench->members, bench->n);
	if (bench->received_ns)
		return;
	lost = scenario_tree_loss(bench->s, bench->mlid, both, 2);
	bench->received_ns = lost ? 0 : now_ns;
}

static void change(struct bench *bench, struct client *client, uint8_t method, bool probes)
{
	const char *what = method == IBA_METHOD_SET ? "one join" : "one leave";

	bench->newcomer = client_guid(client);
	bench->received_ns = 0;
	bench->mads = 0;
	bench->probes = probes;
	begin_lap(bench);
	ask(bench, client, method, bench->newcomer);
	scenario_run_ms(bench->s, 100);
	if (!probes) {
		lap(bench, what);
		return;
	}
	printf("%s with probes: %u MADs, others %s", what, bench->mads,
	       bench->lost ? bench->lost : "lost nothing");
	if (method == IBA_METHOD_SET)
		printf(", it receives after %.3f ms",
		       (double)(bench->received_ns - bench->begun_ns) / (double)NS_PER_MS);
	printf("\n");
}

static void expect_no_loss(const struct bench *bench)
{
	g_autofree char *lost = scenario_tree_loss(bench->s, bench->mlid, bench->members, bench->n);

	if (!lost)
		return;
	printf("%s\n", lost);
	exit(1);
}

static void join_and_leave(struct bench *bench)
{
	struct client *client = client_of(bench, bench->n_hosts - 1);

	sim_set_trace(bench->s->sim, on_mad, bench);
	for (unsigned int i = 0; i < 4; i++)
		change(bench, client, i % 2 ? IBA_METHOD_DELETE : IBA_METHOD_SET, i >= 2);
	sim_set_trace(bench->s->sim, NULL, NULL);
	client_free(client);
	expect_no_loss(bench);
}

/* ---- a cable ---- */

/* One in the last group's tree, from a switch to the one above it. */
static void find_cable(const struct bench *bench, unsigned int *node, unsigned int *port)
{
	struct mc_trees *trees = slot_take(&daemon_context(bench->s->daemon)->trees);
	const struct route_tree *tree = trees->trees[bench->mlid - IBA_LID_MCAST_FIRST];
	const struct fabric *fabric = trees->fabric;
	uint32_t i = 0;

	while (!tree->up[i])
		i++;
	*port = tree->up[i];
	*node = (unsigned int)sim_find_guid(
		bench->s->sim, fabric->nodes[fabric->switches[tree->switches[i]].node].guid);
	mc_trees_unref(trees);
}

static void change_cable(struct bench *bench)
{
	unsigned int node, port;

	find_cable(bench, &node, &port);
	for (unsigned int up = 0; up < 2; up++) {
		begin_lap(bench);
		sim_link_set(bench->s->sim, node, port, up);
		scenario_run_ms(bench->s, 10000);
		lap(bench, up ? "it is back" : "a cable between switches is lost");
		expect_no_loss(bench);
	}
}

/* As many MLIDs as the standard has. */
static void make_room(struct scenario *s)
{
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		if (view.type == IBA_NODE_SWITCH)
			sim_set_multicast_fdb_cap(s->sim, i, 0x4000);
	}
}

static void usage(void)
{
	fprintf(stderr, "multicast_daemon random TOPOLOGY HOSTS GROUPS MEMBERS [OPTIONS]\n"
			"multicast_daemon snm TOPOLOGY HOSTS [OPTIONS]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	bool snm = argc > 1 && !strcmp(argv[1], "snm");
	int options = snm ? 4 : 6;
	struct bench bench = {.state = 1};

	if (argc < options || (!snm && atoi(argv[5]) > MEMBERS_MAX))
		usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	bench.s = scenario_new(argv[2], 1);
	make_room(bench.s);
	bench.n_hosts = (unsigned int)atoi(argv[3]);
	bench.s->sm_guid = sim_port_guid(bench.s->sim, scenario_node(bench.s, "host-0"), 1);
	scenario_conf(bench.s, argc > options ? argv[options] : "");
	scenario_start(bench.s);
	bench.counters = &daemon_context(bench.s->daemon)->counters;
	begin_lap(&bench);
	wait_until_up(&bench);
	find_hosts(&bench);
	lap(&bench, "bring-up");
	if (snm)
		fill_snm(&bench, bench.n_hosts);
	else
		fill_at_random(&bench, (unsigned int)atoi(argv[4]), (unsigned int)atoi(argv[5]));
	scenario_run_ms(bench.s, 30000);
	lap(&bench, "joins");
	tell_groups(&bench);
	join_and_leave(&bench);
	change_cable(&bench);
	g_free(bench.lost);
	g_free(bench.guids);
	scenario_free(bench.s);
	return 0;
}
