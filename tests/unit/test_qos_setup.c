// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scopes of qos-setup on a fat tree of 4-port switches: leaf-0-0 has host-0 and host-1 at its ports
 * 1 and 2, and spines at 3 and 4.
 */
#include <check.h>
#include <string.h>

#include "policy/qos/qos_setup.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define GROUPS                                                                                     \
	"port-groups\nport-group\nname: host-0\nport-name: host-0/P1\nend-port-group\n"            \
	"port-group\nname: host-1\nport-name: host-1/P1\nend-port-group\n"                         \
	"port-group\nname: CAs\nnode-type: CA\nend-port-group\n"                                   \
	"port-group\nname: switches\nnode-type: SWITCH\nend-port-group\n"                          \
	"port-group\nname: one port\nport-name: leaf-0-0/P2\nend-port-group\n"                     \
	"port-group\nname: nobody\nport-name: nobody/P1\nend-port-group\n"                         \
	"port-group\nname: key\npkey: 0x7fff\nend-port-group\nend-port-groups\n"
#define REST "qos-ulps\ndefault: 0\nend-qos-ulps\n"
#define ALL_TO(vl)                                                                                 \
#vl "," #vl "," #vl "," #vl "," #vl "," #vl "," #vl "," #vl "," #vl "," #vl "," #vl        \
	    "," #vl "," #vl "," #vl "," #vl "," #vl
#define SL2VL(lines, vl)                                                                           \
	"sl2vl-tables\nsl2vl-scope\n" lines "\nsl2vl-table: " ALL_TO(vl) "\nend-sl2vl-scope\n"     \
									 "end-sl2vl-tables\n"
#define VLARB(lines) "vlarb-tables\nvlarb-scope\n" lines "\nend-vlarb-scope\nend-vlarb-tables\n"

static struct fabric *fabric;
static struct partitions *partitions;
static struct options *options;
static struct qos_paths *paths;
static struct qos_place place;

static struct qos_paths *make(const char *scopes)
{
	g_autofree char *text =
		g_strconcat(GROUPS "qos-setup\n", scopes, "end-qos-setup\n" REST, NULL);
	g_autoptr(GError) error = NULL;
	struct qos_policy *policy = qos_policy_parse("qos.conf", text, &error);
	struct qos_paths *made;

	ck_assert_msg(policy, "%s", error ? error->message : "");
	made = qos_paths_make(policy, options, fabric, partitions);
	qos_policy_unref(policy);
	return made;
}

static void use(const char *scopes)
{
	qos_paths_unref(paths);
	paths = make(scopes);
	place = (struct qos_place){paths, fabric};
}

static void setup(void)
{
	options = options_new();
	options->qos = true;
	options->qos_high_limit = 3;
	options->qos_ca_high_limit = 4;
	fabric = make_fabric("fattree:4", 0);
	partitions = partitions_default(fabric);
}

static void teardown(void)
{
	qos_paths_unref(paths);
	paths = NULL;
	options_unref(options);
	partitions_unref(partitions);
	fabric_unref(fabric);
}

static uint32_t port_of(const char *description, uint8_t num)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (!strcmp(fabric->nodes[i].description, description))
			return fabric_port_of(fabric, i, num);
	ck_abort_msg("no %s", description);
}

/* The switch port that a host is cabled to. */
static uint32_t before(const char *description)
{
	return fabric->ports[port_of(description, 1)].peer;
}

static uint32_t other_port(uint32_t port, uint8_t num)
{
	return fabric_port_of(fabric, fabric->ports[port].node, num);
}

static unsigned int limit(uint32_t port)
{
	struct qos_tables tables;

	qos_setup_port(&place, port, &tables);
	return tables.high_limit;
}

/* VL of SL 9 and the line of the scope. */
static unsigned int vl(uint32_t from, uint32_t to, unsigned int *line)
{
	const struct qos_scope *scope;
	struct iba_sl_to_vl_table row;
	struct qos_tables tables;

	qos_setup_port(&place, to, &tables);
	scope = qos_setup_row(&place, &tables, 8, from, to, &row);
	if (line)
		*line = scope ? scope->line : 0;
	return row.vl[9];
}

