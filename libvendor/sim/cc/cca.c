// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The congestion control agent of every node (IBA annex A10): it stores what a manager sets and
 * reports it again. A port gets its state with the first MAD of the class, and loses it at power
 * off.
 */
#include <string.h>

#include "libvendor/sim/cc/cc.h"

#define SWITCH_INFO 1 /* CongestionInfo: credit starvation */

/* ---- agents and ports ---- */

static void silence_over(struct timer *timer)
{
	(void)timer; /* it only has to stop */
}

struct sim_cca *cc_agent(struct sim *sim, struct sim_node *node)
{
	if (!node->cca) {
		node->cca = g_new0(struct sim_cca, 1);
		timer_init(&node->cca->silence, sim->actor, silence_over);
		node->cca->kinds = SIM_CC_DEFAULT;
	}
	return node->cca;
}

bool cc_is(const struct sim_node *node, enum sim_cc_kind kind)
{
	return (node->cca ? node->cca->kinds : SIM_CC_DEFAULT) & kind;
}

/* Only CAs have the old form. */
bool cc_is_old(const struct sim_node *node)
{
	return !node->sw && cc_is(node, SIM_CC_OLD_FORM);
}

static bool has_ca(const struct sim_node *node)
{
	return !node->sw || cc_is(node, SIM_CC_PORT0);
}

unsigned int cc_cap(const struct sim_node *node)
{
	if (node->cca && node->cca->has_info)
		return node->cca->cap;
	return has_ca(node) ? SIM_CC_BLOCKS : 0;
}

uint16_t cc_info_bits(const struct sim_node *node)
{
	if (node->cca && node->cca->has_info)
		return node->cca->congestion_info;
	return node->sw ? SWITCH_INFO : 0;
}

struct sim_cc *cc_of(struct sim *sim, struct sim_port *port)
{
	struct sim_cc *cc = port->cc;

	if (cc)
		return cc;
	cc = port->cc = g_new0(struct sim_cc, 1);
	timer_init(&cc->lease, sim->actor, cc_key_lease_expired);
	if (port->node->sw)
		cc->ports = g_new0(struct iba_switch_port_congestion_element,
				   cc_port_blocks(port->node) * SIM_CC_PORTS_A_BLOCK);
	return cc;
}

void cc_clear_port(struct sim_port *port)
{
	if (!port->cc)
		return;
	timer_stop(&port->cc->lease);
	g_free(port->cc->ports);
	g_free(port->cc->table);
	g_clear_pointer(&port->cc, g_free);
}

void sim_cc_clear(struct sim_node *node)
{
	for (unsigned int i = 0; i <= node->num_ports; i++)
		cc_clear_port(&node->ports[i]);
}

void sim_cc_free(struct sim_node *node)
{
	sim_cc_clear(node);
	if (node->cca)
		timer_stop(&node->cca->silence);
	g_clear_pointer(&node->cca, g_free);
}

unsigned int cc_attribute_index(uint16_t attribute)
{
	if (attribute >= IBA_ATTR_CONGESTION_INFO && attribute <= IBA_ATTR_TIME_STAMP)
		return attribute - IBA_ATTR_CONGESTION_INFO + 3;
	return attribute == IBA_ATTR_CLASS_PORT_INFO || attribute == IBA_ATTR_NOTICE ? attribute
										     : 0;
}

/* ---- answers ---- */

/* Bits that no field has, from the rows of the type: what was read from ones is written as ones. */
static void set_reserved_bits(const struct wire_type *type, uint8_t *data)
{
	uint8_t wire[IBA_MAD_BYTES];
	g_autofree uint8_t *host = g_malloc0(type->size);

	memset(wire, 0xFF, sizeof(wire));
	wire_decode(type, wire, host);
	wire_encode(type, host, wire);
	for (size_t i = 0; i < wire_bytes(type); i++)
		data[i] |= (uint8_t)~wire[i];
}

uint16_t cc_answer(const struct cc_request *request, const struct wire_type *type, const void *host)
{
	uint8_t *data =
		request->mad + (request->id == IBA_ATTR_CONGESTION_LOG ? IBA_CC_LOG_DATA_OFFSET
								       : IBA_CC_DATA_OFFSET);

	memset(data, 0, request->mad + IBA_MAD_BYTES - data);
	wire_encode(type, host, data);
	if (request->cca->kinds & SIM_CC_OTHER_BITS)
		set_reserved_bits(type, data);
	return IBA_STATUS_OK;
}

static uint16_t congestion_info(struct cc_request *request)
{
	const struct iba_congestion_info info = {
		.congestion_info = cc_info_bits(request->node),
		.control_table_cap = cc_cap(request->node),
	};

	return cc_answer(request, &iba_congestion_info_type, &info);
}

/* ---- dispatch ---- */

enum kind {
	SWITCHES = 1,
	CAS = 2,
	ALL = SWITCHES | CAS,
};

struct attribute {
	uint16_t id;
	uint16_t (*serve)(struct cc_request *request);
	bool settable;
	enum kind kinds;
};

