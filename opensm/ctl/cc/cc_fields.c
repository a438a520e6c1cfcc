// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The settings of an agent, decoded field by field. */
#include <inttypes.h>
#include <string.h>

#include "ctl/cc/cc_view.h"

#define PER_ROW 8 /* entries of the table */

/* ControlMap of a switch (IBA A10.4.3.6). */
enum { MAP_VICTIM = 1, MAP_CREDIT = 2, MAP_THRESHOLD = 4, MAP_STARVATION = 8, MAP_MARKING = 16 };

/* Takes over the texts; NULL: that side has no such field. */
static void add_field(GVariantBuilder *list, const char *name, char *wanted, char *has)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_text(&row, "field", name);
	if (wanted)
		answer_text(&row, "wanted", wanted);
	if (has)
		answer_text(&row, "has", has);
	answer_flag(&row, "differs", wanted && has && strcmp(wanted, has) != 0);
	answer_append(list, &row);
	g_free(wanted);
	g_free(has);
}

static char *number_text(bool there, unsigned int number)
{
	return there ? g_strdup_printf("%u", number) : NULL;
}

static char *entry_text(bool there, unsigned int shift, unsigned int multiplier)
{
	return there ? g_strdup_printf("%u:%u", shift, multiplier) : NULL;
}

/* ---- switches ---- */

static bool has_port(const uint8_t *wire, unsigned int port)
{
	return wire[31 - port / 8] >> port % 8 & 1;
}

/* "1-18,20", "none". */
static char *ports_text(bool there, const uint8_t wire[32])
{
	GString *text;

	if (!there)
		return NULL;
	text = g_string_new(NULL);
	for (unsigned int port = 0; port < 256; port++) {
		unsigned int first = port;

		if (!has_port(wire, port))
			continue;
		while (port < 255 && has_port(wire, port + 1))
			port++;
		g_string_append_printf(text, first == port ? "%s%u" : "%s%u-%u",
				       text->len ? "," : "", first, port);
	}
	if (!text->len)
		g_string_append(text, "none");
	return g_string_free(text, FALSE);
}

void cc_add_switch_fields(GVariantBuilder *list, const uint8_t *wanted, bool by_topology,
			  const uint8_t *has)
{
	struct iba_switch_congestion_setting w = {0}, h = {0};
	bool k = has != NULL;

	if (wanted)
		wire_decode(&iba_switch_congestion_setting_type, wanted, &w);
	if (has)
		wire_decode(&iba_switch_congestion_setting_type, has, &h);
	add_field(list, "VictimMask",
		  by_topology ? g_strdup("ports to hosts")
			      : ports_text(w.control_map & MAP_VICTIM, w.victim_mask),
		  ports_text(k, h.victim_mask));
	add_field(list, "CreditMask", ports_text(w.control_map & MAP_CREDIT, w.credit_mask),
		  ports_text(k, h.credit_mask));
	add_field(list, "Threshold", number_text(w.control_map & MAP_THRESHOLD, w.threshold),
		  number_text(k, h.threshold));
	add_field(list, "PacketSize", number_text(w.control_map & MAP_THRESHOLD, w.packet_size),
		  number_text(k, h.packet_size));
	add_field(list, "CS_Threshold", number_text(w.control_map & MAP_STARVATION, w.cs_threshold),
		  number_text(k, h.cs_threshold));
	add_field(list, "CS_ReturnDelay",
		  entry_text(w.control_map & MAP_STARVATION, w.cs_return_delay >> 14,
			     w.cs_return_delay & 0x3FFF),
		  entry_text(k, h.cs_return_delay >> 14, h.cs_return_delay & 0x3FFF));
	add_field(list, "MarkingRate", number_text(w.control_map & MAP_MARKING, w.marking_rate),
		  number_text(k, h.marking_rate));
}

/* ---- CAs ---- */

/* A CACongestionSetting of both sides. */
struct sides {
	bool has_wanted, has_has;
	struct iba_ca_congestion_setting wanted, has;
};

static bool is_wanted(const struct sides *sides, unsigned int sl)
{
	return sides->has_wanted && sides->wanted.control_map >> sl & 1;
}

static bool same_entry(const struct iba_ca_congestion_entry *a,
		       const struct iba_ca_congestion_entry *b)
{
	return wire_equal(&iba_ca_congestion_entry_type, a, b);
}

/* The last SL from this one on for which nothing is different. */
static unsigned int last_like(const struct sides *sides, unsigned int sl)
{
	unsigned int last = sl;

	while (last + 1 < G_N_ELEMENTS(sides->has.sl) &&
	       is_wanted(sides, last + 1) == is_wanted(sides, sl) &&
	       same_entry(&sides->wanted.sl[last + 1], &sides->wanted.sl[sl]) &&
	       same_entry(&sides->has.sl[last + 1], &sides->has.sl[sl]))
		last++;
	return last;
}

