// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The daemon on its threads, and on one loop: links flap while clients ask the SA, for two seconds
 * or as many more as a busy machine takes for some answers; then the fabric must be right, though
 * the disk hangs. And a trap that arrives while the threads start. Made for ThreadSanitizer.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "scenario.h"
#include "tests/run_suite.h"

#define CLIENTS 4
#define ANSWERS 100
#define FLAP_MS 2000
#define CALM_MS 60000
#define ASK_TIMEOUT_MS 200

/* Asks for paths for as long as it lives; all on its actor. */
struct asker {
	struct message message; /* the first request */
	struct actor *actor;
	struct vendor *vendor;
	struct vendor_address sa;
	struct iba_gid from, to;
	uint32_t tid;
	atomic_uint answered, lost, refused;
};

static void ask(struct asker *asker)
{
	struct iba_path_record path = {.sgid = asker->from, .dgid = asker->to, .numb_path = 1};
	struct iba_sa_mad mad = {
		.header =
			{
				.base_version = IBA_BASE_VERSION,
				.mgmt_class = IBA_CLASS_SUBN_ADM,
				.class_version = IBA_SA_CLASS_VERSION,
				.method = IBA_METHOD_GET,
				.attribute_id = IBA_ATTR_PATH_RECORD,
				.transaction_id = ++asker->tid,
			},
		.rmpp.rmpp_version = 1,
		.sa.component_mask = IBA_COMPONENT(path_record, sgid) |
				     IBA_COMPONENT(path_record, dgid) |
				     IBA_COMPONENT(path_record, numb_path),
	};
	uint8_t wire[IBA_MAD_BYTES];

	wire_encode(&iba_path_record_type, &path, mad.data);
	wire_encode(&iba_sa_mad_type, &mad, wire);
	vendor_send(asker->vendor, &asker->sa, wire, sizeof(wire), ASK_TIMEOUT_MS);
}

static void on_answer(void *arg, struct vendor_mad *mad)
{
	struct asker *asker = arg;
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, mad->data, &header);
	if (mad->status != VENDOR_RECEIVED)
		asker->lost++;
	else if (header.status)
		asker->refused++;
	else
		asker->answered++;
	vendor_mad_free(mad);
	ask(asker);
}

static void run_first(struct message *message)
{
	ask((struct asker *)message);
}

static void drop_first(struct message *message)
{
	(void)message;
}

static void asker_start(struct scenario *s, struct asker *asker, unsigned int node, unsigned int to)
{
	struct vendor_client client = {.arg = asker, .receive = on_answer};

	asker->actor = client.actor = actor_new(s->rt, "asker");
	asker->vendor = sim_open(s->sim, sim_port_guid(s->sim, node, 1), NULL);
	g_assert(vendor_bind(asker->vendor, IBA_CLASS_SUBN_ADM, false, &client, NULL));
	asker->from = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, sim_port_guid(s->sim, node, 1)};
	asker->to = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, sim_port_guid(s->sim, to, 1)};
	asker->message.run = run_first;
	asker->message.drop = drop_first;
	actor_start(asker->actor);
	actor_post(asker->actor, &asker->message);
}

static void asker_stop(struct asker *asker)
{
	actor_stop(asker->actor);
	vendor_close(asker->vendor);
	actor_free(asker->actor);
}

/* ---- calls on the thread of the fabric ---- */

struct look {
	struct scenario *s;
	char *wrong;
	struct asker *askers;
	unsigned int hosts[CLIENTS + 1], node, port;
	bool up;
};

static void look_violation(struct sim *sim, void *arg)
{
	struct look *look = arg;

	(void)sim;
	g_free(look->wrong);
	look->wrong = scenario_violation(look->s);
}

static void look_choose(struct sim *sim, void *arg)
{
	struct look *look = arg;
	const struct iba_port_info *info;

	for (unsigned int i = 0; i <= CLIENTS; i++)
		look->hosts[i] = scenario_random_host(look->s);
	for (unsigned int i = 0; i < CLIENTS; i++) {
		info = sim_port_info(sim, look->hosts[i], 1);
		look->askers[i].sa = (struct vendor_address){
			.lid = info->master_sm_lid, .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
	}
	scenario_random_link(look->s, &look->node, &look->port);
}

static void look_flap(struct sim *sim, void *arg)
{
	struct look *look = arg;

	sim_link_set(sim, look->node, look->port, look->up);
	if (look->up)
		scenario_random_link(look->s, &look->node, &look->port);
}

/* Real time passes; the loop runs for the actors on it. */
static void pass_ms(unsigned int ms)
{
	gint64 end = g_get_monotonic_time() + ms * 1000;

	while (g_get_monotonic_time() < end)
		if (!g_main_context_iteration(NULL, FALSE))
			usleep(500);
}

static void wait_until_good(struct look *look, unsigned int ms)
{
	gint64 end = g_get_monotonic_time() + ms * 1000;

	do {
		pass_ms(50);
		sim_call(look->s->sim, look_violation, look);
	} while (look->wrong && g_get_monotonic_time() < end);
	if (look->wrong)
		scenario_fail(look->s, "not right after %u ms: %s", ms, look->wrong);
}

static void flap(struct look *look)
{
	for (unsigned int i = 0; i < FLAP_MS / 40; i++) {
		look->up = i % 2;
		sim_call(look->s->sim, look_flap, look);
		pass_ms(40);
	}
	look->up = true;
	sim_call(look->s->sim, look_flap, look);
}

static unsigned int answered(const struct asker *askers)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < CLIENTS; i++)
		n += askers[i].answered;
	return n;
}

