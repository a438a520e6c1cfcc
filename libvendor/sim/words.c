// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Words of commands: nodes, ports and numbers, and what is wrong with them. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "libvendor/sim/words.h"

bool words_fail(const struct words *words, const char *format, ...)
{
	va_list args;

	g_string_truncate(words->out, 0);
	va_start(args, format);
	g_string_append_vprintf(words->out, format, args);
	va_end(args);
	return false;
}

static struct sim_node *by_prefix(const struct sim *sim, const char *name)
{
	struct sim_node *found = NULL;

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		if (!g_str_has_prefix(sim->nodes[i].description, name))
			continue;
		if (found)
			return NULL; /* ambiguous */
		found = &sim->nodes[i];
	}
	return found;
}

struct sim_node *sim_find_node(const struct sim *sim, const char *name)
{
	int index = *name ? sim_find_name(sim, name) : -1;
	uint64_t guid;
	char *end;

	if (!*name)
		return NULL;
	if (index < 0 && g_str_has_prefix(name, "0x")) {
		guid = g_ascii_strtoull(name, &end, 16);
		index = *end ? -1 : sim_find_guid(sim, guid);
	}
	return index >= 0 ? &sim->nodes[index] : by_prefix(sim, name);
}

struct sim_node *words_node(const struct words *words, unsigned int word)
{
	struct sim_node *node = sim_find_node(words->sim, words->at[word]);

	if (!node)
		words_fail(words, "no node, or more than one, is called '%s'", words->at[word]);
	return node;
}

bool words_number(const struct words *words, const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = g_ascii_strtoull(text, &end, 0);
	if (errno || end == text || *end || !g_ascii_isdigit(*text) || *value > max)
		return words_fail(words, "'%s' is not a number from 0 to %" PRIu64, text, max);
	return true;
}

bool words_port(const struct words *words, unsigned int word, const struct sim_port **port)
{
	const struct sim_node *node = words_node(words, word);
	uint64_t n;

	if (!node || !words_number(words, words->at[word + 1], UINT8_MAX, &n))
		return false;
	if (n < 1 || n > node->num_ports)
		return words_fail(words, "'%s' has ports 1 to %u", node->description,
				  node->num_ports);
	*port = &node->ports[n];
	return true;
}
