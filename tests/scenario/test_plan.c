// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Plans: they set nothing, and a daemon then sets exactly what they say. */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/base/answer.h"
#include "ctl/plan/plan.h"
#include "scenario.h"
#include "tests/run_suite.h"

#define BESIDE_MASTER 32 /* Gets that a plan has outstanding: the others is the master's */

/* ---- Sets on the wire ---- */

/* "GUID ATTRIBUTE NUMBER" of each: the port number for PortInfo, else the AttributeModifier. */
struct wire {
	struct scenario *s;
	uint64_t from;
	GHashTable *sets; /* NULL: no Set may be seen */
	unsigned int n;
	unsigned int out, most; /* Gets that are not answered yet */
};

static unsigned int node_by_lid(struct scenario *s, uint16_t lid)
{
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++)
		if (scenario_lid(s, node) == lid)
			return node;
	scenario_fail(s, "a Set to LID 0x%04x, which nobody has", lid);
}

static unsigned int node_by_path(struct scenario *s, unsigned int node, const uint8_t *data)
{
	struct iba_dr_smp smp;
	unsigned int peer, port;

	wire_decode(&iba_dr_smp_type, data, &smp);
	for (unsigned int hop = 1; hop <= smp.hop_count; hop++) {
		scenario_expect(s, sim_peer(s->sim, node, smp.initial_path[hop], &peer, &port));
		node = peer;
	}
	return node;
}

static unsigned int target_of(const struct wire *wire, const struct vendor_address *to,
			      const uint8_t *data)
{
	unsigned int node = (unsigned int)sim_find_guid(wire->s->sim, wire->from);

	if (to->lid != IBA_LID_PERMISSIVE)
		node = node_by_lid(wire->s, to->lid);
	return data[1] == IBA_CLASS_SUBN_DIRECTED ? node_by_path(wire->s, node, data) : node;
}

static char *key_of(uint64_t guid, const char *attribute, uint64_t number)
{
	return g_strdup_printf("0x%016" PRIx64 " %s %" PRIu64, guid, attribute, number);
}

/* Attributes that the plan reports for several ports at once. */
static bool is_counted_by_node(const char *attribute)
{
	return !strcmp(attribute, iba_name(IBA_SET_ATTR, IBA_ATTR_SL_TO_VL_TABLE)) ||
	       !strcmp(attribute, iba_name(IBA_SET_ATTR, IBA_ATTR_VL_ARBITRATION_TABLE));
}

static void count_gets(struct wire *wire, uint64_t from, const uint8_t *data)
{
	wire->out += from == wire->from && data[3] == IBA_METHOD_GET;
	wire->out -= data[3] == IBA_METHOD_GET_RESP && wire->out;
	wire->most = MAX(wire->most, wire->out);
}

static void on_packet(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		      const uint8_t *data, size_t length)
{
	struct wire *wire = arg;
	struct sim_node_view view;
	struct iba_smp smp;
	uint32_t number;

	(void)now_ns;
	if (length >= IBA_MAD_BYTES && iba_class_is_smp(data[1]))
		count_gets(wire, from, data);
	if (length < IBA_MAD_BYTES || !iba_class_is_smp(data[1]) || from != wire->from ||
	    data[3] == IBA_METHOD_GET || data[3] & IBA_METHOD_RESPONSE ||
	    data[3] == IBA_METHOD_TRAP ||	/* of the port's own SMA */
	    data[3] == IBA_METHOD_TRAP_REPRESS) /* of the master beside the plan */
		return;
	wire_decode(&iba_smp_type, data, &smp);
	if (!wire->sets)
		scenario_fail(wire->s, "a plan sent method 0x%02x of attribute 0x%04x", data[3],
			      smp.header.attribute_id);
	if (smp.header.method != IBA_METHOD_SET)
		return;
	wire->n++;
	number = smp.header.attribute_modifier;
	if (smp.header.attribute_id == IBA_ATTR_PORT_INFO)
		number &= 0xFF;
	if (smp.header.attribute_id == IBA_ATTR_P_KEY_TABLE)
		number &= 0xFFFF; /* the block, of any port */
	if (is_counted_by_node(iba_name(IBA_SET_ATTR, smp.header.attribute_id)))
		number = 0;
	sim_node_view(wire->s->sim, target_of(wire, to, data), &view);
	g_hash_table_add(
		wire->sets,
		key_of(view.node_guid, iba_name(IBA_SET_ATTR, smp.header.attribute_id), number));
}

