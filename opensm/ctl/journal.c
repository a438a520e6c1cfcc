// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What goes into the journal. A published subnet is compared with the one before it, node by node
 * and port by port; what differs is told, up to a limit, so that the loss of half a fabric does not
 * push everything else out. Equal entries in a row (a port that sends the same trap) are one.
 */
#include "ctl/journal.h"

#include <inttypes.h>
#include <stdarg.h>

#include "ctl/answer.h"
#include "ctl/status.h"
#include "iba/constants.h"
#include "policy/subnet.h"
#include "sm/plan.h"

#define CHANGES_TOLD 100 /* of one publication */
#define NAME_SIZE 160

struct journal {
	struct context *context;
	GQueue entries;	       /* of struct journal_entry, the newest last */
	struct subnet *subnet; /* published last, or NULL */
	unsigned int changes;  /* of this publication so far */
	uint64_t lft_blocks;   /* written until the end of the last sweep */
	uint64_t changed_ns; /* when the subnet did; 0: not since the start */
	struct census census;
	struct journal_sweep last_sweep; /* ended_ns 0: none */
};

static void entry_free(void *data)
{
	struct journal_entry *entry = data;

	g_free(entry->text);
	g_free(entry);
}

G_GNUC_PRINTF(3, 4)
static void note(struct journal *journal, const char *kind, const char *format, ...)
{
	struct journal_entry *last = g_queue_peek_tail(&journal->entries), *entry;
	int64_t now = g_get_real_time();
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	if (last && last->kind == kind && !g_strcmp0(last->text, text)) {
		last->times++;
		last->last_us = now;
		return;
	}
	entry = g_new(struct journal_entry, 1);
	*entry = (struct journal_entry){now, now, 1, kind, g_steal_pointer(&text)};
	g_queue_push_tail(&journal->entries, entry);
	if (journal->entries.length > JOURNAL_MAX)
		entry_free(g_queue_pop_head(&journal->entries));
}

/* ---- differences of subnets ---- */

/* False once enough of this publication was told. */
static bool may_tell(struct journal *journal)
{
	return ++journal->changes <= CHANGES_TOLD;
}

static void node_changed(struct journal *journal, const struct fabric *fabric, uint32_t node,
			 const char *what)
{
	const struct fabric_node *n = &fabric->nodes[node];
	g_autofree char *name = answer_printable(n->description);
	const char *type = iba_name(IBA_SET_NODE_TYPE, n->type);

	if (may_tell(journal))
		note(journal, "node", "%s %s (0x%016" PRIx64 ") %s", type ? type : "node", name,
		     n->guid, what);
}

static bool is_up(const struct fabric *fabric, uint32_t port)
{
	return port != FABRIC_NONE && fabric->ports[port].known &&
	       fabric->ports[port].peer != FABRIC_NONE;
}

/* The port of the other fabric with the same node GUID and number, or FABRIC_NONE. */
static uint32_t same_port(const struct fabric *other, const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];
	uint32_t node = fabric_node_by_guid(other, fabric->nodes[p->node].guid);

	if (node == FABRIC_NONE || p->num > other->nodes[node].num_ports)
		return FABRIC_NONE;
	return fabric_port_of(other, node, p->num);
}

/* Whether both ends of the link of this port are joined in the other fabric too. */
static bool has_link(const struct fabric *other, const struct fabric *fabric, uint32_t port)
{
	uint32_t same = same_port(other, fabric, port);

	return is_up(other, same) &&
	       other->ports[same].peer == same_port(other, fabric, fabric->ports[port].peer);
}

/* Links of fabric that other lacks; a link is told from the end that comes first. */
static void tell_links(struct journal *journal, const struct fabric *fabric,
		       const struct fabric *other, const char *what)
{
	char here[NAME_SIZE], there[NAME_SIZE];

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t peer = fabric->ports[i].peer;

		if (!is_up(fabric, i) || (peer < i && is_up(fabric, peer)) ||
		    has_link(other, fabric, i) || !may_tell(journal))
			continue;
		note(journal, "link", "%s: %s to %s", what,
		     fabric_port_name(fabric, i, here, sizeof(here)),
		     fabric_port_name(fabric, peer, there, sizeof(there)));
	}
}

