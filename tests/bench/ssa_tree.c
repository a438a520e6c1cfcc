// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tree of the Scalable SA on the loopback: a core, which is the program opensm-ssa, two
 * distribution and four access nodes, each with a Redis server, and consumers below them. How long
 * after an epoch has been published the last of them has it; how long after its parent is lost a
 * consumer reads from another one: killed, hung, or not reached by its children while the core
 * reaches it; what children that do not read cost the others; and kills of servers, and of the
 * core's program, at random moments.
 *
 * In the end all have the last epoch. None has ever gone back, and none counts an epoch as current
 * for longer than a pulse of the core takes after another one has come.
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
#include <sys/wait.h>

#include "ssa/node/follow.h"
#include "ssa/node/node.h"
#include "ssa/tree/member.h"
#include "ssa/wire/alive.h"
#include "tests/bench/relay.h"
#include "tests/unit/node_bed.h"
#include "tests/unit/redis_server.h"

#define SERVERS 7
#define RELAYED 4 /* an access server that its children reach by a relay */
#define IDLERS 20
#define PATIENCE_MS 60000
#define EPOCHS 10
#define TERM 5
#define PULSE_US (G_USEC_PER_SEC)
/* A pulse that was sent before may be passed on, and read, one look later each. */
#define OVERTIME_US (2 * SSA_ALIVE_S * G_USEC_PER_SEC)
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
	struct ssa_node *nodes[SERVERS]; /* the core's is a program of its own */
	struct relay *relay;
	char *core_file;
	GPid core;
	struct ssa_members *members;
	GPtrArray *cores;
	struct consumer *consumers;
	unsigned int n;
	uint64_t epoch;
	atomic_uint_fast64_t pulse; /* the epoch that is published: the daemon says so */
	atomic_bool stop;
	pthread_t daemon;
	GArray *published; /* int64_t, UNIX time in microseconds, by epoch */
	int64_t overtime_us;
	atomic_uint backwards;
};

/* ---- nodes ---- */

static void start_core(struct drill *drill)
{
	const char *top = getenv("top_builddir");
	g_autofree char *path =
		g_build_filename(top ? top : ".", "opensm", "ssa", "node", "opensm-ssa", NULL);
	char *argv[] = {path, (char *)"-c", drill->core_file, NULL};
	GError *error = NULL;

	if (!g_spawn_async(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &drill->core,
			   &error)) {
		fprintf(stderr, "%s\n", error->message);
		exit(EXIT_FAILURE);
	}
}

static void kill_core(struct drill *drill)
{
	kill(drill->core, SIGKILL);
	waitpid(drill->core, NULL, 0);
}

static void configure_core(struct drill *drill)
{
	g_autofree char *text = g_strdup_printf(
		"role core\nannounce FALSE\nstore %s\nserver redis://127.0.0.1:%u\n"
		"node_guid 0xC0\n",
		drill->bed.uri, drill->servers[0]->port);

	drill->core_file = g_build_filename(drill->bed.directory, "core.conf", NULL);
	ck_assert(g_file_set_contents(drill->core_file, text, -1, NULL));
}

