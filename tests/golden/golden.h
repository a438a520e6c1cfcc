// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Texts that are kept in files of the source tree, to be reviewed as diffs. */
#ifndef TESTS_GOLDEN_GOLDEN_H
#define TESTS_GOLDEN_GOLDEN_H

/*
 * Fails and prints the first line that differs if the text is not that of the file; with
 * GOLDEN_UPDATE in the environment the text is written there first.
 */
void golden_compare(const char *file, const char *text);

/* Writes a text to that name in the directory GOLDEN_TELL of the environment, if there is one. */
void golden_tell(const char *name, const char *text);

/* Fails and prints the first line that differs if the two texts differ; file: their name. */
void golden_expect_same(const char *file, const char *kept, const char *text);

#endif