static void watch(struct wire *wire, struct scenario *s, uint64_t from, bool sets)
{
	*wire = (struct wire){.s = s, .from = from};
	if (sets)
		wire->sets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	sim_set_trace(s->sim, on_packet, wire);
}

static void end_watch(struct wire *wire)
{
	sim_set_trace(wire->s->sim, NULL, NULL);
	if (wire->sets)
		g_hash_table_unref(wire->sets);
}

/* ---- contents of a plan ---- */

static void add_blocks(GHashTable *sets, uint64_t guid, const char *attribute, const char *blocks)
{
	g_auto(GStrv) ranges = g_strsplit(blocks, ",", -1);

	for (unsigned int i = 0; ranges[i]; i++) {
		const char *dash = strchr(ranges[i], '-');
		uint64_t first = g_ascii_strtoull(ranges[i], NULL, 10);
		uint64_t last = dash ? g_ascii_strtoull(dash + 1, NULL, 10) : first;

		g_assert_cmpstr(ranges[i], !=, "...");
		for (; first <= last; first++)
			g_hash_table_add(sets, key_of(guid, attribute, first));
	}
}

/* Without ports: of the node as a whole. */
static void add_ports(GHashTable *sets, uint64_t guid, GVariant *change)
{
	g_autoptr(GVariant) ports = answer_get(change, "ports");
	const char *attribute = answer_get_text(change, "attribute");
	const uint32_t *list = NULL;
	gsize n = 0;

	if (ports && !is_counted_by_node(attribute))
		list = g_variant_get_fixed_array(ports, &n, sizeof(*list));
	else
		g_hash_table_add(sets, key_of(guid, attribute, 0));
	for (gsize i = 0; i < n; i++)
		g_hash_table_add(sets, key_of(guid, attribute, list[i]));
}

static void add_changes(GHashTable *sets, uint64_t guid, GVariant *list)
{
	GVariantIter iter;
	GVariant *change;

	g_variant_iter_init(&iter, list);
	while ((change = g_variant_iter_next_value(&iter))) {
		const char *blocks = answer_get_text(change, "blocks");

		if (*blocks)
			add_blocks(sets, guid, answer_get_text(change, "attribute"), blocks);
		else
			add_ports(sets, guid, change);
		g_variant_unref(change);
	}
}

static GHashTable *sets_of(GVariant *answer)
{
	GHashTable *sets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GVariant) nodes = answer_get(answer, "nodes");
	GVariantIter iter;
	GVariant *node;

	g_variant_iter_init(&iter, nodes);
	while ((node = g_variant_iter_next_value(&iter))) {
		g_autoptr(GVariant) changes = answer_get(node, "changes");
		uint64_t guid = g_ascii_strtoull(answer_get_text(node, "guid"), NULL, 16);

		add_changes(sets, guid, changes);
		g_variant_unref(node);
	}
	return sets;
}

static void expect_subset(struct scenario *s, GHashTable *of, GHashTable *sets, const char *what)
{
	GHashTableIter iter;
	const char *key;

	g_hash_table_iter_init(&iter, sets);
	while (g_hash_table_iter_next(&iter, (void **)&key, NULL))
		if (!g_hash_table_contains(of, key))
			scenario_fail(s, "%s: %s", what, key);
}

static void expect_equal(struct scenario *s, GHashTable *planned, GHashTable *sent)
{
	expect_subset(s, sent, planned, "planned, and not sent");
	expect_subset(s, planned, sent, "sent, and not planned");
}

