// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Several SMs: which is master, and what they do not do to each other's fabric. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "managers.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define POLLS MANAGERS_POLLS
#define HOSTS 16

static struct managers *m;

static void setup(void)
{
	m = managers_new("fattree:4", 1);
}

static void teardown(void)
{
	managers_free(m);
}

/* Two at once, on an unconfigured fabric: one is master, the other changed nothing. */
START_TEST(started_together)
{
	unsigned int first, second;
	uint64_t ms;

	first = managers_add(m, "host-1", POLLS);
	second = managers_add(m, "host-9", _i == 2 ? POLLS "sm_priority 5\n" : POLLS);
	managers_start(m, first);
	if (_i == 1)
		scenario_run_ms(m->s, 3); /* it is in the middle of its discovery */
	managers_start(m, second);
	ms = managers_settle(m, _i == 2 ? second : first, 10);
	ck_assert_uint_lt(ms, 3000);
	ck_assert_uint_eq(managers_state(m, _i == 2 ? first : second), IBA_SM_STANDBY);
	ck_assert_uint_eq(
		counter_get(&daemon_context(m->sm[_i == 2 ? first : second].daemon)->counters,
			    lft_blocks_set),
		0);
}
END_TEST

static void up_with_standby_for(uint64_t ms)
{
	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, ms);
}

