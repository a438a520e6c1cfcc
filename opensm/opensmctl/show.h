// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes text safe to show to the user. */
#ifndef OPENSMCTL_SHOW_H
#define OPENSMCTL_SHOW_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Lines of text in which only line ends and tabs can control the terminal, whatever their source;
 * newly allocated.
 */
char *show_harmless(const char *text);
void show(FILE *out, const char *text);

/* False: the file is not text, and out is a terminal. */
bool show_takes_file(FILE *out, int file);
/* Writes the whole file, unchanged unless it goes to a terminal. False: an error, see errno. */
bool show_file(FILE *out, int file);

#endif
