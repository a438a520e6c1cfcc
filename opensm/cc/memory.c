// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file cc_memory, of mode 0600: what agents had before they were changed, and which CC_Keys
 * they have. It is on the disk before the first Set, so congestion control can be switched off by
 * another process than the one that switched it on, and by another SM, which has it by replication.
 *
 *	generation 0xN		of keys derived from the seed
 *	settings N HEX		settings of an agent, in octets as on the wire
 *	port 0xGUID N 0xKEY	had the settings N ("-": they were not changed), and may have that
 *				key ("-": none from an SM of this subnet)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cc/cc_private.h"
#include "core/state/state_file.h"
#include "core/state/state_writer.h"
#include "ha/replicator.h"

#define NAME "cc_memory"
#define WHAT "congestion control"
#define PORTS_MAX (1u << 19)

/* ---- reading ---- */

struct reading {
	struct cc *cc;
	GPtrArray *settings; /* GBytes, NULL where a number was left out */
};

static GBytes *bytes_of_hex(const char *hex)
{
	size_t length = strlen(hex) / 2;
	uint8_t octets[CC_OCTETS_MAX];

	if (strlen(hex) % 2 || !length || length > sizeof(octets))
		return NULL;
	for (size_t i = 0; i < length; i++) {
		int high = g_ascii_xdigit_value(hex[2 * i]);
		int low = g_ascii_xdigit_value(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return NULL;
		octets[i] = (uint8_t)(high << 4 | low);
	}
	if (length != CC_SWITCH_OCTETS && length % CC_CA_OCTETS)
		return NULL;
	return g_bytes_new(octets, length);
}

static bool to_number(const char *text, uint64_t *number)
{
	char *end;

	*number = g_ascii_strtoull(text, &end, 0);
	return g_ascii_isdigit(*text) && !*end;
}

static const char *take_settings(struct reading *reading, char **words)
{
	GBytes *bytes = bytes_of_hex(words[2]);
	uint64_t number;

	if (!bytes || !to_number(words[1], &number) || number != reading->settings->len) {
		g_clear_pointer(&bytes, g_bytes_unref);
		return "expected the next number, and 76, 264 or 396 octets in hexadecimal";
	}
	g_ptr_array_add(reading->settings, bytes);
	return NULL;
}

static void take_agent(struct reading *reading, uint64_t guid, GBytes *original,
		       const uint64_t *key)
{
	struct cc *cc = reading->cc;
	struct cc_agent *agent = g_hash_table_lookup(cc->agents, &guid);

	if (!agent) {
		agent = cc_agent_of(cc, guid);
		g_ptr_array_add(cc->order, agent);
	}
	if (original && !agent->original)
		cc_agent_remember(agent, original);
	if (key) {
		agent->gave_key = true;
		if (*key)
			key_ring_likely(cc->plan.keys, (struct key_port){.guid = guid}, *key);
	}
	agent->saved = true;
}

static const char *take_port(struct reading *reading, char **words)
{
	uint64_t guid, number = 0, key = 0;
	bool has_original = strcmp(words[2], "-") != 0, has_key = strcmp(words[3], "-") != 0;

	if (!to_number(words[1], &guid) || !guid ||
	    (has_original && !to_number(words[2], &number)) ||
	    (has_key && !to_number(words[3], &key)) || (!has_original && !has_key))
		return "expected a GUID, and a number or a key, or both (- for one of them)";
	if (has_original && number >= reading->settings->len)
		return "expected a number of settings above";
	if (g_hash_table_size(reading->cc->agents) >= PORTS_MAX)
		return "expected fewer ports";
	take_agent(reading, guid, has_original ? reading->settings->pdata[number] : NULL,
		   has_key ? &key : NULL);
	return NULL;
}

static const char *take_line(void *arg, const char *line)
{
	struct reading *reading = arg;
	g_auto(GStrv) words = g_strsplit(line, " ", -1);
	guint n = g_strv_length(words);
	uint64_t number;

	if (n == 2 && !strcmp(words[0], "generation") && to_number(words[1], &number) &&
	    number < UINT64_MAX / 2) {
		reading->cc->generation = MAX(reading->cc->generation, number);
		return NULL;
	}
	if (n == 3 && !strcmp(words[0], "settings"))
		return take_settings(reading, words);
	if (n == 4 && !strcmp(words[0], "port"))
		return take_port(reading, words);
	return "expected generation, settings or port";
}

static void free_bytes(void *bytes)
{
	g_bytes_unref(bytes);
}

static struct reading reading_begin(struct cc *cc)
{
	return (struct reading){cc, g_ptr_array_new_with_free_func(free_bytes)};
}

/* ---- writing ---- */

static void add_settings(GString *text, GHashTable *numbers, GBytes *bytes)
{
	gsize length;
	const uint8_t *octets = g_bytes_get_data(bytes, &length);
	guint number = g_hash_table_size(numbers);

	if (g_hash_table_contains(numbers, bytes))
		return;
	g_hash_table_insert(numbers, bytes, GUINT_TO_POINTER(number));
	g_string_append_printf(text, "settings %u ", number);
	for (gsize i = 0; i < length; i++)
		g_string_append_printf(text, "%02x", octets[i]);
	g_string_append_c(text, '\n');
}

static void add_port(GString *text, GHashTable *numbers, const struct cc_agent *agent)
{
	g_string_append_printf(text, "port 0x%016" G_GINT64_MODIFIER "x ", agent->guid);
	if (agent->original)
		g_string_append_printf(
			text, "%u ",
			GPOINTER_TO_UINT(g_hash_table_lookup(numbers, agent->original)));
	else
		g_string_append(text, "- ");
	if (agent->gave_key)
		g_string_append_printf(text, "0x%016" G_GINT64_MODIFIER "x\n", agent->key);
	else
		g_string_append(text, "-\n");
}

char *cc_memory_text(const struct cc *cc)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_bytes_hash, g_bytes_equal);
	GString *text = g_string_new(NULL);
	unsigned int n = 0;

	g_string_append_printf(text, "generation 0x%" G_GINT64_MODIFIER "x\n", cc->generation);
	for (guint i = 0; i < cc->order->len; i++) {
		const struct cc_agent *agent = cc->order->pdata[i];

		if (!cc_agent_is_remembered(agent))
			continue;
		if (agent->original)
			add_settings(text, numbers, agent->original);
		add_port(text, numbers, agent);
		n++;
	}
	return g_string_free(text, !n && !cc->generation);
}

