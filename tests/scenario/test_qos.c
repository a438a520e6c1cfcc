// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SL2VL and VL arbitration tables on the simulated hardware. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "ctl/base/answer.h"
#include "ctl/command/command.h"
#include "policy/qos/qos.h"
#include "scenario.h"
#include "sm/schedule/plan.h"
#include "tests/run_suite.h"

#define CONF                                                                                       \
	"qos TRUE\nqos_high_limit 9\nqos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,15,15\n"                \
	"qos_ca_sl2vl 0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,15\n"                                          \
	"qos_swe_vlarb_low 0:64,1:128,9:255\nqos_ca_vlarb_high 3:7\n"

static struct scenario *s;
static char *policy_file;

static void setup(void)
{
	s = scenario_new("fattree:4", 1);
}

static void teardown(void)
{
	g_clear_pointer(&policy_file, g_free);
	scenario_free(s);
}

static struct qos_tables tables_of(bool is_switch)
{
	struct options *options = slot_take(&daemon_context(s->daemon)->options);
	struct qos qos;

	qos_make(options, &qos);
	options_unref(options);
	return qos.of[is_switch ? QOS_SWITCH : QOS_CA];
}

static void check_arbitration(unsigned int node, unsigned int port, const struct qos_tables *tables)
{
	const struct iba_port_info *info = sim_port_info(s->sim, node, port);

	for (unsigned int block = 1; block <= 4; block++) {
		unsigned int cap =
			block <= 2 ? info->vl_arbitration_low_cap : info->vl_arbitration_high_cap;
		const uint8_t *is = sim_vl_arbitration(s->sim, node, port, block);
		struct iba_vl_arbitration_table want;
		uint8_t wire[64] = {0};

		if (cap <= (block - 1) % 2 * 32)
			continue;
		qos_arbitration(tables, 8, block - 1, cap, &want);
		wire_encode(&iba_vl_arbitration_table_type, &want, wire);
		ck_assert_ptr_nonnull(is);
		ck_assert_msg(!memcmp(is, wire, sizeof(wire)), "node %u port %u block %u", node,
			      port, block);
	}
}

static void check_rows(unsigned int node, unsigned int port, unsigned int inputs,
		       const struct qos_tables *tables)
{
	struct iba_sl_to_vl_table want;
	uint8_t wire[8] = {0};

	qos_sl_to_vl(tables->vl, 8, &want);
	wire_encode(&iba_sl_to_vl_table_type, &want, wire);
	for (unsigned int in = 0; in <= inputs; in++) {
		const uint8_t *is = sim_sl_to_vl(s->sim, node, port, in);

		if (in && !sim_link_up(s->sim, node, in))
			continue;
		ck_assert_ptr_nonnull(is);
		ck_assert_msg(!memcmp(is, wire, sizeof(wire)), "node %u port %u input %u", node,
			      port, in);
	}
}

/* Every port with a link is as the options say. */
static void check_all(void)
{
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;
		struct qos_tables tables;

		sim_node_view(s->sim, node, &view);
		tables = tables_of(view.type == IBA_NODE_SWITCH);
		for (unsigned int port = 1; port <= view.num_ports; port++) {
			if (!sim_link_up(s->sim, node, port))
				continue;
			check_rows(node, port, view.type == IBA_NODE_SWITCH ? view.num_ports : 0,
				   &tables);
			check_arbitration(node, port, &tables);
			ck_assert_uint_eq(sim_port_info(s->sim, node, port)->vl_high_limit,
					  tables.high_limit);
		}
	}
}

START_TEST(programmed)
{
	struct sim_counters before;

	scenario_conf(s, CONF);
	scenario_start(s);
	scenario_converge(s, 10);
	check_all();
	/* Nothing is set again, neither by a sweep nor by another daemon. */
	before = scenario_counters(s);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(scenario_counters(s).sets, before.sets);
	scenario_stop(s);
	scenario_start(s);
	before = scenario_counters(s);
	scenario_converge(s, 10);
	ck_assert_uint_le(scenario_counters(s).sets - before.sets, 20);
	check_all();
}
END_TEST

