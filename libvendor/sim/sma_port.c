// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PortInfo (IBA 14.2.5.6): what a Set may change depends on whether the port is an end port (of a
 * CA or router, or port 0 of a switch) or an external port of a switch.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

struct port_set {
	struct sma_request *request;
	struct sim_port *port;
	struct iba_port_info wanted;
	bool end;	 /* an end port */
	bool base_port0; /* without a link */
	bool extended;	 /* the SM knows extended speeds */
};

/* ---- validation ---- */

static bool enabled_is_valid(unsigned int wanted, unsigned int supported, unsigned int all)
{
	return wanted == all || !(wanted & ~supported);
}

/* Zero means no change. */
static bool sets_speeds(const struct port_set *set)
{
	const struct iba_port_info *wanted = &set->wanted;

	return wanted->link_width_enabled || wanted->link_speed_enabled ||
	       (set->extended &&
		(wanted->link_speed_ext_enabled || wanted->link_speed_ext_enabled2));
}

static bool link_is_valid(const struct port_set *set)
{
	const struct iba_port_info *now = &set->port->info, *wanted = &set->wanted;

	return !(set->port->node->fixed_speeds && sets_speeds(set)) &&
	       enabled_is_valid(wanted->link_width_enabled, now->link_width_supported,
				IBA_LINK_WIDTH_ALL_SUPPORTED) &&
	       enabled_is_valid(wanted->link_speed_enabled, now->link_speed_supported,
				IBA_LINK_SPEED_ALL_SUPPORTED) &&
	       (!set->extended ||
		enabled_is_valid(wanted->link_speed_ext_enabled, now->link_speed_ext_supported,
				 IBA_LINK_SPEED_EXT_DISABLED)) &&
	       wanted->neighbor_mtu <= now->mtu_cap && wanted->operational_vls <= now->vl_cap &&
	       wanted->link_down_default_state <= IBA_PHYS_POLLING &&
	       wanted->port_physical_state <= IBA_PHYS_DISABLED;
}

/*
 * Down is always allowed; Armed only from Initialize, Active only from Armed; only the link itself
 * enters Initialize.
 */
static bool state_is_valid(const struct port_set *set)
{
	uint8_t now = set->port->info.port_state;

	switch (set->wanted.port_state) {
	case IBA_PORT_NO_CHANGE:
	case IBA_PORT_DOWN:
		return true;
	case IBA_PORT_ARMED:
		return now == IBA_PORT_INIT;
	case IBA_PORT_ACTIVE:
		return now == IBA_PORT_ARMED;
	default:
		return false;
	}
}

static bool addresses_are_valid(const struct port_set *set)
{
	const struct iba_port_info *wanted = &set->wanted;

	if (!iba_lid_is_unicast(wanted->lid) || wanted->lid & ((1U << wanted->lmc) - 1))
		return false;
	if (set->base_port0 && wanted->lmc)
		return false;
	return wanted->master_sm_lid <= IBA_LID_UCAST_LAST;
}

/* ---- applying ---- */

static void set_if(uint8_t *field, uint8_t wanted, uint8_t nop)
{
	if (wanted != nop)
		*field = wanted;
}

static void apply_enabled(struct iba_port_info *info, const struct iba_port_info *wanted,
			  bool extended)
{
	set_if(&info->link_width_enabled, wanted->link_width_enabled, 0);
	if (info->link_width_enabled == IBA_LINK_WIDTH_ALL_SUPPORTED)
		info->link_width_enabled = info->link_width_supported;
	set_if(&info->link_speed_enabled, wanted->link_speed_enabled, 0);
	if (info->link_speed_enabled == IBA_LINK_SPEED_ALL_SUPPORTED)
		info->link_speed_enabled = info->link_speed_supported;
	if (!extended)
		return;
	set_if(&info->link_speed_ext_enabled, wanted->link_speed_ext_enabled, 0);
	set_if(&info->link_speed_ext_enabled2,
	       wanted->link_speed_ext_enabled2 & info->link_speed_ext_supported2, 0);
}

static void apply_common(struct iba_port_info *info, const struct iba_port_info *wanted)
{
	set_if(&info->link_down_default_state, wanted->link_down_default_state, 0);
	set_if(&info->neighbor_mtu, wanted->neighbor_mtu, 0);
	set_if(&info->operational_vls, wanted->operational_vls, 0);
	info->vl_high_limit = wanted->vl_high_limit;
	info->local_phy_errors = wanted->local_phy_errors;
	info->overrun_errors = wanted->overrun_errors;
	/* Writing 0 clears a counter of violations. */
	if (!wanted->m_key_violations)
		info->m_key_violations = 0;
	if (!wanted->p_key_violations)
		info->p_key_violations = 0;
	if (!wanted->q_key_violations)
		info->q_key_violations = 0;
}

static void apply_switch_port(struct iba_port_info *info, const struct iba_port_info *wanted)
{
	info->vl_stall_count = wanted->vl_stall_count;
	info->hoq_life = wanted->hoq_life;
	info->partition_enforcement_inbound = wanted->partition_enforcement_inbound;
	info->partition_enforcement_outbound = wanted->partition_enforcement_outbound;
	info->filter_raw_inbound = wanted->filter_raw_inbound;
	info->filter_raw_outbound = wanted->filter_raw_outbound;
}

