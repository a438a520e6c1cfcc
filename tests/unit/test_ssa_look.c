// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The Scalable SA against the SA: equal queries of a host, the records compared octet
 * by octet. A host may answer that the SA must be asked, but only where the test says why.
 */
#include <check.h>
#include <string.h>

#include "route/value/lanes.h"
#include "ssa/core/make.h"
#include "ssa/look/look.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define LEVEL(name, text) "qos-level\nname: " name "\n" text "end-qos-level\n"
#define RULE(text, level) "qos-match-rule\n" text "qos-level-name: " level "\nend-qos-match-rule\n"
#define GROUP(name, text) "port-group\nname: " name "\n" text "end-port-group\n"

static struct subnet *subnet;
static struct subnet_view *view;
static struct ssa_snapshot *snapshot;
static struct alias_guids *aliases;
static struct sa_registries registries;
static uint64_t asked, passed_on; /* queries, and those that the SA must answer */

/* ---- worlds ---- */

static const uint16_t all_full[][4] = {{0xFFFF}};
static const uint16_t tenants[][4] = {
	{0x7FFF, 0x8001},	  {0x7FFF, 0x8002}, {0xFFFF, 0x8001, 0x0002},
	{0x7FFF, 0x0001, 0x8003}, {0x8003},
};
static const struct partition tenant_partitions[] = {
	{.p_key = 0x7FFF, .name = "Default", .sl = 0},
	{.p_key = 0x0001, .name = "one", .sl = 1},
	{.p_key = 0x0002, .name = "two", .sl = 2},
	{.p_key = 0x0003, .name = "three", .sl = 3},
};

static void publish(struct subnet *made)
{
	struct ssa_source source;
	struct ssa_made tables = {.term = 1, .epoch = 1};
	g_autoptr(GError) error = NULL;
	GBytes *bytes;

	subnet = made;
	view = subnet_view_new(subnet_ref(subnet));
	if (aliases) {
		struct subnet_view *plain = view;

		view = subnet_view_with(plain, aliases);
		subnet_view_unref(plain);
	}
	source = (struct ssa_source){.view = view, .aliases = aliases, .threads = 2};
	ssa_make(&source, &tables);
	bytes = ssa_made_bytes(&tables);
	snapshot = ssa_snapshot_open(bytes, &error);
	ck_assert_msg(snapshot != NULL, "%s", error ? error->message : "");
	g_bytes_unref(bytes);
	ssa_made_clear(&tables);
	asked = passed_on = 0;
}

static void withdraw(void)
{
	ssa_snapshot_unref(snapshot);
	subnet_view_unref(view);
	subnet_unref(subnet);
	alias_guids_unref(aliases);
	aliases = NULL;
}

static struct subnet *rerouted(struct subnet *old, const char *name)
{
	struct route_input input = {.threads = 1};
	g_autoptr(GError) error = NULL;
	struct routing *routing = route_compute(route_find(name), old->fabric, &input, &error);
	struct subnet *new;

	ck_assert_msg(routing != NULL, "%s", error ? error->message : "");
	new = subnet_new(old->fabric, routing, old->partitions, old->options);
	routing_unref(routing);
	subnet_unref(old);
	return new;
}

static struct subnet *with_qos(struct subnet *old, const char *text)
{
	g_autoptr(GError) error = NULL;
	struct qos_policy *policy = qos_policy_parse("f", text, &error);

	ck_assert_msg(policy != NULL, "%s", error ? error->message : "");
	old->options->qos = true;
	old->qos = qos_paths_make(policy, old->options, old->fabric, old->partitions);
	qos_policy_unref(policy);
	return old;
}

/* ---- one query, asked twice ---- */

struct heard {
	unsigned int n;
	uint8_t records[64][iba_path_record_bytes];
};

static bool hear(void *arg, const struct iba_path_record *record)
{
	struct heard *heard = arg;

	ck_assert_uint_lt(heard->n, G_N_ELEMENTS(heard->records));
	wire_encode(&iba_path_record_type, record, heard->records[heard->n++]);
	return true;
}

static bool hear_first(void *arg, const struct iba_path_record *record)
{
	hear(arg, record);
	return false;
}

static const char *tell_query(uint32_t from, const struct iba_path_record *wanted, uint64_t mask)
{
	static char text[4096];
	g_autoptr(GString) string = g_string_new(NULL);

	wire_print(&iba_path_record_type, wanted, string);
	g_snprintf(text, sizeof(text), "port %u, mask 0x%" G_GINT64_MODIFIER "x: %s", from, mask,
		   string->str);
	return text;
}

