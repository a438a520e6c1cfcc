// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fills the journal. A published subnet is compared with the one before it; the differences are
 * reported, also in the log, up to a limit, so that the loss of half a fabric does not push
 * everything else out. Equal entries in a row (a port that repeats a trap) are merged.
 */
#include "ctl/report/journal.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "complib/hash.h"
#include "core/about.h"
#include "ctl/report/changes.h"
#include "ctl/report/group_changes.h"
#include "ctl/report/peer_changes.h"
#include "iba/constants.h"
#include "sm/health/unhealthy.h"
#include "sm/schedule/plan.h"
#include "subnet/perf_alarms.h"
#include "subnet/subnet.h"

#define ENTRIES_OF_ONE 100 /* publication */
#define NAME_SIZE 160
#define LOOK_INTERVAL_NS NS_PER_S    /* groups and other SMs are looked at once in this time */
#define TOGETHER_NS (50 * NS_PER_MS) /* news within this time wake waiters once */

static const char *const kinds[] = {
	"state",   "sweep",   "link",	"node",	     "gid",   "lid", "trap",
	"options", "counter", "health", "partition", "group", "sm",  "service",
};

struct journal {
	struct context *context;
	GQueue entries;		    /* of struct journal_entry, newest last */
	struct subnet *subnet;	    /* published last, or NULL */
	struct perf_alarms *alarms; /* published last, or NULL */
	struct unhealthy_ports *unhealthy; /* published last, or NULL */
	struct mc_groups *groups;	   /* of the last entry about them, or NULL */
	struct peers *peers;		   /* that were looked at last, or NULL */
	struct timer look_at_groups, look_at_sms;
	const struct journal_listener *listener; /* NULL: none */
	struct changes *told;
	unsigned int changes; /* entries wanted for this publication so far */
	uint64_t generation;  /* of the subnet published last, also while it is compared */
	uint64_t lft_blocks;  /* written up to the end of the last sweep */
	uint64_t changed_ns;  /* when the subnet last changed; 0: not since the start */
	struct census census;
	struct journal_sweep last_sweep;	/* ended_ns 0: none */
	uint64_t run, serial, image, forgotten; /* as the functions say */
	GQueue waiters;				/* of struct journal_waiter, by its link */
	struct timer wake;			/* runs only if there are waiters */
	uint64_t events[G_N_ELEMENTS(kinds)];
	int64_t reread_us;
};

static void entry_free(void *data)
{
	struct journal_entry *entry = data;

	g_free(entry->text);
	g_free(entry);
}

/* ---- news ---- */

/* Those that wait again, or are not called yet when others end, are left for the next time. */
static void on_wake(struct timer *timer)
{
	struct journal *journal = container_of(timer, struct journal, wake);

	for (guint n = journal->waiters.length; n && journal->waiters.length; n--) {
		struct journal_waiter *waiter = journal->waiters.head->data;

		journal_unwait(journal, waiter);
		waiter->news(waiter->arg);
	}
}

/* Returns its serial number. */
static uint64_t add_news(struct journal *journal)
{
	if (journal->waiters.length && !timer_running(&journal->wake))
		timer_start(&journal->wake, TOGETHER_NS);
	return ++journal->serial;
}

static void on_image(void *arg, uint64_t value)
{
	struct journal *journal = arg;

	(void)value;
	journal->image = add_news(journal);
}

void journal_wait(struct journal *journal, struct journal_waiter *waiter)
{
	waiter->waits = true;
	waiter->link = (GList){.data = waiter};
	g_queue_push_tail_link(&journal->waiters, &waiter->link);
}

void journal_unwait(struct journal *journal, struct journal_waiter *waiter)
{
	if (!waiter->waits)
		return;
	waiter->waits = false;
	g_queue_unlink(&journal->waiters, &waiter->link);
	if (!journal->waiters.length)
		timer_stop(&journal->wake);
}

/* ---- entries ---- */

static void count_event(struct journal *journal, const char *kind)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		journal->events[i] += !strcmp(kinds[i], kind);
}

