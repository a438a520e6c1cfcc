// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is wrong in a file, all of it: readers go on behind a mistake, so that people need not start
 * again for each. Nothing of such a file is taken.
 */
#ifndef CORE_MISTAKES_H
#define CORE_MISTAKES_H

#include <glib.h>
#include <stdbool.h>

#define MISTAKES_TOLD 20 /* of a file; the others are counted */

/* All zero: none yet. */
struct mistakes {
	GString *lines;
	unsigned int n;
};

/* Whether one more is told; else a text for it would be made for nothing. */
static inline bool mistakes_have_room(const struct mistakes *mistakes)
{
	return mistakes->n < MISTAKES_TOLD;
}

/* One more: a line that begins with its place; NULL: it is counted only. */
void mistakes_add(struct mistakes *mistakes, const char *line);
/* One more; takes the error. */
void mistakes_take(struct mistakes *mistakes, GError *error);
/* Frees them. False and error, a mistake a line: there are some. */
bool mistakes_end(struct mistakes *mistakes, const char *file, GQuark domain, int code,
		  GError **error);

#endif
