// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The other dumps: multicast tables, and all links in the format that ibdm reads. */
#include <inttypes.h>

#include "ctl/dump/dump_private.h"
#include "fabric/link_quality.h"

/* ---- opensm.mcfdbs ---- */

/* The ports of a switch in the tree; NULL: the switch is not in it. */
static const struct route_port_set *ports_in(const struct route_tree *tree, uint32_t sw)
{
	for (uint32_t i = 0; i < tree->n; i++)
		if (tree->switches[i] == sw)
			return &tree->ports[i];
	return NULL;
}

static void put_ports(uint32_t mlid, const struct route_port_set *set, FILE *out)
{
	fprintf(out, "0x%04X :", mlid);
	for (unsigned int num = 0; num < 256; num++)
		if (set->bits[num / 64] >> num % 64 & 1)
			fprintf(out, " 0x%03X ", num);
	fputc('\n', out);
}

/* Finds the switch by its GUID, as trees may have been made in another fabric. */
static void put_mfdb(const struct mc_trees *trees, uint64_t guid, FILE *out)
{
	uint32_t node = fabric_node_by_guid(trees->fabric, guid);
	uint32_t sw = node == FABRIC_NONE ? FABRIC_NONE : trees->fabric->nodes[node].sw;
	bool begun = false;

	for (uint32_t i = 0; i < MC_N_MLIDS; i++) {
		const struct route_port_set *set =
			trees->trees[i] ? ports_in(trees->trees[i], sw) : NULL;

		if (!set)
			continue;
		if (!begun)
			fprintf(out, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", guid);
		begun = true;
		put_ports(IBA_LID_MCAST_FIRST + i, set, out);
	}
}

void dump_mcfdbs(struct dump_view *view, FILE *out)
{
	for (uint32_t i = 0; view->trees && i < view->fabric->n_switches; i++)
		put_mfdb(view->trees,
			 view->fabric->nodes[view->fabric->switches[view->switches[i]].node].guid,
			 out);
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

/* In Gb/s per lane; extended speeds have precedence. */
static const char *speed_name(const struct fabric_port *port)
{
	const struct iba_port_info *info = &port->info;

	if (link_is_fdr10(port))
		return "FDR10";
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

/* Writes the name without characters that would end it or the line. */
static void put_name(const char *name, FILE *out)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' || *name == '}' || *name == 0x7F ? '.' : *name,
		      out);
}

/*
 * At the far end the vendor has more digits, and the device is in the upper half of 32 bits: the
 * classic daemon wrote it so, and scripts and ibdm expect it.
 */
static void put_end(const struct fabric *fabric, uint32_t port, bool is_far, FILE *out)
{
	const struct fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	const struct fabric_port *end = &fabric->ports[fabric_endport_of(fabric, port)];
	bool is_sm = end->info.capability_mask & IBA_PORT_CAP_SM;

	fprintf(out,
		"{ %s%s Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64
		" PortGUID:%016" PRIx64 " VenID:%0*X DevID:%04X Rev:%08X {",
		kind_of(node), is_sm ? "-SM" : "", node->num_ports, node->info.system_image_guid,
		node->guid, end->guid, is_far ? 8 : 6, (unsigned int)node->info.vendor_id,
		(unsigned int)node->info.device_id << (is_far ? 16 : 0),
		(unsigned int)node->info.revision);
	put_name(fabric_called(fabric, fabric->ports[port].node), out);
	fprintf(out, "} LID:%04X PN:%02X } ", end->lid, fabric->ports[port].num);
}

void dump_subnet_lst(struct dump_view *view, FILE *out)
{
	const struct fabric *fabric = view->fabric;

	for (uint32_t i = 0; i < fabric->n_nodes && dump_goes_on(view, out); i++) {
		const struct fabric_node *node = &fabric->nodes[view->nodes[i]];

		for (unsigned int num = 1; num <= node->num_ports; num++) {
			uint32_t port = node->first_port + num, peer = fabric->ports[port].peer;
			const struct iba_port_info *info = &fabric->ports[port].info;

			if (peer == FABRIC_NONE)
				continue;
			put_end(fabric, port, false, out);
			put_end(fabric, peer, true, out);
			fprintf(out, "PHY=%s LOG=%s SPD=%s\n", width_name(info->link_width_active),
				state_name(info->port_state), speed_name(&fabric->ports[port]));
		}
	}
}
