// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Names each switch with a LinearFDBCap below the highest LID, or room for too few MLIDs. */
#include "policy/small_tables.h"

#include <inttypes.h>

#define LINES_MAX 16

/* LIDs of hosts on the switch that it cannot hold; *hosts: how many it has in all. */
static uint32_t count_hosts(const struct fabric *fabric, uint32_t sw, uint32_t *hosts)
{
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint32_t cap = fabric_fdb_cap(fabric, sw), lost = 0;

	*hosts = 0;
	for (unsigned int num = 1; num <= node->num_ports; num++) {
		uint32_t peer = fabric->ports[node->first_port + num].peer, last;

		if (peer == FABRIC_NONE || fabric_is_switch(fabric, fabric->ports[peer].node) ||
		    !fabric->ports[peer].lid)
			continue;
		last = fabric->ports[peer].lid + (1u << fabric->ports[peer].lmc) - 1;
		*hosts += 1;
		lost += last >= cap;
	}
	return lost;
}

static char *tell(const struct fabric *fabric, uint32_t sw)
{
	uint32_t cap = fabric_fdb_cap(fabric, sw), hosts, lost = count_hosts(fabric, sw, &hosts);
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint16_t own = fabric->ports[node->first_port].lid;
	GString *text = g_string_new(NULL);
	char name[FABRIC_NAME_SIZE];

	fabric_node_name(fabric, fabric->switches[sw].node, name, sizeof(name));
	g_string_printf(text,
			"%s: LinearFDBCap %u: it forwards LIDs below 0x%04x only, routes to others "
			"go around it",
			name, cap, cap);
	if (hosts)
		g_string_append_printf(text, "; its %u hosts cannot send to those", hosts);
	if (lost)
		g_string_append_printf(text, "; %u of them have such LIDs: nobody reaches them",
				       lost);
	if (own >= cap)
		g_string_append_printf(text,
				       "; its own LID 0x%04x is one: it is reached by directed "
				       "routes only",
				       own);
	return g_string_free(text, FALSE);
}

/* Groups are given MLIDs above what it holds, as they can do without it. */
static char *tell_multicast(const struct fabric *fabric, uint32_t sw)
{
	uint32_t hosts, mlids = fabric_mlids(fabric, sw);
	char name[FABRIC_NAME_SIZE];

	count_hosts(fabric, sw, &hosts);
	fabric_node_name(fabric, fabric->switches[sw].node, name, sizeof(name));
	if (hosts)
		return g_strdup_printf("%s: MulticastFDBCap %u: its %u hosts get no multicast",
				       name, mlids, hosts);
	return g_strdup_printf("%s: MulticastFDBCap %u: multicast trees of MLIDs from 0x%04x on go "
			       "around it",
			       name, mlids, IBA_LID_MCAST_FIRST + mlids);
}

/* At the end of the lines. */
static void tell_all_multicast(const struct fabric *fabric, GPtrArray *lines)
{
	uint32_t room = fabric_mlid_top(fabric) - IBA_LID_MCAST_FIRST + 1u, n = 0;
	bool any = false;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		any |= fabric_mlids(fabric, sw) != 0;
	if (!any)
		return;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (fabric_mlids(fabric, sw) < room && n++ < LINES_MAX)
			g_ptr_array_add(lines, tell_multicast(fabric, sw));
	if (n > LINES_MAX)
		g_ptr_array_add(lines, g_strdup_printf("%u more switches with a MulticastFDBCap "
						       "below what others have",
						       n - LINES_MAX));
}

char **small_tables_tell(const struct fabric *fabric, const struct routing *routing, uint32_t *n)
{
	GPtrArray *lines = g_ptr_array_new();

	*n = 0;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		if (fabric_fdb_cap(fabric, sw) == FABRIC_LIDS)
			continue;
		if ((*n)++ < LINES_MAX)
			g_ptr_array_add(lines, tell(fabric, sw));
	}
	if (*n > LINES_MAX)
		g_ptr_array_add(lines, g_strdup_printf("%u more switches with a LinearFDBCap below "
						       "the highest LID",
						       *n - LINES_MAX));
	if (*n && routing->cut_by_caps)
		g_ptr_array_add(
			lines,
			g_strdup_printf("the cables leave no way around such switches: %" PRIu64
					" paths from switches with hosts to hosts "
					"of others are missing",
					routing->cut_by_caps));
	tell_all_multicast(fabric, lines);
	g_ptr_array_add(lines, NULL);
	if (lines->len > 1)
		return (char **)g_ptr_array_free(lines, FALSE);
	g_ptr_array_free(lines, TRUE);
	return NULL;
}
