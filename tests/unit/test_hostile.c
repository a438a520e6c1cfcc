// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A whole daemon among devices that lie, change in the middle of a sweep, or flood it. */
#include <check.h>
#include <string.h>

#include "sm/sm.h"
#include "tests/run_suite.h"
#include "tests/unit/proxy.h"
#include "vendor/vendor_private.h"

static struct bed *bed;

static void teardown(void)
{
	bed_free(bed);
}

static void get_port_info(const struct vendor_mad *mad, struct iba_port_info *info)
{
	wire_decode(&iba_port_info_type, mad->data + SMP_DATA, info);
}

static void put_port_info(struct vendor_mad *mad, const struct iba_port_info *info)
{
	wire_encode(&iba_port_info_type, info, mad->data + SMP_DATA);
}

static bool is_up(void)
{
	const char *up = g_strrstr(bed->text->str, "SUBNET UP");
	const char *errors = g_strrstr(bed->text->str, "ERRORS DURING INITIALIZATION");

	return up && (!errors || errors < up);
}

/* ---- a link lost between the first and the second reading of a port ---- */

#define LOST 10

/* Whether far was reached through the port that near is about (both directed routes). */
static bool is_behind(const struct vendor_mad *far, const struct vendor_mad *near)
{
	const uint8_t *far_path = far->data + 128, *near_path = near->data + 128;
	uint8_t hops = near->data[7];

	return far->data[1] == IBA_CLASS_SUBN_DIRECTED && far->data[7] == hops + 1 &&
	       memcmp(far_path + 1, near_path + 1, hops) == 0 &&
	       far_path[hops + 1] == (mad_modifier(near) & 0xFF);
}

static bool lose_second_reading(struct bed *b, struct vendor_mad *mad)
{
	struct iba_port_info info;
	bool lost;

	if (b->held && mad_answers(mad, IBA_ATTR_SWITCH_INFO) && is_behind(mad, b->held))
		bed_release(b); /* by now the port leads to a switch that is being read */
	if (!mad_answers(mad, IBA_ATTR_PORT_INFO))
		return true;
	get_port_info(mad, &info);
	info.capability_mask |= IBA_PORT_CAP_EXTENDED_SPEEDS;
	info.link_speed_ext_supported = 0;
	/* Port 2 of the switch of the SM. */
	lost = mad_modifier(mad) == (IBA_PORT_INFO_MOD_EXTENDED_SPEEDS | 2) && mad->data[7] == 1 &&
	       !b->held && b->n < LOST;
	if (lost) {
		info.port_state = IBA_PORT_DOWN;
		b->held = mad;
		b->n++;
	}
	put_port_info(mad, &info);
	return !lost;
}

START_TEST(test_link_lost_while_behind_it_is_read)
{
	bed = bed_new("mesh:4x4:1");
	bed->falsify = lose_second_reading;
	bed_start(bed);
	for (unsigned int i = 0; i < LOST; i++) {
		bed_run_ms(bed, 6000);
		daemon_sweep(bed->daemon, SWEEP_HEAVY);
	}
	ck_assert_uint_ge(bed->n, LOST / 2); /* not in each sweep: one may still be held */
	bed_run_ms(bed, 6000);
	ck_assert(is_up());
}
END_TEST

/* ---- a cable plugged in before its switch began to report changes ---- */

static bool refuses;

/* Hides the port's state: no answer, or a status that says there is nothing in it. */
static bool spoil(struct vendor_mad *mad)
{
	struct iba_port_info info;

	get_port_info(mad, &info);
	info.port_state = IBA_PORT_DOWN;
	put_port_info(mad, &info);
	mad->data[5] = IBA_STATUS_INVALID_FIELD;
	return refuses;
}

