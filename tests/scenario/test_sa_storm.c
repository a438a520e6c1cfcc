// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients that ask, join, register and subscribe as fast as they are answered, while packets are
 * lost, duplicated, delayed and corrupted, cables and switches go and come back, traps flood in,
 * and clients die in the middle of tables. Each request that reached the SA is answered, or counted
 * as dropped; and at the end, what clients were promised exists, and what they gave up does not.
 *
 * SA_SEEDS=FIRST-LAST for other and longer runs by hand ("make sa-storms").
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "asker.h"
#include "client.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define ASKERS 5
#define SUBSCRIBERS 2 /* of the clients */
#define STEPS 60
#define CONVERGE_S 120
#define SETTLE_MS 30000
#define FORGOTTEN_MS 70000 /* an unacknowledged transfer has ended */
#define SA_KEY 1
#define COUNT(name) counter_get(&daemon_context(s->daemon)->counters, name)

static const char *const fabrics[] = {
	"fattree:4", "torus:3x3:2", "random:10:4:2:3", "hypercube:3:2", "dragonfly:3:1:2",
};

static struct scenario *s;
static struct asker *askers[ASKERS];
static struct client *attacker, *bystander; /* NULL: there are none */
static bool corrupt; /* bits were flipped, without a CRC: promises mean nothing */

static unsigned int chance(unsigned int n)
{
	return scenario_random(s, n);
}

static bool is_taken(unsigned int node)
{
	for (unsigned int i = 0; i < ASKERS; i++)
		if (askers[i] && askers[i]->node == node)
			return true;
	return false;
}

static void begin(const char *spec, uint64_t seed, bool has_attacker)
{
	corrupt = false;
	memset(askers, 0, sizeof(askers));
	s = scenario_new(spec, seed);
	s->command = "SA_SEEDS=SEED-SEED tests/scenario/test_sa_storm";
	if (has_attacker)
		scenario_conf(s, "sa_max_memberships 16\n");
	scenario_start(s);
	scenario_converge(s, CONVERGE_S);
	for (unsigned int i = 0; i < ASKERS; i++) {
		unsigned int node;

		do
			node = scenario_random_host(s);
		while (is_taken(node));
		askers[i] = asker_new(s, node, i, i < SUBSCRIBERS);
	}
}

static void end(void)
{
	for (unsigned int i = 0; i < ASKERS; i++)
		asker_free(askers[i]);
	g_clear_pointer(&attacker, client_free);
	g_clear_pointer(&bystander, client_free);
	scenario_free(s);
}

/* ---- what breaks ---- */

static void shuffle_packets(void)
{
	static const double losses[] = {0, 0.001, 0.01, 0.05, 0.2, 0.5};
	unsigned int longest_ms;

	switch (chance(5)) {
	case 0:
		sim_set_loss(s->sim, losses[chance(G_N_ELEMENTS(losses))]);
		break;
	case 1:
		sim_set_duplicate(s->sim, 0.05 * chance(3));
		break;
	case 2:
		longest_ms = chance(2);
		longest_ms *= chance(600);
		sim_set_delay(s->sim, 1000, longest_ms * NS_PER_MS);
		break;
	case 3:
		if (s->seed % 4) /* most seeds must keep their promises */
			break;
		sim_set_corrupt(s->sim, 0.001 * chance(10));
		corrupt = true;
		break;
	default:
		sim_set_timeout_delay(s->sim, chance(2) * 100 * NS_PER_MS);
	}
}

static void rain_traps(void)
{
	struct iba_notice notice = {
		.is_generic = 1,
		.type = 1,
		.trap_number = 128,
		.producer_type = IBA_NODE_SWITCH,
	};

	for (unsigned int i = chance(200); i; i--) {
		unsigned int node = chance(2) ? scenario_random_switch(s) : scenario_random_host(s);

		notice.issuer_lid = chance(2) ? scenario_lid(s, node) : chance(0x10000);
		notice.trap_number = chance(2) ? 128 : chance(300);
		sim_trap(s->sim, node, 1, &notice);
	}
}

static void break_link(void)
{
	unsigned int node, port, times;
	uint64_t up_ns, down_ns;

	scenario_random_link(s, &node, &port);
	switch (chance(4)) {
	case 0:
		times = 1 + chance(4);
		up_ns = NS_PER_MS << chance(8);
		down_ns = NS_PER_MS << chance(8);
		sim_link_flap(s->sim, node, port, down_ns, up_ns, times);
		break;
	case 1:
		sim_link_black_hole(s->sim, node, port, chance(2));
		break;
	case 2: /* of a client */
		down_ns = NS_PER_MS << chance(12);
		sim_link_flap(s->sim, askers[chance(ASKERS)]->node, 1, down_ns, 1, 1);
		break;
	default:
		sim_link_set(s->sim, node, port, chance(2));
	}
}

