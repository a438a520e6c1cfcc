// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Building and reading the dictionaries that commands answer with. */
#include "ctl/base/answer.h"

#include <inttypes.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "core/printable.h"

char *answer_one_line(const char *lines)
{
	g_auto(GStrv) parts = g_strsplit(lines, "\n", -1);
	g_autofree char *line = g_strjoinv("; ", parts);

	return printable_text(line);
}

/* ---- making ---- */

void answer_begin(GVariantBuilder *builder)
{
	g_variant_builder_init(builder, G_VARIANT_TYPE_VARDICT);
}

void answer_begin_list(GVariantBuilder *builder)
{
	g_variant_builder_init(builder, G_VARIANT_TYPE("aa{sv}"));
}

void answer_text(GVariantBuilder *builder, const char *key, const char *text)
{
	g_variant_builder_add(builder, "{sv}", key,
			      g_variant_new_take_string(printable_text(text)));
}

void answer_number(GVariantBuilder *builder, const char *key, uint64_t number)
{
	g_variant_builder_add(builder, "{sv}", key, g_variant_new_uint64(number));
}

void answer_flag(GVariantBuilder *builder, const char *key, bool flag)
{
	g_variant_builder_add(builder, "{sv}", key, g_variant_new_boolean(flag));
}

void answer_value(GVariantBuilder *builder, const char *key, GVariant *value)
{
	g_autoptr(GVariant) held = g_variant_ref_sink(value);

	if (g_variant_is_of_type(held, G_VARIANT_TYPE_STRING))
		answer_text(builder, key, g_variant_get_string(held, NULL));
	else
		g_variant_builder_add(builder, "{sv}", key, held);
}

void answer_guid(GVariantBuilder *builder, const char *key, uint64_t guid)
{
	g_variant_builder_add(builder, "{sv}", key,
			      g_variant_new_take_string(g_strdup_printf("0x%016" PRIx64, guid)));
}

void answer_hex16(GVariantBuilder *builder, const char *key, uint16_t value)
{
	g_variant_builder_add(builder, "{sv}", key,
			      g_variant_new_take_string(g_strdup_printf("0x%04x", value)));
}

void answer_member(GVariantBuilder *builder, const char *key, GVariantBuilder *inner)
{
	g_variant_builder_add(builder, "{sv}", key, g_variant_builder_end(inner));
}

void answer_append(GVariantBuilder *list, GVariantBuilder *dictionary)
{
	g_variant_builder_add_value(list, g_variant_builder_end(dictionary));
}

void answer_called(GVariantBuilder *builder, const char *key, const char *name,
		   const char *description)
{
	g_autofree char *other = g_strconcat(key, "_description", NULL);

	answer_text(builder, key, name);
	if (description && *description && strcmp(name, description) != 0)
		answer_text(builder, other, description);
}

void answer_name(GVariantBuilder *builder, const char *key, const struct fabric *fabric,
		 uint32_t node)
{
	const char *description = fabric->nodes[node].description;

	if (*fabric_called(fabric, node))
		answer_called(builder, key, fabric_called(fabric, node), description);
	else
		answer_guid(builder, key, fabric->nodes[node].guid);
}

void answer_node(GVariantBuilder *builder, const struct fabric *fabric, uint32_t node)
{
	answer_name(builder, "node", fabric, node);
	answer_guid(builder, "guid", fabric->nodes[node].guid);
}

GVariant *answer_of_text(const char *format, ...)
{
	g_autofree char *text = NULL;
	GVariantBuilder builder;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	answer_begin(&builder);
	answer_text(&builder, "text", text);
	return g_variant_builder_end(&builder);
}

char *answer_json(GVariant *answer)
{
	g_autofree char *json = json_gvariant_serialize_data(answer, NULL);

	return g_strconcat(json, "\n", NULL);
}

/* ---- reading ---- */

const char *answer_get_text(GVariant *answer, const char *key)
{
	const char *text = "";

	g_variant_lookup(answer, key, "&s", &text);
	return text;
}

uint64_t answer_get_number(GVariant *answer, const char *key)
{
	guint64 number = 0;

	g_variant_lookup(answer, key, "t", &number);
	return number;
}

double answer_get_real(GVariant *answer, const char *key)
{
	double real = 0;

	g_variant_lookup(answer, key, "d", &real);
	return real;
}

bool answer_get_flag(GVariant *answer, const char *key)
{
	gboolean flag = FALSE;

	g_variant_lookup(answer, key, "b", &flag);
	return flag;
}

GVariant *answer_get(GVariant *answer, const char *key)
{
	return g_variant_lookup_value(answer, key, NULL);
}

void answer_each(GVariant *answer, const char *key, void (*print)(GVariant *item, GString *out),
		 GString *out)
{
	g_autoptr(GVariant) list = answer_get(answer, key);
	GVariantIter iter;
	GVariant *item;

	if (!list)
		return;
	g_variant_iter_init(&iter, list);
	while ((item = g_variant_iter_next_value(&iter))) {
		print(item, out);
		g_variant_unref(item);
	}
}
