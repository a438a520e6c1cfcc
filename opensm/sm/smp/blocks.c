// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables that are read and written in blocks: where each is in struct builder_node, the
 * AttributeModifier of a block, and the handling of a block that a node does not accept.
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/health/health.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

uint32_t p_keys_modifier(const struct builder_port *port, uint32_t block)
{
	return builder_is_switch(port->node) ? (uint32_t)port->num << 16 | block : block;
}

uint32_t qos_modifier(const struct builder_port *port, uint16_t attribute, uint32_t block)
{
	bool is_switch = builder_is_switch(port->node);

	if (attribute == IBA_ATTR_VL_ARBITRATION_TABLE)
		return (block + 1) << 16 | (is_switch ? port->num : 0);
	return is_switch ? block << IBA_SL_TO_VL_MOD_INPUT_SHIFT | port->num : 0;
}

const struct wire_type *sm_table_type(uint16_t attribute)
{
	switch (attribute) {
	case IBA_ATTR_LINEAR_FORWARDING_TABLE:
		return &iba_linear_forwarding_table_type;
	case IBA_ATTR_MULTICAST_FORWARDING_TABLE:
		return &iba_multicast_forwarding_table_type;
	case IBA_ATTR_GUID_INFO:
		return &iba_guid_info_type;
	case IBA_ATTR_SL_TO_VL_TABLE:
		return &iba_sl_to_vl_table_type;
	case IBA_ATTR_VL_ARBITRATION_TABLE:
		return &iba_vl_arbitration_table_type;
	default:
		return &iba_p_key_table_type;
	}
}

struct trust_table *sm_table(struct builder_node *node, unsigned int port, uint16_t attribute)
{
	switch (attribute) {
	case IBA_ATTR_LINEAR_FORWARDING_TABLE:
		return &node->lft;
	case IBA_ATTR_MULTICAST_FORWARDING_TABLE:
		return &node->mft;
	case IBA_ATTR_GUID_INFO:
		return &node->ports[port].guids;
	case IBA_ATTR_SL_TO_VL_TABLE:
		return &node->ports[port].sl_to_vl;
	case IBA_ATTR_VL_ARBITRATION_TABLE:
		return &node->ports[port].vl_arb;
	default:
		return &node->ports[port].p_keys;
	}
}

static struct trust_table *table_asked(const struct sm_request *request)
{
	return sm_table(request->node, request->port ? request->port->num : 0,
			request->mad.attribute);
}

bool sm_block_read(struct sm_request *request)
{
	const struct wire_type *type = sm_table_type(request->mad.attribute);
	_Alignas(uint64_t) uint8_t host[IBA_SMP_DATA_BYTES];

	if (!sm_request_ok(request))
		return false;
	wire_decode(type, request->mad.data, host);
	trust_set(request->node, request->epoch, table_asked(request), request->block, type->size,
		  host);
	return true;
}

/* A block of a table that routes use; only those have to avoid it. */
static bool is_of_routes(const struct sm_request *request)
{
	return builder_is_switch(request->node) &&
	       (request->mad.attribute == IBA_ATTR_LINEAR_FORWARDING_TABLE ||
		request->mad.attribute == IBA_ATTR_MULTICAST_FORWARDING_TABLE);
}

/* What it held when it was read after a Set that it accepted. */
static void on_block_reread(struct sm_request *request)
{
	const void *asked = request->owned;

	if (!sm_block_read(request))
		return;
	if (!memcmp(asked, request->mad.data, IBA_SMP_DATA_BYTES))
		health_block_taken(request->sm, request->node, request->mad.attribute,
				   request->block);
	else if (!sm_request_is_late(request))
		health_block_refused(request->sm, request->node, request->mad.attribute,
				     request->block,
				     "it acknowledged the block but did not store it");
}

/* It accepted a block that it did not accept before; it may only claim so. */
static void read_again(const struct sm_request *written)
{
	struct sm_request *request =
		sm_request_new(written->sm, written->node, IBA_METHOD_GET, written->mad.attribute,
			       written->mad.modifier);

	request->block = written->block;
	request->belief = true;
	request->owned = g_memdup2(written->mad.data, IBA_SMP_DATA_BYTES);
	request->done = on_block_reread;
	sm_request_send(request);
}

static void block_refused(struct sm_request *request)
{
	g_autofree char *how = NULL;

	sm_request_blame(request, PORT_SET_ERRORS);
	if (request->mad.result == MAD_STATUS)
		how = sm_request_failure(request);
	if (is_of_routes(request))
		health_block_refused(request->sm, request->node, request->mad.attribute,
				     request->block, how ? how : "a Set has no effect");
	else
		health_fault(request->sm, request->node, "it does not accept block %u of its %s",
			     request->block, iba_name(IBA_SET_ATTR, request->mad.attribute));
}

static void on_block_written(struct sm_request *request)
{
	bool late = sm_request_is_late(request);

	if (!sm_block_read(request)) {
		if (!late && request->mad.result == MAD_STATUS && is_of_routes(request) &&
		    !(request->mad.status & IBA_STATUS_BUSY))
			block_refused(request);
		else if (!late)
			sm_request_failed(request);
	} else if (!sm_request_echoed(request)) {
		block_refused(request);
	} else if (!late && trust_refuses(table_asked(request), request->block)) {
		read_again(request);
	}
	audit_set(request);
}

void sm_block_send(struct sm_request *request)
{
	struct trust_table *table = table_asked(request);
	uint32_t block = request->block;

	request->belief = true;
	request->done = on_block_written;
	sm_request_send(request);
	if (!request->skipped)
		trust_doubt(table, block);
}