/* Without the option the hardware keeps its initial tables. */
START_TEST(left_alone)
{
	scenario_conf(s, "qos_sl2vl 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n");
	scenario_start(s);
	scenario_converge(s, 10);
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		ck_assert_ptr_null(sim_sl_to_vl(s->sim, node, 1, 0));
		ck_assert_ptr_null(sim_vl_arbitration(s->sim, node, 1, 1));
	}
}
END_TEST

/* Options change, a switch is reset, a cable is new: what differs is set, and no more. */
START_TEST(followed)
{
	struct sim_counters before;
	unsigned int node, port;

	scenario_conf(s, CONF);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_converge(s, 10);
	sim_link_set(s->sim, node, port, true);
	before = scenario_counters(s);
	scenario_converge(s, 10);
	check_all();
	ck_assert_uint_le(scenario_counters(s).sets - before.sets, 60);
	sim_node_set(s->sim, node, false);
	scenario_run_ms(s, 50);
	sim_node_set(s->sim, node, true);
	scenario_converge(s, 10);
	check_all();
	scenario_conf(s, CONF "qos_swe_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\n");
	ck_assert(daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 10);
	check_all();
}
END_TEST

/* A port without a link, or with a silent node behind it, keeps its initial tables. */
START_TEST(no_neighbour)
{
	unsigned int host = scenario_node(s, "host-9");
	unsigned int node = scenario_node(s, "core-0-0"), port = 1;

	sim_link_set(s->sim, node, port, false);
	sim_node_mute(s->sim, host, true);
	scenario_conf(s, CONF);
	scenario_start(s);
	scenario_run_ms(s, 3000);
	ck_assert_ptr_null(sim_sl_to_vl(s->sim, node, port, 0));
	ck_assert(sim_peer(s->sim, host, 1, &node, &port));
	ck_assert(sim_link_up(s->sim, node, port));
	ck_assert_ptr_null(sim_sl_to_vl(s->sim, node, port, 0));
	sim_node_mute(s->sim, host, false);
	scenario_converge(s, 20);
	check_all();
}
END_TEST

/* One SMP a switch, or a port, instead of one for each pair of ports. */
START_TEST(optimized)
{
	uint64_t singly, sets;

	scenario_conf(s, CONF);
	scenario_start(s);
	scenario_converge(s, 10);
	singly = scenario_counters(s).sets;
	scenario_free(s);
	setup();
	scenario_conf(s, CONF "use_optimized_slvl TRUE\n");
	scenario_start(s);
	scenario_converge(s, 10);
	check_all();
	sets = scenario_counters(s).sets;
	/* 20 switches of 4 ports, each with 5 inputs */
	ck_assert_uint_eq(singly - sets, 20 * 4 * 5 - 20);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(scenario_counters(s).sets, sets);
}
END_TEST

/*
 * Switches that claim to accept all rows at once and refuse it: theirs are set one by one, in the
 * same sweep and in later ones, and that is logged once.
 */
START_TEST(optimized_refused)
{
	unsigned int leaf = scenario_node(s, "leaf-0-0");
	struct sim_counters before;

	sim_node_refuse_wildcards(s->sim, leaf, _i);
	scenario_conf(s, CONF "use_optimized_slvl TRUE\n");
	scenario_start(s);
	scenario_converge(s, 10);
	check_all();
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
	scenario_check_log(s, "leaf-0-0", true);
	scenario_check_log(s, "SL2VL tables are written one by one", true);
	before = scenario_counters(s);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(scenario_counters(s).sets, before.sets);
	/* other rows: setting all at once is not tried again */
	g_string_truncate(s->text, 0);
	scenario_conf(s, CONF
		      "use_optimized_slvl TRUE\nqos_swe_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\n");
	ck_assert(daemon_reread(s->daemon, NULL));
	before = scenario_counters(s);
	scenario_heavy_sweep(s, 10);
	check_all();
	ck_assert_uint_eq(scenario_counters(s).sets - before.sets, 19 + 4 * 5);
	scenario_check_log(s, "one by one", false);
}
END_TEST

