// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fuzz target is one decoder, one file parser or one state machine that input from outside
 * drives. It is linked with fuzz.c, which runs it on its corpus and altered inputs, the same each
 * time, or with libfuzzer.c, in which libFuzzer or AFL++ look for inputs that reach new code (make
 * fuzz).
 *
 * A run depends on its input alone: state that one leaves behind must not change another.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Adds a seed from a string, without its terminating zero. */
void fuzz_add_text(GPtrArray *seeds, const char *text);

/* The input as it is consumed; past its end it reads as zeros. */
struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

/* Copies the next size octets to `into`. */
static inline void fuzz_take(struct fuzz_bytes *bytes, void *into, size_t size)
{
	size_t n = MIN(size, bytes->left);

	if (size)
		memset(into, 0, size);
	if (n)
		memcpy(into, bytes->at, n);
	bytes->at += n;
	bytes->left -= n;
}

static inline uint8_t fuzz_octet(struct fuzz_bytes *bytes)
{
	uint8_t octet;

	fuzz_take(bytes, &octet, 1);
	return octet;
}

/* A file name from which the input can be read until the next call; *fd starts as -1. */
char *fuzz_file(int *fd, const uint8_t *data, size_t size);

/* Input number `number` of a series: the same bytes for the same numbers and seeds. */
GByteArray *fuzz_mutate(const GPtrArray *seeds, uint64_t series, uint64_t number, size_t max_size);

#endif