static void wait_for_answers(const struct asker *askers, unsigned int n, unsigned int ms)
{
	gint64 end = g_get_monotonic_time() + ms * 1000;

	while (answered(askers) < n && g_get_monotonic_time() < end)
		pass_ms(50);
}

/* ---- a disk that hangs ---- */

/* Occupies the pool for files like a write that does not return, until released. */
struct hang {
	struct message message;
	pthread_mutex_t held;
	atomic_bool there;
};

static void run_hang(struct message *message)
{
	struct hang *hang = (struct hang *)message;

	hang->there = true;
	pthread_mutex_lock(&hang->held);
	pthread_mutex_unlock(&hang->held);
}

static void hang_begin(struct scenario *s, struct hang *hang)
{
	hang->message.run = run_hang;
	pthread_mutex_init(&hang->held, NULL);
	pthread_mutex_lock(&hang->held);
	pool_post(daemon_context(s->daemon)->files, &hang->message);
	while (!hang->there)
		usleep(500);
}

/* ---- all at once ---- */

static void run(bool single_thread)
{
	struct asker askers[CLIENTS] = {0};
	struct look look = {.askers = askers};
	struct hang hang = {.there = false};
	struct sim_config config;
	struct scenario *s;

	scenario_config_default(&config, 1);
	s = look.s = scenario_new_with("fattree:4", &config, RUNTIME_REAL);
	if (single_thread)
		scenario_option(s, "-d", "1");
	scenario_start(s);
	wait_until_good(&look, CALM_MS);
	sim_call(s->sim, look_choose, &look);
	for (unsigned int i = 0; i < CLIENTS; i++)
		asker_start(s, &askers[i], look.hosts[i], look.hosts[i + 1]);
	hang_begin(s, &hang);
	flap(&look);
	wait_until_good(&look, CALM_MS);
	wait_for_answers(askers, ANSWERS, CALM_MS);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	pass_ms(100);
	pthread_mutex_unlock(&hang.held);
	/* The daemon ends first, the clients after it. */
	scenario_stop(s);
	for (unsigned int i = 0; i < CLIENTS; i++)
		asker_stop(&askers[i]);
	scenario_expect(s, answered(askers) >= ANSWERS);
	g_free(look.wrong);
	scenario_free(s);
}

START_TEST(on_threads)
{
	run(false);
}
END_TEST

START_TEST(on_one_loop)
{
	run(true);
}
END_TEST

/* ---- a trap while the daemon starts ---- */

#define START_MS 100

struct slow_start {
	struct scenario *s;
	pthread_t starter;
	bool told;
};

/* Requests a sweep at the starter's first line of the log, which delays the starter. */
static uint64_t slow_clock(void *arg)
{
	struct slow_start *start = arg;

	if (pthread_equal(pthread_self(), start->starter) && !start->told) {
		start->told = true;
		daemon_sweep(start->s->daemon, SWEEP_LIGHT);
		g_usleep(START_MS * 1000);
	}
	return (uint64_t)g_get_real_time() * 1000;
}

/* The others write no line, and so do not wait for the starter's. */
static void slow_down(struct scenario *s, void *arg)
{
	log_set_flags(s->log, LOG_SYS);
	log_set_clock(s->log, slow_clock, arg);
}

START_TEST(one_sweep_at_the_start)
{
	struct slow_start start = {.starter = pthread_self()};
	struct look look = {0};
	struct sim_config config;

	scenario_config_default(&config, 1);
	start.s = look.s = scenario_new_with("fattree:4", &config, RUNTIME_REAL);
	scenario_option(start.s, "-D", "0x80");
	start.s->made = slow_down;
	start.s->made_arg = &start;
	scenario_start(start.s);
	wait_until_good(&look, CALM_MS);
	pass_ms(START_MS);
	scenario_expect(start.s, start.told);
	scenario_expect_at_most(
		start.s, counter_get(&daemon_context(start.s->daemon)->counters, sweeps_heavy), 1);
	scenario_free(start.s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threads");
	TCase *tcase = tcase_create("threads");

	tcase_set_timeout(tcase, 180);
	tcase_add_test(tcase, on_threads);
	tcase_add_test(tcase, on_one_loop);
	tcase_add_test(tcase, one_sweep_at_the_start);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