/* Packets are lost meanwhile. */
START_TEST(with_loss)
{
	scenario_conf(s, CONF);
	sim_set_loss(s->sim, 0.05);
	scenario_start(s);
	scenario_converge(s, 60);
	sim_set_loss(s->sim, 0);
	scenario_run_ms(s, 15000);
	check_all();
}
END_TEST

/* A switch refuses SL2VL tables: an error, unless the operator does not want to know. */
START_TEST(refused)
{
	unsigned int node = scenario_node(s, "leaf-0-0");

	sim_node_refuse(s->sim, node, IBA_ATTR_SL_TO_VL_TABLE);
	scenario_conf(s, CONF);
	scenario_start(s);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", true);
	scenario_check_log(s, "Set(SLtoVLMappingTable)", true);
	scenario_check_log(s, "SUBNET UP", false);
	scenario_stop(s);
	scenario_conf(s, CONF "suppress_sl2vl_mad_status_errors TRUE\n");
	g_string_truncate(s->text, 0);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_check_log(s, "SUBNET UP", true);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
	sim_node_refuse(s->sim, node, 0);
	scenario_heavy_sweep(s, 10);
	check_all();
}
END_TEST

/* ---- qos-setup of qos-policy.conf ---- */

#define GROUP                                                                                      \
	"port-groups\nport-group\nname: some\nport-name: host-0/P1, host-5/P1\nend-port-group\n"   \
	"end-port-groups\n"
#define REST "qos-ulps\ndefault: %u\nend-qos-ulps\n"
#define SCOPES(limit, vl)                                                                          \
	"qos-setup\nvlarb-tables\nvlarb-scope\nacross: some\nvlarb-low: 1:7\n"                     \
	"vlarb-high-limit: " #limit "\nend-vlarb-scope\nend-vlarb-tables\nsl2vl-tables\n"          \
	"sl2vl-scope\nacross-from: some\nsl2vl-table: " #vl ",1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\n"     \
	"end-sl2vl-scope\nend-sl2vl-tables\nend-qos-setup\n"

static void write_policy(const char *text, unsigned int sl)
{
	g_autofree char *rest = g_strdup_printf(REST, sl);
	g_autofree char *all = g_strconcat(GROUP, text, rest, NULL);

	ck_assert(g_file_set_contents(policy_file, all, -1, NULL));
}

static void start_with_policy(const char *text, const char *conf)
{
	g_autofree char *keys = NULL;

	policy_file = g_build_filename(s->directory, "qos-policy.conf", NULL);
	write_policy(text, 0);
	keys = g_strdup_printf("qos TRUE\nqos_policy_file %s\n%s", policy_file, conf);
	scenario_conf(s, keys);
	scenario_start(s);
	scenario_converge(s, 10);
}

/* The switch port of a host in the group, and the rows there. */
static void check_scopes(uint8_t limit, uint8_t vl)
{
	static const char *const hosts[] = {"host-0", "host-5"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++) {
		unsigned int leaf, port, host = scenario_node(s, hosts[i]);
		struct iba_sl_to_vl_table row;
		struct iba_vl_arbitration_table arb;

		ck_assert(sim_peer(s->sim, host, 1, &leaf, &port));
		ck_assert_uint_eq(sim_port_info(s->sim, leaf, port)->vl_high_limit, limit);
		wire_decode(&iba_vl_arbitration_table_type,
			    sim_vl_arbitration(s->sim, leaf, port, 1), &arb);
		ck_assert_uint_eq(arb.entry[0].weight, 7);
		ck_assert_uint_eq(arb.entry[1].weight, 0);
		for (unsigned int out = 1; out <= 4; out++)
			for (unsigned int in = 1; in <= 4; in++) {
				wire_decode(&iba_sl_to_vl_table_type,
					    sim_sl_to_vl(s->sim, leaf, out, in), &row);
				ck_assert_uint_eq(row.vl[0], in == port ? vl : 0);
			}
		ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->vl_high_limit, 0);
	}
}

