// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Traps: what the SM does about them, and how little harm a sender of too many can do. */
#include <check.h>
#include <string.h>

#include "scenario.h"
#include "sm/schedule/plan.h"
#include "tests/run_suite.h"

#define QUIET "sweep_interval 1000\n" /* sweeps happen only because of traps */

static struct scenario *up(const char *conf)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 20);
	scenario_run_ms(s, 5000);
	return s;
}

#define COUNT(s, name) counter_get(&daemon_context((s)->daemon)->counters, name)

static uint64_t sweeps(struct scenario *s)
{
	return COUNT(s, sweeps_heavy) + COUNT(s, sweeps_partial) + COUNT(s, sweeps_light);
}

static struct iba_notice notice(struct scenario *s, unsigned int issuer, uint16_t number)
{
	return (struct iba_notice){
		.is_generic = true,
		.trap_number = number,
		.issuer_lid = scenario_lid(s, issuer),
	};
}

static struct iba_notice local_change(struct scenario *s, unsigned int issuer)
{
	const struct iba_port_info *info = sim_port_info(s->sim, issuer, 1);
	struct iba_trap_local_change details = {
		.lid = info->lid,
		.capability_mask = info->capability_mask,
		.capability_mask2 = info->capability_mask2,
		.other_local_changes = 1,
	};
	struct iba_notice trap = notice(s, issuer, IBA_TRAP_LOCAL_CHANGES);

	wire_encode(&iba_trap_local_change_type, &details, trap.data_details);
	return trap;
}

static struct iba_notice link_change(struct scenario *s, unsigned int issuer, uint16_t lid)
{
	struct iba_trap_switch details = {.lid = lid};
	struct iba_notice trap = notice(s, issuer, IBA_TRAP_LINK_STATE_CHANGE);

	wire_encode(&iba_trap_switch_type, &details, trap.data_details);
	return trap;
}

/* Sends it from host-9 and returns the number of sweeps that follow within a second. */
static uint64_t sweeps_for(struct scenario *s, const struct iba_notice *trap)
{
	uint64_t before = sweeps(s);

	scenario_expect(s, sim_trap(s->sim, scenario_node(s, "host-9"), 1, trap));
	scenario_run_ms(s, 1000);
	return sweeps(s) - before;
}

static void expect_named(struct scenario *s, unsigned int node, const char *name)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	ck_assert_str_eq(subnet->fabric->nodes[fabric_node_by_guid(subnet->fabric, view.node_guid)]
				 .description,
			 name);
	subnet_unref(subnet);
}

/* Of one source, 50 at once and 10 a second; each is repressed, and others are still handled. */
START_TEST(limit_of_a_source)
{
	struct scenario *s = up(QUIET);
	unsigned int host = scenario_node(s, "host-9"), other = scenario_node(s, "host-5");
	struct iba_notice trap = notice(s, host, 130);
	uint64_t received = COUNT(s, traps_received), before;

	for (unsigned int i = 0; i < 200; i++) {
		scenario_expect(s, sim_trap(s->sim, host, 1, &trap));
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + 50 * NS_PER_US);
	}
	sim_set_description(s->sim, other, "renamed");
	scenario_run_ms(s, 1000);
	expect_named(s, other, "renamed");
	ck_assert_uint_eq(COUNT(s, traps_received), received + 200 + 1);
	ck_assert_uint_ge(COUNT(s, traps_limited), 200 - 51);
	ck_assert_uint_le(COUNT(s, traps_limited), 200 - 50);
	before = COUNT(s, traps_limited);
	sim_set_description(s->sim, host, "renamed too");
	scenario_run_ms(s, 1000); /* there are ten by now */
	expect_named(s, host, "renamed too");
	ck_assert_uint_eq(COUNT(s, traps_limited), before);
	scenario_free(s);
}
END_TEST

/* Each is answered by one TrapRepress, handled or not: none is sent again. */
START_TEST(repressed_once)
{
	struct scenario *s = up(QUIET);
	struct iba_notice trap = notice(s, scenario_node(s, "host-9"), 130);
	uint64_t received = COUNT(s, traps_received);

	for (unsigned int i = 0; i < 100; i++) {
		scenario_expect(s, sim_trap(s->sim, scenario_node(s, "host-9"), 1, &trap));
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + 50 * NS_PER_US);
	}
	scenario_run_ms(s, 30 * 1000);
	ck_assert_uint_eq(COUNT(s, traps_received), received + 100);
	scenario_free(s);
}
END_TEST

