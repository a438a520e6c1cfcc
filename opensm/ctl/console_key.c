// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reading the key file, with its owner and mode as they are when it is open; comparing. */
#include "ctl/console_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/command.h"

static bool check_file(int fd, const char *option, const char *file, GError **error)
{
	struct stat about;
	const char *wrong = NULL;

	if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode))
		wrong = "is not a regular file";
	else if (about.st_uid != geteuid() && about.st_uid != 0)
		wrong = "belongs to another user";
	else if (about.st_mode & (S_IRWXG | S_IRWXO))
		wrong = "may be used by others than its owner: expected mode 0600";
	if (wrong)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM, "%s: %s %s", option, file,
			    wrong);
	return !wrong;
}

/* The first line, or NULL if it is not fit to be a key. */
static char *first_line(char *text)
{
	size_t length = strcspn(text, "\r\n");

	if (length < CONSOLE_KEY_MIN || length > COMMAND_MAX_LINE)
		return NULL;
	text[length] = '\0';
	return g_utf8_validate(text, -1, NULL) ? g_strdup(text) : NULL;
}

char *console_key_load(const char *option, const char *file, GError **error)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[COMMAND_MAX_LINE + 2] = "";
	char *key = NULL;
	ssize_t n;

	if (fd < 0) {
		int err = errno;

		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s: %s", option,
			    file, g_strerror(err));
		return NULL;
	}
	if (check_file(fd, option, file, error)) {
		n = read(fd, text, sizeof(text) - 1);
		text[MAX(n, 0)] = '\0';
		key = first_line(text);
		if (!key)
			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
				    "%s: %s:1: expected a line of %u to %u octets", option, file,
				    CONSOLE_KEY_MIN, COMMAND_MAX_LINE);
		explicit_bzero(text, sizeof(text));
	}
	close(fd);
	return key;
}

void console_key_free(char *key)
{
	if (key)
		explicit_bzero(key, strlen(key));
	g_free(key);
}

/* Of digests, so that not even the length of the key can be told from the time. */
bool console_key_fits(const char *key, const char *line)
{
	g_autofree char *want = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);
	g_autofree char *have = g_compute_checksum_for_string(G_CHECKSUM_SHA256, line, -1);
	unsigned char different = 0;

	for (unsigned int i = 0; want[i]; i++)
		different |= (unsigned char)(want[i] ^ have[i]);
	return !different;
}
