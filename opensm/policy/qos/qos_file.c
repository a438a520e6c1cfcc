// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads qos-policy.conf, line by line. A line is the beginning or end of a section, "keyword:
 * value", or, in qos-ulps, "ulp, ports: SL". One table has the sections and where they may occur;
 * another the keywords (qos_keywords.c).
 *
 * After an error reading continues, so that all errors are reported; consequences of an error are
 * not, and nothing of such a file is used.
 *
 * Rules of qos-ulps are converted to rules and levels of the long form, which come after the
 * others.
 */
#include <complib/file.h>
#include <stdarg.h>
#include <string.h>

#include "policy/qos/qos_file_private.h"

#define DEFAULT_LEVEL "DEFAULT"
#define WARNINGS_MAX 100

static const struct {
	const char *name; /* ended by "end-NAME" */
	enum qos_section in;
} sections[N_SECTIONS] = {
	[GROUPS] = {"port-groups", TOP},    [GROUP] = {"port-group", GROUPS},
	[SETUP] = {"qos-setup", TOP},	    [VLARBS] = {"vlarb-tables", SETUP},
	[VLARB] = {"vlarb-scope", VLARBS},  [SL2VLS] = {"sl2vl-tables", SETUP},
	[SL2VL] = {"sl2vl-scope", SL2VLS},  [LEVELS] = {"qos-levels", TOP},
	[LEVEL] = {"qos-level", LEVELS},    [RULES] = {"qos-match-rules", TOP},
	[RULE] = {"qos-match-rule", RULES}, [ULPS] = {"qos-ulps", TOP},
};

const char *qos_section_name(enum qos_section section)
{
	return sections[section].name;
}

GQuark qos_file_error_quark(void)
{
	return g_quark_from_static_string("qos-file-error-quark");
}

/* ---- errors ---- */

static bool is_apart(const char *line, const char *at, size_t length)
{
	return (at == line || !g_ascii_isalnum(at[-1])) && !g_ascii_isalnum(at[length]);
}

/* The column, from 1, at which found is in a line; 0: it is not. */
static unsigned int column_in(const char *line, const char *found)
{
	size_t length = strlen(found), line_length = strcspn(line, "\n");
	const char *at = length ? g_strstr_len(line, (gssize)line_length, found) : NULL;

	while (at && !is_apart(line, at, length))
		at = g_strstr_len(at + 1, (gssize)line_length - (at + 1 - line), found);
	return at ? (unsigned int)(at - line) + 1 : 0;
}

/* The first of the current lines that contains found; without found, where these lines begin. */
static void find_place(const struct qos_parser *p, const char *found, unsigned int *line,
		       unsigned int *column)
{
	const char *text = p->policy->text, *first = text;

	*column = 0;
	for (*line = 1; text && *line <= MAX(p->line, p->last_line); ++*line) {
		if (*line == p->line)
			first = text;
		if (*line >= p->line && (*column = column_in(text, found)))
			return;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	*line = p->line;
	*column = (unsigned int)strspn(first, " \t") + 1;
}

bool qos_wrong(struct qos_parser *p, const char *found, const char *format, ...)
{
	g_autofree char *expected = NULL, *printable = NULL, *text = NULL;
	unsigned int line, column;
	va_list args;

	p->object_is_wrong = true;
	p->lost[p->section] = true;
	if (!mistakes_have_room(&p->mistakes)) {
		mistakes_add(&p->mistakes, NULL);
		return false;
	}
	printable = g_strescape(found, NULL);
	find_place(p, found, &line, &column);
	va_start(args, format);
	expected = g_strdup_vprintf(format, args);
	va_end(args);
	text = g_strdup_printf("%s:%u:%u: found '%.80s', expected %s", p->policy->file, line,
			       column, printable, expected);
	mistakes_add(&p->mistakes, text);
	return false;
}

static char *warning_text(const struct qos_parser *p, const char *format, va_list args)
{
	g_autofree char *raw = g_strdup_vprintf(format, args), *printable = g_strescape(raw, NULL);

	return g_strdup_printf("%s:%u: %s", p->policy->file, p->line, printable);
}

void qos_warn(const struct qos_parser *p, const char *format, ...)
{
	GPtrArray *warnings = p->policy->warnings;
	va_list args;

	va_start(args, format);
	if (warnings->len < WARNINGS_MAX)
		g_ptr_array_add(warnings, warning_text(p, format, args));
	else if (warnings->len == WARNINGS_MAX)
		g_ptr_array_add(warnings,
				g_strdup_printf("%s: there are more warnings of this kind",
						p->policy->file));
	va_end(args);
}

bool qos_no_word(struct qos_parser *p, const char *found)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) list = g_string_new(NULL);
	g_autofree char *began = NULL;

	for (enum qos_section i = GROUPS; i < N_SECTIONS; i++)
		if (sections[i].in == p->section)
			g_ptr_array_add(words, g_strdup(sections[i].name));
	qos_keywords_of(p->section, words);
	if (p->section != TOP) {
		g_ptr_array_add(words, g_strconcat("end-", sections[p->section].name, NULL));
		began = g_strdup_printf(" (which line %u began)", p->section_line);
	}
	for (guint i = 0; i < words->len; i++)
		g_string_append_printf(list, "%s%s",
				       !i		    ? ""
				       : i + 1 < words->len ? ", "
							    : " or ",
				       (const char *)words->pdata[i]);
	return qos_wrong(p, found, "%s%s", list->str, began ? began : "");
}

