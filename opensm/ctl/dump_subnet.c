// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The other dumps: multicast tables, and all links in the format that ibdm reads.
 *
 * Multicast trees are made once more from the groups as they are: tree and table are the same, as
 * the same members on the same fabric have one tree only.
 */
#include <inttypes.h>

#include "ctl/dump_private.h"

/* ---- opensm.mcfdbs ---- */

struct planted {
	uint16_t mlid;
	struct route_tree *tree;
};

static void planted_clear(gpointer p)
{
	route_tree_free(((struct planted *)p)->tree);
}

/* Groups that share a multicast LID share a tree; *next: past them. */
static GArray *members_of(const struct dump_view *view, uint32_t first, uint32_t *next)
{
	const struct mc_groups *groups = view->groups;
	GArray *members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t i = first;

	for (; i < groups->n && groups->groups[i].mlid == groups->groups[first].mlid; i++)
		for (uint32_t m = 0; m < groups->groups[i].n_ports; m++) {
			uint32_t port = fabric_port_by_guid(view->fabric,
							    groups->groups[i].port_guids[m]);

			if (port != FABRIC_NONE)
				g_array_append_val(members, port);
		}
	*next = i;
	return members;
}

static GArray *plant_all(const struct dump_view *view)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct planted));
	struct route_graph *graph = route_trees_graph(view->fabric, view->subnet->routing);
	uint32_t left_out;

	g_array_set_clear_func(all, planted_clear);
	for (uint32_t i = 0, next; view->groups && i < view->groups->n; i = next) {
		g_autoptr(GArray) members = members_of(view, i, &next);
		struct planted planted = {
			.mlid = view->groups->groups[i].mlid,
			.tree = route_multicast_on(graph, view->fabric,
						   (const uint32_t *)(void *)members->data,
						   members->len, &left_out),
		};

		g_array_append_val(all, planted);
	}
	route_graph_free(graph);
	return all;
}

static const struct route_port_set *ports_in(const struct route_tree *tree, uint32_t sw)
{
	for (uint32_t i = 0; i < tree->n; i++)
		if (tree->switches[i] == sw)
			return &tree->ports[i];
	return NULL;
}

static void put_mfdb(const struct dump_view *view, const GArray *all, uint32_t sw, FILE *out)
{
	bool begun = false;

	for (guint i = 0; i < all->len; i++) {
		const struct planted *planted = &g_array_index(all, struct planted, i);
		const struct route_port_set *set = ports_in(planted->tree, sw);

		if (!set)
			continue;
		if (!begun)
			fprintf(out, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n",
				view->fabric->nodes[view->fabric->switches[sw].node].guid);
		begun = true;
		fprintf(out, "0x%04X :", planted->mlid);
		for (unsigned int num = 0; num < 256; num++)
			if (set->bits[num / 64] >> num % 64 & 1)
				fprintf(out, " 0x%03X ", num);
		fputc('\n', out);
	}
}

void dump_mcfdbs(struct dump_view *view, FILE *out)
{
	g_autoptr(GArray) all = plant_all(view);

	for (uint32_t i = 0; i < view->fabric->n_switches; i++)
		put_mfdb(view, all, view->switches[i], out);
}

/* ---- opensm-subnet.lst ---- */

static const char *width_name(uint8_t width)
{
	switch (width) {
	case 1:
		return "1x";
	case 2:
		return "4x";
	case 4:
		return "8x";
	case 8:
		return "12x";
	case 16:
		return "2x";
	default:
		return "??";
	}
}

static const char *state_name(uint8_t state)
{
	static const char *const names[] = {"NOC", "DWN", "INI", "ARM", "ACT"};

	return state < G_N_ELEMENTS(names) ? names[state] : "???";
}

/* In Gb/s a lane; extended speeds count where there are any. */
static const char *speed_name(const struct iba_port_info *info)
{
	switch (info->link_speed_ext_active) {
	case 1:
		return "14";
	case 2:
		return "25";
	case 4:
		return "50";
	case 8:
		return "100";
	default:
		break;
	}
	switch (info->link_speed_active) {
	case 1:
		return "2.5";
	case 2:
		return "5";
	case 4:
		return "10";
	default:
		return "??";
	}
}

static const char *kind_of(const struct fabric_node *node)
{
	return node->type == IBA_NODE_CA ? "CA" : node->type == IBA_NODE_SWITCH ? "SW" : "Rt";
}

/* The name as it is but for what would end it or the line. */
static void put_name(const char *description, FILE *out)
{
	for (; *description; description++)
		fputc((unsigned char)*description < ' ' || *description == '}' ||
				      *description == 0x7F
			      ? '.'
			      : *description,
		      out);
}

/* digits of the vendor differ between the two ends, as always in this file */
static void put_end(const struct fabric *fabric, uint32_t port, int vendor_digits, FILE *out)
{
	const struct fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	const struct fabric_port *end = &fabric->ports[fabric_endport_of(fabric, port)];
	bool is_sm = end->info.capability_mask & IBA_PORT_CAP_SM;

	fprintf(out,
		"{ %s%s Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64
		" PortGUID:%016" PRIx64 " VenID:%0*X DevID:%04X Rev:%08X {",
		kind_of(node), is_sm ? "-SM" : "", node->num_ports, node->info.system_image_guid,
		node->guid, end->guid, vendor_digits, (unsigned int)node->info.vendor_id,
		(unsigned int)node->info.device_id, (unsigned int)node->info.revision);
	put_name(node->description, out);
	fprintf(out, "} LID:%04X PN:%02X } ", end->lid, fabric->ports[port].num);
}

void dump_subnet_lst(struct dump_view *view, FILE *out)
{
	const struct fabric *fabric = view->fabric;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct fabric_node *node = &fabric->nodes[view->nodes[i]];

		for (unsigned int num = 1; num <= node->num_ports; num++) {
			uint32_t port = node->first_port + num, peer = fabric->ports[port].peer;
			const struct iba_port_info *info = &fabric->ports[port].info;

			if (peer == FABRIC_NONE)
				continue;
			put_end(fabric, port, 6, out);
			put_end(fabric, peer, 8, out);
			fprintf(out, "PHY=%s LOG=%s SPD=%s\n", width_name(info->link_width_active),
				state_name(info->port_state), speed_name(info));
		}
	}
}
