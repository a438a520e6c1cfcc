// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "subnet/path_sls.h"

#include <string.h>

#include "route/value/base.h"
#include "route/value/lanes.h"
#include "core/state/state_file.h"
#include "core/state/state_writer.h"

#define ROWS_MAX 8192 /* switches: larger files are not read anyway */
#define NO_PATH '-'

struct row {
	uint64_t guid; /* 0: its record was invalid */
	char *digits;
};

struct path_sls {
	struct log *log;
	char *file;
	const struct route_engine *engine; /* of the last run; NULL: it had no SLs */
	char *word;			   /* digest of its input */
	GArray *rows;			   /* struct row */
	bool any;			   /* some SL is not 0 */
	bool is_old;			   /* all this is older than text */
	struct routing *saved;
	char *text;	  /* what is in the file */
	uint64_t changes; /* of it */
};

/* ---- reading ---- */

static const char *take_engine(struct path_sls *sls, const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", 2);

	g_free(sls->word);
	sls->word = g_strstrip(g_strdup(words[0] && words[1] ? words[1] : ""));
	sls->engine = words[0] ? route_find(words[0]) : NULL;
	return sls->engine ? NULL : "expected the name of a routing engine";
}

static bool are_digits(const char *text, guint n)
{
	for (guint i = 0; i < n; i++)
		if (!g_ascii_isxdigit(text[i]) && text[i] != NO_PATH)
			return false;
	return state_end(text + n);
}

static const char *take_row(struct path_sls *sls, const char *line)
{
	struct row row = {0};
	guint n = sls->rows->len;
	bool good;

	if (n >= ROWS_MAX)
		return "too many switches";
	good = state_hex(&line, &row.guid) && row.guid;

	line += strspn(line, " \t");
	good = good && strlen(line) >= n && are_digits(line, n);
	if (good) {
		row.digits = g_strndup(line, n);
		sls->any |= strspn(row.digits, "0") < n;
	} else {
		row.guid = 0;
	}
	g_array_append_val(sls->rows, row);
	return good ? NULL : "expected 0xGUID and one digit for each GUID listed above";
}

/* An invalid record keeps its place, for the digits of the later ones. */
static const char *take_line(void *arg, const char *line)
{
	struct path_sls *sls = arg;

	if (g_str_has_prefix(line, "0x"))
		return take_row(sls, line);
	return take_engine(sls, line);
}

static void clear_row(void *arg)
{
	g_free(((struct row *)arg)->digits);
}

struct path_sls *path_sls_new(const char *directory, struct log *log)
{
	struct path_sls *sls = g_new0(struct path_sls, 1);

	sls->log = log;
	sls->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	g_array_set_clear_func(sls->rows, clear_row);
	if (directory) {
		sls->file = g_build_filename(directory, "path_sls", NULL);
		state_load(log, sls->file, "path SLs", take_line, sls);
	}
	return sls;
}

void path_sls_parse(struct path_sls *sls, const char *what, const char *text)
{
	sls->engine = NULL;
	sls->any = sls->is_old = false;
	g_array_set_size(sls->rows, 0);
	state_parse(sls->log, what, text, take_line, sls);
}

void path_sls_free(struct path_sls *sls)
{
	g_array_unref(sls->rows);
	routing_unref(sls->saved);
	g_free(sls->text);
	g_free(sls->word);
	g_free(sls->file);
	g_free(sls);
}

/* ---- the last run ---- */

static uint8_t sl_of(const struct path_sls *sls, guint a, guint b)
{
	const char *digits = g_array_index(sls->rows, struct row, MAX(a, b)).digits;
	char digit = digits && a != b ? digits[MIN(a, b)] : NO_PATH;

	return digit == NO_PATH ? ROUTE_NO_SL : (uint8_t)g_ascii_xdigit_value(digit);
}

