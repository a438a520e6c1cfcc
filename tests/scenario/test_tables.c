// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Records of tables that the SM reads only on request: what a client gets is what the hardware
 * holds, whatever else goes on.
 */
#include <check.h>
#include <string.h>

#include "client.h"
#include "subnet/inventory.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define SA_KEY 1 /* the default of sm_key and sa_key */

static struct scenario *up(const char *spec, uint64_t seed)
{
	struct scenario *s = scenario_new(spec, seed);

	scenario_start(s);
	scenario_converge(s, 20);
	return s;
}

static uint64_t counter(const struct scenario *s, size_t offset)
{
	const char *counters = (const char *)&daemon_context(s->daemon)->counters;

	return atomic_load((const atomic_ullong *)(counters + offset));
}
#define COUNT(s, name) counter(s, offsetof(struct counters, name))

static struct client *client_of(struct scenario *s)
{
	unsigned int node;

	do
		node = scenario_random_host(s);
	while (node == scenario_sm_node(s, NULL));
	return client_new(s, node);
}

/* Records of one attribute at one LID (0: all). */
static GByteArray *table(struct client *client, uint16_t attribute, const struct wire_type *type,
			 uint16_t lid, unsigned int *n)
{
	union sa_lid_first {
		uint16_t lid;
		uint8_t octets[128];
	} record = {.lid = lid};

	return client_table(client, attribute, lid ? 1 : 0, type, &record, n);
}

static void expect_n(struct scenario *s, struct client *client, uint16_t attribute,
		     const struct wire_type *type, uint16_t lid, unsigned int expected)
{
	unsigned int n;
	GByteArray *records = table(client, attribute, type, lid, &n);

	if (!records || n != expected)
		scenario_fail(s, "%s at LID %u: %s, %u records, not %u", type->name, lid,
			      records ? "OK" : "no good answer", n, expected);
	g_byte_array_unref(records);
}

/* Each kind, of all and of one; a second request costs no SMP. */
START_TEST(all_kinds)
{
	struct scenario *s = up("fattree:4", (uint64_t)_i);
	struct client *client = client_of(s);
	uint16_t host = scenario_lid(s, scenario_node(s, "host-3"));
	uint16_t sw = scenario_lid(s, scenario_random_switch(s));
	uint64_t read;

	client_trust(client, SA_KEY);
	for (unsigned int round = 0; round < 2; round++) {
		if (round)
			read = COUNT(s, tables_read);
		expect_n(s, client, IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type,
			 host, 1);
		expect_n(s, client, IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type,
			 sw, 5 * 5);
		expect_n(s, client, IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type,
			 0, 16 + 20 * 5 * 5);
		expect_n(s, client, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
			 &iba_vl_arbitration_table_record_type, host, 4);
		expect_n(s, client, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
			 &iba_vl_arbitration_table_record_type, 0, 4 * (16 + 20 * 5));
		expect_n(s, client, IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type, host,
			 sim_port_info(s->sim, scenario_node(s, "host-3"), 1)->guid_cap / 8u);
		expect_n(s, client, IBA_ATTR_SM_INFO_RECORD, &iba_sm_info_record_type, 0, 1);
		expect_n(s, client, IBA_ATTR_MULTICAST_FORWARDING_TABLE_RECORD,
			 &iba_multicast_forwarding_table_record_type, 0, scenario_switches(s));
		if (round)
			scenario_expect(s, COUNT(s, tables_read) == read);
	}
	client_free(client);
	scenario_free(s);
}
END_TEST

#define ALL_TO_VL_3 "qos TRUE\nqos_sl2vl 3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3\n"

/* Number of SL2VL tables that lead nowhere; in all others each SL has VL 3. */
static unsigned int zero_tables(struct scenario *s, struct client *client)
{
	const struct iba_sl_to_vl_table_record *rows;
	GByteArray *records;
	unsigned int n, zeros = 0;

	records = table(client, IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type, 0,
			&n);
	scenario_expect(s, records && n == 16 + 20 * 5 * 5);
	rows = (const void *)records->data;
	for (unsigned int i = 0; i < n; i++)
		if (!rows[i].sl_to_vl_table.vl[0])
			zeros++;
		else
			scenario_expect(s, rows[i].sl_to_vl_table.vl[0] == 3);
	g_byte_array_unref(records);
	return zeros;
}

