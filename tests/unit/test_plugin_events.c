// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What plug-ins are told of: each source of events, and a picture of the subnet kept by them. */
#include "ctl/command/command.h"
#include "ctl/feed/events.h"
#include "ctl/feed/growth_series.h"
#include "ctl/feed/subnet_series.h"
#include "ctl/report/journal.h"
#include "perf/image/image.h"
#include "sm/election/peers.h"
#include "sm/health/unhealthy.h"
#include "subnet/perf_alarms.h"
#include "tests/memory_used.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/managers.h"
#include "tests/scenario/scenario.h"

#include <check.h>
#include <string.h>

struct told {
	struct event_record head;
	_Alignas(uint64_t) uint8_t body[EVENT_BODY_MAX];
	char text[EVENT_TEXT_MAX];
};

static struct {
	struct scenario *s;
	struct journal *journal;
	struct plugin_events *events;
	struct feed *feed;
	GArray *all; /* struct told: what came since it was emptied */
} f;		     /* of the running test */

static void make_events(struct scenario *s, void *arg)
{
	(void)arg;
	f.journal = journal_new(s->daemon);
	f.events = plugin_events_new(daemon_context(s->daemon), daemon_actor(s->daemon), f.journal);
	if (f.feed)
		plugin_events_add(f.events, f.feed);
}

static void prepare(void)
{
	f.s = scenario_new("fattree:4", 1);
	f.s->made = make_events;
	f.all = g_array_new(FALSE, FALSE, sizeof(struct told));
}

static void begin(void)
{
	scenario_start(f.s);
	scenario_converge(f.s, 10);
}

/* With a feed for these from the start on. */
static void start(uint64_t events)
{
	prepare();
	f.feed = feed_new(events);
	begin();
}

static void stop(void)
{
	if (f.feed)
		plugin_events_remove(f.events, f.feed);
	scenario_stop(f.s);
	plugin_events_free(f.events);
	journal_free(f.journal);
	scenario_free(f.s);
	feed_free(f.feed);
	g_array_unref(f.all);
	memset(&f, 0, sizeof(f));
}

static struct context *context(void)
{
	return daemon_context(f.s->daemon);
}

/* Takes all that waits. */
static void take(void)
{
	static uint64_t octets[8192];
	unsigned int n;
	size_t used;

	while ((used = feed_take(f.feed, octets, sizeof(octets), &n, 1000))) {
		const uint8_t *at = (const uint8_t *)octets;

		for (; n; n--) {
			struct told told = {.head = *(const struct event_record *)(const void *)at};
			const uint8_t *body = at + sizeof(told.head);

			memcpy(told.body, body, told.head.body_octets);
			memcpy(told.text, body + told.head.body_octets, told.head.text_octets);
			g_array_append_val(f.all, told);
			at += told.head.octets;
		}
	}
}

/* Runs for a while, and takes what came since. */
static void run(unsigned int ms)
{
	g_array_set_size(f.all, 0);
	scenario_run_ms(f.s, ms);
	take();
}

static const struct told *at(guint i)
{
	return &g_array_index(f.all, struct told, i);
}

static const struct osm_about *about(const struct told *told)
{
	const struct osm_about *about = (const void *)told->body;

	ck_assert_uint_eq(told->head.body_octets, sizeof(*about));
	ck_assert_uint_eq(about->size, sizeof(*about));
	return about;
}

static const void *body_of(const struct told *told)
{
	return told->body;
}

static const struct osm_trap *trap_of(const struct told *told)
{
	return body_of(told);
}

static const struct osm_port_errors *errors_of(const struct told *told)
{
	return body_of(told);
}

static const struct osm_port_data *data_of(const struct told *told)
{
	return body_of(told);
}

/* The first event of that id from *from on, which is moved past it; fails if there is none. */
static const struct told *next_of(uint32_t id, guint *from)
{
	for (; *from < f.all->len; ++*from)
		if (at(*from)->head.id == id)
			return at((*from)++);
	ck_abort_msg("no event %u", id);
	return NULL;
}

static const struct told *first_of(uint32_t id)
{
	guint from = 0;

	return next_of(id, &from);
}

static unsigned int count_of(uint32_t id)
{
	unsigned int n = 0;

	for (guint i = 0; i < f.all->len; i++)
		n += at(i)->head.id == id;
	return n;
}

static uint64_t generation(void)
{
	struct subnet *subnet = slot_take(&context()->subnet);
	uint64_t generation = subnet->generation;

	subnet_unref(subnet);
	return generation;
}

/* ---- sources ---- */