/* The cable of that host comes after its port was read; that sweep learns no more of it. */
static bool plug_after_reading(struct bed *b, struct vendor_mad *mad)
{
	unsigned int host = (unsigned int)sim_find_name(b->sim, "host-1"), sw, port;
	bool is_near;

	sim_peer(b->sim, host, 1, &sw, &port);
	is_near = mad->data[1] == IBA_CLASS_SUBN_DIRECTED
			  ? mad->data[7] == 1
			  : mad->remote.lid == sim_port_info(b->sim, sw, 0)->lid;
	if (!mad_answers(mad, IBA_ATTR_PORT_INFO) || (mad_modifier(mad) & 0xFF) != port || !is_near)
		return true;
	sim_link_set(b->sim, host, 1, true);
	return b->n++ == 0 || bed_counted(b) || spoil(mad);
}

START_TEST(test_plugged_in_during_bring_up)
{
	unsigned int host;

	refuses = _i;
	bed = bed_new("mesh:2:2");
	host = (unsigned int)sim_find_name(bed->sim, "host-1");
	bed->sm_guid = sim_port_guid(bed->sim, (unsigned int)sim_find_name(bed->sim, "host-0"), 1);
	ck_assert(sim_link_set(bed->sim, host, 1, false));
	bed->falsify = plug_after_reading;
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert_uint_ne(sim_port_info(bed->sim, host, 1)->lid, 0);
	ck_assert_uint_ge(bed->n, 3);
}
END_TEST

/* ---- identities ---- */

/* Host number _i of the mesh claims to be the SM's node, but with more ports. */
static bool steal_identity(struct bed *b, struct vendor_mad *mad)
{
	struct iba_node_info info;

	if (!mad_answers(mad, IBA_ATTR_NODE_INFO) || b->n == 0)
		return true;
	wire_decode(&iba_node_info_type, mad->data + SMP_DATA, &info);
	if (info.node_type != IBA_NODE_CA || info.port_guid == b->sm_guid)
		return true;
	if (b->n == UINT64_MAX)
		b->n = info.node_guid;
	if (info.node_guid != b->n)
		return true;
	info.node_guid = b->sm_guid - 1;
	info.num_ports = 77;
	wire_encode(&iba_node_info_type, &info, mad->data + SMP_DATA);
	return true;
}

START_TEST(test_identity_of_the_sm_is_stolen)
{
	struct subnet *subnet;
	struct sim_node_view view;

	bed = bed_new("mesh:2x2:1");
	bed->sm_guid = sim_port_guid(bed->sim, sim_find_name(bed->sim, "host-0"), 1);
	if (!bed->sm_guid)
		ck_abort_msg("no such host");
	sim_node_view(bed->sim, sim_find_guid(bed->sim, bed->sm_guid), &view);
	ck_assert_uint_eq(view.node_guid, bed->sm_guid - 1);
	bed->falsify = steal_identity;
	bed->n = UINT64_MAX;
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert(bed_logged(bed, "two nodes have this GUID"));
	ck_assert(bed_logged(bed, "ERRORS DURING INITIALIZATION"));
	subnet = bed_subnet(bed);
	ck_assert_ptr_nonnull(subnet); /* the others are served */
	ck_assert_uint_eq(subnet->fabric->n_nodes, 7);
	ck_assert_uint_eq(subnet->sm_guid, bed->sm_guid);
	subnet_unref(subnet);
	bed->n = 0;
	bed_run_ms(bed, 30000);
	ck_assert(is_up());
}
END_TEST

/* One field of a single NodeInfo is nonsense. */
static bool talk_nonsense(struct bed *b, struct vendor_mad *mad)
{
	struct iba_node_info info;

	if (b->n == UINT64_MAX || !mad_answers(mad, IBA_ATTR_NODE_INFO))
		return true;
	wire_decode(&iba_node_info_type, mad->data + SMP_DATA, &info);
	if (info.port_guid == b->sm_guid || info.node_type != IBA_NODE_CA)
		return true;
	switch (b->n) {
	case 0:
		info.node_guid = 0;
		break;
	case 1:
		info.port_guid = 0;
		break;
	case 2:
		info.num_ports = 0;
		break;
	case 3:
		info.num_ports = 255;
		break;
	case 4:
		info.local_port_num = 0;
		break;
	case 5:
		info.local_port_num = 200;
		break;
	case 6:
		info.node_type = 0;
		break;
	case 7:
		info.node_type = 9;
		break;
	case 8:
		info.partition_cap = 65535;
		break;
	}
	wire_encode(&iba_node_info_type, &info, mad->data + SMP_DATA);
	return true;
}