static const struct attribute attributes[] = {
	{IBA_ATTR_CLASS_PORT_INFO, cc_class_port_info, true, ALL},
	{IBA_ATTR_CONGESTION_INFO, congestion_info, false, ALL},
	{IBA_ATTR_CONGESTION_KEY_INFO, cc_key_info, true, ALL},
	{IBA_ATTR_CONGESTION_LOG, cc_congestion_log, false, ALL},
	{IBA_ATTR_SWITCH_CONGESTION_SETTING, cc_switch_setting, true, SWITCHES},
	{IBA_ATTR_SWITCH_PORT_CONGESTION_SETTING, cc_switch_port_setting, true, SWITCHES},
	{IBA_ATTR_CA_CONGESTION_SETTING, cc_ca_setting, true, CAS},
	{IBA_ATTR_CONGESTION_CONTROL_TABLE, cc_control_table, true, CAS},
	{IBA_ATTR_TIME_STAMP, cc_time_stamp, false, ALL},
};

static const struct attribute old_attributes[] = {
	{IBA_ATTR_CLASS_PORT_INFO, cc_class_port_info, false, CAS},
	{IBA_ATTR_CONGESTION_INFO, congestion_info, false, CAS},
	{IBA_ATTR_CA_CONGESTION_SETTING, cc_old_setting, true, CAS},
	{IBA_ATTR_CONGESTION_CONTROL_TABLE, cc_old_table, true, CAS},
};

static const struct attribute *find(const struct cc_request *request)
{
	bool old = cc_is_old(request->node);
	const struct attribute *all = old ? old_attributes : attributes;
	size_t n = old ? G_N_ELEMENTS(old_attributes) : G_N_ELEMENTS(attributes);
	unsigned int kinds = (request->node->sw ? SWITCHES : 0) | (has_ca(request->node) ? CAS : 0);

	if (request->id == IBA_ATTR_CONGESTION_KEY_INFO && request->cca->kinds & SIM_CC_KEYLESS)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (all[i].id == request->id && all[i].kinds & kinds &&
		    (all[i].settable || !request->set))
			return &all[i];
	return NULL;
}

static bool would_change(const struct cc_request *request, const struct attribute *attribute)
{
	struct cc_request get = *request;
	uint8_t mad[IBA_MAD_BYTES];

	memcpy(mad, request->mad, sizeof(mad));
	get.mad = mad;
	get.set = false;
	return attribute->serve(&get) != IBA_STATUS_OK ||
	       memcmp(mad + IBA_CC_DATA_OFFSET, cc_data(request), IBA_CC_DATA_BYTES) != 0;
}

static uint16_t serve(struct cc_request *request, enum sim_cc_answer answer)
{
	const struct attribute *attribute = find(request);

	if (!attribute)
		return IBA_STATUS_UNSUP_METHOD_ATTR;
	if (request->set && answer == SIM_CC_FORGET)
		return IBA_STATUS_OK;
	if (request->set && answer == SIM_CC_IGNORE)
		request->set = false;
	if (request->set && request->cca->kinds & SIM_CC_REFUSES_SAME &&
	    !would_change(request, attribute))
		return IBA_STATUS_INVALID_FIELD;
	return attribute->serve(request);
}

static const struct sim_cc_rule *find_rule(const struct cc_request *request)
{
	static const struct sim_cc_rule none = {.answer = SIM_CC_SERVE};
	uint8_t method = request->set ? IBA_METHOD_SET : IBA_METHOD_GET;

	for (unsigned int i = request->cca->n_rules; i-- > 0;) {
		const struct sim_cc_rule *rule = &request->cca->rules[i];

		if ((!rule->attribute || rule->attribute == request->id) &&
		    (!rule->method || rule->method == method))
			return rule;
	}
	return &none;
}

struct cc_request cc_read_request(struct sim_packet *packet)
{
	struct sim_port *port = sim_end_port(packet->node, packet->port);

	return (struct cc_request){
		.packet = packet,
		.sim = packet->sim,
		.node = packet->node,
		.port = port,
		.cca = cc_agent(packet->sim, packet->node),
		.cc = cc_of(packet->sim, port),
		.set = packet->data[SIM_MAD_METHOD] == IBA_METHOD_SET,
		.id = sim_read16(packet->data + SIM_MAD_ATTRIBUTE),
		.modifier = sim_read32(packet->data + SIM_MAD_MODIFIER),
		.cc_key = sim_read64(packet->data + SIM_MAD_CC_KEY),
		.mad = packet->data,
	};
}

uint16_t sim_cca(struct sim_packet *packet)
{
	struct cc_request request = cc_read_request(packet);
	struct sim_cca *cca = request.cca;
	const struct sim_cc_rule *rule = find_rule(&request);
	uint16_t status;

	(request.set ? cca->sets : cca->gets)[cc_attribute_index(request.id)]++;
	if (timer_running(&cca->silence) || rule->answer == SIM_CC_SILENCE)
		return SIM_GSA_SILENT;
	if (rule->answer == SIM_CC_STATUS)
		return rule->status;
	if (packet->data[SIM_MAD_CLASS_VERSION] != IBA_CC_CLASS_VERSION)
		return IBA_STATUS_UNSUP_VERSION;
	if (!cc_key_passes(&request))
		return SIM_GSA_SILENT;
	memset(packet->data + SIM_MAD_CC_KEY, 0, 8);
	status = serve(&request, rule->answer);
	if (cca->kinds & SIM_CC_GARBAGE)
		status = sim_draw(packet->sim) >> 50 | 0x4000; /* never 0 */
	return status;
}
