// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tree of the Scalable SA on the loopback: a core, two distribution and four access nodes, each
 * with a Redis server, and consumers below them. How long after an epoch has been published the
 * last of them has it; how long after its parent was killed a consumer has the next one; and kills
 * of servers at random moments, after which all have the last epoch, and none has ever gone back.
 *
 *	ssa_tree [CONSUMERS [KILLS [SEED]]]
 */
#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ssa/node/follow.h"
#include "ssa/node/node.h"
#include "ssa/tree/member.h"
#include "tests/unit/node_bed.h"
#include "tests/unit/redis_server.h"

#define SERVERS 7
#define PATIENCE_MS 60000
#define EPOCHS 10
#define SPARE_US (11 * G_USEC_PER_SEC) /* by then all are connected to their backup, too */

struct consumer {
	struct drill *drill;
	struct ssa_reporter *reporter;
	struct ssa_follow *follow;
	_Atomic(struct ssa_member *) member;
	atomic_uint_fast64_t epoch;
	atomic_int_fast64_t taken_us;
};

struct drill {
	struct node_bed bed;
	struct redis_server *servers[SERVERS];
	struct ssa_settings *settings[SERVERS];
	struct ssa_node *nodes[SERVERS];
	struct ssa_members *members;
	GPtrArray *cores;
	struct consumer *consumers;
	unsigned int n;
	uint64_t epoch;
	atomic_uint backwards;
};

/* ---- nodes ---- */

static void start_node(struct drill *drill, unsigned int i, const char *role)
{
	g_autofree char *text = NULL;
	GError *error = NULL;

	if (i == 0)
		text = g_strdup_printf(
			"role core\nannounce FALSE\nstore %s\nserver redis://127.0.0.1:%u\n"
			"node_guid 0xC0\n",
			drill->bed.uri, drill->servers[0]->port);
	else
		text = g_strdup_printf("role %s\nserver redis://127.0.0.1:%u\n"
				       "core redis://127.0.0.1:%u\nnode_guid %x\n",
				       role, drill->servers[i]->port, drill->servers[0]->port,
				       0x100 + i);
	drill->settings[i] = ssa_settings_parse("drill", text, strlen(text), &error);
	ck_assert_msg(drill->settings[i] != NULL, "%s", error ? error->message : "");
	drill->nodes[i] = ssa_node_start(drill->settings[i], &error);
	ck_assert_msg(drill->nodes[i] != NULL, "%s", error ? error->message : "");
}

static void start_tree(struct drill *drill)
{
	static const char *const roles[SERVERS] = {
		"core", "distribution", "distribution", "access", "access", "access", "access"};

	for (unsigned int i = 0; i < SERVERS; i++)
		drill->servers[i] = redis_server_start(0, NULL);
	for (unsigned int i = 0; i < SERVERS; i++) {
		start_node(drill, i, roles[i]);
		/* Layers come up from above, so that none has to be moved. */
		g_usleep(i == 0 || i == 2 ? 1500000 : 0);
	}
	g_usleep(1500000);
}

/* ---- consumers ---- */

static void on_taken(void *arg, const struct ssa_snapshot *snapshot)
{
	struct consumer *consumer = arg;

	if (snapshot->epoch < atomic_load(&consumer->epoch))
		atomic_fetch_add(&consumer->drill->backwards, 1);
	atomic_store(&consumer->taken_us, g_get_monotonic_time());
	atomic_store(&consumer->epoch, snapshot->epoch);
}

static void on_changed(void *arg, bool at_once)
{
	struct consumer *consumer = arg;
	struct ssa_member *member = atomic_load(&consumer->member);

	if (member)
		ssa_member_changed(member, at_once);
}

static void on_parents(void *arg, const char *primary, const char *backup)
{
	ssa_follow_parents(((struct consumer *)arg)->follow, primary, backup);
}

static void start_consumers(struct drill *drill)
{
	const struct ssa_members_config members = {
		.prefix = SSA_TABLES_PREFIX,
		.cores = drill->cores,
		.options = {.timeout_ms = 2000, .more = &ssa_store_redis}};

	drill->consumers = g_new0(struct consumer, drill->n);
	drill->members = ssa_members_new(&members);
	for (unsigned int i = 0; i < drill->n; i++) {
		struct consumer *consumer = &drill->consumers[i];
		struct ssa_follow_config config = {
			.agent = {.prefix = SSA_TABLES_PREFIX,
				  .wanted = {.guids = {ssa_tables_guid(i % 96)}}},
			.options = members.options,
			.taken = on_taken,
			.arg = consumer};

		consumer->drill = drill;
		consumer->reporter = ssa_reporter_new(on_changed, consumer);
		config.reporter = consumer->reporter;
		consumer->follow = ssa_follow_start(&config);
		atomic_store(&consumer->member,
			     ssa_members_add(drill->members, 0x10000 + i, SSA_ROLE_AGENT, NULL,
					     consumer->reporter, on_parents, consumer));
	}
	ssa_members_start(drill->members);
}

static unsigned int behind(const struct drill *drill)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < drill->n; i++)
		n += atomic_load(&drill->consumers[i].epoch) != drill->epoch;
	return n;
}

static void publish(struct drill *drill)
{
	node_bed_change(&drill->bed, SSA_PATHS, g_random_int_range(0, 12));
	node_bed_publish(&drill->bed, drill->bed.uri, 5, ++drill->epoch);
}