START_TEST(test_node_info_is_nonsense)
{
	bed = bed_new("mesh:2x2:1");
	bed->sm_guid = sim_port_guid(bed->sim, sim_find_name(bed->sim, "host-0"), 1);
	bed->falsify = talk_nonsense;
	bed->n = _i;
	bed_start(bed);
	bed_run_ms(bed, 20000);
	ck_assert(bed_logged(bed, "ERRORS DURING INITIALIZATION"));
	bed->n = UINT64_MAX;
	bed_run_ms(bed, 30000);
	ck_assert(is_up());
}
END_TEST

/* ---- an undefined PortState ---- */

/* An uplink of the SM's switch, or the host next to the SM's at that switch. */
#define UPLINK 3
#define NEIGHBOUR 2

static const struct nonsense {
	uint8_t state;
	bool of_host;
	uint8_t instead_of; /* the state it replaces; 0: any */
} nonsense[] = {
	{0, false, 0}, {5, false, 0}, {7, false, 0},
	{0, true, 0},  {6, true, 0},  {5, false, IBA_PORT_ARMED},
};

/*
 * By directed route from the SM's port: path is what follows the SM's switch; else by LID as far as
 * that switch, or all the way.
 */
static bool came_from(struct bed *b, const struct vendor_mad *mad, const char *name, uint8_t port)
{
	int node = sim_find_name(b->sim, name), leaf = sim_find_name(b->sim, "leaf-0-0");
	bool directed = mad->data[1] == IBA_CLASS_SUBN_DIRECTED;
	bool from_here = mad->data[32] == 0xFF && mad->data[33] == 0xFF;
	const uint8_t *path = mad->data + 128 + from_here;
	uint8_t hops = mad->data[7] - from_here;

	if (!directed)
		return mad->remote.lid == sim_port_info(b->sim, node, node == leaf ? 0 : 1)->lid;
	if (!from_here && mad->remote.lid != sim_port_info(b->sim, leaf, 0)->lid)
		return false;
	return node == leaf ? hops == 0 : hops == 1 && path[1] == port;
}

static bool has_no_state(struct bed *b, struct vendor_mad *mad)
{
	const struct nonsense *how = &nonsense[b->n % 100];
	struct iba_port_info info;

	if (b->n >= 100 || !mad_answers(mad, IBA_ATTR_PORT_INFO) ||
	    !came_from(b, mad, how->of_host ? "host-1" : "leaf-0-0", NEIGHBOUR) ||
	    (!how->of_host && (mad_modifier(mad) & 0xFF) != UPLINK))
		return true;
	get_port_info(mad, &info);
	if (how->instead_of && info.port_state != how->instead_of)
		return true;
	info.port_state = how->state;
	put_port_info(mad, &info);
	return true;
}

/* It is logged, and the port is used once its state makes sense. */
START_TEST(test_port_state_is_nonsense)
{
	const struct nonsense *how = &nonsense[_i];
	uint8_t port = how->of_host ? NEIGHBOUR : UPLINK;
	unsigned int far, far_port;
	struct subnet *subnet;
	uint64_t before;
	int leaf;

	bed = bed_new("fattree:4");
	leaf = sim_find_name(bed->sim, "leaf-0-0");
	bed->falsify = has_no_state;
	bed->n = _i;
	bed_start(bed);
	bed_run_ms(bed, 20000);
	ck_assert(!is_up());
	ck_assert(bed_logged(bed, how->of_host ? "PortInfo of port 1 is invalid"
					       : "PortInfo of port 3 is invalid"));
	before = bed_counted(bed);
	bed_run_ms(bed, 60000);
	ck_assert_uint_le(bed_counted(bed) - before, 7);
	subnet = bed_subnet(bed);
	ck_assert_uint_eq(subnet->fabric->n_nodes, sim_nodes(bed->sim));
	subnet_unref(subnet);
	bed->n = 100;
	bed_run_ms(bed, 11000);
	ck_assert(is_up());
	ck_assert_uint_eq(sim_port_info(bed->sim, leaf, port)->port_state, IBA_PORT_ACTIVE);
	ck_assert(sim_peer(bed->sim, leaf, port, &far, &far_port));
	ck_assert_uint_eq(sim_port_info(bed->sim, far, far_port)->port_state, IBA_PORT_ACTIVE);
}
END_TEST

