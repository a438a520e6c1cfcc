// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/about.h"

#include <inttypes.h>
#include <stdarg.h>

#include "core/printable.h"

static void add_text(GPtrArray *fields, const char *name, const char *value)
{
	if (value)
		g_ptr_array_add(fields, g_strdup_printf("OPENSM_%s=%s", name, value));
}

/* A name as a node gave it; the empty one says nothing. */
static void add_name(GPtrArray *fields, const char *name)
{
	g_autofree char *shown = name && *name ? printable_text(name) : NULL;

	add_text(fields, "NODE", shown);
}

static void add_guid(GPtrArray *fields, const char *name, uint64_t guid)
{
	if (guid)
		g_ptr_array_add(fields, g_strdup_printf("OPENSM_%s=0x%016" PRIx64, name, guid));
}

static void add_number(GPtrArray *fields, const char *name, uint64_t number)
{
	if (number)
		g_ptr_array_add(fields, g_strdup_printf("OPENSM_%s=%" PRIu64, name, number));
}

void about_write(struct log *log, unsigned int level, const char *file_c,
		 const struct about *about, const char *format, ...)
{
	g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	add_text(fields, "KIND", about->kind);
	add_text(fields, "CHANGE", about->change);
	add_text(fields, "STATE", about->state);
	add_guid(fields, "GUID", about->guid);
	add_name(fields, about->node);
	add_number(fields, "PORT", about->port);
	add_number(fields, "LID", about->lid);
	add_guid(fields, "PEER_GUID", about->peer_guid);
	add_number(fields, "PEER_PORT", about->peer_port);
	add_number(fields, "GENERATION", about->generation);
	g_ptr_array_add(fields, NULL);
	log_write_about(log, level, file_c, (const char *const *)fields->pdata, text);
}