/* The SA's answer: its records. */
static void hear_sa(uint32_t from, uint8_t method, const struct iba_path_record *wanted,
		    uint64_t mask, struct heard *heard)
{
	struct ask ask = {
		.method = method,
		.attribute = IBA_ATTR_PATH_RECORD,
		.mask = mask,
		.type = &iba_path_record_type,
		.record = wanted,
	};
	struct vendor_address address = {.qpn = 1, .lid = subnet->fabric->ports[from].lid};
	uint8_t octets[IBA_MAD_BYTES];
	struct iba_sa_header header;
	struct sa_query query;
	size_t length, size;
	uint8_t *answer;

	ask_encode(&ask, octets);
	ck_assert(sa_query_begin(&query, view, &address, octets, sizeof(octets)));
	sa_query_run(&query, &registries);
	answer = sa_query_finish(&query, &length);
	wire_decode(&iba_sa_header_type, answer + 36, &header);
	size = header.attribute_offset * 8u;
	if (query.status == IBA_STATUS_OK && method == IBA_METHOD_GET) {
		heard->n = 1;
		memcpy(heard->records[0], answer + IBA_SA_DATA_OFFSET, iba_path_record_bytes);
	} else if (query.status == IBA_STATUS_OK && size) {
		heard->n = (unsigned int)((length - IBA_SA_DATA_OFFSET) / size);
		for (unsigned int i = 0; i < heard->n; i++)
			memcpy(heard->records[i], answer + IBA_SA_DATA_OFFSET + i * size,
			       iba_path_record_bytes);
	}
	g_free(answer);
}

static void compare(uint32_t from, uint8_t method, const struct iba_path_record *wanted,
		    uint64_t mask)
{
	struct heard heard = {0}, sa = {0};
	const char *why;
	uint32_t own = ssa_look_guid(snapshot, subnet->fabric->ports[from].guid);
	bool one = method == IBA_METHOD_GET;
	enum ssa_look look =
		ssa_look_paths(snapshot, own, wanted, one ? mask & ~C(numb_path) : mask,
			       one ? hear_first : hear, &heard, &why);

	asked++;
	if (look == SSA_LOOK_ASK) {
		passed_on++;
		return;
	}
	ck_assert_uint_eq(look == SSA_LOOK_FOUND, heard.n > 0);
	ck_assert(look == SSA_LOOK_FOUND || why);
	hear_sa(from, method, wanted, mask, &sa);
	ck_assert_msg(sa.n == heard.n, "%s: %u records of the SA, %u here (%s)",
		      tell_query(from, wanted, mask), sa.n, heard.n, why);
	for (unsigned int i = 0; i < sa.n; i++)
		ck_assert_msg(memcmp(sa.records[i], heard.records[i], sizeof(sa.records[i])) == 0,
			      "%s: record %u differs", tell_query(from, wanted, mask), i);
}

static struct iba_path_record pair_of(uint32_t from, uint32_t to)
{
	const struct fabric_port *a = &subnet->fabric->ports[from], *b = &subnet->fabric->ports[to];

	return (struct iba_path_record){
		.sgid = {subnet->options->subnet_prefix, a->guid},
		.dgid = {IBA_DEFAULT_GID_PREFIX, b->guid},
		.slid = a->lid,
		.dlid = b->lid,
		.reversible = 1,
		.numb_path = 1,
	};
}

/* Of all hosts to all ports: by GID, and by LID. */
static void all_pairs(void)
{
	unsigned int n = n_endports(subnet);

	for (unsigned int i = 0; i < n; i++) {
		uint32_t from = endport(subnet, i, false);

		if (fabric_is_switch(subnet->fabric, subnet->fabric->ports[from].node))
			continue;
		for (unsigned int k = 0; k < n; k++) {
			struct iba_path_record wanted = pair_of(from, endport(subnet, k, false));

			compare(from, IBA_METHOD_GET, &wanted, C(sgid) | C(dgid));
			compare(from, IBA_METHOD_GET_TABLE, &wanted, C(slid) | C(dlid));
		}
	}
}

static const uint64_t optional[] = {
	C(slid),
	C(dlid),
	C(p_key),
	C(sl),
	C(reversible),
	C(numb_path),
	C(mtu) | C(mtu_selector),
	C(rate) | C(rate_selector),
	C(packet_life_time) | C(packet_life_time_selector),
	C(service_id) | C(service_id_low),
	C(qos_class),
	C(t_class) | C(flow_label) | C(hop_limit),
	C(raw_traffic),
};

static uint64_t draw_mask(uint64_t *seed)
{
	uint64_t mask = make_number(seed, 3) ? C(sgid) : C(slid);

	mask |= make_number(seed, 3) ? C(dgid) : C(dlid);
	for (unsigned int i = 0; i < G_N_ELEMENTS(optional); i++)
		if (make_number(seed, 4) == 0)
			mask |= optional[i];
	return mask;
}