/* ---- the published subnet ---- */

/* While ports are being armed one to a switch goes down: in the answer and in the next reading. */
static bool lose_while_arming(struct bed *b, struct vendor_mad *mad)
{
	struct iba_port_info info;

	if (!mad_answers(mad, IBA_ATTR_PORT_INFO))
		return true;
	get_port_info(mad, &info);
	if (info.port_state != IBA_PORT_ARMED || b->n++ != 6)
		return true;
	info.port_state = IBA_PORT_DOWN;
	put_port_info(mad, &info);
	return true;
}

static void check_shape(const struct subnet *subnet)
{
	ck_assert_uint_eq(subnet->fabric->n_switches, subnet->routing->n_switches);
	ck_assert_uint_eq(subnet->fabric->n_ports, subnet->partitions->n_ports);
}

static void check_rows(const struct subnet *subnet)
{
	const struct fabric *fabric = subnet->fabric;

	check_shape(subnet);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint16_t lid = fabric->ports[fabric_switch_port(fabric, sw, 0)].lid;

		/* a silent one is kept as it was; one that refuses the block is believed */
		if (!fabric->nodes[fabric->switches[sw].node].silent &&
		    fabric_holds(fabric, sw, lid))
			ck_assert_uint_eq(routing_port(subnet->routing, sw, lid), 0);
	}
}

START_TEST(test_picture_and_routes_agree)
{
	struct subnet *subnet;

	bed = bed_new("mesh:4x1:1");
	bed->falsify = lose_while_arming;
	bed_start(bed);
	for (int i = 0; i < 3000; i++) {
		bed_run_ms(bed, 1);
		subnet = bed_subnet(bed);
		if (subnet)
			check_rows(subnet);
		subnet_unref(subnet);
	}
	ck_assert_uint_gt(bed->n, 6);
	ck_assert(is_up());
}
END_TEST

/* ---- traps ---- */

static void flap(int node, unsigned int port)
{
	sim_link_set(bed->sim, node, port, false);
	bed_run_ms(bed, 1);
	sim_link_set(bed->sim, node, port, true);
	bed_run_ms(bed, 4);
}

static bool answers_nothing(struct bed *b, struct vendor_mad *mad)
{
	if (b->n && mad->status == VENDOR_RECEIVED && mad->data[3] == IBA_METHOD_GET_RESP &&
	    mad_attribute(mad) == IBA_ATTR_NODE_DESCRIPTION)
		mad->data[5] = 0x1C; /* a status: an error in every sweep */
	return true;
}

START_TEST(test_flapping_makes_few_sweeps)
{
	int sw;
	uint64_t before;

	bed = bed_new("mesh:3x3:1");
	bed->falsify = answers_nothing;
	bed->n = _i;
	bed_start(bed);
	bed_run_ms(bed, 20000);
	ck_assert(is_up() == !_i);
	sw = sim_find_name(bed->sim, "switch-1-1");
	ck_assert_int_ge(sw, 0);
	before = bed_counted(bed);
	for (int i = 0; i < 2000; i++)
		flap(sw, 1);
	ck_assert_uint_le(bed_counted(bed) - before, 2 * 10 + 4 + 8);
	bed->n = 0;
	bed_run_ms(bed, 40000);
	ck_assert(is_up());
}
END_TEST

