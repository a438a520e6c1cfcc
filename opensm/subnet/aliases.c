// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See aliases.h. The same entries in two arrays, sorted by port and by GUID. */
#include "subnet/aliases.h"

#include <string.h>

static struct alias_guids *make(GArray *by_port, GArray *by_guid)
{
	struct alias_guids *aliases = g_new0(struct alias_guids, 1);

	ref_init(&aliases->ref);
	aliases->by_port = by_port;
	aliases->by_guid = by_guid;
	return aliases;
}

struct alias_guids *alias_guids_new(void)
{
	return make(g_array_new(FALSE, FALSE, sizeof(struct alias_guid)),
		    g_array_new(FALSE, FALSE, sizeof(struct alias_guid)));
}

struct alias_guids *alias_guids_copy(const struct alias_guids *aliases)
{
	struct alias_guids *copy =
		make(g_array_copy(aliases->by_port), g_array_copy(aliases->by_guid));

	copy->serial = aliases->serial;
	return copy;
}

struct alias_guids *alias_guids_ref(struct alias_guids *aliases)
{
	ref_get(&aliases->ref);
	return aliases;
}

void alias_guids_unref(struct alias_guids *aliases)
{
	if (!aliases || !ref_put(&aliases->ref))
		return;
	g_array_unref(aliases->by_port);
	g_array_unref(aliases->by_guid);
	g_free(aliases);
}

static bool is_before(const struct alias_guid *entry, uint64_t port, uint8_t index)
{
	return entry->port < port || (entry->port == port && entry->index < index);
}

guint alias_guids_place(const struct alias_guids *aliases, uint64_t port, uint8_t index)
{
	guint low = 0, high = aliases->by_port->len;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (is_before(alias_guids_at(aliases->by_port, middle), port, index))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

guint alias_guids_place_of(const struct alias_guids *aliases, uint64_t guid)
{
	guint low = 0, high = aliases->by_guid->len;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (alias_guids_at(aliases->by_guid, middle)->guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct alias_guid *alias_guids_find(const struct alias_guids *aliases, uint64_t guid)
{
	guint place = aliases ? alias_guids_place_of(aliases, guid) : 0;

	if (!aliases || place == aliases->by_guid->len ||
	    alias_guids_at(aliases->by_guid, place)->guid != guid)
		return NULL;
	return alias_guids_at(aliases->by_guid, place);
}

uint32_t alias_guids_port(const struct alias_guids *aliases, const struct fabric *fabric,
			  uint64_t guid)
{
	uint32_t port = fabric_port_by_guid(fabric, guid);
	const struct alias_guid *alias =
		port == FABRIC_NONE ? alias_guids_find(aliases, guid) : NULL;

	return alias ? fabric_port_by_guid(fabric, alias->port) : port;
}

guint alias_guids_next_block(const GArray *entries, guint place)
{
	const struct alias_guid *first = alias_guids_at(entries, place), *entry = first;

	while (entry->port == first->port &&
	       entry->index / ALIAS_PER_BLOCK == first->index / ALIAS_PER_BLOCK &&
	       ++place < entries->len)
		entry = alias_guids_at(entries, place);
	return place;
}

void alias_guids_block(const struct alias_guids *aliases, uint64_t port, uint8_t block,
		       uint64_t guids[ALIAS_PER_BLOCK])
{
	uint8_t first = (uint8_t)(block * ALIAS_PER_BLOCK);
	guint place = alias_guids_place(aliases, port, first);

	memset(guids, 0, ALIAS_PER_BLOCK * sizeof(*guids));
	if (!block)
		guids[0] = port;
	for (; place < aliases->by_port->len; place++) {
		const struct alias_guid *entry = alias_guids_at(aliases->by_port, place);

		if (entry->port != port || entry->index >= first + ALIAS_PER_BLOCK)
			return;
		guids[entry->index - first] = entry->guid;
	}
}