/* ---- sections ---- */

static void begin(struct qos_parser *p, enum qos_section section)
{
	p->section = section;
	p->section_line = p->line;
	p->object_is_wrong = false;
	switch (section) {
	case GROUP:
		p->object = qos_group_new(p);
		break;
	case LEVEL:
		p->object = qos_level_new(p->policy, NULL);
		break;
	case RULE:
		p->object = qos_rule_new(p, p->policy->rules);
		p->rule_has_level = false;
		break;
	case VLARB:
	case SL2VL:
		p->object = qos_scope_new(p);
		p->scope_has_ends = false;
		break;
	default:
		p->object = p->policy;
		break;
	}
	p->is_full = !p->object;
}

static bool end_scope(struct qos_parser *p)
{
	const struct qos_scope *scope = p->object;

	if (!p->scope_has_ends)
		return qos_wrong(p, "the end", "group: or across: in this %s",
				 sections[p->section].name);
	if (p->section == SL2VL && !scope->sets)
		return qos_wrong(p, "the end", "sl2vl-table: in this sl2vl-scope");
	if (!scope->sets)
		qos_warn(p, "this vlarb-scope sets nothing");
	return true;
}

/* Whether the current section has what it must have. */
static bool is_whole(struct qos_parser *p)
{
	const char *name = sections[p->section].name;

	if (p->section == VLARB || p->section == SL2VL)
		return end_scope(p);
	if (p->section == GROUP && !((struct qos_group *)p->object)->name)
		return qos_wrong(p, "the end", "name: in this %s", name);
	if (p->section == LEVEL && !((struct qos_level *)p->object)->name)
		return qos_wrong(p, "the end", "name: in this %s", name);
	if (p->section == LEVEL && !((struct qos_level *)p->object)->has_sl)
		return qos_wrong(p, "the end", "sl: in this %s", name);
	return p->section != RULE || p->rule_has_level ||
	       qos_wrong(p, "the end", "qos-level-name: in this %s", name);
}

/* A line that was wrong may contain what is missing now. */
static void end(struct qos_parser *p)
{
	if (!p->object_is_wrong)
		is_whole(p);
	p->section = sections[p->section].in;
}

/* The section with this name that may occur inside in, or N_SECTIONS. */
static enum qos_section section_in(enum qos_section in, const char *name)
{
	enum qos_section section = GROUPS;

	while (section < N_SECTIONS &&
	       (sections[section].in != in || strcmp(sections[section].name, name) != 0))
		section++;
	return section;
}

static bool has_sections(enum qos_section in)
{
	enum qos_section section = GROUPS;

	while (section < N_SECTIONS && sections[section].in != in)
		section++;
	return section < N_SECTIONS;
}

/* The section with this name among the current one and those around it; TOP: none. */
static enum qos_section open_section(const struct qos_parser *p, const char *name)
{
	enum qos_section section = p->section;

