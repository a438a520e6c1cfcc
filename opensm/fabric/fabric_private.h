// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What freeze.c and lookup.c share: the index from GUID to port and node. */
#ifndef FABRIC_FABRIC_PRIVATE_H
#define FABRIC_FABRIC_PRIVATE_H

#include "fabric/fabric.h"

/*
 * Builds fabric->by_guid from the finished nodes and ports; of duplicate GUIDs the first is used.
 */
void fabric_index_guids(struct fabric *fabric);

struct fabric_guid_index *fabric_guid_index_ref(struct fabric_guid_index *index);
void fabric_guid_index_unref(struct fabric_guid_index *index);

#endif
