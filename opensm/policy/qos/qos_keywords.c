// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keywords of qos-policy.conf, one row each: the section, how the value is read, and the member
 * of the section's object that it sets.
 */
#include <stddef.h>
#include <string.h>

#include "iba/codes.h"
#include "policy/qos/qos_file_private.h"

struct keyword {
	enum qos_section section;
	const char *word;
	bool (*read)(struct qos_parser *p, const char *value, const struct keyword *k);
	size_t field;	   /* in the object of the section */
	size_t also;	   /* a second field: whether it was given, or how many */
	uint64_t min, max; /* for numbers */
};

#define MEMBER(p, offset) ((void *)((char *)(p)->object + (offset)))

/* ---- values ---- */

bool qos_read_number(const char *text, uint64_t max, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	return g_ascii_string_to_unsigned(hex ? text + 2 : text, hex ? 16 : 10, 0, max, value,
					  NULL);
}

/* Swaps the ends if needed: the classic daemon accepts ranges in either direction. */
static void turn(const struct qos_parser *p, const char *text, struct qos_range *range)
{
	*range = (struct qos_range){range->last, range->first};
	qos_warn(p, "'%.80s' is taken for 0x%" G_GINT64_MODIFIER "x-0x%" G_GINT64_MODIFIER "x",
		 text, range->first, range->last);
}

/* "N" or "N-N" */
static bool read_range(struct qos_parser *p, const char *text, uint64_t max,
		       struct qos_range *range)
{
	g_auto(GStrv) ends = g_strsplit(text, "-", 2);

	if (!ends[0] || !qos_read_number(g_strstrip(ends[0]), max, &range->first) ||
	    !qos_read_number(ends[1] ? g_strstrip(ends[1]) : ends[0], max, &range->last))
		return qos_wrong(p, text,
				 "a number, or a range of them, up to 0x%" G_GINT64_MODIFIER "x",
				 max);
	if (range->first > range->last)
		turn(p, text, range);
	return true;
}

bool qos_read_ranges(struct qos_parser *p, const char *text, uint64_t max, GArray *ranges)
{
	g_auto(GStrv) items = g_strsplit(text, ",", -1);

	for (unsigned int i = 0; items[i]; i++) {
		struct qos_range range;

		if (!read_range(p, g_strstrip(items[i]), max, &range))
			return false;
		g_array_append_val(ranges, range);
	}
	return items[0] || qos_wrong(p, "nothing", "a list of numbers");
}

/* Without the membership bit: a range that crosses it continues at 0. */
bool qos_read_p_keys(struct qos_parser *p, const char *text, GArray *ranges)
{
	guint first = ranges->len, end;

	if (!qos_read_ranges(p, text, 0xFFFF, ranges))
		return false;
	end = ranges->len;
	for (guint i = first; i < end; i++) {
		struct qos_range *range = &g_array_index(ranges, struct qos_range, i);
		struct qos_range rest = {0, range->last & QOS_P_KEY_MASK};

		if (range->first > QOS_P_KEY_MASK) {
			range->first &= QOS_P_KEY_MASK;
			range->last &= QOS_P_KEY_MASK;
		} else if (range->last > QOS_P_KEY_MASK) {
			range->last = QOS_P_KEY_MASK;
			g_array_append_val(ranges, rest);
		}
	}
	return true;
}

static bool read_names(struct qos_parser *p, const char *text, GPtrArray *names)
{
	g_auto(GStrv) items = g_strsplit(text, ",", -1);

	for (unsigned int i = 0; items[i]; i++) {
		if (!*g_strstrip(items[i]))
			return qos_wrong(p, text, "a list of names");
		g_ptr_array_add(names, g_strdup(items[i]));
	}
	return items[0] || qos_wrong(p, "nothing", "a list of names");
}

/* ---- common to several keywords ---- */

static bool nothing(struct qos_parser *p, const char *value, const struct keyword *k)
{
	(void)p;
	(void)value;
	(void)k;
	return true;
}

static bool numbers(struct qos_parser *p, const char *value, const struct keyword *k)
{
	return qos_read_ranges(p, value, k->max, *(GArray **)MEMBER(p, k->field));
}

static bool p_keys(struct qos_parser *p, const char *value, const struct keyword *k)
{
	return qos_read_p_keys(p, value, *(GArray **)MEMBER(p, k->field));
}

static bool names(struct qos_parser *p, const char *value, const struct keyword *k)
{
	return read_names(p, value, *(GPtrArray **)MEMBER(p, k->field));
}

