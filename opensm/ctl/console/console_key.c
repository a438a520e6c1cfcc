// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads the key file, checking owner and mode of the open file, and compares keys. */
#include "ctl/console/console_key.h"

#include <string.h>
#include <unistd.h>

#include "complib/file.h"

/* The first line, or NULL if it is not a suitable key. */
static char *first_line(char *text)
{
	size_t length = strcspn(text, "\r\n");

	if (length < CONSOLE_KEY_MIN || length > CONSOLE_KEY_MAX)
		return NULL;
	text[length] = '\0';
	return g_utf8_validate(text, -1, NULL) ? g_strdup(text) : NULL;
}

char *console_key_load(const char *option, const char *file, GError **error)
{
	int fd = file_open_secret(file, error);
	char text[CONSOLE_KEY_MAX + 2] = "";
	char *key = NULL;
	ssize_t n;

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		text[MAX(n, 0)] = '\0';
		key = first_line(text);
		if (!key)
			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
				    "%s:1: expected a line of %u to %u octets", file,
				    CONSOLE_KEY_MIN, CONSOLE_KEY_MAX);
		explicit_bzero(text, sizeof(text));
		close(fd);
	}
	if (!key)
		g_prefix_error(error, "%s: ", option);
	return key;
}

void console_key_free(char *key)
{
	if (key)
		explicit_bzero(key, strlen(key));
	g_free(key);
}

/* Compares digests, so that the time does not reveal even the length of the key. */
bool console_key_fits(const char *key, const char *line)
{
	g_autofree char *want = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);
	g_autofree char *have = g_compute_checksum_for_string(G_CHECKSUM_SHA256, line, -1);
	unsigned char different = 0;

	for (unsigned int i = 0; want[i]; i++)
		different |= (unsigned char)(want[i] ^ have[i]);
	return !different;
}
