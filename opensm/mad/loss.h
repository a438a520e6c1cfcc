// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How many round trips get lost, estimated from requests that were answered in the end: an answer
 * to try n shows that n - 1 were lost and one was not. Requests that are never answered show
 * nothing: the target may be dead.
 *
 * The loss of first tries and that of later ones are kept apart. They are equal where all links
 * lose alike; where few nodes lose much, hardly any first try is lost on average, but a request
 * whose first try was lost probably goes to one of these nodes.
 */
#ifndef MAD_LOSS_H
#define MAD_LOSS_H

#include <stdbool.h>

#define LOSS_SILENCE 1e-5 /* accepted probability that a live target stays silent */
#define LOSS_MEMORY 256	  /* number of first tries, roughly, that count */
#define LOSS_AGAIN_MEMORY 64
#define LOSS_AGAIN_PRIOR 0.25 /* initial value, with the weight of two tries */

struct loss {
	double first, again; /* share of lost tries */
	unsigned int n_first, n_again;
};

static inline void loss_init(struct loss *loss)
{
	*loss = (struct loss){.again = LOSS_AGAIN_PRIOR, .n_again = 2};
}

static inline void loss_note(double *share, unsigned int *n, unsigned int memory, bool lost)
{
	*n += *n < memory;
	*share += ((lost ? 1.0 : 0.0) - *share) / *n;
}

/* A request was answered at try n, from 1. */
static inline void loss_answer(struct loss *loss, unsigned int n)
{
	loss_note(&loss->first, &loss->n_first, LOSS_MEMORY, n > 1);
	for (unsigned int i = 2; i <= n; i++)
		loss_note(&loss->again, &loss->n_again, LOSS_AGAIN_MEMORY, i < n);
}

/* Number of tries, at most limit, after which silence is unlikely to be loss. */
static inline unsigned int loss_tries(const struct loss *loss, unsigned int limit)
{
	double again = loss->again > loss->first ? loss->again : loss->first;
	double chance = loss->first;
	unsigned int tries = 1;

	for (; chance > LOSS_SILENCE && tries < limit; tries++)
		chance *= again;
	return tries;
}

#endif
