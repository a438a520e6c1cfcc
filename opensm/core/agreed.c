// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/agreed.h"

#include <string.h>

#include "core/options_private.h"

static const struct {
	enum option_id id;
	enum agreed_how how;
} table[] = {
#define AGREED(name, how) {OPTION_##name, AGREED_##how},
#include "core/agreed.def"
};

static const enum option_id may_differ[] = {
#define MAY_DIFFER(name) OPTION_##name,
#include "core/agreed.def"
};

/* Sections of options that concern only this process. */
static const enum option_section local_sections[] = {
	OPTION_SECTION_RUN,   OPTION_SECTION_TIMING, OPTION_SECTION_PERFMGR,
	OPTION_SECTION_EVENT, OPTION_SECTION_LOG,    OPTION_SECTION_SIM,
};

bool agreed_knows(enum option_id id)
{
	const struct option *option = &option_table[id];

	for (unsigned int i = 0; i < G_N_ELEMENTS(table); i++)
		if (table[i].id == id)
			return true;
	for (unsigned int i = 0; i < G_N_ELEMENTS(may_differ); i++)
		if (may_differ[i] == id)
			return true;
	for (unsigned int i = 0; i < G_N_ELEMENTS(local_sections); i++)
		if (local_sections[i] == option->section)
			return true;
	return option->scope == OPTION_SCOPE_COMMAND || option->state != OPTION_STATE_WORKS;
}

struct agreed *agreed_new(const struct options *options, agreed_file_fn *file, const void *arg)
{
	struct agreed *agreed =
		g_malloc0(sizeof(*agreed) + G_N_ELEMENTS(table) * sizeof(agreed->rows[0]));

	ref_init(&agreed->ref);
	agreed->n = G_N_ELEMENTS(table);
	for (unsigned int i = 0; i < agreed->n; i++)
		agreed->rows[i] = (struct agreed_row){
			.name = options_name(table[i].id),
			.how = table[i].how,
			.value = table[i].how == AGREED_FILE ? file(arg, table[i].id)
							     : options_text(options, table[i].id),
		};
	return agreed;
}

struct agreed *agreed_ref(struct agreed *agreed)
{
	ref_get(&agreed->ref);
	return agreed;
}

void agreed_unref(struct agreed *agreed)
{
	if (!agreed || !ref_put(&agreed->ref))
		return;
	for (unsigned int i = 0; i < agreed->n; i++) {
		explicit_bzero(agreed->rows[i].value, strlen(agreed->rows[i].value));
		g_free(agreed->rows[i].value);
	}
	g_free(agreed);
}

static void get(void *object)
{
	agreed_ref(object);
}

static void put(void *object)
{
	agreed_unref(object);
}

void agreed_slot_init(struct slot *slot)
{
	slot_init(slot, get, put);
}