static void reboot_switch(void)
{
	unsigned int node = scenario_random_switch(s);

	sim_node_set(s->sim, node, false);
	scenario_run_ms(s, chance(2000));
	sim_node_set(s->sim, node, true);
}

static void break_something(void)
{
	switch (chance(8)) {
	case 0:
		rain_traps();
		break;
	case 1:
		break_link();
		break;
	case 2:
		if (!chance(3))
			reboot_switch();
		break;
	case 3:
		asker_die(askers[SUBSCRIBERS + chance(ASKERS - SUBSCRIBERS)]);
		break;
	default:
		shuffle_packets();
	}
}

static void mend(void)
{
	sim_set_loss(s->sim, 0);
	sim_set_duplicate(s->sim, 0);
	sim_set_corrupt(s->sim, 0);
	sim_set_delay(s->sim, 1000, 0);
	sim_set_timeout_delay(s->sim, 0);
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		for (unsigned int port = 1; port <= view.num_ports; port++) {
			sim_link_black_hole(s->sim, node, port, false);
			sim_link_set(s->sim, node, port, true);
		}
	}
}

/* ---- one host disturbs others ---- */

#define M(name) IBA_COMPONENT(mc_member_record, name)
#define MAX_MEMBERSHIPS 16 /* sa_max_memberships */
#define N_GROUPS 12	  /* that it tries to make; as many other ports join each */
#define ALIAS_INDEX 1

static unsigned int attacker_node;
static bool attacker_joined[N_GROUPS][ASKERS]; /* which of the askers, to which of its groups */

static unsigned int free_host(unsigned int other)
{
	unsigned int node;

	do
		node = scenario_random_host(s);
	while (is_taken(node) || node == other);
	return node;
}

static void let_attack(void)
{
	memset(attacker_joined, 0, sizeof(attacker_joined));
	attacker_node = free_host(UINT_MAX);
	attacker = client_new(s, attacker_node);
	bystander = client_new(s, free_host(attacker_node));
}

static int set_member(struct client *client, struct iba_gid mgid, uint64_t guid, uint8_t mtu,
		      uint8_t rate, struct iba_mc_member_record *got)
{
	const uint64_t limits = M(mtu) | M(mtu_selector) | M(rate) | M(rate_selector);

	*got = (struct iba_mc_member_record){
		.mgid = mgid,
		.port_gid = {IBA_DEFAULT_GID_PREFIX, guid},
		.join_state = IBA_JOIN_FULL_MEMBER,
		.p_key = 0xFFFF,
		.q_key = 0x0b1b,
		.mtu_selector = IBA_SELECTOR_EXACTLY,
		.mtu = mtu,
		.rate_selector = IBA_SELECTOR_EXACTLY,
		.rate = rate,
	};
	return client_ask(client, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD,
			  M(mgid) | M(port_gid) | M(join_state) | M(p_key) | M(q_key) | M(sl) |
				  M(t_class) | M(flow_label) | (mtu ? limits : 0),
			  &iba_mc_member_record_type, got);
}

static struct iba_gid solicited_node(unsigned int number)
{
	return (struct iba_gid){UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000000) + number};
}

/* Joins another port to a group of the attacker's: such memberships count for the attacker. */
static void join_others(void)
{
	unsigned int group = chance(N_GROUPS), victim = chance(ASKERS);
	struct iba_gid mgid = {UINT64_C(0xFF12A01C0000BAD0), group};
	struct iba_mc_member_record got;

	set_member(attacker, mgid, client_guid(attacker), 0, 0, &got);
	if (set_member(attacker, mgid, asker_gid(askers[victim]).guid, 0, 0, &got) == 0)
		attacker_joined[group][victim] = true;
}

static void take_identity(void)
{
	struct iba_guid_info_record record = {.lid = scenario_lid(s, attacker_node)};

	record.guid_info.guid[ALIAS_INDEX] = asker_gid(askers[chance(ASKERS)]).guid;
	client_ask(attacker, IBA_METHOD_SET, IBA_ATTR_GUID_INFO_RECORD,
		   IBA_COMPONENT(guid_info_record, lid) |
			   IBA_COMPONENT(guid_info_record, block_num) |
			   UINT64_C(1) << (4 + ALIAS_INDEX),
		   &iba_guid_info_record_type, &record);
}

