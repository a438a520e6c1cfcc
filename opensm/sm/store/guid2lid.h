// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The LIDs that each endport had, kept over restarts in the file guid2lid of the cache directory:
 * one line "0xGUID 0xMINLID 0xMAXLID" per port, separated by blank lines.
 */
#ifndef SM_STORE_GUID2LID_H
#define SM_STORE_GUID2LID_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/log.h"

struct guid2lid;
struct state_writer;

/* directory NULL: nothing is stored. An invalid line is logged and skipped. */
struct guid2lid *guid2lid_new(const char *directory, struct log *log);
void guid2lid_free(struct guid2lid *map);
/* Calls failed(arg) when the writer of guid2lid_save() fails. */
void guid2lid_watch(struct guid2lid *map, void (*failed)(void *arg), void *arg);

/* Reads the text of such a file, named in messages; returns the number of invalid lines. */
unsigned int guid2lid_parse(struct guid2lid *map, const char *file, const char *text);
/* The contents of the file; g_free() it. */
char *guid2lid_format(const struct guid2lid *map);

/* Base LID of the port and number of LIDs; 0 if it has none. */
uint16_t guid2lid_get(const struct guid2lid *map, uint64_t port_guid, uint16_t *count);
void guid2lid_set(struct guid2lid *map, uint64_t port_guid, uint16_t lid, uint16_t count);
/* Whether guid2lid_set() was called for the port, since the last guid2lid_doubt(). */
bool guid2lid_is_assigned(const struct guid2lid *map, uint64_t port_guid);
/* Another SM may have assigned LIDs since: nothing counts as assigned. */
void guid2lid_doubt(struct guid2lid *map);
void guid2lid_remove(struct guid2lid *map, uint64_t port_guid);
void guid2lid_clear(struct guid2lid *map);

/* Calls each(arg, guid, lid, count) for every port. */
void guid2lid_each(const struct guid2lid *map,
		   void (*each)(void *arg, uint64_t guid, uint16_t lid, uint16_t count), void *arg);

/* A reference to the GUIDs of all ports: uint64_t by value. It does not change. */
GArray *guid2lid_guids(struct guid2lid *map);

/* Incremented with each change, from 1. */
uint64_t guid2lid_changes(const struct guid2lid *map);

/*
 * Writes the file if something changed: new file, fsync if wanted, rename. Errors are logged.
 * writer: writes it asynchronously, and true means that it will; NULL: written at once.
 */
bool guid2lid_save(struct guid2lid *map, struct state_writer *writer, bool fsync_it);
/* Whether the last write failed, and has not been retried. */
bool guid2lid_has_failed(const struct guid2lid *map);

#endif