static void add_sls(GVariantBuilder *list, const struct sides *sides, unsigned int first,
		    unsigned int last)
{
	const struct iba_ca_congestion_entry *w = &sides->wanted.sl[first];
	const struct iba_ca_congestion_entry *h = &sides->has.sl[first];
	const struct {
		const char *name;
		unsigned int wanted, has;
	} fields[] = {
		{"CCTI_Timer", w->ccti_timer, h->ccti_timer},
		{"CCTI_Increase", w->ccti_increase, h->ccti_increase},
		{"TriggerThreshold", w->trigger_threshold, h->trigger_threshold},
		{"CCTI_Min", w->ccti_min, h->ccti_min},
	};
	g_autofree char *sls = first == last ? g_strdup_printf("SL %u", first)
					     : g_strdup_printf("SL %u-%u", first, last);

	for (unsigned int i = 0; i < G_N_ELEMENTS(fields); i++) {
		g_autofree char *name = g_strdup_printf("%s %s", sls, fields[i].name);

		add_field(list, name, number_text(is_wanted(sides, first), fields[i].wanted),
			  number_text(sides->has_has, fields[i].has));
	}
}

static const char *control_text(unsigned int port_control)
{
	return port_control & 1 ? "per SL" : "per QP";
}

/* The table of one side. */
struct table {
	unsigned int n; /* entries */
	unsigned int limit;
	struct iba_congestion_control_entry entry[CC_TABLE_MAX];
};

/* pieces: of the settings; of_last: which of them has the limit. */
static struct table *table_of(const uint8_t *octets, unsigned int pieces, unsigned int of_last)
{
	struct table *table = g_new0(struct table, 1);

	for (unsigned int piece = 1; octets && piece < pieces; piece++) {
		struct iba_congestion_control_table block = {0};

		wire_decode(&iba_congestion_control_table_type, octets + cc_piece_at(piece),
			    &block);
		memcpy(&table->entry[(piece - 1) * CC_BLOCK], block.entry, sizeof(block.entry));
		if (piece > of_last)
			continue;
		table->limit = block.ccti_limit;
		table->n = MIN(block.ccti_limit + 1u, piece * CC_BLOCK);
	}
	return table;
}

static char *entries_text(bool there, const struct table *table, unsigned int first, unsigned int n)
{
	GString *text;

	if (!there)
		return NULL;
	text = g_string_new(NULL);
	for (unsigned int i = first; i < first + n; i++)
		g_string_append_printf(text, "%s%u:%u", i > first ? "," : "",
				       table->entry[i].cct_shift, table->entry[i].cct_multiplier);
	return g_string_free(text, FALSE);
}

/* has NULL: not all of its table is known. */
static void add_table(GVariantBuilder *list, const uint8_t *wanted, unsigned int n_wanted,
		      const uint8_t *has, unsigned int n_has)
{
	unsigned int last = wanted ? n_wanted - 1 : n_has - 1;
	g_autofree struct table *w = table_of(wanted, n_wanted, last);
	g_autofree struct table *h = table_of(has, n_has, last);
	unsigned int n = wanted ? w->n : h->n;

	add_field(list, "CCTI_Limit", number_text(wanted != NULL, w->limit),
		  number_text(has != NULL, h->limit));
	for (unsigned int first = 0; first < n; first += PER_ROW) {
		unsigned int here = MIN(n - first, PER_ROW);
		g_autofree char *name = g_strdup_printf("entries %u-%u", first, first + here - 1);

		add_field(list, name, entries_text(wanted != NULL, w, first, here),
			  entries_text(has != NULL, h, first, here));
	}
}

void cc_add_ca_fields(GVariantBuilder *list, const uint8_t *wanted, unsigned int n_wanted,
		      const uint8_t *has, unsigned int n_has, uint8_t known)
{
	struct sides sides = {.has_wanted = wanted != NULL, .has_has = has && known & 1};
	uint8_t of_table = (uint8_t)((1u << (wanted ? n_wanted : n_has)) - 2);

	if (wanted)
		wire_decode(&iba_ca_congestion_setting_type, wanted, &sides.wanted);
	if (sides.has_has)
		wire_decode(&iba_ca_congestion_setting_type, has, &sides.has);
	add_field(list, "PortControl",
		  wanted ? g_strdup(control_text(sides.wanted.port_control)) : NULL,
		  sides.has_has ? g_strdup(control_text(sides.has.port_control)) : NULL);
	for (unsigned int sl = 0, last; sl < G_N_ELEMENTS(sides.has.sl); sl = last + 1) {
		last = last_like(&sides, sl);
		add_sls(list, &sides, sl, last);
	}
	add_table(list, wanted, n_wanted, (known & of_table) == of_table ? has : NULL, n_has);
}

/* ---- in words ---- */

static void print_field(GVariant *row, GString *out)
{
	const char *wanted = answer_get_text(row, "wanted"), *has = answer_get_text(row, "has");

	g_string_append_printf(out, "   %-24s %s", answer_get_text(row, "field"),
			       *wanted ? wanted : "not changed");
	if (!*wanted && *has)
		g_string_append_printf(out, ": %s", has);
	else if (answer_get_flag(row, "differs"))
		g_string_append_printf(out, "; but it is %s", has);
	else if (*wanted && !*has)
		g_string_append(out, "; not known what it is");
	g_string_append_c(out, '\n');
}

/* Of values that no agent is compared with. */
static void print_value(GVariant *row, GString *out)
{
	const char *wanted = answer_get_text(row, "wanted");

	g_string_append_printf(out, "   %-24s %s\n", answer_get_text(row, "field"),
			       *wanted ? wanted : "not changed");
}

void cc_print_fields(GVariant *answer, const char *key, GString *out)
{
	answer_each(answer, key, print_field, out);
}

void cc_print_wanted(GVariant *answer, const char *key, GString *out)
{
	answer_each(answer, key, print_value, out);
}
