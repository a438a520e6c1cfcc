// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Who was at the other end of which cable: the file neighbors, a line "0xGUID:port 0xGUID:port" an
 * end. GUIDs are those of ports; all ports of a switch have that of its port 0.
 */
#ifndef SM_STORE_NEIGHBORS_H
#define SM_STORE_NEIGHBORS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct neighbors;

struct neighbors *neighbors_new(void);
void neighbors_free(struct neighbors *neighbors);

/* A state_line_fn; arg is the neighbors. */
const char *neighbors_take_line(void *arg, const char *line);
/* What the file would hold, to be freed with g_free. */
char *neighbors_format(const struct neighbors *neighbors);
/* Counts up whenever that is something else. */
uint64_t neighbors_edition(const struct neighbors *neighbors);

/* GUID of the port that was behind that one; 0: not known. */
uint64_t neighbors_get(const struct neighbors *neighbors, uint64_t guid, uint8_t port);
/* A cable joins these two. */
void neighbors_set(struct neighbors *neighbors, uint64_t guid, uint8_t port, uint64_t to_guid,
		   uint8_t to_port);
/* Forgets the ends at ports of which is_there knows neither GUID. */
void neighbors_keep(struct neighbors *neighbors, bool (*is_there)(void *arg, uint64_t guid),
		    void *arg);
unsigned int neighbors_size(const struct neighbors *neighbors);
/* GUIDs with several cables, those of switches: a set, to be freed with g_hash_table_unref. */
GHashTable *neighbors_switches(const struct neighbors *neighbors);

#endif