	while (section != TOP && strcmp(sections[section].name, name) != 0)
		section = sections[section].in;
	return section;
}

static bool is_section(const char *name)
{
	for (enum qos_section in = TOP; in < N_SECTIONS; in++)
		if (section_in(in, name) != N_SECTIONS)
			return true;
	return false;
}

/* ---- recovery from errors ---- */

/* Nothing in it is read, not even names of groups and levels. */
static void skip_section(struct qos_parser *p, const char *name)
{
	p->skipped = g_strdup(name);
	p->lost[GROUP] = true;
	p->lost[LEVEL] = true;
}

/*
 * Whether the line belongs to an unknown section: up to its end, however spelled, or to a line that
 * belongs to the surrounding section.
 */
static bool is_skipped(struct qos_parser *p, const char *text)
{
	bool ends = g_str_has_prefix(text, "end-");
	bool ends_it = ends && (!strcmp(text + 4, p->skipped) ||
				section_in(p->section, text + 4) != N_SECTIONS);
	bool resumes = ends ? open_section(p, text + 4) != TOP
			    : section_in(p->section, text) != N_SECTIONS;

	if (ends_it || resumes)
		g_clear_pointer(&p->skipped, g_free);
	return !resumes;
}

/* The end of a surrounding section closes both; a misspelled end closes the current one. */
static void read_end(struct qos_parser *p, const char *text)
{
	enum qos_section section = open_section(p, text + 4);

	if (section != TOP && section == p->section) {
		end(p);
		return;
	}
	qos_no_word(p, text);
	if (section != TOP)
		p->section = sections[section].in;
	else if (p->section != TOP && !is_section(text + 4))
		p->section = sections[p->section].in;
}

/* A single word that begins no section here; if it does further out, an end is missing. */
static void read_wrong_word(struct qos_parser *p, const char *word)
{
	enum qos_section in = p->section;

	qos_no_word(p, word);
	while (in != TOP && section_in(in, word) == N_SECTIONS)
		in = sections[in].in;
	if (section_in(in, word) != N_SECTIONS)
		begin(p, section_in(in, word));
	else if (has_sections(p->section))
		skip_section(p, word);
}

static void read_line(struct qos_parser *p, char *text)
{
	enum qos_section section;

	if (!*text || (p->skipped && is_skipped(p, text)))
		return;
	section = section_in(p->section, text);
	if (section != N_SECTIONS)
		begin(p, section);
	else if (g_str_has_prefix(text, "end-"))
		read_end(p, text);
	else if (!strpbrk(text, ": \t") && (p->section != ULPS || is_section(text)))
		read_wrong_word(p, text);
	else if (p->section == ULPS)
		qos_read_ulp(p, text);
	else
		qos_read_keyword(p, text);
}

/* ---- the file ---- */

/* Replaces an unknown group by one without ports, as an empty list would mean any port. */
static bool resolve_to_nobody(struct qos_parser *p, const struct qos_mention *mention)
{
	int index = (int)p->policy->groups->len;
	struct qos_group *group = qos_group_new(p);

	if (!group)
		return false;
	group->name = g_strdup(mention->name);
	g_array_append_val(mention->groups, index);
	qos_warn(p, "there is no group '%.80s': the scope gets no ports from it", mention->name);
	return true;
}

static bool resolve(struct qos_parser *p, const struct qos_mention *mention)
{
	GHashTable *names = p->names[mention->rule ? LEVEL : GROUP];
	int index = GPOINTER_TO_INT(g_hash_table_lookup(names, mention->name)) - 1;

	p->line = mention->line;
	if (index < 0 && mention->of_scope)
		return resolve_to_nobody(p, mention);
	if (index < 0)
		return qos_wrong(p, mention->name, "the name of a %s",
				 mention->rule ? "qos-level" : "group");
	if (mention->rule)
		mention->rule->level = (unsigned int)index;
	else
		g_array_append_val(mention->groups, index);
	return true;
}

