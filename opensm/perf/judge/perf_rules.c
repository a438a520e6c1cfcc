// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads the rules by which counters are judged, as a whole or not at all: perf_rules.h. */
#include "perf/judge/perf_rules.h"

#include <complib/file.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/words.h"
#include "iba/constants.h"
#include "perf/image/query.h"

#define COUNT_MAX 1e15
#define PERCENT_MAX 100
#define NAME_MAX_LENGTH 64

static const char *const scopes[PERF_SCOPES] = {
	[PERF_SCOPE_ALL] = "all",     [PERF_SCOPE_SWITCH_SWITCH] = "switch-switch",
	[PERF_SCOPE_HOST] = "host",   [PERF_SCOPE_SWITCH] = "switch",
	[PERF_SCOPE_GROUP] = "group",
};

static const char *const links[] = {
	[PERF_ANY_LINK] = NULL,
	[PERF_FEC_LINK] = "fec",
	[PERF_NO_FEC_LINK] = "no_fec",
};

static const struct derived {
	const char *name, *unit;
	double max;
} derived[] = {
	{"XmitWaitShare", " %", PERCENT_MAX},
	{"Utilisation", " %", PERCENT_MAX},
	{"RawBER", "", 1},
};

GQuark perf_rules_error_quark(void)
{
	return g_quark_from_static_string("perf-rules-error-quark");
}

/* ---- values ---- */

static bool is_counted(unsigned int value)
{
	return value < PERF_VALUE_XMIT_WAIT_SHARE;
}

const char *perf_rule_value_name(unsigned int value)
{
	if (value < PERF_VALUE_DETAILS)
		return perf_counter_info[value].iba;
	return is_counted(value) ? perf_detail_info[value - PERF_VALUE_DETAILS].iba
				 : derived[value - PERF_VALUE_XMIT_WAIT_SHARE].name;
}

const char *perf_rule_value_unit(unsigned int value)
{
	return is_counted(value) ? "" : derived[value - PERF_VALUE_XMIT_WAIT_SHARE].unit;
}

int perf_rule_value_find(const char *name)
{
	struct perf_value value;

	/* Of what is sent or received, and so not a value that perf_value_find() knows. */
	if (!g_ascii_strcasecmp(name, "Utilisation") || !g_ascii_strcasecmp(name, "utilization"))
		return PERF_VALUE_UTILISATION;
	if (!perf_value_find(name, &value))
		return -1;
	switch (value.figure) {
	case PERF_COUNT: /* columns are counted in the order of rules' values */
		return (int)(PERF_VALUE_COUNTERS + value.column);
	case PERF_WAITING:
		return PERF_VALUE_XMIT_WAIT_SHARE;
	case PERF_RAW_BER:
		return PERF_VALUE_RAW_BER;
	case PERF_UTILIZATION:
	case PERF_RATE:
		break;
	}
	return -1;
}

/* ---- a line ---- */

struct reader {
	struct words w; /* first */
	struct perf_rules *rules;
	GArray *found;	/* of struct perf_rule */
	GArray *groups; /* of struct perf_group */
};

/* Newly allocated; an octet 0 within makes it a word that no table has. */
static char *copy_word(const struct reader *r)
{
	char *word = g_strndup(r->w.word, r->w.length);

	if (r->w.quoted || strlen(word) != r->w.length)
		*word = '\0';
	return word;
}

/* "0x2c903:7" or "0x2c903"; false: it is none. */
static bool read_port(const struct reader *r, uint64_t *guid, uint8_t *port)
{
	g_autofree char *word = copy_word(r);
	char *colon = strchr(word, ':');
	guint64 number = 0;

	if (colon)
		*colon++ = '\0';
	if (!g_str_has_prefix(word, "0x") ||
	    !g_ascii_string_to_unsigned(word + 2, 16, 1, UINT64_MAX, guid, NULL) ||
	    (colon &&
	     !g_ascii_string_to_unsigned(colon, 10, 1, IBA_SWITCH_MAX_PORT, &number, NULL)))
		return false;
	*port = (uint8_t)number;
	return true;
}

