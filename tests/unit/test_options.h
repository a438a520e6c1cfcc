// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Options from a command line of words and a file of text, for the tests of options. */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H

#include "core/options_private.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct loaded {
	bool good;
	struct options *options;
	enum options_request request;
	GPtrArray *warnings;
	GError *error;
};

/* There is no such file: only defaults. */
#define NO_FILE "/nonexistent/opensm.conf"

static inline struct loaded load_words(const char *default_file, const char *words)
{
	g_autofree char *line = g_strconcat("opensm ", words, NULL);
	g_auto(GStrv) argv = g_strsplit(line, " ", -1);
	struct loaded loaded = {0};
	int argc = *words ? (int)g_strv_length(argv) : 1;

	loaded.warnings = g_ptr_array_new_with_free_func(g_free);
	loaded.good = options_load_with(&loaded.options, &loaded.request, default_file, argc, argv,
					loaded.warnings, &loaded.error);
	ck_assert_msg(loaded.good == !loaded.error, "'%s': false without an error", words);
	ck_assert_msg(loaded.good || !loaded.options, "'%s': half applied", words);
	return loaded;
}

static inline void loaded_free(struct loaded *loaded)
{
	options_unref(loaded->options);
	g_ptr_array_unref(loaded->warnings);
	g_clear_error(&loaded->error);
}

static inline char *temp_file(const void *text, size_t length)
{
	char *name = NULL;
	int fd = g_file_open_tmp("opensm-test-XXXXXX", &name, NULL);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq((int)write(fd, text, length), (int)length);
	close(fd);
	return name;
}

static inline struct loaded load_bytes(const void *text, size_t length, const char *words)
{
	g_autofree char *file = temp_file(text, length);
	struct loaded loaded = load_words(file, words);

	g_unlink(file);
	return loaded;
}

static inline struct loaded load_text(const char *text, const char *words)
{
	return load_bytes(text, strlen(text), words);
}

static inline const char *loaded_warning(const struct loaded *loaded, unsigned int i)
{
	ck_assert_uint_lt(i, loaded->warnings->len);
	return g_ptr_array_index(loaded->warnings, i);
}

static inline void assert_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' lacks '%s'", text, part);
}

/* The result of source is good and has this value; it is freed. */
static inline void assert_loaded(struct loaded loaded, const char *source, enum option_id id,
				 const char *value)
{
	g_autofree char *text = NULL;

	ck_assert_msg(loaded.good, "'%s': %s", source, loaded.error ? loaded.error->message : "");
	text = options_text(loaded.options, id);
	ck_assert_msg(strcmp(text, value) == 0, "'%s': %s is %s, not %s", source, options_name(id),
		      text, value);
	loaded_free(&loaded);
}

/* The result of source is an error with this code and text; it is freed. */
static inline void assert_not_loaded(struct loaded loaded, const char *source, int code,
				     const char *message)
{
	ck_assert_msg(!loaded.good, "'%s' was accepted", source);
	ck_assert_int_eq(loaded.error->code, code);
	assert_contains(loaded.error->message, message);
	loaded_free(&loaded);
}

#endif