START_TEST(arbitration)
{
	uint32_t host = port_of("host-0", 1), leaf = before("host-0"), other = port_of("host-1", 1);
	struct qos_tables tables;

	use("");
	ck_assert_uint_eq(limit(host), 4);
	ck_assert_uint_eq(limit(leaf), 3);
	use(VLARB("group: host-0\nvlarb-high-limit: 9"));
	ck_assert_uint_eq(limit(host), 9);
	ck_assert_uint_eq(limit(leaf), 3);
	ck_assert_uint_eq(limit(other), 4);
	use(VLARB("across: host-0\nvlarb-high-limit: 9\nvlarb-low: 1:7"));
	ck_assert_uint_eq(limit(host), 4);
	ck_assert_uint_eq(limit(leaf), 9);
	ck_assert_uint_eq(limit(before("host-1")), 3);
	qos_setup_port(&place, leaf, &tables);
	ck_assert_uint_eq(tables.low[0].vl, 1);
	ck_assert_uint_eq(tables.low[0].weight, 7);
	ck_assert_uint_eq(tables.low[1].weight, 0);  /* the role's other entries are not used */
	ck_assert_uint_eq(tables.high[0].weight, 4); /* the role's own in this case */
	use(VLARB("group: *\nvlarb-high-limit: 1"));
	ck_assert_uint_eq(limit(host), 1);
	ck_assert_uint_eq(limit(leaf), 1);
	use(VLARB("group: switches\nvlarb-high-limit: 1"));
	ck_assert_uint_eq(limit(host), 4);
	ck_assert_uint_eq(limit(other_port(leaf, 0)), 1);
	ck_assert_uint_eq(limit(other_port(leaf, 4)), 1);
	use(VLARB("group: one port\nvlarb-high-limit: 1"));
	ck_assert_uint_eq(limit(port_of("leaf-0-0", 2)), 1);
	ck_assert_uint_eq(limit(port_of("leaf-0-0", 1)), 3);
	use(VLARB("group: key\nvlarb-high-limit: 1"));
	ck_assert_uint_eq(limit(host), 1);
}
END_TEST

START_TEST(rows)
{
	uint32_t host = port_of("host-0", 1), leaf = before("host-0"), uplink = other_port(leaf, 4);
	uint32_t other = before("host-1");
	unsigned int line;

	use("");
	ck_assert(qos_setup_is_even(&place, leaf));
	ck_assert_uint_eq(vl(leaf, uplink, &line), 1); /* 9 modulo 8 */
	ck_assert_uint_eq(line, 0);
	use(SL2VL("across-from: host-0", 5));
	ck_assert(!qos_setup_is_even(&place, uplink));
	ck_assert_uint_eq(vl(leaf, uplink, &line), 5);
	ck_assert_uint_eq(line, 33);
	ck_assert_uint_eq(vl(uplink, leaf, NULL), 1);
	ck_assert_uint_eq(vl(other, uplink, NULL), 1);
	ck_assert_uint_eq(vl(host, host, NULL), 1);
	use(SL2VL("across-to: host-0", 5));
	ck_assert(qos_setup_is_even(&place, leaf) && qos_setup_is_even(&place, uplink));
	ck_assert_uint_eq(vl(leaf, uplink, NULL), 1);
	ck_assert_uint_eq(vl(uplink, leaf, NULL), 5);
	use(SL2VL("across: host-0", 5));
	ck_assert_uint_eq(vl(leaf, uplink, NULL), 5);
	ck_assert_uint_eq(vl(uplink, leaf, NULL), 5);
	ck_assert_uint_eq(vl(uplink, other, NULL), 1);
	use(SL2VL("across-from: host-0\nacross-to: host-1", 5));
	ck_assert_uint_eq(vl(leaf, other, NULL), 5);
	ck_assert_uint_eq(vl(other, leaf, NULL), 1);
	ck_assert_uint_eq(vl(leaf, uplink, NULL), 1);
	use(SL2VL("group: switches\nfrom: 0,4\nto: 1-2", 15));
	ck_assert_uint_eq(vl(other_port(leaf, 4), other_port(leaf, 1), NULL), 15);
	ck_assert_uint_eq(vl(other_port(leaf, 0), other_port(leaf, 2), NULL), 15);
	ck_assert_uint_eq(vl(other_port(leaf, 3), other_port(leaf, 2), NULL), 1);
	ck_assert_uint_eq(vl(other_port(leaf, 4), other_port(leaf, 3), NULL), 1);
	ck_assert_uint_eq(paths->dropped, 0xFFFF);
	use(SL2VL("group: host-0", 5));
	ck_assert_uint_eq(vl(host, host, NULL), 5);
	ck_assert_uint_eq(vl(leaf, uplink, NULL), 1);
}
END_TEST