static bool read_seconds(struct reader *r, uint32_t *seconds, GError **error)
{
	g_autofree char *word = copy_word(r);
	guint64 number;

	if (!g_ascii_string_to_unsigned(word, 10, 1, PERF_WINDOW_MAX, &number, NULL))
		return words_refuse(&r->w, error, "seconds, a number from 1 to %u",
				    PERF_WINDOW_MAX);
	*seconds = (uint32_t)number;
	words_next(&r->w);
	return true;
}

static double max_of(unsigned int value)
{
	return is_counted(value) ? COUNT_MAX : derived[value - PERF_VALUE_XMIT_WAIT_SHARE].max;
}

/* Decimal, as "120", "2.5" or "1e-6"; what is counted has no fractions, unless they clear. */
static bool read_limit(struct reader *r, const struct perf_rule *rule, double max, bool clears,
		       double *limit, GError **error)
{
	g_autofree char *word = copy_word(r);
	bool whole = is_counted(rule->value) && !clears;
	char *end = NULL;
	double number = 0;

	if (*word && strspn(word, "0123456789.eE-+") == r->w.length)
		number = g_ascii_strtod(word, &end);
	if (!end || *end || !(number > 0) || number > max || (whole && floor(number) != number))
		return words_refuse(&r->w, error, "%s, %s number above 0, at most %.16g",
				    clears ? "a limit below which it ends"
				    : *perf_rule_value_unit(rule->value) ? "a limit in percent"
									 : "a limit",
				    whole ? "a whole" : "a", max);
	*limit = number;
	words_next(&r->w);
	return true;
}

/* ---- groups ---- */

static gint by_port(gconstpointer a, gconstpointer b)
{
	const struct perf_rule_member *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port - y->port;
}

static int find_group(const struct reader *r)
{
	g_autofree char *word = copy_word(r);

	for (guint i = 0; *word && i < r->groups->len; i++)
		if (!strcmp(g_array_index(r->groups, struct perf_group, i).name, word))
			return (int)i;
	return -1;
}

static bool is_name(const struct reader *r)
{
	if (!r->w.length || r->w.quoted || r->w.length > NAME_MAX_LENGTH ||
	    g_ascii_isdigit(*r->w.word))
		return false;
	for (size_t i = 0; i < r->w.length; i++)
		if (!g_ascii_isalnum(r->w.word[i]) && !memchr("_-.", r->w.word[i], 3))
			return false;
	return true;
}

static bool read_pattern(const struct reader *r, struct perf_group *group, GError **error)
{
	g_autofree char *text = g_strndup(r->w.word, r->w.length);

	if (r->w.torn)
		return words_refuse(&r->w, error, "a quote at the end of the pattern");
	if (!r->w.length || strlen(text) != r->w.length || !g_utf8_validate(text, -1, NULL))
		return words_refuse(&r->w, error, "a pattern of node names");
	g_ptr_array_add(group->patterns, g_pattern_spec_new(text));
	g_ptr_array_add(group->texts, g_steal_pointer(&text));
	return true;
}

static bool read_member(struct reader *r, struct perf_group *group, GError **error)
{
	struct perf_rule_member member = {0};

	if (r->w.quoted) {
		if (!read_pattern(r, group, error))
			return false;
	} else if (read_port(r, &member.guid, &member.port)) {
		g_array_append_val(group->members, member);
	} else {
		return words_refuse(&r->w, error,
				    "members: GUID, GUID:PORT or a quoted pattern of names");
	}
	words_next(&r->w);
	return true;
}

/* After the word group. A second line for a name adds members. */
static bool read_group(struct reader *r, GError **error)
{
	struct perf_group new = {0};
	int at;

	words_next(&r->w);
	if (!is_name(r))
		return words_refuse(&r->w, error,
				    "the name of a group: a letter, then letters, digits, "
				    "'_', '-' and '.'");
	at = find_group(r);
	if (at < 0 && r->groups->len == PERF_GROUPS_MAX)
		return words_refuse(&r->w, error, "at most %u groups", PERF_GROUPS_MAX);
	if (at < 0) {
		new.name = copy_word(r);
		new.members = g_array_new(FALSE, FALSE, sizeof(struct perf_rule_member));
		new.patterns = g_ptr_array_new_with_free_func((GDestroyNotify)g_pattern_spec_free);
		new.texts = g_ptr_array_new_with_free_func(g_free);
		at = (int)r->groups->len;
		g_array_append_val(r->groups, new);
	}
	words_next(&r->w);
	do {
		if (!read_member(r, &g_array_index(r->groups, struct perf_group, at), error))
			return false;
	} while (!words_at_end(&r->w));
	return true;
}

