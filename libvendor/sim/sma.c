// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The subnet management agent of every simulated node (IBA 14.2, 14.3).
 *
 * sim_sma() turns a request in place into its response. First comes the M_Key check (14.2.4): a
 * request that fails it gets no answer at all. Then a table gives the handler of the attribute; it
 * validates a Set as a whole before it changes anything, and returns the attribute as it is
 * afterwards.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

/* ---- M_Key ---- */

struct lease {
	struct timer timer;
	struct sim_port *port;
};

static void lease_expired(struct timer *timer)
{
	((struct lease *)timer)->port->info.m_key_protect_bits = 0;
}

static void lease_start(struct sim *sim, struct sim_port *port)
{
	struct lease *lease;

	if (!port->info.m_key_lease_period)
		return;
	if (!port->lease) {
		lease = g_new0(struct lease, 1);
		lease->port = port;
		timer_init(&lease->timer, sim->actor, lease_expired);
		port->lease = &lease->timer;
	}
	if (!timer_running(port->lease))
		timer_start(port->lease, port->info.m_key_lease_period * NS_PER_S);
}

void sim_sma_port_clear(struct sim_port *port)
{
	if (port->lease)
		timer_stop(port->lease);
	g_clear_pointer(&port->lease, g_free);
	g_clear_pointer(&port->p_keys, g_free);
	g_clear_pointer(&port->guids, g_free);
	g_clear_pointer(&port->sl_to_vl, g_free);
	g_clear_pointer(&port->vl_arb, g_free);
	g_clear_pointer(&port->fec, g_free);
	sim_counts_reset(port);
	port->led = false;
}

/* A right key stops the lease period; a wrong one may be sufficient for reading. */
bool sim_m_key_passes(struct sim *sim, struct sim_port *port, uint64_t m_key, uint8_t method)
{
	struct iba_port_info *info = &port->info;

	if (!info->m_key || info->m_key == m_key) {
		if (port->lease)
			timer_stop(port->lease);
		return true;
	}
	if (method == IBA_METHOD_GET && info->m_key_protect_bits < 2)
		return true;
	if (info->m_key_violations < 0xFFFF)
		info->m_key_violations++;
	lease_start(sim, port);
	return false;
}

/* ---- small attributes ---- */

static uint16_t node_description(struct sma_request *request)
{
	size_t length = strlen(request->node->description);

	memset(request->data, 0, IBA_SMP_DATA_BYTES);
	memcpy(request->data, request->node->description, MIN(length, IBA_SMP_DATA_BYTES));
	return IBA_STATUS_OK;
}

static uint16_t node_info(struct sma_request *request)
{
	const struct sim_node *node = request->node;
	const struct iba_node_info info = {
		.base_version = IBA_BASE_VERSION,
		.class_version = IBA_SMP_CLASS_VERSION,
		.node_type = node->type,
		.num_ports = node->num_ports,
		.system_image_guid = node->system_image_guid,
		.node_guid = node->claimed_guid,
		.port_guid = request->end->claimed_guid ? request->end->claimed_guid
							   : request->end->guid,
		.partition_cap = node->partition_cap,
		.device_id = node->device_id,
		.revision = 1,
		.local_port_num = request->in_port,
		.vendor_id = node->vendor_id,
	};

	memset(request->data, 0, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_node_info_type, &info, request->data);
	return IBA_STATUS_OK;
}

static uint16_t switch_info_set(struct iba_switch_info *info, const uint8_t *data)
{
	struct iba_switch_info wanted;

	wire_decode(&iba_switch_info_type, data, &wanted);
	if (wanted.linear_fdb_top >= info->linear_fdb_cap ||
	    (wanted.multicast_fdb_top &&
	     (wanted.multicast_fdb_top < IBA_LID_MCAST_FIRST - 1 ||
	      wanted.multicast_fdb_top >= IBA_LID_MCAST_FIRST + info->multicast_fdb_cap)))
		return IBA_STATUS_INVALID_FIELD;
	info->linear_fdb_top = wanted.linear_fdb_top;
	info->default_port = wanted.default_port;
	info->default_multicast_primary_port = wanted.default_multicast_primary_port;
	info->default_multicast_not_primary_port = wanted.default_multicast_not_primary_port;
	info->life_time_value = wanted.life_time_value;
	info->multicast_fdb_top = wanted.multicast_fdb_top;
	if (wanted.port_state_change)
		info->port_state_change = 0; /* writing 1 clears it */
	return IBA_STATUS_OK;
}

static uint16_t switch_info(struct sma_request *request)
{
	struct iba_switch_info *info = &request->node->sw->info;
	uint16_t status = request->set ? switch_info_set(info, request->data) : IBA_STATUS_OK;

	if (status)
		return status;
	memset(request->data, 0, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_switch_info_type, info, request->data);
	return IBA_STATUS_OK;
}