/* Milliseconds from the publication to the last consumer. */
static double wait_for_all(struct drill *drill, int64_t begun_us)
{
	int64_t last_us = 0;

	if (!node_bed_wait_ms(behind(drill) == 0, PATIENCE_MS)) {
		fprintf(stderr, "%u of %u consumers do not have epoch %" G_GUINT64_FORMAT "\n",
			behind(drill), drill->n, drill->epoch);
		exit(EXIT_FAILURE);
	}
	for (unsigned int i = 0; i < drill->n; i++)
		last_us = MAX(last_us, atomic_load(&drill->consumers[i].taken_us));
	return (double)(last_us - begun_us) / 1000;
}

/* ---- drills ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* CPU milliseconds of this process, which is all but the servers. */
static double cpu_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

static void drill_epochs(struct drill *drill)
{
	double ms[EPOCHS], cpu = cpu_ms();

	for (unsigned int i = 0; i < EPOCHS; i++) {
		int64_t begun_us;

		publish(drill);
		begun_us = g_get_monotonic_time();
		ms[i] = wait_for_all(drill, begun_us);
	}
	qsort(ms, EPOCHS, sizeof(ms[0]), by_value);
	printf("published to the last of %u consumers: median %.0f ms, worst %.0f ms; CPU of all "
	       "consumers %.0f ms an epoch\n",
	       drill->n, ms[EPOCHS / 2], ms[EPOCHS - 1], (cpu_ms() - cpu) / EPOCHS);
}

/* The consumers of the killed parent are those that change it. */
static void drill_loss(struct drill *drill, unsigned int server)
{
	struct ssa_report report;
	g_autofree uint64_t *before = g_new0(uint64_t, drill->n);
	g_autofree double *ms = g_new0(double, drill->n);
	unsigned int n = 0;
	int64_t killed_us;

	for (unsigned int i = 0; i < drill->n; i++) {
		ssa_reporter_read(drill->consumers[i].reporter, &report);
		before[i] = report.switches;
	}
	killed_us = g_get_monotonic_time();
	redis_server_kill(drill->servers[server]);
	g_usleep(3000000);
	for (unsigned int i = 0; i < drill->n; i++) {
		ssa_reporter_read(drill->consumers[i].reporter, &report);
		if (report.switches != before[i])
			ms[n++] = (double)(report.settled_us - killed_us) / 1000;
	}
	qsort(ms, n, sizeof(ms[0]), by_value);
	if (n)
		printf("parent killed: %u consumers have read from another after: median %.0f ms, "
		       "worst %.0f ms\n",
		       n, ms[n / 2], ms[n - 1]);
	publish(drill);
	printf("next epoch: %.0f ms\n", wait_for_all(drill, g_get_monotonic_time()));
	redis_server_restart(drill->servers[server], NULL);
}

static void drill_kills(struct drill *drill, unsigned int kills, GRand *random)
{
	int64_t begun_us = g_get_monotonic_time();

	for (unsigned int i = 0; i < kills; i++) {
		unsigned int server = (unsigned int)g_rand_int_range(random, 0, SERVERS);

		publish(drill);
		g_usleep((gulong)g_rand_int_range(random, 0, 100000));
		redis_server_kill(drill->servers[server]);
		g_usleep((gulong)g_rand_int_range(random, 0, 300000));
		publish(drill);
		redis_server_restart(drill->servers[server], NULL);
		g_usleep((gulong)g_rand_int_range(random, 0, 300000));
	}
	publish(drill);
	printf("%u kills, one each %.0f ms; then all have the last epoch after %.0f ms\n", kills,
	       (double)(g_get_monotonic_time() - begun_us) / 1000 / MAX(kills, 1),
	       wait_for_all(drill, g_get_monotonic_time()));
}

/* ---- life ---- */

static void stop(struct drill *drill)
{
	ssa_members_stop(drill->members);
	for (unsigned int i = 0; i < drill->n; i++)
		ssa_follow_stop(drill->consumers[i].follow);
	ssa_members_free(drill->members);
	for (unsigned int i = 0; i < drill->n; i++)
		ssa_reporter_free(drill->consumers[i].reporter);
	for (unsigned int i = SERVERS; i-- > 0;) {
		ssa_node_stop(drill->nodes[i]);
		ssa_settings_free(drill->settings[i]);
		redis_server_free(drill->servers[i]);
	}
	g_ptr_array_unref(drill->cores);
	g_free(drill->consumers);
	node_bed_end(&drill->bed);
}

/* A consumer has about ten descriptors. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	struct drill drill = {.n = argc > 1 ? (unsigned int)atoi(argv[1]) : 1000};
	unsigned int kills = argc > 2 ? (unsigned int)atoi(argv[2]) : 200;
	unsigned int seed = argc > 3 ? (unsigned int)atoi(argv[3]) : 1;
	GRand *random = g_rand_new_with_seed(seed);

	if (!redis_server_installed())
		return 77;
	setvbuf(stdout, NULL, _IOLBF, 0);
	allow_descriptors();
	signal(SIGPIPE, SIG_IGN);
	node_bed_begin(&drill.bed, NULL);
	start_tree(&drill);
	drill.cores = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(drill.cores,
			g_strdup_printf("redis://127.0.0.1:%u", drill.servers[0]->port));
	publish(&drill);
	start_consumers(&drill);
	printf("%u consumers have the first epoch after %.0f ms\n", drill.n,
	       wait_for_all(&drill, g_get_monotonic_time()));
	drill_epochs(&drill);
	g_usleep(SPARE_US);
	drill_loss(&drill, 4);
	g_usleep(SPARE_US);
	drill_loss(&drill, 1);
	drill_kills(&drill, kills, random);
	printf("seed %u, epochs that went back: %u\n", seed, atomic_load(&drill.backwards));
	g_rand_free(random);
	stop(&drill);
	return atomic_load(&drill.backwards) ? EXIT_FAILURE : EXIT_SUCCESS;
}
