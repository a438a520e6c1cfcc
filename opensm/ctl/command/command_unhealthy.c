// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command about misbehaving ports: those that the SM has published, and their release. */
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command_private.h"
#include "sm/health/unhealthy.h"

/* Without a name if the node was never in the subnet. */
static void answer_known_node(GVariantBuilder *builder, const struct fabric *fabric,
			      const char *key, const char *guid_key, uint64_t guid,
			      const char *name)
{
	uint32_t node = fabric && guid ? fabric_node_by_guid(fabric, guid) : FABRIC_NONE;

	if (node != FABRIC_NONE)
		answer_name(builder, key, fabric, node);
	else if (node == FABRIC_NONE && *name)
		answer_text(builder, key, name);
	if (guid)
		answer_guid(builder, guid_key, guid);
}

static void add_port(struct command_call *call, GVariantBuilder *list,
		     const struct unhealthy_port *port)
{
	uint64_t now = runtime_now(call->context->rt);
	GVariantBuilder row;

	answer_begin(&row);
	answer_known_node(&row, call->fabric, "switch", "switch_guid", port->guid,
			  port->num ? "" : port->name);
	answer_number(&row, "port", port->num);
	answer_text(&row, "condition", port_condition_word(port->condition));
	answer_text(&row, "why", port_condition_text(port->condition));
	answer_text(&row, "action", port_action_word(port->action));
	answer_text(&row, "type", port_type_word(port->type));
	answer_known_node(&row, call->fabric, "node", "node_guid", port->blamed, port->name);
	answer_flag(&row, "for_ever", port->until_ns == UINT64_MAX);
	if (port->until_ns != UINT64_MAX)
		answer_number(&row, "seconds_left",
			      (port->until_ns - MIN(port->until_ns, now)) / NS_PER_S);
	answer_append(list, &row);
}

static bool is_named(const struct unhealthy_port *port, uint64_t guid, bool any_port, uint64_t num)
{
	return (port->guid == guid || port->blamed == guid) && (any_port || port->num == num);
}

static unsigned int release(struct command_call *call, const struct unhealthy_ports *ports,
			    uint64_t guid, uint64_t num)
{
	unsigned int n = 0;

	for (unsigned int i = 0; ports && i < ports->n; i++) {
		if (!is_named(&ports->ports[i], guid, call->n == 2, num))
			continue;
		event_emit(&call->context->bus, EVENT_UNHEALTHY_RELEASED, ports->ports[i].id);
		n++;
	}
	return n;
}

/* Which ports the arguments ask to release; 0 and error if none. */
static unsigned int release_named(struct command_call *call, const struct unhealthy_ports *ports,
				  GError **error)
{
	uint64_t guid = 0, num = 0;
	unsigned int n;

	if (call->n == 2 && !strcmp(call->words[1], "all")) {
		event_emit(&call->context->bus, EVENT_UNHEALTHY_RELEASED, 0);
		n = ports ? ports->n : 0;
	} else if (call->n < 2 || call->n > 3 || !find_is_guid(call->words[1], &guid) ||
		   (call->n == 3 && !find_number(call->words[2], IBA_SWITCH_MAX_PORT, &num))) {
		command_usage(error, "expected the GUID of a switch or node, or all");
		return 0;
	} else {
		n = release(call, ports, guid, num);
	}
	if (!n)
		command_failed(error, "no such port is unhealthy");
	return n;
}

GVariant *command_unhealthy(struct command_call *call, GError **error)
{
	struct unhealthy_ports *ports = slot_take(&call->context->unhealthy_ports);
	GVariantBuilder builder, list;
	unsigned int released = 0;

	if (call->n && strcmp(call->words[0], "release") != 0)
		command_usage(error, "expected release or nothing");
	else if (call->n)
		released = release_named(call, ports, error);
	if (call->n && !released) {
		unhealthy_ports_unref(ports);
		return NULL;
	}
	answer_begin(&builder);
	answer_begin_list(&list);
	for (unsigned int i = 0; !released && ports && i < ports->n; i++)
		add_port(call, &list, &ports->ports[i]);
	answer_number(&builder, "released", released);
	answer_member(&builder, "ports", &list);
	unhealthy_ports_unref(ports);
	return g_variant_builder_end(&builder);
}

/* ---- in words ---- */

static const char *first_of(GVariant *row, const char *key, const char *otherwise)
{
	const char *text = answer_get_text(row, key);

	return *text ? text : answer_get_text(row, otherwise);
}

static void print_port(GVariant *row, GString *out)
{
	uint64_t port = answer_get_number(row, "port");

	g_string_append(out, first_of(row, "switch", "switch_guid"));
	if (port)
		g_string_append_printf(out, " port %" PRIu64, port);
	if (port && *answer_get_text(row, "node_guid"))
		g_string_append_printf(out, " to %s", first_of(row, "node", "node_guid"));
	g_string_append_printf(out, ": %s (%s); %s", answer_get_text(row, "condition"),
			       answer_get_text(row, "why"), answer_get_text(row, "action"));
	if (answer_get_flag(row, "for_ever"))
		g_string_append(out, " until it is released\n");
	else
		g_string_append_printf(out, ", %" PRIu64 " s left unless it happens again\n",
				       answer_get_number(row, "seconds_left"));
}

void print_unhealthy(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) ports = answer_get(answer, "ports");
	uint64_t released = answer_get_number(answer, "released");

	if (released)
		g_string_append_printf(out, "%" PRIu64 " released\n", released);
	else if (!g_variant_n_children(ports))
		g_string_append(out, "no port misbehaves\n");
	answer_each(answer, "ports", print_port, out);
}
