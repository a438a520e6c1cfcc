// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the tests of stores have in common: stores of both kinds, chunks and epochs. */
#ifndef TESTS_UNIT_SSA_BED_H
#define TESTS_UNIT_SSA_BED_H

#include "ssa/store/store.h"
#include "tests/unit/redis_server.h"

enum bed_kind { BED_FILES, BED_REDIS, BED_KINDS };

struct bed {
	enum bed_kind kind;
	char *directory; /* of files, and for the test's own */
	char *uri;
	uint64_t prefix;
	struct ssa_store *writer, *reader;
};

/* Starts the server that all beds use; ends it. */
void bed_begin(void);
void bed_finish(void);
/* The number of kinds that can be tested here. */
int bed_kinds(void);

/* A new directory, in memory where that can be: tests need no disk. Free with g_free(). */
char *bed_directory(void);
/* One at a time: a writer, which keeps unused chunks for keep_s seconds, and a reader. */
struct bed *bed_open(int kind, unsigned int keep_s);
void bed_close(struct bed *bed);
struct ssa_store *bed_store(const struct bed *bed, bool writes, unsigned int keep_s);
/* How many chunks the store has, used or not. */
unsigned int bed_chunks(const struct bed *bed);

/* Time of the calendar passes, for this process, until the next bed_open(): chunks grow old. */
void bed_later(unsigned int seconds);

/* The name and the octets of the chunk with that number; the name is good until the next one. */
const char *bed_name(unsigned int chunk);
GBytes *bed_frame(unsigned int chunk);
/* Puts chunks and publishes a manifest that names them: "TERM EPOCH FIRST N". */
bool bed_try_publish(struct ssa_store *store, uint64_t term, uint64_t epoch, unsigned int first,
		     unsigned int n, GError **error);
void bed_publish(struct ssa_store *store, uint64_t term, uint64_t epoch, unsigned int first,
		 unsigned int n);
/* Reads the manifest and all its chunks, and fails the test unless they are right; the epoch. */
uint64_t bed_read(struct ssa_store *store);
/* The epoch of the manifest; 0: there is none. */
uint64_t bed_epoch(struct ssa_store *store);

/* Asserts that error has that code and that text in it, and clears it. */
void bed_expect(GError **error, enum ssa_store_error code, const char *text);

#endif
