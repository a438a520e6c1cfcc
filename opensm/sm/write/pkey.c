// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * P_Key tables: read where they are unknown, compared with the policy, the difference sent.
 * pkey_plan.c decides what a table should hold.
 *
 * A port of a switch with a host behind it holds the keys of that host and passes no others, as far
 * as the switch has room for them. A change of policy goes in stages, each of which is answered
 * before the next.
 *
 *	keep		    indexes that P_Keys are to leave: pkey_indexes.c
 *	switches let go	    the bits where a switch should not enforce any more
 *	switches add	    hosts may use a key only when their switches pass it
 *	hosts change	    in the stages of pkey_plan.h
 *	switches remove	    and stop passing it when no host uses it
 *	switches enforce    the bits, when the tables are complete
 *	check		    that they are set
 *
 * For ports that are not up yet the bits are set with all else, when they are brought up (port.c).
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/health/health.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/pkey_plan.h"
#include "sm/write/pkey_private.h"

#define PER_BLOCK 32
#define BLOCK_BYTES sizeof(struct iba_p_key_table)

#define AGAIN_MAX 3

enum stage {
	KEEP,
	LET_GO,
	SWITCHES_ADD,
	HOSTS_CHANGE,
	SWITCHES_REMOVE = HOSTS_CHANGE + P_KEY_ADD + 1,
	ENFORCE,
	CHECK,
	STAGES
};

struct p_key_changes {
	GPtrArray *ports;   /* of struct change */
	bool compared;	    /* ports is complete */
	unsigned int stage; /* the running stage */
	unsigned int again; /* how often ports were skipped before */
	bool loud[P_KEY_BASES];
	unsigned int index0_kept; /* ports in use with another key there than indx0 requests */
};

/* A port that is not as it should be. */
struct change {
	struct builder_port *port;
	bool tables; /* the table differs */
	bool missed; /* skipped in a stage, as an answer was late */
	uint16_t *is, *want;
	struct p_key_left *left; /* [size], of hosts */
	uint32_t size; /* entries: whole blocks */
};

/* ---- which ports ---- */

/* The host behind a port of a switch; NULL: there is none. */
static struct builder_port *host_behind(const struct builder_port *port)
{
	if (!port->num || !builder_is_switch(port->node) || !port->peer ||
	    builder_is_switch(port->peer->node))
		return NULL;
	return port->peer;
}

/* P_Keys of an endport according to the policy; false if the policy does not know it. */
static bool keys_of(const struct sm *sm, const struct builder_port *endport, const uint16_t **keys,
		    uint32_t *n)
{
	uint32_t port =
		endport->guid ? fabric_port_by_guid(sm->fabric, endport->guid) : FABRIC_NONE;

	*n = 0;
	if (port == FABRIC_NONE)
		return false;
	*keys = partitions_of(sm->partitions, port, n);
	return true;
}

/* Whether the port is one of a switch that should pass only the keys of the host behind it. */
static bool is_to_enforce(const struct sm *sm, const struct builder_port *port)
{
	const struct builder_port *host = host_behind(port);
	const uint16_t *keys;
	uint32_t n;

	return host && sm->options->part_enforce != PART_ENFORCE_OFF &&
	       keys_of(sm, host, &keys, &n) &&
	       n <= port->node->switch_info.partition_enforcement_cap;
}

static uint32_t cap_of(const struct builder_port *port)
{
	if (port->num && builder_is_switch(port->node))
		return port->node->switch_info.partition_enforcement_cap;
	return MAX(1, port->node->info.partition_cap);
}

/* ---- reading ---- */

static void on_p_keys(struct sm_request *request)
{
	if (!sm_block_read(request))
		sm_request_failed(request);
}

bool p_keys_read(struct sm *sm, struct builder_port *port)
{
	uint32_t blocks = (cap_of(port) + PER_BLOCK - 1) / PER_BLOCK;
	bool asked = false;

	trust_reserve(&port->p_keys, blocks, BLOCK_BYTES);
	for (uint32_t block = 0; block < blocks; block++) {
		struct sm_request *request;

		if (trust_get(port->node, &port->p_keys, block, BLOCK_BYTES))
			continue;
		request = sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_P_KEY_TABLE,
					  p_keys_modifier(port, block));
		request->block = block;
		request->done = on_p_keys;
		sm_request_send(request);
		asked = true;
	}
	return asked;
}

static bool looks_at_all(const struct sm *sm)
{
	return !sweep_has_local_p_keys(sm) || !sm->settings->p_keys->settled;
}

static void each_port(struct sm *sm, sweep_visit *visit)
{
	sweep_walk(sm, sweep_ports(sm, !looks_at_all(sm)), 1, visit);
}

