// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file cc_memory, and what another SM replicates of it: whatever it holds, what is accepted is
 * written again as it was read, and can be sent to the devices.
 */
#include <string.h>

#include "cc/cc_private.h"
#include "complib/hash.h"
#include "tests/fuzz/fuzz.h"

struct state {
	struct context context;
};

static void *setup(GPtrArray *seeds)
{
	struct state *state = g_new0(struct state, 1);
	g_autofree char *zeros = g_strnfill(2 * CC_SWITCH_OCTETS, '0');
	g_autofree char *ca = g_strnfill(2 * CC_OCTETS_MAX, '7');
	g_autofree char *text = g_strdup_printf("generation 0x3\nsettings 0 %s\nsettings 1 %s\n"
						"port 0x1 0 -\nport 0x2 1 0x99\nport 0x3 - 0x0\n",
						zeros, ca);

	state->context.log = log_new_null();
	fuzz_add_text(seeds, text);
	fuzz_add_text(seeds, "generation 0x1\nport 0x7 - 0xabc\n");
	return state;
}

static void free_agent(void *agent)
{
	cc_agent_free(agent);
}

static void begin(struct cc *cc, struct state *state)
{
	const struct key_rule rule = {.m_key = 1};

	memset(cc, 0, sizeof(*cc));
	cc->context = &state->context;
	cc->agents = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, free_agent);
	cc->order = g_ptr_array_new();
	cc->plan.keys = key_ring_new(&rule);
}

static void end(struct cc *cc)
{
	g_ptr_array_unref(cc->order);
	g_hash_table_unref(cc->agents);
	key_ring_free(cc->plan.keys);
}

static void check(const struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++) {
		const struct cc_agent *agent = cc->order->pdata[i];
		uint8_t octets[CC_OCTETS_MAX];
		bool is_switch;
		unsigned int n;

		fuzz_expect(agent->guid != 0 && (agent->original || agent->gave_key));
		if (!agent->original)
			continue;
		is_switch = g_bytes_get_size(agent->original) == CC_SWITCH_OCTETS;
		fuzz_expect(is_switch || g_bytes_get_size(agent->original) ==
						 (gsize)agent->n_read * CC_CA_OCTETS);
		n = cc_settings_again(is_switch, g_bytes_get_data(agent->original, NULL),
				      agent->n_read, octets);
		fuzz_expect(n >= 1 && n <= MAX(agent->n_read, 1));
	}
}

static void run(void *arg, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autofree char *written = NULL, *again = NULL;
	struct cc first, second;

	begin(&first, arg);
	begin(&second, arg);
	cc_memory_adopt(&first, text);
	check(&first);
	for (guint i = 0; i < first.order->len; i++) /* the key is asked for, not believed */
		((struct cc_agent *)first.order->pdata[i])->key = 5;
	written = cc_memory_text(&first);
	if (written) {
		cc_memory_adopt(&second, written);
		for (guint i = 0; i < second.order->len; i++)
			((struct cc_agent *)second.order->pdata[i])->key = 5;
		again = cc_memory_text(&second);
		fuzz_expect(again && !strcmp(written, again));
	}
	end(&first);
	end(&second);
}

static void teardown(void *arg)
{
	struct state *state = arg;

	log_free(state->context.log);
	g_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "cc_memory",
	.max_size = 1 << 14,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
