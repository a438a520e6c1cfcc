// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Indexes of P_Key tables that a P_Key has left, and when: a queue pair that some process still has
 * there speaks by whatever comes to that index next. No hardware holds this, so it is kept in the
 * file pkey_indexes (state_file.h), of mode 0600, and told to standbys:
 *
 *	0xPORTGUID INDEX 0xPKEY TIME
 *
 * Times are milliseconds since 1970 where the clock of the machine counts. They go on evenly while
 * the daemon runs, and one in the future, of a clock that was set back, counts as now.
 *
 * An index is in here before the P_Key leaves it. It stays when another P_Key has come there, until
 * that one leaves, too.
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

/* Of that directory; NULL: nothing is kept. now_ns: of the runtime. */
struct p_key_memory *p_key_memory_new(const char *directory, struct log *log,
				      enum runtime_mode mode, uint64_t now_ns);
void p_key_memory_free(struct p_key_memory *memory);

/* The time that entries have, ms. */
uint64_t p_key_memory_time(const struct p_key_memory *memory, uint64_t now_ns);

/* The P_Key leaves that index of the port. */
void p_key_memory_leave(struct p_key_memory *memory, uint64_t guid, uint16_t index, uint16_t p_key,
			uint64_t now_ns);
/* What left the index last, and when; 0: nothing, as far as is known. */
uint16_t p_key_memory_left(const struct p_key_memory *memory, uint64_t guid, uint16_t index,
			   uint64_t *when);
/* The time of the first P_Key that left an index of the port later than that; UINT64_MAX: none. */
uint64_t p_key_memory_next(const struct p_key_memory *memory, uint64_t guid, uint64_t than);

/* Forgets ports that are away and that nothing has left for a month, or, of very many, sooner. */
void p_key_memory_limit(struct p_key_memory *memory, bool (*is_there)(void *arg, uint64_t guid),
			void *arg, uint64_t now_ns);

/* Lines of the file, or of another SM: of two about one index the later one counts. */
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