static bool has_text(GVariant *answer, const char *text)
{
	g_autoptr(GString) out = g_string_new(NULL);

	print_plan(answer, out);
	return strstr(out->str, text);
}

static void expect_text(struct scenario *s, GVariant *answer, const char *text)
{
	g_autoptr(GString) out = g_string_new(NULL);

	print_plan(answer, out);
	if (!strstr(out->str, text))
		scenario_fail(s, "the plan lacks \"%s\":\n%s", text, out->str);
}

/* ---- making them ---- */

static void on_done(void *arg, struct plan *plan)
{
	*(GVariant **)arg = g_variant_ref_sink(plan_answer(plan_result(plan), UINT_MAX));
}

static bool is_there(void *arg)
{
	return *(GVariant **)arg != NULL;
}

/* As "opensm --plan" makes it, on that port; only Gets leave it. */
static GVariant *plan_on(struct scenario *s, uint64_t port_guid)
{
	GVariant *answer = NULL;
	struct plan_config config = {
		.base = {.rt = s->rt, .cache_dir = s->cache_dir, .self_check = true},
		.done = on_done,
		.arg = &answer,
	};
	enum options_request request;
	struct plan *plan;
	struct wire wire;

	g_assert(options_load(&config.base.options, &request, (int)s->arguments->len,
			      (char **)s->arguments->pdata, NULL, NULL));
	config.base.vendor = sim_open(s->sim, port_guid, NULL);
	s->sm_guid = vendor_port_guid(config.base.vendor);
	watch(&wire, s, s->sm_guid, false);
	plan = plan_new(&config, NULL);
	plan_start(plan);
	if (!runtime_run(s->rt, is_there, &answer, runtime_now(s->rt) + 60 * NS_PER_S))
		scenario_fail(s, "no plan within 60 s");
	end_watch(&wire);
	plan_free(plan);
	options_unref(config.base.options);
	return answer;
}

static void take_answer(void *arg, GVariant *answer)
{
	*(GVariant **)arg = g_variant_ref(answer);
}

static unsigned int most_beside; /* Gets that the last plan of a daemon had outstanding at a time */

/* As the command of the console makes it. */
static GVariant *plan_beside(struct scenario *s, const char *file)
{
	g_autoptr(GError) error = NULL;
	GVariant *answer = NULL;
	struct wire wire;

	watch(&wire, s, s->sm_guid, false);
	if (!daemon_plan(s->daemon, file, UINT_MAX, &error))
		scenario_fail(s, "no plan: %s", error->message);
	ck_assert(!daemon_plan(s->daemon, file, UINT_MAX, NULL)); /* one plan at a time */
	daemon_plan_listen(s->daemon, take_answer, &answer);
	if (!runtime_run(s->rt, is_there, &answer, runtime_now(s->rt) + 60 * NS_PER_S))
		scenario_fail(s, "no plan within 60 s");
	most_beside = wire.most;
	end_watch(&wire);
	return answer;
}

/* ---- a new SM ---- */

static const struct {
	const char *spec;
	uint64_t seed;
	const char *conf;
} colds[] = {
	{"fattree:4", 1, ""},
	{"fattree:4", 7, "routing_engine updn\nlmc 2\n"},
	{"fattree:8", 2, "m_key 0x1234\nm_key_protection_level 1\n"},
	{"torus:3x3x2", 1, "routing_engine dor\n"},
	{"mesh:4x3", 3, "use_mfttop FALSE\nsubnet_timeout 17\n"},
	{"hypercube:4", 5, "force_link_speed 3\n"},
	{"random:12:3:2:11", 11, "reassign_lids TRUE\n"},
	{"random:20:4:1:12", 12, "single_thread TRUE\n"},
	{"fattree:4", 3, "qos TRUE\n"},
};

