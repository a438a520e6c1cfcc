// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What policy_path() gives a pair of ports, and by which rule. */
#include <check.h>
#include <string.h>

#include "iba/codes.h"
#include "iba/constants.h"
#include "route/value/lanes.h"
#include "subnet/path.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define LEVEL(name, text) "qos-level\nname: " name "\n" text "end-qos-level\n"
#define RULE(text, level) "qos-match-rule\n" text "qos-level-name: " level "\nend-qos-match-rule\n"
#define POLICY                                                                                     \
	"qos-levels\n" LEVEL("DEFAULT", "sl: 2\n") LEVEL(                                          \
		"Slow", "sl: 3\nmtu-limit: 3\nrate-limit: 2\n"                                     \
			"packet-life: 10\npath-bits: 1\n") LEVEL("Keyed", "sl: 4\npkey: 2\n")      \
		LEVEL("Lost", "sl: 9\n") "end-qos-levels\n"                                        \
					 "qos-match-rules\n" RULE("qos-class: 7\n", "Slow")        \
						 RULE("qos-class: 8\n", "Keyed")                   \
							 RULE("service-id: 5\n",                   \
							      "Lost") "end-qos-match-rules\n"

static const uint16_t rows[][4] = {{0xFFFF, 0x8002}};
static const struct partition partitions[] = {
	{.p_key = 0x7FFF, .name = "Default", .sl = 1},
	{.p_key = 0x0002, .name = "two", .sl = 5},
};

static struct subnet *subnet;
static uint32_t a, b;

/* NULL: QoS without a file. */
static void use_policy(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct qos_policy *policy =
		text ? qos_policy_parse("f", text, &error) : qos_policy_load(NULL, &error);

	ck_assert_msg(policy != NULL, "%s", error ? error->message : "");
	qos_paths_unref(subnet->qos);
	subnet->qos = qos_paths_make(policy, subnet->options, subnet->fabric, subnet->partitions);
	qos_policy_unref(policy);
}

static void setup(void)
{
	subnet = with_partitions(make_subnet("fattree:4", 1, 0), rows, 1, partitions, 2);
	subnet->options->qos = true;
	subnet->options->qos_sl2vl = g_strdup("0,1,2,3,4,5,6,7,8,15,10,11,12,13,14,7");
	use_policy(POLICY);
	a = endport(subnet, 0, true);
	b = endport(subnet, 1, true);
}

static void teardown(void)
{
	subnet_unref(subnet);
}

static struct policy_path ask(struct policy_wanted wanted, bool good)
{
	const struct policy_way way = {a, subnet->fabric->ports[b].lid, IBA_MTU_4096, IBA_RATE_100};
	struct policy_path path;

	ck_assert((policy_path(subnet, &wanted, a, b, &path) &&
		   policy_path_on(subnet, &way, &path)) == good);
	ck_assert(good == !path.refused);
	return path;
}

static void check_told(const struct policy_path *path, enum policy_reason reason, const char *text)
{
	g_autofree char *told = policy_path_tell(subnet, path, reason, "some");

	ck_assert_str_eq(told, text);
}

START_TEST(by_partition)
{
	struct policy_path path;

	use_policy(NULL);
	path = ask((struct policy_wanted){0}, true);
	ck_assert_uint_eq(path.p_key, 0x8002);
	ck_assert_uint_eq(path.sl, 5);
	ck_assert_uint_eq(path.mtu, IBA_MTU_4096);
	ck_assert_uint_eq(path.rate, IBA_RATE_100);
	ck_assert_uint_eq(path.life, subnet->options->subnet_timeout);
	check_told(&path, path.p_key_by, "partition two");
	check_told(&path, path.sl_by, "partition two");
	check_told(&path, path.mtu_by, "the links on the path");
	check_told(&path, path.life_by, "option some");
	path = ask((struct policy_wanted){.has_p_key = true, .p_key = 0xFFFF}, true);
	ck_assert_uint_eq(path.sl, 1);
	check_told(&path, path.p_key_by, "asked for");
	check_told(&path, path.sl_by, "partition Default");
}
END_TEST

START_TEST(by_device)
{
	static const struct {
		uint32_t vendor, device;
		uint8_t mtu;
	} kinds[] = {
		{0x0002C9, 0x5A44, IBA_MTU_1024}, {0x0005AD, 0x5A44, IBA_MTU_1024},
		{0x00066A, 0x5A44, IBA_MTU_1024}, {0x0008F1, 0x5A44, IBA_MTU_1024},
		{0x0002C9, 0x5A46, IBA_MTU_4096}, {0x001234, 0x5A44, IBA_MTU_4096},
	};
	struct policy_wanted wanted = {.has_class = true, .qos_class = 7};

	for (unsigned int i = 0; i < 2 * G_N_ELEMENTS(kinds); i++) {
		uint32_t node = subnet->fabric->ports[i % 2 ? a : b].node;
		struct iba_node_info *info = &((struct fabric *)subnet->fabric)->nodes[node].info;
		struct iba_node_info before = *info;

		info->vendor_id = kinds[i / 2].vendor;
		info->device_id = kinds[i / 2].device;
		subnet->options->enable_quirks = true;
		ck_assert_uint_eq(ask((struct policy_wanted){0}, true).mtu, kinds[i / 2].mtu);
		ck_assert_uint_eq(ask((struct policy_wanted){.keeps_mtu = true}, true).mtu,
				  IBA_MTU_4096);
		ck_assert_int_eq(ask(wanted, true).mtu_by, POLICY_LEVEL); /* it says 1024, too */
		subnet->options->enable_quirks = false;
		ck_assert_uint_eq(ask((struct policy_wanted){0}, true).mtu, IBA_MTU_4096);
		*info = before;
	}
}
END_TEST

