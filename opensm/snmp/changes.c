// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "snmp/changes.h"

#include <inttypes.h>
#include <string.h>

#include "client/control.h"
#include "client/json.h"

#define P_KEY_MAX 0x7FFF
#define NAME_MAX_LENGTH 64

/* What the bindings say of one row. */
struct row {
	enum mib_table table;
	uint16_t p_key;
	uint64_t guid;		    /* of a member */
	unsigned int first, status; /* bindings: the first one, and that of the RowStatus */
	uint64_t given;		    /* bits of enum mib_object */
	int64_t number[MIB_OBJECTS];
	char *name;
	bool exists;
	enum { KEEP, CREATE, DESTROY } what;
};

struct plan {
	const struct facts *facts;
	GArray *rows; /* of struct row */
	unsigned int *at;
};

static void clear_row(gpointer row)
{
	g_free(((struct row *)row)->name);
}

static bool gives(const struct row *row, enum mib_object object)
{
	return row->given >> object & 1;
}

/* ---- one binding ---- */

/* What may stand in a definition without being taken for something else. */
static bool is_name(const char *text, size_t length)
{
	if (!length || !g_ascii_isalpha(*text))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!g_ascii_isalnum(text[i]) && !strchr("._-", text[i]))
			return false;
	return true;
}

/* The values that the MIB allows for writing. */
static bool is_in_range(enum mib_object object, int64_t number)
{
	switch (object) {
	case MIB_PARTITION_IPOIB:
		return number == MIB_TRUE || number == MIB_FALSE;
	case MIB_PARTITION_MTU:
		return number >= 1 && number <= 5;
	case MIB_PARTITION_RATE:
		return number >= 2 && number <= 24;
	case MIB_PARTITION_SL:
		return number >= 0 && number <= 15;
	case MIB_MEMBERSHIP:
		return number >= FACTS_FULL && number <= FACTS_BOTH;
	default:
		return number == MIB_ACTIVE || number == MIB_CREATE_AND_GO || number == MIB_DESTROY;
	}
}

static enum change_error check_value(enum mib_object object, const struct change_bind *bind)
{
	if (bind->type != mib_objects[object].type)
		return CHANGE_WRONG_TYPE;
	if (bind->type != MIB_OCTETS)
		return is_in_range(object, bind->number) ? CHANGE_GOOD : CHANGE_WRONG_VALUE;
	if (bind->length > NAME_MAX_LENGTH)
		return CHANGE_WRONG_LENGTH;
	return is_name(bind->octets, bind->length) ? CHANGE_GOOD : CHANGE_WRONG_VALUE;
}

/* False: it is not that of a row that could exist. */
static bool take_index(struct row *row, const struct oid *index)
{
	uint32_t length = row->table == MIB_MEMBERS_TABLE ? 1 + MIB_GUID_LENGTH : 1;

	if (index->n != length || !index->id[0] || index->id[0] > P_KEY_MAX)
		return false;
	row->p_key = (uint16_t)index->id[0];
	return row->table != MIB_MEMBERS_TABLE ||
	       (oid_take_guid(index, 1, &row->guid) && row->guid);
}

static struct row *find(GArray *rows, const struct row *wanted)
{
	for (guint i = 0; i < rows->len; i++) {
		struct row *row = &g_array_index(rows, struct row, i);

		if (row->table == wanted->table && row->p_key == wanted->p_key &&
		    row->guid == wanted->guid)
			return row;
	}
	g_array_append_val(rows, *wanted);
	return &g_array_index(rows, struct row, rows->len - 1);
}

static bool is_status(enum mib_object object)
{
	return object == MIB_PARTITION_ROW_STATUS || object == MIB_MEMBER_ROW_STATUS;
}