/* No file is left, and nothing is read that only a Set would make it read. */
static void expect_untouched(struct scenario *s, GVariant *plan)
{
	g_autofree char *file = g_build_filename(s->cache_dir, "guid2lid", NULL);

	scenario_expect(s, !g_file_test(file, G_FILE_TEST_EXISTS));
	scenario_expect(s, strcmp(s->spec, "fattree:4") != 0 || s->seed != 1 ||
				   answer_get_number(plan, "gets") == 335);
}

/* The plan sets nothing; the daemon sets what the plan says, and then another plan is empty. */
START_TEST(cold_plan_is_what_is_set)
{
	struct scenario *s = scenario_new(colds[_i].spec, colds[_i].seed);
	g_autoptr(GVariant) plan = NULL, again = NULL;
	g_autoptr(GHashTable) planned = NULL;
	struct wire wire;

	scenario_conf(s, colds[_i].conf);
	plan = plan_on(s, 0);
	ck_assert_int_eq(plan_exit_code(plan), PLAN_CHANGES);
	scenario_expect_at_most(s, scenario_counters(s).sets, 0);
	expect_untouched(s, plan);
	/* No SMP was sent in vain to an unassigned LID. */
	scenario_expect_at_most(s, runtime_now(s->rt), 100 * NS_PER_MS);
	planned = sets_of(plan);
	watch(&wire, s, s->sm_guid, true);
	scenario_start(s);
	scenario_converge(s, 20);
	expect_equal(s, planned, wire.sets);
	scenario_expect(s, wire.n >= g_hash_table_size(planned));
	scenario_expect_at_most(s, answer_get_number(plan, "sets"), wire.n);
	end_watch(&wire);
	scenario_stop(s);
	if (strstr(colds[_i].conf, "reassign_lids"))
		scenario_conf(s, "");
	again = plan_on(s, s->sm_guid);
	if (plan_exit_code(again) != PLAN_NOTHING)
		expect_text(s, again, "Nothing would change");
	scenario_free(s);
}
END_TEST

/* Losses make it slower, but do not change it. */
START_TEST(plan_in_spite_of_losses)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autoptr(GVariant) good = plan_on(s, 0), bad = NULL;
	g_autoptr(GHashTable) planned = sets_of(good), same = NULL;

	sim_set_loss(s->sim, 0.02);
	bad = plan_on(s, 0);
	same = sets_of(bad);
	expect_equal(s, planned, same);
	scenario_free(s);
}
END_TEST

/* A silent host is named: it is unknown what would change there. */
START_TEST(plan_names_who_is_silent)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autoptr(GVariant) plan = NULL;

	scenario_start(s);
	scenario_converge(s, 10);
	scenario_stop(s);
	sim_node_mute(s->sim, scenario_node(s, "host-9"), true);
	plan = plan_on(s, s->sm_guid);
	expect_text(s, plan, "problem: ");
	ck_assert_int_ne(plan_exit_code(plan), PLAN_NOTHING);
	scenario_free(s);
}
END_TEST

START_TEST(plan_without_a_cable)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autoptr(GVariant) plan = NULL;

	sim_link_set(s->sim, scenario_node(s, "host-0"), 1, false);
	plan = plan_on(s, 0);
	ck_assert_int_eq(plan_exit_code(plan), PLAN_ERROR);
	expect_text(s, plan, "problem: SM port is down: no subnet to manage\n");
	expect_text(s, plan, "The plan is not complete\n");
	scenario_free(s);
}
END_TEST

/* On a host other than the master's: the master is named, and continues without noticing. */
START_TEST(plan_of_who_is_not_master)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	uint64_t master, other;
	g_autoptr(GVariant) plan = NULL;

	scenario_start(s);
	scenario_converge(s, 10);
	master = s->sm_guid;
	other = sim_port_guid(s->sim, scenario_node(s, "host-9"), 1);
	plan = plan_on(s, other);
	s->sm_guid = master;
	ck_assert_int_eq(plan_exit_code(plan), PLAN_CHANGES);
	expect_text(s, plan, "note: another SM manages the subnet: SM 0x");
	expect_text(s, plan, "LIDs: 0 new, 0 changed;");
	expect_text(s, plan, "master_sm_lid 0x0001 -> ");
	scenario_check_log(s, "ERRORS", false);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* ---- a master ---- */

