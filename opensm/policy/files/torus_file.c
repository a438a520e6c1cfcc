// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "policy/files/torus_file.h"

#include <string.h>

#include "complib/file.h"
#include "core/mistakes.h"

#define MAX_PORTS 16 /* unless the file says otherwise */

GQuark torus_file_error_quark(void)
{
	return g_quark_from_static_string("torus-file-error-quark");
}

/* State while a file is read. */
struct reading {
	struct torus_file *file;
	uint32_t line;
	uint32_t seed_line; /* the line where the current seed begins */
	char **words;	    /* words of the line, terminated by NULL */
	struct mistakes mistakes;
};

static bool refuse(struct reading *reading, const char *text, const char *expected)
{
	g_autofree char *shown = g_strescape(text ? text : "", NULL);
	g_autofree char *line = g_strdup_printf("%s:%u: '%.80s': expected %s", reading->file->name,
						reading->line, shown, expected);

	mistakes_add(&reading->mistakes, line);
	return false;
}

static bool to_number(const char *word, int64_t min, int64_t max, int64_t *value)
{
	char *end = NULL;

	if (!word || (!g_ascii_isdigit(*word) && *word != '-'))
		return false;
	*value = g_ascii_strtoll(word, &end, 10);
	return !*end && *value >= min && *value <= max;
}

static bool to_guid(const char *word, uint64_t *guid)
{
	char *end = NULL;

	if (!word)
		return false;
	word += word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 2 : 0;
	if (!g_ascii_isxdigit(*word) || strlen(word) > 16)
		return false;
	*guid = g_ascii_strtoull(word, &end, 16);
	return !*end && *guid;
}

static struct route_torus_seed *last_seed(const struct reading *reading)
{
	GArray *seeds = reading->file->seeds;

	return &g_array_index(seeds, struct route_torus_seed, seeds->len - 1);
}

static bool next_seed(struct reading *reading)
{
	struct route_torus_seed seed = {0};

	if (reading->file->seeds->len == TORUS_SEEDS_MAX)
		return refuse(reading, reading->words[0], "at most 64 seeds");
	g_array_append_val(reading->file->seeds, seed);
	reading->seed_line = reading->line;
	return true;
}

/* ---- lines ---- */

/* "8", or "8T", "8t", "8M", "8m", whatever the keyword is. */
static bool take_radix(struct reading *reading, unsigned int d, bool loops)
{
	struct route_torus *torus = &reading->file->torus;
	g_autofree char *word = g_strdup(reading->words[d + 1]);
	char last = word && *word ? word[strlen(word) - 1] : 0;
	int64_t radix;

	if (last && strchr("mMtT", last)) {
		loops = g_ascii_tolower(last) == 't';
		word[strlen(word) - 1] = 0;
	}
	if (!to_number(word, 1, 255, &radix))
		return refuse(reading, reading->words[d + 1],
			      "three numbers from 1 to 255, each followed by t, m or nothing");
	torus->radix[d] = radix;
	torus->loops[d] = loops;
	return true;
}

static bool take_shape(struct reading *reading, bool loops)
{
	struct route_torus *torus = &reading->file->torus;

	if (torus->radix[0])
		return refuse(reading, reading->words[0], "one line with torus or mesh");
	for (unsigned int d = 0; d < 3; d++)
		if (!take_radix(reading, d, loops))
			return false;
	if ((uint64_t)torus->radix[0] * torus->radix[1] * torus->radix[2] > TORUS_PLACES_MAX)
		return refuse(reading, reading->words[1], "at most 49151 switches in all");
	return next_seed(reading);
}

static bool take_link(struct reading *reading, unsigned int way)
{
	struct route_torus_seed *seed = last_seed(reading);
	uint64_t from, to;

	if (!to_guid(reading->words[1], &from) || !to_guid(reading->words[2], &to) || from == to)
		return refuse(reading, reading->words[1], "the node GUIDs of two switches");
	if (seed->from && seed->from != from)
		return refuse(reading, reading->words[1],
			      "the first switch to be the same in all lines of a seed");
	if (seed->to[way] && seed->to[way] != to)
		return refuse(reading, reading->words[2], "one link a direction in a seed");
	if (reading->file->torus.radix[way / 2] < 2)
		return refuse(reading, reading->words[0],
			      "links only in dimensions of at least 2 switches");
	seed->from = from;
	seed->to[way] = to;
	return true;
}

static bool take_dateline(struct reading *reading, unsigned int d)
{
	int64_t radix = reading->file->torus.radix[d], position;

	if (!to_number(reading->words[1], 1 - radix, radix - 1, &position))
		return refuse(reading, reading->words[1],
			      "a number nearer to 0 than the radix of the dimension");
	last_seed(reading)->dateline[d] = position;
	return true;
}

static bool take_port_order(struct reading *reading)
{
	GArray *order = reading->file->port_order;

	g_array_set_size(order, 0);
	for (char **word = reading->words + 1; *word && (*word)[0] != '#'; word++) {
		int64_t number;
		uint8_t port;

		if (!to_number(*word, 1, 254, &number))
			return refuse(reading, *word, "ports from 1 to 254");
		port = number;
		if (!order->len || !memchr(order->data, port, order->len))
			g_array_append_val(order, port);
	}
	return true;
}

static bool take_limit(struct reading *reading, uint32_t *limit)
{
	int64_t number;

	if (!to_number(reading->words[1], 1, UINT32_MAX, &number))
		return refuse(reading, reading->words[1], "a number from 1 to 4294967295");
	*limit = number;
	return true;
}

