// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reports each switch with a LinearFDBCap below the highest LID, or room for too few MLIDs. */
#include "subnet/small_tables.h"

#include <inttypes.h>

#define LINES_MAX 16

/* Lines about switches that harm hosts, or that traffic avoids; at most the first few. */
struct lines {
	GPtrArray *texts;
	uint32_t more; /* number of lines omitted */
};

static void add(struct lines *lines, char *text)
{
	if (lines->texts->len < LINES_MAX) {
		g_ptr_array_add(lines->texts, text);
		return;
	}
	g_free(text);
	lines->more++;
}

static void end(struct lines *lines)
{
	if (lines->more)
		g_ptr_array_add(lines->texts,
				g_strdup_printf("%u more switches with such tables", lines->more));
}

/* Takes ownership of the array; NULL if it is empty. */
static char **to_strv(GPtrArray *texts)
{
	bool any = texts->len;

	g_ptr_array_add(texts, NULL);
	return (char **)g_ptr_array_free(texts, !any);
}

static uint16_t last_lid(const struct fabric_port *port)
{
	return (uint16_t)(port->lid ? port->lid + (1u << port->lmc) - 1 : 0);
}

/* The highest LID that is a destination: of hosts and of the SM. */
static uint16_t last_host_lid(const struct fabric *fabric)
{
	uint32_t sm = fabric->sm_port;
	uint16_t last = sm == FABRIC_NONE ? 0 : last_lid(&fabric->ports[sm]);

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i) &&
		    !fabric_is_switch(fabric, fabric->ports[i].node))
			last = MAX(last, last_lid(&fabric->ports[i]));
	return last;
}

/* Whether this is the SM's first switch: the SM is on its port 0 or sends through it. */
static bool has_sm(const struct fabric *fabric, uint32_t sw)
{
	uint32_t sm = fabric->sm_port, node;

	if (sm == FABRIC_NONE)
		return false;
	node = fabric->ports[sm].node;
	if (!fabric_is_switch(fabric, node) && fabric->ports[sm].peer != FABRIC_NONE)
		node = fabric->ports[fabric->ports[sm].peer].node;
	return node == fabric->switches[sw].node;
}

/* Hosts on the switch with LIDs that it cannot hold; *hosts: the number of all its hosts. */
static uint32_t count_hosts(const struct fabric *fabric, uint32_t sw, uint32_t *hosts)
{
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint32_t cap = fabric_fdb_cap(fabric, sw), lost = 0;

	*hosts = 0;
	for (unsigned int num = 1; num <= node->num_ports; num++) {
		uint32_t peer = fabric->ports[node->first_port + num].peer;

		if (peer == FABRIC_NONE || fabric_is_switch(fabric, fabric->ports[peer].node) ||
		    !fabric->ports[peer].lid)
			continue;
		*hosts += 1;
		lost += last_lid(&fabric->ports[peer]) >= cap ||
			!fabric_holds(fabric, sw, fabric->ports[peer].lid);
	}
	return lost;
}

/* *harms: whether hosts, or the SM, cannot send to some of them. */
static char *tell(const struct fabric *fabric, uint32_t sw, uint16_t last, bool *harms)
{
	uint32_t cap = fabric_fdb_cap(fabric, sw), hosts, lost = count_hosts(fabric, sw, &hosts);
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint16_t own = fabric->ports[node->first_port].lid;
	GString *text = g_string_new(NULL);
	char name[FABRIC_NAME_SIZE];

	*harms = last >= cap && (hosts || has_sm(fabric, sw));
	fabric_node_name(fabric, fabric->switches[sw].node, name, sizeof(name));
	g_string_printf(text, "%s: ", name);
	if (fabric->switches[sw].lids_taken == cap)
		g_string_append_printf(text, "it does not accept a LinearFDBTop above 0x%04x",
				       cap - 1);
	else
		g_string_append_printf(text, "LinearFDBCap %u", cap);
	g_string_append_printf(
		text, ": it only forwards LIDs below 0x%04x, routes to other LIDs avoid it", cap);
	if (hosts)
		g_string_append_printf(text, "; its %u hosts cannot send to those LIDs", hosts);
	if (*harms && has_sm(fabric, sw))
		g_string_append(text, "; the SM sends through it: the SA cannot answer those LIDs");
	if (lost)
		g_string_append_printf(text, "; %u of them have such LIDs: they cannot be reached",
				       lost);
	if (own >= cap)
		g_string_append_printf(text,
				       "; its own LID 0x%04x is one of them: it can only be "
				       "reached by directed routes",
				       own);
	return g_string_free(text, FALSE);
}

/* Why a switch does not support more MLIDs. */
static char *why_no_more(const struct fabric *fabric, uint32_t sw)
{
	const struct fabric_switch *at = &fabric->switches[sw];

	if (fabric_mlids(fabric, sw) < at->info.multicast_fdb_cap)
		return g_strdup_printf("it does not accept block %u of its MFT",
				       at->mft_refused - 1u);
	return g_strdup_printf("MulticastFDBCap %u", at->info.multicast_fdb_cap);
}

/* Groups get MLIDs above its capacity if they can do without this switch. */
static char *tell_multicast(const struct fabric *fabric, uint32_t sw, bool *harms)
{
	uint32_t hosts, mlids = fabric_mlids(fabric, sw);
	g_autofree char *why = why_no_more(fabric, sw);
	char name[FABRIC_NAME_SIZE];

	count_hosts(fabric, sw, &hosts);
	*harms = hosts;
	fabric_node_name(fabric, fabric->switches[sw].node, name, sizeof(name));
	if (hosts)
		return g_strdup_printf("%s: %s: its %u hosts receive no multicast", name, why,
				       hosts);
	return g_strdup_printf("%s: %s: multicast trees of MLIDs from 0x%04x on avoid it", name,
			       why, IBA_LID_MCAST_FIRST + mlids);
}