/* ---- rules ---- */

static bool read_value(struct reader *r, struct perf_rule *rule, GError **error)
{
	g_autofree char *word = copy_word(r);
	int value = perf_rule_value_find(word);

	if (value < 0)
		return words_refuse(&r->w, error,
				    "group, a counter such as PortRcvErrors, XmitWaitShare, "
				    "Utilisation or RawBER");
	rule->value = (uint16_t)value;
	words_next(&r->w);
	return true;
}

static bool read_scope(struct reader *r, struct perf_rule *rule, GError **error)
{
	int group;

	for (unsigned int i = 0; i < PERF_SCOPE_GROUP; i++)
		if (words_is(&r->w, scopes[i])) {
			rule->scope = (uint8_t)i;
			words_next(&r->w);
			return true;
		}
	if (words_is(&r->w, scopes[PERF_SCOPE_GROUP])) {
		words_next(&r->w);
		group = find_group(r);
		if (group < 0)
			return words_refuse(&r->w, error,
					    "the name of a group that is defined above");
		rule->scope = PERF_SCOPE_GROUP;
		rule->group = (uint16_t)group;
	} else if (read_port(r, &rule->guid, &rule->port)) {
		rule->scope = PERF_SCOPE_PORT;
	} else {
		return words_refuse(&r->w, error,
				    "all, switch-switch, host, switch, group NAME, GUID or "
				    "GUID:PORT");
	}
	words_next(&r->w);
	return true;
}

static bool read_level(struct reader *r, struct perf_rule *rule, GError **error)
{
	g_autofree char *word = copy_word(r);
	int level = perf_level_find(word);

	if (level < 0)
		return words_refuse(&r->w, error, "info, warning, alarm or off");
	rule->level = (uint8_t)level;
	rule->off = level == PERF_OFF;
	words_next(&r->w);
	if (!rule->off && words_is(&r->w, "off")) {
		rule->off = true;
		words_next(&r->w);
	}
	return true;
}

static bool take_rule(struct reader *r, const struct perf_rule *rule, GError **error)
{
	if (r->found->len == PERF_RULES_MAX)
		return words_refuse(&r->w, error, "at most %u rules", PERF_RULES_MAX);
	g_array_append_val(r->found, *rule);
	return true;
}

/* "LIMIT in SECONDS", and more of them after "or". */
static bool read_thresholds(struct reader *r, struct perf_rule *rule, GError **error)
{
	for (;;) {
		if (!read_limit(r, rule, max_of(rule->value), false, &rule->limit, error))
			return false;
		if (!words_is(&r->w, "in"))
			return words_refuse(&r->w, error, "in, and seconds");
		words_next(&r->w);
		if (!read_seconds(r, &rule->window_s, error) || !take_rule(r, rule, error))
			return false;
		if (!words_is(&r->w, "or"))
			return true;
		words_next(&r->w);
		rule->is_more = true;
	}
}

/* The rest of the line concerns all rules of the line, from the one with this number on. */
static bool read_rest(struct reader *r, guint first, GError **error)
{
	struct perf_rule *rules = &g_array_index(r->found, struct perf_rule, first),
			 common = *rules;
	guint n = r->found->len - first;
	double lowest = rules[0].limit;

	for (guint i = 1; i < n; i++)
		lowest = MIN(lowest, rules[i].limit);
	if (words_is(&r->w, "clear")) {
		words_next(&r->w);
		if (!read_limit(r, &common, lowest, true, &common.clear, error))
			return false;
	}
	if (words_is(&r->w, "after")) {
		words_next(&r->w);
		if (!read_seconds(r, &common.clear_s, error))
			return false;
	}
	for (unsigned int i = PERF_FEC_LINK; i < G_N_ELEMENTS(links); i++)
		if (words_is(&r->w, links[i])) {
			common.links = (uint8_t)i;
			words_next(&r->w);
			break;
		}
	if (words_is(&r->w, "unhealthy")) {
		common.unhealthy = true;
		words_next(&r->w);
	}
	if (!words_at_end(&r->w))
		return words_refuse(&r->w, error,
				    "or, clear, after, fec, no_fec, unhealthy or the end of the "
				    "line, in this order");
	for (guint i = 0; i < n; i++) {
		rules[i].clear = common.clear > 0 ? common.clear : rules[i].limit / 2;
		rules[i].clear_s = common.clear_s ? common.clear_s : 2 * rules[i].window_s;
		rules[i].links = common.links;
		rules[i].unhealthy = common.unhealthy;
	}
	return true;
}

