// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The reporter by itself, with a registry of its own, on a simulated fabric that a subnet manager
 * set up: which Reports are sent, how many at a time, and what happens to unanswered ones.
 */
#include <check.h>
#include <string.h>

#include "sa/report/report.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_net.h"

#define TRIES 4	     /* of an unanswered Report */
#define TRY_MS 200   /* how long the first of them waits */
#define LAST_MS 3000 /* how long all of them wait */
#define COUNT(name) counter_get(&net.context.counters, name)

static struct net net;
static struct sa_registries all;
static struct sa_reporter *reporter;
static struct subnet *subnet;

/* The subscriber. */
static struct {
	struct vendor *port;
	uint64_t guid;
	uint16_t lid;
	bool deaf;
	unsigned int delay_ms; /* before it answers */
	struct timer timer;    /* for that */
	GQueue late;	       /* struct vendor_mad: to be answered after that time */
	unsigned int packets;
	struct iba_mad_header header; /* of the last one */
	uint16_t status;	      /* of its responses */
	GArray *traps;		      /* uint16_t: of each that it answered */
	GArray *gids;		      /* uint64_t: GUID of the GID that each was about */
	uint32_t last_what;	      /* of trap() */
} listener;

static void respond(struct vendor_mad *mad)
{
	struct iba_sa_notice notice;
	struct iba_trap_gid about;

	wire_decode(&iba_sa_notice_type, mad->data + IBA_SA_DATA_OFFSET, &notice);
	wire_decode(&iba_trap_gid_type, notice.notice.data_details, &about);
	g_array_append_val(listener.gids, about.gid.guid);
	g_array_append_val(listener.traps, notice.notice.trap_number);
	mad->data[3] = IBA_METHOD_REPORT_RESP;
	mad->data[5] = (uint8_t)listener.status;
	vendor_send(listener.port, &mad->remote, mad->data, IBA_MAD_BYTES, 0);
	vendor_mad_free(mad);
}

static void respond_late(struct timer *timer)
{
	(void)timer;
	while (!g_queue_is_empty(&listener.late))
		respond(g_queue_pop_head(&listener.late));
}

static void receive(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	if (mad->status != VENDOR_RECEIVED || mad->data[3] != IBA_METHOD_REPORT) {
		vendor_mad_free(mad);
		return;
	}
	listener.packets++;
	wire_decode(&iba_mad_header_type, mad->data, &listener.header);
	if (listener.deaf) {
		vendor_mad_free(mad);
	} else if (listener.delay_ms) {
		g_queue_push_tail(&listener.late, mad);
		if (!timer_running(&listener.timer))
			timer_start(&listener.timer, listener.delay_ms * NS_PER_MS);
	} else {
		respond(mad);
	}
}

/* Number of times that the listener was told to reregister. */
static unsigned int asked;

static void count_asked(void *arg, uint64_t guid)
{
	(void)arg;
	asked += guid == listener.guid;
}

static uint16_t lid_of(uint64_t guid)
{
	return subnet->fabric->ports[fabric_port_by_guid(subnet->fabric, guid)].lid;
}

static void setup_on(const char *spec, const char *host)
{
	struct vendor_client client = {.receive = receive};

	net_start(&net, RUNTIME_VIRTUAL, spec);
	asked = 0;
	event_subscribe(&net.context.bus, EVENT_REREGISTER_WANTED, net.client, count_asked, NULL);
	net_run_daemon(&net);
	ck_assert(net_wait_up(&net));
	subnet = slot_take(&net.context.subnet);
	listener.guid = sim_port_guid(net.sim, sim_find_name(net.sim, host), 1);
	listener.lid = lid_of(listener.guid);
	listener.port = sim_open(net.sim, listener.guid, NULL);
	listener.deaf = false;
	listener.delay_ms = 0;
	listener.status = 0;
	timer_init(&listener.timer, net.client, respond_late);
	g_queue_init(&listener.late);
	listener.packets = 0;
	listener.traps = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	listener.gids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	client.actor = net.client;
	ck_assert(vendor_bind(listener.port, IBA_CLASS_SUBN_ADM, true, &client, NULL));
	all = sa_registries_new(0);
	reporter = sa_reporter_new(&net.context, net.client, net.mad, &all);
	sa_reporter_follow(reporter, subnet);
}

