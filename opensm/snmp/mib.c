// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "snmp/mib.h"

#include <glib.h>
#include <string.h>

const struct mib_object_info mib_objects[MIB_OBJECTS] = {
#define OBJECT(table, number, symbol, name, type, writable)                                        \
	{MIB_##table##_TABLE, number, name, MIB_##type, writable},
#include "snmp/mib.def"
#undef OBJECT
};

static const struct {
	uint32_t number;
	bool scalars;
} tables[MIB_TABLES] = {
#define TABLE(number, symbol, scalars) {number, scalars},
#include "snmp/mib.def"
#undef TABLE
};

/* ---- OIDs ---- */

int oid_compare(const struct oid *a, const struct oid *b)
{
	for (uint32_t i = 0; i < MIN(a->n, b->n); i++)
		if (a->id[i] != b->id[i])
			return a->id[i] < b->id[i] ? -1 : 1;
	return a->n < b->n ? -1 : a->n > b->n;
}

void oid_add(struct oid *oid, uint32_t id)
{
	if (oid->n < MIB_OID_MAX)
		oid->id[oid->n++] = id;
}

void oid_add_guid(struct oid *oid, uint64_t guid)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		oid_add(oid, (guid >> shift) & 0xFF);
}

bool oid_take_guid(const struct oid *oid, uint32_t at, uint64_t *guid)
{
	*guid = 0;
	if (oid->n < at + MIB_GUID_LENGTH)
		return false;
	for (uint32_t i = at; i < at + MIB_GUID_LENGTH; i++) {
		if (oid->id[i] > 0xFF)
			return false;
		*guid = *guid << 8 | oid->id[i];
	}
	return true;
}

/* That of an object, without an index. */
static struct oid oid_of(enum mib_object object)
{
	const struct mib_object_info *info = &mib_objects[object];
	struct oid oid = {0};

	oid_add(&oid, tables[info->table].number);
	if (!tables[info->table].scalars)
		oid_add(&oid, 1);
	oid_add(&oid, info->number);
	return oid;
}

static bool begins_with(const struct oid *oid, const struct oid *prefix)
{
	return oid->n >= prefix->n && !memcmp(oid->id, prefix->id, prefix->n * sizeof(oid->id[0]));
}

static struct oid rest_of(const struct oid *oid, uint32_t at)
{
	struct oid rest = {.n = oid->n - at};

	memcpy(rest.id, oid->id + at, rest.n * sizeof(rest.id[0]));
	return rest;
}

enum mib_object mib_resolve(const struct oid *oid, struct oid *index)
{
	for (unsigned int i = 0; i < MIB_OBJECTS; i++) {
		struct oid own = oid_of(i);

		if (!begins_with(oid, &own))
			continue;
		*index = rest_of(oid, own.n);
		return i;
	}
	return MIB_OBJECTS;
}

/* ---- values ---- */

void mib_set_number(struct mib_value *value, uint64_t number)
{
	value->number = number;
}

void mib_set_flag(struct mib_value *value, bool flag)
{
	value->number = flag ? MIB_TRUE : MIB_FALSE;
}

void mib_set_text(struct mib_value *value, const char *text)
{
	size_t length = strlen(text);

	/* Not within a character of UTF-8. */
	if (length > MIB_TEXT_MAX)
		for (length = MIB_TEXT_MAX; length && ((unsigned char)text[length] & 0xC0) == 0x80;)
			length--;
	value->octets = text;
	value->length = length;
}

void mib_set_guid(struct mib_value *value, uint64_t guid)
{
	for (int i = 0; i < MIB_GUID_LENGTH; i++)
		value->guid[i] = (uint8_t)(guid >> (56 - 8 * i));
	value->octets = value->guid;
	value->length = guid ? MIB_GUID_LENGTH : 0;
}

/* ---- rows ---- */

/* The first row whose index is not less; or, with beyond, greater. */
static uint32_t find_row(const struct mib_rows *rows, const struct oid *index, bool beyond)
{
	uint32_t low = 0, high = rows->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct oid own = {0};
		int order;

		rows->index(rows->data, middle, &own);
		order = oid_compare(&own, index);
		if (order < 0 || (beyond && !order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool get_value(const struct mib_rows *rows, uint32_t row, enum mib_object object,
		      struct mib_value *value)
{
	*value = (struct mib_value){.type = mib_objects[object].type};
	return rows->value(rows->data, row, object, value);
}

enum mib_found mib_get(const struct mib_rows rows[MIB_TABLES], const struct oid *oid,
		       struct mib_value *value)
{
	struct oid index, own = {0};
	enum mib_object object = mib_resolve(oid, &index);
	const struct mib_rows *table;
	uint32_t row;

	if (object == MIB_OBJECTS)
		return MIB_NO_OBJECT;
	table = &rows[mib_objects[object].table];
	row = find_row(table, &index, false);
	if (row == table->n)
		return MIB_NO_INSTANCE;
	table->index(table->data, row, &own);
	if (oid_compare(&own, &index) != 0 || !get_value(table, row, object, value))
		return MIB_NO_INSTANCE;
	return MIB_FOUND;
}

bool mib_next(const struct mib_rows rows[MIB_TABLES], struct oid *oid, struct mib_value *value)
{
	for (unsigned int i = 0; i < MIB_OBJECTS; i++) {
		const struct mib_rows *table = &rows[mib_objects[i].table];
		struct oid own = oid_of(i);
		uint32_t row = 0;

		if (begins_with(oid, &own) && oid->n > own.n) {
			struct oid index = rest_of(oid, own.n);

			row = find_row(table, &index, true);
		} else if (!begins_with(oid, &own) && oid_compare(oid, &own) > 0) {
			continue;
		}
		for (; row < table->n; row++) {
			if (!get_value(table, row, i, value))
				continue;
			table->index(table->data, row, &own);
			*oid = own;
			return true;
		}
	}
	return false;
}