static bool read_rule(struct reader *r, GError **error)
{
	struct perf_rule rule = {.line = r->w.line};
	guint first = r->found->len;

	if (!read_value(r, &rule, error) || !read_scope(r, &rule, error) ||
	    !read_level(r, &rule, error))
		return false;
	if (!rule.off)
		return read_thresholds(r, &rule, error) && read_rest(r, first, error);
	return words_at_end(&r->w) ? take_rule(r, &rule, error)
				   : words_refuse(&r->w, error, "the end of the line after off");
}

static bool read_line(struct words *words, GError **error)
{
	struct reader *r = (struct reader *)words;

	return words_is(&r->w, "group") ? read_group(r, error) : read_rule(r, error);
}

/* ---- the file ---- */

static void group_clear(struct perf_group *group)
{
	g_free(group->name);
	g_array_unref(group->members);
	g_ptr_array_unref(group->patterns);
	g_ptr_array_unref(group->texts);
}

/* Moves what was read into the rules. */
static void finish(struct reader *r)
{
	struct perf_rules *rules = r->rules;

	rules->n = r->found->len;
	rules->rules = (struct perf_rule *)(void *)g_array_free(r->found, FALSE);
	rules->n_groups = r->groups->len;
	rules->groups = (struct perf_group *)(void *)g_array_free(r->groups, FALSE);
	for (unsigned int i = 0; i < rules->n_groups; i++)
		g_array_sort(rules->groups[i].members, by_port);
	for (unsigned int i = 0; i < rules->n; i++) {
		unsigned int next = i + 1;

		while (next < rules->n && rules->rules[next].value != rules->rules[i].value)
			next++;
		rules->rules[i].next = (uint16_t)next;
	}
}

struct perf_rules *perf_rules_parse(const char *file, const char *text, size_t length,
				    GError **error)
{
	struct reader r = {
		.w = {.file = file, .domain = PERF_RULES_ERROR, .takes_quotes = true},
		.rules = g_new0(struct perf_rules, 1),
		.found = g_array_new(FALSE, FALSE, sizeof(struct perf_rule)),
		.groups = g_array_new(FALSE, FALSE, sizeof(struct perf_group)),
	};
	bool good;

	ref_init(&r.rules->ref);
	r.rules->file = g_strdup(file);
	good = words_read(&r.w, text, length, read_line, error);
	finish(&r);
	if (!good)
		g_clear_pointer(&r.rules, perf_rules_unref);
	return r.rules;
}

struct perf_rules *perf_rules_built_in(void)
{
	static const char text[] =
#define PERF_RULE(value, level, limit, window, more)                                               \
	value " all " level " " limit " in " #window " " more "\n"
#include "perf/judge/perf_rules.def"
		;
	struct perf_rules *rules =
		perf_rules_parse("the rules built in", text, sizeof(text) - 1, NULL);

	g_assert(rules);
	g_clear_pointer(&rules->file, g_free);
	return rules;
}

struct perf_rules *perf_rules_load(const struct options *options, GError **error)
{
	const char *file = options->perfmgr_rules_file;
	struct perf_rules *rules = NULL;
	g_autofree char *text = NULL;
	gsize length;

	if (!file)
		return perf_rules_built_in();
	text = file_read(file, FILE_MAX_CONFIG, &length, error);
	if (text)
		rules = perf_rules_parse(file, text, length, error);
	if (!rules)
		g_prefix_error(error, "perfmgr_rules_file: ");
	return rules;
}

struct perf_rules *perf_rules_ref(struct perf_rules *rules)
{
	ref_get(&rules->ref);
	return rules;
}

