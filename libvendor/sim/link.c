// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports and links: power on, training, loss of the link (IBA 7.2.7, 14.2.5.6).
 *
 * A link is up if its cable is plugged in, both nodes have power and neither port is disabled.
 * Training takes no time: both ports go to INIT at once. A port of a switch that changes state sets
 * PortStateChange and has its switch send trap 128; changes that an SM asks for do not.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

static const uint8_t plain_speeds[TOPOLOGY_SPEEDS] = {1, 3, 7, 7, 7, 7, 7, 7, 7};
static const uint8_t ext_speeds[TOPOLOGY_SPEEDS] = {0, 0, 0, 0, 1, 3, 7, 15, 15};
static const uint8_t ext2_speeds[TOPOLOGY_SPEEDS] = {[TOPOLOGY_XDR] = 1};

static uint8_t width_bit(unsigned int lanes)
{
	switch (lanes) {
	case 1:
		return IBA_WIDTH_1X;
	case 2:
		return IBA_WIDTH_2X;
	case 8:
		return IBA_WIDTH_8X;
	case 12:
		return IBA_WIDTH_12X;
	default:
		return IBA_WIDTH_4X;
	}
}

static uint8_t widths_up_to(unsigned int lanes)
{
	return IBA_WIDTH_1X | (lanes >= 2 ? IBA_WIDTH_2X : 0) | (lanes >= 4 ? IBA_WIDTH_4X : 0) |
	       (lanes >= 8 ? IBA_WIDTH_8X : 0) | (lanes >= 12 ? IBA_WIDTH_12X : 0);
}

/* The port's fastest speed; for port 0, the fastest of all ports of its switch. */
static unsigned int fastest(const struct sim_port *end)
{
	const struct sim_node *node = end->node;
	unsigned int speed = end->number ? end->speed : 0;

	for (unsigned int i = 1; !end->number && i <= node->num_ports; i++)
		speed = MAX(speed, node->ports[i].speed);
	return speed;
}

static uint32_t capabilities(const struct sim_port *port)
{
	uint32_t common = IBA_PORT_CAP_TRAP | IBA_PORT_CAP_SL_MAPPING | IBA_PORT_CAP_LED_INFO |
			  IBA_PORT_CAP_SYSTEM_IMAGE_GUID | IBA_PORT_CAP_VENDOR_CLASS |
			  IBA_PORT_CAP_CAPABILITY_MASK_NOTICE | IBA_PORT_CAP_DR_NOTICE |
			  IBA_PORT_CAP_CLIENT_REREGISTRATION | IBA_PORT_CAP_CAPABILITY_MASK2 |
			  IBA_PORT_CAP_OTHER_LOCAL_CHANGES;

	if (ext_speeds[fastest(port)])
		common |= IBA_PORT_CAP_EXTENDED_SPEEDS;
	if (port->node->type != IBA_NODE_SWITCH)
		return common | IBA_PORT_CAP_AUTOMATIC_MIGRATION | IBA_PORT_CAP_COM_MGT;
	return port->number
		       ? 0
		       : common | IBA_PORT_CAP_MULTICAST_FDB_TOP | IBA_PORT_CAP_P_KEY_SWITCH_TRAP;
}

static uint16_t capabilities2(const struct sim_port *port)
{
	bool end = port->node->type != IBA_NODE_SWITCH || !port->number;
	uint16_t mask = IBA_PORT_CAP2_PORT_INFO_EXTENDED;
	unsigned int speed;

	if (!end)
		return 0;
	speed = fastest(port);
	if (speed >= TOPOLOGY_HDR)
		mask |= IBA_PORT_CAP2_LINK_SPEED_HDR | IBA_PORT_CAP2_LINK_WIDTH_2X;
	if (speed >= TOPOLOGY_NDR)
		mask |= IBA_PORT_CAP2_LINK_SPEED_NDR;
	if (speed >= TOPOLOGY_XDR)
		mask |= IBA_PORT_CAP2_LINK_SPEED_XDR | IBA_PORT_CAP2_EXTENDED_SPEEDS2;
	return mask;
}

