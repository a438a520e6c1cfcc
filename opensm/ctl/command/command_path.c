// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands about routes: the path of a packet through the published forwarding tables, and the
 * tables themselves.
 */
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command_private.h"
#include "iba/codes.h"
#include "iba/constants.h"
#include "subnet/path.h"

#define MAX_HOPS 64

/* ---- path ---- */

struct walk {
	const struct fabric *fabric;
	const struct routing *routing;
	uint16_t lid;	   /* of the destination */
	uint32_t target;   /* the endport with that LID */
	uint32_t port;	   /* through which the packet entered its present node */
	uint8_t mtu, rate; /* lowest of ends and links so far, 0: none yet */
	uint32_t mtu_port, rate_port; /* the ports with these limits */
	GVariantBuilder hops;
	const char *trouble; /* why it does not arrive; NULL: it does */
};

/* As the SA does; a port that reports nothing limits nothing. */
static void limit_by(struct walk *walk, uint32_t port)
{
	const struct fabric_port *p = &walk->fabric->ports[port];

	if (p->rate && (!walk->rate || iba_rate_compare(p->rate, walk->rate) < 0)) {
		walk->rate = p->rate;
		walk->rate_port = port;
	}
	if (p->mtu && (!walk->mtu || p->mtu < walk->mtu)) {
		walk->mtu = p->mtu;
		walk->mtu_port = port;
	}
}

static void note_link(struct walk *walk, GVariantBuilder *row, const struct fabric_port *out)
{
	double gbps = iba_rate_tenths(out->rate) / 10.0;
	g_autofree char *rate = g_strdup_printf("%g Gb/s", gbps);

	answer_number(row, "out_port", out->num);
	answer_text(row, "rate", rate);
	answer_number(row, "mtu", iba_mtu_bytes(out->mtu));
	limit_by(walk, out - walk->fabric->ports);
}

static uint16_t node_lid(const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];

	return p->lid ? p->lid : fabric->ports[fabric->nodes[p->node].first_port].lid;
}

/* out FABRIC_NONE: this is the last node. */
static void note_hop(struct walk *walk, uint32_t out, bool first)
{
	const struct fabric_port *in = &walk->fabric->ports[walk->port];
	GVariantBuilder row;

	answer_begin(&row);
	answer_node(&row, walk->fabric, in->node);
	answer_number(&row, "lid", node_lid(walk->fabric, walk->port));
	if (!first)
		answer_number(&row, "in_port", in->num);
	if (out != FABRIC_NONE)
		note_link(walk, &row, &walk->fabric->ports[out]);
	answer_append(&walk->hops, &row);
}

/* The port by which the packet leaves its present node; FABRIC_NONE if it stays. */
static uint32_t next_port(struct walk *walk, bool first)
{
	const struct fabric *fabric = walk->fabric;
	uint32_t node = fabric->ports[walk->port].node, sw = fabric->nodes[node].sw;
	uint8_t exit;

	if (node == fabric->ports[walk->target].node &&
	    (sw != FABRIC_NONE || walk->port == walk->target))
		return FABRIC_NONE;
	if (sw == FABRIC_NONE) {
		if (!first)
			walk->trouble = "it arrives at a node that does not forward";
		return first ? walk->port : FABRIC_NONE;
	}
	exit = routing_port(walk->routing, sw, walk->lid);
	if (exit == 0 || exit > fabric->nodes[node].num_ports) {
		walk->trouble = "the forwarding table of the last switch has no entry for it";
		return FABRIC_NONE;
	}
	return fabric_port_of(fabric, node, exit);
}

static void follow(struct walk *walk)
{
	for (unsigned int n = 0; n < MAX_HOPS; n++) {
		uint32_t out = next_port(walk, n == 0);

		note_hop(walk, out, n == 0);
		if (out == FABRIC_NONE)
			return;
		walk->port = walk->fabric->ports[out].peer;
		if (walk->port == FABRIC_NONE) {
			walk->trouble = "the last port is not connected";
			return;
		}
	}
	walk->trouble = "it loops";
}