static void setup(void)
{
	setup_on("fattree:4", "host-7");
}

static void setup_large(void)
{
	setup_on("fattree:8", "host-127");
}

static void run_ms(uint64_t ms)
{
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + ms * NS_PER_MS);
}

static void teardown(void)
{
	run_ms(60000); /* none is outstanding any more */
	sa_reporter_free(reporter);
	sa_registries_free(&all);
	vendor_close(listener.port);
	g_array_unref(listener.traps);
	g_array_unref(listener.gids);
	subnet_unref(subnet);
	net_stop(&net);
}

/* From a QP of that number to traps of that number; IBA_TRAP_ALL: all. */
static struct sa_subscription *subscribe_from(uint64_t guid, uint32_t qpn, uint16_t trap_number)
{
	const struct iba_inform_info info = {
		.lid_range_begin = IBA_LID_PERMISSIVE,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xFFFF,
		.trap_number = trap_number,
		.producer_type = 0xFFFFFF,
		.qpn = qpn,
	};
	const struct vendor_address to = {.lid = lid_of(guid), .qpn = qpn, .qkey = IBA_QP1_Q_KEY};
	struct sa_subscription *subscription =
		sa_subscribers_add(all.subscribers, guid, &to, &info, false);

	ck_assert_ptr_nonnull(subscription);
	subscription->to.qpn = IBA_QP1; /* the listener's, whatever its key says */
	return subscription;
}

static struct sa_subscription *subscribe(uint32_t qpn, uint16_t trap_number)
{
	return subscribe_from(listener.guid, qpn, trap_number);
}

/* From the port of that LID; what makes the subject differ. */
static void trap_from(uint16_t lid, uint16_t number, uint32_t what)
{
	struct iba_notice notice = {
		.is_generic = 1, .type = 1, .producer_type = 1, .trap_number = number};

	memcpy(notice.data_details, &what, sizeof(what));
	sa_report_trap(reporter, &notice, lid);
}

/* Always about a new subject. */
static void trap(uint16_t number)
{
	trap_from(listener.lid, number, ++listener.last_what);
}

static void check_traps(unsigned int n, const uint16_t *traps)
{
	ck_assert_uint_eq(listener.traps->len, n);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_uint_eq(g_array_index(listener.traps, uint16_t, i), traps[i]);
}

/* One after the other, each once; a later subscriber gets the later ones. */
START_TEST(test_in_order)
{
	static const uint16_t expected[] = {129, 130, 131, 132};

	trap(128); /* no subscriber yet */
	subscribe(1, IBA_TRAP_ALL);
	run_ms(1000);
	for (uint16_t number = 129; number <= 132; number++)
		trap(number);
	run_ms(1000);
	check_traps(4, expected);
	ck_assert_uint_eq(COUNT(sa_reports_sent), 4);
	ck_assert_uint_eq(listener.header.class_version, IBA_SA_CLASS_VERSION);
	ck_assert_uint_eq(listener.header.attribute_id, IBA_ATTR_NOTICE);
	subscribe(2, IBA_TRAP_ALL); /* not of these */
	run_ms(1000);
	check_traps(4, expected);
}
END_TEST

/*
 * Each is repeated before it is given up; after three in a row there is one try of one a minute,
 * and in the end the subscription ends.
 */
