// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Alias GUIDs (IBA 14.2.5.5, 15.2.5.18): additional GUIDs, and so GIDs, of ports, requested by
 * clients from the SA. The SA publishes them to the sweep, and its own queries read them: reference
 * counted, and immutable once there is a second reference.
 */
#ifndef SUBNET_ALIASES_H
#define SUBNET_ALIASES_H

#include <glib.h>

#include "complib/handoff.h"
#include "fabric/fabric.h"

#define ALIAS_PER_BLOCK 8u /* entries of a block of GUIDInfo */

struct alias_guid {
	uint64_t port; /* its base GUID */
	uint64_t guid; /* 0, only in by_port: removed, the port is still to be told */
	uint8_t index; /* in the port's GUIDInfo, from 1: 0 is the base GUID */
};

struct alias_guids {
	struct ref ref;
	uint64_t serial; /* increases with each published change */
	GArray *by_port; /* struct alias_guid by port and index */
	GArray *by_guid; /* entries with a GUID, by GUID */
};

struct alias_guids *alias_guids_new(void);
struct alias_guids *alias_guids_copy(const struct alias_guids *aliases);
struct alias_guids *alias_guids_ref(struct alias_guids *aliases);
void alias_guids_unref(struct alias_guids *aliases); /* NULL is fine */

/* The index in by_port, or by_guid, of an existing or new entry. */
guint alias_guids_place(const struct alias_guids *aliases, uint64_t port, uint8_t index);
guint alias_guids_place_of(const struct alias_guids *aliases, uint64_t guid);
static inline const struct alias_guid *alias_guids_at(const GArray *entries, guint place)
{
	return &g_array_index(entries, struct alias_guid, place);
}

/* The entry with that GUID; NULL: none, or aliases is NULL. */
const struct alias_guid *alias_guids_find(const struct alias_guids *aliases, uint64_t guid);
/* The endport with that base GUID or alias; FABRIC_NONE: none. */
uint32_t alias_guids_port(const struct alias_guids *aliases, const struct fabric *fabric,
			  uint64_t guid);
/* In by_port: the first entry after those of the same block as that entry. */
guint alias_guids_next_block(const GArray *entries, guint place);
/* A block of the port's GUIDInfo as it should be; unused entries are 0. */
void alias_guids_block(const struct alias_guids *aliases, uint64_t port, uint8_t block,
		       uint64_t guids[ALIAS_PER_BLOCK]);

#endif