static void read_port(struct sm *sm, void *item)
{
	struct builder_port *port = item;

	if (port->guid || is_to_enforce(sm, port))
		p_keys_read(sm, port);
}

enum step_result step_p_keys_read(struct sm *sm)
{
	each_port(sm, read_port);
	return STEP_NEXT;
}

/* ---- what a port should hold ---- */

static bool read_table(const struct builder_port *port, uint16_t *is)
{
	const struct trust_table *table = &port->p_keys;

	for (uint32_t block = 0; block < trust_n_blocks(table); block++) {
		const void *bytes = trust_get(port->node, table, block, BLOCK_BYTES);

		if (!bytes)
			return false;
		memcpy(is + block * PER_BLOCK, bytes, BLOCK_BYTES);
	}
	return trust_n_blocks(table);
}

GArray *p_keys_own(const struct sm *sm)
{
	const struct builder_port *port = sm->builder->sm_port;
	GArray *keys = g_array_new(FALSE, TRUE, sizeof(uint16_t));

	g_array_set_size(keys, trust_n_blocks(&port->p_keys) * PER_BLOCK);
	if (!read_table(port, (uint16_t *)(void *)keys->data))
		g_clear_pointer(&keys, g_array_unref);
	return keys;
}

/* No client remembers indexes of a port that is not up yet, or of one used only by switches. */
static bool may_move(const struct sm *sm, const struct builder_port *port)
{
	return !sm->options->keep_pkey_indexes || port->info.port_state < IBA_PORT_ARMED ||
	       builder_is_switch(port->node);
}

static void plan_table(struct sm *sm, struct change *change, const struct builder_port *owner,
		       const uint16_t *keys, uint32_t n)
{
	const struct builder_port *port = change->port;
	struct p_key_plan plan = {
		.is = change->is,
		.room = MIN(cap_of(port), change->size),
		.keys = keys,
		.n = n,
		.index0 = partitions_index0(sm->partitions,
					    fabric_port_by_guid(sm->fabric, owner->guid)),
		.moves = may_move(sm, port),
	};
	uint32_t without;

	if (port->guid)
		p_key_indexes_plan(sm, port, &plan, change->left);
	without = p_key_plan_make(&plan, change->want);
	if (port->guid) {
		p_key_indexes_note_without(sm, port, &plan, change->want, without);
		p_key_indexes_leave(sm, port, change->is, change->want, change->size);
	}
	if (port->guid && plan.room && plan.index0 && change->want[0] != plan.index0)
		sm->settings->p_keys->changes->index0_kept++;
	change->tables = memcmp(change->is, change->want, change->size * sizeof(*keys)) != 0;
}

/* True if the table of a switch port passes all that the host behind it has. */
static bool passes_all(const struct sm *sm, const struct builder_port *port)
{
	g_autofree uint16_t *is = g_new0(uint16_t, trust_n_blocks(&port->p_keys) * PER_BLOCK + 1);
	const uint16_t *keys;
	uint32_t n;

	if (!keys_of(sm, port->peer, &keys, &n) || !read_table(port, is))
		return false;
	for (uint32_t i = 0, k = 0; i < n; i++) {
		for (k = 0; k < trust_n_blocks(&port->p_keys) * PER_BLOCK && is[k] != keys[i]; k++)
			;
		if (k == trust_n_blocks(&port->p_keys) * PER_BLOCK)
			return false;
	}
	return true;
}

static void want_bits(const struct sm *sm, const struct builder_port *port,
		      struct iba_port_info *want)
{
	const struct iba_switch_info *can = &port->node->switch_info;
	bool on = is_to_enforce(sm, port);

	want->partition_enforcement_inbound =
		on && can->inbound_enforcement_cap && sm->options->part_enforce != PART_ENFORCE_OUT;
	want->partition_enforcement_outbound =
		on && can->outbound_enforcement_cap && sm->options->part_enforce != PART_ENFORCE_IN;
}

void p_keys_enforcement(const struct sm *sm, const struct builder_port *port,
			struct iba_port_info *want)
{
	if (sm->settings->p_keys->held || (builder_link_is_up(port) && !port->peer))
		return; /* a host may be in use behind it: its table stays as it is */
	if (sm->partitions && sm->fabric && port->num && builder_is_switch(port->node) &&
	    (!is_to_enforce(sm, port) || passes_all(sm, port)))
		want_bits(sm, port, want);
}

static bool bits_differ(const struct iba_port_info *a, const struct iba_port_info *b)
{
	return a->partition_enforcement_inbound != b->partition_enforcement_inbound ||
	       a->partition_enforcement_outbound != b->partition_enforcement_outbound;
}

static struct change *change_new(struct builder_port *port)
{
	struct change *change = g_new0(struct change, 1);