START_TEST(scopes)
{
	struct sim_counters before;

	start_with_policy(SCOPES(9, 6), "");
	check_scopes(9, 6);
	before = scenario_counters(s);
	scenario_heavy_sweep(s, 10);
	ck_assert_uint_eq(scenario_counters(s).sets, before.sets);
}
END_TEST

/* Sets of SL2VL tables: of a whole switch, of all inputs of an output, of one row, of a host. */
static struct {
	unsigned int switches, outputs, rows, hosts;
} written;

static void count_rows(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		       const uint8_t *data, size_t length)
{
	struct iba_smp smp;

	(void)arg;
	(void)now_ns;
	(void)to;
	(void)from;
	if (!scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_SL_TO_VL_TABLE))
		return;
	wire_decode(&iba_smp_type, data, &smp);
	if (smp.header.attribute_modifier & IBA_SL_TO_VL_MOD_ALL_OUTPUT)
		written.switches++;
	else if (smp.header.attribute_modifier & IBA_SL_TO_VL_MOD_ALL_INPUT)
		written.outputs++;
	else if (!smp.header.attribute_modifier)
		written.hosts++;
	else
		written.rows++;
}

/* An output whose rows differ by input is written row by row, the others at once. */
START_TEST(scopes_optimized)
{
	start_with_policy(SCOPES(9, 6), "use_optimized_slvl TRUE\n");
	check_scopes(9, 6);
}
END_TEST

static GByteArray *rows_of_switches(void)
{
	GByteArray *rows = g_byte_array_new();

	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		for (unsigned int port = 1; view.switch_info && port <= view.num_ports; port++)
			for (unsigned int in = 0; in <= view.num_ports; in++)
				g_byte_array_append(rows, sim_sl_to_vl(s->sim, node, port, in), 8);
	}
	return rows;
}

#define ONE_WAY                                                                                    \
	"qos-setup\nsl2vl-tables\nsl2vl-scope\nacross-to: some\nfrom: 3\n"                         \
	"sl2vl-table: 6,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\nend-sl2vl-scope\nend-sl2vl-tables\n"        \
	"end-qos-setup\n"

/* Only outputs to two hosts differ by input: the rows are the same either way. */
START_TEST(either_way)
{
	const char *const conf = "qos_sl2vl 7,6,5,4,3,2,1,0,7,6,5,4,3,2,1,0\n";
	g_autofree char *both = g_strconcat(conf, "use_optimized_slvl TRUE\n", NULL);
	GByteArray *singly, *at_once;

	start_with_policy(ONE_WAY, conf);
	singly = rows_of_switches();
	teardown();
	setup();
	memset(&written, 0, sizeof(written));
	sim_set_trace(s->sim, count_rows, NULL);
	start_with_policy(ONE_WAY, both);
	at_once = rows_of_switches();
	ck_assert_uint_eq(singly->len, at_once->len);
	ck_assert_mem_eq(singly->data, at_once->data, singly->len);
	/* 20 switches of 4 ports, two of them with such an output; 16 hosts */
	ck_assert_uint_eq(written.switches, 18);
	ck_assert_uint_eq(written.outputs, 2 * 3);
	ck_assert_uint_eq(written.rows, 2 * 5);
	ck_assert_uint_eq(written.hosts, 16);
	g_byte_array_unref(singly);
	g_byte_array_unref(at_once);
}
END_TEST

/* ---- the console's report ---- */

static void expect_answer(const char *line, const char *text, bool there)
{
	const struct command_env env = {.daemon = s->daemon};
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	ck_assert_msg(!strstr(answer.text, text) == !there, "%s: %s in:\n%s", line,
		      there ? "no such text" : "text", answer.text);
	g_free(answer.text);
}