static void tell_nodes(struct journal *journal, const struct fabric *fabric,
		       const struct fabric *other, const char *what)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric_node_by_guid(other, fabric->nodes[i].guid) == FABRIC_NONE)
			node_changed(journal, fabric, i, what);
}

static void tell_lids(struct journal *journal, const struct fabric *old, const struct fabric *now)
{
	char name[NAME_SIZE];

	for (uint32_t i = 0; i < now->n_ports; i++) {
		uint32_t was = now->ports[i].guid ? fabric_port_by_guid(old, now->ports[i].guid)
						  : FABRIC_NONE;

		if (was != FABRIC_NONE && old->ports[was].lid != now->ports[i].lid &&
		    may_tell(journal))
			note(journal, "lid", "LID of %s: %u, was %u",
			     fabric_port_name(now, i, name, sizeof(name)), now->ports[i].lid,
			     old->ports[was].lid);
	}
}

static void compare(struct journal *journal, const struct fabric *old, const struct fabric *now)
{
	journal->changes = 0;
	tell_nodes(journal, old, now, "has gone");
	tell_links(journal, old, now, "down");
	tell_nodes(journal, now, old, "has appeared");
	tell_links(journal, now, old, "up");
	tell_lids(journal, old, now);
	if (journal->changes > CHANGES_TOLD)
		note(journal, "node", "and %u changes more", journal->changes - CHANGES_TOLD);
}

static void count(struct journal *journal, const struct fabric *fabric)
{
	struct options *options = slot_take(&journal->context->options);

	census_note(
		&journal->census, runtime_now(journal->context->rt), JOURNAL_WINDOW_NS(options),
		(struct census_counts){fabric->n_switches, fabric->n_nodes - fabric->n_switches});
	options_unref(options);
}

static void on_published(void *arg, uint64_t generation)
{
	struct journal *journal = arg;
	struct subnet *now = slot_take(&journal->context->subnet);

	(void)generation;
	if (!now)
		return;
	count(journal, now->fabric);
	if (journal->subnet)
		compare(journal, journal->subnet->fabric, now->fabric);
	else
		note(journal, "node", "first subnet: %u switches, %u hosts, %u links",
		     now->fabric->n_switches, now->fabric->n_nodes - now->fabric->n_switches,
		     now->fabric->n_links);
	if (!journal->subnet || journal->changes)
		journal->changed_ns = runtime_now(journal->context->rt);
	subnet_unref(journal->subnet);
	journal->subnet = now;
}

/* ---- the other events ---- */

static const struct {
	unsigned int reason;
	const char *text;
} reason_names[] = {
	{SWEEP_STARTUP, "start"},
	{SWEEP_TIMER, "interval"},
	{SWEEP_HEAVY, "heavy wanted"},
	{SWEEP_LIGHT, "light wanted"},
	{SWEEP_LINK_TRAP, "trap of a link"},
	{SWEEP_LOCAL_TRAP, "trap of local changes"},
	{SWEEP_CHANGE, "change seen"},
	{SWEEP_ERRORS, "errors before"},
	{SWEEP_REROUTE, "reroute wanted"},
	{SWEEP_GROUPS, "multicast groups"},
	{SWEEP_POLICY, "partitions changed"},
};