static void take_default(struct qos_parser *p)
{
	unsigned int index = GPOINTER_TO_UINT(g_hash_table_lookup(p->names[LEVEL], DEFAULT_LEVEL));

	if (index)
		p->policy->fallback = index - 1;
	else if (!p->last_line)
		qos_level_new(p->policy, DEFAULT_LEVEL); /* only comments: like no file */
	else if (!p->has_fallback)
		qos_wrong(p, "the end of the file",
			  "a qos-level named DEFAULT, or default among qos-ulps");
}

static void finish(struct qos_parser *p)
{
	if (p->section != TOP && !p->is_full)
		qos_wrong(p, "the end of the file", "end-%s (it begins in line %u)",
			  sections[p->section].name, p->section_line);
	p->section = TOP;
	for (guint i = 0; i < p->mentions->len; i++) {
		const struct qos_mention *mention =
			&g_array_index(p->mentions, struct qos_mention, i);

		if (!p->lost[mention->rule ? LEVEL : GROUP])
			resolve(p, mention);
	}
	if (!p->mistakes.n)
		take_default(p);
	for (guint i = 0; i < p->ulps->len; i++)
		g_ptr_array_add(p->policy->rules, p->ulps->pdata[i]);
	g_ptr_array_set_free_func(p->ulps, NULL);
}

static void clear_mention(void *data)
{
	g_free(((struct qos_mention *)data)->name);
}

/* A list may continue on the next line, after or before a comma; "use" is free text. */
static bool goes_on(const GString *text, const char *next)
{
	return text->len && !g_str_has_prefix(text->str, "use") &&
	       (*next == ',' || text->str[text->len - 1] == ',');
}

static void parse(struct qos_parser *p, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GString) whole = g_string_new(NULL);

	for (unsigned int i = 0; lines[i] && !p->is_full; i++) {
		lines[i][strcspn(lines[i], "#")] = '\0';
		g_strstrip(lines[i]);
		if (!*lines[i])
			continue;
		if (!goes_on(whole, lines[i])) {
			read_line(p, whole->str);
			g_string_truncate(whole, 0);
			p->line = i + 1;
		}
		g_string_append(whole, lines[i]);
		p->last_line = i + 1;
	}
	if (!p->is_full)
		read_line(p, whole->str);
	p->line = MAX(g_strv_length(lines), 1);
	finish(p);
}

struct qos_policy *qos_policy_parse(const char *file, const char *text, GError **error)
{
	struct qos_parser p = {.line = 1};

	p.policy = qos_policy_new(file);
	p.policy->is_there = true;
	p.policy->text = g_strdup(text);
	p.ulps = g_ptr_array_new_with_free_func(qos_rule_free);
	p.mentions = g_array_new(FALSE, FALSE, sizeof(struct qos_mention));
	g_array_set_clear_func(p.mentions, clear_mention);
	p.names[GROUP] = g_hash_table_new(g_str_hash, g_str_equal);
	p.names[LEVEL] = g_hash_table_new(g_str_hash, g_str_equal);
	parse(&p, text);
	g_hash_table_unref(p.names[GROUP]);
	g_hash_table_unref(p.names[LEVEL]);
	g_ptr_array_unref(p.ulps);
	g_array_unref(p.mentions);
	g_free(p.skipped);
	if (!p.last_line)
		g_clear_pointer(&p.policy->text, g_free);
	if (mistakes_end(&p.mistakes, file, QOS_FILE_ERROR, QOS_FILE_ERROR_SYNTAX, error))
		return p.policy;
	qos_policy_unref(p.policy);
	return NULL;
}

struct qos_policy *qos_policy_load(const char *file, GError **error)
{
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	struct qos_policy *policy;
	gsize length;

	text = file ? file_read(file, FILE_MAX_CONFIG, &length, &failure) : NULL;
	if (text && memchr(text, '\0', length)) {
		g_set_error(error, QOS_FILE_ERROR, QOS_FILE_ERROR_SYNTAX,
			    "%s: found a zero octet, expected text", file);
		return NULL;
	}
	if (text)
		return qos_policy_parse(file, text, error);
	if (file && !g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_set_error(error, QOS_FILE_ERROR, QOS_FILE_ERROR_READ, "%s", failure->message);
		return NULL;
	}
	policy = qos_policy_new(file);
	qos_level_new(policy, DEFAULT_LEVEL);
	return policy;
}