START_TEST(told)
{
	unsigned int host = scenario_node(s, "host-0"), leaf, port;
	g_autofree char *from = NULL, *wrong = NULL, *line = NULL;

	start_with_policy(SCOPES(9, 6), "");
	ck_assert(sim_peer(s->sim, host, 1, &leaf, &port));
	ck_assert_uint_eq(leaf, scenario_node(s, "leaf-0-0"));
	line = g_strdup_printf("qos leaf-0-0 %u", port == 3 ? 4 : 3);
	from = g_strdup_printf("SL2VL from port %u: 6,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7 by line 16",
			       port);
	wrong = g_strdup_printf("SL2VL from port %u: 0,", port);
	expect_answer("qos", "1 level(s), 0 rule(s), 2 scope(s)\n   group 'some': 2 port(s)\n",
		      true);
	expect_answer(line, from, true);
	expect_answer(line, wrong, false);
	expect_answer(line, "not read yet", true);
	scenario_run_ms(s, 1000);
	expect_answer(line, from, true);
	expect_answer(line, "not read yet", false);
	expect_answer(line, "but it is", false);
	expect_answer("qos leaf-0-0", "VLHighLimit 9\n", true);
	expect_answer("qos reload", "qos-policy.conf has not changed", true);
	write_policy(SCOPES(9, 6) SCOPES(5, 3), 0);
	expect_answer("qos reload", "was read", true);
	scenario_run_ms(s, 1000);
	expect_answer("qos", "qos-policy.conf:24: this scope and that of line 9 set ", true);
	expect_answer("qos json",
		      "qos-policy.conf\",\"line\":24,\"column\":0,\"severity\":"
		      "\"warning\",\"text\":\"this scope",
		      true);
	write_policy("nonsense", 0);
	expect_answer("qos reload", "the QoS policy is unchanged", true);
	expect_answer("qos", "   refused at ", true);
	expect_answer("status", "qos-policy.conf", true);
	for (unsigned int i = 0; i < 2; i++)
		expect_answer(i ? "status json" : "qos json",
			      "qos-policy.conf\",\"line\":7,\"column\":1,\"severity\":\"error\","
			      "\"text\":\"found 'nonsenseqos-ulps', expected ",
			      true);
}
END_TEST

static void expect_refusal_told(unsigned int reasons, bool again)
{
	g_string_truncate(s->text, 0);
	if (reasons)
		daemon_sweep(s->daemon, reasons);
	else
		event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	scenario_run_ms(s, 2000);
	scenario_check_log(s, "heavy sweep", true);
	scenario_check_log(s, "the QoS policy is unchanged", again);
}

START_TEST(refusal_is_told_who_asks)
{
	start_with_policy(SCOPES(9, 6), "");
	write_policy("nonsense", 0);
	expect_refusal_told(0, true);
	expect_refusal_told(0, false);
	expect_refusal_told(SWEEP_HEAVY, true);
	expect_refusal_told(0, false);
}
END_TEST

/* A missing file is not the same as one without rules. */
START_TEST(policy_that_is_gone)
{
	g_autofree char *file = NULL;
	struct options *options;

	start_with_policy(SCOPES(9, 6), "");
	options = slot_take(&daemon_context(s->daemon)->options);
	file = g_strdup(options->qos_policy_file);
	options_unref(options);
	ck_assert_int_eq(g_remove(file), 0);
	expect_refusal_told(0, true);
	expect_refusal_told(SWEEP_HEAVY, true);
	scenario_check_log(s, "qos-policy.conf: there is no such file; write its contents", true);
	expect_answer("qos", "1 level(s), 0 rule(s), 2 scope(s)\n", true);
	expect_answer("health", "qos-policy.conf: there is no such file", true);
	ck_assert(g_file_set_contents(file, "qos-ulps\ndefault: 0\nend-qos-ulps\n", -1, NULL));
	expect_answer("qos reload", "was read", true);
	scenario_run_ms(s, 1000);
	expect_answer("qos", "1 level(s), 0 rule(s), 0 scope(s)\n", true);
}
END_TEST

