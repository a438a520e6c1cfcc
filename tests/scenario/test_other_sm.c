// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Another SM configured the port last: whether it is asked, and what its answer leads to. It is
 * played by the test, on host-9.
 */
#include <check.h>
#include <string.h>

#include "scenario.h"
#include "tests/run_suite.h"

struct other {
	struct scenario *s;
	struct actor *actor;
	struct vendor *vendor;
	bool silent;
	struct iba_sm_info info;
	unsigned int asked;
};

static void receive(void *arg, struct vendor_mad *mad)
{
	struct other *other = arg;
	struct iba_smp smp;
	uint8_t wire[IBA_MAD_BYTES];

	wire_decode(&iba_smp_type, mad->data, &smp);
	if (smp.header.attribute_id == IBA_ATTR_SM_INFO && smp.header.method == IBA_METHOD_GET) {
		other->asked++;
		smp.header.method = IBA_METHOD_GET_RESP;
		memset(smp.data, 0, sizeof(smp.data));
		wire_encode(&iba_sm_info_type, &other->info, smp.data);
		wire_encode(&iba_smp_type, &smp, wire);
		if (!other->silent)
			vendor_send(other->vendor, &mad->remote, wire, sizeof(wire), 0);
	}
	vendor_mad_free(mad);
}

static struct iba_port_info *own_info(struct scenario *s)
{
	unsigned int port, node = scenario_sm_node(s, &port);

	return (struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, node, port);
}

/* The subnet is up, its manager gone, and the own port says that host-9 has the next one. */
static void set_up(struct other *other)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct vendor_client client = {.arg = other, .receive = receive};
	const struct vendor_shares shares = {.source = 64, .total = 64};
	unsigned int host = scenario_node(s, "host-9");

	scenario_start(s);
	scenario_converge(s, 20);
	scenario_stop(s);
	*other = (struct other){.s = s};
	other->actor = client.actor = actor_new(s->rt, "other");
	other->vendor = sim_open(s->sim, sim_port_guid(s->sim, host, 1), NULL);
	g_assert(vendor_set_is_sm(other->vendor, true, NULL));
	g_assert(vendor_bind(other->vendor, IBA_CLASS_SUBN_LID, true, &client, NULL));
	vendor_serve(other->vendor, IBA_CLASS_SUBN_LID, &client, &shares);
	other->info = (struct iba_sm_info){
		.guid = sim_port_guid(s->sim, host, 1),
		.priority = 11,
		.sm_state = IBA_SM_MASTER,
	};
	own_info(s)->master_sm_lid = scenario_lid(s, host);
}

static void tear_down(struct other *other)
{
	scenario_stop(other->s);
	vendor_close(other->vendor);
	actor_free(other->actor);
	scenario_free(other->s);
}

static unsigned int state(struct scenario *s)
{
	return atomic_load(&daemon_context(s->daemon)->sm_state);
}

static struct scenario *start(struct other *other, uint64_t ms)
{
	scenario_start(other->s);
	scenario_run_ms(other->s, ms);
	return other->s;
}

/* A master keeps the subnet: nothing is set. Once it says it is none, its place is taken. */
START_TEST(master_is_obeyed)
{
	static const uint8_t others[] = {IBA_SM_NOT_ACTIVE, IBA_SM_DISCOVERING, IBA_SM_STANDBY};
	struct other other;
	struct scenario *s;
	uint64_t sets;

	set_up(&other);
	sets = scenario_counters(other.s).sets;
	s = start(&other, 45 * 1000);
	ck_assert_uint_eq(state(s), IBA_SM_STANDBY);
	ck_assert_uint_eq(scenario_counters(s).sets, sets);
	scenario_check_log(s, "priority 11, is MASTER of this subnet", true);
	scenario_check_log(s, "SUBNET UP", true); /* of the first one */
	ck_assert_uint_ge(other.asked, 4);	  /* at the start, and every ten seconds */
	ck_assert_uint_le(other.asked, 6);
	other.info.sm_state = others[_i];
	scenario_run_ms(s, 11 * 1000);
	ck_assert_uint_eq(state(s), IBA_SM_MASTER);
	ck_assert_uint_gt(scenario_counters(s).sets, sets);
	ck_assert_uint_eq(own_info(s)->master_sm_lid, own_info(s)->lid);
	scenario_converge(s, 10);
	tear_down(&other);
}
END_TEST

/* It is asked six times before its silence counts: a lost SMP makes no second master. */
START_TEST(silent_master_is_gone)
{
	struct other other;
	struct scenario *s;

	set_up(&other);
	other.silent = true;
	s = start(&other, 10 * 1000);
	ck_assert_uint_eq(other.asked, 6);
	ck_assert_uint_eq(state(s), IBA_SM_MASTER);
	scenario_check_log(s, "Entering STANDBY state", false);
	tear_down(&other);
}
END_TEST

/* What no other SM can have for a LID is not asked: one's own, none, or a multicast one. */
START_TEST(nobody_to_ask)
{
	const uint16_t lids[] = {0, IBA_LID_MCAST_FIRST, IBA_LID_PERMISSIVE, 1};
	struct other other;
	struct scenario *s;

	set_up(&other);
	own_info(other.s)->master_sm_lid = lids[_i] == 1 ? own_info(other.s)->lid : lids[_i];
	s = start(&other, 3 * 1000);
	ck_assert_uint_eq(other.asked, 0);
	ck_assert_uint_eq(state(s), IBA_SM_MASTER);
	tear_down(&other);
}
END_TEST

/* An answer with our own GUID is our own, by whatever way it came. */
START_TEST(own_guid_is_no_other)
{
	struct other other;
	struct scenario *s;

	set_up(&other);
	other.info.guid = other.s->sm_guid;
	s = start(&other, 3 * 1000);
	ck_assert_uint_eq(other.asked, 1);
	ck_assert_uint_eq(state(s), IBA_SM_MASTER);
	tear_down(&other);
}
END_TEST

/* A master that shows up later, as it configures our port, is obeyed from the next sweep on. */
START_TEST(master_shows_up)
{
	struct other other;
	struct scenario *s;
	uint64_t sets;

	set_up(&other);
	other.info.sm_state = IBA_SM_STANDBY;
	s = start(&other, 5 * 1000);
	ck_assert_uint_eq(state(s), IBA_SM_MASTER);
	other.info.sm_state = IBA_SM_MASTER;
	own_info(s)->master_sm_lid = scenario_lid(s, scenario_node(s, "host-9"));
	sets = scenario_counters(s).sets;
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(state(s), IBA_SM_STANDBY);
	ck_assert_uint_eq(scenario_counters(s).sets, sets);
	scenario_check_log(s, "Entering STANDBY state", true);
	tear_down(&other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("other_sm");
	TCase *tcase = tcase_create("other_sm");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, master_is_obeyed, 0, 3);
	tcase_add_test(tcase, silent_master_is_gone);
	tcase_add_loop_test(tcase, nobody_to_ask, 0, 4);
	tcase_add_test(tcase, own_guid_is_no_other);
	tcase_add_test(tcase, master_shows_up);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
