// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a word of a command means: a LID, a GUID, the name of a node or its NodeDescription. */
#include "ctl/command/command_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool find_number(const char *word, uint64_t max, uint64_t *number)
{
	bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	char *end;

	if (hex ? !g_ascii_isxdigit(word[2]) : !g_ascii_isdigit(word[0]))
		return false;
	errno = 0;
	*number = g_ascii_strtoull(word, &end, hex ? 16 : 10);
	return !errno && !*end && *number <= max;
}

bool find_is_guid(const char *word, uint64_t *guid)
{
	bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');

	return find_number(word, UINT64_MAX, guid) &&
	       (hex ? strlen(word) > strlen("0xffff") : *guid > UINT16_MAX);
}

/* The first endport of a node that has a LID. */
static uint32_t endport_of_node(const struct fabric *fabric, uint32_t node)
{
	for (unsigned int num = 0; num <= fabric->nodes[node].num_ports; num++) {
		uint32_t port = fabric_port_of(fabric, node, (uint8_t)num);

		if (fabric_is_endport(fabric, port) && fabric->ports[port].lid)
			return port;
	}
	return FABRIC_NONE;
}

static uint32_t node_by_name(const struct fabric *fabric, const char *word, GError **error)
{
	uint32_t found = FABRIC_NONE;

	for (uint32_t node = 0; node < fabric->n_nodes; node++) {
		if (!fabric_is_called(fabric, node, word))
			continue;
		if (found != FABRIC_NONE) {
			command_failed(error,
				       "several nodes are called '%s', by their description or "
				       "the node name map: use a GUID",
				       word);
			return FABRIC_NONE;
		}
		found = node;
	}
	if (found == FABRIC_NONE)
		command_failed(error, "there is no node '%s'", word);
	return found;
}

static uint32_t endport_by_guid(const struct fabric *fabric, uint64_t guid)
{
	uint32_t port = fabric_port_by_guid(fabric, guid), node;

	if (port != FABRIC_NONE)
		return port;
	node = fabric_node_by_guid(fabric, guid);
	return node == FABRIC_NONE ? FABRIC_NONE : endport_of_node(fabric, node);
}

static uint32_t endport_by_name(const struct fabric *fabric, const char *word, GError **error)
{
	uint32_t node = node_by_name(fabric, word, error), port;

	if (node == FABRIC_NONE)
		return FABRIC_NONE;
	port = endport_of_node(fabric, node);
	if (port == FABRIC_NONE)
		command_failed(error, "'%s' has no LID", word);
	return port;
}

uint32_t find_endport(const struct fabric *fabric, const char *word, uint16_t *lid, GError **error)
{
	uint64_t number;
	uint32_t port;

	if (find_is_guid(word, &number)) {
		port = endport_by_guid(fabric, number);
		if (port == FABRIC_NONE)
			command_failed(error, "there is no port or node with GUID %s", word);
	} else if (find_number(word, UINT16_MAX, &number)) {
		port = fabric_port_by_lid(fabric, (uint16_t)number);
		*lid = (uint16_t)number;
		if (port == FABRIC_NONE)
			command_failed(error, "Invalid lid %s", word);
		return port;
	} else {
		port = endport_by_name(fabric, word, error);
	}
	*lid = port == FABRIC_NONE ? 0 : fabric->ports[port].lid;
	if (port != FABRIC_NONE && !*lid) {
		command_failed(error, "the port of '%s' has no LID", word);
		return FABRIC_NONE;
	}
	return port;
}

uint32_t find_switch(const struct fabric *fabric, const char *word, GError **error)
{
	uint16_t lid;
	uint32_t port = find_endport(fabric, word, &lid, error), sw;

	if (port == FABRIC_NONE)
		return FABRIC_NONE;
	sw = fabric->nodes[fabric->ports[port].node].sw;
	if (sw == FABRIC_NONE)
		command_failed(error, "'%s' is not a switch", word);
	return sw;
}