/* A flap at any moment of the sweep that an earlier flap caused: the link is always back. */
START_TEST(test_flap_inside_a_sweep)
{
	unsigned int peer, peer_port;
	int sw;

	bed = bed_new("mesh:3x3:1");
	bed_start(bed);
	bed_run_ms(bed, 5000);
	sw = sim_find_name(bed->sim, "switch-1-1");
	for (unsigned int i = 0; i < 60; i++) {
		uint64_t at = 9 * NS_PER_MS + i * 100 * NS_PER_US;

		sim_link_set(bed->sim, sw, 1, false);
		runtime_run(bed->rt, NULL, NULL, runtime_now(bed->rt) + NS_PER_MS);
		sim_link_set(bed->sim, sw, 1, true);
		runtime_run(bed->rt, NULL, NULL, runtime_now(bed->rt) + at);
		sim_link_set(bed->sim, sw, 1, false);
		runtime_run(bed->rt, NULL, NULL, runtime_now(bed->rt) + 50 * NS_PER_US);
		sim_link_set(bed->sim, sw, 1, true);
		bed_run_ms(bed, 3000);
		ck_assert(is_up());
		ck_assert(sim_peer(bed->sim, sw, 1, &peer, &peer_port));
		ck_assert_msg(sim_port_info(bed->sim, sw, 1)->port_state == IBA_PORT_ACTIVE &&
				      sim_port_info(bed->sim, peer, peer_port)->port_state ==
					      IBA_PORT_ACTIVE,
			      "not ACTIVE after a flap %" G_GUINT64_FORMAT " ns after the first",
			      at);
	}
}
END_TEST

/* ---- the SM's own port ---- */

START_TEST(test_own_port_down_at_start)
{
	size_t said;
	int host;

	bed = bed_new("mesh:2x2:1");
	host = sim_find_name(bed->sim, "host-0");
	bed->sm_guid = sim_port_guid(bed->sim, host, 1);
	bed->options->sweep_interval = _i ? 10 : 0;
	sim_link_set(bed->sim, host, 1, false);
	bed_start(bed);
	bed_run_ms(bed, 60000);
	ck_assert(bed_logged(bed, "SM port is down"));
	ck_assert(!is_up());
	said = bed->text->len;
	bed_run_ms(bed, 60000);
	ck_assert_str_eq(bed->text->str + said, ""); /* it was logged */
	sim_link_set(bed->sim, host, 1, true);
	bed_run_ms(bed, 15000);
	ck_assert(is_up());
	ck_assert(bed_logged(bed, "SM port is up again"));
}
END_TEST

START_TEST(test_own_port_lost_and_back)
{
	int host;

	bed = bed_new("mesh:2x2:1");
	host = sim_find_name(bed->sim, "host-0");
	bed->sm_guid = sim_port_guid(bed->sim, host, 1);
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert(is_up());
	sim_link_set(bed->sim, host, 1, false);
	bed_run_ms(bed, 60000);
	ck_assert(!is_up());
	sim_link_set(bed->sim, host, 1, true);
	bed_run_ms(bed, 15000);
	ck_assert(is_up());
}
END_TEST

START_TEST(test_sm_on_a_switch)
{
	struct subnet *subnet;

	bed = bed_new("mesh:3x3:1");
	bed->sm_guid = sim_port_guid(bed->sim, sim_find_name(bed->sim, "switch-1-1"), 0);
	ck_assert(bed->sm_guid != 0);
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert(is_up());
	subnet = bed_subnet(bed);
	ck_assert_uint_eq(subnet->fabric->n_nodes, 18);
	check_rows(subnet);
	subnet_unref(subnet);
}
END_TEST

/* ---- a switch whose tables are too small ---- */

static bool small_tables(struct bed *b, struct vendor_mad *mad)
{
	struct iba_switch_info info;

	if (b->n == UINT64_MAX || !mad_answers(mad, IBA_ATTR_SWITCH_INFO))
		return true;
	wire_decode(&iba_switch_info_type, mad->data + SMP_DATA, &info);
	info.linear_fdb_cap = b->n;
	wire_encode(&iba_switch_info_type, &info, mad->data + SMP_DATA);
	return true;
}

START_TEST(test_linear_fdb_cap)
{
	bed = bed_new("mesh:2x2:1");
	bed->falsify = small_tables;
	bed->n = _i;
	bed_start(bed);
	bed_run_ms(bed, 20000);
	if (_i >= 1 && _i <= 8)
		ck_assert(bed_logged(bed, "no free LID") || bed_logged(bed, "LinearFDBCap 1:") ||
			  bed_logged(bed, "ERRORS DURING INITIALIZATION"));
	bed->n = UINT64_MAX;
	bed_run_ms(bed, 30000);
	ck_assert(is_up());
}
END_TEST