START_TEST(test_unanswered)
{
	struct sa_subscription *subscription = subscribe(1, IBA_TRAP_ALL);

	for (unsigned int round = 0; round < 2; round++) {
		listener.deaf = true;
		for (unsigned int i = 1; i < SA_REPORTS_UNANSWERED; i++) {
			trap(128);
			run_ms(60000);
			ck_assert_uint_eq(subscription->unanswered, i);
		}
		listener.deaf = false; /* it was busy */
		trap(129);
		run_ms(60000);
		ck_assert_uint_eq(subscription->unanswered, 0);
	}
	ck_assert_uint_eq(listener.packets, 2 * ((SA_REPORTS_UNANSWERED - 1) * TRIES + 1));
	listener.deaf = true;
	listener.packets = 0;
	for (unsigned int i = 0; i < SA_REPORTS_IN_VAIN; i++)
		trap(128);
	run_ms((SA_REPORTS_IN_VAIN - SA_REPORTS_UNANSWERED) * 60000);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 1);
	run_ms(3 * 60000);
	ck_assert_uint_eq(sa_subscribers_count(all.subscribers), 0);
	ck_assert_uint_eq(COUNT(sa_subscriptions_dead), 1);
	ck_assert_uint_eq(listener.packets, SA_REPORTS_UNANSWERED * TRIES + SA_REPORTS_IN_VAIN -
						    SA_REPORTS_UNANSWERED);
}
END_TEST

/* BUSY is not an answer, until it is repeated often enough. */
START_TEST(test_busy)
{
	struct sa_subscription *subscription = subscribe(1, IBA_TRAP_ALL);

	listener.status = IBA_STATUS_BUSY;
	trap(129);
	run_ms(60000);
	ck_assert_uint_eq(listener.packets, TRIES);
	ck_assert_uint_eq(COUNT(sa_reports_sent), 1);
	ck_assert_uint_eq(COUNT(sa_reports_unanswered), 0);
	ck_assert_uint_eq(subscription->unanswered, 0);
}
END_TEST

/* A host that stands still for minutes gets the Reports of that time afterwards. */
START_TEST(test_stood_still)
{
	static const uint16_t expected[] = {133, 134, 135, 136};
	struct sa_subscription *subscription = subscribe(1, IBA_TRAP_ALL);

	listener.deaf = true;
	for (uint16_t number = 130; number <= 135; number++)
		trap(number);
	run_ms(30000);
	ck_assert_uint_eq(subscription->unanswered, SA_REPORTS_UNANSWERED);
	listener.deaf = false;
	run_ms(60000);
	trap(136);
	run_ms(1000);
	check_traps(4, expected);
	ck_assert_uint_eq(subscription->unanswered, 0);
}
END_TEST

/* A client that subscribes again need not rest any more. */
START_TEST(test_subscribed_again)
{
	subscribe(1, IBA_TRAP_ALL);
	listener.deaf = true;
	for (unsigned int i = 0; i < SA_REPORTS_UNANSWERED; i++)
		trap(128);
	run_ms(30000);
	listener.deaf = false;
	for (unsigned int i = 0; i < 2; i++) {
		if (i)
			subscribe(1, IBA_TRAP_ALL);
		trap(129);
		run_ms(1000);
		ck_assert_uint_eq(listener.traps->len, 2 * i);
	}
}
END_TEST

/* From now on the SM's port has these P_Keys, as far as the reporter knows. */
static void follow_p_keys(const uint16_t *p_keys, guint n)
{
	struct subnet *next =
		subnet_new(subnet->fabric, subnet->routing, subnet->partitions, subnet->options);

	next->sm_p_keys = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	g_array_append_vals(next->sm_p_keys, p_keys, n);
	sa_reporter_follow(reporter, next);
	subnet_unref(next);
}

/* The P_Key used to subscribe is at another index of the SM's port. */
START_TEST(test_p_keys_moved)
{
	static const uint16_t before[] = {0x8001, 0xFFFF}, after[] = {0xFFFF};
	struct sa_subscription *subscription;

	follow_p_keys(before, 2);
	subscription = subscribe(1, IBA_TRAP_ALL);
	subscription->to.p_key_index = 1;
	follow_p_keys(after, 1);
	trap(128);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, 1);
	ck_assert_uint_eq(subscription->unanswered, 0);
}
END_TEST