/* Values that components may have, good and bad. */
static void draw_values(uint64_t *seed, struct iba_path_record *w)
{
	static const uint16_t p_keys[] = {0xFFFF, 0x7FFF, 0x8001, 0x0001, 0x8002,
					  0x0003, 0x8009, 0x8000, 0};

	w->slid += make_number(seed, 3);
	w->dlid += make_number(seed, 3);
	w->p_key = p_keys[make_number(seed, G_N_ELEMENTS(p_keys))];
	w->sl = (uint8_t)make_number(seed, 16);
	w->reversible = (uint8_t)make_number(seed, 2);
	w->numb_path = (uint8_t)make_number(seed, 4);
	w->mtu = (uint8_t)make_number(seed, 7);
	w->mtu_selector = (uint8_t)make_number(seed, 4);
	w->rate = (uint8_t)make_number(seed, 24);
	w->rate_selector = (uint8_t)make_number(seed, 4);
	w->packet_life_time = (uint8_t)make_number(seed, 24);
	w->packet_life_time_selector = (uint8_t)make_number(seed, 4);
	w->service_id = make_number(seed, 9);
	w->qos_class = (uint16_t)make_number(seed, 9);
	w->t_class = 7;
	w->flow_label = 9;
	w->hop_limit = 3;
	w->raw_traffic = 1;
	if (make_number(seed, 2))
		w->sgid.prefix = IBA_DEFAULT_GID_PREFIX;
	if (make_number(seed, 12) == 0)
		w->dgid.prefix = make_number(seed, 3);
	if (make_number(seed, 20) == 0)
		w->dgid.guid = make_number(seed, 2);
}

/* Queries of all forms. */
static void all_forms(uint64_t seed, unsigned int n)
{
	unsigned int ports = n_endports(subnet);

	while (n--) {
		uint32_t from = endport(subnet, make_number(&seed, ports), false);
		uint32_t to = endport(subnet, make_number(&seed, ports), false);
		struct iba_path_record w = pair_of(from, to);
		uint64_t mask = draw_mask(&seed);
		bool one = make_number(&seed, 2);

		draw_values(&seed, &w);
		compare(from, one ? IBA_METHOD_GET : IBA_METHOD_GET_TABLE, &w, mask);
	}
}

/* The share of queries that the SA must answer, in thousands. */
static uint64_t share(void)
{
	return asked ? passed_on * 1000 / asked : 0;
}

static void check_world(struct subnet *made, uint64_t seed, bool all_known)
{
	publish(made);
	all_pairs();
	if (all_known)
		ck_assert_uint_eq(passed_on, 0);
	all_forms(seed, 20000);
	if (all_known) /* some of these are of switches, not of hosts */
		ck_assert_uint_lt(share(), 500);
	withdraw();
}

/* ---- tests ---- */

static const char *const specs[] = {"fattree:8", "torus:4x4x4", "dragonfly:2:2:1", "mesh:3"};

START_TEST(plain)
{
	for (uint8_t lmc = 0; lmc <= 2; lmc += 2)
		check_world(make_subnet(specs[_i], lmc, lmc ? 77 : 0), 5 + (uint64_t)_i, true);
}
END_TEST

START_TEST(partitioned)
{
	check_world(with_partitions(make_subnet("fattree:4", 1, 3), tenants, G_N_ELEMENTS(tenants),
				    tenant_partitions, G_N_ELEMENTS(tenant_partitions)),
		    11, true);
	check_world(with_partitions(make_subnet("fattree:4", 0, 0), all_full, 1, NULL, 0), 12,
		    true);
}
END_TEST

static const char *const lane_engines[] = {"dfsssp", "lash", "nue"};

START_TEST(lanes)
{
	struct subnet *made =
		with_partitions(make_subnet("torus:4x4x4:1", 1, 0), tenants, G_N_ELEMENTS(tenants),
				tenant_partitions, G_N_ELEMENTS(tenant_partitions));

	check_world(rerouted(made, lane_engines[_i]), 21, true);
}
END_TEST

#define LEVELS                                                                                     \
	"qos-levels\n" LEVEL("DEFAULT", "sl: 2\n") LEVEL("Plain", "sl: 2\nmtu-limit: 3\n") LEVEL(  \
		"Slow", "sl: 3\nmtu-limit: 3\nrate-limit: 2\npacket-life: 10\npath-bits: 1-2\n")   \
		LEVEL("Keyed", "sl: 4\npkey: 2\npath-bits: 9\n") "end-qos-levels\n"
#define GROUPS                                                                                     \
	"port-groups\n" GROUP("Some", "port-guid: 0x1-0xFFFFFFFFFFFF\n")                           \
		GROUP("Tenant", "pkey: 0x0001\n")                                                  \
			GROUP("Switches", "node-type: SWITCH\n") "end-port-groups\n"