/* An SL that a scope drops on the way to one host stays usable to all others. */
START_TEST(dropped_on_one_way)
{
	start_with_policy("qos-setup\nsl2vl-tables\nsl2vl-scope\nacross-to: some\n"
			  "sl2vl-table: 0,1,2,15,4,5,6,7,0,1,2,3,4,5,6,7\nend-sl2vl-scope\n"
			  "end-sl2vl-tables\nend-qos-setup\n"
			  "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"
			  "qos-level\nname: three\nsl: 3\nend-qos-level\nend-qos-levels\n"
			  "qos-match-rules\nqos-match-rule\nqos-class: 3\n"
			  "qos-level-name: three\nend-qos-match-rule\nend-qos-match-rules\n",
			  "");
	expect_answer("path host-3 host-5 qos-class 3", "SL2VL tables drop packets of its SL at ",
		      true);
	expect_answer("path host-3 host-4 qos-class 3", "There is no such path", false);
	expect_answer("path host-5 host-3 qos-class 3", "There is no such path", false);
	expect_answer("path host-3 host-5", "There is no such path", false);
}
END_TEST

/* ---- a plan of a changed qos-policy.conf ---- */

static void take_plan(void *arg, GVariant *answer)
{
	char **json = arg;

	*json = answer_json(answer);
}

static char *plan_now(void)
{
	g_autoptr(GError) error = NULL;
	char *json = NULL;

	if (!daemon_plan(s->daemon, NULL, 20, &error))
		scenario_fail(s, "%s", error->message);
	daemon_plan_listen(s->daemon, take_plan, &json);
	scenario_run_ms(s, 5000);
	ck_assert_ptr_nonnull(json);
	return json;
}

START_TEST(planned)
{
	g_autofree char *same = NULL, *other = NULL;
	struct sim_counters before;

	start_with_policy(SCOPES(9, 6), "");
	same = plan_now();
	ck_assert_ptr_null(strstr(same, "SLtoVLMappingTable"));
	before = scenario_counters(s);
	write_policy(SCOPES(9, 5), 0);
	other = plan_now();
	ck_assert_msg(strstr(other, "SLtoVLMappingTable"), "%s", other);
	ck_assert_uint_eq(scenario_counters(s).sets, before.sets);
	check_scopes(9, 6);
}
END_TEST

/* The file changes: used by a heavy sweep without a request, and by a policy sweep. */
START_TEST(scopes_followed)
{
	struct subnet *subnet;

	start_with_policy(SCOPES(9, 6), "");
	write_policy(SCOPES(5, 3), 4);
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	scenario_run_ms(s, 3000);
	check_scopes(5, 3);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	ck_assert_uint_eq(qos_paths_level(subnet->qos, &(struct qos_query){0}, 0, 0)->sl, 4);
	subnet_unref(subnet);
	write_policy(SCOPES(7, 2), 4);
	ck_assert(daemon_reread_qos(s->daemon));
	ck_assert(!daemon_reread_qos(s->daemon));
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
	scenario_run_ms(s, 3000);
	check_scopes(7, 2);
	/* A wrong one is logged, and changes nothing. */
	write_policy("nonsense\n", 5);
	scenario_heavy_sweep(s, 10);
	ck_assert_ptr_nonnull(strstr(daemon_refusal(s->daemon, DAEMON_QOS)->why, ":7:1: found"));
	check_scopes(7, 2);
	write_policy(SCOPES(7, 2), 4);
	scenario_heavy_sweep(s, 10);
	ck_assert_ptr_null(daemon_refusal(s->daemon, DAEMON_QOS)->why);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("qos");
	TCase *tcase = tcase_create("qos");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, programmed);
	tcase_add_test(tcase, left_alone);
	tcase_add_test(tcase, followed);
	tcase_add_test(tcase, no_neighbour);
	tcase_add_test(tcase, optimized);
	tcase_add_loop_test(tcase, optimized_refused, 0, 2);
	tcase_add_test(tcase, with_loss);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, scopes);
	tcase_add_test(tcase, scopes_optimized);
	tcase_add_test(tcase, either_way);
	tcase_add_test(tcase, told);
	tcase_add_test(tcase, refusal_is_told_who_asks);
	tcase_add_test(tcase, policy_that_is_gone);
	tcase_add_test(tcase, dropped_on_one_way);
	tcase_add_test(tcase, planned);
	tcase_add_test(tcase, scopes_followed);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