/* What the SM set, it knows: no port is read. */
START_TEST(with_qos)
{
	struct scenario *s = scenario_new("fattree:4", (uint64_t)_i);
	struct client *client;

	scenario_conf(s, ALL_TO_VL_3);
	scenario_start(s);
	scenario_converge(s, 20);
	client = client_of(s);
	scenario_expect(s, zero_tables(s, client) == 20 * 5); /* to port 0 */
	expect_n(s, client, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
		 &iba_vl_arbitration_table_record_type, 0, 4 * (16 + 20 * 5));
	scenario_expect(s, COUNT(s, tables_read) == 0);
	client_free(client);
	scenario_free(s);
}
END_TEST

/* A port without a cable has no meaningful tables; with a cable it has them again. */
START_TEST(cable_comes_back)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int spine = scenario_node(s, "spine-1-0");
	struct client *client;

	scenario_conf(s, ALL_TO_VL_3);
	scenario_start(s);
	scenario_converge(s, 20);
	client = client_of(s);
	sim_link_set(s->sim, spine, 3, false);
	scenario_converge(s, 20);
	scenario_expect(s, zero_tables(s, client) > 20 * 5);
	sim_link_set(s->sim, spine, 3, true);
	scenario_converge(s, 20);
	scenario_expect(s, zero_tables(s, client) == 20 * 5);
	client_free(client);
	scenario_free(s);
}
END_TEST

/* Only VLArbitration is set again: records show it as it is then. */
START_TEST(arbitration_follows)
{
	static const char *const confs[] = {"qos TRUE\nqos_vlarb_low 0:10\n",
					    "qos TRUE\nqos_vlarb_low 0:20\n"};
	struct scenario *s = scenario_new("fattree:4", 1);
	const struct iba_vl_arbitration_table_record *record;
	struct client *client;
	GByteArray *records;
	unsigned int n;

	scenario_conf(s, confs[0]);
	scenario_start(s);
	scenario_converge(s, 20);
	client = client_of(s);
	for (unsigned int i = 0; i < G_N_ELEMENTS(confs); i++) {
		if (i) {
			scenario_conf(s, confs[i]);
			ck_assert(daemon_reread(s->daemon, NULL));
			scenario_heavy_sweep(s, 10);
		}
		records = table(client, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
				&iba_vl_arbitration_table_record_type,
				scenario_lid(s, scenario_node(s, "host-3")), &n);
		scenario_expect(s, records && n == 4);
		record = (const void *)records->data;
		ck_assert_uint_eq(record->block_num, 1);
		ck_assert_uint_eq(record->vl_arbitration_table.entry[0].weight, i ? 20 : 10);
		g_byte_array_unref(records);
	}
	client_free(client);
	scenario_free(s);
}
END_TEST

/* The multicast tables of the switches, before and after a join. */
START_TEST(multicast_follows)
{
	struct scenario *s = up("fattree:4", (uint64_t)_i);
	struct client *client = client_of(s), *other = client_of(s);
	const struct iba_multicast_forwarding_table_record *record;
	unsigned int n, bits;
	GByteArray *records;
	uint16_t mlid;

	for (unsigned int joins = 0; joins < 2; joins++) {
		scenario_expect(s, client_join_broadcast(joins ? other : client, &mlid) == 0);
		scenario_run_ms(s, 500);
		records = table(client, IBA_ATTR_MULTICAST_FORWARDING_TABLE_RECORD,
				&iba_multicast_forwarding_table_record_type, 0, &n);
		scenario_expect(s, records != NULL);
		record = (const void *)records->data;
		bits = 0;
		for (unsigned int i = 0; i < n; i++) {
			unsigned int node = 0;
			uint16_t mask[16];

			while (scenario_lid(s, node) != record[i].lid)
				node++;
			sim_mft(s->sim, node, mlid, mask);
			scenario_expect(s,
					record[i].multicast_forwarding_table.port_mask[mlid % 32] ==
						mask[record[i].position]);
			bits += mask[record[i].position] != 0;
		}
		scenario_expect(s, n == scenario_switches(s));
		scenario_expect(s, bits > 0 || client_guid(client) == client_guid(other));
		g_byte_array_unref(records);
	}
	scenario_expect(s, COUNT(s, tables_read) == 0); /* the SM knows them */
	client_free(client);
	client_free(other);
	scenario_free(s);
}
END_TEST