/* Ports wider than two lanes support 2X since HDR. */
static uint8_t widths(const struct sim_port *port)
{
	return IBA_WIDTH_1X | width_bit(port->lanes) |
	       (port->speed >= TOPOLOGY_HDR && port->lanes >= 4 ? IBA_WIDTH_2X : 0);
}

static void port_reset(struct sim_port *port)
{
	struct iba_port_info *info = &port->info;
	bool base_port0 = port->node->type == IBA_NODE_SWITCH && !port->number;

	sim_sma_port_clear(port);
	*info = (struct iba_port_info){
		.gid_prefix = IBA_DEFAULT_GID_PREFIX,
		.capability_mask = capabilities(port),
		.capability_mask2 = capabilities2(port),
		.link_width_supported = widths(port),
		.link_speed_supported = plain_speeds[port->speed],
		.link_speed_ext_supported = ext_speeds[port->speed],
		.link_speed_ext_supported2 = ext2_speeds[port->speed],
		.port_state = base_port0 ? IBA_PORT_ACTIVE : IBA_PORT_DOWN,
		.port_physical_state = base_port0 ? IBA_PHYS_LINK_UP : IBA_PHYS_POLLING,
		.link_down_default_state = IBA_PHYS_POLLING,
		.neighbor_mtu = IBA_MTU_2048,
		.mtu_cap = IBA_MTU_4096,
		.vl_cap = IBA_VLS_VL0_7,
		.operational_vls = IBA_VLS_VL0_7,
		.vl_arbitration_high_cap = 8,
		.vl_arbitration_low_cap = 8,
		.guid_cap = capabilities(port) ? SIM_GUID_CAP : 0,
		.subnet_timeout = 18,
		.resp_time_value = SIM_RESP_TIME_VALUE,
		.local_phy_errors = 8,
		.overrun_errors = 8,
	};
	info->link_width_enabled = info->link_width_supported;
	info->link_speed_enabled = info->link_speed_supported;
	info->link_speed_ext_enabled = info->link_speed_ext_supported;
	info->link_speed_ext_enabled2 = info->link_speed_ext_supported2;
	info->link_width_active = width_bit(port->lanes);
	info->link_speed_active = IBA_SPEED_SDR;
	port->fdr10_enabled = sma_has_fdr10(port);
	port->fdr10_active = false;
}

static void switch_reset(struct sim_node *node)
{
	struct sim_switch *sw = node->sw;

	g_clear_pointer(&sw->lft, g_free);
	g_clear_pointer(&sw->mft, g_free);
	sw->mft_blocks = 0;
	sw->info = (struct iba_switch_info){
		.linear_fdb_cap = SIM_LFT_ENTRIES - 1,
		.multicast_fdb_cap = SIM_MFT_CAP,
		.default_port = IBA_PORT_NONE,
		.default_multicast_primary_port = IBA_PORT_NONE,
		.default_multicast_not_primary_port = IBA_PORT_NONE,
		.life_time_value = 18,
		.port_state_change = 1,
		.optimized_sl_to_vl_mapping_programming = 1,
		.partition_enforcement_cap = SIM_SWITCH_P_KEYS,
		.inbound_enforcement_cap = 1,
		.outbound_enforcement_cap = 1,
		.filter_raw_inbound_cap = 1,
		.filter_raw_outbound_cap = 1,
		.multicast_fdb_top = 0,
		.enhanced_port0 = (node->pma & SIM_PMA_PORT0) != 0,
	};
}

void sim_node_reset(struct sim_node *node)
{
	for (unsigned int i = 0; i <= node->num_ports; i++)
		port_reset(&node->ports[i]);
	if (node->sw)
		switch_reset(node);
	sim_samples_clear(node);
	sim_cc_clear(node);
	node->busy_until = node->serves_until = 0;
}

/* The highest bit enabled at both ends; 0 if there is none. */
static uint8_t best(unsigned int a, unsigned int b)
{
	unsigned int both = a & b;

	return both ? 1U << (31 - __builtin_clz(both)) : 0;
}

/* 2X is wider only than 1X, though its bit is the highest. */
static uint8_t best_width(uint8_t a, uint8_t b)
{
	uint8_t plain = best(a & ~(unsigned int)IBA_WIDTH_2X, b & ~(unsigned int)IBA_WIDTH_2X);

	return plain <= IBA_WIDTH_1X && a & b & IBA_WIDTH_2X ? IBA_WIDTH_2X : plain;
}