/* Adds an entry, or counts the previous one once more. */
G_GNUC_PRINTF(3, 4)
static struct journal_entry *note(struct journal *journal, const char *kind, const char *format,
				  ...)
{
	struct journal_entry *last = g_queue_peek_tail(&journal->entries), *entry;
	int64_t now = g_get_real_time();
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	count_event(journal, kind);
	if (last && last->kind == kind && !g_strcmp0(last->text, text)) {
		last->times++;
		last->last_us = now;
		last->serial = add_news(journal);
		return last;
	}
	entry = g_new(struct journal_entry, 1);
	*entry = (struct journal_entry){
		.first_us = now,
		.last_us = now,
		.times = 1,
		.kind = kind,
		.text = text,
		.serial = add_news(journal),
	};
	text = NULL;
	g_queue_push_tail(&journal->entries, entry);
	if (journal->entries.length <= JOURNAL_MAX)
		return entry;
	last = g_queue_pop_head(&journal->entries);
	journal->forgotten = last->serial;
	entry_free(last);
	return entry;
}

static void tell(const struct journal *journal, const struct journal_fact *fact)
{
	if (journal->listener)
		journal->listener->fact(journal->listener->arg, fact);
}

static struct journal_entry *note_fact(struct journal *journal, const struct journal_fact *fact)
{
	struct journal_entry *entry = note(journal, fact->kind, "%s", fact->text);

	entry->guid = fact->guid;
	entry->port = fact->port;
	entry->peer_guid = fact->peer_guid;
	entry->peer_port = fact->peer_port;
	entry->generation = fact->generation;
	return entry;
}

static void tell_and_note(struct journal *journal, const struct journal_fact *fact)
{
	tell(journal, fact);
	note_fact(journal, fact);
}

/* ---- differences of subnets ---- */

static const char *const entry_kinds[] = {
	[FABRIC_NODES_GONE] = "node", [FABRIC_LINK_DOWN] = "link", [FABRIC_PORT_GONE] = "gid",
	[FABRIC_NODES_NEW] = "node",  [FABRIC_LINK_UP] = "link",   [FABRIC_PORT_NEW] = "gid",
	[FABRIC_LID_CHANGED] = "lid",
};

static void log_change(struct journal *journal, const struct changes_line *line)
{
	struct log *log = journal->context->log;
	const struct about about = {
		.kind = entry_kinds[line->kind],
		.change = changes_kind_name(line->kind),
		.guid = line->guid,
		.node = line->node,
		.port = line->port,
		.lid = line->lid,
		.peer_guid = line->peer_guid,
		.peer_port = line->peer_port,
		.generation = line->generation,
	};

	if (line->notice)
		log_info(log, "%s", line->notice);
	if (line->kind <= FABRIC_PORT_GONE)
		log_about(log, LOG_INFO | LOG_MESSAGE(MILESTONE_LOSS), &about, "%s", line->text);
	else
		log_about(log, LOG_INFO | LOG_MESSAGE(MILESTONE_GAIN), &about, "%s", line->text);
}

/* The log has one line per GID, for scripts; in the journal the line about the node is enough. */
static void on_change(void *arg, const struct changes_line *line)
{
	struct journal *journal = arg;
	struct journal_entry *entry;

	log_change(journal, line);
	if (line->with_node || ++journal->changes > ENTRIES_OF_ONE)
		return;
	entry = note(journal, entry_kinds[line->kind], "%s", line->text);
	entry->change = changes_kind_name(line->kind);
	entry->guid = line->guid;
	entry->port = line->port;
	entry->peer_guid = line->peer_guid;
	entry->peer_port = line->peer_port;
	entry->more_switches = line->more_switches;
	entry->more_hosts = line->more_hosts;
	entry->generation = journal->generation;
}

static void compare(struct journal *journal, struct subnet *old, struct subnet *now)
{
	struct options *options = slot_take(&journal->context->options);
	g_autoptr(GArray) changes = fabric_changes(old->fabric, now->fabric);
	unsigned int untold;

	journal->changes = 0;
	if (journal->listener)
		journal->listener->published(journal->listener->arg, old, now, changes);
	untold = changes_tell(journal->told, changes, old->fabric, now->fabric,
			      options->subnet_prefix);
	options_unref(options);
	if (untold)
		log_info(journal->context->log, "%u more changes of the subnet", untold);
	if (journal->changes > ENTRIES_OF_ONE || untold)
		note(journal, "node", "and %u more changes, of which the log has some",
		     journal->changes - MIN(journal->changes, ENTRIES_OF_ONE) + untold)
			->generation = journal->generation;
	journal->changes = 0;
}

