// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The SMA of simulated nodes: attributes, status codes, port state machine, M_Key. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define GET IBA_METHOD_GET
#define SET IBA_METHOD_SET

static struct net *net;
static unsigned int sw, host, other; /* a switch, the client's node, another host */

static void setup(void)
{
	net = net_new("fattree:4", NULL);
	sw = sim_find_name(net->sim, "leaf-0-0");
	host = net->self;
	other = sim_find_name(net->sim, "host-1");
}

static void teardown(void)
{
	net_free(net);
}

static int ask(unsigned int node, uint8_t method, uint16_t attribute, uint32_t modifier)
{
	uint8_t data[64] = {0};

	return net_direct_ask(net, node, method, attribute, modifier, data);
}

/* ---- status codes ---- */

static const struct {
	bool of_switch;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	int status;
} statuses[] = {
	{true, GET, IBA_ATTR_NODE_INFO, 0, 0},
	{true, SET, IBA_ATTR_NODE_INFO, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{true, SET, IBA_ATTR_NODE_DESCRIPTION, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{true, GET, IBA_ATTR_RANDOM_FORWARDING_TABLE, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{true, GET, 0x7777, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{true, GET, IBA_ATTR_SM_INFO, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{true, 0x12, IBA_ATTR_NODE_INFO, 0, IBA_STATUS_UNSUP_METHOD},
	{false, GET, IBA_ATTR_SWITCH_INFO, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{false, GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{false, SET, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 0, IBA_STATUS_UNSUP_METHOD_ATTR},
	{true, GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 767, 0},
	{true, GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 768, IBA_STATUS_INVALID_FIELD},
	{true, SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0xFFFFFFFF, IBA_STATUS_INVALID_FIELD},
	{true, GET, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 127, 0},
	{true, GET, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 128, IBA_STATUS_INVALID_FIELD},
	{true, SET, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 0x10000000, IBA_STATUS_INVALID_FIELD},
	{true, GET, IBA_ATTR_PORT_INFO, 4, 0},
	{true, GET, IBA_ATTR_PORT_INFO, 5, IBA_STATUS_INVALID_FIELD},
	{false, GET, IBA_ATTR_PORT_INFO, 1, 0},
	{false, GET, IBA_ATTR_PORT_INFO, 2, IBA_STATUS_INVALID_FIELD},
	{true, GET, IBA_ATTR_P_KEY_TABLE, 4 << 16, 0},
	{true, GET, IBA_ATTR_P_KEY_TABLE, 5 << 16, IBA_STATUS_INVALID_FIELD},
	{true, GET, IBA_ATTR_P_KEY_TABLE, 1, IBA_STATUS_INVALID_FIELD},
	{false, GET, IBA_ATTR_P_KEY_TABLE, 3, 0},
	{false, SET, IBA_ATTR_P_KEY_TABLE, 4, IBA_STATUS_INVALID_FIELD},
	{true, GET, IBA_ATTR_SL_TO_VL_TABLE, 4 << 8 | 4, 0},
	{true, GET, IBA_ATTR_SL_TO_VL_TABLE, 5 << 8 | 4, IBA_STATUS_INVALID_FIELD},
	{true, SET, IBA_ATTR_SL_TO_VL_TABLE, 4 << 8 | 5, IBA_STATUS_INVALID_FIELD},
	{true, GET, IBA_ATTR_VL_ARBITRATION_TABLE, 1 << 16 | 4, 0},
	{true, GET, IBA_ATTR_VL_ARBITRATION_TABLE, 1 << 16 | 5, IBA_STATUS_INVALID_FIELD},
	{true, SET, IBA_ATTR_VL_ARBITRATION_TABLE, 2 << 16 | 4, IBA_STATUS_INVALID_FIELD},
	{false, GET, IBA_ATTR_VL_ARBITRATION_TABLE, 0, IBA_STATUS_INVALID_FIELD},
	{false, GET, IBA_ATTR_VL_ARBITRATION_TABLE, 5 << 16, IBA_STATUS_INVALID_FIELD},
	{false, GET, IBA_ATTR_GUID_INFO, 4, IBA_STATUS_INVALID_FIELD},
	{false, SET, IBA_ATTR_GUID_INFO, 0x20000000, IBA_STATUS_INVALID_FIELD},
	{true, GET, IBA_ATTR_LED_INFO, 99, IBA_STATUS_INVALID_FIELD},
};

START_TEST(test_status)
{
	ck_assert_int_eq(ask(statuses[_i].of_switch ? sw : other, statuses[_i].method,
			     statuses[_i].attribute, statuses[_i].modifier),
			 statuses[_i].status);
}
END_TEST

START_TEST(test_version)
{
	uint8_t smp[256];

	for (unsigned int octet = 0; octet <= 2; octet += 2) {
		struct vendor_mad *mad;

		net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, GET, IBA_ATTR_NODE_INFO, 0);
		net_direct(net, smp, sw);
		smp[octet] = 9;
		mad = net_ask(net, IBA_LID_PERMISSIVE, smp);
		ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
		ck_assert_uint_eq(mad->data[5], IBA_STATUS_UNSUP_VERSION);
		vendor_mad_free(mad);
	}
}
END_TEST

/* ---- tables keep what was written, each entry where it belongs ---- */

static const struct {
	bool of_switch;
	uint16_t attribute;
	uint32_t modifier;
	unsigned int octets, first; /* that are writable */
} tables[] = {
	{true, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, 64, 0},
	{true, IBA_ATTR_LINEAR_FORWARDING_TABLE, 767, 64, 0},
	{true, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 0, 64, 0},
	{true, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 100, 64, 0},
	{true, IBA_ATTR_P_KEY_TABLE, 0, 64, 0},
	{true, IBA_ATTR_P_KEY_TABLE, 3 << 16, 64, 0},
	{false, IBA_ATTR_P_KEY_TABLE, 0, 64, 0},
	{false, IBA_ATTR_P_KEY_TABLE, 3, 64, 0},
	{true, IBA_ATTR_SL_TO_VL_TABLE, 1 << 8 | 4, 8, 0},
	{true, IBA_ATTR_SL_TO_VL_TABLE, 2 << 8 | 4, 8, 0},
	{false, IBA_ATTR_SL_TO_VL_TABLE, 0, 8, 0},
	{true, IBA_ATTR_VL_ARBITRATION_TABLE, 1 << 16 | 2, 16, 0},
	{true, IBA_ATTR_VL_ARBITRATION_TABLE, 3 << 16 | 2, 16, 0},
	{false, IBA_ATTR_VL_ARBITRATION_TABLE, 1 << 16, 16, 0},
	{false, IBA_ATTR_GUID_INFO, 0, 56, 8},
	{true, IBA_ATTR_GUID_INFO, 3, 64, 0},
};

static void fill(uint8_t data[64], unsigned int table)
{
	memset(data, 0, 64);
	for (unsigned int i = 0; i < tables[table].octets; i++)
		data[tables[table].first + i] = (table * 17 + i * 3 + 1) & 0x0F;
}

START_TEST(test_tables)
{
	uint8_t data[64], want[64];

	for (unsigned int i = 0; i < G_N_ELEMENTS(tables); i++) {
		fill(data, i);
		ck_assert_int_eq(net_direct_ask(net, tables[i].of_switch ? sw : other, SET,
						tables[i].attribute, tables[i].modifier, data),
				 0);
	}
	for (unsigned int i = 0; i < G_N_ELEMENTS(tables); i++) {
		memset(data, 0xEE, sizeof(data));
		ck_assert_int_eq(net_direct_ask(net, tables[i].of_switch ? sw : other, GET,
						tables[i].attribute, tables[i].modifier, data),
				 0);
		fill(want, i);
		ck_assert_mem_eq(data + tables[i].first, want + tables[i].first, tables[i].octets);
		if (!tables[i].first)
			ck_assert_mem_eq(data, want, 64);
	}
}
END_TEST

/* The state of a node after power on, and the views of tests. */
START_TEST(test_power_on)
{
	struct sim_node_view view;
	uint8_t data[64] = {0};
	uint16_t mask[16];
	unsigned int n;

	sim_node_view(net->sim, sw, &view);
	ck_assert_uint_eq(view.lft[1], 0xFF);
	ck_assert_uint_eq(view.lft[49151], 0xFF);
	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_LINEAR_FORWARDING_TABLE, 5, data),
			 0);
	for (unsigned int i = 0; i < 64; i++)
		ck_assert_uint_eq(data[i], 0xFF);
	ck_assert_int_eq(net_direct_ask(net, other, GET, IBA_ATTR_SL_TO_VL_TABLE, 0, data), 0);
	ck_assert_uint_eq(data[0], 0x01);
	ck_assert_int_eq(net_direct_ask(net, other, GET, IBA_ATTR_P_KEY_TABLE, 0, data), 0);
	ck_assert_uint_eq(data[0] << 8 | data[1], 0xFFFF);
	ck_assert_uint_eq(data[2] << 8 | data[3], 0);
	ck_assert_uint_eq(sim_p_keys(net->sim, other, 1, &n)[0], 0xFFFF);
	ck_assert_uint_eq(n, 1);

	memset(data, 0, sizeof(data));
	data[2 * 7 + 1] = 0x14; /* MLID 0xC007 by ports 2 and 4 */
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 0, data),
			 0);
	sim_mft(net->sim, sw, 0xC007, mask);
	ck_assert_uint_eq(mask[0], 0x14);
	sim_mft(net->sim, sw, 0xC008, mask);
	ck_assert_uint_eq(mask[0], 0);
	sim_mft(net->sim, sw, 0xCFFF, mask);
	ck_assert_uint_eq(mask[0], 0);
}
END_TEST

START_TEST(test_node_description)
{
	uint8_t data[64];

	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_NODE_DESCRIPTION, 0, data), 0);
	ck_assert_str_eq((char *)data, "leaf-0-0");
}
END_TEST