START_TEST(by_level)
{
	struct policy_wanted wanted = {.has_class = true, .qos_class = 7};
	struct policy_path path = ask(wanted, true);

	ck_assert_uint_eq(path.sl, 3);
	ck_assert_uint_eq(path.mtu, 3);
	ck_assert_uint_eq(path.rate, 2);
	ck_assert_uint_eq(path.life, 10);
	ck_assert(policy_path_ends_at(&path, 1, 4) && !policy_path_ends_at(&path, 0, 4));
	ck_assert(policy_path_ends_at(&path, 1, 2) && !policy_path_ends_at(&path, 0, 2));
	ck_assert(policy_path_ends_at(&path, 0, 1)); /* it has no other */
	check_told(&path, path.sl_by, "QoS level Slow, by the rule in line 25");
	check_told(&path, path.rate_by, "QoS level Slow, by the rule in line 25");
	path = ask((struct policy_wanted){0}, true);
	check_told(&path, path.sl_by, "QoS level DEFAULT, as no rule matches");
	wanted.has_sl = true;
	wanted.sl = 4;
	path = ask(wanted, false);
	ck_assert_str_eq(path.refused, "the QoS level has another SL");
	wanted = (struct policy_wanted){.has_class = true, .qos_class = 8};
	path = ask(wanted, true);
	ck_assert_uint_eq(path.p_key, 0x8002);
	wanted.has_p_key = true;
	wanted.p_key = 0xFFFF;
	path = ask(wanted, false);
	ck_assert_str_eq(path.refused, "the QoS level has another P_Key");
}
END_TEST

static uint8_t rate_between(uint8_t rate, uint32_t caps, uint16_t caps2)
{
	struct policy_way way = {a, subnet->fabric->ports[b].lid, IBA_MTU_4096, rate};
	struct iba_port_info *from = &subnet->fabric->ports[a].info;
	struct iba_port_info *to = &subnet->fabric->ports[b].info;
	const struct iba_port_info best = {.capability_mask = ~0u, .capability_mask2 = 0xFFFF};
	struct policy_path path;
	uint8_t there;

	*from = *to = best;
	from->capability_mask = caps;
	from->capability_mask2 = caps2;
	ck_assert(policy_path(subnet, &(struct policy_wanted){0}, a, b, &path));
	ck_assert(policy_path_on(subnet, &way, &path));
	there = path.rate;
	check_told(&path, path.rate_by,
		   there == rate ? "the links on the path"
				 : "the ends, which have no code for a faster rate");
	*to = *from;
	*from = best;
	ck_assert(policy_path_on(subnet, &way, &path));
	ck_assert_uint_eq(path.rate, there);
	return there;
}

/* An old device on a path of links of a later kind. */
START_TEST(rates_that_ends_know)
{
	const uint32_t old = IBA_PORT_CAP_CAPABILITY_MASK2, ext = IBA_PORT_CAP_EXTENDED_SPEEDS;
	const uint16_t two = IBA_PORT_CAP2_LINK_WIDTH_2X, hdr = IBA_PORT_CAP2_LINK_SPEED_HDR;

	use_policy(NULL);
	ck_assert_uint_eq(rate_between(IBA_RATE_28, old | ext, hdr), IBA_RATE_25);
	ck_assert_uint_eq(rate_between(IBA_RATE_28, old, 0), IBA_RATE_20);
	ck_assert_uint_eq(rate_between(IBA_RATE_28, old | ext, two), IBA_RATE_28);
	ck_assert_uint_eq(rate_between(IBA_RATE_50, old | ext, 0), IBA_RATE_40);
	ck_assert_uint_eq(rate_between(IBA_RATE_50, old | ext, two), IBA_RATE_50);
	ck_assert_uint_eq(rate_between(IBA_RATE_50, old | ext, hdr), IBA_RATE_50);
	ck_assert_uint_eq(rate_between(IBA_RATE_50, ext, two | hdr), IBA_RATE_40);
	ck_assert_uint_eq(rate_between(IBA_RATE_400, old | ext, two), IBA_RATE_300);
	ck_assert_uint_eq(rate_between(IBA_RATE_600, old | ext, hdr), IBA_RATE_600);
	ck_assert_uint_eq(rate_between(IBA_RATE_200, 0, 0), IBA_RATE_200);
}
END_TEST

