// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether two SMs of a subnet have alike what they must (core/agreed.def): as a text that one
 * sends the other, and what follows from it. Pure.
 *
 * A line of the text is the name of an option, a digest of its value made with the key of
 * replication, and the value where that is no secret:
 *
 *	lmc 6b86b273ff34fce1 0
 *	m_key d4735e3a265e16ee
 *
 * Names that only one of the two knows are not compared: another version may have them.
 */
#ifndef HA_AGREEMENT_H
#define HA_AGREEMENT_H

#include "core/agreed.h"

#define AGREEMENT_MAX 32768    /* octets of a text */
#define AGREEMENT_VALUE_MAX 80 /* octets of a value; a longer one is cut */

/* An option that two SMs have different values of. */
struct agreement_difference {
	const char *name;
	enum agreed_how how;
	char *here, *there; /* NULL but for AGREED_SHOWN */
};

/* Newly allocated. */
char *agreement_text(const struct agreed *agreed, const char *key);
/* Of a text; never 0. */
uint64_t agreement_digest(const char *text, size_t length, const char *key);
/*
 * Of struct agreement_difference, in the order of agreed.def, and the number of options that were
 * compared. NULL: theirs is no such text, or there is nothing in it to compare.
 */
GPtrArray *agreement_compare(const struct agreed *own, const char *key, const char *theirs,
			     size_t length, unsigned int *compared);
/* "lmc (0 here, 2 there), m_key": the first few, and how many more. Newly allocated. */
char *agreement_tell(const GPtrArray *differences);

#endif