/* May occur once; sets the field that says so. */
static bool once(struct qos_parser *p, const char *value, const struct keyword *k)
{
	bool *said = MEMBER(p, k->also);

	if (*said)
		return qos_wrong(p, value, "one such line only");
	*said = true;
	return true;
}

static bool number(struct qos_parser *p, const char *value, const struct keyword *k)
{
	uint64_t is;

	if (!qos_read_number(value, k->max, &is) || is < k->min)
		return qos_wrong(p, value, "a number from %u to %u", (unsigned int)k->min,
				 (unsigned int)k->max);
	*(uint8_t *)MEMBER(p, k->field) = (uint8_t)is;
	return once(p, value, k);
}

/* Of a group or level: if several have the same name, the first counts. */
static bool name(struct qos_parser *p, const char *value, const struct keyword *k)
{
	GPtrArray *list = p->section == GROUP ? p->policy->groups : p->policy->levels;
	char **is = MEMBER(p, k->field);

	if (*is)
		return qos_wrong(p, value, "one name only, it has '%s'", *is);
	if (!*value)
		return qos_wrong(p, value, "a name");
	*is = g_strdup(value);
	if (g_hash_table_contains(p->names[p->section], value))
		qos_warn(p, "'%.80s' is also the name of an earlier %s, which is used", value,
			 p->section == GROUP ? "group" : "level");
	else
		g_hash_table_insert(p->names[p->section], *is, GUINT_TO_POINTER(list->len));
	return true;
}

static bool mention(struct qos_parser *p, const char *value, GArray *groups)
{
	g_auto(GStrv) items = g_strsplit(value, ",", -1);

	for (unsigned int i = 0; items[i]; i++) {
		struct qos_mention one = {
			.line = p->line,
			.name = g_strdup(g_strstrip(items[i])),
			.groups = groups,
			.of_scope = p->section != RULE,
		};

		g_array_append_val(p->mentions, one);
	}
	return items[0] || qos_wrong(p, "nothing", "names of groups");
}

static bool groups(struct qos_parser *p, const char *value, const struct keyword *k)
{
	return mention(p, value, *(GArray **)MEMBER(p, k->field));
}

/* ---- groups ---- */

static bool port_names(struct qos_parser *p, const char *value, const struct keyword *k)
{
	struct qos_group *group = p->object;
	GPtrArray *ports = group->ports;

	(void)k;
	if (!read_names(p, value, ports))
		return false;
	for (guint i = group->port_lines->len; i < ports->len; i++) {
		if (!strstr(ports->pdata[i], "/P"))
			return qos_wrong(p, ports->pdata[i], "NodeDescription/Pnumber");
		g_array_append_val(group->port_lines, p->line);
	}
	return true;
}

static bool types(struct qos_parser *p, const char *value, const struct keyword *k)
{
	struct qos_group *group = p->object;
	static const struct {
		const char *name;
		unsigned int types;
		bool self;
	} known[] = {
		{"CA", 1u << IBA_NODE_CA, false},
		{"SWITCH", 1u << IBA_NODE_SWITCH, false},
		{"ROUTER", 1u << IBA_NODE_ROUTER, false},
		{"ALL", 1u << IBA_NODE_CA | 1u << IBA_NODE_SWITCH | 1u << IBA_NODE_ROUTER, false},
		{"SELF", 0, true},
	};
	g_auto(GStrv) words = g_strsplit(value, ",", -1);

	(void)k;
	for (unsigned int i = 0; words[i]; i++) {
		unsigned int t = 0;

		g_strstrip(words[i]);
		while (t < G_N_ELEMENTS(known) && g_ascii_strcasecmp(known[t].name, words[i]))
			t++;
		if (t == G_N_ELEMENTS(known))
			return qos_wrong(p, words[i], "CA, SWITCH, ROUTER, ALL or SELF");
		group->types |= known[t].types;
		group->self |= known[t].self;
	}
	return true;
}

/* ---- levels and rules ---- */

static bool rate(struct qos_parser *p, const char *value, const struct keyword *k)
{
	if (!number(p, value, k))
		return false;
	return iba_rate_tenths(*(uint8_t *)MEMBER(p, k->field)) ||
	       qos_wrong(p, value, "the code of a rate");
}

