// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Builds records with json-glib, like the answers of commands. */
#include "config.h"

#include "client/control.h"

#include <json-glib/json-glib.h>

/* Takes over the dictionary. */
static char *as_record(GVariantBuilder *builder)
{
	g_autoptr(GVariant) all = g_variant_ref_sink(g_variant_builder_end(builder));
	g_autofree char *json = json_gvariant_serialize_data(all, NULL);

	return g_strdup_printf("%c%s\n", CONTROL_RECORD, json);
}

char *control_record(enum control_status status, const char *output, bool more)
{
	GVariantBuilder builder;

	g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
	g_variant_builder_add(&builder, "{sv}", "status", g_variant_new_uint64(status));
	g_variant_builder_add(&builder, "{sv}", "output", g_variant_new_string(output));
	g_variant_builder_add(&builder, "{sv}", "more", g_variant_new_boolean(more));
	return as_record(&builder);
}

char *control_record_of_file(void)
{
	GVariantBuilder builder;

	g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
	g_variant_builder_add(&builder, "{sv}", "status", g_variant_new_uint64(CONTROL_DONE));
	g_variant_builder_add(&builder, "{sv}", "output", g_variant_new_string(""));
	g_variant_builder_add(&builder, "{sv}", "more", g_variant_new_boolean(FALSE));
	g_variant_builder_add(&builder, "{sv}", "file", g_variant_new_boolean(TRUE));
	return as_record(&builder);
}

char *control_welcome(bool key)
{
	GVariantBuilder builder;

	g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
	g_variant_builder_add(&builder, "{sv}", "status", g_variant_new_uint64(CONTROL_DONE));
	g_variant_builder_add(&builder, "{sv}", "key", g_variant_new_boolean(key));
	g_variant_builder_add(&builder, "{sv}", "version",
			      g_variant_new_string("OpenSM " PACKAGE_VERSION));
	return as_record(&builder);
}
