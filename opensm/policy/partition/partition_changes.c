// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A request is parsed as text after the text that is kept, and the result is written again: P_Keys
 * and GUIDs ascending, each once, with its last value. So two requests with the same meaning
 * produce the same text, and a request that changes nothing can be recognized.
 */
#include "policy/partition/partition_changes.h"

#include <complib/file.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "policy/partition/partition.h"

#define FIRST_WORDS "# opensm partition requests, serial "
#define SUM_WORDS ", sha256 "
#define SUM_LENGTH 64
#define MODE 0600

/* ---- the file ---- */

static struct partition_changes *changes_new(const char *file, uint64_t serial, char *text)
{
	struct partition_changes *changes = g_new0(struct partition_changes, 1);

	ref_init(&changes->ref);
	changes->file = g_strdup(file);
	changes->serial = serial;
	changes->text = text;
	return changes;
}

bool partition_changes_is(const char *text)
{
	return g_str_has_prefix(text, FIRST_WORDS);
}

/* The definitions after the first line. */
static const char *body_of(const struct partition_changes *changes)
{
	const char *end = strchr(changes->text, '\n');

	return end ? end + 1 : "";
}

static char *with_first_line(const char *body, uint64_t serial)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, body, -1);

	return g_strdup_printf(FIRST_WORDS "%" PRIu64 SUM_WORDS "%s\n%s", serial, sum, body);
}

static bool refuse(GError **error, const char *file, const char *why)
{
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE,
		    "%s:1: %s; it holds the partition members that were added and removed at run "
		    "time: restore it, or remove it to go without them",
		    file, why);
	return false;
}

static bool read_serial(const char *file, const char *text, uint64_t *serial, GError **error)
{
	char *end;

	if (!partition_changes_is(text))
		return refuse(error, file, "expected '" FIRST_WORDS "...'");
	errno = 0;
	*serial = g_ascii_strtoull(text + strlen(FIRST_WORDS), &end, 10);
	if (errno || !*serial || !g_str_has_prefix(end, SUM_WORDS))
		return refuse(error, file, "expected a serial from 1 and '" SUM_WORDS "...'");
	return true;
}

struct partition_changes *partition_changes_parse(const char *file, const char *text, size_t length,
						  GError **error)
{
	struct partition_rules *rules;
	g_autofree char *whole = NULL;
	const char *body;
	uint64_t serial = 0;

	if (strlen(text) != length) {
		refuse(error, file, "expected text without NUL octets");
		return NULL;
	}
	if (!read_serial(file, text, &serial, error))
		return NULL;
	body = strchr(text, '\n');
	whole = with_first_line(body ? body + 1 : "", serial);
	if (strcmp(whole, text) != 0) {
		refuse(error, file, "the checksum is not that of the rest of the file");
		return NULL;
	}
	rules = partition_rules_parse_requests(file, text, length, error);
	if (!rules)
		return NULL;
	partition_rules_unref(rules);
	return changes_new(file, serial, g_steal_pointer(&whole));
}

struct partition_changes *partition_changes_load(const char *cache_dir, GError **error)
{
	g_autofree char *file =
		cache_dir ? g_build_filename(cache_dir, PARTITION_CHANGES_FILE, NULL) : NULL;
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	gsize length;

	text = file ? file_read_own(file, FILE_MAX_CONFIG, &length, &failure) : NULL;
	if (text)
		return partition_changes_parse(file, text, length, error);
	if (!file || g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return changes_new(file, 0, g_strdup(""));
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE, "%s", failure->message);
	return NULL;
}

bool partition_changes_save(const struct partition_changes *changes, GError **error)
{
	return !changes->file || file_write(changes->file, changes->text, MODE, error);
}

/* ---- changes ---- */

struct edit {
	const struct partition_rules *base; /* NULL: removed members stay removed */
	uint16_t forget;		    /* P_Key; 0: all */
	GString *out;
	unsigned int n_members;
};

/* Whether partitions.conf may have that GUID in the partition. */
static bool base_names(const struct edit *edit, uint16_t p_key, uint64_t guid)
{
	const struct partition_rule *rule = partition_rules_find(edit->base, p_key);

	for (guint i = 0; rule && i < rule->members->len; i++) {
		const struct partition_member *member =
			&g_array_index(rule->members, struct partition_member, i);

		if (member->file < edit->base->n_own_files &&
		    (member->who != PARTITION_GUIDS ||
		     (guid >= member->first && guid <= member->last)))
			return true;
	}
	return false;
}

