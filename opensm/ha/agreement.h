// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether two SMs of a subnet have the same settings where they must (core/agreed.def): as a text
 * that one sends the other, and the result. Pure.
 *
 * A line of the text is the name of an option, a digest of its value made with the replication key,
 * and the value unless it is secret:
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
#define AGREEMENT_VALUE_MAX 80 /* octets of a value; longer ones are truncated */

/* An option with different values on two SMs. */
struct agreement_difference {
	const char *name;
	enum agreed_how how;
	char *here, *there; /* NULL except for AGREED_SHOWN */
};

/* The statement as text, newly allocated. */
char *agreement_text(const struct agreed *agreed, const char *key);
/* The digest of a text; never 0. */
uint64_t agreement_digest(const char *text, size_t length, const char *key);
/*
 * Array of struct agreement_difference, in the order of agreed.def, and the number of options
 * compared. NULL: theirs is malformed, or has nothing to compare.
 */
GPtrArray *agreement_compare(const struct agreed *own, const char *key, const char *theirs,
			     size_t length, unsigned int *compared);
/* "lmc (0 here, 2 there), m_key": the first few, and the number of others. Newly allocated. */
char *agreement_tell(const GPtrArray *differences);

#endif