START_TEST(test_switch_info)
{
	struct iba_switch_info info;
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_uint_eq(info.linear_fdb_cap, 49151);
	ck_assert_uint_eq(info.port_state_change, 1);
	info.linear_fdb_top = 100;
	info.linear_fdb_cap = 7; /* read only */
	info.port_state_change = 0;
	wire_encode(&iba_switch_info_type, &info, data);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_uint_eq(info.linear_fdb_top, 100);
	ck_assert_uint_eq(info.linear_fdb_cap, 49151);
	ck_assert_uint_eq(info.port_state_change, 1); /* writing 0 leaves it */
	wire_encode(&iba_switch_info_type, &info, data);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_uint_eq(info.port_state_change, 0);
	info.linear_fdb_top = 49152;
	wire_encode(&iba_switch_info_type, &info, data);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SWITCH_INFO, 0, data),
			 IBA_STATUS_INVALID_FIELD);
}
END_TEST

/* ---- PortInfo ---- */

START_TEST(test_port_states)
{
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_ACTIVE), IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_INIT), IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_port_state(net, sw, 3, 5), IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_ARMED), 0);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 3)->port_state, IBA_PORT_ARMED);
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_ARMED), IBA_STATUS_INVALID_FIELD);
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_ACTIVE), 0);
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_NO_CHANGE), 0);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 3)->port_state, IBA_PORT_ACTIVE);
	/* Down drops the link, which comes up again. */
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_DOWN), 0);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 3)->port_state, IBA_PORT_INIT);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 3)->port_physical_state, IBA_PHYS_LINK_UP);
}
END_TEST

