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

static const char *const memberships[] = {"none", "limited", "full", "both"};

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
	g_autoptr(GArray) members = last_words(edit, rule);

	if (rule->members->len && !members->len && !rule->stays)
		return;
	if (rule->head)
		g_string_append_printf(edit->out, "%s:", rule->head);
	else
		g_string_append_printf(edit->out, "0x%04x:", rule->p_key);
	for (guint i = 0; i < members->len; i++) {
		const struct partition_member *member =
			&g_array_index(members, struct partition_member, i);

		g_string_append_printf(edit->out, "%s\n\t0x%016" PRIx64 "=%s", i ? "," : "",
				       member->first, memberships[member->membership]);
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

/* What was written; ends the edit. */
static struct partition_changes *written(struct partition_changes *changes, struct edit *edit,
					 uint64_t serial, GError **error)
{
	struct partition_changes *new = NULL;

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

static struct partition_changes *change(struct partition_changes *changes, struct edit *edit,
					const char *text, uint64_t serial, GError **error)
{
	struct partition_rules *rules =
		partition_rules_parse_requests("request", text, strlen(text), error);

	if (!rules)
		return NULL;
	edit->out = g_string_new(NULL);
	write_rules(edit, rules);
	partition_rules_unref(rules);
	return written(changes, edit, serial, error);
}

/* ---- requests ---- */

/* Pieces of the head of a definition, between commas outside of quotes. */
static GPtrArray *pieces_of(const char *head)
{
	GPtrArray *pieces = g_ptr_array_new_with_free_func(g_free);

	for (bool ends = false; head && !ends;) {
		const char *at = head;

		for (bool quoted = false; *at && (quoted || *at != ','); at++)
			quoted ^= *at == '"';
		g_ptr_array_add(pieces, g_strstrip(g_strndup(head, (gsize)(at - head))));
		ends = !*at;
		head = at + 1;
	}
	return pieces;
}

static bool has_name(const char *piece)
{
	return strchr(piece, '=') && *piece != '=';
}

static bool same_flag(const char *x, const char *y)
{
	size_t n = strcspn(x, "= \t");

	return n == strcspn(y, "= \t") && !strncmp(x, y, n);
}

static void merge_flag(GPtrArray *pieces, const char *piece)
{
	const char *value = strchr(piece, '=');

	for (guint i = pieces->len; i-- > 1;)
		if (same_flag(pieces->pdata[i], piece))
			g_ptr_array_remove_index(pieces, i);
	if (!value || strcmp(value, "=no") != 0)
		g_ptr_array_add(pieces, g_strdup(piece));
}

/* The head that there was with what the new one says. */
static char *merge_heads(const char *old, const char *new, uint16_t p_key, bool *stays)
{
	g_autoptr(GPtrArray) pieces = pieces_of(old), more = pieces_of(new);

	if (!pieces->len)
		g_ptr_array_add(pieces, g_strdup_printf("0x%04x", p_key));
	if (more->len && has_name(more->pdata[0])) {
		g_free(pieces->pdata[0]);
		pieces->pdata[0] = g_strdup(more->pdata[0]);
	}
	for (guint i = 1; i < more->len; i++)
		merge_flag(pieces, more->pdata[i]);
	*stays = false;
	for (guint i = 1; i < pieces->len; i++)
		*stays |= same_flag(pieces->pdata[i], "stays");
	g_ptr_array_add(pieces, NULL);
	return g_strjoinv(",", (char **)pieces->pdata);
}

/* Each of the members as none, if the new ones replace them. */
static void take_members(GArray *to, const GArray *members, bool none)
{
	for (guint i = 0; i < members->len; i++) {
		struct partition_member member =
			g_array_index(members, struct partition_member, i);

		if (none)
			member.membership = PARTITION_NO_MEMBER;
		g_array_append_val(to, member);
	}
}

static void write_merged(struct edit *edit, const struct partition_rule *old,
			 const struct partition_rule *asked, bool replace)
{
	struct partition_rule rule = {.p_key = asked->p_key};
	g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(struct partition_member));
	g_autofree char *head =
		merge_heads(old ? old->head : NULL, asked->head, asked->p_key, &rule.stays);

	rule.members = members;
	rule.head = strpbrk(head, "=,") ? head : NULL;
	if (old)
		take_members(members, old->members, replace);
	take_members(members, asked->members, false);
	write_rule(edit, &rule);
}

/* Both in order of their P_Keys; of those that both have, what the request makes of them. */
static void write_all_merged(struct edit *edit, struct partition_rules *old,
			     struct partition_rules *asked, bool replace)
{
	guint i = 0, k = 0;

	g_ptr_array_sort(old->rules, compare_rules);
	g_ptr_array_sort(asked->rules, compare_rules);
	while (i < old->rules->len || k < asked->rules->len) {
		const struct partition_rule *before =
			i < old->rules->len ? old->rules->pdata[i] : NULL;
		const struct partition_rule *now =
			k < asked->rules->len ? asked->rules->pdata[k] : NULL;

		if (!now || (before && before->p_key < now->p_key)) {
			write_rule(edit, before);
			i++;
			continue;
		}
		if (before && before->p_key > now->p_key)
			before = NULL;
		write_merged(edit, before, now, replace);
		i += before != NULL;
		k++;
	}
}

static struct partition_changes *merge(struct partition_changes *changes, struct edit *edit,
				       struct partition_rules *asked, bool replace,
				       uint64_t serial, GError **error)
{
	struct partition_rules *old = partition_rules_parse_requests(
		"request", changes->text, strlen(changes->text), error);

	if (!old)
		return NULL;
	edit->out = g_string_new(NULL);
	write_all_merged(edit, old, asked, replace);
	partition_rules_unref(old);
	return written(changes, edit, serial, error);
}

/* A new name that another partition has. */
static const struct partition_rule *namesake(const struct partition_rules *rules,
					     const struct partition_rule *asked)
{
	const struct partition_rule *before = partition_rules_find(rules, asked->p_key);

	if (!*asked->name || (before && !strcmp(before->name, asked->name)))
		return NULL;
	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		if (rule->p_key != asked->p_key && !strcmp(rule->name, asked->name))
			return rule;
	}
	return NULL;
}

