// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of a command of the simulator. What reads one reports what is wrong with it in out, in
 * place of the output, and returns false or NULL.
 */
#ifndef SIM_WORDS_H
#define SIM_WORDS_H

#include "libvendor/sim/sim_private.h"

struct words {
	struct sim *sim;
	char **at;
	unsigned int n;
	GString *out;
};

/* Replaces the output; false. */
bool words_fail(const struct words *words, const char *format, ...) G_GNUC_PRINTF(2, 3);
struct sim_node *words_node(const struct words *words, unsigned int word);
bool words_number(const struct words *words, const char *text, uint64_t max, uint64_t *value);
/* An external port: a node, then its number. */
bool words_port(const struct words *words, unsigned int word, const struct sim_port **port);

#endif