	change->port = port;
	change->size = trust_n_blocks(&port->p_keys) * PER_BLOCK;
	change->is = g_new0(uint16_t, change->size + 1);
	change->want = g_new0(uint16_t, change->size + 1);
	change->left = g_new0(struct p_key_left, change->size + 1);
	return change;
}

static void change_free(gpointer data)
{
	struct change *change = data;

	g_free(change->is);
	g_free(change->want);
	g_free(change->left);
	g_free(change);
}

/*
 * Adds the port if it is not as it should be. A switch port without a host behind it stays as it is
 * until there is one.
 */
static void note_port(struct sm *sm, void *item)
{
	struct builder_port *port = item;
	struct change *change;
	const struct builder_port *owner = port->guid ? port : host_behind(port);
	bool enforce = is_to_enforce(sm, port);
	const uint16_t *keys;
	struct iba_port_info want = port->info;
	uint32_t n;

	if (!port->guid && port->num && !port->peer)
		return;
	change = change_new(port);
	if (read_table(port, change->is)) {
		if (owner && (port->guid || enforce) && keys_of(sm, owner, &keys, &n))
			plan_table(sm, change, owner, keys, n);
		else if (!port->guid) /* the table of a port that passes all keys is not used */
			change->tables = memcmp(change->is, change->want, change->size * 2) != 0;
	}
	if (!port->guid)
		want_bits(sm, port, &want);
	if (change->tables || bits_differ(&want, &port->info))
		g_ptr_array_add(sm->settings->p_keys->changes->ports, change);
	else
		change_free(change);
}

/* ---- writing ---- */

static void send_block(struct sm *sm, struct builder_port *port, uint32_t block,
		       const uint16_t *entries)
{
	struct sm_request *request = sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_P_KEY_TABLE,
						     p_keys_modifier(port, block));

	wire_encode(&iba_p_key_table_type, entries, request->mad.data);
	request->block = block;
	sm_block_send(request);
}

/* Logged once, until the number changes. */
static void tell_index0(struct sm *sm, unsigned int n)
{
	if (!looks_at_all(sm))
		return;
	if (n && n != sm->settings->p_keys->index0_kept)
		log_info(sm->log,
			 "P_Keys of partitions with indx0 are not at index 0 of %u active "
			 "port%s; keep_pkey_indexes FALSE moves them there",
			 n, n > 1 ? "s" : "");
	sm->settings->p_keys->index0_kept = n;
}

/* An index that a client may remember is now in another partition. */
static void tell_reuse(struct sm *sm, const struct change *change)
{
	for (uint32_t i = 0; change->port->guid && i < change->size; i++) {
		uint16_t old = change->is[i] ? change->is[i] : change->left[i].p_key;

		if (old && change->want[i] && change->is[i] != change->want[i] &&
		    P_KEY_BASE(old) != P_KEY_BASE(change->want[i]))
			p_key_indexes_note_reuse(sm, change->port, i, old, change->want[i]);
	}
}

static void next_table(const struct sm *sm, const struct change *change, const uint16_t *now,
		       enum stage stage, uint16_t *next)
{
	if (stage == SWITCHES_ADD)
		p_key_plan_both(now, change->want, change->size, next);
	else if (stage == SWITCHES_REMOVE)
		memcpy(next, change->want, change->size * sizeof(*next));
	else
		p_key_plan_stage(now, change->want, change->size, stage - HOSTS_CHANGE,
				 sm->settings->p_keys->changes->loud, next);
}

/* The blocks that the stage changes. */
static void send_table(struct sm *sm, struct change *change, enum stage stage)
{
	struct builder_port *port = change->port;
	g_autofree uint16_t *now = g_new0(uint16_t, change->size + 1);
	g_autofree uint16_t *next = g_new0(uint16_t, change->size + 1);

	if (!change->tables)
		return;
	if (!read_table(port, now)) {
		change->missed |= sm->sweep.slow != 0;
		return;
	}
	next_table(sm, change, now, stage, next);
	if (stage == HOSTS_CHANGE + P_KEY_ADD)
		tell_reuse(sm, change);
	for (uint32_t block = 0; block < change->size / PER_BLOCK; block++)
		if (memcmp(now + block * PER_BLOCK, next + block * PER_BLOCK, BLOCK_BYTES))
			send_block(sm, port, block, next + block * PER_BLOCK);
}

/* For a port that this sweep brings up they are set then. */
static void send_bits(struct sm *sm, struct builder_port *port, bool enforce)
{
	struct iba_port_info want = port->info;

	if (port->info.port_state < IBA_PORT_ARMED)
		return;
	p_keys_enforcement(sm, port, &want);
	if (!bits_differ(&want, &port->info) || is_to_enforce(sm, port) != enforce)
		return;
	port_wanted(sm, port, &want);
	port_send(sm, port, &want, IBA_PORT_NO_CHANGE);
}

