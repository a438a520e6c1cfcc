// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/smp/dry_run.h"

#include <iba/attributes.h>
#include <inttypes.h>
#include <string.h>

#include "complib/hash.h"

#define PROBLEMS_MAX 50
#define RANGES_MAX 12 /* in a text */

/* The decoded data of any attribute. */
union decoded {
	uint64_t align;
	uint8_t bytes[512];
};

static void change_free(void *arg)
{
	struct dry_change *change = arg;

	g_array_unref(change->modifiers);
	g_free(change);
}

static void node_free(void *arg)
{
	struct dry_node *node = arg;

	g_ptr_array_unref(node->changes);
	g_free(node->name);
	g_free(node->description);
	g_free(node);
}

struct dry_run *dry_run_new(void)
{
	struct dry_run *dry = g_new0(struct dry_run, 1);

	dry->nodes = g_ptr_array_new_with_free_func(node_free);
	dry->by_guid = g_hash_table_new(hash_uint64, g_int64_equal);
	dry->notes = g_ptr_array_new_with_free_func(g_free);
	dry->problems = g_ptr_array_new_with_free_func(g_free);
	return dry;
}

void dry_run_free(struct dry_run *dry)
{
	g_hash_table_unref(dry->by_guid);
	g_ptr_array_unref(dry->nodes);
	g_ptr_array_unref(dry->notes);
	g_ptr_array_unref(dry->problems);
	g_free(dry);
}

void dry_run_note(struct dry_run *dry, const char *text)
{
	g_ptr_array_add(dry->notes, g_strdup(text));
}

void dry_run_problem(struct dry_run *dry, const char *text)
{
	if (dry->problems->len < PROBLEMS_MAX)
		g_ptr_array_add(dry->problems, g_strdup(text));
	else
		dry->unsaid++;
}

/* ---- types ---- */

const struct wire_type *dry_type(uint16_t attribute)
{
	return iba_attribute_find(IBA_CLASS_SUBN_LID, attribute)->type;
}

static bool is_array(const struct wire_type *type)
{
	return type->n_fields == 1;
}

bool dry_is_table(uint16_t attribute)
{
	return is_array(dry_type(attribute));
}

bool dry_has_blocks(uint16_t attribute)
{
	return attribute == IBA_ATTR_LINEAR_FORWARDING_TABLE ||
	       attribute == IBA_ATTR_MULTICAST_FORWARDING_TABLE ||
	       attribute == IBA_ATTR_P_KEY_TABLE || attribute == IBA_ATTR_GUID_INFO;
}

/* What unwritten entries of a table hold. */
static uint8_t cleared_octet(uint16_t attribute)
{
	return attribute == IBA_ATTR_LINEAR_FORWARDING_TABLE ? IBA_PORT_NONE : 0;
}

static uint32_t count_entries(const struct dry_set *set)
{
	const struct wire_type *type = dry_type(set->attribute);
	uint8_t clear[IBA_SMP_DATA_BYTES];
	union decoded before, after;
	uint32_t n = 0;

	if (!is_array(type))
		return 0;
	memset(clear, cleared_octet(set->attribute), sizeof(clear));
	wire_decode(type, set->before ? set->before : clear, before.bytes);
	wire_decode(type, set->after, after.bytes);
	for (unsigned int i = 0; i < type->fields[0].count; i++)
		n += wire_value(&type->fields[0], before.bytes, i) !=
		     wire_value(&type->fields[0], after.bytes, i);
	return n;
}

/* ---- recording ---- */

static struct dry_node *node_of(struct dry_run *dry, const struct dry_set *set)
{
	struct dry_node *node = g_hash_table_lookup(dry->by_guid, &set->guid);

	if (node)
		return node;
	node = g_new0(struct dry_node, 1);
	node->guid = set->guid;
	node->type = set->type;
	node->changes = g_ptr_array_new_with_free_func(change_free);
	g_ptr_array_add(dry->nodes, node);
	g_hash_table_insert(dry->by_guid, &node->guid, node);
	return node;
}

static struct dry_change *change_of(struct dry_node *node, const struct dry_set *set)
{
	struct dry_change *change;

	for (guint i = node->changes->len; i-- > 0;) {
		change = node->changes->pdata[i];
		if (change->port == set->port && change->attribute == set->attribute)
			return change;
	}
	change = g_new0(struct dry_change, 1);
	change->port = set->port;
	change->attribute = set->attribute;
	change->modifiers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_ptr_array_add(node->changes, change);
	return change;
}

static void add_modifier(struct dry_change *change, uint32_t modifier)
{
	for (guint i = 0; i < change->modifiers->len; i++)
		if (g_array_index(change->modifiers, uint32_t, i) == modifier)
			return;
	g_array_append_val(change->modifiers, modifier);
}