/* Hosts cannot report that a GID is in service, or a group deleted. */
START_TEST(test_not_of_hosts)
{
	static const uint16_t expected[] = {63, 68};

	subscribe(1, IBA_TRAP_ALL);
	for (uint16_t number = 63; number <= 68; number++)
		trap(number);
	run_ms(1000);
	check_traps(2, expected);
}
END_TEST

/* To one port one after the other; when one is answered or given up the next follows. */
START_TEST(test_many_subscriptions)
{
	const unsigned int n = 50;

	listener.deaf = _i;
	for (unsigned int i = 0; i < n; i++)
		subscribe(i, IBA_TRAP_ALL);
	trap(128);
	run_ms(100);
	ck_assert_uint_eq(COUNT(sa_reports_sent), _i ? 1 : n);
	run_ms(200000);
	ck_assert_uint_eq(COUNT(sa_reports_sent), n);
	ck_assert_uint_eq(COUNT(sa_reports_unanswered), _i ? n : 0);
	ck_assert_uint_eq(listener.packets, _i ? TRIES * n : n);
}
END_TEST

/* As many as a port may have, to all traps, of this number of silent hosts. */
static void subscribe_silent(unsigned int n_hosts)
{
	for (unsigned int i = 0; i < n_hosts * SA_SUBSCRIPTIONS_OF_PORT; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i % n_hosts + 1);
		uint64_t guid = sim_port_guid(net.sim, sim_find_name(net.sim, name), 1);

		subscribe_from(guid, i / n_hosts, IBA_TRAP_ALL);
	}
}

/* A port that answers is told soon, however many do not. */
START_TEST(test_silent_ports)
{
	static const struct {
		unsigned int n_hosts, soon_ms;
	} cases[] = {{1, 10}, {50, 10}, {100, 2 * TRY_MS}};

	subscribe_silent(cases[_i].n_hosts);
	subscribe(1, 200);
	for (unsigned int i = 0; i < 200; i++) {
		trap(200);
		run_ms(cases[_i].soon_ms);
		ck_assert_uint_eq(listener.traps->len, i + 1);
		run_ms(1000);
	}
	ck_assert_uint_eq(COUNT(sa_notices_missed), 0);
}
END_TEST

/* Also one that takes a second to answer; in the order of events. */
START_TEST(test_silent_ports_and_slow)
{
	const unsigned int delay_ms = 1000;
	uint16_t last = 0;

	listener.delay_ms = delay_ms;
	subscribe_silent(100);
	subscribe(1, 200);
	subscribe(1, 201);
	for (unsigned int i = 0; i < 100; i++) {
		trap(200 + i % 2);
		run_ms(delay_ms + 3 * TRY_MS);
		ck_assert_uint_gt(listener.traps->len, 0);
		last = g_array_index(listener.traps, uint16_t, listener.traps->len - 1);
		ck_assert_uint_eq(last, 200 + i % 2);
		run_ms(LAST_MS);
		g_array_set_size(listener.traps, 0);
	}
}
END_TEST

/* Even beside a subscription of the same port that is not answered. */
START_TEST(test_silent_neighbour)
{
	for (unsigned int i = 1; i < SA_SUBSCRIPTIONS_OF_PORT; i++)
		subscribe(i, IBA_TRAP_ALL)->to.qpn = 77;
	trap(128);
	run_ms(SA_SUBSCRIPTIONS_OF_PORT * TRY_MS);
	subscribe(SA_SUBSCRIPTIONS_OF_PORT, 200);
	for (unsigned int i = 0; i < 10; i++) {
		trap(200);
		run_ms(10);
		ck_assert_uint_eq(listener.traps->len, i + 1);
		run_ms(1000);
	}
}
END_TEST

