// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ha/agreement.h"

#include <string.h>

#define DIGEST_BYTES 8
#define DIGEST_TEXT (2 * DIGEST_BYTES)
#define TOLD_MAX 12 /* differences listed by name */

/* The first octets of an HMAC of both, each with its final NUL. */
static uint64_t make_digest(const char *key, const char *what, const char *value, size_t length)
{
	GHmac *hmac = g_hmac_new(G_CHECKSUM_SHA256, (const guchar *)key, strlen(key));
	uint8_t mac[32];
	gsize size = sizeof(mac);
	uint64_t digest;

	g_hmac_update(hmac, (const guchar *)what, (gssize)strlen(what) + 1);
	g_hmac_update(hmac, (const guchar *)value, (gssize)length);
	g_hmac_get_digest(hmac, mac, &size);
	g_hmac_unref(hmac);
	memcpy(&digest, mac, sizeof(digest));
	return GUINT64_FROM_BE(digest);
}

static uint64_t digest_of(const struct agreed_row *row, const char *key)
{
	g_autofree char *what = g_strconcat("option ", row->name, NULL);

	return make_digest(key, what, row->value, strlen(row->value));
}

uint64_t agreement_digest(const char *text, size_t length, const char *key)
{
	uint64_t digest = make_digest(key, "options", text, length);

	return digest ? digest : 1;
}

/* The value as it may be sent: printable ASCII, and not too long. */
static char *shown(const char *value)
{
	char *text = g_strndup(value, AGREEMENT_VALUE_MAX);

	for (char *c = text; *c; c++)
		if (!g_ascii_isprint(*c))
			*c = '?';
	return text;
}

char *agreement_text(const struct agreed *agreed, const char *key)
{
	GString *text = g_string_new(NULL);

	for (unsigned int i = 0; i < agreed->n; i++) {
		const struct agreed_row *row = &agreed->rows[i];
		g_autofree char *value = shown(row->value);

		g_string_append_printf(text, "%s %016" G_GINT64_MODIFIER "x", row->name,
				       digest_of(row, key));
		if (row->how == AGREED_SHOWN)
			g_string_append_printf(text, " %s", value);
		g_string_append_c(text, '\n');
	}
	return g_string_free(text, FALSE);
}

/* ---- the other SM's statement ---- */

struct line {
	char *name;	   /* owns the octets of the line */
	const char *value; /* points into name; NULL: none */
	uint64_t digest;
};

static void line_free(gpointer data)
{
	struct line *line = data;

	g_free(line->name);
	g_free(line);
}

static bool is_value(const char *text)
{
	const char *c = text;

	while (g_ascii_isprint(*c))
		c++;
	return !*c && c - text <= AGREEMENT_VALUE_MAX;
}

/* NULL: malformed. Takes ownership of octets. */
static struct line *parse_line(char *octets)
{
	size_t name = strspn(octets, "abcdefghijklmnopqrstuvwxyz0123456789_");
	const char *digest = octets + name + 1, *value = digest + DIGEST_TEXT;
	struct line *line;

	if (!name || octets[name] != ' ' || strspn(digest, "0123456789abcdef") != DIGEST_TEXT ||
	    (*value && (*value != ' ' || !is_value(value + 1)))) {
		g_free(octets);
		return NULL;
	}
	octets[name] = '\0';
	line = g_new0(struct line, 1);
	line->name = octets;
	line->digest = g_ascii_strtoull(digest, NULL, 16);
	line->value = *value ? value + 1 : NULL;
	return line;
}

/* Name -> struct line; NULL: malformed. */
static GHashTable *parse(const char *text, size_t length)
{
	GHashTable *lines = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, line_free);
	const char *end = text + length;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct line *line = NULL;

		if (stop && !memchr(text, '\0', (size_t)(stop - text)))
			line = parse_line(g_strndup(text, (size_t)(stop - text)));
		if (!line || g_hash_table_contains(lines, line->name)) {
			if (line)
				line_free(line);
			g_hash_table_unref(lines);
			return NULL;
		}
		g_hash_table_insert(lines, line->name, line);
		text = stop + 1;
	}
	return lines;
}

static void difference_free(gpointer data)
{
	struct agreement_difference *difference = data;

	g_free(difference->here);
	g_free(difference->there);
	g_free(difference);
}

static struct agreement_difference *difference_new(const struct agreed_row *row,
						   const struct line *line)
{
	struct agreement_difference *difference = g_new0(struct agreement_difference, 1);

	difference->name = row->name;
	difference->how = row->how;
	if (row->how != AGREED_SHOWN)
		return difference;
	difference->here = shown(row->value);
	difference->there = g_strdup(line->value ? line->value : "?");
	return difference;
}

GPtrArray *agreement_compare(const struct agreed *own, const char *key, const char *theirs,
			     size_t length, unsigned int *compared)
{
	GHashTable *lines = parse(theirs, length);
	GPtrArray *differences;

	*compared = 0;
	if (!lines)
		return NULL;
	differences = g_ptr_array_new_with_free_func(difference_free);
	for (unsigned int i = 0; i < own->n; i++) {
		const struct agreed_row *row = &own->rows[i];
		const struct line *line = g_hash_table_lookup(lines, row->name);

		*compared += line != NULL;
		if (line && line->digest != digest_of(row, key))
			g_ptr_array_add(differences, difference_new(row, line));
	}
	g_hash_table_unref(lines);
	if (!*compared)
		g_clear_pointer(&differences, g_ptr_array_unref);
	return differences;
}

char *agreement_tell(const GPtrArray *differences)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < MIN(differences->len, TOLD_MAX); i++) {
		const struct agreement_difference *difference = differences->pdata[i];

		g_string_append_printf(text, "%s%s", i ? ", " : "", difference->name);
		if (difference->how == AGREED_SHOWN)
			g_string_append_printf(text, " (%s here, %s there)", difference->here,
					       difference->there);
		else if (difference->how == AGREED_FILE)
			g_string_append(text, " (contents of the file)");
	}
	if (differences->len > TOLD_MAX)
		g_string_append_printf(text, " and %u more", differences->len - TOLD_MAX);
	return g_string_free(text, FALSE);
}