/* [switch]: 1 + its row; 0: it has none. */
static guint *find_rows(const struct path_sls *sls, const struct fabric *fabric)
{
	guint *of = g_new0(guint, fabric->n_switches + 1);

	for (guint i = 0; i < sls->rows->len; i++) {
		uint64_t guid = g_array_index(sls->rows, struct row, i).guid;
		uint32_t node = guid ? fabric_node_by_guid(fabric, guid) : FABRIC_NONE;

		if (node != FABRIC_NONE && fabric_is_switch(fabric, node))
			of[fabric->nodes[node].sw] = i + 1;
	}
	return of;
}

void path_sls_hold(struct path_sls *sls, const struct fabric *fabric, struct routing *held)
{
	g_autofree guint *row = NULL;

	if (sls->is_old) /* this SM was master before */
		path_sls_parse(sls, "path SLs", sls->text);
	if (!sls->engine || !sls->rows->len)
		return;
	row = find_rows(sls, fabric);
	held->maker = sls->engine;
	held->input_word = g_strdup(sls->word);
	if (!sls->any)
		return; /* a single lane */
	held->lanes = route_lanes_new(held->n_switches, 0);
	for (uint32_t a = 0; a < held->n_switches; a++)
		for (uint32_t b = a + 1; row[a] && b < held->n_switches; b++)
			if (row[b])
				route_lanes_put(held->lanes, a, b,
						sl_of(sls, row[a] - 1, row[b] - 1));
}

/* ---- writing ---- */

static uint64_t guid_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].guid;
}

static gint by_guid(gconstpointer a, gconstpointer b, gpointer fabric)
{
	uint64_t x = guid_of(fabric, *(const uint32_t *)a);
	uint64_t y = guid_of(fabric, *(const uint32_t *)b);

	return x < y ? -1 : x > y;
}

/* Switches by GUID, so that the text is the same wherever the SM is in the subnet. */
static uint32_t *sorted(const struct routing *routing)
{
	uint32_t *order = g_new(uint32_t, routing->n_switches + 1);

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		order[sw] = sw;
	g_qsort_with_data(order, (gint)routing->n_switches, sizeof(*order), by_guid,
			  routing->fabric);
	return order;
}

static void append_row(GString *text, const struct routing *routing, const uint32_t *order,
		       uint32_t n)
{
	const struct route_lanes *lanes = routing->lanes;

	g_string_append_printf(text, "\n0x%016" G_GINT64_MODIFIER "x ",
			       guid_of(routing->fabric, order[n]));
	for (uint32_t i = 0; i < n; i++) {
		uint8_t sl = lanes ? route_lanes_sl(lanes, order[n], order[i]) : 0;

		g_string_append_c(text, sl < ROUTE_SLS ? "0123456789abcdef"[sl] : NO_PATH);
	}
	g_string_append_c(text, '\n');
}

/* "" if the engine has no SLs. */
static char *format(const struct routing *routing)
{
	GString *text = g_string_new(NULL);
	g_autofree uint32_t *order = NULL;

	if (!routing->layered.n_channels || !routing->input_word ||
	    routing->n_switches > ROWS_MAX)
		return g_string_free(text, FALSE);
	order = sorted(routing);
	g_string_append_printf(text, "%s %s\n", routing->engine->name, routing->input_word);
	for (uint32_t n = 0; n < routing->n_switches; n++)
		append_row(text, routing, order, n);
	return g_string_free(text, FALSE);
}

void path_sls_save(struct path_sls *sls, struct routing *routing, struct state_writer *writer,
		   bool fsync_it)
{
	char *text;

	if (routing == sls->saved)
		return;
	routing_unref(sls->saved);
	sls->saved = routing_ref(routing);
	text = format(routing);
	if (!g_strcmp0(text, sls->text)) {
		g_free(text);
		return;
	}
	g_free(sls->text);
	sls->text = text;
	sls->changes++;
	sls->is_old = true;
	if (sls->file) /* if there are none, there is no file */
		state_writer_put(writer, sls->file, "path SLs", *text ? g_strdup(text) : NULL,
				 fsync_it, NULL, NULL);
}

const char *path_sls_text(const struct path_sls *sls)
{
	return sls->text ? sls->text : "";
}

uint64_t path_sls_changes(const struct path_sls *sls)
{
	return sls->changes;
}