static struct scenario *up_with(const char *spec, const char *conf)
{
	struct scenario *s = scenario_new(spec, 1);

	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
	return s;
}

static struct scenario *up(const char *spec)
{
	return up_with(spec, "");
}

/* Clients are not told to reregister either, after failures that routes were repaired around. */
START_TEST(master_would_change_nothing)
{
	struct scenario *s = up("fattree:8");
	uint64_t generation, now;
	g_autoptr(GVariant) plan = NULL;
	struct subnet *subnet;

	sim_link_set(s->sim, scenario_node(s, "leaf-0-0"), 5, false);
	scenario_converge(s, 10);
	sim_link_set(s->sim, scenario_node(s, "spine-1-1"), 2, false);
	scenario_converge(s, 10);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	generation = subnet->generation;
	subnet_unref(subnet);
	plan = plan_beside(s, NULL);
	expect_text(s, plan, "Nothing would change\n");
	ck_assert_uint_eq(answer_get_number(plan, "sets"), 0);
	ck_assert_uint_eq(most_beside, BESIDE_MASTER);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	now = subnet->generation;
	subnet_unref(subnet);
	ck_assert_uint_eq(now, generation);
	scenario_free(s);
}
END_TEST

static const struct {
	const char *spec, *conf, *before; /* NULL: nothing */
} changes[] = {
	{"torus:4x4", "scatter_ports 7\nrouting_engine dor\n"},
	{"fattree:8", "subnet_timeout 17\nlmc 1\n"},
	{"fattree:8", "m_key 0x77\nm_key_protection_level 2\n"},
	{"fattree:4", "m_key 0x77\nm_key_protection_level 3\n",
	 "m_key 0x66\nm_key_protection_level 2\n"},
	{"fattree:4", "m_key 0\nm_key_protection_level 0\n",
	 "m_key 0x66\nm_key_protection_level 2\nsubnet_timeout 17\n"},
	{"random:16:4:1:3", "packet_life_time 0x10\nport_shifting TRUE\n"},
	{"fattree:4", "use_mfttop TRUE\n", "use_mfttop FALSE\n"},
	{"torus:3x3", "qos TRUE\n"},
	{"fattree:8", "max_op_vls 2\nhead_of_queue_lifetime 0x11\nforce_link_width 1\n"},
};

/* LFTs of all switches, one after the other. */
static GByteArray *tables_of(struct scenario *s)
{
	GByteArray *tables = g_byte_array_new();
	struct sim_node_view view;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		sim_node_view(s->sim, i, &view);
		if (view.type == IBA_NODE_SWITCH)
			g_byte_array_append(tables, view.lft, IBA_LID_UCAST_LAST + 1);
	}
	return tables;
}

static uint64_t entries_of(GVariant *answer, const char *attribute)
{
	g_autoptr(GVariant) list = answer_get(answer, "attributes");
	uint64_t entries = 0;
	GVariantIter iter;
	GVariant *row;

	g_variant_iter_init(&iter, list);
	while ((row = g_variant_iter_next_value(&iter))) {
		if (!strcmp(answer_get_text(row, "attribute"), attribute))
			entries = answer_get_number(row, "entries");
		g_variant_unref(row);
	}
	return entries;
}