/* P_Key tables are for trusted clients, and as the ports hold them. */
START_TEST(p_key_tables)
{
	struct scenario *s = up("fattree:4", 1);
	struct client *client = client_of(s);
	unsigned int node = scenario_node(s, "host-5"), n, held;
	const struct iba_p_key_table_record *record;
	GByteArray *records = table(client, IBA_ATTR_P_KEY_TABLE_RECORD,
				    &iba_p_key_table_record_type, scenario_lid(s, node), &n);
	const uint16_t *p_keys = sim_p_keys(s->sim, node, 1, &held);

	scenario_expect(s, records == NULL);
	client_trust(client, SA_KEY);
	records = table(client, IBA_ATTR_P_KEY_TABLE_RECORD, &iba_p_key_table_record_type,
			scenario_lid(s, node), &n);
	scenario_expect(s, records && n > 0);
	record = (const void *)records->data;
	for (unsigned int i = 0; i < 32; i++)
		scenario_expect(s, record[0].p_key_table.p_key[i] == (i < held ? p_keys[i] : 0));
	scenario_expect(s, COUNT(s, tables_read) == 0); /* the sweep had read them */
	g_byte_array_unref(records);
	client_free(client);
	scenario_free(s);
}
END_TEST

/* The manager itself; its key is not shown to clients that have only the well-known key. */
START_TEST(sm_infos)
{
	struct scenario *s = up("fattree:4", 1);
	struct client *client = client_of(s);
	const struct iba_sm_info_record *record;
	unsigned int n;
	GByteArray *records =
		table(client, IBA_ATTR_SM_INFO_RECORD, &iba_sm_info_record_type, 0, &n);

	scenario_expect(s, records && n == 1);
	record = (const void *)records->data;
	scenario_expect(s, record->sm_info.guid == s->sm_guid);
	scenario_expect(s, record->sm_info.sm_state == IBA_SM_MASTER);
	scenario_expect(s, record->sm_info.sm_key == 0);
	g_byte_array_unref(records);
	client_trust(client, SA_KEY);
	records = table(client, IBA_ATTR_SM_INFO_RECORD, &iba_sm_info_record_type, 0, &n);
	record = (const void *)records->data;
	scenario_expect(s, record->sm_info.sm_key == 0);
	g_byte_array_unref(records);
	client_free(client);
	scenario_free(s);
}
END_TEST

static struct daemon *second_manager(struct scenario *s, unsigned int node)
{
	struct daemon_config config = {.rt = s->rt, .log = s->log, .cache_dir = s->cache_dir};
	struct daemon *daemon;

	config.options = options_new();
	config.vendor = sim_open(s->sim, sim_port_guid(s->sim, node, 1), NULL);
	daemon = daemon_new(&config, NULL);
	options_unref(config.options);
	scenario_expect(s, daemon != NULL);
	daemon_start(daemon);
	return daemon;
}

/* Another manager stands by: both have records, each with its state. */
START_TEST(two_managers)
{
	struct scenario *s = up("fattree:4", 1);
	struct client *client = client_of(s);
	unsigned int node, n, states = 0;
	struct daemon *second;
	GByteArray *records;

	do
		node = scenario_random_host(s);
	while (sim_port_guid(s->sim, node, 1) == client_guid(client));
	second = second_manager(s, node);
	scenario_run_ms(s, 5000);
	records = table(client, IBA_ATTR_SM_INFO_RECORD, &iba_sm_info_record_type, 0, &n);
	scenario_expect(s, records && n == 2);
	for (unsigned int i = 0; i < n; i++) {
		const struct iba_sm_info_record *record =
			(const struct iba_sm_info_record *)(void *)records->data + i;
		bool first = record->sm_info.guid == s->sm_guid;

		scenario_expect(s, first || record->lid == scenario_lid(s, node));
		scenario_expect(s, record->sm_info.sm_key == 0);
		scenario_expect(s, record->sm_info.sm_state ==
					   (first ? IBA_SM_MASTER : IBA_SM_STANDBY));
		states |= 1u << record->sm_info.sm_state;
	}
	scenario_expect(s, states == (1u << IBA_SM_MASTER | 1u << IBA_SM_STANDBY));
	g_byte_array_unref(records);
	daemon_free(second);
	client_free(client);
	scenario_free(s);
}
END_TEST