static void count(struct journal *journal, const struct fabric *fabric)
{
	struct options *options = slot_take(&journal->context->options);

	census_note(&journal->census, runtime_now(journal->context->rt), JOURNAL_WINDOW_NS(options),
		    census_of(fabric));
	options_unref(options);
}

static void compare_policies(struct journal *journal, const struct subnet *old,
			     const struct subnet *now)
{
	uint64_t policy = now->partitions->rules->serial;
	g_autofree char *text = NULL;

	if (old->partitions->rules->serial == policy)
		return;
	text = g_strdup_printf("partition policy %" PRIu64 " is in effect", policy);
	tell_and_note(journal, &(struct journal_fact){.kind = "partition",
						      .word = "",
						      .text = text,
						      .value = policy,
						      .generation = now->generation});
}

static void note_first(struct journal *journal, struct subnet *first)
{
	const struct fabric *fabric = first->fabric;

	if (journal->listener)
		journal->listener->published(journal->listener->arg, NULL, first, NULL);
	note(journal, "node", "first subnet: %u switches, %u hosts, %u links", fabric->n_switches,
	     fabric->n_nodes - fabric->n_switches, fabric->n_links);
}

static void on_published(void *arg, uint64_t generation)
{
	struct journal *journal = arg;
	struct subnet *now = slot_take(&journal->context->subnet);

	if (!now)
		return;
	on_image(journal, generation);
	journal->generation = now->generation;
	count(journal, now->fabric);
	if (journal->subnet)
		compare(journal, journal->subnet, now);
	else
		note_first(journal, now);
	if (journal->subnet)
		compare_policies(journal, journal->subnet, now);
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
	{SWEEP_HEAVY, "heavy requested"},
	{SWEEP_LIGHT, "light requested"},
	{SWEEP_LINK_TRAP, "link trap"},
	{SWEEP_LOCAL_TRAP, "local changes trap"},
	{SWEEP_CHANGE, "change detected"},
	{SWEEP_ERRORS, "earlier errors"},
	{SWEEP_REROUTE, "reroute requested"},
	{SWEEP_GROUPS, "multicast groups"},
	{SWEEP_POLICY, "partitions changed"},
	{SWEEP_UNSURE, "changes before PortStateChange was cleared"},
};

static void on_sweep_done(void *arg, uint64_t value)
{
	struct journal *journal = arg;
	struct sweep_done done = sweep_done_unpack(value);
	uint64_t before = journal->lft_blocks;
	bool is_routine = done.reasons == SWEEP_TIMER && done.kind == SWEEP_KIND_LIGHT &&
			  !done.errors; /* nothing happened */
	g_autoptr(GString) why = NULL;
	g_autofree char *blocks = NULL, *text = NULL;

	journal->last_sweep = (struct journal_sweep){done, runtime_now(journal->context->rt)};
	journal->lft_blocks = counter_get(&journal->context->counters, lft_blocks_set);
	if (journal->lft_blocks != before)
		blocks = g_strdup_printf(", %" PRIu64 " LFT blocks changed",
					 journal->lft_blocks - before);

	add_news(journal); /* the time of the last sweep */
	if (is_routine && !journal->listener)
		return;
	why = g_string_new(NULL);
	for (unsigned int i = 0; i < G_N_ELEMENTS(reason_names); i++)
		if (done.reasons & reason_names[i].reason)
			g_string_append_printf(why, "%s%s", why->len ? ", " : "",
					       reason_names[i].text);
	text = g_strdup_printf("%s sweep%s in %.1f ms (%s)%s", plan_kind_name(done.kind),
			       done.errors ? " with errors" : "", (double)done.took_us / 1000,
			       why->str, blocks ? blocks : "");
	tell(journal, &(struct journal_fact){.kind = "sweep",
					     .word = plan_kind_name(done.kind),
					     .text = text,
					     .level = done.errors,
					     .value = done.took_us});
	if (!is_routine)
		note(journal, "sweep", "%s", text);
}