static void apply_end_port(struct iba_port_info *info, const struct iba_port_info *wanted)
{
	info->m_key = wanted->m_key;
	info->gid_prefix = wanted->gid_prefix;
	info->lid = wanted->lid;
	info->lmc = wanted->lmc;
	info->master_sm_lid = wanted->master_sm_lid;
	info->master_sm_sl = wanted->master_sm_sl;
	info->m_key_lease_period = wanted->m_key_lease_period;
	info->m_key_protect_bits = wanted->m_key_protect_bits;
	info->subnet_timeout = wanted->subnet_timeout;
	info->multicast_p_key_trap_suppression_enabled =
		wanted->multicast_p_key_trap_suppression_enabled;
}

/* Down drops the link, which trains again at once unless the port was disabled. */
static void apply_state(const struct port_set *set)
{
	struct sim_port *port = set->port;
	uint8_t physical = set->wanted.port_physical_state;

	if (set->base_port0)
		return;
	if (physical == IBA_PHYS_DISABLED) {
		port->info.port_physical_state = IBA_PHYS_DISABLED;
		sim_link_update(set->request->sim, port);
		port->info.port_state = IBA_PORT_DOWN; /* also without a cable */
	} else if (physical == IBA_PHYS_POLLING || set->wanted.port_state == IBA_PORT_DOWN) {
		if (physical == IBA_PHYS_POLLING)
			port->info.port_physical_state = IBA_PHYS_POLLING;
		sim_link_bounce(set->request->sim, port);
	} else if (set->wanted.port_state) {
		port->info.port_state = set->wanted.port_state;
	}
}

/* Reports the changes that a Set made to an end port, as its driver would. */
static void tell(const struct port_set *set, const struct iba_port_info *before)
{
	const struct iba_port_info *now = &set->port->info;
	unsigned int events = 0;

	if (now->lid != before->lid || now->lmc != before->lmc)
		events |= VENDOR_LID_CHANGED;
	if (now->master_sm_lid != before->master_sm_lid ||
	    now->master_sm_sl != before->master_sm_sl)
		events |= VENDOR_SM_CHANGED;
	if (now->gid_prefix != before->gid_prefix)
		events |= SIM_GID_CHANGED;
	if (set->wanted.client_reregister)
		events |= VENDOR_REREGISTER;
	if (now->port_state == IBA_PORT_ACTIVE && before->port_state != IBA_PORT_ACTIVE)
		events |= VENDOR_PORT_UP;
	if (events)
		sim_vendors_tell(set->request->sim, set->port, events);
}

static uint16_t port_info_set(struct port_set *set)
{
	struct iba_port_info *info = &set->port->info;
	const struct iba_port_info before = *info;

	wire_decode(&iba_port_info_type, set->request->data, &set->wanted);
	if (!link_is_valid(set) || (!set->base_port0 && !state_is_valid(set)) ||
	    (set->end && !addresses_are_valid(set)))
		return IBA_STATUS_INVALID_FIELD;
	apply_enabled(info, &set->wanted, set->extended);
	apply_common(info, &set->wanted);
	if (set->end)
		apply_end_port(info, &set->wanted);
	else
		apply_switch_port(info, &set->wanted);
	apply_state(set);
	if (set->end)
		tell(set, &before);
	return IBA_STATUS_OK;
}

/* ---- the attribute ---- */

static void encode(const struct sma_request *request, const struct sim_port *port, bool extended)
{
	struct iba_port_info info = port->info;

	info.local_port_num = request->in_port;
	/* Level 1 hides the key from requesters that do not know it. */
	if (!request->set && info.m_key != request->m_key && info.m_key_protect_bits == 1)
		info.m_key = 0;
	/*
	 * Such hardware shows its extended speeds only to an SM that sets the modifier bit for
	 * them.
	 */
	if (!extended && port->speed >= TOPOLOGY_NDR) {
		info.link_speed_ext_active = info.link_speed_ext_supported = 0;
		info.link_speed_ext_enabled = 0;
		info.link_speed_ext_active2 = info.link_speed_ext_supported2 = 0;
		info.link_speed_ext_enabled2 = 0;
	}
	memset(request->data, 0, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_port_info_type, &info, request->data);
}

uint16_t sma_port_info(struct sma_request *request)
{
	struct sim_node *node = request->node;
	unsigned int number = request->modifier & ~IBA_PORT_INFO_MOD_EXTENDED_SPEEDS;
	struct port_set set = {
		.request = request,
		.extended = request->modifier & IBA_PORT_INFO_MOD_EXTENDED_SPEEDS,
	};
	uint16_t status;

	if (!node->sw && !number)
		number = request->in_port; /* the port through which the SMP arrived */
	if (number > node->num_ports)
		return IBA_STATUS_INVALID_FIELD;
	set.port = &node->ports[number];
	set.end = !node->sw || !number;
	set.base_port0 = node->sw && !number;
	if (request->set) {
		status = port_info_set(&set);
		if (status)
			return status;
	}
	encode(request, set.port, set.extended);
	return IBA_STATUS_OK;
}
