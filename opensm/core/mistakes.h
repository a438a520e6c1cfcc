// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All errors in a file: a reader continues after an error, so that the user need not start again
 * for each. Nothing of such a file is used.
 */
#ifndef CORE_MISTAKES_H
#define CORE_MISTAKES_H

#include <glib.h>
#include <stdbool.h>

#define MISTAKES_TOLD 20 /* per file; the others are counted */

/* All zero: no errors yet. */
struct mistakes {
	GString *lines;
	unsigned int n;
};

/* Whether another error will be reported; if not, its text need not be made. */
static inline bool mistakes_have_room(const struct mistakes *mistakes)
{
	return mistakes->n < MISTAKES_TOLD;
}

/* Adds an error: a line that begins with its location; NULL: only counts it. */
void mistakes_add(struct mistakes *mistakes, const char *line);
/* Adds an error and takes ownership of it. */
void mistakes_take(struct mistakes *mistakes, GError *error);
/* Frees them. False and an error, with one line for each, if there are some. */
bool mistakes_end(struct mistakes *mistakes, const char *file, GQuark domain, int code,
		  GError **error);

#endif