START_TEST(test_disable)
{
	struct iba_port_info info;
	unsigned int peer, peer_port;

	ck_assert(sim_peer(net->sim, sw, 3, &peer, &peer_port));
	net_port_get(net, sw, 3, &info);
	info.port_physical_state = IBA_PHYS_DISABLED;
	info.port_state = IBA_PORT_DOWN;
	ck_assert_int_eq(net_port_set(net, sw, 3, &info), 0);
	ck_assert_uint_eq(info.port_state, IBA_PORT_DOWN);
	ck_assert_uint_eq(info.port_physical_state, IBA_PHYS_DISABLED);
	ck_assert_uint_eq(sim_port_info(net->sim, peer, peer_port)->port_state, IBA_PORT_DOWN);
	ck_assert(!sim_link_up(net->sim, peer, peer_port));
	info.port_physical_state = IBA_PHYS_POLLING;
	info.port_state = IBA_PORT_NO_CHANGE;
	ck_assert_int_eq(net_port_set(net, sw, 3, &info), 0);
	ck_assert_uint_eq(info.port_state, IBA_PORT_INIT);
	ck_assert_uint_eq(sim_port_info(net->sim, peer, peer_port)->port_state, IBA_PORT_INIT);
}
END_TEST

/* Read-only components stay; each kind of port has its own writable ones. */
START_TEST(test_port_writable)
{
	struct iba_port_info info, got;

	net_port_get(net, other, 1, &info);
	info.port_state = info.port_physical_state = 0;
	info.lid = 40;
	info.lmc = 3;
	info.gid_prefix = 0xFEC0000000000000;
	info.master_sm_lid = 9;
	info.neighbor_mtu = IBA_MTU_4096;
	info.capability_mask = 0;
	info.mtu_cap = 1;
	info.hoq_life = 7; /* of switch ports only */
	info.link_width_supported = 0xF;
	ck_assert_int_eq(net_port_set(net, other, 1, &info), 0);
	net_port_get(net, other, 1, &got);
	ck_assert_uint_eq(got.lid, 40);
	ck_assert_uint_eq(got.lmc, 3);
	ck_assert_uint_eq(got.gid_prefix, 0xFEC0000000000000);
	ck_assert_uint_eq(got.master_sm_lid, 9);
	ck_assert_uint_eq(got.neighbor_mtu, IBA_MTU_4096);
	ck_assert_uint_ne(got.capability_mask, 0);
	ck_assert_uint_eq(got.mtu_cap, IBA_MTU_4096);
	ck_assert_uint_eq(got.hoq_life, 0);
	ck_assert_uint_ne(got.link_width_supported, 0xF);

	net_port_get(net, sw, 1, &info);
	info.port_state = info.port_physical_state = 0;
	info.lid = 40;
	info.hoq_life = 7;
	info.vl_stall_count = 3;
	ck_assert_int_eq(net_port_set(net, sw, 1, &info), 0);
	net_port_get(net, sw, 1, &got);
	ck_assert_uint_eq(got.lid, 0);
	ck_assert_uint_eq(got.hoq_life, 7);
	ck_assert_uint_eq(got.vl_stall_count, 3);
}
END_TEST