static uint16_t lid_of_host(const char *host)
{
	return lid_of(sim_port_guid(net.sim, sim_find_name(net.sim, host), 1));
}

/* Excess traps of one port are dropped; those of others before and after are kept. */
START_TEST(test_flood_of_one)
{
	const unsigned int more = SA_NOTICES_OF_ORIGIN + 100;
	struct sa_subscription *subscription = subscribe(1, IBA_TRAP_ALL);
	const uint16_t quiet = lid_of_host("host-8"), noisy = lid_of_host("host-9");
	unsigned int told = 0;

	listener.deaf = true;
	trap_from(quiet, 201, 0);
	for (unsigned int i = 0; i < more; i++)
		trap_from(noisy, 200, i);
	trap_from(quiet, 202, 0);
	run_ms(TRY_MS + 100);
	listener.deaf = false;
	run_ms(120000);
	for (unsigned int i = 0; i < listener.traps->len; i++)
		told += g_array_index(listener.traps, uint16_t, i) != 200;
	ck_assert_uint_eq(told, 2);
	ck_assert_uint_eq(listener.traps->len, SA_NOTICES_OF_ORIGIN + 2);
	ck_assert_uint_eq(COUNT(sa_notices_dropped), 100);
	ck_assert_uint_eq(COUNT(sa_notices_missed), 100);
	ck_assert_uint_eq(subscription->missed, 100);
	ck_assert_uint_eq(asked, 0); /* a port may not make others reregister */
}
END_TEST

static void flap_groups(unsigned int rounds, uint64_t creator)
{
	for (unsigned int i = 0; i < rounds * 64; i++)
		for (unsigned int created = 2; created-- > 0;)
			sa_report_group(reporter, created,
					(struct iba_gid){UINT64_C(0xFF12000000000000), i % 64},
					0xFFFF, creator);
}

/* Groups that a host makes and deletes do not cost those that wait for other Reports. */
START_TEST(test_flapping_groups)
{
	uint64_t noisy = sim_port_guid(net.sim, sim_find_name(net.sim, "host-9"), 1);
	unsigned int told = 0;

	subscribe(1, _i ? IBA_TRAP_ALL : IBA_TRAP_LINK_INTEGRITY);
	listener.deaf = true;
	for (unsigned int i = 0; i < 80; i++) {
		flap_groups(10, noisy);
		trap(IBA_TRAP_LINK_INTEGRITY);
	}
	run_ms(TRY_MS + 100);
	listener.deaf = false;
	run_ms(60000);
	for (unsigned int i = 0; i < listener.traps->len; i++)
		told += g_array_index(listener.traps, uint16_t, i) == IBA_TRAP_LINK_INTEGRITY;
	ck_assert_uint_eq(told, 80);
	ck_assert_uint_eq(listener.traps->len, told + 64 * _i); /* that each group is gone */
	ck_assert_uint_eq(COUNT(sa_notices_missed), 0);
}
END_TEST

/* Each kind in turn: a long list of one does not keep the others waiting. */
START_TEST(test_kinds_in_turn)
{
	static const uint16_t soon = IBA_TRAP_LINK_INTEGRITY;
	unsigned int at = 0;

	subscribe(1, IBA_TRAP_ALL);
	listener.delay_ms = 10;
	for (unsigned int i = 0; i < 500; i++)
		sa_report_group(reporter, true, (struct iba_gid){UINT64_C(0xFF12000000000000), i},
				0xFFFF, i % 10);
	trap(soon);
	run_ms(10000);
	ck_assert_uint_eq(listener.traps->len, 501);
	while (g_array_index(listener.traps, uint16_t, at) != soon)
		at++;
	ck_assert_uint_lt(at, 4);
}
END_TEST

