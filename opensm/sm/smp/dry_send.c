// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The dry run of a sweep: Gets are sent, Sets are not. A Set is recorded and comes back at once as
 * if the device had accepted it, so the sweep continues and finds all that follows from it. What it
 * then believes is not real: so Gets use directed routes, and the previous M_Keys.
 *
 * It is one heavy sweep, which nothing cancels and which ends with EVENT_FINISHED when the last
 * request is back. Beside a running master it leaves most of the bandwidth to that one's SMPs.
 */
#include <string.h>

#include "sm/sm_private.h"
#include "sm/smp/dry_run.h"
#include "sm/smp/smp.h"

#define BESIDE_MASTER 32 /* Gets in flight at a time */

struct dry {
	struct dry_run *report;
	unsigned int out, window; /* Gets */
	GQueue waiting;		  /* of struct sm_request: waiting for their turn */
	bool ended;
};

struct dry *dry_new(bool beside_master)
{
	struct dry *dry = g_new0(struct dry, 1);

	dry->report = dry_run_new();
	dry->window = beside_master ? BESIDE_MASTER : UINT_MAX;
	g_queue_init(&dry->waiting);
	return dry;
}

void dry_free(struct dry *dry)
{
	struct sm_request *request;

	if (!dry)
		return;
	while ((request = g_queue_pop_head(&dry->waiting)))
		sm_request_drop(request);
	dry_run_free(dry->report);
	g_free(dry);
}

struct dry_run *sm_dry_run(const struct sm *sm)
{
	return sm->dry->report;
}

/* A timer may still fire; the actor that waits for the end frees the SM. */
bool dry_has_ended(const struct sm *sm)
{
	return sm->dry && sm->dry->ended;
}

void dry_problem(struct sm *sm, const char *text)
{
	if (sm->dry)
		dry_run_problem(sm->dry->report, text);
}

/* ---- Sets ---- */

/* Where 0 means "no change", the value stays. */
#define STAYS(field)                                                                               \
	do {                                                                                       \
		if (!want.field)                                                                   \
			want.field = is->field;                                                    \
	} while (0)

static void port_takes(struct sm_request *request)
{
	const struct iba_port_info *is = &request->port->info;
	struct iba_port_info want;

	wire_decode(&iba_port_info_type, request->mad.data, &want);
	STAYS(port_state);
	STAYS(port_physical_state);
	STAYS(link_down_default_state);
	STAYS(link_width_enabled);
	STAYS(link_speed_enabled);
	STAYS(link_speed_ext_enabled);
	STAYS(link_speed_ext_enabled2);
	wire_encode(&iba_port_info_type, &want, request->mad.data);
}
#undef STAYS

static void switch_takes(struct sm_request *request)
{
	struct iba_switch_info want;

	wire_decode(&iba_switch_info_type, request->mad.data, &want);
	want.port_state_change = 0;
	wire_encode(&iba_switch_info_type, &want, request->mad.data);
}

/* NULL: it is not about a table, or about several at once. */
static const struct trust_table *table_of(const struct sm_request *request)
{
	uint16_t attribute = request->mad.attribute;

	switch (attribute) {
	case IBA_ATTR_LINEAR_FORWARDING_TABLE:
	case IBA_ATTR_MULTICAST_FORWARDING_TABLE:
		return sm_table(request->node, 0, attribute);
	case IBA_ATTR_GUID_INFO:
	case IBA_ATTR_P_KEY_TABLE:
	case IBA_ATTR_SL_TO_VL_TABLE:
	case IBA_ATTR_VL_ARBITRATION_TABLE:
		return request->port ? sm_table(request->node, request->port->num, attribute)
				     : NULL;
	default:
		return NULL;
	}
}

/* What the device holds, as far as it was read; false: it was not. */
static bool held_before(const struct sm_request *request, uint8_t wire[IBA_SMP_DATA_BYTES])
{
	const struct builder_node *node = request->node;
	const struct wire_type *type = dry_type(request->mad.attribute);
	const struct trust_table *table = table_of(request);
	const void *is = NULL;

	if (request->mad.attribute == IBA_ATTR_PORT_INFO)
		is = &request->port->info;
	else if (request->mad.attribute == IBA_ATTR_SWITCH_INFO)
		is = &node->switch_info;
	else if (table)
		is = trust_get(node, table, request->block, type->size);
	memset(wire, 0, IBA_SMP_DATA_BYTES);
	if (is)
		wire_encode(type, is, wire);
	return is != NULL;
}

static void note_set(struct sm_request *request)
{
	const struct builder_node *node = request->node;
	uint8_t before[IBA_SMP_DATA_BYTES];
	bool known = held_before(request, before);
	const struct dry_set set = {
		.guid = node->guid,
		.type = node->info.node_type,
		.port = request->port ? request->port->num : DRY_NODE,
		.attribute = request->mad.attribute,
		.modifier = request->mad.modifier,
		.before = known ? before : NULL,
		.after = request->mad.data,
	};

	dry_run_add(request->sm->dry->report, &set);
}

bool dry_run_records(struct sm_request *request)
{
	if (!request->sm->dry || request->mad.method == IBA_METHOD_GET)
		return false;
	if (request->mad.attribute == IBA_ATTR_PORT_INFO)
		port_takes(request);
	else if (request->mad.attribute == IBA_ATTR_SWITCH_INFO)
		switch_takes(request);
	note_set(request);
	request->mad.result = MAD_OK;
	request->mad.status = 0;
	request->mad.sent = 1;
	return true;
}

/* ---- Gets ---- */

void dry_send(struct sm_request *request)
{
	struct dry *dry = request->sm->dry;

	if (!request->mad.lid_only)
		request->mad.route.lid = request->mad.route.via = 0;
	request->mad.gets_only = true;
	if (dry->out >= dry->window) {
		g_queue_push_tail(&dry->waiting, request);
		return;
	}
	dry->out++;
	dry->report->gets++;
	mad_send(request->sm->mad, &request->mad);
}

static void finish(struct sm *sm)
{
	if (sm->dry->ended && !sm->dry->out)
		event_emit(&sm->context->bus, EVENT_FINISHED, 0);
}

void dry_run_answered(struct sm *sm)
{
	struct dry *dry = sm->dry;
	struct sm_request *next;

	dry->out--;
	next = g_queue_pop_head(&dry->waiting);
	if (next)
		dry_send(next);
	finish(sm);
}

/* ---- the end ---- */

static void tell_names(const struct sm *sm)
{
	const GPtrArray *nodes = sm->dry->report->nodes;

	for (guint i = 0; i < nodes->len; i++) {
		struct dry_node *to = nodes->pdata[i];
		const struct builder_node *node = builder_find(sm->builder, to->guid);
		char name[BUILDER_NAME_SIZE];

		to->name = g_strdup(node ? builder_called(node, name) : "");
		to->description =
			node ? g_strndup((const char *)node->description.node_string,
					 sizeof(node->description.node_string))
			     : g_strdup("");
	}
}

void dry_end(struct sm *sm, bool complete)
{
	struct dry_run *report = sm->dry->report;

	report->complete = complete;
	if (sm->fabric) {
		report->switches = sm->fabric->n_switches;
		report->hosts = sm->fabric->n_nodes - sm->fabric->n_switches;
		report->links = sm->fabric->n_links;
	}
	tell_names(sm);
	sm->dry->ended = true;
	finish(sm);
}