START_TEST(bring_up)
{
	static const uint32_t order[] = {OSM_EVENT_STATE_CHANGE,       OSM_EVENT_HEAVY_SWEEP_START,
					 OSM_EVENT_HEAVY_SWEEP_DONE,   OSM_EVENT_STATE_CHANGE,
					 OSM_EVENT_UCAST_ROUTING_DONE, OSM_EVENT_SUBNET_UP,
					 OSM_EVENT_SWEEP_DONE};
	const struct told *told = NULL;
	guint from = 0;

	start(OSM_EVENTS_ALL);
	take();
	for (unsigned int i = 0; i < G_N_ELEMENTS(order); i++) {
		told = next_of(order[i], &from);
		if (order[i] == OSM_EVENT_UCAST_ROUTING_DONE)
			ck_assert_uint_eq(about(told)->value, 1);
	}
	ck_assert_str_eq(about(told)->word, "heavy");
	ck_assert_uint_eq(about(told)->level, 0);
	ck_assert_uint_gt(about(told)->value, 0);
	ck_assert_ptr_nonnull(strstr(told->text, "heavy sweep in "));
	ck_assert_uint_eq(about(first_of(OSM_EVENT_STATE_CHANGE))->value, OSM_SM_DISCOVERING);
	ck_assert_uint_eq(count_of(OSM_EVENT_LFT_CHANGE), 0);
	ck_assert_uint_eq(count_of(OSM_EVENT_NODE), 0);
	for (guint i = 0; i < f.all->len; i++)
		ck_assert_uint_eq(at(i)->head.serial, i + 1);
	stop();
}
END_TEST

START_TEST(a_link)
{
	unsigned int node, port;
	const struct told *link;
	uint64_t before;
	guint from = 0;

	start(OSM_EVENTS_ALL);
	take();
	before = generation();
	scenario_random_link(f.s, &node, &port);
	sim_link_set(f.s->sim, node, port, false);
	run(5000);
	link = first_of(OSM_EVENT_LINK);
	ck_assert_str_eq(about(link)->word, "link_down");
	ck_assert_uint_gt(link->head.generation, before);
	ck_assert_uint_le(link->head.generation, generation());
	ck_assert(g_str_has_prefix(link->text, "link down: "));
	ck_assert_uint_ne(about(link)->guid, 0);
	ck_assert_uint_ne(about(link)->peer_guid, 0);
	ck_assert_uint_ne(about(link)->port, 0);
	ck_assert_uint_ne(about(link)->peer_port, 0);
	ck_assert_uint_eq(count_of(OSM_EVENT_LINK), 1);
	next_of(OSM_EVENT_HEAVY_SWEEP_START, &from);
	next_of(OSM_EVENT_HEAVY_SWEEP_DONE, &from);
	next_of(OSM_EVENT_UCAST_ROUTING_DONE, &from);
	next_of(OSM_EVENT_LINK, &from);
	next_of(OSM_EVENT_LFT_CHANGE, &from);
	next_of(OSM_EVENT_SUBNET_UP, &from);
	next_of(OSM_EVENT_SWEEP_DONE, &from);
	ck_assert_uint_eq(trap_of(first_of(OSM_EVENT_TRAP))->number, 128);
	stop();
}
END_TEST

/* A leaf switch and its hosts: each node, each cable and each port. */
START_TEST(a_leaf)
{
	const struct osm_trap *trap;
	const struct osm_about *leader;

	start(OSM_EVENTS_ALL);
	take();
	sim_node_set(f.s->sim, scenario_node(f.s, "leaf-3-1"), false);
	run(5000);
	leader = about(first_of(OSM_EVENT_NODE));
	ck_assert_uint_eq(leader->more_hosts, 2);
	ck_assert_str_eq(leader->word, "nodes_gone");
	ck_assert_uint_eq(count_of(OSM_EVENT_NODE), 3);
	ck_assert_uint_eq(count_of(OSM_EVENT_LINK), 4);
	ck_assert_uint_eq(count_of(OSM_EVENT_PORT), 3);
	ck_assert_str_eq(about(first_of(OSM_EVENT_PORT))->word, "port_gone");
	ck_assert_uint_ne(about(first_of(OSM_EVENT_PORT))->lid, 0);
	for (guint i = 0, n = 0; i < f.all->len; i++) {
		struct iba_sa_notice notice;

		if (at(i)->head.id != OSM_EVENT_TRAP)
			continue;
		trap = trap_of(at(i));
		wire_decode(&iba_sa_notice_type, trap->notice, &notice);
		ck_assert_uint_eq(notice.notice.trap_number, trap->number);
		n += trap->number == 65;
		if (trap->number == 65)
			ck_assert_uint_eq(at(i)->head.generation, generation());
		if (n == 3)
			break;
		ck_assert_uint_lt(i + 1, f.all->len);
	}
	sim_node_set(f.s->sim, scenario_node(f.s, "leaf-3-1"), true);
	run(5000);
	ck_assert_uint_eq(count_of(OSM_EVENT_NODE), 3);
	ck_assert_str_eq(about(first_of(OSM_EVENT_NODE))->word, "nodes_new");
	ck_assert_str_eq(about(first_of(OSM_EVENT_PORT))->word, "port_new");
	stop();
}
END_TEST