/* ClientReregister is a command, not a state: a later Set without it does not revoke it. */
static void keep_order(struct dry_change *change, const uint8_t *next)
{
	struct iba_port_info before, after;

	wire_decode(&iba_port_info_type, change->after, &before);
	wire_decode(&iba_port_info_type, next, &after);
	after.client_reregister |= before.client_reregister;
	wire_encode(&iba_port_info_type, &after, change->after);
}

void dry_run_add(struct dry_run *dry, const struct dry_set *set)
{
	struct dry_change *change = change_of(node_of(dry, set), set);

	if (!change->sets++ && set->before) {
		change->known = true;
		memcpy(change->before, set->before, sizeof(change->before));
	}
	if (set->attribute == IBA_ATTR_PORT_INFO)
		keep_order(change, set->after);
	else
		memcpy(change->after, set->after, sizeof(change->after));
	change->entries += count_entries(set);
	/* 14.2.5.7: the upper half is the port of a switch, which is listed already. */
	add_modifier(change, set->attribute == IBA_ATTR_P_KEY_TABLE ? set->modifier & 0xFFFF
								     : set->modifier);
}

/* ---- reading ---- */

static char *value_text(const struct wire_field *field, uint64_t value)
{
	const char *state =
		strcmp(field->name, "port_state") ? NULL : iba_name(IBA_SET_PORT_STATE, value);

	if (state)
		return g_strdup(state);
	switch (field->print) {
	case WIRE_HIDE:
		return g_strdup(value ? "(hidden)" : "0");
	case WIRE_HEX:
		return g_strdup_printf("0x%" PRIx64, value);
	case WIRE_LID:
		return g_strdup_printf("0x%04" PRIx64, value);
	case WIRE_GUID:
		return g_strdup_printf("0x%016" PRIx64, value);
	default:
		return g_strdup_printf("%" PRIu64, value);
	}
}

static void tell_field(const struct dry_change *change, const struct wire_field *field,
		       const uint64_t is[2], dry_field_fn *call, void *arg)
{
	g_autofree char *before = change->known ? value_text(field, is[0]) : NULL;
	g_autofree char *after = value_text(field, is[1]);

	if (!change->known || is[0] != is[1])
		call(arg, field->name, before, after);
}

void dry_each_field(const struct dry_change *change, dry_field_fn *call, void *arg)
{
	const struct wire_type *type = dry_type(change->attribute);
	union decoded before = {0}, after = {0};

	if (is_array(type))
		return;
	wire_decode(type, change->before, before.bytes);
	wire_decode(type, change->after, after.bytes);
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		for (unsigned int n = 0; n < field->count; n++) {
			const uint64_t is[2] = {wire_value(field, before.bytes, n),
						wire_value(field, after.bytes, n)};

			tell_field(change, field, is, call, arg);
		}
	}
}

static bool decode_port(const struct dry_change *change, struct iba_port_info *before,
			struct iba_port_info *after)
{
	if (change->attribute != IBA_ATTR_PORT_INFO || !change->known)
		return false;
	memset(before, 0, sizeof(*before)); /* they are compared with their padding */
	memset(after, 0, sizeof(*after));
	wire_decode(&iba_port_info_type, change->before, before);
	wire_decode(&iba_port_info_type, change->after, after);
	return true;
}

bool dry_only_reregisters(const struct dry_change *change)
{
	struct iba_port_info before, after;

	if (!decode_port(change, &before, &after) || !after.client_reregister)
		return false;
	after.client_reregister = before.client_reregister;
	return wire_equal(&iba_port_info_type, &before, &after);
}

bool dry_run_changes(const struct dry_run *dry)
{
	for (guint i = 0; i < dry->nodes->len; i++) {
		const GPtrArray *changes = ((struct dry_node *)dry->nodes->pdata[i])->changes;

		for (guint n = 0; n < changes->len; n++)
			if (!dry_only_reregisters(changes->pdata[n]))
				return true;
	}
	return false;
}

bool dry_lids(const struct dry_change *change, uint16_t *before, uint16_t *after)
{
	struct iba_port_info is, want;

	if (!decode_port(change, &is, &want) || is.lid == want.lid)
		return false;
	*before = is.lid;
	*after = want.lid;
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

char *dry_ranges(const GArray *numbers)
{
	GString *out = g_string_new(NULL);
	g_autoptr(GArray) sorted = g_array_copy((GArray *)numbers);
	unsigned int ranges = 0;

	g_array_sort(sorted, compare_numbers);
	for (guint i = 0, end; i < sorted->len; i = end) {
		uint32_t first = g_array_index(sorted, uint32_t, i);

		for (end = i + 1; end < sorted->len; end++)
			if (g_array_index(sorted, uint32_t, end) != first + (end - i))
				break;
		if (++ranges > RANGES_MAX) {
			g_string_append(out, ",...");
			break;
		}
		g_string_append_printf(out, "%s%" PRIu32, i ? "," : "", first);
		if (end - i > 1)
			g_string_append_printf(out, "-%" PRIu32, first + (end - i) - 1);
	}
	return g_string_free(out, FALSE);
}