START_TEST(qos)
{
	static const char *const rules[] = {
		"qos-match-rules\n" RULE("source: Tenant\n", "Slow")
			RULE("destination: Switches\n", "Plain") RULE("pkey: 3\n", "Keyed")
				RULE("use: x\nsource: Some\ndestination: Tenant\n",
				     "Keyed") "end-qos-match-rules\n",
		"qos-match-rules\n" RULE("qos-class: 7\n", "Slow") RULE("service-id: 5\n", "Keyed")
			RULE("pkey: 2\n", "Slow") "end-qos-match-rules\n",
	};
	g_autofree char *text = g_strconcat(GROUPS, LEVELS, rules[_i], NULL);
	struct subnet *made =
		with_partitions(make_subnet("fattree:4", 2, 9), tenants, G_N_ELEMENTS(tenants),
				tenant_partitions, G_N_ELEMENTS(tenant_partitions));

	check_world(with_qos(made, text), 31 + (uint64_t)_i, true);
}
END_TEST

/* An SL that some table drops: the SA follows its packets hop by hop. */
START_TEST(dropped)
{
	struct subnet *made = make_subnet("fattree:4", 0, 0);

	made->options->qos_sl2vl = g_strdup("0,1,15,3,4,5,6,7,8,15,10,11,12,13,14,7");
	made = with_qos(made, LEVELS);
	publish(made);
	all_pairs();
	ck_assert_uint_eq(passed_on, asked); /* all paths have SL 2 */
	withdraw();
}
END_TEST

/* A switch with one of its cables cut, its routes left as they were; and an island. */
START_TEST(broken)
{
	struct subnet *made = make_subnet("fattree:4", 1, 0);
	struct fabric *fabric = made->fabric;
	uint64_t seed = 41;

	for (unsigned int n = 0; n < 6; n++) {
		uint32_t port = make_number(&seed, fabric->n_ports);

		if (fabric->ports[port].peer == FABRIC_NONE)
			continue;
		fabric->ports[fabric->ports[port].peer].peer = FABRIC_NONE;
		fabric->ports[port].peer = FABRIC_NONE;
	}
	check_world(made, 42, true);
}
END_TEST

/* Tables that send packets round in circles, or to ports that do not exist. */
START_TEST(wild_tables)
{
	struct subnet *made = make_subnet(_i ? "torus:5x5" : "mesh:70", 0, 0);
	uint64_t seed = 51 + (uint64_t)_i;

	for (uint32_t sw = 0; _i && sw < made->fabric->n_switches; sw++)
		for (uint32_t lid = 1; lid <= made->routing->top; lid++)
			if (make_number(&seed, 3) == 0)
				routing_put(made->routing, sw, (uint16_t)lid,
					    (uint8_t)make_number(&seed, 9));
	check_world(made, seed, true);
}
END_TEST

START_TEST(alias_guid)
{
	struct subnet *made = make_subnet("fattree:4", 1, 0);
	uint32_t port = endport(made, 3, true), other = endport(made, 5, true);
	struct alias_guid alias = {made->fabric->ports[port].guid, 0xABCDEF, 1};
	struct iba_path_record w;

	aliases = alias_guids_new();
	g_array_append_val(aliases->by_port, alias);
	g_array_append_val(aliases->by_guid, alias);
	publish(made);
	ck_assert_uint_eq(ssa_look_guid(snapshot, 0xABCDEF), ssa_look_guid(snapshot, alias.port));
	w = pair_of(other, port);
	w.dgid.guid = 0xABCDEF;
	compare(other, IBA_METHOD_GET, &w, C(sgid) | C(dgid));
	w = pair_of(port, other);
	w.sgid.guid = 0xABCDEF;
	compare(port, IBA_METHOD_GET_TABLE, &w, C(sgid) | C(dgid));
	ck_assert_uint_eq(passed_on, 0);
	withdraw();
}
END_TEST

static void setup(void)
{
	registries = sa_registries_new(0);
}

static void teardown(void)
{
	sa_registries_free(&registries);
}

TEST_SUITE
{
	Suite *s = suite_create("ssa_look");
	TCase *tcase = tcase_create("look");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, plain, 0, G_N_ELEMENTS(specs));
	tcase_add_test(tcase, partitioned);
	tcase_add_loop_test(tcase, lanes, 0, G_N_ELEMENTS(lane_engines));
	tcase_add_loop_test(tcase, qos, 0, 2);
	tcase_add_test(tcase, dropped);
	tcase_add_test(tcase, broken);
	tcase_add_loop_test(tcase, wild_tables, 0, 2);
	tcase_add_test(tcase, alias_guid);
	suite_add_tcase(s, tcase);
	return s;
}
