// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Alias GUIDs (IBA 14.2.5.5, 15.2.5.18): other GUIDs, and so GIDs, of ports that clients asked the
 * SA for. As the SA publishes them to the sweep, and as its own queries see them: counted, and
 * immutable once somebody else has a reference.
 */
#ifndef SUBNET_ALIASES_H
#define SUBNET_ALIASES_H

#include <glib.h>

#include "complib/handoff.h"
#include "fabric/fabric.h"

#define ALIAS_PER_BLOCK 8u /* entries of a block of GUIDInfo */

struct alias_guid {
	uint64_t port; /* its base GUID */
	uint64_t guid; /* 0, of by_port only: it was removed, which the port is yet to be told */
	uint8_t index; /* in the port's GUIDInfo, from 1: 0 is the base GUID */
};

struct alias_guids {
	struct ref ref;
	uint64_t serial; /* counts up with each change that is published */
	GArray *by_port; /* struct alias_guid by port and index */
	GArray *by_guid; /* those that are */
};

struct alias_guids *alias_guids_new(void);
struct alias_guids *alias_guids_copy(const struct alias_guids *aliases);
struct alias_guids *alias_guids_ref(struct alias_guids *aliases);
void alias_guids_unref(struct alias_guids *aliases); /* NULL is fine */

/* Where in by_port, or by_guid, an entry is or is to be. */
guint alias_guids_place(const struct alias_guids *aliases, uint64_t port, uint8_t index);
guint alias_guids_place_of(const struct alias_guids *aliases, uint64_t guid);
static inline const struct alias_guid *alias_guids_at(const GArray *entries, guint place)
{
	return &g_array_index(entries, struct alias_guid, place);
}

/* Who has it; NULL: nobody has, or aliases is NULL. */
const struct alias_guid *alias_guids_find(const struct alias_guids *aliases, uint64_t guid);
/* The endport whose base GUID that is, or whose alias; FABRIC_NONE: there is none. */
uint32_t alias_guids_port(const struct alias_guids *aliases, const struct fabric *fabric,
			  uint64_t guid);
/* Of by_port: the first entry behind those of the same block as that entry. */
guint alias_guids_next_block(const GArray *entries, guint place);
/* A block of the port's GUIDInfo as it should be; entries 0 that nobody asked for. */
void alias_guids_block(const struct alias_guids *aliases, uint64_t port, uint8_t block,
		       uint64_t guids[ALIAS_PER_BLOCK]);

#endif