static enum change_error take_bind(struct plan *plan, const struct change_bind *bind,
				   unsigned int number)
{
	struct oid index;
	enum mib_object object = mib_resolve(&bind->oid, &index);
	struct row wanted = {.first = number}, *row;
	enum change_error error;

	if (object == MIB_OBJECTS)
		return CHANGE_NO_CREATION;
	if (!mib_objects[object].writable)
		return CHANGE_NOT_WRITABLE;
	wanted.table = mib_objects[object].table;
	if (!take_index(&wanted, &index))
		return CHANGE_NO_CREATION;
	error = check_value(object, bind);
	if (error)
		return error;
	row = find(plan->rows, &wanted);
	if (gives(row, object))
		return CHANGE_INCONSISTENT_VALUE;
	row->given |= 1ull << object;
	row->number[object] = bind->number;
	if (bind->type == MIB_OCTETS)
		row->name = g_strndup(bind->octets, bind->length);
	if (is_status(object))
		row->status = number;
	return CHANGE_GOOD;
}

/* ---- a row ---- */

/* After is what the row's partition will be; of rows before, too. */
static bool makes_partition(const struct plan *plan, uint16_t p_key)
{
	for (guint i = 0; i < plan->rows->len; i++) {
		const struct row *row = &g_array_index(plan->rows, struct row, i);

		if (row->table == MIB_PARTITIONS_TABLE && row->p_key == p_key &&
		    row->number[MIB_PARTITION_ROW_STATUS] == MIB_CREATE_AND_GO)
			return true;
	}
	return false;
}

static enum change_error judge_status(const struct plan *plan, struct row *row)
{
	enum mib_object object =
		row->table == MIB_MEMBERS_TABLE ? MIB_MEMBER_ROW_STATUS : MIB_PARTITION_ROW_STATUS;

	*plan->at = gives(row, object) ? row->status : row->first;
	if (!gives(row, object))
		return row->exists ? CHANGE_GOOD : CHANGE_INCONSISTENT_NAME;
	switch (row->number[object]) {
	case MIB_CREATE_AND_GO:
		row->what = CREATE;
		return row->exists ? CHANGE_INCONSISTENT_VALUE : CHANGE_GOOD;
	case MIB_DESTROY:
		row->what = DESTROY;
		return CHANGE_GOOD;
	default:
		return row->exists ? CHANGE_GOOD : CHANGE_INCONSISTENT_VALUE;
	}
}

static enum change_error judge_row(const struct plan *plan, struct row *row)
{
	const struct facts_partition *partition = facts_partition(plan->facts, row->p_key);
	enum change_error error;

	*plan->at = row->first;
	if (partition && !partition->own)
		return CHANGE_NOT_WRITABLE;
	row->exists = row->table == MIB_MEMBERS_TABLE
			      ? facts_member(plan->facts, row->p_key, row->guid) != NULL
			      : partition != NULL;
	error = judge_status(plan, row);
	if (error)
		return error;
	if (row->table == MIB_MEMBERS_TABLE && row->what == CREATE && !partition &&
	    !makes_partition(plan, row->p_key))
		return CHANGE_INCONSISTENT_NAME;
	if (row->table == MIB_PARTITIONS_TABLE && row->what == DESTROY && plan->rows->len > 1)
		return CHANGE_INCONSISTENT_VALUE;
	return CHANGE_GOOD;
}

/* ---- the command ---- */

static int compare_rows(gconstpointer a, gconstpointer b)
{
	const struct row *left = a, *right = b;

	if (left->p_key != right->p_key)
		return left->p_key < right->p_key ? -1 : 1;
	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	return (left->guid > right->guid) - (left->guid < right->guid);
}

static void add_code(GString *out, const struct row *row, enum mib_object object, const char *flag)
{
	if (gives(row, object))
		g_string_append_printf(out, ",%s=%" PRId64, flag, row->number[object]);
}