static void attack(void)
{
	struct iba_mc_member_record got;
	unsigned int rate, mtu;

	switch (chance(3)) {
	case 0:
		rate = 2 + chance(5);
		mtu = 1 + chance(5);
		set_member(attacker, solicited_node(chance(N_GROUPS)), client_guid(attacker), mtu,
			   rate, &got);
		break;
	case 1:
		take_identity();
		break;
	default:
		for (unsigned int i = 0; i < ASKERS; i++)
			join_others();
	}
}

/* A host is served as if there were no attack. */
static void check_bystander(void)
{
	uint64_t alias = sim_alias_guid(s->sim, attacker_node, 1, ALIAS_INDEX);
	struct iba_mc_member_record broadcast = {0}, got;
	unsigned int joined = 0;

	set_member(bystander, (struct iba_gid){UINT64_C(0xFF12401BFFFF0000), UINT32_MAX},
		   client_guid(bystander), 0, 0, &broadcast);
	for (unsigned int i = 0; i < N_GROUPS; i++)
		if (set_member(bystander, solicited_node(i), client_guid(bystander), broadcast.mtu,
			       broadcast.rate, &got))
			scenario_fail(s, "the IPoIB group %u shuts a host out", i);
	for (unsigned int i = 0; i < N_GROUPS * ASKERS; i++)
		joined += attacker_joined[i / ASKERS][i % ASKERS];
	if (joined > MAX_MEMBERSHIPS)
		scenario_fail(s, "one host made %u memberships of others", joined);
	for (unsigned int i = 0; i < ASKERS; i++)
		if (alias == asker_gid(askers[i]).guid)
			scenario_fail(s, "an attacker has the GUID of node %u", askers[i]->node);
}

/* ---- what holds afterwards ---- */

static void all_idle(bool settle)
{
	bool idle = false;

	for (unsigned int ms = 0; !idle && ms < SETTLE_MS; ms += 100) {
		idle = true;
		for (unsigned int i = 0; i < ASKERS; i++) {
			asker_go_on(askers[i], true);
			idle &= asker_is_idle(askers[i]) && (!settle || asker_knows_all(askers[i]));
		}
		scenario_run_ms(s, 100);
	}
	if (!idle && !corrupt) /* a corrupted answer tells no client anything */
		scenario_fail(s, "requests without an end on a healthy fabric");
}

static bool has_member(const struct iba_mc_member_record *record, const struct asker *asker,
		       const struct thing *thing)
{
	struct iba_gid mgid = asker_mgid(thing);

	return record->mgid.prefix == mgid.prefix && record->mgid.guid == mgid.guid &&
	       record->port_gid.guid == asker_gid(asker).guid;
}

static bool has_service(const struct iba_service_record *record, const struct asker *asker,
			const struct thing *thing)
{
	return record->service_id == asker_service_id(asker, thing);
}

static bool has_subscription(const struct iba_inform_info_record *record, const struct asker *asker,
			     const struct thing *thing)
{
	return record->subscriber_gid.guid == asker_gid(asker).guid &&
	       record->inform_info.trap_number == asker_trap(thing);
}

/* All registrations of a kind as the SA reports them. */
struct told {
	unsigned int n;
	GByteArray *records;
	const struct wire_type *type;
};

static struct told tell(struct client *client, enum thing_kind kind)
{
	static const struct {
		uint16_t attribute;
		const struct wire_type *type;
	} kinds[] = {
		[THING_MEMBER] = {IBA_ATTR_MC_MEMBER_RECORD, &iba_mc_member_record_type},
		[THING_SERVICE] = {IBA_ATTR_SERVICE_RECORD, &iba_service_record_type},
		[THING_SUBSCRIPTION] = {IBA_ATTR_INFORM_INFO_RECORD, &iba_inform_info_record_type},
	};
	g_autofree void *any = g_malloc0(kinds[kind].type->size);
	struct told told = {.type = kinds[kind].type};

	told.records = client_table(client, kinds[kind].attribute, 0, told.type, any, &told.n);
	if (!told.records)
		scenario_fail(s, "no table of things of kind %u", kind);
	return told;
}

static bool is_told(const struct told *told, const struct asker *asker, const struct thing *thing)
{
	for (unsigned int i = 0; i < told->n; i++) {
		const void *record = told->records->data + i * told->type->size;

		if (thing->kind == THING_MEMBER	   ? has_member(record, asker, thing)
		    : thing->kind == THING_SERVICE ? has_service(record, asker, thing)
						   : has_subscription(record, asker, thing))
			return true;
	}
	return false;
}