START_TEST(test_port_invalid)
{
	struct iba_port_info good, info, got;

	net_port_get(net, other, 1, &good);
	good.port_state = good.port_physical_state = 0;
	good.lid = 8;
#define INVALID(field, value)                                                                      \
	do {                                                                                       \
		info = good;                                                                       \
		info.field = value;                                                                \
		ck_assert_int_eq(net_port_set(net, other, 1, &info), IBA_STATUS_INVALID_FIELD);    \
	} while (0)
	INVALID(lid, 0);
	INVALID(lid, 0xC000);
	INVALID(lid, 0xFFFF);
	INVALID(lmc, 4); /* LID 8 is not aligned to 16 */
	INVALID(master_sm_lid, 0xC000);
	INVALID(neighbor_mtu, 6);
	INVALID(operational_vls, 5);
	INVALID(link_width_enabled, 8);
	INVALID(port_physical_state, 5);
	INVALID(link_down_default_state, 3);
#undef INVALID
	net_port_get(net, other, 1, &got);
	ck_assert_uint_eq(got.lid, 0); /* nothing of those was accepted */
	ck_assert_int_eq(net_port_set(net, other, 1, &good), 0);
}
END_TEST

START_TEST(test_link)
{
	struct iba_switch_info info;
	uint8_t data[64] = {0};
	unsigned int peer, peer_port;

	ck_assert_int_eq(net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_SWITCH_INFO, 0, data), 0);
	ck_assert(sim_peer(net->sim, sw, 4, &peer, &peer_port));
	ck_assert_int_eq(net_port_state(net, sw, 4, IBA_PORT_ARMED), 0);
	net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, data);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_uint_eq(info.port_state_change, 0); /* a Set is not a change of the link */

	ck_assert(sim_link_set(net->sim, sw, 4, false));
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 4)->port_state, IBA_PORT_DOWN);
	ck_assert_uint_eq(sim_port_info(net->sim, peer, peer_port)->port_state, IBA_PORT_DOWN);
	ck_assert_uint_eq(sim_port_info(net->sim, peer, peer_port)->port_physical_state,
			  IBA_PHYS_POLLING);
	net_direct_ask(net, sw, GET, IBA_ATTR_SWITCH_INFO, 0, data);
	wire_decode(&iba_switch_info_type, data, &info);
	ck_assert_uint_eq(info.port_state_change, 1);
	ck_assert_int_eq(net_port_state(net, sw, 4, IBA_PORT_ARMED), IBA_STATUS_INVALID_FIELD);

	ck_assert(sim_link_set(net->sim, peer, peer_port, true));
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 4)->port_state, IBA_PORT_INIT);
	ck_assert(!sim_link_set(net->sim, host, 0, true)); /* no cable there */
}
END_TEST