static void add_end(GVariantBuilder *builder, const char *key, const struct fabric *fabric,
		    uint32_t port, uint16_t lid)
{
	GVariantBuilder end;

	answer_begin(&end);
	answer_node(&end, fabric, fabric->ports[port].node);
	answer_guid(&end, "port_guid", fabric->ports[port].guid);
	answer_number(&end, "lid", lid);
	answer_member(builder, key, &end);
}

/* Parses the pairs of words after the ends; false and error if one is wrong. */
static bool parse_wanted(struct command_call *call, struct policy_wanted *wanted, GError **error)
{
	for (unsigned int i = 2; i < call->n; i += 2) {
		const char *word = call->words[i], *value = call->words[i + 1];
		uint64_t number = 0;
		bool good = i + 1 < call->n && g_ascii_isdigit(*value);
		char *end = NULL;

		if (good)
			number = g_ascii_strtoull(value, &end, 0);
		good = good && !*end;
		if (good && !strcmp(word, "service-id")) {
			wanted->has_service = true;
			wanted->service_id = number;
		} else if (good && !strcmp(word, "qos-class") && number < 1 << 12) {
			wanted->has_class = true;
			wanted->qos_class = (uint16_t)number;
		} else if (good && !strcmp(word, "pkey") && number <= UINT16_MAX) {
			wanted->has_p_key = true;
			wanted->p_key = (uint16_t)number;
		} else if (good && !strcmp(word, "sl") && number < 16) {
			wanted->has_sl = true;
			wanted->sl = (uint8_t)number;
		} else {
			command_usage(error, "expected service-id, qos-class, pkey or sl and a "
					     "number after the two ends");
			return false;
		}
	}
	return true;
}

/* limit: the port whose link limits the path, or 0; option: the option that may decide. */
static void add_reason(GVariantBuilder *builder, const char *key, const struct subnet *subnet,
		       const struct policy_path *path, enum policy_reason reason,
		       const char *option, uint32_t limit)
{
	const struct fabric *fabric = subnet->fabric;
	const struct fabric_port *port = &fabric->ports[limit];
	g_autofree char *text = reason == POLICY_LINK && limit
					? g_strdup_printf("port %u of %s", port->num,
							  fabric_called(fabric, port->node))
					: policy_path_tell(subnet, path, reason, option);

	answer_text(builder, key, text);
}

static void add_refusal(GVariantBuilder *builder, const struct subnet *subnet,
			const struct policy_path *path)
{
	char name[FABRIC_NAME_SIZE];
	g_autofree char *text = NULL;

	if (path->dropped_at != FABRIC_NONE)
		text = g_strdup_printf(
			"%s at %s", path->refused,
			fabric_port_name(subnet->fabric, path->dropped_at, name, sizeof(name)));
	answer_text(builder, "refused", text ? text : path->refused);
}

static void add_policy(GVariantBuilder *builder, const struct walk *walk,
		       const struct subnet *subnet, struct policy_path *path)
{
	g_autofree char *rate = NULL;

	answer_hex16(builder, "p_key", path->p_key);
	answer_number(builder, "sl", path->sl);
	answer_number(builder, "mtu", iba_mtu_bytes(path->mtu));
	rate = g_strdup_printf("%g Gb/s", iba_rate_tenths(path->rate) / 10.0);
	answer_text(builder, "rate", rate);
	answer_number(builder, "packet_life_time", path->life);
	if (path->refused) {
		add_refusal(builder, subnet, path);
		return;
	}
	add_reason(builder, "p_key_by", subnet, path, path->p_key_by, "", 0);
	add_reason(builder, "sl_by", subnet, path, path->sl_by, "sm_sl", 0);
	add_reason(builder, "mtu_by", subnet, path, path->mtu_by, "enable_quirks",
		   walk->mtu_port);
	add_reason(builder, "rate_by", subnet, path, path->rate_by, "max_rate_enum",
		   walk->rate_port);
	add_reason(builder, "packet_life_time_by", subnet, path, path->life_by, "subnet_timeout",
		   0);
}