/* One MGID, in order: the last state is reported, and no outdated one. */
START_TEST(test_joined)
{
	static const struct {
		bool knows;	  /* about the group, before it stops answering */
		const char *what; /* c: created, d: deleted */
		const char *told;
	} cases[] = {
		{false, "c", "c"}, {false, "cd", "d"}, {false, "cdc", "dc"}, {false, "cdcd", "d"},
		{true, "d", "d"},  {true, "dc", "dc"}, {true, "dcd", "d"},   {true, "dcdc", "dc"},
	};
	const struct iba_gid mgid = {UINT64_C(0xFF12000000000000), 1};
	unsigned int n = strlen(cases[_i].told);

	subscribe(1, IBA_TRAP_ALL);
	if (cases[_i].knows)
		sa_report_group(reporter, true, mgid, 0xFFFF, 1);
	run_ms(1000);
	listener.deaf = true;
	sa_report_group(reporter, true, (struct iba_gid){mgid.prefix, 2}, 0xFFFF, 1);
	run_ms(10); /* that Report is outstanding */
	g_array_set_size(listener.traps, 0);
	for (const char *c = cases[_i].what; *c; c++)
		sa_report_group(reporter, *c == 'c', mgid, 0xFFFF, 1);
	listener.deaf = false;
	run_ms(60000);
	ck_assert_uint_eq(listener.traps->len, n + 1);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_uint_eq(g_array_index(listener.traps, uint16_t, i + 1),
				  cases[_i].told[i] == 'c' ? IBA_TRAP_MCAST_GROUP_CREATED
							   : IBA_TRAP_MCAST_GROUP_DELETED);
}
END_TEST

/* A subscriber that did not answer is told to reregister when it does, and not each time. */
START_TEST(test_told_that_it_missed)
{
	struct sa_subscription *subscription = subscribe(1, IBA_TRAP_ALL);

	for (unsigned int i = 0; i < 3; i++) {
		listener.deaf = true;
		trap(129);
		run_ms(60000);
		ck_assert_uint_eq(asked, MIN(i, 1));
		listener.deaf = false;
		trap(130);
		run_ms(1000);
		ck_assert_uint_eq(asked, 1);
		ck_assert_uint_eq(subscription->missed, i + 1);
	}
	run_ms(SA_REPORT_ASK_AGAIN / NS_PER_MS);
	trap(131);
	run_ms(1000);
	ck_assert_uint_eq(asked, 2);
}
END_TEST

/* Many subscribers, many events: all to each, in order; one that leaves costs nothing. */
START_TEST(test_many_events)
{
	const unsigned int n_subscribers = 64, n_events = 300;

	for (unsigned int i = 0; i < n_subscribers; i++)
		subscribe(i, IBA_TRAP_ALL);
	for (unsigned int i = 0; i < n_events; i++) {
		trap(128);
		if (i == n_events / 2)
			run_ms(2);
	}
	sa_subscribers_remove(all.subscribers, subscribe(0, IBA_TRAP_ALL));
	run_ms(60000);
	ck_assert_uint_le(listener.traps->len, n_subscribers * n_events);
	ck_assert_uint_ge(listener.traps->len, (n_subscribers - 1) * n_events);
	ck_assert_uint_eq(COUNT(sa_notices_missed), 0);
}
END_TEST

/* A subscribing port besides the listener. */
struct other {
	struct vendor *port;
	bool deaf;
	unsigned int answered;
};

static void receive_other(void *arg, struct vendor_mad *mad)
{
	struct other *other = arg;

	if (mad->status == VENDOR_RECEIVED && mad->data[3] == IBA_METHOD_REPORT && !other->deaf) {
		other->answered++;
		mad->data[3] = IBA_METHOD_REPORT_RESP;
		vendor_send(other->port, &mad->remote, mad->data, IBA_MAD_BYTES, 0);
	}
	vendor_mad_free(mad);
}

