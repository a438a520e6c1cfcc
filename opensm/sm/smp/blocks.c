// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Blocks of tables, and SwitchInfo: Gets whose answers are stored, Sets, and the handling of a
 * block that a node does not accept.
 */
#include <string.h>

#include "sm/health/health.h"
#include "sm/sm_private.h"
#include "sm/smp/smp_private.h"

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
	request->sm->smp->observer->block_set(request);
}

void sm_block_send(struct sm_request *request)
{
	struct trust_table *table = table_asked(request);
	uint32_t block = request->block;

	request->belief = true;
	request->done = on_block_written;
	sm_request_send(request);
	if (request->phase != REQUEST_SKIPPED)
		trust_doubt(table, block);
}

/* ---- SwitchInfo ---- */

static void on_switch_info_set(struct sm_request *request)
{
	struct builder_node *node = request->node;

	request->sm->smp->observer->block_set(request);
	if (sm_request_ok(request)) {
		wire_decode(&iba_switch_info_type, request->mad.data, &node->switch_info);
		builder_reach_changed(node->builder);
		builder_switch_info_set(node);
		health_top(request->sm, node);
		return;
	}
	if (request->mad.result == MAD_STATUS && !sm_request_is_late(request) &&
	    node->switch_info.linear_fdb_top < node->top_sent)
		health_top(request->sm, node);
	else if (!sm_request_is_late(request))
		sm_request_failed(request);
	else if (request->mad.result != MAD_STATUS && request->tries)
		builder_mark(node); /* it may have been set, or not */
}

void switch_info_send(struct sm *sm, struct builder_node *node, const struct iba_switch_info *want)
{
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_SWITCH_INFO, 0);

	wire_encode(&iba_switch_info_type, want, request->mad.data);
	node->top_sent = want->linear_fdb_top;
	request->belief = true;
	request->done = on_switch_info_set;
	sm_request_send(request);
}
