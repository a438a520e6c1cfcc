// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two SMs on a simulated fabric, on threads and in real time. The master ends without
 * a word while it computes routes; the other polls it every second, and takes over after the second
 * poll without an answer. Printed are the times until the other is master of a subnet that is up,
 * what it sent, and how long it takes meanwhile to answer a Get(SMInfo), sent every two
 * milliseconds.
 *
 *	failover [SPEC]
 */
#include <glib/gstdio.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/scenario/scenario.h"

#define CONF "sminfo_polling_timeout 1000\npolling_retry_number 2\n"
#define ASK_NS (2 * NS_PER_MS)
#define PATIENCE_S 600

static void expect(bool well, const char *what)
{
	if (!well) {
		fprintf(stderr, "failover: %s\n", what);
		exit(1);
	}
}

/* ---- SMs ---- */

struct manager {
	struct daemon *daemon;
	unsigned int node;
	uint16_t lid;
};

static void start(struct scenario *s, struct manager *sm, const char *host)
{
	g_autofree char *directory = g_build_filename(s->directory, host, NULL);
	g_autofree char *conf = g_strconcat(directory, ".conf", NULL);
	char *words[] = {"opensm", "-F", conf, NULL};
	struct daemon_config config = {.rt = s->rt, .log = s->log, .cache_dir = directory};
	enum options_request request;
	GError *error = NULL;

	sm->node = scenario_node(s, host);
	expect(g_mkdir(directory, 0700) == 0 && g_file_set_contents(conf, CONF, -1, NULL) &&
		       options_load(&config.options, &request, 3, words, NULL, &error),
	       "no directory, or no options");
	config.vendor = sim_open(s->sim, sim_port_guid(s->sim, sm->node, 1), &error);
	sm->daemon = daemon_new(&config, &error);
	expect(sm->daemon, error ? error->message : "no daemon");
	options_unref(config.options);
	daemon_start(sm->daemon);
}

static bool is_up(const struct manager *sm)
{
	unsigned int sweep = atomic_load(&daemon_context(sm->daemon)->sweep);

	return sweep & SWEEP_FLAG_UP_BEFORE && !(sweep & SWEEP_FLAG_RUNNING);
}

static unsigned int state(const struct manager *sm)
{
	return atomic_load(&daemon_context(sm->daemon)->sm_state);
}

static double wait_for(struct scenario *s, const struct manager *sm, unsigned int wanted, bool up)
{
	uint64_t since = runtime_now(s->rt);

	while (state(sm) != wanted || (up && !is_up(sm))) {
		expect(runtime_now(s->rt) - since < PATIENCE_S * NS_PER_S, "waited in vain");
		usleep(500);
	}
	return (double)(runtime_now(s->rt) - since) / (double)NS_PER_S;
}

/* ---- the client ---- */

struct asker {
	struct message message;
	struct actor *actor;
	struct vendor *vendor;
	struct timer timer;
	atomic_uint lid;
	uint64_t sent_ns;
	uint32_t tid;
	pthread_mutex_t lock;
	GArray *took; /* ns */
	atomic_uint lost;
};

static void ask(struct timer *timer)
{
	struct asker *asker = container_of(timer, struct asker, timer);
	struct vendor_address to = {.lid = (uint16_t)atomic_load(&asker->lid)};
	struct iba_smp smp = {
		.header = {.base_version = IBA_BASE_VERSION,
			   .mgmt_class = IBA_CLASS_SUBN_LID,
			   .class_version = 1,
			   .method = IBA_METHOD_GET,
			   .attribute_id = IBA_ATTR_SM_INFO,
			   .transaction_id = ++asker->tid},
	};
	uint8_t wire[IBA_MAD_BYTES] = {0};

	wire_encode(&iba_smp_type, &smp, wire);
	asker->sent_ns = actor_now(asker->actor);
	vendor_send(asker->vendor, &to, wire, sizeof(wire), 1000);
}

static void on_answer(void *arg, struct vendor_mad *mad)
{
	struct asker *asker = arg;
	uint64_t took = actor_now(asker->actor) - asker->sent_ns;

	pthread_mutex_lock(&asker->lock);
	g_array_append_val(asker->took, took);
	pthread_mutex_unlock(&asker->lock);
	if (mad->status != VENDOR_RECEIVED)
		atomic_fetch_add(&asker->lost, 1);
	vendor_mad_free(mad);
	timer_start(&asker->timer, ASK_NS);
}