/* Eight subscriptions of each of 100 ports; this many of the last ones never answer. */
static void subscribe_others(struct other *others, unsigned int n, unsigned int n_deaf)
{
	for (unsigned int i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i + 1);
		uint64_t guid = sim_port_guid(net.sim, sim_find_name(net.sim, name), 1);
		const struct vendor_client client = {
			.actor = net.client, .receive = receive_other, .arg = &others[i]};

		others[i] = (struct other){.port = sim_open(net.sim, guid, NULL),
					   .deaf = i >= n - n_deaf};
		ck_assert(vendor_bind(others[i].port, IBA_CLASS_SUBN_ADM, true, &client, NULL));
		for (unsigned int qpn = 0; qpn < 8; qpn++)
			subscribe_from(guid, qpn, IBA_TRAP_ALL);
	}
}

/* Each of 800 subscriptions of 100 ports gets everything, though ten of the ports never answer. */
START_TEST(test_many_subscribers)
{
	const unsigned int n = 100, n_deaf = 10, n_events = 30;
	struct other others[100];

	subscribe_others(others, n, n_deaf);
	for (unsigned int i = 0; i < n_events; i++)
		trap(128);
	run_ms(20000);
	for (unsigned int i = 0; i < n - n_deaf; i++)
		ck_assert_uint_eq(others[i].answered, 8 * n_events);
	ck_assert_uint_eq(COUNT(sa_notices_missed), 0);
	sa_subscribers_clear(all.subscribers);
	run_ms(60000);
	for (unsigned int i = 0; i < n; i++)
		vendor_close(others[i].port);
}
END_TEST

/* Notices that concern one of many are found among many others, step by step. */
START_TEST(test_much_to_look_at)
{
	for (unsigned int i = 0; i < 20; i++)
		subscribe(i, 200 + i);
	for (unsigned int i = 0; i < 3000; i++)
		trap(128);
	for (unsigned int i = 0; i < 20; i++)
		trap(200 + i);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, 20);
	ck_assert_uint_eq(COUNT(sa_notices_missed), 0);
}
END_TEST

/* The LID from which it subscribed may be another port's by now. */
START_TEST(test_lid_changed)
{
	struct sa_subscription *subscription = subscribe(1, IBA_TRAP_ALL);

	subscription->to.lid = net.sm_lid;
	trap(128);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, 1);
	ck_assert_uint_eq(subscription->unanswered, 0);
}
END_TEST

/* A subscription that ended while a Report was outstanding is not mistaken for a new one. */
START_TEST(test_ended_while_out)
{
	listener.deaf = true;
	subscribe(1, IBA_TRAP_ALL);
	trap(128);
	run_ms(1);
	sa_subscribers_clear(all.subscribers);
	if (_i)
		subscribe(1, IBA_TRAP_ALL);
	run_ms(60000);
	listener.deaf = false;
	trap(129);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, _i);
	for (unsigned int i = 0; i < 100; i++) { /* none counts as outstanding for ever */
		trap(129);
		run_ms(10);
	}
	ck_assert_uint_eq(listener.traps->len, _i ? 101 : 0);
}
END_TEST

/* One that waits for its turn ends: it is not accessed again. */
START_TEST(test_ended_while_waiting)
{
	struct sa_subscription *last = NULL;

	listener.deaf = true;
	for (unsigned int i = 0; i < 2; i++)
		last = subscribe(i, IBA_TRAP_ALL);
	trap(128);
	run_ms(1);
	ck_assert(last->line);
	sa_subscribers_remove(all.subscribers, last);
	run_ms(60000);
	ck_assert_uint_eq(COUNT(sa_reports_sent), 1);
}
END_TEST

/* Events without a subnet, or while its port was not in it, are never reported. */
START_TEST(test_not_told_later)
{
	subscribe(1, IBA_TRAP_ALL);
	trap(128);
	sa_reporter_follow(reporter, NULL); /* another is master */
	trap(129);
	run_ms(1000);
	sa_reporter_follow(reporter, subnet);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, 0);
	trap(130);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, 1);
	ck_assert_uint_eq(COUNT(sa_notices_missed), 0);
}
END_TEST