START_TEST(routed_again)
{
	start(OSM_EVENTS_ALL);
	take();
	daemon_sweep(f.s->daemon, SWEEP_REROUTE);
	run(5000);
	ck_assert_uint_eq(about(first_of(OSM_EVENT_UCAST_ROUTING_DONE))->value, 0);
	ck_assert_str_eq(about(first_of(OSM_EVENT_SWEEP_DONE))->word, "reroute");
	daemon_sweep(f.s->daemon, SWEEP_LIGHT);
	run(5000);
	ck_assert_str_eq(about(first_of(OSM_EVENT_SWEEP_DONE))->word, "light");
	ck_assert_uint_eq(count_of(OSM_EVENT_HEAVY_SWEEP_START), 0);
	stop();
}
END_TEST

static struct perf_alarms *one_alarm(uint8_t level)
{
	struct perf_alarms *alarms = perf_alarms_new(level ? 1 : 0);

	if (level) {
		alarms->all[0].guid = 0x700;
		alarms->all[0].port = 3;
		alarms->all[0].level = level;
		alarms->all[0].value = "PortRcvErrors";
		alarms->all[0].unit = "";
		alarms->all[0].where = g_strdup("port 3");
	}
	return alarms;
}

static const struct osm_about *publish_alarm(uint8_t level)
{
	slot_publish(&context()->perf_alarms, one_alarm(level));
	event_emit(&context()->bus, EVENT_PERF_ALARMS, 0);
	run(1);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_uint_eq(at(0)->head.id, OSM_EVENT_ALARM);
	ck_assert_str_eq(about(at(0))->word, "PortRcvErrors");
	ck_assert_uint_eq(about(at(0))->guid, 0x700);
	ck_assert_uint_eq(about(at(0))->port, 3);
	return about(at(0));
}

/* A milder alarm is what remains of a worse one. */
START_TEST(alarms)
{
	start(OSM_EVENT_BIT(OSM_EVENT_ALARM));
	ck_assert_uint_eq(publish_alarm(PERF_WARNING)->level, 2);
	ck_assert_uint_eq(publish_alarm(PERF_ALARM)->level, 3);
	ck_assert_uint_eq(publish_alarm(PERF_INFO)->level, 1);
	ck_assert_uint_eq(publish_alarm(PERF_OFF)->level, 0);
	stop();
}
END_TEST

/* More of them than the journal notes. */
START_TEST(unhealthy_ports)
{
	struct unhealthy *unhealthy = unhealthy_new();
	struct unhealthy_port port = {.guid = 0x700,
				      .type = IBA_NODE_CA,
				      .blamed = 0x99,
				      .action = PORT_ISOLATE,
				      .until_ns = UINT64_MAX};

	start(OSM_EVENT_BIT(OSM_EVENT_HEALTH));
	for (port.num = 1; port.num <= 150; port.num++)
		unhealthy_restore(unhealthy, &port);
	slot_publish(&context()->unhealthy_ports, unhealthy_ports_new(unhealthy));
	event_emit(&context()->bus, EVENT_UNHEALTHY_PORTS, 0);
	run(1);
	ck_assert_uint_eq(f.all->len, 150);
	ck_assert_uint_eq(about(at(149))->level, 1);
	ck_assert_uint_eq(about(at(149))->guid, 0x700);
	ck_assert_uint_eq(about(at(149))->peer_guid, 0x99);
	ck_assert_str_ne(about(at(149))->word, "");
	unhealthy_drop(unhealthy, unhealthy_find(unhealthy, 0x700, 7));
	slot_publish(&context()->unhealthy_ports, unhealthy_ports_new(unhealthy));
	event_emit(&context()->bus, EVENT_UNHEALTHY_PORTS, 0);
	run(1);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_uint_eq(about(at(0))->level, 0);
	ck_assert_uint_eq(about(at(0))->port, 7);
	unhealthy_free(unhealthy);
	stop();
}
END_TEST