/* On request, or of a level: an SL that SL2VL drops is never handed out. */
START_TEST(dropped)
{
	struct policy_wanted wanted = {.has_service = true, .service_id = 5};
	struct policy_path path = ask(wanted, false);

	ck_assert_str_eq(path.refused, "SL2VL tables drop packets of its SL");
	use_policy(NULL);
	ask((struct policy_wanted){.has_sl = true, .sl = 9}, false);
	ask((struct policy_wanted){.has_sl = true, .sl = 8}, true);
}
END_TEST

#define SCOPED(who, lines)                                                                         \
	"port-groups\nport-group\nname: some\n" who "\nend-port-group\nend-port-groups\n"          \
	"qos-setup\nsl2vl-tables\nsl2vl-scope\n" lines                                             \
	"\nsl2vl-table: 0,1,15,3,4,5,6,7,0,1,2,3,4,5,6,7\nend-sl2vl-scope\nend-sl2vl-tables\n"     \
	"end-qos-setup\nqos-ulps\nany, service-id 3: 3\ndefault: 2\nend-qos-ulps\n"

static const struct policy_wanted sl_2 = {0}, sl_3 = {.has_service = true, .service_id = 3};

static uint32_t leaf_port(uint32_t host)
{
	return subnet->fabric->ports[host].peer;
}

/* A scope drops an SL: on the paths where it applies, and on no other. */
START_TEST(dropped_on_some_ways)
{
	uint32_t other = endport(subnet, 9, true), first = a, second = b;
	struct policy_path path;

	/* into host b */
	use_policy(SCOPED("port-name: host-1/P1", "across-to: some"));
	path = ask(sl_2, false);
	ck_assert_uint_eq(path.dropped_at, leaf_port(second));
	ask(sl_3, true);
	b = other;
	ask(sl_2, true);
	a = second;
	b = first;
	ask(sl_2, true);
	ck_assert(!policy_drops_multicast(subnet, 2, a));
	/* out of host b: at itself, or at its switch */
	use_policy(SCOPED("port-name: host-1/P1", "group: some"));
	path = ask(sl_2, false);
	ck_assert_uint_eq(path.dropped_at, second);
	ck_assert(policy_drops_multicast(subnet, 2, a) && !policy_drops_multicast(subnet, 2, b));
	use_policy(SCOPED("port-name: host-1/P1", "across-from: some"));
	path = ask(sl_2, false);
	ck_assert_uint_eq(path.dropped_at, leaf_port(first));
	ck_assert(policy_drops_multicast(subnet, 2, a) && !policy_drops_multicast(subnet, 2, b));
	b = a;
	a = first;
	ask(sl_2, true);
	/* a port to itself has no hop */
	use_policy(SCOPED("node-type: ALL", "group: *"));
	ask(sl_2, false);
	b = a;
	ask(sl_2, true);
}
END_TEST

/* The routes' lanes between switches apply there, and nowhere else. */
START_TEST(lanes_are_not_dropped)
{
	struct route_lanes *lanes = g_new0(struct route_lanes, 1);

	lanes->n_switches = subnet->routing->n_switches;
	lanes->first = 2;
	lanes->n = 1;
	lanes->vl[2] = 1;
	b = endport(subnet, 15, true);
	use_policy(SCOPED("node-type: SWITCH", "across-to: some\ngroup: some"));
	ask(sl_2, false);
	subnet->routing->lanes = lanes;
	ask(sl_2, true);
	use_policy(SCOPED("node-type: SWITCH", "group: some"));
	ask(sl_2, false);
}
END_TEST

/* A port that has no SL2VL tables uses VL 0 for all. */
START_TEST(without_tables)
{
	struct fabric_port *port = &subnet->fabric->ports[a];

	use_policy(SCOPED("port-name: host-0/P1", "group: some"));
	ask(sl_2, false);
	port->info.vl_cap = 1;
	port->info.capability_mask &= ~IBA_PORT_CAP_SL_MAPPING;
	ask(sl_2, true);
}
END_TEST

START_TEST(inside_and_outside)
{
	struct policy_path path = ask((struct policy_wanted){.leaves_subnet = true}, true);

	ck_assert_uint_eq(path.hop_limit, 255);
	b = a;
	path = ask((struct policy_wanted){0}, true);
	ck_assert_uint_eq(path.life, 0);
	ck_assert_uint_eq(path.hop_limit, 0);
	check_told(&path, path.life_by, "it does not leave the port");
	path = ask((struct policy_wanted){.has_class = true, .qos_class = 7}, true);
	ck_assert_uint_eq(path.life, 0); /* whatever the QoS level says */
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("policy_path");
	TCase *tcase = tcase_create("policy_path");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, by_partition);
	tcase_add_test(tcase, by_device);
	tcase_add_test(tcase, by_level);
	tcase_add_test(tcase, dropped);
	tcase_add_test(tcase, rates_that_ends_know);
	tcase_add_test(tcase, dropped_on_some_ways);
	tcase_add_test(tcase, lanes_are_not_dropped);
	tcase_add_test(tcase, without_tables);
	tcase_add_test(tcase, inside_and_outside);
	suite_add_tcase(suite, tcase);
	return suite;
}