/* SMPs and answers are lost: it takes longer. */
START_TEST(with_loss)
{
	struct scenario *s = up("fattree:4", (uint64_t)_i);
	struct client *client = client_of(s);

	sim_set_loss(s->sim, 0.05);
	expect_n(s, client, IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type,
		 scenario_lid(s, scenario_random_switch(s)), 5 * 5);
	sim_set_loss(s->sim, 0);
	expect_n(s, client, IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type, 0,
		 16 + 20 * 5 * 5);
	client_free(client);
	scenario_free(s);
}
END_TEST

/* Requested in the middle of heavy sweeps, with cables pulled: tables come when sweeps are over. */
START_TEST(during_sweeps)
{
	struct scenario *s = up("fattree:4", (uint64_t)_i);
	struct client *client = client_of(s);

	for (unsigned int i = 0; i < 20; i++) {
		unsigned int node, port;

		daemon_sweep(s->daemon, SWEEP_HEAVY);
		scenario_random_link(s, &node, &port);
		sim_link_set(s->sim, node, port, false);
		scenario_run_ms(s, scenario_random(s, 20));
		sim_link_set(s->sim, node, port, true);
		expect_n(s, client, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
			 &iba_vl_arbitration_table_record_type,
			 scenario_lid(s, scenario_random_host(s)), 4);
	}
	scenario_converge(s, 20);
	expect_n(s, client, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD,
		 &iba_vl_arbitration_table_record_type, 0, 4 * (16 + 20 * 5));
	client_free(client);
	scenario_free(s);
}
END_TEST

#define MUTE 6

/* Some hosts, each once, that have neither the SM nor the client. */
static void choose_mute(struct scenario *s, const struct client *client, unsigned int mute[MUTE])
{
	for (unsigned int n = 0; n < MUTE;) {
		bool fresh;

		mute[n] = scenario_random_host(s);
		fresh = sim_port_guid(s->sim, mute[n], 1) != client_guid(client);
		for (unsigned int i = 0; i < n; i++)
			fresh &= mute[i] != mute[n];
		n += fresh;
	}
}

/* GUIDInfo blocks of the first endport of a node. */
static unsigned int guid_blocks(const struct scenario *s, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return sim_port_info(s->sim, node, view.type != IBA_NODE_SWITCH)->guid_cap / 8u;
}

/* A node that does not answer is missing from the whole, and BUSY on its own. */
START_TEST(mute_nodes)
{
	struct scenario *s = up("fattree:8", (uint64_t)_i);
	struct client *client = client_of(s);
	unsigned int mute[MUTE], n = 0;
	uint16_t lid;
	uint64_t busy;

	choose_mute(s, client, mute);
	lid = scenario_lid(s, mute[0]);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		n += guid_blocks(s, i);
	for (unsigned int i = 0; i < MUTE; i++) {
		n -= guid_blocks(s, mute[i]);
		sim_node_mute(s->sim, mute[i], true);
	}
	expect_n(s, client, IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type, 0, n);
	busy = COUNT(s, sa_busy);
	scenario_expect(s, !table(client, IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type,
				  lid, &(unsigned int){0}));
	scenario_expect(s, COUNT(s, sa_busy) > busy);
	for (unsigned int i = 0; i < MUTE; i++)
		sim_node_mute(s->sim, mute[i], false);
	scenario_run_ms(s, 31 * 1000);
	expect_n(s, client, IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type, lid,
		 guid_blocks(s, mute[0]));
	client_free(client);
	scenario_free(s);
}
END_TEST

static uint64_t time_of_heavy_sweep(struct scenario *s)
{
	uint64_t start = runtime_now(s->rt);

	scenario_heavy_sweep(s, 20);
	return runtime_now(s->rt) - start;
}

/* Requests for thousands of tables do not slow down a sweep; the tables are read after it. */
START_TEST(sweeps_come_first)
{
	struct scenario *s = up("fattree:8", (uint64_t)_i);
	const unsigned int all = 128 + 80 * 8 * 9; /* hosts, switches, out, in */
	uint64_t alone = time_of_heavy_sweep(s), read;

	event_emit(&daemon_context(s->daemon)->bus, EVENT_INVENTORY_WANTED,
		   inventory_want(INVENTORY_SL_TO_VL, 0, INVENTORY_ALL_PORTS));
	scenario_run_ms(s, 2);
	read = COUNT(s, tables_read);
	scenario_expect(s, read > 0 && read < all / 2);
	scenario_expect_at_most(s, time_of_heavy_sweep(s), alone + alone / 10 + NS_PER_MS);
	scenario_expect_at_most(s, COUNT(s, tables_read), read + 10);
	scenario_run_ms(s, 3000);
	scenario_expect(s, COUNT(s, tables_read) >= all);
	scenario_expect_at_most(s, COUNT(s, tables_read), all + 200);
	scenario_free(s);
}
END_TEST