/* A successful Set that changed nothing. One without an answer is an error already. */
static void check_bits(struct sm *sm, const struct builder_port *port)
{
	struct iba_port_info want = port->info;

	p_keys_enforcement(sm, port, &want);
	if (port->info.port_state >= IBA_PORT_ARMED && bits_differ(&want, &port->info))
		health_fault(sm, port->node, "port %u did not accept partition enforcement",
			     port->num);
}

static void run_stage(struct sm *sm, void *item)
{
	struct change *change = item;
	enum stage stage = sm->settings->p_keys->changes->stage;
	bool of_hosts = stage >= HOSTS_CHANGE && stage < SWITCHES_REMOVE;

	if (of_hosts != (change->port->guid != 0))
		return;
	if (stage == LET_GO || stage == ENFORCE)
		send_bits(sm, change->port, stage == ENFORCE);
	else if (stage != CHECK)
		send_table(sm, change, stage);
	else
		check_bits(sm, change->port);
}

static void changes_free(struct p_key_changes *changes)
{
	g_ptr_array_unref(changes->ports);
	g_free(changes);
}

void p_keys_clear(struct sm *sm)
{
	g_clear_pointer(&sm->settings->p_keys->changes, changes_free);
}

void p_keys_changed(struct sm *sm)
{
	sm->settings->p_keys->settled = false;
}

struct p_keys *p_keys_new(struct sm *sm)
{
	struct p_keys *p_keys = g_new0(struct p_keys, 1);

	p_keys->indexes = p_key_indexes_new(sm);
	return p_keys;
}

void p_keys_free(struct p_keys *p_keys)
{
	g_clear_pointer(&p_keys->changes, changes_free);
	p_key_indexes_free(p_keys->indexes);
	g_free(p_keys);
}

static void begin(struct sm *sm)
{
	struct p_key_changes *changes = g_new0(struct p_key_changes, 1);

	p_keys_clear(sm);
	changes->ports = g_ptr_array_new_with_free_func(change_free);
	sm->settings->p_keys->changes = changes;
}

/* Of all hosts. */
static void find_loud(struct p_key_changes *changes)
{
	for (guint i = 0; i < changes->ports->len; i++) {
		const struct change *change = changes->ports->pdata[i];

		if (change->port->guid)
			p_key_plan_loud(change->is, change->want, change->size, changes->loud);
	}
}

static GPtrArray *missed_ports(const struct p_key_changes *changes)
{
	GPtrArray *ports = g_ptr_array_new();

	for (guint i = 0; i < changes->ports->len; i++) {
		const struct change *change = changes->ports->pdata[i];

		if (change->missed)
			g_ptr_array_add(ports, change->port);
	}
	return ports;
}

/*
 * After the last stage. A port whose answer was late may still have a key that it should lose: when
 * all answers are there, these ports are compared again.
 */
static enum step_result end(struct sm *sm)
{
	g_autoptr(GPtrArray) missed = missed_ports(sm->settings->p_keys->changes);
	unsigned int again = sm->settings->p_keys->changes->again + 1;

	if (missed->len && sm->sweep.pending)
		return STEP_LATER;
	if (missed->len && again <= AGAIN_MAX) {
		begin(sm);
		sm->settings->p_keys->changes->again = again;
		sweep_walk(sm, g_ptr_array_ref(missed), 1, note_port);
		return STEP_AGAIN;
	}
	if (missed->len)
		sm_problem(sm,
			   "%u ports answer too slowly for their P_Key tables to be set in "
			   "stages",
			   missed->len);
	sm->settings->p_keys->settled = !missed->len;
	p_keys_clear(sm);
	return STEP_NEXT;
}

/* One round to compare, and one per stage. */
enum step_result step_p_keys(struct sm *sm)
{
	struct p_key_changes *changes = sm->settings->p_keys->changes;

	if (!sm->sweep.round) {
		p_key_guard_look(sm);
		if (sm->settings->p_keys->held)
			return STEP_NEXT;
		begin(sm);
		each_port(sm, note_port);
		return STEP_AGAIN;
	}
	if (changes->compared && changes->stage < STAGES) {
		changes->stage++;
	} else if (!changes->compared) {
		find_loud(changes);
		if (!changes->again)
			tell_index0(sm, changes->index0_kept);
		changes->compared = true;
	}
	if (changes->stage == STAGES)
		return end(sm);
	if (changes->stage == KEEP) {
		p_key_indexes_keep(sm);
		return STEP_AGAIN;
	}
	sweep_walk(sm, g_ptr_array_ref(changes->ports), 1, run_stage);
	return STEP_AGAIN;
}