/* ---- dispatch ---- */

struct attribute {
	uint16_t id;
	uint16_t (*serve)(struct sma_request *request);
	bool settable, of_switches;
};

static const struct attribute attributes[] = {
	{IBA_ATTR_NODE_DESCRIPTION, node_description, false, false},
	{IBA_ATTR_NODE_INFO, node_info, false, false},
	{IBA_ATTR_SWITCH_INFO, switch_info, true, true},
	{IBA_ATTR_GUID_INFO, sma_guid_info, true, false},
	{IBA_ATTR_PORT_INFO, sma_port_info, true, false},
	{IBA_ATTR_P_KEY_TABLE, sma_p_key_table, true, false},
	{IBA_ATTR_SL_TO_VL_TABLE, sma_sl_to_vl_table, true, false},
	{IBA_ATTR_VL_ARBITRATION_TABLE, sma_vl_arbitration_table, true, false},
	{IBA_ATTR_LINEAR_FORWARDING_TABLE, sma_linear_forwarding_table, true, true},
	{IBA_ATTR_MULTICAST_FORWARDING_TABLE, sma_multicast_forwarding_table, true, true},
	{IBA_ATTR_VENDOR_DIAG, sma_vendor_diag, false, false},
	{IBA_ATTR_LED_INFO, sma_led_info, true, false},
	{IBA_ATTR_PORT_INFO_EXTENDED, sma_port_info_extended, true, false},
	{IBA_ATTR_EXT_PORT_INFO, sma_ext_port_info, true, false},
};

static enum sim_refusal_kind refusal_of(const struct sma_request *request, uint16_t id)
{
	if (!request->set)
		return SIM_REFUSE_NOT;
	if (id == request->node->refused)
		return SIM_REFUSE_BY_STATUS;
	for (unsigned int i = 0; i < SIM_REFUSALS_MAX; i++) {
		const struct sim_refusal *refusal = &request->node->refusals[i];

		if (refusal->kind && refusal->attribute == id &&
		    refusal->modifier == request->modifier)
			return refusal->kind;
	}
	return SIM_REFUSE_NOT;
}

static uint16_t serve(struct sma_request *request, uint16_t id)
{
	enum sim_refusal_kind refusal = refusal_of(request, id);

	for (size_t i = 0; i < G_N_ELEMENTS(attributes); i++) {
		const struct attribute *attribute = &attributes[i];

		if (attribute->id != id)
			continue;
		if ((request->set && !attribute->settable) ||
		    (attribute->of_switches && !request->node->sw))
			break;
		if (refusal == SIM_REFUSE_BY_STATUS)
			return IBA_STATUS_INVALID_FIELD;
		if (refusal == SIM_REFUSE_LIE)
			return 0;
		if (request->node->stubborn || refusal == SIM_REFUSE_IGNORE)
			request->set = false; /* answered like a Get */
		if (request->set)
			sim_changes(request->sim);
		return attribute->serve(request);
	}
	return IBA_STATUS_UNSUP_METHOD_ATTR;
}

bool sim_sma(struct sim_packet *packet)
{
	uint8_t *data = packet->data;
	uint8_t method = data[SIM_MAD_METHOD];
	struct sma_request request = {
		.sim = packet->sim,
		.node = packet->node,
		.end = sim_end_port(packet->node, packet->port),
		.in_port = packet->port,
		.set = method == IBA_METHOD_SET,
		.modifier = sim_read32(data + SIM_MAD_MODIFIER),
		.m_key = sim_read64(data + SIM_MAD_M_KEY),
		.data = data + SIM_MAD_SMP_DATA,
	};
	uint16_t status;

	if (!sim_m_key_passes(packet->sim, request.end, request.m_key, method)) {
		sim_trap_m_key(packet, request.end);
		return false;
	}
	if (packet->node->ext_port_info_mute &&
	    sim_read16(data + SIM_MAD_ATTRIBUTE) == IBA_ATTR_EXT_PORT_INFO)
		return false;
	if (data[0] != IBA_BASE_VERSION || data[2] != IBA_SMP_CLASS_VERSION)
		status = IBA_STATUS_UNSUP_VERSION;
	else if (method != IBA_METHOD_GET && method != IBA_METHOD_SET)
		status = IBA_STATUS_UNSUP_METHOD;
	else
		status = serve(&request, sim_read16(data + SIM_MAD_ATTRIBUTE));
	if (data[SIM_MAD_CLASS] == IBA_CLASS_SUBN_DIRECTED)
		status |= 0x8000; /* D: on its way back */
	data[SIM_MAD_METHOD] = IBA_METHOD_GET_RESP;
	sim_write16(data + SIM_MAD_STATUS, status);
	memset(data + SIM_MAD_M_KEY, 0, 8);
	return true;
}
