// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The configuration of a program beside the daemon: lines of a name and a value, "#" begins a
 * comment. Strict: an unknown name or a value that is not understood makes the whole file refused,
 * with a line for each mistake, "FILE:LINE: ...", that says what was expected.
 */
#ifndef CLIENT_CONFIG_FILE_H
#define CLIENT_CONFIG_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* False: the text is none of the values that are expected. words: of the key. */
typedef bool config_take_fn(const char *text, void *into, const void *words);

struct config_key {
	const char *name;
	config_take_fn *take;
	size_t offset; /* of what take() sets, in the values */
	const void *words;
	const char *expected;
	bool again; /* may be given several times */
};

/*
 * Sets values by the lines of a text; at most 64 keys. page: of the manual; name: of the file, for
 * messages. False and error: the values are of no use.
 */
bool config_take_text(const struct config_key *keys, size_t n, const char *page, const char *name,
		      const char *text, size_t size, void *into, GError **error);

config_take_fn config_as_text;	 /* char *: any text */
config_take_fn config_as_file;	 /* char *: the name of a file, from the root directory */
config_take_fn config_as_word;	 /* unsigned int: the number of one of the words, NULL ends them */
config_take_fn config_as_switch; /* bool: one of two words */

/*
 * A small text file, at most 1 MiB, newly allocated; secret: refused if users other than the owner
 * and the group can read it. NULL and error.
 */
char *config_read_file(const char *path, bool secret, size_t *size, GError **error);

#define CONFIG_ERROR config_error_quark()
GQuark config_error_quark(void);
/* Adds "FILE:LINE: TEXT"; line 0: "FILE: TEXT". */
void config_mistake(GString *mistakes, const char *file, unsigned int line, const char *format, ...)
	G_GNUC_PRINTF(4, 5);
/* True if there are none; else false and an error of these lines. */
bool config_no_mistakes(const GString *mistakes, GError **error);

#endif
