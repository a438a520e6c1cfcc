// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads files of routes, as a whole or not at all.
 *
 * Both kinds consist of sections: a line that names a switch, then one line per LID. The reader
 * checks what can be checked without the subnet; whether switches, LIDs and ports exist is checked
 * by the engine.
 *
 *	Unicast lids [0-36] of switch Lid 2 guid 0x0000000000200000 ('L0-0'):
 *	0x0001 001 # Channel Adapter portguid 0x0000000000100001: 'H0-0-0'	opensm-lfts.dump
 *	0x0001 001 : (Channel Adapter portguid 0x0000000000100001: 'H0-0-0')	dump_lfts, ibroute
 *	0x0001 001								dump_lfts -n
 *
 *	Switch: guid 0x0000000000200000
 *	0x0003: 02 ff ff 02 02 # portguid 0x0000000000200001
 *
 * Names of nodes follow all fields of a line, so that a name cannot be taken for a field.
 */
#include "policy/files/lft_file.h"

#include <complib/file.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "complib/hash.h"

#define SHOWN 64 /* characters of a wrong line shown in a message */

GQuark lft_file_error_quark(void)
{
	return g_quark_from_static_string("lft-file-error-quark");
}

/* A file being read. */
struct reader {
	const char *file, *text; /* text: the line */
	unsigned int number;
	const char *expected;
	bool inside;		 /* in a section */
	GHashTable *switches;	 /* GUIDs already read */
	uint8_t *lids;		 /* read in this section, a bit each */
	void *target;
	bool (*line)(struct reader *reader, const char *text, GError **error);
};

G_GNUC_PRINTF(3, 4)
static bool refuse(const struct reader *reader, GError **error, const char *format, ...)
{
	g_autofree char *why = NULL, *shown = g_strndup(reader->text, SHOWN);
	g_autofree char *escaped = g_strescape(shown, NULL), *told = NULL;
	va_list args;

	va_start(args, format);
	why = g_strdup_vprintf(format, args);
	va_end(args);
	told = g_strescape(why, NULL);
	g_set_error(error, LFT_FILE_ERROR, 0, "%s:%u: '%s': %s, expected %s", reader->file,
		    reader->number, escaped, told, reader->expected);
	return false;
}

/* A number at the start of the text, up to max; *end is set after it. */
static bool number(const char *text, int base, uint64_t max, uint64_t *value, const char **end)
{
	char *stop;

	if (base == 16 && !g_ascii_strncasecmp(text, "0x", 2))
		text += 2;
	if (!g_ascii_isxdigit(*text))
		return false;
	errno = 0;
	*value = g_ascii_strtoull(text, &stop, base);
	*end = stop;
	return !errno && stop != text && *value <= max && !g_ascii_isalnum(*stop);
}