static gint compare_members(gconstpointer a, gconstpointer b)
{
	const struct partition_member *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* The last entry for each GUID; its line is set to its position in the rule. */
static GArray *last_words(const struct edit *edit, const struct partition_rule *rule)
{
	GArray *members = g_array_copy(rule->members);
	guint n = 0;

	for (guint i = 0; i < members->len; i++)
		g_array_index(members, struct partition_member, i).line = i;
	g_array_sort(members, compare_members);
	for (guint i = 0; i < members->len; i++) {
		struct partition_member *at = &g_array_index(members, struct partition_member, i);

		if (i + 1 < members->len && at[1].first == at->first)
			continue;
		if (at->membership || !edit->base || base_names(edit, rule->p_key, at->first))
			g_array_index(members, struct partition_member, n++) = *at;
	}
	g_array_set_size(members, n);
	return members;
}

/* A partition without entries is forgotten. */
static void write_rule(struct edit *edit, const struct partition_rule *rule)
{
	static const char *const words[] = {"none", "limited", "full", "both"};
	g_autoptr(GArray) members = last_words(edit, rule);

	if (rule->members->len && !members->len)
		return;
	if (rule->head)
		g_string_append_printf(edit->out, "%s:", rule->head);
	else
		g_string_append_printf(edit->out, "0x%04x:", rule->p_key);
	for (guint i = 0; i < members->len; i++) {
		const struct partition_member *member =
			&g_array_index(members, struct partition_member, i);

		g_string_append_printf(edit->out, "%s\n\t0x%016" PRIx64 "=%s", i ? "," : "",
				       member->first, words[member->membership]);
	}
	g_string_append(edit->out, ";\n");
	edit->n_members += members->len;
}

static gint compare_rules(gconstpointer a, gconstpointer b)
{
	const struct partition_rule *const *x = a, *const *y = b;

	return (*x)->p_key - (*y)->p_key;
}

static void write_rules(struct edit *edit, struct partition_rules *rules)
{
	g_ptr_array_sort(rules->rules, compare_rules);
	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		if (rule->p_key != edit->forget)
			write_rule(edit, rule);
	}
}

static struct partition_changes *change(struct partition_changes *changes, struct edit *edit,
					const char *text, uint64_t serial, GError **error)
{
	struct partition_rules *rules =
		partition_rules_parse_requests("request", text, strlen(text), error);
	struct partition_changes *new = NULL;

	if (!rules)
		return NULL;
	edit->out = g_string_new(NULL);
	write_rules(edit, rules);
	partition_rules_unref(rules);
	if (edit->n_members > PARTITION_CHANGES_MEMBERS_MAX)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_LIMIT,
			    "that would make %u members that were added or removed at run time, "
			    "expected at most %u",
			    edit->n_members, PARTITION_CHANGES_MEMBERS_MAX);
	else if (!strcmp(edit->out->str, body_of(changes)))
		new = partition_changes_ref(changes);
	else
		new = changes_new(changes->file, serial, with_first_line(edit->out->str, serial));
	g_string_free(edit->out, TRUE);
	return new;
}

struct partition_changes *partition_changes_edit(struct partition_changes *changes,
						 const struct partition_rules *rules,
						 const char *request, uint64_t serial,
						 GError **error)
{
	g_autofree char *text = g_strdup_printf("%s%s\n", changes->text, request);
	struct edit edit = {.base = rules};
	struct partition_rules *alone;

	if (strchr(request, '#')) { /* the rest would be silently ignored */
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_SYNTAX,
			    "request: found '#', expected no comment");
		return NULL;
	}
	alone = partition_rules_parse_requests("request", request, strlen(request), error);
	if (!alone) /* with the position in the request */
		return NULL;
	partition_rules_unref(alone);
	return change(changes, &edit, text, serial, error);
}

struct partition_changes *partition_changes_forget(struct partition_changes *changes,
						   uint16_t p_key, uint64_t serial, GError **error)
{
	struct edit edit = {.forget = P_KEY_BASE(p_key)};

	return change(changes, &edit, P_KEY_BASE(p_key) ? changes->text : "", serial, error);
}

/* ---- life ---- */

struct partition_changes *partition_changes_ref(struct partition_changes *changes)
{
	ref_get(&changes->ref);
	return changes;
}

void partition_changes_unref(struct partition_changes *changes)
{
	if (!changes || !ref_put(&changes->ref))
		return;
	g_free(changes->file);
	g_free(changes->text);
	g_free(changes);
}