static void check_kind(struct client *client, enum thing_kind kind)
{
	struct told told = tell(client, kind);

	for (unsigned int i = 0; i < ASKERS; i++)
		for (unsigned int j = 0; j < ASKER_THINGS; j++) {
			const struct thing *thing = &askers[i]->things[j];
			bool there = is_told(&told, askers[i], thing);

			if (thing->kind == kind && there != (thing->state == THING_THERE))
				scenario_fail(s, "thing %u of kind %u of asker %u (node %u) is %s",
					      j, kind, i, askers[i]->node,
					      there ? "there, but it was given up"
						    : "gone, but it was promised");
		}
	g_byte_array_unref(told.records);
}

static void check_promises(void)
{
	struct client *client = client_new(s, scenario_sm_node(s, NULL));

	for (unsigned int i = 0; i < ASKERS; i++)
		if (askers[i]->broken)
			scenario_fail(s, "%s", askers[i]->broken);
	client_trust(client, SA_KEY);
	for (enum thing_kind kind = THING_MEMBER; kind <= THING_SUBSCRIPTION; kind++)
		check_kind(client, kind);
	client_free(client);
}

/* Requests that reached the SA: answered, or counted as dropped. */
static void check_account(void)
{
	uint64_t ended = COUNT(sa_answered) + COUNT(sa_stale) + COUNT(sa_malformed) +
			 COUNT(sa_resting) + COUNT(sa_repeated) + COUNT(sa_unanswered) +
			 COUNT(sa_wrong_keys);

	if (COUNT(sa_received) != ended)
		scenario_fail(s,
			      "%" G_GUINT64_FORMAT " requests, of which %" G_GUINT64_FORMAT
			      " came to an end",
			      COUNT(sa_received), ended);
	if (COUNT(sa_octets_held))
		scenario_fail(s, "%" G_GUINT64_FORMAT " octets of answers are held for nobody",
			      COUNT(sa_octets_held));
	if (!COUNT(sa_answered))
		scenario_fail(s, "nothing was answered");
}

/* A corrupted Set may have done lasting harm, which the CRC of real links prevents. */
static void converge(void)
{
	if (corrupt)
		scenario_run_ms(s, 10000);
	else
		scenario_converge(s, CONVERGE_S);
}

static void run(const char *spec, uint64_t seed, bool has_attacker)
{
	begin(spec, seed, has_attacker);
	if (has_attacker)
		let_attack();
	for (unsigned int i = 0; i < STEPS; i++) {
		for (unsigned int j = 0; j < ASKERS; j++)
			asker_go_on(askers[j], false);
		scenario_run_ms(s, chance(1u << chance(9)));
		if (attacker && i >= STEPS / 6 && !chance(3))
			attack();
		if (i < STEPS / 6 || chance(2)) /* they begin with a healthy subnet */
			continue;
		break_something();
	}
	mend();
	converge();
	all_idle(!corrupt);
	converge();
	if (!corrupt)
		check_promises();
	if (attacker && !corrupt)
		check_bystander();
	scenario_run_ms(s, FORGOTTEN_MS);
	check_account();
	end();
}

START_TEST(storm)
{
	run(fabrics[(size_t)_i % G_N_ELEMENTS(fabrics)], (uint64_t)_i, false);
}
END_TEST

/* One client wants what belongs to others. */
START_TEST(storm_with_an_attacker)
{
	run(fabrics[(size_t)_i % G_N_ELEMENTS(fabrics)], (uint64_t)_i, true);
}
END_TEST

/* A late answer showed a link as it was before another one that had been read since. */
START_TEST(storm_with_own_loops)
{
	run("own_loops.topo", (uint64_t)_i, false);
}
END_TEST

/*
 * A late Set(SwitchInfo) set MulticastFDBTop back, unnoticed by light sweeps; a Delete was refused,
 * and a copy of it executed after the Set that followed.
 */
static const int failed_once[] = {230, 336, 515, 643, 2859, 3896};

int main(void)
{
	const char *text = g_getenv("SA_SEEDS");
	Suite *suite = suite_create("sa storm");
	TCase *tcase = tcase_create("storm");
	int first = 1, last = some_seeds(50);

	if (text && sscanf(text, "%d-%d", &first, &last) != 2)
		g_error("SA_SEEDS is %s, not FIRST-LAST", text);
	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, storm, first, last + 1);
	for (size_t i = 0; !text && i < G_N_ELEMENTS(failed_once); i++)
		tcase_add_loop_test(tcase, storm, failed_once[i], failed_once[i] + 1);
	tcase_add_loop_test(tcase, storm_with_an_attacker, text ? first : 1001,
			    text ? last + 1 : 1011);
	tcase_add_loop_test(tcase, storm_with_own_loops, 58, 59);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