/* Clients of the SA: groups, subscriptions. */
START_TEST(clients)
{
	const struct iba_inform_info all = {.is_generic = 1,
					    .subscribe = 1,
					    .lid_range_begin = 0xFFFF,
					    .type = 0xFFFF,
					    .trap_number = 0xFFFF,
					    .producer_type = 0xFFFFFF};
	struct client *client, *other;
	uint16_t mlid;

	start(OSM_EVENT_BIT(OSM_EVENT_GROUPS) | OSM_EVENT_BIT(OSM_EVENT_SERVICES));
	client = client_new_subscriber(f.s, scenario_node(f.s, "host-3"));
	other = client_new(f.s, scenario_node(f.s, "host-4"));
	run(3000);
	ck_assert_int_eq(client_join_broadcast(client, &mlid), 0);
	run(3000);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_uint_eq(at(0)->head.id, OSM_EVENT_GROUPS);
	ck_assert_uint_eq(about(at(0))->value, 1);
	ck_assert_int_eq(client_join_broadcast(other, &mlid), 0);
	run(3000);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_ptr_nonnull(strstr(at(0)->text, "members changed, 1 now"));
	ck_assert_int_eq(client_inform(client, all), 0);
	run(3000);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_uint_eq(at(0)->head.id, OSM_EVENT_SERVICES);
	ck_assert_str_eq(at(0)->text, "the SA has 0 services, 1 subscriptions and 0 alias GUIDs");
	client_free(client);
	client_free(other);
	stop();
}
END_TEST

static void publish_peers(unsigned int n, uint8_t state, uint16_t ports)
{
	struct peers *peers = peers_new(n);

	for (unsigned int i = 0; i < n; i++)
		peers->peers[i].sm =
			(struct election_sm){.guid = 0x99,
					     .priority = 3,
					     .state = state,
					     .ability = {.known = true, .endports = ports}};
	slot_publish(&context()->peers, peers);
	event_emit(&context()->bus, EVENT_PEERS_CHANGED, 0);
	run(1500);
}

START_TEST(other_sms)
{
	start(OSM_EVENT_BIT(OSM_EVENT_SMS));
	run(1500);
	publish_peers(1, IBA_SM_STANDBY, 5);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_uint_eq(about(at(0))->guid, 0x99);
	ck_assert(g_str_has_prefix(at(0)->text, "found another SM 0x0000000000000099: "));
	publish_peers(1, IBA_SM_STANDBY, 5);
	ck_assert_uint_eq(f.all->len, 0);
	publish_peers(1, IBA_SM_STANDBY, 6);
	ck_assert_uint_eq(f.all->len, 1);
	publish_peers(1, IBA_SM_MASTER, 6);
	ck_assert_uint_eq(f.all->len, 1);
	publish_peers(0, 0, 0);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_ptr_nonnull(strstr(at(0)->text, "not there"));
	stop();
}
END_TEST

/* A standby comes and dies; polls that are answered as before tell nothing. */
START_TEST(a_standby)
{
	struct managers *m = managers_new("fattree:4", 1);
	g_autofree char *guid = NULL;
	unsigned int n;

	managers_up_with_standby(m, MANAGERS_POLLS, MANAGERS_POLLS);
	f.s = m->s;
	f.all = g_array_new(FALSE, FALSE, sizeof(struct told));
	f.journal = journal_new(m->sm[0].daemon);
	f.events = plugin_events_new(daemon_context(m->sm[0].daemon), daemon_actor(m->sm[0].daemon),
				     f.journal);
	f.feed = feed_new(OSM_EVENT_BIT(OSM_EVENT_SMS));
	plugin_events_add(f.events, f.feed);
	run(60000);
	n = f.all->len;
	ck_assert_uint_ge(n, 1);
	ck_assert_uint_le(n, 4);
	guid = g_strdup_printf("SM 0x%016" G_GINT64_MODIFIER "x: STANDBY", m->sm[1].guid);
	ck_assert_msg(strstr(at(n - 1)->text, guid) != NULL, "%s", at(n - 1)->text);
	ck_assert_uint_eq(about(at(n - 1))->guid, m->sm[1].guid);
	run(60000);
	ck_assert_uint_eq(f.all->len, 0);
	managers_kill(m, 1);
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	run(60000);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_str_eq(about(at(0))->word, "sm_gone");
	plugin_events_remove(f.events, f.feed);
	managers_free(m);
	plugin_events_free(f.events);
	journal_free(f.journal);
	feed_free(f.feed);
	g_array_unref(f.all);
	memset(&f, 0, sizeof(f));
}
END_TEST

START_TEST(policies_and_options)
{
	struct command_env env = {0};
	struct command_answer answer;
	const struct told *told;

	start(OSM_EVENT_BIT(OSM_EVENT_PARTITIONS) | OSM_EVENT_BIT(OSM_EVENT_OPTIONS));
	env.daemon = f.s->daemon;
	env.journal = f.journal;
	command_run(&env, "partitions change wait none 0x11: 0x0200000000000101=full", true,
		    &answer);
	ck_assert_msg(!answer.failed, "%s", answer.text);
	g_free(answer.text);
	run(5000);
	told = first_of(OSM_EVENT_PARTITIONS);
	ck_assert_uint_eq(about(told)->value, 2);
	ck_assert_uint_eq(told->head.generation, generation());
	event_emit(&context()->bus, EVENT_OPTIONS_CHANGED, 0);
	run(1);
	ck_assert_str_eq(first_of(OSM_EVENT_OPTIONS)->text, "the options were read again");
	stop();
}
END_TEST