void perf_rules_unref(struct perf_rules *rules)
{
	if (!rules || !ref_put(&rules->ref))
		return;
	for (unsigned int i = 0; i < rules->n_groups; i++)
		group_clear(&rules->groups[i]);
	g_free(rules->groups);
	g_free(rules->rules);
	g_free(rules->file);
	g_free(rules);
}

/* ---- as text ---- */

/* A number that reads as this one, with as few digits as people would write. */
static void append_number(GString *text, double number)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	g_ascii_formatd(buffer, sizeof(buffer), "%.15g", number);
	if (g_ascii_strtod(buffer, NULL) != number)
		g_ascii_formatd(buffer, sizeof(buffer), "%.17g", number);
	g_string_append(text, buffer);
}

static void append_port(GString *text, uint64_t guid, uint8_t port)
{
	g_string_append_printf(text, "0x%016" PRIx64, guid);
	if (port)
		g_string_append_printf(text, ":%u", port);
}

static void append_scope(GString *text, const struct perf_rules *rules,
			 const struct perf_rule *rule)
{
	if (rule->scope == PERF_SCOPE_PORT)
		append_port(text, rule->guid, rule->port);
	else
		g_string_append(text, scopes[rule->scope]);
	if (rule->scope == PERF_SCOPE_GROUP)
		g_string_append_printf(text, " %s", rules->groups[rule->group].name);
}

static void append_thresholds(GString *text, const struct perf_rules *rules, unsigned int number)
{
	const struct perf_rule *rule = &rules->rules[number];
	bool usual_clear = true, usual_after = true;

	for (unsigned int i = number; i == number || (i < rules->n && rules->rules[i].is_more);
	     i++) {
		g_string_append(text, i > number ? " or " : " ");
		append_number(text, rules->rules[i].limit);
		g_string_append_printf(text, " in %u", rules->rules[i].window_s);
		usual_clear &= rules->rules[i].clear == rules->rules[i].limit / 2;
		usual_after &= rules->rules[i].clear_s == 2 * rules->rules[i].window_s;
	}
	if (!usual_clear) {
		g_string_append(text, " clear ");
		append_number(text, rule->clear);
	}
	if (!usual_after)
		g_string_append_printf(text, " after %u", rule->clear_s);
	if (links[rule->links])
		g_string_append_printf(text, " %s", links[rule->links]);
	if (rule->unhealthy)
		g_string_append(text, " unhealthy");
}

char *perf_rule_text(const struct perf_rules *rules, unsigned int number)
{
	const struct perf_rule *rule = &rules->rules[number];
	GString *text = g_string_new(perf_rule_value_name(rule->value));

	g_string_append_c(text, ' ');
	append_scope(text, rules, rule);
	g_string_append_printf(text, " %s", perf_level_word(rule->level));
	if (!rule->off)
		append_thresholds(text, rules, number);
	else if (rule->level != PERF_OFF)
		g_string_append(text, " off");
	return g_string_free(text, FALSE);
}

char *perf_group_text(const struct perf_group *group)
{
	GString *text = g_string_new("group ");

	g_string_append(text, group->name);
	for (guint m = 0; m < group->members->len; m++) {
		const struct perf_rule_member *member =
			&g_array_index(group->members, struct perf_rule_member, m);

		g_string_append_c(text, ' ');
		append_port(text, member->guid, member->port);
	}
	for (guint p = 0; p < group->texts->len; p++)
		g_string_append_printf(text, " \"%s\"", (char *)group->texts->pdata[p]);
	return g_string_free(text, FALSE);
}

char *perf_rules_text(const struct perf_rules *rules)
{
	GString *text = g_string_new(NULL);

	for (unsigned int i = 0; i < rules->n_groups; i++) {
		g_autofree char *line = perf_group_text(&rules->groups[i]);

		g_string_append_printf(text, "%s\n", line);
	}
	for (unsigned int i = 0; i < rules->n; i++) {
		g_autofree char *line = rules->rules[i].is_more ? NULL : perf_rule_text(rules, i);

		if (line)
			g_string_append_printf(text, "%s\n", line);
	}
	return g_string_free(text, FALSE);
}

bool perf_rules_same(const struct perf_rules *a, const struct perf_rules *b)
{
	g_autofree char *x = perf_rules_text(a), *y = perf_rules_text(b);

	return !strcmp(x, y);
}

/* ---- which ports they judge ---- */

