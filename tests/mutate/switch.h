// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef TESTS_MUTATE_SWITCH_H
#define TESTS_MUTATE_SWITCH_H
/*
 * All mutants of a run are in one build; the environment says which of them is active. Every source
 * file of it begins with this header.
 */

/* Number of the active mutant; 0: none; negative: none, and each one that is reached is noted. */
extern int mutant_active;

/* Notes that the place was reached; returns 0. */
int mutant_reached(int number);

static inline int mutant_on(int number)
{
	return mutant_active >= 0 ? mutant_active == number : mutant_reached(number);
}
#endif
