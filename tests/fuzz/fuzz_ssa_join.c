// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What clients of a Redis server may have written there as the join of a node, a core's answer, its
 * list of nodes or its pulse: refused, or understood, and then written as it was understood.
 */
#include <string.h>

#include "ssa/wire/alive.h"
#include "ssa/tree/join.h"
#include "tests/fuzz/fuzz.h"

#define PREFIX UINT64_C(0xfe80000000000000)

static void *setup(GPtrArray *seeds)
{
	const struct ssa_join join = {.guid = 0x123,
				      .roles = SSA_ROLE_ACCESS | SSA_ROLE_AGENT,
				      .number = 7,
				      .parents = {1, UINT64_MAX},
				      .address = "[::1]:6379",
				      .parent = "host:1",
				      .name = "n\xc3\xa4me",
				      .error = "it's \"bad\""};
	const struct ssa_answer answer = {.number = 7, .guids = {1, 2}, .addresses = {"a:1"}};
	const struct ssa_listed_node node = {.guid = 1, .roles = 8, .parents = {2, 3}, .seen_s = 4};
	const struct ssa_alive alive = {7, 8, 9};
	g_autofree char *join_text = ssa_join_text(&join), *answer_text = ssa_answer_text(&answer);
	g_autofree char *alive_text = ssa_alive_text(&alive, PREFIX, NULL);
	g_autoptr(GString) list = g_string_new(NULL);

	ssa_tree_append(list, &node);
	fuzz_add_text(seeds, join_text);
	fuzz_add_text(seeds, answer_text);
	fuzz_add_text(seeds, alive_text);
	fuzz_add_text(seeds, list->str);
	return NULL;
}

static void expect_one_line(const char *text, bool is_address)
{
	for (; *text; text++)
		fuzz_expect(!g_ascii_iscntrl(*text) &&
			    !(is_address && (*text == ' ' || *text == '/')));
}

static void try_join(const char *text)
{
	struct ssa_join join, again;
	g_autofree char *written = NULL;

	if (!ssa_join_parse(text, &join))
		return;
	fuzz_expect(join.guid && join.roles && join.roles <= 15);
	expect_one_line(join.address, true);
	expect_one_line(join.parent, true);
	expect_one_line(join.name, false);
	expect_one_line(join.error, false);
	written = ssa_join_text(&join);
	fuzz_expect(!g_utf8_validate(join.address, -1, NULL) ||
		    !g_utf8_validate(join.parent, -1, NULL) ||
		    (ssa_join_parse(written, &again) && again.guid == join.guid &&
		     again.number == join.number && !strcmp(again.address, join.address)));
}

static void try_answer(const char *text)
{
	struct ssa_answer answer;

	if (!ssa_answer_parse(text, &answer))
		return;
	for (unsigned int i = 0; i < 2; i++)
		expect_one_line(answer.addresses[i], true);
}

/* What is in the list is found in it again when it is written. */
static void try_list(const char *text)
{
	g_autoptr(GArray) nodes = ssa_tree_parse(text), again = NULL;
	g_autoptr(GString) written = g_string_new(NULL);

	for (guint i = 0; i < nodes->len; i++) {
		const struct ssa_listed_node *node =
			&g_array_index(nodes, struct ssa_listed_node, i);

		fuzz_expect(node->guid && node->roles && node->roles <= 15);
		ssa_tree_append(written, node);
	}
	again = ssa_tree_parse(written->str);
	fuzz_expect(again->len == nodes->len);
}

static void try_alive(const char *text)
{
	g_autoptr(GBytes) key = g_bytes_new_static("a key of enough octets", 22);
	struct ssa_alive alive;

	ssa_alive_parse(text, PREFIX, NULL, &alive);
	fuzz_expect(!ssa_alive_parse(text, PREFIX, key, &alive));
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);

	(void)state;
	try_join(text);
	try_answer(text);
	try_list(text);
	try_alive(text);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "ssa_join",
	.max_size = SSA_JOIN_TEXT_MAX + 64,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