/* "block 2 (LIDs 0x0080 to 0x00bf)" that a switch refuses, and what does not work because of it. */
static char *tell_refusal(const struct fabric *fabric, const struct fabric_refusal *refusal,
			  bool *harms)
{
	uint32_t first = refusal->block * FABRIC_LFT_BLOCK, lost, hosts;
	char name[FABRIC_NAME_SIZE];
	GString *text = g_string_new(NULL);

	lost = count_hosts(fabric, refusal->sw, &hosts);
	*harms = hosts || has_sm(fabric, refusal->sw);
	fabric_node_name(fabric, fabric->switches[refusal->sw].node, name, sizeof(name));
	g_string_printf(text,
			"%s: it does not accept block %u of its LFT (LIDs 0x%04x to 0x%04x): "
			"routes to these LIDs avoid it",
			name, refusal->block, first, first + FABRIC_LFT_BLOCK - 1);
	if (hosts)
		g_string_append_printf(text, "; its %u hosts cannot send to those LIDs", hosts);
	if (lost)
		g_string_append_printf(text, ", and %u of them receive nothing", lost);
	return g_string_free(text, FALSE);
}

static void tell_refusals(const struct fabric *fabric, struct lines lines[2])
{
	bool harms;

	for (uint32_t i = 0; i < fabric->n_refusals; i++) {
		char *text = tell_refusal(fabric, &fabric->refusals[i], &harms);

		if (fabric->refusals[i].block <= fabric->max_lid / FABRIC_LFT_BLOCK)
			add(&lines[harms], text);
		else
			g_free(text);
	}
}

static uint32_t tell_unicast(const struct fabric *fabric, struct lines lines[2])
{
	uint16_t last = last_host_lid(fabric);
	uint32_t n = 0;
	bool harms;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		char *text;

		if (fabric_fdb_cap(fabric, sw) == FABRIC_LIDS)
			continue;
		text = tell(fabric, sw, last, &harms);
		add(&lines[harms], text);
		n++;
	}
	return n;
}

static void tell_all_multicast(const struct fabric *fabric, struct lines lines[2])
{
	uint32_t room = fabric_mlid_top(fabric) - IBA_LID_MCAST_FIRST + 1u;
	bool any = false, harms;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		any |= fabric_mlids(fabric, sw) != 0;
	for (uint32_t sw = 0; any && sw < fabric->n_switches; sw++)
		if (fabric_mlids(fabric, sw) < room) {
			char *text = tell_multicast(fabric, sw, &harms);

			add(&lines[harms], text);
		}
}

/* Added at the end of the harmful ones. */
static void tell_cut(const struct fabric *fabric, const struct routing *routing, GPtrArray *texts)
{
	uint32_t parts = fabric_multicast_parts(fabric);

	if (parts > 1)
		g_ptr_array_add(texts, g_strdup_printf("multicast has no way around such switches: "
						       "hosts are split into %u parts",
						       parts));
	if (routing->cut_by_caps)
		g_ptr_array_add(texts,
				g_strdup_printf("there is no way around such switches: %" PRIu64
						" paths from switches with hosts to hosts of "
						"other switches are missing",
						routing->cut_by_caps));
}

char **small_tables_tell(const struct fabric *fabric, const struct routing *routing, uint32_t *n,
			 uint32_t *n_harmful)
{
	struct lines lines[2] = {{g_ptr_array_new(), 0}, {g_ptr_array_new(), 0}};
	GPtrArray *texts = lines[true].texts;

	*n = tell_unicast(fabric, lines);
	tell_refusals(fabric, lines);
	tell_all_multicast(fabric, lines);
	end(&lines[true]);
	if (texts->len || lines[false].texts->len)
		tell_cut(fabric, routing, texts);
	*n_harmful = texts->len;
	end(&lines[false]);
	g_ptr_array_extend_and_steal(texts, lines[false].texts);
	return to_strv(texts);
}

/* 0: no groups. */
static uint16_t last_mlid(const struct mc_groups *groups)
{
	for (uint32_t i = IBA_MFT_BLOCKS; i-- > 0;) {
		const struct mc_block *block = groups->blocks[i];

		if (block)
			return block->groups[block->n - 1]->mlid;
	}
	return 0;
}

char **small_tables_tell_groups(const struct fabric *fabric, const struct mc_groups *groups)
{
	struct lines lines = {g_ptr_array_new(), 0};
	uint16_t last = last_mlid(groups);

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint32_t mlids = fabric_mlids(fabric, sw), beyond = IBA_LID_MCAST_FIRST + mlids;
		uint32_t hosts;
		g_autofree char *why = NULL;
		char name[FABRIC_NAME_SIZE];

		if (!mlids || last < beyond)
			continue;
		count_hosts(fabric, sw, &hosts);
		fabric_node_name(fabric, fabric->switches[sw].node, name, sizeof(name));
		why = why_no_more(fabric, sw);
		if (hosts)
			add(&lines, g_strdup_printf("%s: %s: its %u hosts receive no multicast "
						    "of the groups with MLIDs from 0x%04x on",
						    name, why, hosts, beyond));
	}
	end(&lines);
	return to_strv(lines.texts);
}
