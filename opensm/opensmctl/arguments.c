// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* All words after the command belong to it, whatever they look like. */
#include "opensmctl/arguments.h"

#include <string.h>

G_GNUC_PRINTF(2, 3)
static bool wrong(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(
		error, g_error_new_valist(G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, format, args));
	va_end(args);
	return false;
}

/* The word quoted for the console, or NULL if that is impossible. */
static char *quoted(const char *word)
{
	for (const char *c = word; *c; c++)
		if (g_ascii_iscntrl(*c) && *c != '\t')
			return NULL;
	if (*word && *word != '"' && *word != '\'' && !strpbrk(word, " \t"))
		return g_strdup(word);
	if (!strchr(word, '"'))
		return g_strconcat("\"", word, "\"", NULL);
	return strchr(word, '\'') ? NULL : g_strconcat("'", word, "'", NULL);
}

char *arguments_line(char *const *words, GError **error)
{
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned int i = 0; words[i]; i++) {
		g_autofree char *word = quoted(words[i]);
		g_autofree char *escaped = word ? NULL : g_strescape(words[i], NULL);

		if (!word) {
			wrong(error,
			      "'%s': expected a word without line ends and other control "
			      "characters, and without one of the two kinds of quotes",
			      escaped);
			return NULL;
		}
		g_string_append_printf(line, "%s%s", i ? " " : "", word);
	}
	return g_strdup(line->str);
}

static bool parse_guid(const char *text, uint64_t *guid, GError **error)
{
	guint64 number = 0;
	bool hex = g_str_has_prefix(text, "0x");

	if (!g_ascii_string_to_unsigned(hex ? text + 2 : text, 16, 1, G_MAXUINT64, &number, NULL))
		return wrong(error,
			     "--port: '%s' is not a port GUID, expected 0x and up to 16 "
			     "digits",
			     text);
	*guid = number;
	return true;
}

static bool check(const struct arguments *a, const char *port, GError **error)
{
	if ((a->socket != NULL) + (port != NULL) + (a->connect != NULL) > 1)
		return wrong(error, "--socket, --port and --connect each name a daemon: expected "
				    "one of them");
	if (!a->connect && (a->ca || a->cert || a->cert_key || a->key_file))
		return wrong(error, "--ca, --cert, --cert-key and --key-file are for --connect");
	if (!a->cert != !a->cert_key)
		return wrong(error, "--cert and --cert-key belong together");
	return true;
}

bool arguments_parse(struct arguments *a, int argc, char **argv, GError **error)
{
	g_autofree char *port = NULL;
	g_auto(GStrv) rest = NULL;
	gboolean json = FALSE, quiet = FALSE, version = FALSE;
	const GOptionEntry entries[] = {
		{"socket", 's', 0, G_OPTION_ARG_FILENAME, &a->socket, "Unix socket of the daemon",
		 "FILE"},
		{"port", 'p', 0, G_OPTION_ARG_STRING, &port, "the daemon of this port", "GUID"},
		{"json", 'j', 0, G_OPTION_ARG_NONE, &json, "print each answer as a line of JSON",
		 NULL},
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "show nothing if there is no problem",
		 NULL},
		{"connect", 0, 0, G_OPTION_ARG_STRING, &a->connect, "a remote console, by TLS",
		 "HOST:PORT"},
		{"ca", 0, 0, G_OPTION_ARG_FILENAME, &a->ca,
		 "CA certificates that verify that "
		 "console",
		 "FILE"},
		{"cert", 0, 0, G_OPTION_ARG_FILENAME, &a->cert, "certificate of this client",
		 "FILE"},
		{"cert-key", 0, 0, G_OPTION_ARG_FILENAME, &a->cert_key, "its private key", "FILE"},
		{"key-file", 0, 0, G_OPTION_ARG_FILENAME, &a->key_file,
		 "file whose first line is the key of the console; without it, opensmctl asks "
		 "for the key",
		 "FILE"},
		{"version", 0, 0, G_OPTION_ARG_NONE, &version, "print the version and exit", NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &rest, NULL, NULL},
		{NULL}};
	g_autoptr(GOptionContext) context = g_option_context_new("[COMMAND [ARGUMENT...]]");
	bool good;

	g_option_context_set_strict_posix(context, TRUE);
	g_option_context_set_summary(context, "Sends commands to a running opensm; 'opensmctl "
					      "help' lists them. Without a command, reads lines.");
	g_option_context_add_main_entries(context, entries, NULL);
	good = g_option_context_parse(context, &argc, &argv, error);
	a->json = json;
	a->quiet = quiet;
	a->version = version;
	if (!good || (port && !parse_guid(port, &a->port_guid, error)) || !check(a, port, error))
		return false;
	if (!rest)
		return true;
	a->line = arguments_line(rest, error);
	a->words = g_steal_pointer(&rest);
	return a->line != NULL;
}

void arguments_clear(struct arguments *a)
{
	g_free(a->socket);
	g_free(a->connect);
	g_free(a->ca);
	g_free(a->cert);
	g_free(a->cert_key);
	g_free(a->key_file);
	g_free(a->line);
	g_strfreev(a->words);
}