/* A switch that reports a link change is read, and so is a host with a local change. */
START_TEST(what_leads_to_a_look)
{
	struct scenario *s = up(QUIET);
	unsigned int host = scenario_node(s, "host-9"), leaf = scenario_node(s, "leaf-2-0");
	struct iba_notice trap = link_change(s, leaf, scenario_lid(s, leaf));
	uint64_t partial = COUNT(s, sweeps_partial);

	scenario_expect(s, sweeps_for(s, &trap) > 0);
	ck_assert_uint_gt(COUNT(s, sweeps_partial), partial);
	trap = local_change(s, host);
	scenario_expect(s, sweeps_for(s, &trap) > 0);
	trap.issuer_lid = 0; /* then it is the sender's */
	partial = COUNT(s, sweeps_partial);
	scenario_expect(s, sweeps_for(s, &trap) > 0);
	ck_assert_uint_gt(COUNT(s, sweeps_partial), partial);
	trap = link_change(s, leaf, 0x777); /* unknown: all known ones are asked */
	partial = COUNT(s, sweeps_light);
	scenario_expect(s, sweeps_for(s, &trap) > 0);
	ck_assert_uint_gt(COUNT(s, sweeps_light), partial);
	scenario_free(s);
}
END_TEST

/* The echo of a Set, other notices, and those of vendors have no effect. */
START_TEST(what_does_not)
{
	struct scenario *s = up(QUIET);
	unsigned int host = scenario_node(s, "host-9"), leaf = scenario_node(s, "leaf-2-0");
	struct iba_trap_local_change echo = {
		.lid = scenario_lid(s, host),
		.capability_mask = sim_port_info(s->sim, host, 1)->capability_mask,
		.capability_mask2 = sim_port_info(s->sim, host, 1)->capability_mask2,
	};
	static const uint16_t others[] = {64,  129, 130, 131, 145, IBA_TRAP_BAD_M_KEY,
					  257, 258, 259};
	struct iba_notice trap = local_change(s, host);

	wire_encode(&iba_trap_local_change_type, &echo, trap.data_details);
	scenario_expect_at_most(s, sweeps_for(s, &trap), 0);
	echo.capability_mask2 = 0; /* from one that does not report it */
	wire_encode(&iba_trap_local_change_type, &echo, trap.data_details);
	scenario_expect_at_most(s, sweeps_for(s, &trap), 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(others); i++) {
		trap = notice(s, leaf, others[i]);
		scenario_expect_at_most(s, sweeps_for(s, &trap), 0);
	}
	trap = link_change(s, leaf, scenario_lid(s, leaf));
	trap.is_generic = false;
	scenario_expect_at_most(s, sweeps_for(s, &trap), 0);
	scenario_check_log(s, "num:259 ", true);
	ck_assert_uint_eq(COUNT(s, traps_m_key), 1);
	ck_assert_uint_eq(COUNT(s, traps_p_key), 3);
	scenario_check_log(s, "num:131 ", true);
	scenario_free(s);
}
END_TEST

/* Capabilities other than those read are a change. */
START_TEST(capabilities_changed)
{
	struct scenario *s = up(QUIET);
	unsigned int host = scenario_node(s, "host-9");
	const struct iba_port_info *info = sim_port_info(s->sim, host, 1);

	for (unsigned int i = 0; i < 3; i++) {
		struct iba_trap_local_change details = {
			.lid = info->lid,
			.capability_mask = info->capability_mask ^ (i == 0 ? 1u << 20 : 0),
			.capability_mask2 = i == 1 ? info->capability_mask2 ^ 0x8000 : 0,
			.change_flags = i == 2,
		};
		struct iba_notice trap = local_change(s, host);

		wire_encode(&iba_trap_local_change_type, &details, trap.data_details);
		scenario_expect(s, sweeps_for(s, &trap) > 0);
	}
	scenario_free(s);
}
END_TEST

struct heard {
	unsigned int n;
	uint64_t value;
};

static void on_trap(void *arg, uint64_t value)
{
	struct heard *heard = arg;

	heard->n++;
	heard->value = value;
}

/* The other parts of the daemon get an event: of which port, and what. */
START_TEST(is_told)
{
	struct scenario *s = up(QUIET);
	unsigned int host = scenario_node(s, "host-9"), other = scenario_node(s, "host-5");
	struct actor *actor = actor_new(s->rt, "listener");
	struct iba_notice trap = notice(s, other, 131);
	struct heard heard = {0};

	event_subscribe(&daemon_context(s->daemon)->bus, EVENT_TRAP_RECEIVED, actor, on_trap,
			&heard);
	actor_start(actor);
	sweeps_for(s, &trap);
	ck_assert_uint_eq(heard.n, 1);
	ck_assert_uint_eq(heard.value, (uint64_t)scenario_lid(s, other) << 16 | 131);
	trap.issuer_lid = 0;
	sweeps_for(s, &trap);
	ck_assert_uint_eq(heard.value, (uint64_t)scenario_lid(s, host) << 16 | 131);
	scenario_stop(s);
	actor_stop(actor);
	actor_free(actor);
	scenario_free(s);
}
END_TEST

