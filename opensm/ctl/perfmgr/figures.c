// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/perfmgr/figures.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NS_IN_S UINT64_C(1000000000)
#define YEAR_S UINT64_C(31536000)

/* ---- words ---- */

bool figures_value(const char *word, struct perf_value *value)
{
	return perf_value_find(g_ascii_strcasecmp(word, "rate") != 0 ? word : "PortXmitData/s",
			       value);
}

bool figures_window(const char *word, uint64_t *ns)
{
	static const struct {
		char unit;
		unsigned int seconds;
	} units[] = {{0, 1}, {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	size_t digits = strspn(word, "0123456789");
	guint64 number;

	if (!digits || digits > 9 || (word[digits] && word[digits + 1]))
		return false;
	number = g_ascii_strtoull(word, NULL, 10);
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
		if (word[digits] != units[i].unit)
			continue;
		*ns = number * units[i].seconds * NS_IN_S;
		return number && number * units[i].seconds <= YEAR_S;
	}
	return false;
}

bool figures_number(const char *word, unsigned int *n)
{
	guint64 number;

	if (!g_ascii_string_to_unsigned(word, 10, 1, 1000, &number, NULL))
		return false;
	*n = (unsigned int)number;
	return true;
}

/* ---- members ---- */

static void add_double(GVariantBuilder *row, const char *key, double number)
{
	if (isfinite(number))
		answer_value(row, key, g_variant_new_double(number));
}

void figures_add_port(GVariantBuilder *row, const struct perf_images *images,
		      const struct perf_layout *layout, uint32_t at)
{
	struct perf_far far = perf_images_far(images, layout, at);
	const struct perf_node *node = perf_layout_node_of(layout, at), *peer;

	answer_text(row, "node", node->name);
	answer_text(row, "description", node->description ? node->description : node->name);
	answer_guid(row, "guid", node->guid);
	answer_number(row, "port", layout->places[at].port);
	if (far.row == PERF_NONE)
		return;
	peer = perf_layout_node_of(far.layout, far.row);
	answer_text(row, "peer", peer->name);
	answer_guid(row, "peer_guid", peer->guid);
	answer_number(row, "peer_port", far.layout->places[far.row].port);
}

void figures_add_measure(GVariantBuilder *row, const struct perf_measure *measure)
{
	static const struct {
		unsigned int flag;
		const char *key;
	} flags[] = {
		{PERF_UNKNOWN, "unknown"}, {PERF_AT_LEAST, "at_least"}, {PERF_SINCE_NEW, "new"},
		{PERF_OLD, "old"},	   {PERF_UNTIMED, "untimed"},	{PERF_ABOVE, "above"},
	};

	add_double(row, "value", measure->value);
	answer_number(row, "count", measure->count);
	add_double(row, "seconds", (double)measure->ns / 1e9);
	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
		if (measure->flags & flags[i].flag)
			answer_flag(row, flags[i].key, true);
}

static const char *unit_of(struct perf_value value)
{
	bool data =
		value.column < PERF_COUNTERS && perf_counter_info[value.column].kind == PERF_DATA;

	switch (value.figure) {
	case PERF_UTILIZATION:
	case PERF_WAITING:
		return "share";
	case PERF_RAW_BER:
		return "errors per bit";
	case PERF_RATE:
		return data ? "octets per second" : "per second";
	case PERF_COUNT:
		break;
	}
	return data ? "units of 4 octets" : "events";
}

void figures_add_value(GVariantBuilder *answer, struct perf_value value)
{
	g_autofree char *name = perf_value_name(value);

	answer_text(answer, "of", name);
	answer_text(answer, "unit", unit_of(value));
}

/* ---- text ---- */

char *figures_scaled(double number, const char *unit)
{
	static const char prefixes[] = " kMGTPE";
	unsigned int i = 0;

	for (; number >= 1000 && i + 2 < sizeof(prefixes); i++)
		number /= 1000;
	return i ? g_strdup_printf("%.2f %c%s", number, prefixes[i], unit)
		 : g_strdup_printf("%.4g %s", number, unit);
}

char *figures_text(GVariant *answer, GVariant *row)
{
	const char *unit = answer_get_text(answer, "unit");
	double value = answer_get_real(row, "value");
	g_autofree char *number = NULL;

	if (answer_get_flag(row, "unknown"))
		return g_strdup("-");
	if (!strcmp(unit, "share"))
		number = g_strdup_printf("%.2f %%", value * 100);
	else if (!strcmp(unit, "errors per bit"))
		number = g_strdup_printf("%.1e", value);
	else if (!strcmp(unit, "octets per second"))
		number = figures_scaled(value, "B/s");
	else if (!strcmp(unit, "per second"))
		number = figures_scaled(value, "/s");
	else
		number = g_strdup_printf("%" PRIu64, answer_get_number(row, "count"));
	return g_strdup_printf("%s%s%s", answer_get_flag(row, "at_least") ? ">= " : "", number,
			       answer_get_flag(row, "old") ? " (old)" : "");
}

char *figures_time(uint64_t us)
{
	g_autoptr(GDateTime) when = g_date_time_new_from_unix_local((gint64)(us / 1000000));

	return when ? g_date_time_format(when, "%F %T") : g_strdup("?");
}

void figures_print_port(GVariant *row, const char *node, const char *port, int width, GString *out)
{
	const char *name = answer_get_text(row, node);
	g_autofree char *text = NULL;
	glong length;

	if (*name)
		text = g_strdup_printf("%s port %" PRIu64, name, answer_get_number(row, port));
	else
		text = g_strdup("-");
	length = g_utf8_strlen(text, -1);
	g_string_append(out, text);
	g_string_append_printf(out, "%*s", (int)MAX(1, width - length), "");
}