/* Also says what the links can do if the path is refused. */
static void judge(const struct walk *walk, const struct subnet *subnet,
		  const struct policy_wanted *wanted, uint32_t source, struct policy_path *path)
{
	const struct policy_way way = {source, walk->lid, walk->mtu, walk->rate};
	const char *refused;

	policy_path(subnet, wanted, source, walk->target, path);
	refused = path->refused;
	policy_path_on(subnet, &way, path);
	if (!refused)
		return;
	path->refused = refused;
	path->dropped_at = FABRIC_NONE;
}

GVariant *command_path(struct command_call *call, GError **error)
{
	struct walk walk = {.fabric = call->fabric, .routing = call->subnet->routing};
	struct policy_wanted wanted = {0};
	struct policy_path path;
	GVariantBuilder builder;
	uint32_t source;
	uint16_t slid;

	if (call->n < 2)
		return command_usage(error, "expected two ends");
	if (!parse_wanted(call, &wanted, error) ||
	    (source = find_endport(call->fabric, call->words[0], &slid, error)) == FABRIC_NONE ||
	    (walk.target = find_endport(call->fabric, call->words[1], &walk.lid, error)) ==
		    FABRIC_NONE)
		return NULL;
	answer_begin(&builder);
	add_end(&builder, "source", call->fabric, source, slid);
	add_end(&builder, "destination", call->fabric, walk.target, walk.lid);
	walk.port = source;
	answer_begin_list(&walk.hops);
	limit_by(&walk, source);
	follow(&walk);
	if (!walk.trouble)
		limit_by(&walk, walk.target);
	answer_member(&builder, "hops", &walk.hops);
	answer_flag(&builder, "arrives", !walk.trouble);
	if (walk.trouble)
		answer_text(&builder, "trouble", walk.trouble);
	judge(&walk, call->subnet, &wanted, source, &path);
	add_policy(&builder, &walk, call->subnet, &path);
	return g_variant_builder_end(&builder);
}

static void print_path_end(GVariant *answer, const char *key, GString *out)
{
	g_autoptr(GVariant) end = answer_get(answer, key);

	g_string_append_printf(out, "%s (%s) LID %" PRIu64, answer_get_text(end, "node"),
			       answer_get_text(end, "port_guid"), answer_get_number(end, "lid"));
}

static void print_number_or_dash(GVariant *row, const char *key, GString *out)
{
	g_autoptr(GVariant) value = answer_get(row, key);

	if (value)
		g_string_append_printf(out, " %5" PRIu64, g_variant_get_uint64(value));
	else
		g_string_append(out, "     -");
}

static void print_hop(GVariant *row, GString *out)
{
	const char *rate = answer_get_text(row, "rate");

	print_number_or_dash(row, "in_port", out);
	print_number_or_dash(row, "out_port", out);
	print_number_or_dash(row, "lid", out);
	g_string_append_printf(out, "  %-11s", *rate ? rate : "-");
	print_number_or_dash(row, "mtu", out);
	g_string_append_printf(out, "  %s (%s)\n", answer_get_text(row, "node"),
			       answer_get_text(row, "guid"));
}

static void print_reasons(GVariant *answer, GString *out)
{
	if (*answer_get_text(answer, "refused")) {
		g_string_append_printf(out, "There is no such path: %s\n",
				       answer_get_text(answer, "refused"));
		return;
	}
	g_string_append_printf(out,
			       "  P_Key: %s\n  SL: %s\n  MTU: %s\n  rate: %s\n"
			       "  packet life time %" PRIu64 ": %s\n",
			       answer_get_text(answer, "p_key_by"),
			       answer_get_text(answer, "sl_by"), answer_get_text(answer, "mtu_by"),
			       answer_get_text(answer, "rate_by"),
			       answer_get_number(answer, "packet_life_time"),
			       answer_get_text(answer, "packet_life_time_by"));
}