static void on_state(void *arg, uint64_t state)
{
	const char *name = iba_name(IBA_SET_SM_STATE, (unsigned int)state);
	g_autofree char *text = g_strdup_printf("the SM is %s", name ? name : "?");

	tell_and_note(arg, &(struct journal_fact){
				   .kind = "state", .word = "", .text = text, .value = state});
}

static void on_options(void *arg, uint64_t value)
{
	struct journal *journal = arg;

	(void)value;
	journal->reread_us = g_get_real_time();
	tell_and_note(journal, &(struct journal_fact){.kind = "options",
						      .word = "",
						      .text = "the options were read again"});
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

/* ---- alarms about counters ---- */

/* What an alarm is about. */
static guint alarm_hash(gconstpointer key)
{
	const struct perf_alarm *alarm = key;

	return (guint)(hash_spread(alarm->guid * 257 + alarm->port) >> 32) ^
	       g_str_hash(alarm->value);
}

static gboolean alarm_equal(gconstpointer a, gconstpointer b)
{
	const struct perf_alarm *x = a, *y = b;

	return x->guid == y->guid && x->port == y->port && !strcmp(x->value, y->value);
}

static GHashTable *set_of(const struct perf_alarms *alarms)
{
	GHashTable *set = g_hash_table_new(alarm_hash, alarm_equal);

	for (uint32_t i = 0; alarms && i < alarms->n; i++)
		g_hash_table_add(set, &alarms->all[i]);
	return set;
}

/*
 * Those of `list` that `others` lacks, or has with a lower level; returns how many there were. If
 * they end, an alarm of a lower level may still stand.
 */
static unsigned int note_alarms(struct journal *journal, const struct perf_alarms *list,
				const struct perf_alarms *others, bool they_end)
{
	g_autoptr(GHashTable) known = set_of(others);
	unsigned int n = 0;

	for (uint32_t i = 0; list && i < list->n; i++) {
		const struct perf_alarm *alarm = &list->all[i];
		const struct perf_alarm *other = g_hash_table_lookup(known, alarm);
		const struct perf_alarm *remains = they_end ? other : alarm;
		g_autofree char *alarm_text = NULL, *text = NULL;
		struct journal_fact fact = {
			.kind = "counter",
			.word = alarm->value,
			.level = remains ? remains->level : 0,
			.guid = alarm->guid,
			.port = alarm->port,
		};

		if ((other && other->level >= alarm->level) ||
		    (++n > ENTRIES_OF_ONE && !journal->listener))
			continue;
		alarm_text = perf_alarm_text(alarm);
		fact.text = text =
			g_strdup_printf("%s: %s", they_end ? "ended" : "began", alarm_text);
		tell(journal, &fact);
		if (n <= ENTRIES_OF_ONE)
			note_fact(journal, &fact)->change = alarm->value;
	}
	return n;
}

/* A list that is full lacks some that still stand. */
static void on_alarms(void *arg, uint64_t n)
{
	struct journal *journal = arg;
	struct perf_alarms *now = slot_take(&journal->context->perf_alarms);
	unsigned int began, ended = 0;

	if (!now)
		return;
	on_image(journal, n);
	began = note_alarms(journal, now, journal->alarms, false);
	if (now->n < PERF_ALARMS_MAX)
		ended = note_alarms(journal, journal->alarms, now, true);
	if (began > ENTRIES_OF_ONE || ended > ENTRIES_OF_ONE)
		note(journal, "counter", "and more: %u began and %u ended in all", began, ended);
	perf_alarms_unref(journal->alarms);
	journal->alarms = now;
}

/* ---- unhealthy ports ---- */

static const struct unhealthy_port *find_same(const struct unhealthy_ports *list,
					      const struct unhealthy_port *port)
{
	for (unsigned int i = 0; list && i < list->n; i++)
		if (list->ports[i].id == port->id && list->ports[i].action == port->action)
			return &list->ports[i];
	return NULL;
}

/* Those of `list` that `others` lacks, or has with another action; returns how many. */
static unsigned int note_unhealthy(struct journal *journal, const struct unhealthy_ports *list,
				   const struct unhealthy_ports *others, bool they_end)
{
	unsigned int n = 0;

	for (unsigned int i = 0; list && i < list->n; i++) {
		const struct unhealthy_port *port = &list->ports[i];
		g_autofree char *text = NULL;
		struct journal_fact fact = {
			.kind = "health",
			.word = port_condition_word(port->condition),
			.level = !they_end,
			.guid = port->guid,
			.port = port->num,
			.peer_guid = port->blamed,
		};

		if (find_same(others, port) || (++n > ENTRIES_OF_ONE && !journal->listener))
			continue;
		fact.text = text = g_strdup_printf(
			"%s: switch 0x%016" PRIx64 " port %u, to %s (0x%016" PRIx64 "): %s (%s)",
			they_end ? "ended" : "began", port->guid, port->num,
			*port->name ? port->name : "an unknown node", port->blamed,
			port_condition_text(port->condition), port_action_word(port->action));
		tell(journal, &fact);
		if (n <= ENTRIES_OF_ONE)
			note_fact(journal, &fact)->change = fact.word;
	}
	return n;
}

static void on_unhealthy(void *arg, uint64_t value)
{
	struct journal *journal = arg;
	struct unhealthy_ports *now = slot_take(&journal->context->unhealthy_ports);
	unsigned int began, ended;

	on_image(journal, value);
	ended = note_unhealthy(journal, journal->unhealthy, now, true);
	began = note_unhealthy(journal, now, journal->unhealthy, false);
	if (began > ENTRIES_OF_ONE || ended > ENTRIES_OF_ONE)
		note(journal, "health", "and more: %u began and %u ended in all", began, ended);
	unhealthy_ports_unref(journal->unhealthy);
	journal->unhealthy = now;
}

/* ---- multicast groups ---- */

/* Lists come many times a second while hosts start. */
static void on_groups(void *arg, uint64_t value)
{
	struct journal *journal = arg;

	(void)value;
	if (!timer_running(&journal->look_at_groups))
		timer_start(&journal->look_at_groups, LOOK_INTERVAL_NS);
}

static char *group_text(const struct group_changes *changes, unsigned int n)
{
	char mgid[INET6_ADDRSTRLEN];
	uint64_t wire[2];

	if (!changes->created && !changes->deleted)
		return g_strdup_printf("multicast groups: members changed, %u now", n);
	wire[0] = GUINT64_TO_BE(changes->mgid.prefix);
	wire[1] = GUINT64_TO_BE(changes->mgid.guid);
	inet_ntop(AF_INET6, wire, mgid, sizeof(mgid));
	return g_strdup_printf("multicast groups: %u created, %u deleted, %u now: %s%s",
			       changes->created, changes->deleted, n, mgid,
			       changes->created + changes->deleted > 1 ? " and others" : "");
}

static void on_look_at_groups(struct timer *timer)
{
	struct journal *journal = container_of(timer, struct journal, look_at_groups);
	struct mc_groups *now = slot_take(&journal->context->groups);
	struct group_changes changes = group_changes_of(journal->groups, now);
	struct journal_fact fact = {.kind = "group", .word = "", .value = now ? now->n : 0};
	bool is_noted = changes.created || changes.deleted;
	g_autofree char *text = NULL;

	if (now != journal->groups && (is_noted || journal->listener)) {
		fact.text = text = group_text(&changes, now ? now->n : 0);
		tell(journal, &fact);
	}
	if (is_noted)
		note_fact(journal, &fact);
	mc_groups_unref(journal->groups);
	journal->groups = now;
}

/* ---- other SMs, and what clients register with the SA ---- */

static void on_peers(void *arg, uint64_t value)
{
	struct journal *journal = arg;

	(void)value;
	if (!timer_running(&journal->look_at_sms))
		timer_start(&journal->look_at_sms, LOOK_INTERVAL_NS);
}

static void on_peer_change(void *arg, const struct peer_change *change)
{
	const struct journal_fact fact = {
		.kind = "sm", .word = change->word, .text = change->text, .guid = change->guid};

	tell(arg, &fact);
	if (change->is_new_role)
		note_fact(arg, &fact)->change = fact.word;
}

static void on_look_at_sms(struct timer *timer)
{
	struct journal *journal = container_of(timer, struct journal, look_at_sms);
	struct peers *now = slot_take(&journal->context->peers);

	peer_changes_tell(journal->peers, now, on_peer_change, journal);
	peers_unref(journal->peers);
	journal->peers = now;
}

static void on_registries(void *arg, uint64_t value)
{
	struct registered now = registered_unpack(value);
	g_autofree char *text =
		g_strdup_printf("the SA has %u services, %u subscriptions and %u alias GUIDs",
				now.services, now.subscriptions, now.alias_guids);

	tell_and_note(arg,
		      &(struct journal_fact){
			      .kind = "service", .word = "", .text = text, .value = now.services});
}

/* ---- life ---- */

/* A random number; in virtual time that of the runtime, so that a run can be repeated. */
static uint64_t new_run(const struct runtime *rt)
{
	uint64_t run;

	if (runtime_mode(rt) == RUNTIME_VIRTUAL)
		return hash_spread(runtime_seed(rt)) | 1;
	run = (uint64_t)g_random_int() << 32 | g_random_int();
	return hash_spread(run ^ (uint64_t)g_get_real_time()) | 1;
}

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
		{EVENT_PERF_ALARMS, on_alarms},
		{EVENT_PERF_IMAGES, on_image},
		{EVENT_UNHEALTHY_PORTS, on_unhealthy},
		{EVENT_GROUPS_CHANGED, on_groups},
		{EVENT_PEERS_CHANGED, on_peers},
		{EVENT_REGISTRIES_CHANGED, on_registries},
	};
	struct journal *journal = g_new0(struct journal, 1);

	journal->context = daemon_context(daemon);
	journal->run = new_run(journal->context->rt);
	g_queue_init(&journal->waiters);
	timer_init(&journal->wake, daemon_actor(daemon), on_wake);
	timer_init(&journal->look_at_groups, daemon_actor(daemon), on_look_at_groups);
	timer_init(&journal->look_at_sms, daemon_actor(daemon), on_look_at_sms);
	journal->told = changes_new(daemon_actor(daemon), on_change, journal);
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
	changes_free(journal->told);
	subnet_unref(journal->subnet);
	perf_alarms_unref(journal->alarms);
	unhealthy_ports_unref(journal->unhealthy);
	mc_groups_unref(journal->groups);
	peers_unref(journal->peers);
	g_queue_clear_full(&journal->entries, entry_free);
	g_free(journal);
}