static uint8_t enabled_ext(const struct iba_port_info *info)
{
	return info->link_speed_ext_enabled == IBA_LINK_SPEED_EXT_DISABLED
		       ? 0
		       : info->link_speed_ext_enabled;
}

/* False if the two ports and their cable have no width or speed in common. */
static bool train(struct sim_port *port, struct sim_port *peer)
{
	struct iba_port_info *a = &port->info, *b = &peer->info;
	unsigned int cable = port->cable_speed;
	uint8_t width = best_width(a->link_width_enabled & widths_up_to(port->cable_lanes),
				   b->link_width_enabled);
	uint8_t speed = best(a->link_speed_enabled & plain_speeds[cable], b->link_speed_enabled);
	uint8_t ext = best(enabled_ext(a) & ext_speeds[cable], enabled_ext(b));
	uint8_t ext2 =
		best(a->link_speed_ext_enabled2 & ext2_speeds[cable], b->link_speed_ext_enabled2);

	if (!width || !speed)
		return false;
	a->link_width_active = b->link_width_active = width;
	a->link_speed_active = b->link_speed_active = speed;
	a->link_speed_ext_active = b->link_speed_ext_active = ext2 ? 0 : ext;
	a->link_speed_ext_active2 = b->link_speed_ext_active2 = ext2;
	port->fdr10_active = peer->fdr10_active = !ext && !ext2 && speed == IBA_SPEED_QDR &&
						  cable >= TOPOLOGY_FDR10 && port->fdr10_enabled &&
						  peer->fdr10_enabled;
	return true;
}

static void port_changed(struct sim *sim, struct sim_port *port, uint8_t state, uint8_t physical)
{
	port->info.port_physical_state = physical;
	if (port->info.port_state == state)
		return;
	port->info.port_state = state;
	if (state == IBA_PORT_DOWN)
		sim_vendors_tell(sim, port, VENDOR_PORT_DOWN);
	if (!port->node->sw || !port->node->up)
		return;
	port->node->sw->info.port_state_change = 1;
	sim_trap_port_change(sim, port->node);
}

static bool is_disabled(const struct sim_port *port)
{
	return port->info.port_physical_state == IBA_PHYS_DISABLED;
}

static void count_down(struct sim_port *port)
{
	if (port->info.port_physical_state == IBA_PHYS_LINK_UP && port->node->up)
		sim_count(port, SIM_COUNT_LINK_DOWNED, 1);
}

/* The port that an SM has just disabled is not in LinkUp any more, and counts nothing. */
static void link_drop(struct sim *sim, struct sim_port *port, struct sim_port *peer)
{
	count_down(port);
	if (peer != port)
		count_down(peer);
	port_changed(sim, port, IBA_PORT_DOWN,
		     is_disabled(port) ? IBA_PHYS_DISABLED : IBA_PHYS_POLLING);
	port_changed(sim, peer, IBA_PORT_DOWN,
		     is_disabled(peer) ? IBA_PHYS_DISABLED : IBA_PHYS_POLLING);
}

void sim_link_update(struct sim *sim, struct sim_port *port)
{
	struct sim_port *peer = port->peer ? &port->peer->ports[port->peer_number] : NULL;
	bool wanted;

	if (!peer)
		return;
	sim_changes(sim);
	wanted = port->cable && port->node->up && peer->node->up && !is_disabled(port) &&
		 !is_disabled(peer);
	if (!wanted) {
		link_drop(sim, port, peer);
	} else if (port->info.port_physical_state != IBA_PHYS_LINK_UP && train(port, peer)) {
		port_changed(sim, port, IBA_PORT_INIT, IBA_PHYS_LINK_UP);
		port_changed(sim, peer, IBA_PORT_INIT, IBA_PHYS_LINK_UP);
	}
}

void sim_link_bounce(struct sim *sim, struct sim_port *port)
{
	if (!port->peer)
		return;
	sim_changes(sim);
	link_drop(sim, port, &port->peer->ports[port->peer_number]);
	sim_link_update(sim, port);
}