struct busiest {
	struct scenario *s;
	uint64_t on_wire;
};

static void watch(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		  const uint8_t *data, size_t length)
{
	struct busiest *busiest = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	(void)data;
	(void)length;
	busiest->on_wire = MAX(busiest->on_wire, COUNT(busiest->s, smp_on_wire));
}

/* They use at most half of the window, and at most eight of a wide one. */
START_TEST(few_at_a_time)
{
	static const struct {
		const char *conf;
		unsigned int most;
	} cases[] = {
		{"max_wire_smps 1\n", 1},   {"max_wire_smps 2\n", 1}, {"max_wire_smps 8\n", 4},
		{"max_wire_smps 100\n", 8}, {"max_wire_smps 0\n", 8},
	};
	struct scenario *s = scenario_new("fattree:4", 1);
	struct busiest busiest = {.s = s};

	scenario_conf(s, cases[_i].conf);
	scenario_option(s, "-s", "1000");
	scenario_start(s);
	scenario_converge(s, 20);
	scenario_run_ms(s, 1000);
	sim_set_trace(s->sim, watch, &busiest);
	event_emit(&daemon_context(s->daemon)->bus, EVENT_INVENTORY_WANTED,
		   inventory_want(INVENTORY_SL_TO_VL, 0, INVENTORY_ALL_PORTS));
	scenario_run_ms(s, 3000);
	ck_assert_uint_ge(busiest.on_wire, cases[_i].most);
	ck_assert_uint_le(busiest.on_wire, cases[_i].most + 1); /* the SM's own port is watched */
	ck_assert_uint_eq(COUNT(s, tables_read), 16 + 20 * 4 * 5);
	scenario_free(s);
}
END_TEST

/* Tables of a switch that was reset are read again, whether it was missed meanwhile or not. */
START_TEST(reset_is_noticed)
{
	struct scenario *s = up("fattree:4", 1);
	unsigned int sm = scenario_sm_node(s, NULL), host = scenario_node(s, "host-9"), n;
	struct client *client = client_new(s, scenario_node(s, sm == 0 ? "host-3" : "host-2"));
	bool missed = _i % 2;
	uint64_t read;

	scenario_expect(s, host != sm);
	n = sim_port_info(s->sim, host, 1)->guid_cap / 8u;
	for (unsigned int round = 0; round < 2; round++) {
		read = COUNT(s, tables_read);
		expect_n(s, client, IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type,
			 scenario_lid(s, host), n);
		scenario_expect(s, COUNT(s, tables_read) == read + n);
		sim_node_set(s->sim, host, false);
		if (missed)
			scenario_converge(s, 15);
		sim_node_set(s->sim, host, true);
		scenario_converge(s, 15);
	}
	client_free(client);
	scenario_free(s);
}
END_TEST

/* A client that joins and leaves all day long does not fill the disk. */
START_TEST(joins_are_not_all_logged)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int lines = 0, joins = 100;
	struct client *client;
	uint16_t mlid;

	scenario_start(s);
	scenario_converge(s, 10);
	client = client_new(s, scenario_node(s, "host-9"));
	for (unsigned int i = 0; i < joins; i++) {
		ck_assert_int_eq(client_join_broadcast(client, &mlid), 0);
		scenario_run_ms(s, 100);
		ck_assert_int_eq(client_leave_broadcast(client), 0);
		scenario_run_ms(s, 100);
	}
	for (const char *at = s->text->str; (at = strstr(at, "multicast sweep: ")); at++)
		lines++;
	ck_assert_uint_le(lines, 25);
	client_free(client);
	scenario_free(s);
}
END_TEST