/* The registries are written, and that is told. */
START_TEST(sa_is_dumped)
{
	struct client *client;
	uint16_t mlid;

	prepare();
	scenario_conf(f.s, "sa_db_dump TRUE\n");
	g_ptr_array_add(f.s->arguments, g_strdup("--dump_files_dir"));
	g_ptr_array_add(f.s->arguments, g_strdup(f.s->directory));
	f.feed = feed_new(OSM_EVENT_BIT(OSM_EVENT_SA_DB_DUMPED));
	begin();
	client = client_new(f.s, scenario_node(f.s, "host-3"));
	ck_assert_int_eq(client_join_broadcast(client, &mlid), 0);
	daemon_sweep(f.s->daemon, SWEEP_HEAVY);
	run(5000);
	first_of(OSM_EVENT_SA_DB_DUMPED);
	client_free(client);
	stop();
}
END_TEST

/* ---- counters ---- */

static struct perf_layout *two_ports(void)
{
	struct perf_layout *layout = g_new0(struct perf_layout, 1);

	ref_init(&layout->ref);
	layout->n_nodes = 1;
	layout->n_rows = 2;
	layout->nodes = g_new0(struct perf_node, 1);
	layout->nodes[0].guid = 0x700;
	layout->nodes[0].name = g_strdup("leaf");
	layout->nodes[0].description = g_strdup("leaf");
	layout->nodes[0].first_port = layout->nodes[0].num_ports = 1;
	layout->places = g_new0(struct perf_place, 2);
	layout->places[0].port = 1;
	layout->places[1].port = 2;
	return layout;
}

/* Row 0 was read; row 1 has these flags. */
static struct perf_image *image(struct perf_layout *layout, uint64_t id, uint64_t errors,
				uint64_t data, unsigned int flags, uint64_t data_1)
{
	struct perf_image *image = perf_image_new(layout, 0);

	image->id = id;
	image->ended_ns = id * NS_PER_S;
	for (unsigned int row = 0; row < 2; row++)
		image->have[row] = (1u << PERF_COUNTERS) - 1;
	image->flags[0] = PERF_READ;
	image->read_ns[0] = id * NS_PER_S;
	image->total[PERF_SYMBOL_ERRORS][0] = errors;
	image->total[PERF_XMIT_DATA][0] = data;
	image->flags[1] = (uint16_t)flags;
	image->read_ns[1] = flags & PERF_READ ? id * NS_PER_S : 0;
	image->total[PERF_RCV_DATA][1] = data_1;
	return image;
}

static void publish_image(struct perf_image *image)
{
	struct perf_images *images = g_new0(struct perf_images, 1);

	ref_init(&images->ref);
	images->n = 1;
	images->images = g_new(struct perf_image *, 1);
	images->images[0] = image;
	slot_publish(&context()->perf_images, images);
	event_emit(&context()->bus, EVENT_PERF_IMAGES, 0);
	scenario_run_ms(f.s, 1);
}

START_TEST(counters)
{
	struct perf_layout *layout = two_ports();
	const struct osm_port_errors *errors;
	const struct osm_port_data *data;

	start(OSM_EVENT_BIT(OSM_EVENT_COUNTERS) | GROWTH_EVENTS);
	publish_image(image(layout, 1, 5, 100, 0, 0));
	run(1);
	ck_assert_uint_eq(f.all->len, 1);
	ck_assert_uint_eq(at(0)->head.id, OSM_EVENT_COUNTERS);
	ck_assert_uint_eq(about(at(0))->value, 1);
	publish_image(image(layout, 2, 7, 100, PERF_READ | PERF_BASELINE, 0));
	run(1);
	ck_assert_uint_eq(f.all->len, 2);
	ck_assert_uint_eq(at(0)->head.id, OSM_EVENT_PORT_ERRORS);
	errors = errors_of(at(0));
	ck_assert_uint_eq(errors->size, sizeof(*errors));
	ck_assert_uint_eq(errors->symbol_err_cnt, 2);
	ck_assert_uint_eq(errors->interval_ns, NS_PER_S);
	ck_assert_uint_eq(errors->port.guid, 0x700);
	ck_assert_uint_eq(errors->port.port, 1);
	ck_assert_str_eq(errors->port.name, "leaf");
	ck_assert_str_eq(at(0)->text,
			 "leaf (0x0000000000000700) port 1: SymbolErrorCounter +2 in 1.0 s");
	publish_image(image(layout, 3, 7, 130, PERF_READ, 9));
	run(1);
	ck_assert_uint_eq(f.all->len, 3);
	data = data_of(at(0));
	ck_assert_uint_eq(at(0)->head.id, OSM_EVENT_PORT_DATA_COUNTERS);
	ck_assert_uint_eq(data->xmit_data, 30);
	data = data_of(at(1));
	ck_assert_uint_eq(data->rcv_data, 9);
	ck_assert_uint_eq(data->port.port, 2);
	perf_layout_unref(layout);
	stop();
}
END_TEST