/* Enabled speeds take effect when the link trains again. */
START_TEST(test_speed)
{
	struct iba_port_info info;
	uint8_t data[64] = {0};

	net_port_get(net, sw, 3, &info);
	ck_assert_uint_eq(info.link_speed_ext_active, IBA_SPEED_EXT_EDR);
	ck_assert_uint_eq(info.link_width_active, IBA_WIDTH_4X);
	info.port_state = info.port_physical_state = 0;
	info.link_speed_ext_enabled = IBA_SPEED_EXT_FDR;
	info.link_width_enabled = IBA_WIDTH_1X;
	wire_encode(&iba_port_info_type, &info, data);
	ck_assert_int_eq(net_direct_ask(net, sw, SET, IBA_ATTR_PORT_INFO,
					3 | IBA_PORT_INFO_MOD_EXTENDED_SPEEDS, data),
			 0);
	net_port_get(net, sw, 3, &info);
	ck_assert_uint_eq(info.link_speed_ext_active, IBA_SPEED_EXT_EDR);
	ck_assert_int_eq(net_port_state(net, sw, 3, IBA_PORT_DOWN), 0);
	net_port_get(net, sw, 3, &info);
	ck_assert_uint_eq(info.link_speed_ext_active, IBA_SPEED_EXT_FDR);
	ck_assert_uint_eq(info.link_width_active, IBA_WIDTH_1X);
}
END_TEST

/* Fast hardware reports its extended speeds only if asked with bit 31 of the modifier. */
START_TEST(test_extended_speeds)
{
	struct iba_port_info info;
	struct net *fast = net_new_text("Ca 1 \"a\"\n[1] \"b\"[1] # \"b\" lid 0 4xNDR\n"
					"Ca 1 \"b\"\n");
	uint8_t data[64] = {0};

	net_port_get(fast, fast->self, 1, &info);
	ck_assert_uint_eq(info.link_speed_ext_active, 0);
	ck_assert_int_eq(net_direct_ask(fast, fast->self, GET, IBA_ATTR_PORT_INFO,
					1 | IBA_PORT_INFO_MOD_EXTENDED_SPEEDS, data),
			 0);
	wire_decode(&iba_port_info_type, data, &info);
	ck_assert_uint_eq(info.link_speed_ext_active, IBA_SPEED_EXT_NDR);
	net_free(fast);
}
END_TEST

/* ---- M_Key ---- */

static void protect(uint64_t key, uint8_t bits, uint16_t lease)
{
	struct iba_port_info info;

	net_port_get(net, other, 1, &info);
	info.port_state = info.port_physical_state = 0;
	info.lid = 5;
	info.m_key = key;
	info.m_key_protect_bits = bits;
	info.m_key_lease_period = lease;
	ck_assert_int_eq(net_port_set(net, other, 1, &info), 0);
	net->m_key = key;
}

