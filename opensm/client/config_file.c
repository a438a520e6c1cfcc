// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "client/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1u << 20)
#define MISTAKES_TOLD 20
#define KEYS_MAX 64

/* ---- errors ---- */

GQuark config_error_quark(void)
{
	return g_quark_from_static_string("config-error");
}

void config_mistake(GString *mistakes, const char *file, unsigned int line, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	if (line)
		g_string_append_printf(mistakes, "%s:%u: %s\n", file, line, text);
	else
		g_string_append_printf(mistakes, "%s: %s\n", file, text);
}

bool config_no_mistakes(const GString *mistakes, GError **error)
{
	g_autofree char *text = g_strchomp(g_strdup(mistakes->str));
	g_auto(GStrv) lines = g_strsplit(text, "\n", MISTAKES_TOLD + 1);

	if (!mistakes->len)
		return true;
	if (g_strv_length(lines) > MISTAKES_TOLD) {
		g_free(lines[MISTAKES_TOLD]);
		lines[MISTAKES_TOLD] = g_strdup("and more mistakes");
	}
	g_free(text);
	text = g_strjoinv("\n", lines);
	g_set_error_literal(error, CONFIG_ERROR, 0, text);
	return false;
}

/* ---- values ---- */

bool config_as_text(const char *text, void *into, const void *unused)
{
	char **value = into;

	(void)unused;
	g_free(*value);
	*value = g_strdup(text);
	return true;
}

bool config_as_file(const char *text, void *into, const void *unused)
{
	return *text == '/' && config_as_text(text, into, unused);
}

static int find_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return -1;
}

bool config_as_word(const char *text, void *into, const void *words)
{
	int word = find_word(text, words);

	if (word >= 0)
		*(unsigned int *)into = (unsigned int)word;
	return word >= 0;
}

bool config_as_switch(const char *text, void *into, const void *words)
{
	int word = find_word(text, words);

	if (word >= 0)
		*(bool *)into = word;
	return word >= 0;
}

/* ---- lines ---- */

struct reader {
	const struct config_key *keys;
	size_t n;
	const char *page, *name;
	void *into;
	GString *mistakes;
	unsigned int line;
	unsigned int seen[KEYS_MAX]; /* the line that gives it; 0: none so far */
};

static const struct config_key *find_key(const struct reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->n; i++)
		if (!strcmp(reader->keys[i].name, name))
			return &reader->keys[i];
	return NULL;
}

static void take_value(struct reader *reader, const struct config_key *key, const char *value)
{
	unsigned int *seen = &reader->seen[key - reader->keys];

	if (*seen && !key->again)
		config_mistake(reader->mistakes, reader->name, reader->line,
			       "%s: line %u has given it already", key->name, *seen);
	else if (!*value)
		config_mistake(reader->mistakes, reader->name, reader->line,
			       "%s: expected %s after it", key->name, key->expected);
	else if (!key->take(value, (char *)reader->into + key->offset, key->words))
		config_mistake(reader->mistakes, reader->name, reader->line,
			       "%s: found '%s', expected %s", key->name, value, key->expected);
	*seen = reader->line;
}

static void take_line(struct reader *reader, char *line)
{
	const struct config_key *key;
	size_t length;
	char *value;

	line[strcspn(line, "#")] = '\0';
	g_strstrip(line);
	if (!*line)
		return;
	length = strcspn(line, " \t");
	value = g_strchug(line + length + (line[length] != '\0'));
	line[length] = '\0';
	key = find_key(reader, line);
	if (key)
		take_value(reader, key, value);
	else
		config_mistake(reader->mistakes, reader->name, reader->line,
			       "'%s': expected an option of %s", line, reader->page);
}

bool config_take_text(const struct config_key *keys, size_t n, const char *page, const char *name,
		      const char *text, size_t size, void *into, GError **error)
{
	g_autoptr(GString) mistakes = g_string_new(NULL);
	struct reader reader = {keys, n, page, name, into, mistakes, 0, {0}};

	g_assert(n <= KEYS_MAX);
	if (memchr(text, '\0', size) || !g_utf8_validate(text, (gssize)size, NULL)) {
		config_mistake(mistakes, name, 0, "expected text in UTF-8");
	} else {
		g_autofree char *copy = g_strndup(text, size);
		g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);

		for (unsigned int i = 0; lines[i]; i++) {
			reader.line = i + 1;
			take_line(&reader, lines[i]);
		}
	}
	return config_no_mistakes(mistakes, error);
}

/* ---- files ---- */

static char *read_all(int file, size_t *size)
{
	GString *text = g_string_new(NULL);
	char piece[4096];
	ssize_t n;

	while ((n = read(file, piece, sizeof(piece))) > 0 && text->len <= FILE_MAX)
		g_string_append_len(text, piece, n);
	if (n >= 0 && text->len > FILE_MAX)
		errno = EFBIG;
	explicit_bzero(piece, sizeof(piece));
	*size = text->len;
	return g_string_free(text, n != 0);
}

char *config_read_file(const char *path, bool secret, size_t *size, GError **error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat about = {0};
	size_t unused;
	char *text = NULL;

	if (file >= 0 && fstat(file, &about) == 0) {
		errno = EINVAL;
		if (S_ISREG(about.st_mode) && !(secret && about.st_mode & S_IRWXO))
			text = read_all(file, size ? size : &unused);
	}
	if (!text && file >= 0 && !S_ISREG(about.st_mode))
		g_set_error(error, CONFIG_ERROR, 0, "%s: expected a file", path);
	else if (!text && secret && about.st_mode & S_IRWXO)
		g_set_error(error, CONFIG_ERROR, 0,
			    "%s: has mode %04o, expected a file that only its owner and its group "
			    "can read, such as 0640",
			    path, about.st_mode & 07777);
	else if (!text)
		g_set_error(error, CONFIG_ERROR, 0, "%s: %s", path, g_strerror(errno));
	if (file >= 0)
		close(file);
	return text;
}