/* The classic daemon accepts lists here, and uses the first entry. */
static bool level_p_key(struct qos_parser *p, const char *value, const struct keyword *k)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(struct qos_range));
	struct qos_level *level = p->object;
	const struct qos_range *first;

	(void)k;
	if (!qos_read_p_keys(p, value, ranges))
		return false;
	first = &g_array_index(ranges, struct qos_range, 0);
	if (!first->first)
		return qos_wrong(p, value, "a P_Key from 0x1 to 0xffff");
	if (level->has_p_key || ranges->len > 1 || first->first != first->last)
		qos_warn(p, "a level has one P_Key: the first is used");
	if (!level->has_p_key)
		level->p_key = (uint16_t)first->first;
	level->has_p_key = true;
	return true;
}

static bool rule_level(struct qos_parser *p, const char *value, const struct keyword *k)
{
	struct qos_mention one = {.line = p->line, .rule = p->object};

	(void)k;
	if (p->rule_has_level)
		return qos_wrong(p, value, "one name only");
	p->rule_has_level = true;
	one.name = g_strdup(value);
	g_array_append_val(p->mentions, one);
	return true;
}

/* ---- scopes ---- */

/* Names of groups, or "*". */
static bool ends(struct qos_parser *p, const char *value, const struct keyword *k)
{
	struct qos_ends *ends = MEMBER(p, k->field);

	p->scope_has_ends = true;
	if (strcmp(value, "*") != 0)
		return mention(p, value, ends->groups);
	ends->all = true;
	return true;
}

/* Numbers of ports, or "*"; several such lines add up. */
static bool port_numbers(struct qos_parser *p, const char *value, const struct keyword *k)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(struct qos_range));
	bool *ports = MEMBER(p, k->field), *said = MEMBER(p, k->also);

	if (strcmp(value, "*") != 0 && !qos_read_ranges(p, value, UINT8_MAX - 1, ranges))
		return false;
	if (!*said || !ranges->len)
		memset(ports, !ranges->len, 256);
	*said = true;
	for (guint i = 0; i < ranges->len; i++) {
		const struct qos_range *range = &g_array_index(ranges, struct qos_range, i);

		memset(ports + range->first, true, range->last - range->first + 1);
	}
	return true;
}

/* "VL:WEIGHT, ..."; several such lines add up. */
static bool entries(struct qos_parser *p, const char *value, const struct keyword *k)
{
	struct iba_vl_arbitration_entry *entries = MEMBER(p, k->field);
	unsigned int *n = MEMBER(p, k->also);
	g_auto(GStrv) items = g_strsplit(value, ",", -1);

	((struct qos_scope *)p->object)->sets |= (unsigned int)k->max;
	for (unsigned int i = 0; items[i]; i++, ++*n) {
		char *colon = strchr(items[i], ':');
		uint64_t vl, weight;

		if (*n == QOS_ARB_ENTRIES)
			return qos_wrong(p, items[i], "at most %u entries", QOS_ARB_ENTRIES);
		if (colon)
			*colon++ = '\0';
		if (!colon || !qos_read_number(g_strstrip(items[i]), QOS_DROP - 1, &vl) ||
		    !qos_read_number(g_strstrip(colon), UINT8_MAX, &weight))
			return qos_wrong(p, colon ? value : items[i],
					 "VL:WEIGHT, a VL from 0 to 14 and a weight from 0 to 255");
		entries[*n].vl = (uint8_t)vl;
		entries[*n].weight = (uint8_t)weight;
	}
	return items[0] || qos_wrong(p, "nothing", "a list of VL:WEIGHT");
}

static bool limit(struct qos_parser *p, const char *value, const struct keyword *k)
{
	struct qos_scope *scope = p->object;
	uint64_t is;

	if (scope->sets & QOS_SETS_LIMIT)
		return qos_wrong(p, value, "one %s only", k->word);
	scope->sets |= QOS_SETS_LIMIT;
	if (!qos_read_number(value, UINT8_MAX, &is))
		return qos_wrong(p, value, "a number from 0 to %u", UINT8_MAX);
	scope->limit = (uint8_t)is;
	return true;
}

static bool sl_to_vl(struct qos_parser *p, const char *value, const struct keyword *k)
{
	struct qos_scope *scope = p->object;
	g_auto(GStrv) items = g_strsplit(value, ",", -1);

	if (scope->sets & QOS_SETS_SL2VL)
		return qos_wrong(p, value, "one %s only", k->word);
	if (g_strv_length(items) != QOS_SLS)
		return qos_wrong(p, value, "%u VLs, of SL 0 to %u", QOS_SLS, QOS_SLS - 1);
	scope->sets |= QOS_SETS_SL2VL;
	for (unsigned int sl = 0; sl < QOS_SLS; sl++) {
		uint64_t vl;

		if (!qos_read_number(g_strstrip(items[sl]), QOS_DROP, &vl))
			return qos_wrong(p, items[sl], "a number from 0 to %u", QOS_DROP);
		scope->vl[sl] = (uint8_t)vl;
	}
	return true;
}