void journal_listen(struct journal *journal, const struct journal_listener *listener)
{
	journal->listener = listener;
}

const char *journal_kind(const struct journal *journal, unsigned int number, uint64_t *events)
{
	if (number >= G_N_ELEMENTS(kinds))
		return NULL;
	*events = journal->events[number];
	return kinds[number];
}

int64_t journal_reread_us(const struct journal *journal)
{
	return journal->reread_us;
}

unsigned int journal_length(const struct journal *journal)
{
	return journal->entries.length;
}

const struct journal_entry *journal_at(const struct journal *journal, unsigned int number)
{
	return g_queue_peek_nth((GQueue *)&journal->entries, number);
}

uint64_t journal_run(const struct journal *journal)
{
	return journal->run;
}

uint64_t journal_serial(const struct journal *journal)
{
	return journal->serial;
}

uint64_t journal_image(const struct journal *journal)
{
	return journal->image;
}

uint64_t journal_forgotten(const struct journal *journal)
{
	return journal->forgotten;
}

const GList *journal_after(const struct journal *journal, uint64_t serial)
{
	const GList *found = NULL;

	for (const GList *l = journal->entries.tail; l; l = l->prev) {
		const struct journal_entry *entry = l->data;

		if (entry->serial <= serial)
			break;
		found = l;
	}
	return found;
}

struct census *journal_census(struct journal *journal)
{
	return &journal->census;
}

void journal_accept(struct journal *journal)
{
	struct journal_entry *entry =
		note(journal, "node", "the present nodes and cables were accepted");

	entry->change = "accepted";
	census_accept(&journal->census);
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