/* The last one counts, and this is reported. */
START_TEST(clashes)
{
	uint32_t leaf = before("host-0");
	unsigned int line;

	use(SL2VL("across-to: CAs", 2) SL2VL("across-to: host-0, host-1", 3)
		    VLARB("group: CAs\nvlarb-high-limit: 1") VLARB("group: host-0\nvlarb-low: 1:1")
			    VLARB("group: host-1\nvlarb-high-limit: 1"));
	ck_assert_uint_eq(vl(other_port(leaf, 4), leaf, &line), 3);
	ck_assert_uint_eq(line, 39);
	ck_assert_uint_eq(paths->problems->len, 1);
	ck_assert_ptr_nonnull(strstr(paths->problems->pdata[0],
				     "qos.conf:39: this scope and that of line 33 set different "
				     "values for 2 port(s), the first of them "));
	ck_assert_ptr_nonnull(strstr(paths->problems->pdata[0], ": line 39 is used"));
	/* Rows of the same outputs, but of other inputs. */
	use(SL2VL("group: *\nfrom: 1", 2) SL2VL("group: switches\nfrom: 2", 3));
	ck_assert_uint_eq(paths->problems->len, 0);
	use(SL2VL("group: *\nfrom: 1", 2) SL2VL("group: switches\nfrom: 1-2", 3));
	ck_assert_uint_eq(paths->problems->len, 1);
	use(SL2VL("group: no such group\nto: 1", 2)); /* not all nodes */
	ck_assert_uint_eq(paths->problems->len, 1);
	ck_assert_str_eq(paths->problems->pdata[0],
			 "qos.conf:33: this scope matches no port of the subnet");
	use(VLARB("group: nobody\nvlarb-high-limit: 1"));
	ck_assert_str_eq(paths->problems->pdata[0],
			 "qos.conf:33: this scope matches no port of the subnet");
}
END_TEST

/* Missing names of ports are reported, each with its line; ports of a switch have one. */
START_TEST(unknown_names)
{
	static const char *const told[] = {
		"qos.conf:4: port-name 'host-0/P7': the node has no port '7'",
		"qos.conf:4: port-name 'host/P1': no node of the subnet is called 'host'",
		"qos.conf:6: port-name 'leaf-0-0/P99': the node has no port '99'",
		"qos.conf:6: port-name 'host-0/P0': the node has no port '0'",
		"qos.conf:6: port-name 'host-0/P01': the node has no port '01'",
		"qos.conf:10: port-name 'host-0/P7': the node has no port '7'",
	};
	struct qos_policy *policy = qos_policy_parse(
		"qos.conf",
		"port-groups\nport-group\nname: G\nport-name: host-0/P1, host-0/P7, host/P1\n"
		"port-guid: 0xdead\nport-name: leaf-0-0/P0, leaf-0-0/P99, host-0/P0, host-0/P01\n"
		"end-port-group\nport-group\nname: H\nport-name: host-0/P7, leaf-0-0/P2\n"
		"end-port-group\nend-port-groups\n" REST,
		NULL);
	struct qos_paths *named;

	ck_assert_ptr_nonnull(policy);
	named = qos_paths_make(policy, options, fabric, partitions);
	ck_assert_uint_eq(named->unknown->len, G_N_ELEMENTS(told));
	for (unsigned int i = 0; i < G_N_ELEMENTS(told); i++)
		ck_assert_str_eq(named->unknown->pdata[i], told[i]);
	qos_paths_unref(named);
	qos_policy_unref(policy);
}
END_TEST