/* ---- all keywords ---- */

#define IN(type, member) offsetof(struct qos_##type, member)

static const struct keyword keywords[] = {
	{GROUP, "name", name, IN(group, name), 0, 0, 0},
	{GROUP, "use", nothing, 0, 0, 0, 0},
	{GROUP, "port-guid", numbers, IN(group, guids), 0, 0, UINT64_MAX},
	{GROUP, "port-name", port_names, 0, 0, 0, 0},
	{GROUP, "pkey", p_keys, IN(group, p_keys), 0, 0, 0},
	{GROUP, "partition", names, IN(group, partitions), 0, 0, 0},
	{GROUP, "node-type", types, 0, 0, 0, 0},
	{VLARB, "group", ends, IN(scope, group), 0, 0, 0},
	{VLARB, "across", ends, IN(scope, across), 0, 0, 0},
	{VLARB, "vlarb-high", entries, IN(scope, high), IN(scope, n_high), 0, QOS_SETS_HIGH},
	{VLARB, "vlarb-low", entries, IN(scope, low), IN(scope, n_low), 0, QOS_SETS_LOW},
	{VLARB, "vl-high-limit", limit, 0, 0, 0, 0},
	{VLARB, "vlarb-high-limit", limit, 0, 0, 0, 0}, /* name in older files of this daemon */
	{SL2VL, "group", ends, IN(scope, group), 0, 0, 0},
	{SL2VL, "across", ends, IN(scope, across), 0, 0, 0},
	{SL2VL, "across-from", ends, IN(scope, across_from), 0, 0, 0},
	{SL2VL, "across-to", ends, IN(scope, across_to), 0, 0, 0},
	{SL2VL, "from", port_numbers, IN(scope, from), IN(scope, has_from), 0, 0},
	{SL2VL, "to", port_numbers, IN(scope, to), IN(scope, has_to), 0, 0},
	{SL2VL, "sl2vl-table", sl_to_vl, 0, 0, 0, 0},
	{LEVEL, "name", name, IN(level, name), 0, 0, 0},
	{LEVEL, "use", nothing, 0, 0, 0, 0},
	{LEVEL, "sl", number, IN(level, sl), IN(level, has_sl), 0, 15},
	{LEVEL, "mtu-limit", number, IN(level, mtu), IN(level, has_mtu), 1, IBA_MTU_4096},
	{LEVEL, "rate-limit", rate, IN(level, rate), IN(level, has_rate), 2, 63},
	{LEVEL, "packet-life", number, IN(level, life), IN(level, has_life), 0, 63},
	{LEVEL, "path-bits", numbers, IN(level, path_bits), 0, 0, 127},
	{LEVEL, "pkey", level_p_key, 0, 0, 0, 0},
	{RULE, "use", nothing, 0, 0, 0, 0},
	{RULE, "qos-class", numbers, IN(rule, classes), 0, 0, 0xFFF},
	{RULE, "source", groups, IN(rule, sources), 0, 0, 0},
	{RULE, "destination", groups, IN(rule, destinations), 0, 0, 0},
	{RULE, "service-id", numbers, IN(rule, services), 0, 0, UINT64_MAX},
	{RULE, "pkey", p_keys, IN(rule, p_keys), 0, 0, 0},
	{RULE, "qos-level-name", rule_level, 0, 0, 0, 0},
};

const char *qos_keyword(unsigned int n)
{
	return n < G_N_ELEMENTS(keywords) ? keywords[n].word : NULL;
}

void qos_keywords_of(enum qos_section section, GPtrArray *words)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++)
		if (keywords[i].section == section)
			g_ptr_array_add(words, g_strconcat(keywords[i].word, ":", NULL));
}

bool qos_read_keyword(struct qos_parser *p, char *text)
{
	char *value = strchr(text, ':');

	if (value)
		*value++ = '\0';
	g_strstrip(text);
	for (size_t i = 0; value && i < G_N_ELEMENTS(keywords); i++)
		if (keywords[i].section == p->section && !strcmp(keywords[i].word, text))
			return keywords[i].read(p, g_strstrip(value), &keywords[i]);
	return qos_no_word(p, text);
}