static bool take_line(struct reading *reading)
{
	static const char *const links[] = {"xp_link", "xm_link", "yp_link",
					    "ym_link", "zp_link", "zm_link"};
	static const char *const datelines[] = {"x_dateline", "y_dateline", "z_dateline"};
	const char *key = reading->words[0];
	uint32_t changes; /* lines the classic daemon reports; here the log has what changed */

	if (!strcmp(key, "torus") || !strcmp(key, "mesh"))
		return take_shape(reading, key[0] == 't');
	if (!reading->file->torus.radix[0])
		return refuse(reading, key, "torus or mesh first");
	for (unsigned int way = 0; way < G_N_ELEMENTS(links); way++)
		if (!strcmp(key, links[way]))
			return take_link(reading, way);
	for (unsigned int d = 0; d < G_N_ELEMENTS(datelines); d++)
		if (!strcmp(key, datelines[d]))
			return take_dateline(reading, d);
	if (!strcmp(key, "next_seed"))
		return next_seed(reading);
	if (!strcmp(key, "port_order"))
		return take_port_order(reading);
	if (!strcmp(key, "portgroup_max_ports"))
		return take_limit(reading, &reading->file->torus.max_ports);
	if (!strcmp(key, "max_changes"))
		return take_limit(reading, &changes);
	return refuse(reading, key,
		      "xp_link, xm_link, yp_link, ym_link, zp_link, zm_link, x_dateline, "
		      "y_dateline, z_dateline, next_seed, portgroup_max_ports, port_order or "
		      "max_changes");
}

/* ---- seeds ---- */

/* Each dimension needs a direction; a ring of four needs both. */
static bool is_enough(const struct reading *reading, const struct route_torus_seed *seed)
{
	const struct route_torus *torus = &reading->file->torus;

	for (unsigned int d = 0; d < 3; d++) {
		unsigned int n = (seed->to[2 * d] != 0) + (seed->to[2 * d + 1] != 0);

		if (torus->radix[d] > 1 && n < 1u + (torus->loops[d] && torus->radix[d] == 4))
			return false;
	}
	return true;
}

/* The last seed is checked at the end of the file, or when the next one begins. */
static bool check_seed(struct reading *reading)
{
	g_autofree char *line = g_strdup_printf("seed of line %u", reading->seed_line);

	if (!reading->file->seeds->len)
		return refuse(reading, "", "a line with torus or mesh");
	return is_enough(reading, last_seed(reading)) ||
	       refuse(reading, line,
		      "a link in each dimension, and of a ring of four switches both directions");
}

static bool parse_line(struct reading *reading, const char *line)
{
	g_auto(GStrv) words = g_strsplit_set(line, " \t\r\v\f", -1);
	unsigned int n = 0;

	for (unsigned int i = 0; words[i]; i++) {
		char *word = words[i];

		if (*word)
			words[n++] = word;
		else
			g_free(word);
	}
	words[n] = NULL;
	reading->words = words;
	if (!n || words[0][0] == '#')
		return true;
	if (!strcmp(words[0], "next_seed") && !reading->mistakes.n)
		check_seed(reading); /* a wrong line may contain what is missing */
	return take_line(reading);
}

struct torus_file *torus_file_parse(const char *file, const char *text, size_t length,
				    GError **error)
{
	struct torus_file *torus = g_new0(struct torus_file, 1);
	struct reading reading = {.file = torus};
	const char *end = text + length;
	bool has_nul = false;

	torus->name = g_strdup(file);
	torus->torus.max_ports = MAX_PORTS;
	torus->seeds = g_array_new(FALSE, FALSE, sizeof(struct route_torus_seed));
	torus->port_order = g_array_new(FALSE, FALSE, 1);
	/* The other lines have no meaning without the first one. */
	while (text < end && !has_nul && (torus->seeds->len || !reading.mistakes.n)) {
		g_autofree char *line = file_next_line(&text, end, &has_nul);

		reading.line++;
		if (has_nul)
			refuse(&reading, line, "text without NUL");
		else
			parse_line(&reading, line);
	}
	if (!reading.mistakes.n)
		check_seed(&reading);
	if (mistakes_end(&reading.mistakes, file, TORUS_FILE_ERROR, 0, error))
		return torus;
	torus_file_free(torus);
	return NULL;
}

struct torus_file *torus_file_load(const char *file, GError **error)
{
	g_autofree char *text = NULL;
	gsize length;

	text = file_read(file, FILE_MAX_CONFIG, &length, error);
	return text ? torus_file_parse(file, text, length, error) : NULL;
}

void torus_file_free(struct torus_file *file)
{
	if (!file)
		return;
	g_free(file->name);
	g_array_unref(file->seeds);
	g_array_unref(file->port_order);
	g_free(file);
}

struct route_torus torus_file_input(const struct torus_file *file)
{
	struct route_torus torus = {0};

	if (!file)
		return torus;
	torus = file->torus;
	torus.file = file->name;
	torus.seeds = (const struct route_torus_seed *)(const void *)file->seeds->data;
	torus.n_seeds = file->seeds->len;
	torus.port_order = (const uint8_t *)file->port_order->data;
	torus.n_port_order = file->port_order->len;
	return torus;
}

static bool same_bytes(const GArray *a, const GArray *b)
{
	return a->len == b->len &&
	       (!a->len ||
		!memcmp(a->data, b->data, a->len * g_array_get_element_size((GArray *)a)));
}

bool torus_file_same(const struct torus_file *a, const struct torus_file *b)
{
	return !memcmp(a->torus.radix, b->torus.radix, sizeof(a->torus.radix)) &&
	       !memcmp(a->torus.loops, b->torus.loops, sizeof(a->torus.loops)) &&
	       a->torus.max_ports == b->torus.max_ports && same_bytes(a->seeds, b->seeds) &&
	       same_bytes(a->port_order, b->port_order);
}