void print_path(GVariant *answer, GString *out)
{
	g_string_append(out, "Path from ");
	print_path_end(answer, "source", out);
	g_string_append(out, " to ");
	print_path_end(answer, "destination", out);
	g_string_append_printf(out, "\nP_Key %s SL %" PRIu64 " MTU %" PRIu64 " rate %s\n",
			       answer_get_text(answer, "p_key"), answer_get_number(answer, "sl"),
			       answer_get_number(answer, "mtu"), answer_get_text(answer, "rate"));
	print_reasons(answer, out);
	g_string_append(out, "    in   out   LID  rate          MTU  node\n");
	answer_each(answer, "hops", print_hop, out);
	if (!answer_get_flag(answer, "arrives"))
		g_string_append_printf(out, "The packet does not arrive: %s\n",
				       answer_get_text(answer, "trouble"));
}

/* ---- lft ---- */

static void add_entry(GVariantBuilder *list, const struct fabric *fabric, uint16_t lid,
		      uint8_t exit)
{
	uint32_t port = fabric_port_by_lid(fabric, lid);
	const struct fabric_node *node;
	const char *type;
	GVariantBuilder row;

	answer_begin(&row);
	answer_number(&row, "lid", lid);
	answer_number(&row, "port", exit);
	if (port != FABRIC_NONE) {
		node = &fabric->nodes[fabric->ports[port].node];
		type = iba_name(IBA_SET_NODE_TYPE, node->type);
		answer_text(&row, "type", type ? type : "unknown");
		answer_guid(&row, "port_guid", fabric->ports[port].guid);
		answer_name(&row, "node", fabric, fabric->ports[port].node);
	}
	answer_append(list, &row);
}

GVariant *command_lft(struct command_call *call, GError **error)
{
	const struct routing *routing = call->subnet->routing;
	const struct fabric *fabric = call->fabric;
	GVariantBuilder builder, list;
	uint32_t sw;

	if (call->n != 1)
		return command_usage(error, "expected one switch");
	sw = find_switch(fabric, call->words[0], error);
	if (sw == FABRIC_NONE)
		return NULL;
	answer_begin(&builder);
	answer_number(&builder, "lid", fabric->ports[fabric_switch_port(fabric, sw, 0)].lid);
	answer_node(&builder, fabric, fabric->switches[sw].node);
	answer_number(&builder, "top", routing->top);
	answer_begin_list(&list);
	for (unsigned int lid = 1; lid <= routing->top; lid++)
		if (routing->lft[sw][lid] != ROUTE_NO_PORT)
			add_entry(&list, fabric, (uint16_t)lid, routing->lft[sw][lid]);
	answer_member(&builder, "entries", &list);
	return g_variant_builder_end(&builder);
}

static void print_entry(GVariant *row, GString *out)
{
	const char *type = answer_get_text(row, "type");

	g_string_append_printf(out, "0x%04" PRIx64 " %03" PRIu64 " # ",
			       answer_get_number(row, "lid"), answer_get_number(row, "port"));
	if (*type)
		g_string_append_printf(out, "%s portguid %s: '%s'\n", type,
				       answer_get_text(row, "port_guid"),
				       answer_get_text(row, "node"));
	else
		g_string_append(out, "unknown node and type\n");
}

void print_lft(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) entries = answer_get(answer, "entries");

	g_string_append_printf(
		out, "Unicast lids [0-%" PRIu64 "] of switch Lid %" PRIu64 " guid %s ('%s'):\n",
		answer_get_number(answer, "top"), answer_get_number(answer, "lid"),
		answer_get_text(answer, "guid"), answer_get_text(answer, "node"));
	answer_each(answer, "entries", print_entry, out);
	g_string_append_printf(out, "%" G_GSIZE_FORMAT " lids dumped \n",
			       g_variant_n_children(entries));
}