/* ---- SMPs that are not traps ---- */

struct answer {
	uint16_t to;
	uint8_t method; /* 0: none came */
	uint16_t status;
	struct iba_sm_info info;
};

static void hear_answer(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
			const uint8_t *data, size_t length)
{
	struct answer *answer = arg;
	struct iba_smp smp;

	(void)now_ns;
	(void)from;
	if (length < IBA_MAD_BYTES || data[1] != IBA_CLASS_SUBN_LID || to->lid != answer->to)
		return;
	wire_decode(&iba_smp_type, data, &smp);
	answer->method = smp.header.method;
	answer->status = smp.header.status;
	wire_decode(&iba_sm_info_type, smp.data, &answer->info);
}

/* A host sends an SMP to the SM. */
static struct answer answer_to(struct scenario *s, uint8_t method, uint16_t attribute, uint64_t key)
{
	unsigned int host = scenario_node(s, "host-9");
	struct vendor *vendor = sim_open(s->sim, sim_port_guid(s->sim, host, 1), NULL);
	struct vendor_address to = {
		.lid = scenario_lid(s, scenario_sm_node(s, NULL)),
		.qpn = IBA_QP0,
	};
	struct answer answer = {.to = scenario_lid(s, host)};
	struct iba_smp smp = {
		.header.base_version = IBA_BASE_VERSION,
		.header.mgmt_class = IBA_CLASS_SUBN_LID,
		.header.class_version = 1,
		.header.method = method,
		.header.transaction_id = 77,
		.header.attribute_id = attribute,
		.m_key = key,
	};
	uint8_t wire[IBA_MAD_BYTES];

	wire_encode(&iba_smp_type, &smp, wire);
	sim_set_trace(s->sim, hear_answer, &answer);
	vendor_send(vendor, &to, wire, sizeof(wire), 0);
	scenario_run_ms(s, 100);
	sim_set_trace(s->sim, NULL, NULL);
	vendor_close(vendor);
	return answer;
}

/* Every requester is told which SM is master; none may tell this SM what to be. */
START_TEST(sm_info)
{
	struct scenario *s = up(QUIET "sm_priority 9\nsm_key 0x77\n");
	struct answer answer = answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0);
	uint32_t count = answer.info.act_count;

	ck_assert_uint_eq(answer.method, IBA_METHOD_GET_RESP);
	ck_assert_uint_eq(answer.status, 0);
	ck_assert_uint_eq(answer.info.guid, s->sm_guid);
	ck_assert_uint_eq(answer.info.priority, 9);
	ck_assert_uint_eq(answer.info.sm_state, IBA_SM_MASTER);
	ck_assert_uint_eq(answer.info.sm_key, 0); /* of a host without IsSM */
	scenario_heavy_sweep(s, 10);
	answer = answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0);
	count = answer.info.act_count - count;
	ck_assert(count && count < 1000); /* it works */
	answer = answer_to(s, IBA_METHOD_SET, IBA_ATTR_SM_INFO, 0);
	ck_assert_uint_eq(answer.method, IBA_METHOD_GET_RESP);
	ck_assert_uint_eq(answer.status, IBA_STATUS_INVALID_FIELD);
	ck_assert_uint_eq(COUNT(s, sm_infos_answered), 3);
	scenario_free(s);
}
END_TEST

/* Without an M_Key, for ports with IsSM; the default key is not secret. */
START_TEST(sm_key_without_m_key)
{
	struct scenario *s = up(QUIET "sm_key 0x77\n");
	uint64_t guid = sim_port_guid(s->sim, scenario_node(s, "host-9"), 1);
	struct vendor *vendor = sim_open(s->sim, guid, NULL);

	ck_assert_uint_eq(answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0).info.sm_key, 0);
	sim_set_traps_lost(s->sim, true); /* this SM was not told of the new capability */
	ck_assert(vendor_set_is_sm(vendor, true, NULL));
	ck_assert_uint_eq(answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0).info.sm_key, 0x77);
	vendor_close(vendor);
	scenario_stop(s);
	scenario_conf(s, QUIET);
	scenario_start(s);
	scenario_converge(s, 20);
	ck_assert_uint_eq(answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0).info.sm_key, 1);
	scenario_free(s);
}
END_TEST

/* The SM_Key is for requesters that know the M_Key. */
START_TEST(sm_key)
{
	struct scenario *s = up(QUIET "sm_key 0x77\nm_key 0x1234\n");

	ck_assert_uint_eq(answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0).info.sm_key, 0);
	ck_assert_uint_eq(answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0x1235).info.sm_key, 0);
	ck_assert_uint_eq(answer_to(s, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0x1234).info.sm_key, 0x77);
	scenario_free(s);
}
END_TEST