/* One that joins later with the same priority changes nothing, and continues so. */
START_TEST(standby_changes_nothing)
{
	const struct counters *counters;
	struct sim_counters before, after;

	managers_add(m, "host-1", POLLS);
	managers_add(m, "host-9", POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	scenario_run_ms(m->s, 2000);
	before = scenario_counters(m->s);
	managers_start(m, 1);
	scenario_run_ms(m->s, 5000);
	after = scenario_counters(m->s);
	ck_assert_ptr_null(strstr(m->story->str, "sm2 is MASTER"));
	ck_assert_uint_eq(after.sets, before.sets);
	counters = &daemon_context(m->sm[1].daemon)->counters;
	ck_assert_uint_eq(counter_get(counters, sweeps_heavy), 1);
	ck_assert_uint_eq(counter_get(counters, sweeps_cancelled), 0); /* it ended by itself */
}
END_TEST

/* kill -9 of the master: its standby takes over as the classic does, and changes next to
 * nothing. */
START_TEST(master_dies)
{
	struct sim_counters before, after;
	uint64_t ms;

	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	before = scenario_counters(m->s);
	managers_kill(m, 0);
	ms = managers_settle(m, 1, 10);
	after = scenario_counters(m->s);
	ck_assert_uint_le(ms, 4000);
	/* MasterSMLID of each endport, and blocks of two switches, which it finds in another
	 * order. */
	ck_assert_uint_le(after.sets - before.sets, scenario_switches(m->s) + HOSTS + 3);
}
END_TEST

/* SIGTERM: the standby is master at once; also in the middle of the first sweep. */
START_TEST(master_retires)
{
	uint64_t ms;

	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	if (_i)
		daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	scenario_run_ms(m->s, _i);
	managers_retire(m, 0);
	ms = managers_settle(m, 1, 10);
	ck_assert_uint_le(ms, 1000);
	ck_assert_ptr_nonnull(strstr(m->story->str, "sm2 > sm1 Set(SMInfo) ACKNOWLEDGE"));
}
END_TEST

/* An SM that is not master hands over nothing, neither to the master nor to another standby. */
START_TEST(standby_retires)
{
	managers_add(m, "host-1", POLLS);
	managers_add(m, "host-9", POLLS);
	managers_add(m, "host-14", POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	managers_start(m, 2);
	scenario_run_ms(m->s, 2000);
	managers_start(m, 1);
	scenario_run_ms(m->s, 2000);
	managers_retire(m, 1);
	scenario_run_ms(m->s, 2000);
	ck_assert_ptr_null(strstr(m->story->str, "HANDOVER"));
	managers_settle(m, 0, 10);
}
END_TEST

/* A higher priority takes over; while it is master the other does not take it back. */
START_TEST(higher_priority_takes_over)
{
	managers_up_with_standby(m, POLLS, POLLS "sm_priority 9\n");
	ck_assert_uint_le(managers_settle(m, 1, 10), 3000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_STANDBY);
	managers_kill(m, 1);
	managers_settle(m, 0, 10);
	managers_start(m, 1);
	managers_settle(m, 1, 10);
}
END_TEST

/* The SM that was handed over to has answered: that is enough, even if its ACKNOWLEDGE is lost. */
START_TEST(acknowledge_is_lost)
{
	static const char acknowledge[] = "Set(SMInfo) ACKNOWLEDGE";
	const char *lost, *again, *standby;

	managers_up_with_standby(m, POLLS, POLLS "sm_priority 9\n");
	m->lose = acknowledge;
	m->lose_nth = 1;
	managers_settle(m, 1, 10);
	lost = strstr(m->story->str, "-- lost");
	ck_assert_ptr_nonnull(lost);
	standby = strstr(m->story->str, "sm1 is STANDBY");
	again = strstr(lost, acknowledge);
	ck_assert(standby && again && standby < again);
}
END_TEST

/* With master_sm_priority the master stays master: no flapping when the preferred one is back. */
START_TEST(master_priority_stays)
{
	managers_up_with_standby(m, POLLS "master_sm_priority 14\n", POLLS "sm_priority 9\n");
	scenario_run_ms(m->s, 5000);
	managers_settle(m, 0, 10);
	ck_assert_ptr_null(strstr(m->story->str, "sm2 is MASTER"));
}
END_TEST

/* The priority of a standby is raised: it reports it, and gets a HANDOVER. */
START_TEST(priority_raised)
{
	const struct iba_port_info *port;

	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 3000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	managers_configure(m, 1, POLLS "sm_priority 3\n");
	ck_assert_uint_le(managers_settle(m, 1, 10), 1000);
	ck_assert_ptr_nonnull(strstr(m->story->str, "sm2 > sm1 Trap 144, SMPriority"));
	port = sim_port_info(m->s->sim, scenario_node(m->s, "host-9"), 1);
	ck_assert_uint_eq(m->told.lid, port->lid);
	ck_assert_uint_eq(m->told.capability_mask, port->capability_mask);
	managers_configure(m, 0, POLLS "sm_priority 7\n");
	ck_assert_uint_le(managers_settle(m, 0, 10), 1000);
}
END_TEST

/* Two halves with a master each; the cables that connect them heal it. */
static void cut(bool up)
{
	struct sim *sim = m->s->sim;

	for (unsigned int node = 0; node < sim_nodes(sim); node++) {
		struct sim_node_view view;

		sim_node_view(sim, node, &view);
		if (view.type != IBA_NODE_SWITCH || !g_str_has_prefix(view.description, "core"))
			continue;
		for (unsigned int port = 3; port <= view.num_ports; port++)
			sim_link_set(sim, node, port, up);
	}
}

START_TEST(halves_are_joined)
{
	bool second = _i % 2, in_switches = _i / 2;

	managers_add(m, in_switches ? "leaf-0-0" : "host-0", POLLS "sm_priority 1\n");
	managers_add(m, in_switches ? "leaf-3-1" : "host-15",
		     second ? POLLS "sm_priority 2\n" : POLLS);
	cut(false);
	managers_start(m, 0);
	managers_start(m, 1);
	scenario_run_ms(m->s, 3000);
	ck_assert_uint_eq(managers_masters(m), 2);
	cut(true);
	ck_assert_uint_le(managers_settle(m, second ? 1 : 0, 20), 3000);
}
END_TEST

/* Two polls are lost, and again, and again: never more than two in a row. */
START_TEST(polls_lost_now_and_then)
{
	unsigned int host;

	up_with_standby_for(4000);
	host = scenario_node(m->s, "host-1");
	for (unsigned int i = 0; i < 4; i++) {
		sim_node_set_loss(m->s->sim, host, 1);
		scenario_run_ms(m->s, 2000);
		sim_node_set_loss(m->s->sim, host, 0);
		scenario_run_ms(m->s, 3000);
	}
	ck_assert_ptr_null(strstr(m->story->str, "sm2 is MASTER"));
	managers_settle(m, 0, 10);
}
END_TEST

/* An SM that cannot be seen writes to the master's port: that is noticed, logged and repaired. */
START_TEST(port_configured_by_another)
{
	const char *place = _i ? "leaf-0-0" : "host-1";
	unsigned int node, port;
	struct iba_port_info info;

	managers_add(m, place, POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	node = scenario_node(m->s, place);
	port = m->sm[0].port;
	info = *sim_port_info(m->s->sim, node, port);
	info.master_sm_lid = scenario_lid(m->s, scenario_node(m->s, "host-4"));
	info.port_state = info.port_physical_state = 0;
	managers_set(m, 0, "host-4", IBA_ATTR_PORT_INFO, port, &iba_port_info_type, &info);
	/* Its HCA reports it at once. */
	scenario_check_log(m->s, "another SM configured the port of this SM", true);
	ck_assert_uint_le(managers_settle(m, 0, 10), 100);
}
END_TEST

static const struct {
	int lid, master_lid; /* -1: unchanged */
	uint8_t state;	     /* 0: unchanged */
	bool is_told;
} writings[] = {
	{-1, -1, 0, false}, {99, -1, 0, true}, {-1, 99, 0, true},
	{-1, 0, 0, false},  {0, -1, 0, false}, {-1, 99, IBA_PORT_DOWN, false},
};

/*
 * Values of a master's port that another SM did not write: a link that came up again keeps its
 * former MasterSMLID until this SM sets it.
 */
START_TEST(port_written_otherwise)
{
	struct iba_port_info info;
	unsigned int node;
	uint64_t swept;

	managers_add(m, "host-1", POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	swept = counter_get(&daemon_context(m->sm[0].daemon)->counters, sweeps_heavy);
	node = scenario_node(m->s, "host-1");
	info = *sim_port_info(m->s->sim, node, 1);
	info.lid = writings[_i].lid < 0 ? info.lid : writings[_i].lid;
	info.master_sm_lid =
		writings[_i].master_lid < 0 ? info.master_sm_lid : writings[_i].master_lid;
	info.port_state = writings[_i].state;
	info.port_physical_state = 0;
	managers_set(m, 0, "host-4", IBA_ATTR_PORT_INFO, 1, &iba_port_info_type, &info);
	scenario_run_ms(m->s, 2000);
	if (writings[_i].is_told)
		managers_settle(m, 0, 1);
	scenario_check_log(m->s, "another SM configured the port of this SM", writings[_i].is_told);
	swept = counter_get(&daemon_context(m->sm[0].daemon)->counters, sweeps_heavy) - swept;
	ck_assert_uint_eq(swept, writings[_i].is_told);
}
END_TEST

/* While its port is not ACTIVE yet: ARMED was left by another SM. */
START_TEST(port_armed_by_another)
{
	struct iba_port_info *info;

	managers_add(m, "host-1", POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	info = (void *)(uintptr_t)sim_port_info(m->s->sim, scenario_node(m->s, "host-1"), 1);
	info->port_state = IBA_PORT_ARMED;
	info->master_sm_lid = 99;
	managers_settle(m, 0, 10);
	scenario_check_log(m->s, "another SM configured the port of this SM", true);
}
END_TEST

/* A sweep that finds this trusts no table that the other SM may have written: it reads them. */
START_TEST(table_written_by_another)
{
	const struct counters *counters;
	struct iba_port_info *info;
	struct sim_node_view view;

	managers_add(m, "host-1", POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	info = (void *)(uintptr_t)sim_port_info(m->s->sim, scenario_node(m->s, "host-1"), 1);
	info->master_sm_lid = 99;
	sim_node_view(m->s->sim, scenario_node(m->s, "spine-1-0"), &view);
	((uint8_t *)(uintptr_t)view.lft)[scenario_lid(m->s, scenario_node(m->s, "host-9"))] = 0xFF;
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	managers_settle(m, 0, 10);
	counters = &daemon_context(m->sm[0].daemon)->counters;
	ck_assert_uint_gt(counter_get(counters, audit_compared), 0);
	ck_assert_uint_eq(counter_get(counters, audit_differed), 0); /* it was repaired before */
}
END_TEST

/* 14.4.1: an ACKNOWLEDGE that no SM waits for changes nothing; the subnet keeps its master. */
START_TEST(acknowledged_unasked)
{
	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	managers_control(m, 0, "host-4", IBA_SM_INFO_ACKNOWLEDGE);
	ck_assert_uint_eq(counter_get(&daemon_context(m->sm[0].daemon)->counters, sm_controls), 1);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	ck_assert_ptr_null(strstr(m->story->str, "sm1 is STANDBY"));
	managers_control(m, 1, "host-4", IBA_SM_INFO_ACKNOWLEDGE);
	managers_settle(m, 0, 10);
}
END_TEST

/* 14.4.1: only a HANDOVER is acknowledged. */
START_TEST(controlled)
{
	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	managers_control(m, 1, "host-4", IBA_SM_INFO_DISABLE);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_NOT_ACTIVE);
	managers_control(m, 1, "host-4", IBA_SM_INFO_STANDBY);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	ck_assert_ptr_null(strstr(m->story->str, "ACKNOWLEDGE"));
	managers_control(m, 1, "host-4", IBA_SM_INFO_HANDOVER);
	ck_assert_ptr_nonnull(strstr(m->story->str, "Set(SMInfo) ACKNOWLEDGE"));
}
END_TEST

/* A lower-ranked master that does not look for others, as the classic, is told to hand over. */
START_TEST(lower_master_is_told)
{
	managers_add(m, "host-1", POLLS "sm_priority 9\n");
	managers_add(m, "host-9", POLLS "sm_priority 3\n");
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	m->lose = "sm1 > sm2 GetResp(SMInfo)";
	m->lose_all = true;
	managers_start(m, 1);
	while (managers_state(m, 1) != IBA_SM_MASTER)
		scenario_run_ms(m->s, 10);
	event_emit(&daemon_context(m->sm[1].daemon)->bus, EVENT_SWEEP_ALLOWED, 0);
	scenario_run_ms(m->s, 100);
	m->lose = NULL;
	g_string_truncate(m->story, 0);
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	scenario_run_ms(m->s, 5000);
	scenario_check_log(m->s, "to hand over to this SM", true);
	ck_assert_ptr_nonnull(strstr(m->story->str, "sm1 > sm2 Trap 144, SMPriority"));
	event_emit(&daemon_context(m->sm[1].daemon)->bus, EVENT_SWEEP_ALLOWED, 1);
	managers_settle(m, 0, 10);
}
END_TEST

/* An SM that hands over and refuses the ACKNOWLEDGE has handed over all the same: no error. */
START_TEST(acknowledge_is_refused)
{
	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	managers_kill(m, 0);
	managers_control(m, 1, "host-4", IBA_SM_INFO_HANDOVER);
	managers_settle(m, 1, 10);
	ck_assert_ptr_nonnull(strstr(m->story->str, "GetResp(SMInfo) ACKNOWLEDGE: status 0x0c"));
	scenario_check_log(m->s, "ERRORS DURING INITIALIZATION", false);
}
END_TEST

/* It is sent by directed route to the SM that handed over: tables may lack its LID by now. */
START_TEST(acknowledged_by_path)
{
	struct sim_node_view view;
	unsigned int host, leaf, port;

	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	host = scenario_node(m->s, "host-4");
	ck_assert(sim_peer(m->s->sim, host, 1, &leaf, &port));
	sim_node_view(m->s->sim, leaf, &view);
	((uint8_t *)(uintptr_t)view.lft)[scenario_lid(m->s, host)] = 0xFF;
	managers_control(m, 1, "host-4", IBA_SM_INFO_HANDOVER);
	ck_assert_ptr_nonnull(strstr(m->story->str, "GetResp(SMInfo) ACKNOWLEDGE: status 0x0c"));
}
END_TEST

/* A sender with the GUID of this SM does not control it. */
START_TEST(not_controlled_by_its_name)
{
	struct iba_sm_info info = {.sm_key = 1, .priority = 15, .sm_state = IBA_SM_MASTER};

	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	info.guid = m->sm[1].guid;
	managers_set(m, 1, "host-4", IBA_ATTR_SM_INFO, IBA_SM_INFO_DISABLE, &iba_sm_info_type,
		     &info);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	scenario_check_log(m->s, "sent DISABLE: refused", true);
}
END_TEST

/* A sender with GUID 0 does not either: it has no rank, and cannot be a successor. */
START_TEST(not_controlled_by_nobody)
{
	struct iba_sm_info info = {.sm_key = 1, .sm_state = IBA_SM_MASTER};

	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	managers_set(m, 0, "host-4", IBA_ATTR_SM_INFO, IBA_SM_INFO_HANDOVER, &iba_sm_info_type,
		     &info);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	scenario_check_log(m->s, "sent HANDOVER: refused", true);
	managers_settle(m, 0, 10);
}
END_TEST

/* A sender that does not know the SM_Key, or the M_Key, does not control it. */
START_TEST(not_controlled)
{
	const char *conf = _i ? POLLS "m_key 0x77\n" : POLLS "sm_key 0x77\n";

	managers_up_with_standby(m, conf, conf);
	scenario_run_ms(m->s, 2000);
	managers_control(m, 0, "host-4", IBA_SM_INFO_HANDOVER);
	ck_assert_ptr_null(strstr(m->story->str, "ACKNOWLEDGE"));
	managers_control(m, 1, "host-4", IBA_SM_INFO_DISABLE);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	scenario_check_log(m->s, "sent DISABLE: refused", true);
}
END_TEST

/* An SM that retires does not take over: another master is reason enough to end. */
START_TEST(handed_over_while_it_retires)
{
	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 2000);
	sim_node_set_loss(m->s->sim, scenario_node(m->s, "host-9"), 1);
	daemon_retire(m->sm[0].daemon);
	scenario_run_ms(m->s, 100);
	ck_assert(!m->sm[0].retired);
	managers_control(m, 0, "host-4", IBA_SM_INFO_HANDOVER);
	ck_assert(m->sm[0].retired);
	ck_assert_ptr_null(strstr(m->story->str, "sm1 > ? Set(SMInfo) ACKNOWLEDGE"));
}
END_TEST

/* A port that names a dead master does not keep another SM from mastery: three tries. */
START_TEST(dead_master_is_asked_in_vain)
{
	static const char asks[] = "sm2 > sm1 Get(SMInfo)";
	unsigned int asked = 0;

	managers_add(m, "host-1", POLLS);
	managers_add(m, "host-9", POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	managers_kill(m, 0);
	m->lose = asks;
	m->lose_nth = 1;
	managers_start(m, 1);
	while (m->lose)
		scenario_run_ms(m->s, 1);
	sim_node_mute(m->s->sim, scenario_node(m->s, "host-1"), true);
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_MASTER);
	for (const char *at = m->story->str; (at = strstr(at, asks)); at++)
		asked++;
	ck_assert_uint_eq(asked, 3);
}
END_TEST

/* An SM that follows a master polls it after the poll interval, not before. */
START_TEST(polls_in_time)
{
	size_t said;

	managers_up_with_standby(m, POLLS, POLLS);
	while (managers_state(m, 1) != IBA_SM_STANDBY)
		scenario_run_ms(m->s, 1);
	said = m->story->len;
	scenario_run_ms(m->s, 900);
	ck_assert_ptr_null(strstr(m->story->str + said, "sm2 > sm1 Get(SMInfo)"));
	scenario_run_ms(m->s, 200);
	ck_assert_ptr_nonnull(strstr(m->story->str + said, "sm2 > sm1 Get(SMInfo)"));
}
END_TEST

/*
 * A master without sweeps of its own still asks the SMs that it knows: one whose rank rose gets its
 * HANDOVER though none of its traps arrived; one of lower rank causes nothing.
 */
START_TEST(rank_seen_by_poll)
{
	const struct counters *counters;
	unsigned int host = scenario_node(m->s, "host-9");
	uint64_t swept;

	managers_up_with_standby(m, POLLS "sweep_interval 0\n",
				 "sminfo_polling_timeout 60000\nsm_priority 0\n");
	scenario_run_ms(m->s, 3000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	counters = &daemon_context(m->sm[0].daemon)->counters;
	swept = counter_get(counters, sweeps_light);
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(counter_get(counters, sweeps_light), swept);
	sim_node_set_loss(m->s->sim, host, 1);
	managers_configure(m, 1, "sminfo_polling_timeout 60000\nsm_priority 3\n");
	scenario_run_ms(m->s, 3000);
	sim_node_set_loss(m->s->sim, host, 0);
	managers_settle(m, 1, 10);
	ck_assert_ptr_null(strstr(m->story->str, "SMPriority"));
}
END_TEST

/* -I: it does not take part until a master sends STANDBY. */
START_TEST(not_active)
{
	managers_add(m, "host-0", POLLS "sm_inactive TRUE\n");
	managers_add(m, "host-9", POLLS);
	managers_start(m, 0);
	managers_start(m, 1);
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_NOT_ACTIVE);
	managers_kill(m, 1);
	scenario_run_ms(m->s, 10000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_NOT_ACTIVE);
}
END_TEST

/* Without an M_Key other SMs still see each other's secret SM_Key, by directed route and by LID. */
START_TEST(secret_sm_key)
{
	managers_add(m, "host-1", POLLS "sm_key 0x77\n");
	managers_add(m, "host-9",
		     _i ? POLLS "sm_key 0x77\nsm_priority 9\n" : POLLS "sm_key 0x77\n");
	managers_start(m, 0);
	if (_i < 2)
		managers_settle(m, 0, 10);
	managers_start(m, 1);
	managers_settle(m, _i ? 1 : 0, 20);
	scenario_run_ms(m->s, 10 * 1000);
	ck_assert_uint_eq(managers_masters(m), 1);
	ck_assert_uint_eq(managers_state(m, _i ? 0 : 1), IBA_SM_STANDBY);
}
END_TEST

/* This many of the running SMs report in their health that another one is MASTER, too. */
static void check_contested(unsigned int expected)
{
	unsigned int telling = 0;

	for (unsigned int i = 0; i < m->n; i++)
		telling += m->sm[i].daemon &&
			   atomic_load(&daemon_context(m->sm[i].daemon)->contested_until) >
				   runtime_now(m->s->rt);
	ck_assert_uint_eq(telling, expected);
}

/* An SM with another SM_Key is not followed and not obeyed. */
START_TEST(other_sm_key)
{
	managers_add(m, "host-1", POLLS);
	managers_add(m, "host-9", POLLS "sm_key 0x77\nsm_priority 9\n");
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	managers_start(m, 1);
	scenario_run_ms(m->s, 3000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	check_contested(2);
	/* Each would have all ports obey it, but seldom, and less and less often. */
	scenario_run_ms(m->s, 600 * 1000);
	for (unsigned int i = 0; i < 2; i++)
		scenario_expect_at_most(m->s,
					counter_get(&daemon_context(m->sm[i].daemon)->counters,
						    sweeps_heavy), 8);
	scenario_check_log(m->s, "has a different SM_Key", true);
	check_contested(2);
	managers_kill(m, 1);
	managers_settle(m, 0, 30);
	scenario_run_ms(m->s, 60 * 1000);
	check_contested(0);
	ck_assert_ptr_null(strstr(m->story->str, "HANDOVER"));
}
END_TEST

/* While SMs get a new key one after the other they ignore each other, but not for good. */
START_TEST(keys_in_turn)
{
	managers_up_with_standby(m, POLLS "sm_key 0x1234\n", POLLS "sm_key 0x1234\n");
	managers_settle(m, 0, 10);
	for (unsigned int i = 0; i < 2; i++) {
		managers_configure(m, i, POLLS "sm_key 0x5678\n");
		scenario_run_ms(m->s, 3000);
	}
	scenario_check_log(m->s, "has a different SM_Key", true);
	managers_retire(m, 0);
	scenario_expect_at_most(m->s, managers_settle(m, 1, 10), 1500);
	ck_assert_ptr_nonnull(strstr(m->story->str, "HANDOVER"));
}
END_TEST

/* As above, by its GUID; once named, it counts. */
START_TEST(allowed_sms)
{
	gsize said;

	managers_add(m, "host-1", POLLS "allowed_sm_guids 0x1, 0x2\n");
	managers_add(m, "host-9", POLLS "sm_priority 9\n");
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	managers_start(m, 1);
	scenario_run_ms(m->s, 3000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	scenario_check_log(m->s, "is not listed in allowed_sm_guids: ignored", true);
	said = m->s->text->len;
	scenario_run_ms(m->s, 1000);
	ck_assert_ptr_null(strstr(m->s->text->str + said, ": ignored")); /* not each time */
	ck_assert_ptr_null(strstr(m->story->str, "HANDOVER"));
	managers_control(m, 0, "host-9", IBA_SM_INFO_HANDOVER);
	scenario_check_log(m->s, "sent HANDOVER: refused", true);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	{
		g_autofree char *conf = g_strdup_printf(
			POLLS "allowed_sm_guids 0x1,0x%" G_GINT64_MODIFIER "x\n", m->sm[1].guid);

		managers_configure(m, 0, conf);
	}
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_STANDBY);
}
END_TEST

/*
 * One of higher rank that knows only the M_Key of its own port, as it was never told which port has
 * which, does not become MASTER of that port: the SM that has the subnet would hand it over.
 */
START_TEST(nobody_answers_for_want_of_keys)
{
	g_autofree char *own = scenario_keys_of_ports(m->s, 2);
	g_autofree char *keys = g_strconcat(POLLS, own, NULL);
	g_autofree char *higher = g_strconcat(keys, "sm_priority 8\n", NULL);
	unsigned int master, other;

	master = managers_add(m, "host-1", keys);
	other = managers_add(m, "host-9", higher);
	managers_start(m, master);
	managers_settle(m, master, 10);
	managers_start(m, other);
	scenario_run_ms(m->s, 30000);
	ck_assert_uint_eq(managers_state(m, master), IBA_SM_MASTER);
	ck_assert_uint_eq(managers_state(m, other), IBA_SM_DISCOVERING);
	scenario_check_log(m->s, "this SM does not become MASTER: ", true);
	managers_settle(m, master, 10);
}
END_TEST

/* NOTACTIVE by another's DISABLE, or by -I: the administrator has a way out of it. */
START_TEST(activated)
{
	managers_up_with_standby(m, POLLS, POLLS "sm_inactive TRUE\n");
	scenario_run_ms(m->s, 2000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_NOT_ACTIVE);
	managers_kill(m, 0);
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_NOT_ACTIVE);
	event_emit(&daemon_context(m->sm[1].daemon)->bus, EVENT_ACTIVATE, 0);
	managers_settle(m, 1, 5);
	event_emit(&daemon_context(m->sm[1].daemon)->bus, EVENT_ACTIVATE, 0); /* it is MASTER */
	scenario_run_ms(m->s, 100);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_MASTER);
}
END_TEST

/* Packets get lost, more or less: in the end there is one master. */
START_TEST(with_loss)
{
	unsigned int last = 3;

	managers_free(m);
	m = managers_new("fattree:4", (uint64_t)_i);
	managers_add(m, "host-1", POLLS);
	managers_add(m, "host-6", POLLS "sm_priority 1\n");
	managers_add(m, "host-9", POLLS "sm_priority 2\n");
	managers_add(m, "host-14", POLLS "sm_priority 3\n");
	sim_set_loss(m->s->sim, 0.02 * (_i % 5));
	for (unsigned int i = 0; i < m->n; i++) {
		managers_start(m, i);
		scenario_run_ms(m->s, scenario_random(m->s, 400));
	}
	managers_settle(m, last, 40);
	if (_i % 2)
		managers_kill(m, last);
	else
		managers_retire(m, last);
	managers_settle(m, last - 1, 40);
}
END_TEST

/* ---- random cases ---- */

/* Each third seed replicates: an SM that is not in step yet is not handed over to. */
static char *polls_of_seed(int seed)
{
	g_autofree char *line = managers_replication(m, "a key that all share\n");

	return g_strconcat(POLLS, seed % 3 ? NULL : line, NULL);
}

static void shuffle_one(unsigned int i, const char *lines)
{
	g_autofree char *conf = g_strdup_printf("%ssm_priority %u\n", lines,
						scenario_random(m->s, 4));

	if (!m->sm[i].daemon) {
		managers_start(m, i);
		return;
	}
	switch (scenario_random(m->s, 4)) {
	case 0:
		managers_kill(m, i);
		break;
	case 1:
		managers_retire(m, i);
		break;
	case 2:
		managers_configure(m, i, conf);
		break;
	default:
		daemon_sweep(m->sm[i].daemon, SWEEP_HEAVY);
	}
}

/* SMs come, go and change their priorities, the fabric is cut and joined: then one is master. */
START_TEST(chaos)
{
	static const char *const hosts[] = {"host-0", "host-5", "host-10", "host-15"};
	g_autofree char *lines = NULL;
	bool whole = true;

	managers_free(m);
	m = managers_new("fattree:4", (uint64_t)_i);
	lines = polls_of_seed(_i);
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++)
		managers_add(m, hosts[i], lines);
	sim_set_loss(m->s->sim, 0.01 * (_i % 4));
	for (unsigned int i = 0; i < 12; i++) {
		if (scenario_random(m->s, 6) == 0)
			cut(whole = !whole);
		else
			shuffle_one(scenario_random(m->s, m->n), lines);
		scenario_run_ms(m->s, scenario_random(m->s, 1 << scenario_random(m->s, 12)));
	}
	cut(true);
	sim_set_loss(m->s->sim, 0);
	if (!m->sm[0].daemon)
		managers_start(m, 0);
	managers_settle(m, MANAGERS_ANY, 12);
}
END_TEST

static void swap_cables(bool of_hosts)
{
	struct sim *sim = m->s->sim;
	unsigned int a, b, port_a = 1, port_b = 1, peer, peer_port;

	if (of_hosts) {
		a = scenario_random_host(m->s);
		b = scenario_random_host(m->s);
	} else {
		scenario_random_link(m->s, &a, &port_a);
		scenario_random_link(m->s, &b, &port_b);
	}
	/* A switch is not connected to itself. */
	if (a == b || (sim_peer(sim, a, port_a, &peer, &peer_port) && peer == b) ||
	    (sim_peer(sim, b, port_b, &peer, &peer_port) && peer == a))
		return;
	sim_cable_swap(sim, a, port_a, b, port_b);
}

/* The SM on it ends with it. */
static void switch_off(unsigned int node)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (m->sm[i].daemon && m->sm[i].guid == sim_port_guid(m->s->sim, node, 1))
			managers_kill(m, i);
	sim_node_set(m->s->sim, node, false);
}

static void break_something(void)
{
	struct sim *sim = m->s->sim;
	unsigned int node = scenario_random(m->s, 2) ? scenario_random_switch(m->s)
						     : scenario_random_host(m->s);
	unsigned int port;

	switch (scenario_random(m->s, 6)) {
	case 0:
		scenario_random_link(m->s, &node, &port);
		sim_link_set(sim, node, port, false);
		break;
	case 1:
		switch_off(node);
		break;
	case 2:
		switch_off(node);
		sim_node_set(sim, node, true);
		break;
	case 3:
		sim_node_mute(sim, node, true);
		break;
	default:
		swap_cables(scenario_random(m->s, 2));
	}
}

static void mend_all(void)
{
	struct sim *sim = m->s->sim;

	for (unsigned int node = 0; node < sim_nodes(sim); node++) {
		sim_node_set(sim, node, true);
		sim_node_mute(sim, node, false);
		scenario_set_links(m->s, node, true);
	}
}

/* As be_chaotic(), while cables, switches and hosts break, reset and swap places. */
static void be_chaotic_with_faults(const char *lines)
{
	static const char *const hosts[] = {"host-0", "host-5", "host-10"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++)
		managers_add(m, hosts[i], lines);
	m->s->sm_guid = m->sm[0].guid;
	for (unsigned int i = 0; i < 16; i++) {
		if (scenario_random(m->s, 2))
			break_something();
		else if (scenario_random(m->s, 4))
			shuffle_one(scenario_random(m->s, m->n), lines);
		else
			mend_all();
		scenario_run_ms(m->s, scenario_random(m->s, 1 << scenario_random(m->s, 13)));
	}
	mend_all();
	sim_set_loss(m->s->sim, 0);
	if (!m->sm[0].daemon)
		managers_start(m, 0);
	managers_settle(m, MANAGERS_ANY, 30);
}

START_TEST(chaos_with_faults)
{
	g_autofree char *polls = NULL, *lines = NULL;

	managers_free(m);
	m = managers_new("fattree:4", (uint64_t)_i);
	polls = polls_of_seed(_i);
	lines = g_strdup_printf("%sm_key 0x%x\nm_key_protection_level %d\n", polls,
				_i / 4 % 2 ? 0x1234 : 0, _i % 4);
	sim_set_loss(m->s->sim, 0.01 * (_i % 4));
	be_chaotic_with_faults(lines);
}
END_TEST

/*
 * Seeds of the random tests; ELECTION_SEEDS=FIRST-LAST for other and longer runs by hand. Of those
 * of chaos 133, 182 and 187 find a master that trusts tables that another one wrote; in 50225 two
 * masters that know of none are to hand over to a third; in 72458 one knows half of the subnet, and
 * another that died got the traps of the rest; in 81169 a master that waited in vain for another's
 * HANDOVER has the lower rank by then; in 81659 and 102040 one writes, and dies, after another has
 * read that part. Of chaos_with_faults in 62690 a master has given a switch another LID, and died
 * before the remaining one found it; in 92759 one has given a port a key since the other read it.
 */
static void add_by_chance(TCase *tcase)
{
	const char *text = g_getenv("ELECTION_SEEDS");
	int first = 130, last = 129 + some_seeds(61);

	if (text && sscanf(text, "%d-%d", &first, &last) != 2)
		g_error("ELECTION_SEEDS is %s, not FIRST-LAST", text);
	tcase_add_loop_test(tcase, with_loss, text ? first : 1,
			    text ? last + 1 : 1 + some_seeds(10));
	tcase_add_loop_test(tcase, with_loss, 190051, 190052); /* given up by mistake */
	tcase_add_loop_test(tcase, chaos, first, last + 1);
	tcase_add_loop_test(tcase, chaos, 50225, 50226);
	tcase_add_loop_test(tcase, chaos, 72458, 72459);
	tcase_add_loop_test(tcase, chaos, 81169, 81170);
	tcase_add_loop_test(tcase, chaos, 81659, 81660);
	tcase_add_loop_test(tcase, chaos, 102040, 102041);
	tcase_add_loop_test(tcase, chaos_with_faults, first, last + 1);
	tcase_add_loop_test(tcase, chaos_with_faults, 62690, 62691);
	tcase_add_loop_test(tcase, chaos_with_faults, 92759, 92760);
}

int main(void)
{
	Suite *suite = suite_create("election");
	TCase *tcase = tcase_create("election");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, started_together, 0, 3);
	tcase_add_test(tcase, standby_changes_nothing);
	tcase_add_test(tcase, master_dies);
	tcase_add_loop_test(tcase, master_retires, 0, 8);
	tcase_add_test(tcase, standby_retires);
	tcase_add_test(tcase, higher_priority_takes_over);
	tcase_add_test(tcase, acknowledge_is_lost);
	tcase_add_test(tcase, lower_master_is_told);
	tcase_add_test(tcase, master_priority_stays);
	tcase_add_test(tcase, priority_raised);
	tcase_add_loop_test(tcase, halves_are_joined, 0, 4);
	tcase_add_test(tcase, polls_lost_now_and_then);
	tcase_add_loop_test(tcase, port_configured_by_another, 0, 2);
	tcase_add_loop_test(tcase, port_written_otherwise, 0, G_N_ELEMENTS(writings));
	tcase_add_test(tcase, port_armed_by_another);
	tcase_add_test(tcase, table_written_by_another);
	tcase_add_test(tcase, acknowledged_unasked);
	tcase_add_test(tcase, controlled);
	tcase_add_test(tcase, acknowledge_is_refused);
	tcase_add_test(tcase, acknowledged_by_path);
	tcase_add_test(tcase, not_controlled_by_its_name);
	tcase_add_test(tcase, not_controlled_by_nobody);
	tcase_add_loop_test(tcase, not_controlled, 0, 2);
	tcase_add_test(tcase, handed_over_while_it_retires);
	tcase_add_test(tcase, dead_master_is_asked_in_vain);
	tcase_add_test(tcase, polls_in_time);
	tcase_add_test(tcase, rank_seen_by_poll);
	tcase_add_test(tcase, not_active);
	tcase_add_test(tcase, other_sm_key);
	tcase_add_test(tcase, keys_in_turn);
	tcase_add_test(tcase, allowed_sms);
	tcase_add_test(tcase, nobody_answers_for_want_of_keys);
	tcase_add_test(tcase, activated);
	tcase_add_loop_test(tcase, secret_sm_key, 0, 3);
	add_by_chance(tcase);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