/*
 * Two sweeps that were not taken in between are one growth: nothing is lost of a port that was
 * first read in the first of them, or not in the second.
 */
START_TEST(counters_joined)
{
	struct perf_layout *layout = two_ports();
	struct perf_image *last;
	guint from = 0;

	start(GROWTH_EVENTS);
	publish_image(image(layout, 1, 5, 100, 0, 0));
	publish_image(image(layout, 2, 6, 100, PERF_READ | PERF_BASELINE, 0));
	publish_image(image(layout, 3, 9, 100, PERF_READ, 40));
	last = image(layout, 4, 9, 150, 0, 40); /* port 2 does not answer */
	last->read_ns[1] = 3 * NS_PER_S;
	publish_image(last);
	ck_assert_uint_eq(feed_waiting(f.feed), 1);
	run(1);
	ck_assert_uint_eq(f.all->len, 3);
	ck_assert_uint_eq(errors_of(next_of(0, &from))->symbol_err_cnt, 4);
	ck_assert_uint_eq(data_of(next_of(1, &from))->xmit_data, 50);
	ck_assert_uint_eq(data_of(next_of(1, &from))->rcv_data, 40);
	perf_layout_unref(layout);
	stop();
}
END_TEST

/* ---- a picture ---- */

struct table {
	uint64_t guid;
	uint16_t top;
	uint8_t ports[1024];
};

struct picture {
	uint64_t generation;
	GHashTable *nodes, *links; /* texts */
	GHashTable *lids;	   /* text: LID */
	GHashTable *tables;	   /* struct table, by GUID */
};

static char *link_key(uint64_t guid, unsigned int port, uint64_t peer, unsigned int peer_port)
{
	bool swap = peer < guid || (peer == guid && peer_port < port);

	return g_strdup_printf("%" G_GINT64_MODIFIER "x %u %" G_GINT64_MODIFIER "x %u",
			       swap ? peer : guid, swap ? peer_port : port, swap ? guid : peer,
			       swap ? port : peer_port);
}

static char *port_key(uint64_t guid, unsigned int port)
{
	return g_strdup_printf("%" G_GINT64_MODIFIER "x %u", guid, port);
}

static struct table *table_of(struct picture *picture, uint64_t guid)
{
	struct table *table = g_hash_table_lookup(picture->tables, &guid);

	if (table)
		return table;
	table = g_new(struct table, 1);
	memset(table, 0xFF, sizeof(*table));
	table->guid = guid;
	g_hash_table_insert(picture->tables, &table->guid, table);
	return table;
}

static void forget(struct picture *picture)
{
	g_clear_pointer(&picture->nodes, g_hash_table_unref);
	g_clear_pointer(&picture->links, g_hash_table_unref);
	g_clear_pointer(&picture->lids, g_hash_table_unref);
	g_clear_pointer(&picture->tables, g_hash_table_unref);
}

/* The published subnet, as a snapshot shows it. */
static void look(struct picture *picture)
{
	struct subnet *subnet = slot_take(&context()->subnet);
	const struct fabric *fabric = subnet->fabric;

	forget(picture);
	picture->generation = subnet->generation;
	picture->nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	picture->links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	picture->lids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	picture->tables = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		g_hash_table_add(picture->nodes, port_key(fabric->nodes[i].guid, 0));
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		uint64_t guid = fabric->nodes[port->node].guid;
		const struct fabric_port *peer =
			port->peer == FABRIC_NONE ? NULL : &fabric->ports[port->peer];

		if (peer)
			g_hash_table_add(picture->links,
					 link_key(guid, port->num, fabric->nodes[peer->node].guid,
						  peer->num));
		if (fabric_is_endport(fabric, i) && port->known && port->lid &&
		    fabric_is_connected(fabric, i))
			g_hash_table_insert(picture->lids, port_key(guid, port->num),
					    GUINT_TO_POINTER(port->lid));
	}
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		struct table *table =
			table_of(picture, fabric->nodes[fabric->switches[sw].node].guid);

		table->top = subnet->routing->top;
		for (uint16_t lid = 0; lid <= table->top; lid++)
			table->ports[lid] = routing_port(subnet->routing, sw, lid);
	}
	subnet_unref(subnet);
}