static void on_sweep_done(void *arg, uint64_t value)
{
	struct journal *journal = arg;
	struct sweep_done done = sweep_done_unpack(value);
	uint64_t before = journal->lft_blocks;
	g_autoptr(GString) why = g_string_new(NULL);
	g_autofree char *blocks = NULL;

	journal->last_sweep = (struct journal_sweep){done, runtime_now(journal->context->rt)};
	journal->lft_blocks = counter_get(&journal->context->counters, lft_blocks_set);
	if (journal->lft_blocks != before)
		blocks = g_strdup_printf(", %" PRIu64 " LFT blocks changed",
					 journal->lft_blocks - before);

	/* Nothing happened. */
	if (done.reasons == SWEEP_TIMER && done.kind == SWEEP_KIND_LIGHT && !done.errors)
		return;
	for (unsigned int i = 0; i < G_N_ELEMENTS(reason_names); i++)
		if (done.reasons & reason_names[i].reason)
			g_string_append_printf(why, "%s%s", why->len ? ", " : "",
					       reason_names[i].text);
	note(journal, "sweep", "%s sweep%s in %.1f ms (%s)%s", plan_kind_name(done.kind),
	     done.errors ? " with errors" : "", (double)done.took_us / 1000, why->str,
	     blocks ? blocks : "");
}

static void on_state(void *arg, uint64_t state)
{
	const char *name = iba_name(IBA_SET_SM_STATE, (unsigned int)state);

	note(arg, "state", "the SM is %s", name ? name : "?");
}

static void on_options(void *arg, uint64_t value)
{
	(void)value;
	note(arg, "options", "the options were read again");
}

static void on_sweep_allowed(void *arg, uint64_t allowed)
{
	note(arg, "sweep", "sweeps are %s", allowed ? "on" : "off");
}

static void on_trap(void *arg, uint64_t value)
{
	struct journal *journal = arg;
	const char *name = iba_name(IBA_SET_TRAP, value & 0xFFFF);
	const struct fabric *fabric = journal->subnet ? journal->subnet->fabric : NULL;
	uint16_t lid = (uint16_t)(value >> 16);
	uint32_t port = fabric ? fabric_port_by_lid(fabric, lid) : FABRIC_NONE;
	char where[NAME_SIZE] = "an unknown port";

	if (port != FABRIC_NONE)
		fabric_port_name(fabric, port, where, sizeof(where));
	note(journal, "trap", "trap %u (%s) from LID %u, %s", (unsigned int)(value & 0xFFFF),
	     name ? name : "unknown", lid, where);
}

/* ---- life ---- */

struct journal *journal_new(struct daemon *daemon)
{
	static const struct {
		enum event_type type;
		event_fn *handle;
	} wanted[] = {
		{EVENT_SUBNET_PUBLISHED, on_published},
		{EVENT_SWEEP_DONE, on_sweep_done},
		{EVENT_SM_STATE, on_state},
		{EVENT_OPTIONS_CHANGED, on_options},
		{EVENT_SWEEP_ALLOWED, on_sweep_allowed},
		{EVENT_TRAP_RECEIVED, on_trap},
	};
	struct journal *journal = g_new0(struct journal, 1);

	journal->context = daemon_context(daemon);
	g_queue_init(&journal->entries);
	for (unsigned int i = 0; i < G_N_ELEMENTS(wanted); i++)
		event_subscribe(&journal->context->bus, wanted[i].type, daemon_actor(daemon),
				wanted[i].handle, journal);
	return journal;
}

void journal_free(struct journal *journal)
{
	if (!journal)
		return;
	subnet_unref(journal->subnet);
	g_queue_clear_full(&journal->entries, entry_free);
	g_free(journal);
}

unsigned int journal_length(const struct journal *journal)
{
	return journal->entries.length;
}

const struct journal_entry *journal_at(const struct journal *journal, unsigned int number)
{
	return g_queue_peek_nth((GQueue *)&journal->entries, number);
}

struct census *journal_census(struct journal *journal)
{
	return &journal->census;
}

bool journal_last_change(const struct journal *journal, uint64_t *ago_s)
{
	if (!journal || !journal->changed_ns)
		return false;
	*ago_s = (runtime_now(journal->context->rt) - journal->changed_ns) / NS_PER_S;
	return true;
}

const struct journal_sweep *journal_last_sweep(const struct journal *journal)
{
	return journal && journal->last_sweep.ended_ns ? &journal->last_sweep : NULL;
}