static bool is_same_group(const struct perf_group *a, const struct perf_group *b)
{
	if (a->members->len != b->members->len || a->texts->len != b->texts->len)
		return false;
	for (guint i = 0; i < a->members->len; i++)
		if (by_port(&g_array_index(a->members, struct perf_rule_member, i),
			    &g_array_index(b->members, struct perf_rule_member, i)))
			return false;
	for (guint i = 0; i < a->texts->len; i++)
		if (strcmp(a->texts->pdata[i], b->texts->pdata[i]) != 0)
			return false;
	return true;
}

bool perf_rule_same(const struct perf_rules *in_a, const struct perf_rule *a,
		    const struct perf_rules *in_b, const struct perf_rule *b)
{
	return a->value == b->value && a->scope == b->scope && a->level == b->level &&
	       a->links == b->links && a->port == b->port && a->off == b->off &&
	       a->guid == b->guid && a->window_s == b->window_s && a->clear_s == b->clear_s &&
	       a->limit == b->limit && a->clear == b->clear &&
	       (a->scope != PERF_SCOPE_GROUP ||
		is_same_group(&in_a->groups[a->group], &in_b->groups[b->group]));
}

static bool has_member(const struct perf_group *group, uint64_t guid, uint8_t port)
{
	struct perf_rule_member whole = {guid, 0}, one = {guid, port};

	return g_array_binary_search(group->members, &whole, by_port, NULL) ||
	       g_array_binary_search(group->members, &one, by_port, NULL);
}

static bool fits_pattern(const struct perf_group *group, const struct perf_node *node)
{
	for (guint i = 0; i < group->patterns->len; i++)
		if (node->name && g_pattern_match_string(group->patterns->pdata[i], node->name))
			return true;
	return false;
}

static bool is_in_group(const struct perf_group *group, const struct perf_node *node, uint8_t port)
{
	return has_member(group, node->guid, port) || fits_pattern(group, node);
}

int perf_rules_find_group(const struct perf_rules *rules, const char *name)
{
	for (unsigned int i = 0; i < rules->n_groups; i++)
		if (!strcmp(rules->groups[i].name, name))
			return (int)i;
	return -1;
}

bool *perf_group_rows(const struct perf_group *group, const struct perf_layout *layout)
{
	bool *rows = g_new(bool, MAX(layout->n_rows, 1)), whole = false;

	for (uint32_t row = 0; row < layout->n_rows; row++) {
		const struct perf_node *node = perf_layout_node_of(layout, row);

		if (row == node->first_row)
			whole = fits_pattern(group, node);
		rows[row] = whole || has_member(group, node->guid, layout->places[row].port);
	}
	return rows;
}

bool perf_rule_covers(const struct perf_rules *rules, const struct perf_rule *rule,
		      const struct perf_layout *layout, uint32_t row)
{
	const struct perf_place *place = &layout->places[row];
	const struct perf_node *node = &layout->nodes[place->node];
	bool is_switch = node->type == IBA_NODE_SWITCH;

	if (rule->links != PERF_ANY_LINK && place->fec != (rule->links == PERF_FEC_LINK))
		return false;
	switch (rule->scope) {
	case PERF_SCOPE_SWITCH_SWITCH:
		return is_switch && place->to_switch;
	case PERF_SCOPE_HOST:
		return !is_switch || (place->port && !place->to_switch);
	case PERF_SCOPE_SWITCH:
		return is_switch;
	case PERF_SCOPE_GROUP:
		return is_in_group(&rules->groups[rule->group], node, place->port);
	case PERF_SCOPE_PORT:
		return rule->guid == node->guid && (!rule->port || rule->port == place->port);
	default:
		return true;
	}
}

bool perf_rule_applies(const struct perf_rules *rules, unsigned int number,
		       const struct perf_layout *layout, uint32_t row)
{
	const struct perf_rule *rule = &rules->rules[number], *later;

	if (rule->off || !perf_rule_covers(rules, rule, layout, row))
		return false;
	for (unsigned int i = rule->next; i < rules->n; i = later->next) {
		later = &rules->rules[i];
		if (later->line != rule->line &&
		    (later->level == rule->level || later->level == PERF_OFF) &&
		    perf_rule_covers(rules, later, layout, row))
			return false;
	}
	return true;
}