static uint64_t guid_of(const char *description)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (!strcmp(fabric->nodes[i].description, description))
			return fabric->nodes[i].guid;
	ck_abort_msg("there is no %s", description);
}

/* A port-name may be the name that the operator gave to a node; two nodes are reported. */
START_TEST(given_names)
{
	struct qos_policy *policy = qos_policy_parse(
		"qos.conf",
		"port-groups\nport-group\nname: G\nport-name: rack-7/P1, rack-7/P9, host-0/P1\n"
		"port-name: host-1/P1\nend-port-group\nend-port-groups\n" REST,
		NULL);
	struct node_names *names = node_names_new();
	struct qos_paths *before, *named;

	ck_assert_ptr_nonnull(policy);
	before = qos_paths_make(policy, options, fabric, partitions);
	ck_assert_uint_eq(before->unknown->len, 2);
	node_names_add(names, guid_of("host-0"), "rack-7");
	node_names_add(names, guid_of("host-2"), "host-1");
	fabric->names = names;
	ck_assert(!qos_paths_are_of(before, policy, options, fabric, partitions));
	named = qos_paths_make(policy, options, fabric, partitions);
	ck_assert_uint_eq(named->unknown->len, 2);
	ck_assert_str_eq(named->unknown->pdata[0],
			 "qos.conf:4: port-name 'rack-7/P9': the node has no port '9'");
	ck_assert_str_eq(named->unknown->pdata[1],
			 "qos.conf:5: port-name 'host-1/P1': one node has this name in the node "
			 "name map and another as its description; ports of both are taken");
	qos_paths_unref(before);
	qos_paths_unref(named);
	qos_policy_unref(policy);
}
END_TEST

/* And at most this many. */
START_TEST(many_unknown_names)
{
	GString *text = g_string_new("port-groups\nport-group\nname: G\nport-name: x/P1");
	struct qos_policy *policy;
	struct qos_paths *named;

	for (unsigned int i = 0; i < 2 * QOS_PROBLEMS_MAX; i++)
		g_string_append_printf(text, ",x%u/P1", i);
	g_string_append(text, "\nend-port-group\nend-port-groups\n" REST);
	policy = qos_policy_parse("qos.conf", text->str, NULL);
	ck_assert_ptr_nonnull(policy);
	named = qos_paths_make(policy, options, fabric, partitions);
	ck_assert_uint_eq(named->unknown->len, QOS_PROBLEMS_MAX);
	qos_paths_unref(named);
	qos_policy_unref(policy);
	g_string_free(text, TRUE);
}
END_TEST

/* Made once for equal inputs. */
START_TEST(made_once)
{
	struct qos_paths *again;

	use(VLARB("group: CAs\nvlarb-high-limit: 1"));
	ck_assert(qos_paths_are_of(paths, paths->policy, options, fabric, partitions));
	again = qos_paths_make(paths->policy, options, fabric, partitions);
	ck_assert(qos_paths_same_tables(paths, again, fabric));
	qos_paths_unref(again);
	again = make(VLARB("group: CAs\nvlarb-high-limit: 2"));
	ck_assert(!qos_paths_are_of(paths, again->policy, options, fabric, partitions));
	ck_assert(!qos_paths_same_tables(paths, again, fabric));
	ck_assert(!qos_paths_same_tables(paths, NULL, fabric));
	qos_paths_unref(again);
	fabric->nodes[3].description[0]++; /* groups refer to names here */
	ck_assert(!qos_paths_are_of(paths, paths->policy, options, fabric, partitions));
	fabric->nodes[3].description[0]--;
	fabric->shape++;
	ck_assert(!qos_paths_are_of(paths, paths->policy, options, fabric, partitions));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("qos_setup");
	TCase *tcase = tcase_create("qos_setup");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, arbitration);
	tcase_add_test(tcase, rows);
	tcase_add_test(tcase, clashes);
	tcase_add_test(tcase, unknown_names);
	tcase_add_test(tcase, given_names);
	tcase_add_test(tcase, many_unknown_names);
	tcase_add_test(tcase, made_once);
	suite_add_tcase(suite, tcase);
	return suite;
}