/* The GUID after this word, which is in the text. */
static bool guid_after(const char *found, const char *word, uint64_t *guid)
{
	const char *end;

	return number(found + strlen(word), 16, UINT64_MAX, guid, &end) && *guid;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

static bool begin_section(struct reader *reader, const char *text, uint64_t *guid, GError **error)
{
	const char *found = strstr(text, "guid ");

	if (!found || !guid_after(found, "guid ", guid))
		return refuse(reader, error, "there is no GUID of a switch");
	if (!g_hash_table_add(reader->switches, g_memdup2(guid, sizeof(*guid))))
		return refuse(reader, error, "the switch is listed twice");
	memset(reader->lids, 0, FABRIC_LIDS / 8);
	reader->inside = true;
	return true;
}

/* The LID at the start of the line, not yet seen in this section. */
static bool take_lid(struct reader *reader, const char *text, uint16_t *lid, const char **end,
		     GError **error)
{
	uint64_t value;

	if (!reader->inside)
		return refuse(reader, error, "there is no switch before it");
	if (!number(text, 16, IBA_LID_UCAST_LAST, &value, end))
		return refuse(reader, error, "it does not start with a unicast LID");
	if (reader->lids[value / 8] >> value % 8 & 1)
		return refuse(reader, error, "LID 0x%04x of this switch is listed twice",
			      (unsigned int)value);
	reader->lids[value / 8] |= 1u << value % 8;
	*lid = value;
	return true;
}

/* The GUID of the port that had the LID; unchanged, 0, if the line has none. */
static bool take_owner(const struct reader *reader, const char *text, uint64_t *guid,
		       GError **error)
{
	const char *found = strstr(text, "portguid ");

	return !found || guid_after(found, "portguid ", guid) ||
	       refuse(reader, error, "there is no GUID after portguid");
}

/* ---- forwarding tables ---- */

static bool is_trailer(const char *text)
{
	uint64_t value;
	const char *end;

	if (!number(text, 10, UINT32_MAX, &value, &end))
		return false;
	return g_str_has_prefix(end, " lids dumped") || g_str_has_prefix(end, " valid lids dumped");
}

static bool lft_entry(struct reader *reader, const char *text, GError **error)
{
	struct lft_file *file = reader->target;
	struct route_lft_entry entry = {.line = reader->number};
	const char *rest;
	uint64_t port;

	if (!take_lid(reader, text, &entry.lid, &rest, error))
		return false;
	if (!number(skip_blanks(rest), 10, ROUTE_NO_PORT, &port, &rest))
		return refuse(reader, error, "there is no port from 0 to 255 after the LID");
	rest = skip_blanks(rest);
	if (*rest && *rest != ':' && *rest != '#')
		return refuse(reader, error, "'%.8s' after the port", rest);
	if (!take_owner(reader, rest, &entry.guid, error))
		return false;
	if (!entry.lid && port != ROUTE_NO_PORT)
		return refuse(reader, error, "a port for LID 0");
	entry.port = port;
	if (port == ROUTE_NO_PORT)
		return true; /* as if it were absent */
	g_array_append_val(file->entries, entry);
	g_array_index(file->lfts, struct route_lft, file->lfts->len - 1).n++;
	return true;
}

static bool lft_line(struct reader *reader, const char *text, GError **error)
{
	struct lft_file *file = reader->target;
	struct route_lft lft = {.first = file->entries->len};

	if (g_str_has_prefix(text, "Multicast"))
		return refuse(reader, error, "the engine file does not read multicast tables");
	if (g_str_has_prefix(text, "Unicast lids")) {
		if (!begin_section(reader, text, &lft.guid, error))
			return false;
		g_array_append_val(file->lfts, lft);
		return true;
	}
	if (reader->inside && (g_str_has_prefix(text, "Lid ") || g_str_has_prefix(text, "Port ")))
		return true;
	if (!reader->inside && g_str_has_prefix(text, "*** WARNING ***"))
		return true; /* dump_lfts announces its successor like this */
	if (reader->inside && is_trailer(text)) {
		reader->inside = false;
		return true;
	}
	return lft_entry(reader, text, error);
}

/* ---- hop counts ---- */

static bool hops_row(struct reader *reader, const char *text, uint64_t sw, GError **error)
{
	struct hops_file *file = reader->target;
	struct route_hops_row row = {.sw = sw, .first = file->hops->len, .line = reader->number};
	const char *rest;
	uint64_t value;

	if (!take_lid(reader, text, &row.lid, &rest, error))
		return false;
	if (*rest != ':')
		return refuse(reader, error, "there is no colon after the LID");
	for (rest = skip_blanks(rest + 1); *rest && *rest != '#'; rest = skip_blanks(rest)) {
		const char *word = rest;
		uint8_t hops;

		if (!number(word, 16, 0xFF, &value, &rest))
			return refuse(reader, error, "'%.8s' is not a number of hops", word);
		if (row.n == 256)
			return refuse(reader, error, "more than 256 numbers");
		hops = value;
		g_array_append_val(file->hops, hops);
		row.n++;
	}
	if (!row.n)
		return refuse(reader, error, "there are no hops after the LID");
	if (!take_owner(reader, rest, &row.guid, error))
		return false;
	g_array_append_val(file->rows, row);
	return true;
}

static bool hops_line(struct reader *reader, const char *text, GError **error)
{
	struct hops_file *file = reader->target;
	struct route_hops_row header = {0};
	guint n = file->rows->len;

	if (g_str_has_prefix(text, "Switch: guid ")) {
		if (!begin_section(reader, text, &header.sw, error))
			return false;
		g_array_append_val(file->rows, header); /* identifies the row; has no hops */
		return true;
	}
	return hops_row(reader, text,
			n ? g_array_index(file->rows, struct route_hops_row, n - 1).sw : 0, error);
}

/* ---- both ---- */

static bool read_line(struct reader *reader, char *text, bool has_nul, GError **error)
{
	const char *start;

	reader->number++;
	reader->text = text;
	if (has_nul)
		return refuse(reader, error, "a NUL octet");
	g_strchomp(text);
	start = skip_blanks(text);
	return !*start || *start == '#' || reader->line(reader, start, error);
}

static bool read_lines(struct reader *reader, const char *text, size_t length, GError **error)
{
	const char *end = text + length;
	bool good = true;

	reader->switches = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
	reader->lids = g_malloc0(FABRIC_LIDS / 8);
	while (good && text < end) {
		bool has_nul;
		g_autofree char *line = file_next_line(&text, end, &has_nul);

		good = read_line(reader, line, has_nul, error);
	}
	if (good && !g_hash_table_size(reader->switches)) {
		reader->text = "";
		good = refuse(reader, error, "the file ends without any switch");
	}
	g_hash_table_unref(reader->switches);
	g_free(reader->lids);
	return good;
}

void lft_file_free(struct lft_file *file)
{
	if (!file)
		return;
	g_array_unref(file->lfts);
	g_array_unref(file->entries);
	g_free(file->name);
	g_free(file);
}

void hops_file_free(struct hops_file *file)
{
	if (!file)
		return;
	g_array_unref(file->rows);
	g_array_unref(file->hops);
	g_free(file->name);
	g_free(file);
}

struct lft_file *lft_file_parse(const char *name, const char *text, size_t length, GError **error)
{
	struct lft_file *file = g_new(struct lft_file, 1);
	struct reader reader = {
		.file = name,
		.expected = "'Unicast lids ... guid GUID', or a LID in hex and a port",
		.target = file,
		.line = lft_line,
	};

	file->name = g_strdup(name);
	file->lfts = g_array_new(FALSE, FALSE, sizeof(struct route_lft));
	file->entries = g_array_new(FALSE, FALSE, sizeof(struct route_lft_entry));
	if (read_lines(&reader, text, length, error))
		return file;
	lft_file_free(file);
	return NULL;
}

struct hops_file *hops_file_parse(const char *name, const char *text, size_t length,
				  GError **error)
{
	struct hops_file *file = g_new(struct hops_file, 1);
	struct reader reader = {
		.file = name,
		.expected = "'Switch: guid GUID', or a LID in hex, a colon, and hops in hex: the "
			    "least, then by each port",
		.target = file,
		.line = hops_line,
	};

	file->name = g_strdup(name);
	file->rows = g_array_new(FALSE, FALSE, sizeof(struct route_hops_row));
	file->hops = g_array_new(FALSE, FALSE, sizeof(uint8_t));
	if (read_lines(&reader, text, length, error))
		return file;
	hops_file_free(file);
	return NULL;
}

struct lft_file *lft_file_load(const char *name, GError **error)
{
	g_autofree char *text = NULL;
	gsize length;

	text = file_read(name, FILE_MAX_DUMP, &length, error);
	if (!text)
		return NULL;
	return lft_file_parse(name, text, length, error);
}

struct hops_file *hops_file_load(const char *name, GError **error)
{
	g_autofree char *text = NULL;
	gsize length;

	text = file_read(name, FILE_MAX_DUMP, &length, error);
	if (!text)
		return NULL;
	return hops_file_parse(name, text, length, error);
}

struct route_lfts lft_file_input(const struct lft_file *file)
{
	if (!file)
		return (struct route_lfts){0};
	return (struct route_lfts){
		.file = file->name,
		.lfts = (const struct route_lft *)(const void *)file->lfts->data,
		.n = file->lfts->len,
		.entries = (const struct route_lft_entry *)(const void *)file->entries->data,
	};
}

struct route_hops_rows hops_file_input(const struct hops_file *file)
{
	if (!file)
		return (struct route_hops_rows){0};
	return (struct route_hops_rows){
		.file = file->name,
		.rows = (const struct route_hops_row *)(const void *)file->rows->data,
		.n = file->rows->len,
		.hops = (const uint8_t *)file->hops->data,
	};
}