static uint16_t first_cap(struct bed *b)
{
	struct subnet *subnet = bed_subnet(b);
	uint16_t cap = subnet->fabric->switches[0].info.linear_fdb_cap;

	subnet_unref(subnet);
	return cap;
}

/* Light sweeps see it grow, and shrink. */
START_TEST(test_linear_fdb_cap_changes)
{
	bed = bed_new("mesh:2x2:1");
	bed->falsify = small_tables;
	bed->n = 1000;
	bed_start(bed);
	bed_run_ms(bed, 5000);
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert(is_up());
		ck_assert_uint_eq(first_cap(bed), bed->n);
		bed->n = i ? 900 : 2000;
		bed_run_ms(bed, 11000);
	}
	bed->n = 4;
	bed_run_ms(bed, 11000);
	ck_assert(!is_up());
	bed->n = 1000;
	bed_run_ms(bed, 11000);
	ck_assert(is_up());
}
END_TEST

/* IBA 14.2.5.4: only switches that say so have the field MulticastFDBTop. */
static bool without_mft_top(struct bed *b, struct vendor_mad *mad)
{
	struct iba_port_info info;

	(void)b;
	if (!mad_answers(mad, IBA_ATTR_PORT_INFO))
		return true;
	get_port_info(mad, &info);
	info.capability_mask &= ~IBA_PORT_CAP_MULTICAST_FDB_TOP;
	put_port_info(mad, &info);
	return true;
}

START_TEST(test_no_multicast_fdb_top)
{
	struct sim_node_view view;
	bool any = false;

	bed = bed_new("mesh:2x2:1");
	bed->falsify = _i ? without_mft_top : NULL;
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert(is_up());
	for (unsigned int i = 0; i < sim_nodes(bed->sim); i++) {
		sim_node_view(bed->sim, i, &view);
		any |= view.type == IBA_NODE_SWITCH && view.switch_info->multicast_fdb_top;
	}
	ck_assert(any == !_i);
}
END_TEST

/* ---- answers with random octets ---- */

static uint32_t chance(struct bed *b, uint32_t n)
{
	b->n = b->n * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (b->n >> 33) % n;
}

static bool garble(struct bed *b, struct vendor_mad *mad)
{
	if (!b->n || mad->status != VENDOR_RECEIVED || mad->length != 256 || chance(b, 50))
		return true;
	for (uint32_t i = 0; i <= chance(b, 4); i++) {
		uint32_t at = SMP_DATA + chance(b, 64);

		mad->data[at] = chance(b, 256);
	}
	return true;
}

/* One answer of fifty is garbage for a while; then the fabric comes up without any trace of it. */
START_TEST(test_garbled_answers)
{
	struct subnet *subnet;

	bed = bed_new(_i % 2 ? "mesh:3x3:1" : "fattree:4");
	bed->falsify = garble;
	bed->n = 1000 + _i;
	bed_start(bed);
	for (int i = 0; i < 30; i++) {
		bed_run_ms(bed, 1000);
		daemon_sweep(bed->daemon, i % 3 ? SWEEP_HEAVY : SWEEP_LIGHT);
		subnet = bed_subnet(bed);
		if (subnet)
			check_shape(subnet);
		subnet_unref(subnet);
	}
	bed->n = 0;
	bed_run_ms(bed, 60000);
	daemon_sweep(bed->daemon, SWEEP_HEAVY);
	bed_run_ms(bed, 20000);
	ck_assert_msg(is_up(), "%s", bed->text->str + MAX((gssize)bed->text->len - 3000, 0));
	subnet = bed_subnet(bed);
	check_rows(subnet);
	ck_assert_uint_eq(subnet->fabric->n_nodes, sim_nodes(bed->sim));
	subnet_unref(subnet);
}
END_TEST

