// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ports at both ends of each cable: the file neighbors, one line "0xGUID:port 0xGUID:port" per
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
/* The contents of the file; g_free() it. */
char *neighbors_format(const struct neighbors *neighbors);
/* Incremented whenever that changes. */
uint64_t neighbors_edition(const struct neighbors *neighbors);

/* GUID of the port behind that one; 0: unknown. */
uint64_t neighbors_get(const struct neighbors *neighbors, uint64_t guid, uint8_t port);
/* A cable joins these two. */
void neighbors_set(struct neighbors *neighbors, uint64_t guid, uint8_t port, uint64_t to_guid,
		   uint8_t to_port);
/* Drops the ends where is_there knows neither GUID. */
void neighbors_keep(struct neighbors *neighbors, bool (*is_there)(void *arg, uint64_t guid),
		    void *arg);
unsigned int neighbors_size(const struct neighbors *neighbors);
/* GUIDs with several cables, those of switches: a set; g_hash_table_unref() it. */
GHashTable *neighbors_switches(const struct neighbors *neighbors);

#endif