static void on_written(void *arg, bool good)
{
	struct cc *cc = arg;

	if (!state_writer_is_busy(cc->writer, cc->file))
		cc_round_saved(cc, good);
}

bool cc_memory_save(struct cc *cc)
{
	char *text = cc_memory_text(cc);

	if (cc->context->replicator)
		replicator_replace(cc->context->replicator, REPLICA_CC,
				   replica_text_new(REPLICA_CC, text ? text : ""));
	cc->changed = false;
	if (!cc->file) {
		g_free(text);
		return false;
	}
	state_writer_put(cc->writer, cc->file, WHAT, text, true, on_written, cc);
	return true;
}

void cc_memory_adopt(struct cc *cc, const char *text)
{
	struct reading reading = reading_begin(cc);

	state_parse(cc->context->log, NAME " of another SM", text, take_line, &reading);
	g_ptr_array_unref(reading.settings);
	cc->changed = true;
}

void cc_memory_init(struct cc *cc, const char *directory)
{
	struct reading reading;

	if (!directory)
		return;
	cc->file = g_build_filename(directory, NAME, NULL);
	cc->writer = state_writer_new(cc->context, cc->actor);
	reading = reading_begin(cc);
	state_load_keys(cc->context->log, cc->file, WHAT, take_line, &reading);
	g_ptr_array_unref(reading.settings);
}

void cc_memory_clear(struct cc *cc)
{
	if (cc->writer)
		state_writer_free(cc->writer);
	g_free(cc->file);
}