/* A wrong M_Key may start the lease of the key (14.2.4.2), but no sweep. */
START_TEST(bad_m_key)
{
	struct scenario *s =
		up(_i ? QUIET "m_key 0x1234\nm_key_lease_period 3000\n" : QUIET "m_key 0x1234\n");
	struct iba_notice trap = notice(s, scenario_node(s, "host-9"), IBA_TRAP_BAD_M_KEY);

	ck_assert_uint_eq(sweeps_for(s, &trap), 0);
	ck_assert_uint_eq(COUNT(s, traps_m_key), 1);
	scenario_free(s);
}
END_TEST

/* Anything else that arrives as a trap is counted, and not answered. */
START_TEST(no_notice)
{
	struct scenario *s = up(QUIET);
	uint64_t unhandled = COUNT(s, mad_unhandled), received = COUNT(s, traps_received);

	ck_assert_uint_eq(answer_to(s, IBA_METHOD_TRAP, IBA_ATTR_SM_INFO, 0).method, 0);
	ck_assert_uint_eq(COUNT(s, mad_unhandled), unhandled + 1);
	ck_assert_uint_eq(COUNT(s, traps_received), received);
	ck_assert_uint_eq(answer_to(s, IBA_METHOD_TRAP, IBA_ATTR_NOTICE, 0).method,
			  IBA_METHOD_TRAP_REPRESS);
	ck_assert_uint_eq(COUNT(s, mad_unhandled), unhandled + 1);
	ck_assert_uint_eq(COUNT(s, traps_received), received + 1);
	scenario_free(s);
}
END_TEST

static struct {
	unsigned int n, heavy_reasons, kinds;
} done;

static void on_sweep_done(void *arg, uint64_t value)
{
	struct sweep_done now = sweep_done_unpack(value);

	(void)arg;
	done.n++;
	done.kinds |= now.kind;
	if (now.kind == SWEEP_KIND_HEAVY)
		done.heavy_reasons |= now.reasons;
}

/* The reasons of a finished sweep include traps that arrived while it read the subnet. */
START_TEST(answered_by_the_same_sweep)
{
	struct scenario *s = up(QUIET);

	memset(&done, 0, sizeof(done));
	event_subscribe(&daemon_context(s->daemon)->bus, EVENT_SWEEP_DONE, daemon_actor(s->daemon),
			on_sweep_done, NULL);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + 100 * NS_PER_US);
	sim_link_set(s->sim, scenario_node(s, "leaf-1-1"), 1, false);
	scenario_run_ms(s, 3000);
	ck_assert_uint_eq(done.n, 1);
	ck_assert_uint_eq(done.kinds, SWEEP_KIND_HEAVY);
	ck_assert_uint_eq(done.heavy_reasons, SWEEP_HEAVY | SWEEP_LINK_TRAP | SWEEP_CHANGE);
	scenario_free(s);
}
END_TEST

/* A fabric of long routes, which has just lost one spine of each pod. */
static struct scenario *without_spines(void)
{
	struct scenario *s = up(QUIET "transaction_timeout 5000\n");

	sim_set_delay(s->sim, 50 * NS_PER_MS, 0);
	for (unsigned int pod = 0; pod < 4; pod++) {
		g_autofree char *name = g_strdup_printf("spine-%u-1", pod);

		sim_node_set(s->sim, scenario_node(s, name), false);
	}
	return s;
}

/*
 * Switches with broken routes repeat their traps, as no TrapRepress reaches them: that is not a
 * reason to begin the repair again, but to read them again after it.
 */
START_TEST(repeated_while_repaired)
{
	struct scenario *s = without_spines();
	uint64_t received = COUNT(s, traps_received), cancelled = COUNT(s, sweeps_cancelled);
	uint64_t partial = COUNT(s, sweeps_partial);

	scenario_converge(s, 60);
	scenario_run_ms(s, 20 * 1000);
	ck_assert_uint_ge(COUNT(s, traps_received), received + 2 * 8);
	ck_assert_uint_eq(COUNT(s, sweeps_cancelled), cancelled);
	ck_assert_uint_ge(COUNT(s, sweeps_partial), partial + 2);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("traps");
	TCase *tcase = tcase_create("traps");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, limit_of_a_source);
	tcase_add_test(tcase, repressed_once);
	tcase_add_test(tcase, what_leads_to_a_look);
	tcase_add_test(tcase, what_does_not);
	tcase_add_test(tcase, capabilities_changed);
	tcase_add_test(tcase, is_told);
	tcase_add_test(tcase, sm_info);
	tcase_add_test(tcase, sm_key);
	tcase_add_test(tcase, sm_key_without_m_key);
	tcase_add_loop_test(tcase, bad_m_key, 0, 2);
	tcase_add_test(tcase, no_notice);
	tcase_add_test(tcase, answered_by_the_same_sweep);
	tcase_add_test(tcase, repeated_while_repaired);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