/* So that a name stands for one partition. */
static bool is_name_free(const struct partition_rules *rules, const struct partition_rules *asked,
			 const struct partition_rule *rule, GError **error)
{
	const struct partition_rule *other = namesake(rules, rule);

	if (!other)
		other = namesake(asked, rule);
	if (other)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_NAME,
			    "partition 0x%04x has the name '%s' that is asked for 0x%04x, expected "
			    "one that no other has",
			    other->p_key, rule->name, rule->p_key);
	return !other;
}

static bool is_allowed(const struct partition_rules *rules, uint16_t p_key,
		       const struct partition_request *request, GError **error)
{
	const struct partition_rule *rule = partition_rules_find(rules, p_key);

	if (!rule && request->existing)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_UNKNOWN,
			    "partition 0x%04x does not exist", p_key);
	else if (rule && request->strict && rule->file < rules->n_own_files)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_CONFIGURED,
			    "partition 0x%04x is defined in partitions.conf, expected one that was "
			    "made at run time",
			    p_key);
	else
		return true;
	return false;
}

static bool are_allowed(const struct partition_rules *rules, const struct partition_rules *asked,
			const struct partition_request *request, GError **error)
{
	for (guint i = 0; i < asked->rules->len; i++) {
		const struct partition_rule *rule = asked->rules->pdata[i];

		if (!is_allowed(rules, rule->p_key, request, error) ||
		    !is_name_free(rules, asked, rule, error))
			return false;
	}
	return true;
}

static struct partition_changes *edit_as(struct partition_changes *changes,
					 const struct partition_rules *rules,
					 const struct partition_request *request,
					 struct partition_rules *asked, uint64_t serial,
					 GError **error)
{
	g_autofree char *text = NULL;
	struct edit edit = {.base = rules};

	if (request->merge || request->replace)
		return merge(changes, &edit, asked, request->replace, serial, error);
	text = g_strdup_printf("%s%s\n", changes->text, request->text);
	return change(changes, &edit, text, serial, error);
}

struct partition_changes *partition_changes_make(struct partition_changes *changes,
						 const struct partition_rules *rules,
						 const struct partition_request *request,
						 uint64_t serial, GError **error)
{
	struct partition_changes *new = NULL;
	struct partition_rules *asked;

	if (!request->text && request->forget &&
	    !is_allowed(rules, P_KEY_BASE(request->forget), request, error))
		return NULL;
	if (!request->text)
		return partition_changes_forget(changes, request->forget, serial, error);
	if (strchr(request->text, '#')) { /* the rest would be silently ignored */
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_SYNTAX,
			    "request: found '#', expected no comment");
		return NULL;
	}
	asked = partition_rules_parse_requests("request", request->text, strlen(request->text),
					       error);
	if (!asked) /* with the position in the request */
		return NULL;
	if (are_allowed(rules, asked, request, error))
		new = edit_as(changes, rules, request, asked, serial, error);
	partition_rules_unref(asked);
	return new;
}

struct partition_changes *partition_changes_edit(struct partition_changes *changes,
						 const struct partition_rules *rules,
						 const char *request, uint64_t serial,
						 GError **error)
{
	const struct partition_request only = {.text = request};

	return partition_changes_make(changes, rules, &only, serial, error);
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