/* A port that left the subnet misses what comes, and that does not count against it. */
START_TEST(test_port_gone)
{
	const struct iba_inform_info info = {
		.lid_range_begin = IBA_LID_PERMISSIVE,
		.is_generic = 1,
		.type = 0xFFFF,
		.trap_number = IBA_TRAP_ALL,
		.producer_type = 0xFFFFFF,
	};
	const struct vendor_address to = {.lid = listener.lid, .qpn = 1};
	const struct sa_subscription *gone =
		sa_subscribers_add(all.subscribers, 0xDEAD, &to, &info, true);

	trap(128);
	run_ms(60000);
	ck_assert_uint_eq(COUNT(sa_reports_sent), 0);
	ck_assert_uint_eq(gone->unanswered, 0);
	ck_assert_uint_eq(COUNT(sa_notices_missed), 0);
}
END_TEST

/* One that used the key gets Reports of other partitions, unless it was the well-known key. */
START_TEST(test_trusted)
{
	g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(struct partition_key));
	const struct partition_key own = {fabric_port_by_guid(subnet->fabric, listener.guid),
					  0x8001};
	const struct iba_notice notice = {
		.is_generic = 1, .type = 1, .producer_type = 1, .trap_number = 128};
	struct partitions *partitions;
	struct subnet *next;

	g_array_append_val(keys, own);
	partitions = partitions_of_keys(subnet->fabric->n_ports, keys);
	next = subnet_new(subnet->fabric, subnet->routing, partitions, subnet->options);
	sa_reporter_follow(reporter, next);
	subscribe(1, IBA_TRAP_ALL)->trusted = true;
	next->options->sa_key = _i ? 0x5AFE : 1;
	sa_report_trap(reporter, &notice, net.sm_lid);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, _i);
	trap(128);
	run_ms(1000);
	ck_assert_uint_eq(listener.traps->len, _i + 1);
	next->options->sa_key = 1;
	sa_reporter_follow(reporter, subnet);
	subnet_unref(next);
	partitions_unref(partitions);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_report");
	TCase *tcase = tcase_create("report");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_in_order);
	tcase_add_test(tcase, test_unanswered);
	tcase_add_test(tcase, test_busy);
	tcase_add_test(tcase, test_stood_still);
	tcase_add_test(tcase, test_subscribed_again);
	tcase_add_test(tcase, test_p_keys_moved);
	tcase_add_test(tcase, test_not_of_hosts);
	tcase_add_loop_test(tcase, test_many_subscriptions, 0, 2);
	tcase_add_test(tcase, test_silent_neighbour);
	tcase_add_test(tcase, test_flood_of_one);
	tcase_add_loop_test(tcase, test_flapping_groups, 0, 2);
	tcase_add_test(tcase, test_kinds_in_turn);
	tcase_add_loop_test(tcase, test_joined, 0, 8);
	tcase_add_test(tcase, test_told_that_it_missed);
	tcase_add_test(tcase, test_many_events);
	tcase_add_test(tcase, test_much_to_look_at);
	tcase_add_test(tcase, test_lid_changed);
	tcase_add_loop_test(tcase, test_ended_while_out, 0, 2);
	tcase_add_test(tcase, test_ended_while_waiting);
	tcase_add_test(tcase, test_not_told_later);
	tcase_add_test(tcase, test_port_gone);
	tcase_add_loop_test(tcase, test_trusted, 0, 2);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("silent ports");
	tcase_add_checked_fixture(tcase, setup_large, teardown);
	tcase_add_loop_test(tcase, test_silent_ports, 0, 3);
	tcase_add_test(tcase, test_silent_ports_and_slow);
	tcase_add_test(tcase, test_many_subscribers);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