/* A group of its own, whose MLID the client names. */
static int high_group(struct client *client, uint8_t method, uint16_t *mlid)
{
	const uint64_t mask =
		IBA_COMPONENT(mc_member_record, mgid) | IBA_COMPONENT(mc_member_record, port_gid) |
		IBA_COMPONENT(mc_member_record, q_key) | IBA_COMPONENT(mc_member_record, mlid) |
		IBA_COMPONENT(mc_member_record, t_class) | IBA_COMPONENT(mc_member_record, p_key) |
		IBA_COMPONENT(mc_member_record, sl) | IBA_COMPONENT(mc_member_record, flow_label) |
		IBA_COMPONENT(mc_member_record, join_state);
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12A01BFE800000), 0x77},
		.port_gid = client_gid(client),
		.q_key = 0x1234,
		.mlid = *mlid,
		.p_key = 0xFFFF,
		.join_state = 1,
	};
	int status = client_ask(client, method, IBA_ATTR_MC_MEMBER_RECORD,
				method == IBA_METHOD_SET
					? mask
					: IBA_COMPONENT(mc_member_record, mgid) |
						  IBA_COMPONENT(mc_member_record, port_gid) |
						  IBA_COMPONENT(mc_member_record, join_state),
				&iba_mc_member_record_type, &record);

	*mlid = record.mlid;
	return status;
}

static uint64_t smps(const struct scenario *s)
{
	return counter_get(&daemon_context(s->daemon)->counters, smp_sent);
}

#define SMPS_OF_BRING_UP 758 /* of fat tree 4 */

/* A high MLID costs its own block, not all those below it; and nothing once the group is gone. */
START_TEST(high_mlid)
{
	struct scenario *s = up("fattree:4", 1);
	const unsigned int switches = 20, positions = 1;
	struct client *client = client_of(s);
	const uint16_t high = _i ? 0xC3E0 : 0xC3FF;
	uint16_t mlid = high;
	struct sim_node_view view;
	uint64_t before;

	scenario_run_ms(s, 2000);
	before = smps(s);
	ck_assert_uint_le(before, SMPS_OF_BRING_UP); /* one block a switch was read, not all */
	ck_assert_int_eq(high_group(client, IBA_METHOD_SET, &mlid), 0);
	ck_assert_uint_eq(mlid, high);
	scenario_run_ms(s, 500);
	scenario_check_tree(s, mlid, (uint64_t[]){client_guid(client)}, 1);
	ck_assert_uint_le(smps(s) - before, 3 * switches * positions);
	sim_node_view(s->sim, scenario_random_switch(s), &view);
	ck_assert_uint_eq(view.switch_info->multicast_fdb_top, high);
	ck_assert_int_eq(high_group(client, IBA_METHOD_DELETE, &mlid), 0);
	scenario_run_ms(s, 500);
	for (unsigned int i = 0; i < 2; i++) { /* the block goes, then MulticastFDBTop falls */
		daemon_sweep(s->daemon, SWEEP_GROUPS);
		scenario_run_ms(s, 500);
	}
	before = smps(s);
	daemon_sweep(s->daemon, SWEEP_REROUTE);
	scenario_run_ms(s, 500);
	ck_assert_uint_eq(smps(s), before);
	sim_node_view(s->sim, scenario_random_switch(s), &view);
	ck_assert_uint_lt(view.switch_info->multicast_fdb_top, 0xC3E0);
	client_free(client);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scenario_tables");
	TCase *tcase = tcase_create("tables");

	tcase_add_loop_test(tcase, all_kinds, 0, 2);
	tcase_add_loop_test(tcase, with_qos, 0, 2);
	tcase_add_test(tcase, cable_comes_back);
	tcase_add_test(tcase, arbitration_follows);
	tcase_add_loop_test(tcase, multicast_follows, 0, 4);
	tcase_add_test(tcase, p_key_tables);
	tcase_add_test(tcase, sm_infos);
	tcase_add_test(tcase, two_managers);
	tcase_add_loop_test(tcase, with_loss, 0, some_seeds(6));
	tcase_add_loop_test(tcase, during_sweeps, 0, 4);
	tcase_add_loop_test(tcase, mute_nodes, 0, 3);
	tcase_add_loop_test(tcase, sweeps_come_first, 0, 3);
	tcase_add_loop_test(tcase, few_at_a_time, 0, 5);
	tcase_add_loop_test(tcase, reset_is_noticed, 0, 2);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, joins_are_not_all_logged);
	tcase_add_loop_test(tcase, high_mlid, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