/* The plan of a changed file, and then the file itself, as on SIGHUP. */
START_TEST(changed_file_does_what_its_plan_says)
{
	struct scenario *s = up_with(changes[_i].spec, changes[_i].before ?: "");
	g_autoptr(GHashTable) planned = NULL;
	g_autoptr(GByteArray) before = tables_of(s), after = NULL;
	g_autoptr(GVariant) plan = NULL;
	uint64_t differ = 0;
	struct wire wire;

	scenario_conf(s, changes[_i].conf);
	plan = plan_beside(s, NULL);
	if (strstr(changes[_i].conf, "lmc"))
		expect_text(s, plan, "note: lmc: 0 stays in effect, 1 needs a restart\n");
	expect_text(s, plan, "Would be set:\n");
	planned = sets_of(plan);
	watch(&wire, s, s->sm_guid, true);
	ck_assert(daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 10);
	expect_equal(s, planned, wire.sets);
	end_watch(&wire);
	after = tables_of(s);
	for (guint i = 0; i < after->len; i++)
		differ += before->data[i] != after->data[i];
	ck_assert_uint_eq(entries_of(plan, "LinearForwardingTable"), differ);
	scenario_free(s);
}
END_TEST

/* What a master does once, in its first sweep, is not part of its plans. */
START_TEST(master_reassigns_no_lids)
{
	struct scenario *s = up("fattree:4");
	g_autoptr(GVariant) plan = NULL;

	sim_link_set(s->sim, scenario_node(s, "leaf-0-0"), 3, false);
	scenario_converge(s, 10);
	scenario_conf(s, "reassign_lids TRUE\n"); /* in the order of discovery, which differs */
	plan = plan_beside(s, NULL);
	expect_text(s, plan, "Nothing would change\n");
	scenario_free(s);
}
END_TEST

/* Makes the master cancel a sweep: its ports are slow, and a cable goes while it sets them. */
static void have_one_cancelled(struct scenario *s)
{
	struct counters *counters = &daemon_context(s->daemon)->counters;
	unsigned int leaf = scenario_node(s, "leaf-0-0");

	for (unsigned int i = 1; i < 100 && !counter_get(counters, sweeps_cancelled); i++) {
		scenario_conf(s, i % 2 ? "subnet_timeout 17\n" : "subnet_timeout 16\n");
		ck_assert(daemon_reread(s->daemon, NULL));
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		scenario_run_ms(s, i);
		sim_link_set(s->sim, leaf, 3, false);
		scenario_run_ms(s, 500);
		sim_link_set(s->sim, leaf, 3, true);
		scenario_run_ms(s, 500);
	}
	ck_assert_uint_gt(counter_get(counters, sweeps_cancelled), 0);
}

/* Requests of sweeps that the master has cancelled are not the plan's. */
START_TEST(plan_of_who_has_cancelled)
{
	struct sim_config config;
	g_autoptr(GVariant) plan = NULL;
	struct scenario *s;

	scenario_config_default(&config, 1);
	config.sma_ns = 2 * NS_PER_MS;
	s = scenario_new_with("fattree:4", &config, RUNTIME_VIRTUAL);
	scenario_start(s);
	scenario_converge(s, 30);
	have_one_cancelled(s);
	scenario_converge(s, 30);
	plan = plan_beside(s, NULL);
	expect_text(s, plan, "Nothing would change\n");
	scenario_free(s);
}
END_TEST

/* Of another file; one that is wrong or missing is refused, and nothing happens. */
START_TEST(plan_of_another_file)
{
	struct scenario *s = up("fattree:4");
	g_autofree char *file = g_build_filename(s->directory, "other.conf", NULL);
	g_autoptr(GVariant) plan = NULL, none = NULL;
	g_autoptr(GError) error = NULL, missing = NULL;

	ck_assert(!daemon_plan(s->daemon, file, 1, &missing));
	ck_assert_ptr_nonnull(strstr(missing->message, "other.conf"));
	g_assert(g_file_set_contents(file, "subnet_timeout 32\n", -1, NULL));
	ck_assert(!daemon_plan(s->daemon, file, 1, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "other.conf:1: subnet_timeout"));
	g_assert(g_file_set_contents(file, "subnet_timeout 16\n", -1, NULL));
	plan = plan_beside(s, file);
	expect_text(s, plan, "subnet_timeout 18 -> 16");
	none = plan_beside(s, NULL);
	expect_text(s, none, "Nothing would change\n");
	scenario_free(s);
}
END_TEST