/* Ports that were armed report another M_Key and LID than they have. */
static bool hide_m_key(struct bed *b, struct vendor_mad *mad)
{
	struct iba_port_info info;

	if (!mad_answers(mad, IBA_ATTR_PORT_INFO))
		return true;
	get_port_info(mad, &info);
	if (info.port_state != IBA_PORT_ARMED)
		return true;
	b->n++;
	info.m_key ^= 0xBAD;
	info.gid_prefix = 0;
	put_port_info(mad, &info);
	return true;
}

START_TEST(test_what_a_port_says_is_not_written_back)
{
	bed = bed_new("mesh:2x2:1");
	bed->falsify = hide_m_key;
	bed->options->m_key = _i ? 0x1234 : 0;
	bed_start(bed);
	bed_run_ms(bed, 10000);
	ck_assert_uint_gt(bed->n, 8);
	for (unsigned int i = 0; i < sim_nodes(bed->sim); i++) {
		const struct iba_port_info *info = sim_port_info(bed->sim, i, 1);
		struct sim_node_view view;

		sim_node_view(bed->sim, i, &view);
		if (view.type == IBA_NODE_SWITCH)
			continue;
		ck_assert_uint_eq(info->port_state, IBA_PORT_ACTIVE);
		ck_assert(info->m_key == bed->options->m_key);
		ck_assert(info->gid_prefix == bed->options->subnet_prefix);
	}
}
END_TEST

/* ---- two channel adapters and a cable ---- */

START_TEST(test_no_switch)
{
	struct subnet *subnet;

	bed = bed_new(TOPOLOGIES "/two_hosts.topo");
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert(is_up());
	subnet = bed_subnet(bed);
	ck_assert_uint_eq(subnet->fabric->n_nodes, 2);
	subnet_unref(subnet);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_uint_eq(sim_port_info(bed->sim, i, 1)->port_state, IBA_PORT_ACTIVE);
	sim_link_set(bed->sim, 0, 1, false);
	bed_run_ms(bed, 30000);
	sim_link_set(bed->sim, 0, 1, true);
	bed_run_ms(bed, 20000);
	ck_assert(is_up());
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_uint_eq(sim_port_info(bed->sim, i, 1)->port_state, IBA_PORT_ACTIVE);
}
END_TEST

/* ---- M_Key ---- */

START_TEST(test_m_key)
{
	bed = bed_new("mesh:2x2:1");
	bed->options->m_key = 0x1234;
	bed->options->m_key_protection_level = 2;
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert(is_up());
	daemon_sweep(bed->daemon, SWEEP_HEAVY);
	bed_run_ms(bed, 5000);
	ck_assert(is_up());
	for (unsigned int i = 0; i < sim_nodes(bed->sim); i++) {
		struct sim_node_view view;

		sim_node_view(bed->sim, i, &view);
		ck_assert(sim_port_info(bed->sim, i, view.type != IBA_NODE_SWITCH)->m_key ==
			  0x1234);
	}
}
END_TEST

/* ---- a return path that no packet took ---- */

/* Sends Get(SMInfo) with a return path that claims it came in at these ports of the switches. */
static void ask_by_path(uint8_t hops, uint8_t last, uint8_t before)
{
	struct vendor_mad *mad = vendor_mad_new(NULL, NULL, IBA_MAD_BYTES);
	struct iba_dr_smp smp = {
		.mgmt_class = IBA_CLASS_SUBN_DIRECTED,
		.base_version = IBA_BASE_VERSION,
		.class_version = 1,
		.method = IBA_METHOD_GET,
		.attribute_id = IBA_ATTR_SM_INFO,
		.hop_count = hops,
		.dr_slid = IBA_LID_PERMISSIVE,
		.dr_dlid = IBA_LID_PERMISSIVE,
	};

	for (uint8_t hop = 1; hop < MIN(hops, sizeof(smp.return_path)); hop++)
		smp.return_path[hop] = hop + 1 == hops ? last : before;
	wire_encode(&iba_dr_smp_type, &smp, mad->data);
	mad->remote.lid = IBA_LID_PERMISSIVE;
	bed_inject(bed, mad);
	bed_run_ms(bed, 200);
}