/* What stands before the members; partition NULL: its P_Key only. */
static void add_head(GString *out, uint16_t p_key, const struct row *partition)
{
	if (partition && partition->name)
		g_string_append_printf(out, "%s=", partition->name);
	g_string_append_printf(out, "0x%04x", p_key);
	if (!partition)
		return;
	if (gives(partition, MIB_PARTITION_IPOIB))
		g_string_append(out, partition->number[MIB_PARTITION_IPOIB] == MIB_TRUE
					     ? ",ipoib"
					     : ",ipoib=no");
	add_code(out, partition, MIB_PARTITION_MTU, "mtu");
	add_code(out, partition, MIB_PARTITION_RATE, "rate");
	add_code(out, partition, MIB_PARTITION_SL, "sl");
	if (partition->what == CREATE)
		g_string_append(out, ",stays");
}

static bool has_effect(const struct row *row)
{
	return row->what == DESTROY ? row->exists : true;
}

static void add_member(GString *out, const struct row *row)
{
	static const char *const words[] = {"none", "full", "limited", "both"};
	int64_t membership = FACTS_LIMITED;

	if (row->what == DESTROY)
		membership = FACTS_NONE;
	else if (gives(row, MIB_MEMBERSHIP))
		membership = row->number[MIB_MEMBERSHIP];
	else if (row->what == KEEP)
		return; /* only said to be active, which it is */
	g_string_append_printf(out, " 0x%016" PRIx64 "=%s,", row->guid, words[membership]);
}

/* The rows are sorted. NULL: nothing is to be done. */
static char *to_line(const GArray *rows)
{
	const struct row *first = &g_array_index(rows, struct row, 0);
	g_autoptr(GString) out = g_string_new(NULL);
	bool makes = false;

	if (first->table == MIB_PARTITIONS_TABLE && first->what == DESTROY)
		return first->exists ? g_strdup_printf("partitions forget wait 0 by snmp 0x%04x "
						       "json",
						       first->p_key)
				     : NULL;
	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = &g_array_index(rows, struct row, i);
		bool is_partition = row->table == MIB_PARTITIONS_TABLE;

		if (!has_effect(row))
			continue;
		makes |= is_partition && row->what == CREATE;
		if (is_partition || !i || row[-1].p_key != row->p_key || !has_effect(&row[-1])) {
			g_string_append(out, out->len ? "; " : "");
			add_head(out, row->p_key, is_partition ? row : NULL);
			g_string_append_c(out, ':');
		}
		if (!is_partition)
			add_member(out, row);
	}
	if (!out->len)
		return NULL;
	return g_strdup_printf("partitions change merge %sstrict wait 0 by snmp %s; json",
			       makes ? "" : "existing ", out->str);
}

/* ---- all ---- */

enum change_error change_plan(const struct facts *facts, const struct change_bind *binds,
			      unsigned int n, unsigned int *at, char **line)
{
	g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(struct row));
	struct plan plan = {facts, rows, at};
	enum change_error error;

	*line = NULL;
	*at = 0;
	g_array_set_clear_func(rows, clear_row);
	for (unsigned int i = 0; i < n; i++) {
		*at = i;
		error = take_bind(&plan, &binds[i], i);
		if (error)
			return error;
	}
	*at = 0;
	if (facts->state != FACTS_MASTER || !facts->has_subnet)
		return CHANGE_RESOURCE_UNAVAILABLE;
	for (guint i = 0; i < rows->len; i++) {
		error = judge_row(&plan, &g_array_index(rows, struct row, i));
		if (error)
			return error;
	}
	g_array_sort(rows, compare_rows);
	if (rows->len)
		*line = to_line(rows);
	return CHANGE_GOOD;
}

enum change_error change_result(unsigned int status, const char *output, char **why)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GBytes) octets = g_bytes_new_static(output, strlen(output));
	JsonObject *answer = json_read(parser, octets);
	const char *error = json_text(answer, "error");

	*why = NULL;
	if (status == CONTROL_DONE && json_flag(answer, "kept"))
		return CHANGE_GOOD;
	if (*error)
		*why = g_strdup(error);
	else if (answer)
		*why = g_strdup("another SM is master now and may not know it");
	else
		*why = g_strdup(output);
	return CHANGE_COMMIT_FAILED;
}
