// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Indexes of P_Key tables that a P_Key has left, and when: a queue pair that a process still has
 * there uses the next P_Key at that index. The hardware does not record this, so it is kept in the
 * file pkey_indexes (state_file.h), of mode 0600, and sent to standbys:
 *
 *	0xPORTGUID INDEX 0xPKEY TIME
 *
 * Times are in milliseconds since 1970 by the clock of the machine at start. They advance steadily
 * while the daemon runs; a time in the future, after the clock was set back, counts as now.
 *
 * An index is recorded before the P_Key leaves it. When another P_Key takes it, the record stays
 * until that one leaves, too.
 */
#ifndef SM_STORE_PKEY_MEMORY_H
#define SM_STORE_PKEY_MEMORY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/actor.h"
#include "complib/log.h"

#define P_KEY_MEMORY_FILE "pkey_indexes"

struct p_key_memory;

/* In that directory; NULL: nothing is stored. now_ns: of the runtime. */
struct p_key_memory *p_key_memory_new(const char *directory, struct log *log,
				      enum runtime_mode mode, uint64_t now_ns);
void p_key_memory_free(struct p_key_memory *memory);

/* The current time as in entries, ms. */
uint64_t p_key_memory_time(const struct p_key_memory *memory, uint64_t now_ns);

/* The P_Key leaves that index of the port. */
void p_key_memory_leave(struct p_key_memory *memory, uint64_t guid, uint16_t index, uint16_t p_key,
			uint64_t now_ns);
/* The last P_Key that left the index, and when; 0: none, as far as known. */
uint16_t p_key_memory_left(const struct p_key_memory *memory, uint64_t guid, uint16_t index,
			   uint64_t *when);
/* The first time after that at which a P_Key left an index of the port; UINT64_MAX: none. */
uint64_t p_key_memory_next(const struct p_key_memory *memory, uint64_t guid, uint64_t than);

/* Drops absent ports from which nothing has moved for a month, or sooner if there are very many. */
void p_key_memory_limit(struct p_key_memory *memory, bool (*is_there)(void *arg, uint64_t guid),
			void *arg, uint64_t now_ns);

/* Reads lines of the file, or of another SM: of two about one index the later one counts. */
void p_key_memory_parse(struct p_key_memory *memory, const char *what, const char *text,
			uint64_t now_ns);
char *p_key_memory_format(const struct p_key_memory *memory);
void p_key_memory_each(const struct p_key_memory *memory,
		       void (*each)(void *arg, uint64_t guid, uint16_t index, uint16_t p_key,
				    uint64_t when),
		       void *arg);
uint64_t p_key_memory_changes(const struct p_key_memory *memory); /* since the start */
const char *p_key_memory_file(const struct p_key_memory *memory); /* NULL: none */

#endif