/* Whatever the path, one answer each, and no read beyond the ports of a switch. */
START_TEST(test_path_back_is_nonsense)
{
	static const uint8_t ports[] = {0, 1, 2, 3, 4, 5, 64, 127, 128, 254, 255};
	const struct counters *counters;
	uint64_t asked = 0;

	bed = bed_new("fattree:4");
	bed->options->sm_key = 0x77;
	bed_start(bed);
	bed_run_ms(bed, 5000);
	ck_assert(is_up());
	counters = &daemon_context(bed->daemon)->counters;
	for (unsigned int i = 0; i < G_N_ELEMENTS(ports); i++)
		for (unsigned int k = 0; k < G_N_ELEMENTS(ports); k++) {
			ask_by_path(3, ports[i], ports[k]);
			asked++;
			ck_assert_uint_eq(counter_get(counters, sm_infos_answered), asked);
		}
	for (unsigned int hops = 0; hops < 256; hops += 51) {
		ask_by_path((uint8_t)hops, 1, 1);
		asked++;
		ck_assert_uint_eq(counter_get(counters, sm_infos_answered), asked);
	}
}
END_TEST

/* ---- requests that are not for the SM ---- */

static void hear_refusal(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
			 const uint8_t *data, size_t length)
{
	struct iba_smp *answer = arg;

	(void)now_ns;
	(void)from;
	if (length == IBA_MAD_BYTES && to->lid == 2 && data[3] == IBA_METHOD_GET_RESP)
		wire_decode(&iba_smp_type, data, answer);
}

/* A device delivers requests that it does not answer itself: they are refused, not left waiting. */
START_TEST(test_request_is_refused)
{
	struct vendor_mad *mad = vendor_mad_new(NULL, NULL, IBA_MAD_BYTES);
	struct iba_smp answer = {0}, request = {
		.header.base_version = IBA_BASE_VERSION,
		.header.mgmt_class = IBA_CLASS_SUBN_LID,
		.header.class_version = 1,
		.header.method = _i ? IBA_METHOD_SET : IBA_METHOD_GET,
		.header.attribute_id = IBA_ATTR_PORT_INFO,
		.header.transaction_id = 77,
	};

	bed = bed_new("mesh:2");
	bed_start(bed);
	bed_run_ms(bed, 2000);
	wire_encode(&iba_smp_type, &request, mad->data);
	mad->remote.lid = 2;
	sim_set_trace(bed->sim, hear_refusal, &answer);
	bed_inject(bed, mad);
	bed_run_ms(bed, 10);
	ck_assert_uint_eq(answer.header.transaction_id, 77);
	ck_assert_uint_eq(answer.header.status, IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile");
	TCase *tcase = tcase_create("hostile");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, test_link_lost_while_behind_it_is_read);
	tcase_add_loop_test(tcase, test_plugged_in_during_bring_up, 0, 2);
	tcase_add_test(tcase, test_identity_of_the_sm_is_stolen);
	tcase_add_loop_test(tcase, test_node_info_is_nonsense, 0, 8);
	tcase_add_loop_test(tcase, test_port_state_is_nonsense, 0, G_N_ELEMENTS(nonsense));
	tcase_add_test(tcase, test_picture_and_routes_agree);
	tcase_add_loop_test(tcase, test_flapping_makes_few_sweeps, 0, 2);
	tcase_add_test(tcase, test_flap_inside_a_sweep);
	tcase_add_loop_test(tcase, test_own_port_down_at_start, 0, 2);
	tcase_add_test(tcase, test_own_port_lost_and_back);
	tcase_add_test(tcase, test_sm_on_a_switch);
	tcase_add_loop_test(tcase, test_linear_fdb_cap, 0, 10);
	tcase_add_test(tcase, test_linear_fdb_cap_changes);
	tcase_add_loop_test(tcase, test_no_multicast_fdb_top, 0, 2);
	tcase_add_loop_test(tcase, test_garbled_answers, 0, 20);
	tcase_add_loop_test(tcase, test_what_a_port_says_is_not_written_back, 0, 2);
	tcase_add_test(tcase, test_no_switch);
	tcase_add_test(tcase, test_m_key);
	tcase_add_test(tcase, test_path_back_is_nonsense);
	tcase_add_loop_test(tcase, test_request_is_refused, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