static void apply_node(struct picture *picture, const struct osm_about *node)
{
	char *key = port_key(node->guid, 0);

	if (!strcmp(node->word, "nodes_new")) {
		ck_assert(g_hash_table_add(picture->nodes, key));
		return;
	}
	ck_assert(g_hash_table_remove(picture->nodes, key));
	g_hash_table_remove(picture->tables, &node->guid);
	g_free(key);
}

static void apply_link(struct picture *picture, const struct osm_about *link)
{
	char *key = link_key(link->guid, link->port, link->peer_guid, link->peer_port);

	if (!strcmp(link->word, "link_up")) {
		ck_assert(g_hash_table_add(picture->links, key));
		return;
	}
	ck_assert_msg(g_hash_table_remove(picture->links, key), "%s", key);
	g_free(key);
}

static void apply_port(struct picture *picture, const struct osm_about *port)
{
	char *key = port_key(port->guid, port->port);

	if (!strcmp(port->word, "port_gone")) {
		ck_assert(g_hash_table_remove(picture->lids, key));
		g_free(key);
		return;
	}
	g_hash_table_insert(picture->lids, key, GUINT_TO_POINTER(port->lid));
}

static void apply_lft(struct picture *picture, const struct osm_lft_change *change)
{
	struct table *table = table_of(picture, change->guid);

	table->top = change->top;
	memcpy(table->ports + 64 * change->block, change->ports, sizeof(change->ports));
	memset(table->ports + table->top + 1, 0xFF, sizeof(table->ports) - table->top - 1);
}

static void apply(struct picture *picture, const struct told *told)
{
	const void *body = told->body;

	if (told->head.id == OSM_EVENT_LOST) {
		look(picture);
		return;
	}
	if (!told->head.generation || told->head.generation <= picture->generation)
		return;
	switch (told->head.id) {
	case OSM_EVENT_NODE:
		apply_node(picture, body);
		break;
	case OSM_EVENT_LINK:
		apply_link(picture, body);
		break;
	case OSM_EVENT_PORT:
	case OSM_EVENT_LID:
		apply_port(picture, body);
		break;
	case OSM_EVENT_LFT_CHANGE:
		apply_lft(picture, body);
		break;
	default:
		break;
	}
}

static void follow(struct picture *picture)
{
	g_array_set_size(f.all, 0);
	take();
	for (guint i = 0; i < f.all->len; i++)
		apply(picture, at(i));
}

/* Also of maps: their values are numbers. */
static void expect_same_map(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	gpointer key, value, other;

	ck_assert_uint_eq(g_hash_table_size(a), g_hash_table_size(b));
	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		ck_assert_msg(g_hash_table_lookup_extended(b, key, NULL, &other), "%s",
			      (const char *)key);
		ck_assert(value == key || value == other);
	}
}

static void expect_same(const struct picture *picture)
{
	struct picture now = {0};
	GHashTableIter iter;
	gpointer guid, value;

	look(&now);
	expect_same_map(picture->nodes, now.nodes);
	expect_same_map(picture->links, now.links);
	expect_same_map(picture->lids, now.lids);
	ck_assert_uint_eq(g_hash_table_size(picture->tables), g_hash_table_size(now.tables));
	g_hash_table_iter_init(&iter, picture->tables);
	while (g_hash_table_iter_next(&iter, &guid, &value)) {
		const struct table *mine = value, *table = g_hash_table_lookup(now.tables, guid);

		ck_assert_ptr_nonnull(table);
		ck_assert_uint_eq(mine->top, table->top);
		ck_assert_mem_eq(mine->ports, table->ports, sizeof(mine->ports));
	}
	forget(&now);
}

/* Cables that are down; most of the fabric remains. */
static struct {
	unsigned int node, port;
} cut[6];
static unsigned int n_cut;

static void change_a_link(bool on)
{
	unsigned int i;

	if (!on && n_cut < G_N_ELEMENTS(cut)) {
		scenario_random_link(f.s, &cut[n_cut].node, &cut[n_cut].port);
		sim_link_set(f.s->sim, cut[n_cut].node, cut[n_cut].port, false);
		n_cut++;
	} else if (n_cut) {
		i = scenario_random(f.s, n_cut);
		sim_link_set(f.s->sim, cut[i].node, cut[i].port, true);
		cut[i] = cut[--n_cut];
	}
}

/* The port of the SM stays connected. */
static void change_something(void)
{
	static const char *const switches[] = {"leaf-1-1", "leaf-2-0", "spine-0-0", "spine-1-0"};
	bool on = scenario_random(f.s, 2);
	unsigned int node;

	switch (scenario_random(f.s, 4)) {
	case 0:
		node = scenario_node(f.s, switches[scenario_random(f.s, G_N_ELEMENTS(switches))]);
		sim_node_set(f.s->sim, node, on);
		break;
	case 1:
		sim_node_set(f.s->sim, scenario_random_host(f.s), on);
		break;
	default:
		change_a_link(on);
	}
}