static uint64_t read_key(void)
{
	struct iba_port_info info;

	net_port_get(net, other, 1, &info);
	return info.m_key;
}

START_TEST(test_m_key_levels)
{
	protect(0x1234, 0, 0);
	net->m_key = 99;
	ck_assert_uint_eq(read_key(), 0x1234); /* level 0 shows it to all */
	ck_assert_int_eq(ask(other, SET, IBA_ATTR_LED_INFO, 0), -1);
	net->m_key = 0x1234;
	ck_assert_int_eq(ask(other, SET, IBA_ATTR_LED_INFO, 0), 0);

	protect(0x1234, 1, 0);
	ck_assert_uint_eq(read_key(), 0x1234);
	net->m_key = 0;
	ck_assert_uint_eq(read_key(), 0);
	ck_assert_int_eq(ask(other, SET, IBA_ATTR_LED_INFO, 0), -1);

	for (unsigned int level = 2; level <= 3; level++) {
		net->m_key = 0x1234;
		protect(0x1234, level, 0);
		net->m_key = 7;
		ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), -1);
		ck_assert_int_eq(ask(other, SET, IBA_ATTR_LED_INFO, 0), -1);
	}
	net->m_key = 0x1234;
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), 0);
	/* Two Sets refused at levels 0 and 1, and two requests at each of 2 and 3: but each
	 * Set(PortInfo) of protect() wrote the counter back as it read it, not 0. */
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->m_key_violations, 6);
}
END_TEST

START_TEST(test_m_key_lease)
{
	protect(0x1234, 2, 10);
	net->m_key = 7;
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), -1); /* starts the lease */
	net_run_ms(net, 5000);
	net->m_key = 0x1234;
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), 0); /* stops it */
	net_run_ms(net, 8000);
	net->m_key = 7;
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), -1); /* starts it again */
	net_run_ms(net, 11000);
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->m_key_protect_bits, 0);
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), 0);
	ck_assert_uint_eq(read_key(), 0x1234);
}
END_TEST

/* ---- power ---- */

START_TEST(test_node_power)
{
	struct iba_port_info info;

	protect(0x1234, 0, 0);
	sim_node_set(net->sim, other, false);
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), -1);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 2)->port_state, IBA_PORT_DOWN);
	sim_node_set(net->sim, other, true);
	net_port_get(net, other, 1, &info);
	ck_assert_uint_eq(info.m_key, 0);
	ck_assert_uint_eq(info.lid, 0);
	ck_assert_uint_eq(info.port_state, IBA_PORT_INIT);
}
END_TEST

START_TEST(test_mute)
{
	sim_node_mute(net->sim, other, true);
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), -1);
	ck_assert_uint_eq(sim_port_info(net->sim, sw, 2)->port_state, IBA_PORT_INIT);
	sim_node_mute(net->sim, other, false);
	ck_assert_int_eq(ask(other, GET, IBA_ATTR_NODE_INFO, 0), 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_sma");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_status, 0, G_N_ELEMENTS(statuses));
	tcase_add_test(tcase, test_version);
	tcase_add_test(tcase, test_tables);
	tcase_add_test(tcase, test_power_on);
	tcase_add_test(tcase, test_node_description);
	tcase_add_test(tcase, test_switch_info);
	tcase_add_test(tcase, test_port_states);
	tcase_add_test(tcase, test_disable);
	tcase_add_test(tcase, test_port_writable);
	tcase_add_test(tcase, test_port_invalid);
	tcase_add_test(tcase, test_link);
	tcase_add_test(tcase, test_speed);
	tcase_add_test(tcase, test_extended_speeds);
	tcase_add_test(tcase, test_m_key_levels);
	tcase_add_test(tcase, test_m_key_lease);
	tcase_add_test(tcase, test_node_power);
	tcase_add_test(tcase, test_mute);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