static void start_node(struct drill *drill, unsigned int i, const char *role)
{
	uint16_t port = i == RELAYED ? relay_port(drill->relay) : drill->servers[i]->port;
	g_autofree char *text = g_strdup_printf(
		"role %s\nserver redis://127.0.0.1:%u\naddress 127.0.0.1:%u\n"
		"core redis://127.0.0.1:%u\nnode_guid %x\n",
		role, drill->servers[i]->port, port, drill->servers[0]->port, 0x100 + i);
	GError *error = NULL;

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
	drill->relay = relay_start(drill->servers[RELAYED]->port);
	configure_core(drill);
	start_core(drill);
	for (unsigned int i = 1; i < SERVERS; i++) {
		/* Layers come up from above, so that none has to be moved. */
		g_usleep(i == 1 || i == 3 ? 1500000 : 0);
		start_node(drill, i, roles[i]);
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
	int64_t now_us = g_get_real_time();

	g_array_append_val(drill->published, now_us);
	node_bed_change(&drill->bed, SSA_PATHS, g_random_int_range(0, 12));
	node_bed_publish(&drill->bed, drill->bed.uri, TERM, ++drill->epoch);
	atomic_store(&drill->pulse, drill->epoch);
}

/* As the daemon does, but more often. */
static void *run_daemon(void *arg)
{
	struct drill *drill = arg;
	struct ssa_store *store = node_bed_store(drill->bed.uri, true);

	while (!atomic_load(&drill->stop)) {
		const struct ssa_alive alive = {TERM, atomic_load(&drill->pulse),
						(uint64_t)g_get_real_time()};
		g_autofree char *text = ssa_alive_text(&alive, SSA_TABLES_PREFIX, NULL);

		if (alive.epoch)
			ck_assert(ssa_store_set_pulse(store, text, NULL));
		g_usleep(PULSE_US);
	}
	ssa_store_close(store);
	return NULL;
}

/* For how long a consumer has counted an epoch as current that was not any more. */
static void look_at_ages(struct drill *drill)
{
	for (unsigned int i = 0; i < drill->n; i++) {
		struct ssa_report report;

		ssa_reporter_read(drill->consumers[i].reporter, &report);
		if (report.epoch && report.epoch < drill->epoch)
			drill->overtime_us =
				MAX(drill->overtime_us,
				    report.confirmed_us -
					    g_array_index(drill->published, int64_t, report.epoch));
	}
}

/* Milliseconds from the publication to the last consumer. */
static double wait_for_all(struct drill *drill, int64_t begun_us)
{
	int64_t last_us = 0;

	if (!node_bed_wait_ms((look_at_ages(drill), behind(drill) == 0), PATIENCE_MS)) {
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

/* The consumers of that server, which is lost now, read from another one, and then all have it. */
static void leave(struct drill *drill, const char *what, const uint64_t *before, int64_t lost_us)
{
	g_autofree double *ms = g_new0(double, drill->n);
	unsigned int n = 0;
	double all;

	publish(drill);
	all = wait_for_all(drill, lost_us);
	for (unsigned int i = 0; i < drill->n; i++) {
		struct ssa_report report;

		ssa_reporter_read(drill->consumers[i].reporter, &report);
		if (report.switches != before[i])
			ms[n++] = (double)(report.settled_us - lost_us) / 1000;
	}
	qsort(ms, n, sizeof(ms[0]), by_value);
	printf("%s: all have the next epoch after %.0f ms", what, all);
	if (n)
		printf("; %u consumers have read from another server after: median %.0f ms, worst "
		       "%.0f ms",
		       n, ms[n / 2], ms[n - 1]);
	printf("\n");
}

static uint64_t *switches_of_all(const struct drill *drill)
{
	uint64_t *switches = g_new0(uint64_t, drill->n);

	for (unsigned int i = 0; i < drill->n; i++) {
		struct ssa_report report;

		ssa_reporter_read(drill->consumers[i].reporter, &report);
		switches[i] = report.switches;
	}
	return switches;
}

static void drill_killed(struct drill *drill, const char *what, unsigned int server)
{
	g_autofree uint64_t *before = NULL;
	int64_t lost_us;

	g_usleep(SPARE_US);
	before = switches_of_all(drill);
	lost_us = g_get_monotonic_time();
	redis_server_kill(drill->servers[server]);
	leave(drill, what, before, lost_us);
	redis_server_restart(drill->servers[server], NULL);
}

static void drill_hung(struct drill *drill, unsigned int server)
{
	g_autofree uint64_t *before = NULL;
	int64_t lost_us;

	g_usleep(SPARE_US);
	before = switches_of_all(drill);
	lost_us = g_get_monotonic_time();
	kill(drill->servers[server]->pid, SIGSTOP);
	leave(drill, "an access server hangs", before, lost_us);
	kill(drill->servers[server]->pid, SIGCONT);
}

/* The core gives it children until these say that it is bad. */
static void drill_partition(struct drill *drill)
{
	g_autofree uint64_t *before = NULL;
	int64_t lost_us;

	g_usleep(SPARE_US);
	before = switches_of_all(drill);
	lost_us = g_get_monotonic_time();
	relay_cut(drill->relay, true);
	leave(drill, "an access server is not reached by its children", before, lost_us);
	publish(drill);
	printf("meanwhile the next epoch: %.0f ms\n", wait_for_all(drill, g_get_monotonic_time()));
	relay_cut(drill->relay, false);
}

/* Children that ask for much and read nothing: as hosts, and as the server below a server. */
static void drill_slow(struct drill *drill)
{
	g_autofree char *manifest = g_strdup_printf(
		"GET opensm:ssa:%016" G_GINT64_MODIFIER "x:manifest\r\n", SSA_TABLES_PREFIX);
	g_autofree char *epoch = g_strdup_printf(
		"SUBSCRIBE opensm:ssa:%016" G_GINT64_MODIFIER "x:epoch\r\n", SSA_TABLES_PREFIX);
	g_autoptr(GString) many = g_string_new(NULL);
	const char *lines[] = {NULL, epoch, "SYNC\r\n"};
	int fds[IDLERS];

	for (unsigned int i = 0; i < 1000; i++)
		g_string_append(many, manifest);
	lines[0] = many->str;
	for (unsigned int i = 0; i < IDLERS; i++)
		fds[i] = redis_server_tell(drill->servers[i % SERVERS]->port, lines[i % 3]);
	printf("with %u children that do not read: ", IDLERS);
	drill_epochs(drill);
	for (unsigned int i = 0; i < IDLERS; i++)
		close(fds[i]);
}

static void drill_core(struct drill *drill, unsigned int kills, GRand *random)
{
	for (unsigned int i = 0; i < kills; i++) {
		publish(drill);
		g_usleep((gulong)g_rand_int_range(random, 0, 100000));
		kill_core(drill);
		publish(drill);
		g_usleep((gulong)g_rand_int_range(random, 0, 300000));
		start_core(drill);
		g_usleep((gulong)g_rand_int_range(random, 0, 300000));
	}
	publish(drill);
	printf("%u kills of the core's program; then all have the last epoch after %.0f ms\n",
	       kills, wait_for_all(drill, g_get_monotonic_time()));
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
	atomic_store(&drill->stop, true);
	pthread_join(drill->daemon, NULL);
	kill_core(drill);
	for (unsigned int i = SERVERS; i-- > 1;) {
		ssa_node_stop(drill->nodes[i]);
		ssa_settings_free(drill->settings[i]);
	}
	relay_stop(drill->relay);
	for (unsigned int i = 0; i < SERVERS; i++)
		redis_server_free(drill->servers[i]);
	g_array_unref(drill->published);
	g_free(drill->core_file);
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
	bool good;

	if (!redis_server_installed())
		return 77;
	setvbuf(stdout, NULL, _IOLBF, 0);
	allow_descriptors();
	signal(SIGPIPE, SIG_IGN);
	node_bed_begin(&drill.bed, NULL);
	drill.published = g_array_new(FALSE, FALSE, sizeof(int64_t));
	start_tree(&drill);
	ck_assert_int_eq(pthread_create(&drill.daemon, NULL, run_daemon, &drill), 0);
	drill.cores = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(drill.cores,
			g_strdup_printf("redis://127.0.0.1:%u", drill.servers[0]->port));
	publish(&drill);
	start_consumers(&drill);
	printf("%u consumers have the first epoch after %.0f ms\n", drill.n,
	       wait_for_all(&drill, g_get_monotonic_time()));
	drill_epochs(&drill);
	drill_slow(&drill);
	drill_partition(&drill);
	drill_killed(&drill, "an access server is killed", RELAYED + 1);
	drill_killed(&drill, "a distribution server is killed", 1);
	drill_hung(&drill, RELAYED + 2);
	drill_core(&drill, kills / 2, random);
	drill_kills(&drill, kills, random);
	printf("seed %u, epochs that went back: %u, counted as current for %.1f s too long\n", seed,
	       atomic_load(&drill.backwards), (double)drill.overtime_us / 1000000);
	g_rand_free(random);
	good = !atomic_load(&drill.backwards) && drill.overtime_us <= OVERTIME_US;
	stop(&drill);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