/*
 * One that reads often, one that reads so rarely that it loses events, and one that takes snapshots
 * while events wait.
 */
static const struct follower {
	unsigned int steps, every;
	bool loses, looks;
} followers[] = {{1000, 3, false, false}, {1000, 1001, true, false}, {1000, 20, false, true}};

START_TEST(picture_by_events)
{
	const struct follower *follower = &followers[_i];
	struct picture picture = {0};

	n_cut = 0;
	prepare();
	begin();
	f.feed = feed_new(OSM_EVENTS_ALL);
	plugin_events_add(f.events, f.feed);
	look(&picture);
	for (unsigned int i = 0; i < follower->steps; i++) {
		change_something();
		scenario_run_ms(f.s, scenario_random(f.s, 1000));
		if (follower->looks && !scenario_random(f.s, 4))
			look(&picture);
		if (!scenario_random(f.s, follower->every)) {
			follow(&picture);
			expect_same(&picture);
		}
	}
	scenario_run_ms(f.s, 30000);
	follow(&picture);
	expect_same(&picture);
	ck_assert_uint_gt(feed_delivered(f.feed), 1000);
	ck_assert(follower->loses == (feed_lost(f.feed) != 0));
	forget(&picture);
	stop();
}
END_TEST

/* A table that changes and changes back, with a snapshot between, before either is read. */
START_TEST(snapshot_between)
{
	struct picture picture = {0};
	unsigned int node, port;

	prepare();
	begin();
	f.feed = feed_new(OSM_EVENTS_ALL);
	plugin_events_add(f.events, f.feed);
	for (unsigned int i = 0; i < 5; i++) {
		scenario_random_link(f.s, &node, &port);
		sim_link_set(f.s->sim, node, port, false);
		scenario_run_ms(f.s, 5000);
		look(&picture);
		sim_link_set(f.s->sim, node, port, true);
		scenario_run_ms(f.s, 5000);
		follow(&picture);
		ck_assert_uint_ge(count_of(OSM_EVENT_LFT_CHANGE), 1);
		expect_same(&picture);
	}
	forget(&picture);
	stop();
}
END_TEST

/* ---- without feeds ---- */

/* Events that only plug-ins want are not even delivered. */
START_TEST(no_work_without_feeds)
{
	static const enum event_type types[] = {EVENT_DISCOVERY_BEGUN, EVENT_DISCOVERED,
						EVENT_ROUTED,	       EVENT_SUBNET_UP,
						EVENT_SA_DUMPED,       EVENT_NOTICES_TOLD};
	uint64_t before, now;

	prepare();
	begin();
	ck_assert(!atomic_load(&context()->notices.wanted));
	ck_assert_uint_eq(context()->notices.waiting->len, 0);
	before = memory_used();
	for (unsigned int i = 0; i < 1000; i++)
		event_emit(&context()->bus, types[i % G_N_ELEMENTS(types)], 0);
	ck_assert_uint_eq(memory_used(), before);
	now = runtime_now(f.s->rt);
	f.feed = feed_new(OSM_EVENTS_ALL);
	plugin_events_add(f.events, f.feed);
	event_emit(&context()->bus, EVENT_SUBNET_UP, 0);
	run(0);
	first_of(OSM_EVENT_SUBNET_UP);
	plugin_events_remove(f.events, f.feed);
	event_emit(&context()->bus, EVENT_SUBNET_UP, 0);
	event_emit(&context()->bus, EVENT_OPTIONS_CHANGED, 0);
	run(0);
	ck_assert_uint_eq(f.all->len, 0);
	ck_assert_uint_eq(runtime_now(f.s->rt), now);
	stop();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("plugin_events");
	TCase *tcase = tcase_create("plugin_events");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, bring_up);
	tcase_add_test(tcase, a_link);
	tcase_add_test(tcase, a_leaf);
	tcase_add_test(tcase, routed_again);
	tcase_add_test(tcase, alarms);
	tcase_add_test(tcase, unhealthy_ports);
	tcase_add_test(tcase, clients);
	tcase_add_test(tcase, other_sms);
	tcase_add_test(tcase, a_standby);
	tcase_add_test(tcase, policies_and_options);
	tcase_add_test(tcase, sa_is_dumped);
	tcase_add_test(tcase, counters);
	tcase_add_test(tcase, counters_joined);
	tcase_add_loop_test(tcase, picture_by_events, 0, G_N_ELEMENTS(followers));
	tcase_add_test(tcase, snapshot_between);
	tcase_add_test(tcase, no_work_without_feeds);
	suite_add_tcase(suite, tcase);
	return suite;
}