static void note_sl(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		    const uint8_t *data, size_t length)
{
	unsigned int *by_sl = arg;

	(void)now_ns;
	(void)from;
	(void)length;
	if (data[1] == IBA_CLASS_SUBN_LID)
		by_sl[to->sl]++;
}

/* The SL of another file is not used for the master's SMPs. */
START_TEST(plan_of_another_sl)
{
	struct scenario *s = up("fattree:4");
	g_autofree char *file = g_build_filename(s->directory, "other.conf", NULL);
	g_autoptr(GVariant) plan = NULL;
	unsigned int by_sl[16] = {0};

	g_assert(g_file_set_contents(file, "sm_sl 3\n", -1, NULL));
	plan = plan_beside(s, file);
	sim_set_trace(s->sim, note_sl, by_sl);
	scenario_run_ms(s, 15 * 1000); /* a light sweep */
	ck_assert_uint_gt(by_sl[0], 0);
	ck_assert_uint_eq(by_sl[3], 0);
	scenario_free(s);
}
END_TEST

/*
 * From one lane to several, hosts would still use their old SLs; the other way that does harm only
 * while tables change.
 */
START_TEST(plan_tells_what_may_deadlock)
{
	static const char *const told[] = {
		"note: a change to routes of dfsssp may deadlock until hosts have queried their "
		"paths again: ",
		"note: a change to routes of updn may deadlock during the change: ",
	};
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	g_autoptr(GVariant) plan = NULL;

	scenario_conf(s, _i == 1 ? "routing_engine dfsssp\n" : "routing_engine updn\n");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_stop(s);
	scenario_conf(s, _i == 0 ? "routing_engine dfsssp\n" : "routing_engine updn\n");
	plan = plan_on(s, s->sm_guid);
	if (_i < 2)
		expect_text(s, plan, told[_i]);
	else
		ck_assert(!has_text(plan, "may deadlock"));
	scenario_free(s);
}
END_TEST

/* Options without effect so far are reported, as at a start. */
/* The master handles events as usual during a plan, and ends in the middle of it if it must. */
START_TEST(master_works_beside_its_plan)
{
	struct scenario *s = up("fattree:8");

	ck_assert(daemon_plan(s->daemon, NULL, 1, NULL));
	sim_link_set(s->sim, scenario_node(s, "leaf-0-0"), 5, false);
	scenario_converge(s, 10);
	ck_assert(daemon_plan(s->daemon, NULL, 1, NULL));
	scenario_run_ms(s, 1);
	scenario_stop(s);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("plan");
	TCase *cold = tcase_create("new SM"), *master = tcase_create("master");

	tcase_set_timeout(cold, 120);
	tcase_add_loop_test(cold, cold_plan_is_what_is_set, 0, G_N_ELEMENTS(colds));
	tcase_add_test(cold, plan_in_spite_of_losses);
	tcase_add_test(cold, plan_names_who_is_silent);
	tcase_add_test(cold, plan_without_a_cable);
	tcase_add_test(cold, plan_of_who_is_not_master);
	tcase_set_timeout(master, 120);
	tcase_add_test(master, master_would_change_nothing);
	tcase_add_loop_test(master, changed_file_does_what_its_plan_says, 0, G_N_ELEMENTS(changes));
	tcase_add_test(master, master_reassigns_no_lids);
	tcase_add_test(master, plan_of_who_has_cancelled);
	tcase_add_test(master, plan_of_another_file);
	tcase_add_test(master, plan_of_another_sl);
	tcase_add_loop_test(master, plan_tells_what_may_deadlock, 0, 3);
	tcase_add_test(master, master_works_beside_its_plan);
	suite_add_tcase(s, cold);
	suite_add_tcase(s, master);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
