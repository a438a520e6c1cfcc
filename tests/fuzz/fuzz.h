// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A fuzz target is one decoder or one file parser; fuzz.c runs it on altered seeds. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	size_t max_size; /* of an input, octets */
	unsigned int runs; /* altered inputs in make check: about a second's worth */
	/* Makes what all runs share and adds inputs to start from (GBytes). */
	void *(*setup)(GPtrArray *seeds);
	void (*run)(void *state, const uint8_t *data, size_t size);
	void (*teardown)(void *state);
};

/* Each program has one. */
extern const struct fuzz_target fuzz_target;

/* Stops the run with a message: what was expected did not hold. */
#define fuzz_expect(condition)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			g_error("%s:%d: expected %s", __FILE__, __LINE__, #condition);             \
	} while (0)

/* A seed from a string, its end not included. */
void fuzz_add_text(GPtrArray *seeds, const char *text);

/* A file name from which the input can be read until the next call; *fd starts as -1. */
char *fuzz_file(int *fd, const uint8_t *data, size_t size);

/* Input number `number` of a series: the same bytes for the same numbers and seeds. */
GByteArray *fuzz_mutate(const GPtrArray *seeds, uint64_t series, uint64_t number, size_t max_size);

#endif