static void run_first(struct message *message)
{
	ask(&((struct asker *)message)->timer);
}

static void drop_first(struct message *message)
{
	(void)message;
}

static void asker_start(struct scenario *s, struct asker *asker, const char *host, uint16_t lid)
{
	unsigned int node = scenario_node(s, host);
	struct vendor_client client = {.arg = asker, .receive = on_answer};

	asker->took = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	asker->actor = client.actor = actor_new(s->rt, "asker");
	atomic_store(&asker->lid, lid);
	timer_init(&asker->timer, asker->actor, ask);
	asker->vendor = sim_open(s->sim, sim_port_guid(s->sim, node, 1), NULL);
	expect(vendor_bind(asker->vendor, IBA_CLASS_SUBN_LID, false, &client, NULL), "no agent");
	asker->message.run = run_first;
	asker->message.drop = drop_first;
	actor_start(asker->actor);
	actor_post(asker->actor, &asker->message);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Of the requests since the last call. */
static void tell_latency(struct asker *asker, const char *when)
{
	GArray *took;

	pthread_mutex_lock(&asker->lock);
	took = asker->took;
	asker->took = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	pthread_mutex_unlock(&asker->lock);
	g_array_sort(took, compare);
	expect(took->len, "nobody answers Get(SMInfo)");
	printf("Get(SMInfo) %-18s %6u answers, %u lost: p50 %.3f, p99 %.3f, worst %.3f ms\n", when,
	       took->len, atomic_exchange(&asker->lost, 0),
	       (double)g_array_index(took, uint64_t, took->len / 2) / (double)NS_PER_MS,
	       (double)g_array_index(took, uint64_t, took->len * 99 / 100) / (double)NS_PER_MS,
	       (double)g_array_index(took, uint64_t, took->len - 1) / (double)NS_PER_MS);
	g_array_unref(took);
}

static void asker_stop(struct asker *asker)
{
	actor_stop(asker->actor);
	vendor_close(asker->vendor);
	actor_free(asker->actor);
	g_array_unref(asker->took);
}

/* ---- on the thread of the fabric ---- */

struct look {
	struct manager *sm;
	struct sim_counters counters;
};

static void look_lid(struct sim *sim, void *arg)
{
	struct look *look = arg;

	look->sm->lid = sim_port_info(sim, look->sm->node, 1)->lid;
}

static void count(struct sim *sim, void *arg)
{
	sim_counters(sim, &((struct look *)arg)->counters);
}

/* ---- the failover ---- */

int main(int argc, char **argv)
{
	struct manager master = {0}, other = {0};
	struct look of_other = {.sm = &other}, of_master = {.sm = &master};
	struct asker asker = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct sim_config config;
	struct scenario *s;
	double seconds;

	scenario_config_default(&config, 1);
	config.sma_ns = 0; /* the fabric takes enough of this machine's time */
	s = scenario_new_with(argc > 1 ? argv[1] : "fattree:32", &config, RUNTIME_REAL);
	start(s, &master, "host-1");
	printf("first SUBNET UP after %.2f s\n", wait_for(s, &master, IBA_SM_MASTER, true));
	start(s, &other, "host-99");
	printf("the other is STANDBY after %.2f s\n", wait_for(s, &other, IBA_SM_STANDBY, false));
	sim_call(s->sim, look_lid, &of_other);
	asker_start(s, &asker, "host-50", other.lid);
	usleep(2000000);
	tell_latency(&asker, "at rest");
	daemon_sweep(master.daemon, SWEEP_REROUTE);
	usleep(10000);
	sim_call(s->sim, count, &of_master);
	daemon_free(master.daemon);
	seconds = wait_for(s, &other, IBA_SM_MASTER, false);
	printf("the other is MASTER after %.2f s\n", seconds);
	tell_latency(&asker, "until MASTER");
	seconds += wait_for(s, &other, IBA_SM_MASTER, true);
	tell_latency(&asker, "until SUBNET UP");
	sim_call(s->sim, count, &of_other);
	printf("SUBNET UP after %.2f s, %" PRIu64 " Gets, %" PRIu64 " Sets, %" PRIu64
	       " LFT blocks set\n",
	       seconds, of_other.counters.gets - of_master.counters.gets,
	       of_other.counters.sets - of_master.counters.sets,
	       counter_get(&daemon_context(other.daemon)->counters, lft_blocks_set));
	asker_stop(&asker);
	daemon_free(other.daemon);
	scenario_free(s);
	return 0;
}
