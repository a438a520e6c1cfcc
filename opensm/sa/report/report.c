// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Notices wait in notices.c. Each subscription looks at them, one of each kind in turn, and has one
 * Report in flight at a time:
 *
 *	idle -- notice --> waiting -- a notice for it --> asked -- answer or time-out --> waiting
 *	  ^---------------------'  all notices seen
 *
 * A subscriber that leaves SA_REPORTS_UNANSWERED Reports in a row unanswered rests between Reports,
 * and finally loses its subscription. LOOKS_A_TURN bounds the work that the actor does between
 * other work.
 *
 * Subscribers that do not answer must not delay others, so there are two lanes, each with a number
 * of places for Reports in flight; ports take turns, with one place each. In the prompt lane a
 * Report is tried once. If it is not answered in time it is repeated in the slow lane, where later
 * Reports of the subscription begin until a first try is answered again.
 *
 * A subscription misses a notice if it was dropped before the subscription came to it, or if no
 * Report of it was answered. Either is counted and logged. Unless one origin had too many notices,
 * the client is asked to register again (ClientReregister) when the subscription has seen
 * everything: that is the only way to tell a client that its information may be outdated. A port
 * that causes too many notices must not be able to make all others register again.
 */
#include "sa/report/report.h"

#include <string.h>

#include "complib/hash.h"
#include "sa/clients/notices.h"
#include "subnet/subscriptions.h"

#define PROMPT_OUT 64 /* Reports, at most, each for the time of one try */
#define SLOW_OUT 128  /* Reports at most */
#define LOOKS_A_TURN 20000
#define RETRIES 3
#define NOTICE_AT (iba_rmpp_header_bytes + iba_sa_header_bytes) /* in the data of a mad_ask */
#define CLASS_MANAGER 4						/* as ProducerType */
#define MISSED_BURST 10						/* log lines */
#define MISSED_INTERVAL (6 * NS_PER_S)				/* for more lines */
#define SHOWN_AFTER_NS (500 * NS_PER_MS) /* delay of what operators are shown */

enum { PROMPT, SLOW, N_LANES };

struct lane {
	unsigned int n_out, max_out;
	GHashTable *lines; /* struct sa_report_line, owned, by GUID */
	GQueue ring;	   /* lines with a subscription waiting and no Report in flight, in turn */
};

/*
 * The subscriptions of one port in one lane; exists while one of them waits or has a Report in
 * flight.
 */
struct sa_report_line {
	uint64_t guid; /* must be first: the key */
	struct lane *lane;
	GQueue waiting; /* struct sa_subscription */
	bool is_out;	/* a Report is in flight */
	bool in_ring;
	GList link; /* in the ring */
};

struct sa_reporter {
	struct context *context;
	struct actor *actor;
	struct mad *mad;
	const struct sa_registries *registries;
	struct subnet *subnet;
	struct sa_notices *notices;
	struct log_limit missed_log;
	bool wake; /* there are notices for which no subscription was woken */
	struct lane lanes[N_LANES];
	struct timer turn;
	struct timer rest; /* runs out when a subscription's rest ends */
	struct timer show; /* runs out when operators must be shown an update */
};

/* A Report in flight; the subscription may have ended when it comes back. */
struct report {
	struct mad_ask ask; /* must be the first member */
	struct sa_reporter *reporter;
	struct sa_report_line *line;
	struct sa_subscription_key key;
	uint64_t id;
};

/* ---- subscriptions and notices ---- */

bool sa_is_secret(bool is_generic, uint16_t type, uint16_t trap_number)
{
	return is_generic &&
	       (type == IBA_NOTICE_SECURITY ||
		(trap_number >= IBA_TRAP_BAD_M_KEY && trap_number <= IBA_TRAP_SWITCH_BAD_P_KEY));
}

/* An alias means the port that has it when the notice is examined. */
static bool is_guid_of(const struct sa_reporter *reporter, uint64_t guid,
		       const struct sa_notice *news)
{
	const struct alias_guid *alias =
		alias_guids_find(sa_aliases_now(reporter->registries->aliases), guid);

	return guid == news->gid.guid || (alias && alias->port == news->gid.guid);
}

/* The source of a notice of the SM is the SM, as in the classic daemon, or the port it is about. */
static bool is_of_source(const struct sa_reporter *reporter, const struct iba_inform_info *info,
			 const struct sa_notice *news)
{
	uint16_t first = info->lid_range_begin, last = MAX(first, info->lid_range_end);
	uint16_t lid = news->told.notice.issuer_lid;

	if (info->gid.prefix || info->gid.guid)
		return info->gid.guid == news->told.issuer_gid.guid ||
		       is_guid_of(reporter, info->gid.guid, news);
	return first == IBA_LID_PERMISSIVE || (first <= lid && lid <= last);
}

static bool is_subscribed(const struct sa_reporter *reporter, const struct iba_inform_info *info,
			  const struct sa_notice *news)
{
	const struct iba_notice *notice = &news->told.notice;

	return info->is_generic == notice->is_generic &&
	       (info->trap_number == IBA_TRAP_ALL || info->trap_number == notice->trap_number) &&
	       (info->type == 0xFFFF || info->type == notice->type) &&
	       (info->producer_type == 0xFFFFFF || info->producer_type == notice->producer_type) &&
	       is_of_source(reporter, info, news);
}

/* o13-17.1.2: a P_Key in common with the subject of the notice, not limited on both sides. */
static bool may_know(const struct sa_reporter *reporter, const struct sa_subscription *subscription,
		     uint32_t port, const struct sa_notice *news)
{
	const struct iba_notice *notice = &news->told.notice;

	if (subscription->trusted && !options_sa_key_is_known(reporter->subnet->options))
		return true;
	if (!subscription->trusted &&
	    sa_is_secret(notice->is_generic, notice->type, notice->trap_number))
		return false;
	for (uint32_t i = 0; i < news->n_p_keys; i++) {
		uint16_t p_key = news->p_keys[i];
		uint16_t own = partitions_member(reporter->subnet->partitions, port, p_key);

		if (own && ((own | p_key) & P_KEY_FULL))
			return true;
	}
	return false;
}

/* ---- lanes ---- */

static void lane_init(struct lane *lane, unsigned int max_out)
{
	lane->max_out = max_out;
	lane->lines = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, g_free);
	g_queue_init(&lane->ring);
}

static struct sa_report_line *line_of(struct lane *lane, uint64_t guid)
{
	struct sa_report_line *line = g_hash_table_lookup(lane->lines, &guid);

	if (line)
		return line;
	line = g_new0(struct sa_report_line, 1);
	line->guid = guid;
	line->lane = lane;
	line->link.data = line;
	g_hash_table_insert(lane->lines, &line->guid, line);
	return line;
}

/* Its waiting subscriptions, or the Report in flight, have changed. */
static void line_changed(struct sa_report_line *line)
{
	struct lane *lane = line->lane;
	bool is_ready = line->waiting.length && !line->is_out;

	if (is_ready && !line->in_ring)
		g_queue_push_tail_link(&lane->ring, &line->link);
	if (!is_ready && line->in_ring)
		g_queue_unlink(&lane->ring, &line->link);
	line->in_ring = is_ready;
	if (!line->waiting.length && !line->is_out)
		g_hash_table_remove(lane->lines, &line->guid);
}

static void start_discovery(struct sa_report_line *line, bool is_out)
{
	line->is_out = is_out;
	line->lane->n_out += is_out ? 1 : -1;
}

static bool has_turn(const struct lane *lane)
{
	return lane->ring.length && lane->n_out < lane->max_out;
}

/* ---- sending ---- */

static void start_turn(struct sa_reporter *reporter)
{
	if (!timer_running(&reporter->turn))
		timer_start(&reporter->turn, 0);
}

static bool has_seen_all(const struct sa_reporter *reporter,
			 const struct sa_subscription *subscription)
{
	for (unsigned int kind = 0; kind < SA_NOTICE_KINDS; kind++)
		if (subscription->seen[kind] < sa_notices_last(reporter->notices, kind))
			return false;
	return !subscription->told;
}

static void see_all(const struct sa_reporter *reporter, struct sa_subscription *subscription)
{
	for (unsigned int kind = 0; kind < SA_NOTICE_KINDS; kind++)
		subscription->seen[kind] = sa_notices_last(reporter->notices, kind);
	g_clear_pointer(&subscription->told, sa_notice_unref);
}

/* "port 0xGUID of NAME (0xGUID) (LID N, QP N)", newly allocated; without a name if it is gone. */
static char *subscriber_name(const struct sa_reporter *reporter,
			     const struct sa_subscription *subscription)
{
	const struct fabric *fabric = reporter->subnet ? reporter->subnet->fabric : NULL;
	uint32_t port = fabric ? fabric_port_by_guid(fabric, subscription->guid) : FABRIC_NONE;
	char name[FABRIC_NAME_SIZE] = "";

	if (port != FABRIC_NONE)
		fabric_node_name(fabric, fabric->ports[port].node, name, sizeof(name));
	return g_strdup_printf("port 0x%016" G_GINT64_MODIFIER "x%s%s (LID %u, QP %u)",
			       subscription->guid, *name ? " of " : "", name, subscription->to.lid,
			       subscription->to.qpn);
}

/* The client's information may be outdated. */
static void ask_to_register(struct sa_reporter *reporter, struct sa_subscription *subscription)
{
	uint64_t now = actor_now(reporter->actor);
	g_autofree char *name = NULL;

	if (!subscription->is_stale || subscription->unanswered || subscription->asked_until > now)
		return;
	name = subscriber_name(reporter, subscription);
	log_info(reporter->context->log,
		 "SA: %s was not told of %" G_GUINT64_FORMAT
		 " notices since it subscribed: its client is asked to register again",
		 name, subscription->missed);
	subscription->is_stale = false;
	subscription->asked_until = now + SA_REPORT_ASK_AGAIN;
	event_emit(&reporter->context->bus, EVENT_REREGISTER_WANTED, subscription->guid);
}

static void wait_in_line(struct sa_reporter *reporter, struct sa_subscription *subscription)
{
	uint64_t now = actor_now(reporter->actor);
	struct sa_report_line *line;

	if (subscription->line || subscription->is_asked)
		return;
	if (has_seen_all(reporter, subscription)) {
		ask_to_register(reporter, subscription);
		return;
	}
	if (subscription->rests_until > now) {
		if (!timer_running(&reporter->rest))
			timer_start(&reporter->rest, subscription->rests_until - now);
		return;
	}
	line = line_of(&reporter->lanes[subscription->is_slow ? SLOW : PROMPT], subscription->guid);
	subscription->line = line;
	g_queue_push_tail_link(&line->waiting, &subscription->link);
	line_changed(line);
	start_turn(reporter);
}

/* The index of a P_Key, full or limited, in the table of the SM's port; if absent, unchanged. */
static uint16_t index_of(const GArray *p_keys, uint16_t p_key, uint16_t was)
{
	for (guint i = 0; p_keys && p_key && i < p_keys->len; i++)
		if (P_KEY_BASE(g_array_index(p_keys, uint16_t, i)) == P_KEY_BASE(p_key))
			return i;
	return was;
}

/* The port may have a new LID by now, and the P_Key that it subscribed with a new index. */
static struct vendor_address address_of(const struct sa_reporter *reporter,
					const struct sa_subscription *subscription, uint32_t port)
{
	const struct fabric *fabric = reporter->subnet->fabric;
	struct vendor_address to = subscription->to;

	if (fabric_port_by_lid(fabric, to.lid) != port)
		to.lid = fabric->ports[port].lid;
	to.p_key_index = index_of(reporter->subnet->sm_p_keys, subscription->p_key, to.p_key_index);
	return to;
}

static void forget_dead(struct sa_reporter *reporter, struct sa_subscription *subscription)
{
	g_autofree char *name = subscriber_name(reporter, subscription);

	counter_inc(&reporter->context->counters, sa_subscriptions_dead);
	log_info(reporter->context->log,
		 "SA: %s does not answer Reports: its subscription ends", name);
	sa_subscribers_remove(reporter->registries->subscribers, subscription);
}

/* A subscriber that does not answer is sent fewer Reports, as each takes the place of others. */
static void let_rest(struct sa_reporter *reporter, struct sa_subscription *subscription)
{
	if (subscription->unanswered == SA_REPORTS_UNANSWERED) {
		g_autofree char *name = subscriber_name(reporter, subscription);

		log_info(reporter->context->log,
			 "SA: %s does not answer Reports: it gets one per minute", name);
	}
	subscription->rests_until = actor_now(reporter->actor) + SA_REPORT_REST;
	wait_in_line(reporter, subscription);
}

static bool is_lost(const struct mad_ask *ask)
{
	return ask->result == MAD_TIMEOUT ||
	       (ask->result == MAD_STATUS && ask->status & IBA_STATUS_BUSY);
}

/* ---- information for operators ---- */

static bool add_shown(struct sa_subscription *subscription, void *arg)
{
	struct subscriptions *shown = arg;

	shown->rows[shown->n++] = (struct subscription_shown){
		.guid = subscription->guid,
		.lid = subscription->to.lid,
		.qpn = subscription->to.qpn,
		.info = subscription->info,
		.missed = subscription->missed,
		.unanswered = subscription->unanswered,
	};
	return true;
}

static void show(struct timer *timer)
{
	struct sa_reporter *reporter = container_of(timer, struct sa_reporter, show);
	const struct sa_subscribers *subscribers = reporter->registries->subscribers;
	struct subscriptions *shown = subscriptions_new(sa_subscribers_count(subscribers));

	shown->n = 0;
	sa_subscribers_each(subscribers, add_shown, shown);
	slot_publish(&reporter->context->subscriptions, shown);
}

/* Changes within the delay are shown together. */
static void show_soon(struct sa_reporter *reporter)
{
	if (!timer_running(&reporter->show))
		timer_start(&reporter->show, SHOWN_AFTER_NS);
}

/* ---- missed notices ---- */

/* Notices dropped before the subscription came to them; if it saw a part, counted as 1. */
static void meet_gap(struct sa_reporter *reporter, struct sa_subscription *subscription,
		     uint64_t seen, const struct sa_notice *gap)
{
	struct context *context = reporter->context;
	uint64_t n = seen < gap->first_dropped ? gap->n_dropped : 1;
	unsigned int held_back;

	subscription->missed += n;
	subscription->is_stale |= !gap->is_flood;
	show_soon(reporter);
	counter_add(&context->counters, sa_notices_missed, n);
	if (log_limit_pass(&reporter->missed_log, actor_now(reporter->actor), MISSED_BURST,
			   MISSED_INTERVAL, &held_back)) {
		g_autofree char *name = subscriber_name(reporter, subscription);

		log_info(context->log,
			 "SA: %s misses %" G_GUINT64_FORMAT
			 " notices, the last of trap %u from 0x%016" G_GINT64_MODIFIER
			 "x: it answers too slowly for %s",
			 name, n, gap->told.notice.trap_number, sa_notice_origin(gap),
			 gap->is_flood ? "what that port causes" : "all that happens");
	}
}

/* No Report of this notice was answered, or it was dropped before one was repeated. */
static void note_untold(struct sa_reporter *reporter, struct sa_subscription *subscription)
{
	subscription->missed++;
	subscription->is_stale = true;
	show_soon(reporter);
}

/* ---- answers ---- */

static void note_end(struct sa_reporter *reporter, struct sa_subscription *subscription,
		     const struct mad_ask *ask)
{
	unsigned int before = subscription->unanswered;

	g_clear_pointer(&subscription->told, sa_notice_unref);
	subscription->is_slow = is_lost(ask) || ask->sent > 1;
	if (is_lost(ask))
		note_untold(reporter, subscription);
	if (ask->result == MAD_TIMEOUT && ask->sent)
		subscription->unanswered++;
	else
		subscription->unanswered = 0;
	if (subscription->unanswered != before)
		show_soon(reporter);
	if (subscription->unanswered >= SA_REPORTS_IN_VAIN)
		forget_dead(reporter, subscription);
	else if (subscription->unanswered >= SA_REPORTS_UNANSWERED)
		let_rest(reporter, subscription);
	else
		wait_in_line(reporter, subscription);
}

/* Repeats the Report, unless its notice is joined with a later one, or dropped, meanwhile. */
static void repeat_slowly(struct sa_reporter *reporter, struct sa_subscription *subscription)
{
	subscription->is_slow = true;
	wait_in_line(reporter, subscription);
}

static void on_answer(struct mad_ask *ask)
{
	struct report *report = (struct report *)ask;
	struct sa_reporter *reporter = report->reporter;
	struct sa_subscription *subscription =
		sa_subscribers_find(reporter->registries->subscribers, &report->key);
	bool in_prompt = report->line->lane == &reporter->lanes[PROMPT];

	start_discovery(report->line, false);
	line_changed(report->line);
	if (subscription && subscription->id != report->id)
		subscription = NULL; /* it ended, and a new one began */
	if (subscription)
		subscription->is_asked = false;
	if (subscription && in_prompt && is_lost(ask)) {
		repeat_slowly(reporter, subscription);
	} else {
		if (ask->result == MAD_TIMEOUT)
			counter_inc(&reporter->context->counters, sa_reports_unanswered);
		if (subscription)
			note_end(reporter, subscription, ask);
	}
	start_turn(reporter);
	g_free(report);
}

/* Sets number and time of tries of one Report, as if all tries were made at once. */
static void set_tries(const struct sa_reporter *reporter,
		      const struct sa_subscription *subscription, bool is_repeated,
		      struct mad_ask *ask)
{
	if (subscription->is_slow && subscription->unanswered < SA_REPORTS_UNANSWERED)
		ask->retries = RETRIES - is_repeated;
	if (is_repeated)
		ask->timeout_ms = 2 * reporter->subnet->options->transaction_timeout;
}

static void send_report(struct sa_reporter *reporter, struct sa_subscription *subscription,
			struct sa_report_line *line, uint32_t port, struct sa_notice *news)
{
	struct report *report = g_new0(struct report, 1);
	bool is_repeated = subscription->told == news;

	report->reporter = reporter;
	report->line = line;
	report->key = subscription->key;
	report->id = subscription->id;
	report->ask.to = address_of(reporter, subscription, port);
	report->ask.mgmt_class = IBA_CLASS_SUBN_ADM;
	report->ask.class_version = IBA_SA_CLASS_VERSION;
	report->ask.method = IBA_METHOD_REPORT;
	report->ask.attribute = IBA_ATTR_NOTICE;
	set_tries(reporter, subscription, is_repeated, &report->ask);
	report->ask.owner = reporter->actor;
	report->ask.done = on_answer;
	wire_encode(&iba_sa_notice_type, &news->told, report->ask.data + NOTICE_AT);
	if (!is_repeated)
		subscription->told = sa_notice_ref(news);
	subscription->is_asked = true;
	start_discovery(line, true);
	if (!is_repeated)
		counter_inc(&reporter->context->counters, sa_reports_sent);
	mad_ask(reporter->mad, &report->ask);
}

/* The serial that all subscriptions have looked up to, found while they are woken. */
struct waking {
	struct sa_reporter *reporter;
	uint64_t seen[SA_NOTICE_KINDS];
};

static bool wake(struct sa_subscription *subscription, void *arg)
{
	struct waking *waking = arg;
	const struct sa_notice *told = subscription->told;

	wait_in_line(waking->reporter, subscription);
	for (unsigned int kind = 0; kind < SA_NOTICE_KINDS; kind++)
		waking->seen[kind] = MIN(waking->seen[kind], subscription->seen[kind]);
	if (told)
		waking->seen[told->kind] = MIN(waking->seen[told->kind], told->serial - 1);
	return true;
}

/* Wakes all subscriptions for new notices, and forgets notices that no subscription still needs. */
static void wake_all(struct sa_reporter *reporter)
{
	struct waking waking = {.reporter = reporter};

	memset(waking.seen, 0xFF, sizeof(waking.seen));
	sa_subscribers_each(reporter->registries->subscribers, wake, &waking);
	for (unsigned int kind = 0; kind < SA_NOTICE_KINDS; kind++)
		sa_notices_forget(reporter->notices, kind, waking.seen[kind]);
}

/* The state of a subscription's turn. */
struct look {
	uint32_t port;
	unsigned int looks; /* notices so far */
};

/* The next notice of a kind to report; NULL: none, or the turn is over. */
static struct sa_notice *find_of_kind(struct sa_reporter *reporter,
				      struct sa_subscription *subscription,
				      enum sa_notice_kind kind, struct look *look)
{
	uint64_t *seen = &subscription->seen[kind];
	struct sa_notice *news = sa_notices_after(reporter->notices, kind, *seen);

	for (; news && look->looks < LOOKS_A_TURN; news = sa_notice_next(news)) {
		uint64_t before = *seen;

		look->looks++;
		*seen = news->serial;
		if (!is_subscribed(reporter, &subscription->info, news) ||
		    !may_know(reporter, subscription, look->port, news))
			continue;
		if (!news->is_gap)
			return news;
		meet_gap(reporter, subscription, before, news);
	}
	if (!news)
		*seen = sa_notices_last(reporter->notices, kind);
	return NULL;
}

/* The notice to repeat, if there is one; else the next of the kinds in turn. */
static struct sa_notice *find_next(struct sa_reporter *reporter,
				   struct sa_subscription *subscription, struct look *look)
{
	struct sa_notice *told = subscription->told, *news = NULL;

	if (told && sa_notice_counts(told))
		return told;
	if (told && told->is_gap)
		note_untold(reporter, subscription);
	g_clear_pointer(&subscription->told, sa_notice_unref);
	for (unsigned int i = 0; i < SA_NOTICE_KINDS && !news; i++) {
		news = find_of_kind(reporter, subscription, subscription->kind, look);
		subscription->kind = (subscription->kind + 1) % SA_NOTICE_KINDS;
	}
	return news;
}

/* Sends the next Report of a subscription, if there is one; returns the notices it looked at. */
static unsigned int look(struct sa_reporter *reporter, struct sa_subscription *subscription,
			 struct sa_report_line *line)
{
	struct look look = {
		.port = fabric_port_by_guid(reporter->subnet->fabric, subscription->guid)};
	struct sa_notice *news;

	if (look.port == FABRIC_NONE) {
		see_all(reporter, subscription);
		return 0;
	}
	news = find_next(reporter, subscription, &look);
	if (news)
		send_report(reporter, subscription, line, look.port, news);
	else
		wait_in_line(reporter, subscription);
	return look.looks;
}

/* Serves the first port in turn; returns the notices it looked at. */
static unsigned int serve(struct sa_reporter *reporter, struct lane *lane)
{
	struct sa_report_line *line = g_queue_pop_head_link(&lane->ring)->data;
	struct sa_subscription *subscription = g_queue_pop_head_link(&line->waiting)->data;
	unsigned int looks;

	line->in_ring = false;
	subscription->line = NULL;
	looks = 1 + look(reporter, subscription, line);
	line_changed(line);
	return looks;
}

static void take_turn(struct timer *timer)
{
	struct sa_reporter *reporter = container_of(timer, struct sa_reporter, turn);
	struct lane *lanes = reporter->lanes;
	unsigned int looks;

	if (reporter->wake)
		wake_all(reporter);
	reporter->wake = false;
	if (!reporter->subnet)
		return;
	for (unsigned int i = 0; i < N_LANES; i++)
		for (looks = 0; has_turn(&lanes[i]) && looks < LOOKS_A_TURN;)
			looks += serve(reporter, &lanes[i]);
	if (has_turn(&lanes[PROMPT]) || has_turn(&lanes[SLOW]))
		start_turn(reporter);
}

static void rest_is_over(struct timer *timer)
{
	struct sa_reporter *reporter = container_of(timer, struct sa_reporter, rest);

	reporter->wake = true;
	take_turn(&reporter->turn);
}

/* ---- new notices ---- */

static bool has_subscribers(const struct sa_reporter *reporter)
{
	return sa_subscribers_count(reporter->registries->subscribers) != 0;
}

/* Adds a notice. Subscriptions are woken once for all notices that arrive together. */
static void add_news(struct sa_reporter *reporter, const struct iba_sa_notice *notice,
		     struct iba_gid gid, uint64_t origin, const uint16_t *p_keys, uint32_t n)
{
	unsigned int dropped;

	if (!has_subscribers(reporter))
		return;
	dropped = sa_notices_add(reporter->notices, notice, gid, origin, p_keys, n);
	counter_add(&reporter->context->counters, sa_notices_dropped, dropped);
	reporter->wake = true;
	start_turn(reporter);
}

/* To the part of the daemon that wants all notices. */
static void pass_on(struct sa_reporter *reporter, const struct iba_sa_notice *notice, uint16_t from,
		    uint64_t generation)
{
	struct notices *notices = &reporter->context->notices;
	struct told_notice told = {
		.generation = generation,
		.from = from,
		.number = (uint16_t)notice->notice.trap_number,
	};

	if (!atomic_load(&notices->wanted))
		return;
	wire_encode(&iba_sa_notice_type, notice, told.wire);
	if (notices_tell(notices, &told))
		event_emit(&reporter->context->bus, EVENT_NOTICES_TOLD, 0);
}

static bool has_listeners(const struct sa_reporter *reporter)
{
	return reporter->subnet &&
	       (has_subscribers(reporter) || atomic_load(&reporter->context->notices.wanted));
}

/* A notice of the SM itself, traps 64 to 67: it is about a GID. */
static void add_own(struct sa_reporter *reporter, uint16_t trap_number, struct iba_gid gid,
		    uint64_t origin, const uint16_t *p_keys, uint32_t n)
{
	const struct subnet *subnet = reporter->subnet;
	const struct iba_trap_gid details = {.gid = gid};
	struct iba_sa_notice own = {
		.notice = {.is_generic = 1,
			   .type = IBA_NOTICE_SUBN_MGT,
			   .producer_type = CLASS_MANAGER,
			   .trap_number = trap_number,
			   .issuer_lid = subnet->sm_lid},
		.issuer_gid = {subnet->options->subnet_prefix, subnet->sm_guid},
	};

	wire_encode(&iba_trap_gid_type, &details, own.notice.data_details);
	pass_on(reporter, &own, subnet->sm_lid,
		trap_number <= IBA_TRAP_GID_OUT_OF_SERVICE ? subnet->generation : 0);
	add_news(reporter, &own, gid, origin, p_keys, n);
}

static bool is_in_service(const struct fabric *fabric, uint32_t port)
{
	return port != FABRIC_NONE && fabric_is_endport(fabric, port) &&
	       fabric->ports[port].known && fabric->ports[port].lid != 0;
}

/* For each port of one subnet that is not in the other. */
static void add_difference(struct sa_reporter *reporter, uint16_t trap_number,
			   const struct subnet *has, const struct subnet *lacks)
{
	for (uint32_t i = 0; i < has->fabric->n_ports; i++) {
		uint64_t guid = has->fabric->ports[i].guid;
		const uint16_t *p_keys;
		uint32_t n;

		if (!is_in_service(has->fabric, i) ||
		    is_in_service(lacks->fabric, fabric_port_by_guid(lacks->fabric, guid)))
			continue;
		p_keys = partitions_of(has->partitions, i, &n);
		add_own(reporter, trap_number, (struct iba_gid){has->options->subnet_prefix, guid},
			guid, p_keys, n);
	}
}

void sa_report_ports(struct sa_reporter *reporter, const struct subnet *before)
{
	if (!has_listeners(reporter) || before->fabric == reporter->subnet->fabric)
		return;
	add_difference(reporter, IBA_TRAP_GID_OUT_OF_SERVICE, before, reporter->subnet);
	add_difference(reporter, IBA_TRAP_GID_IN_SERVICE, reporter->subnet, before);
}

void sa_report_group(struct sa_reporter *reporter, bool created, struct iba_gid mgid,
		     uint16_t p_key, uint64_t creator)
{
	if (!has_listeners(reporter))
		return;
	p_key |= P_KEY_FULL;
	add_own(reporter, created ? IBA_TRAP_MCAST_GROUP_CREATED : IBA_TRAP_MCAST_GROUP_DELETED,
		mgid, creator, &p_key, 1);
}

/* Traps 64 to 67, which only the SA may send. */
static bool is_of_sa(const struct iba_notice *notice)
{
	return notice->is_generic && notice->trap_number >= IBA_TRAP_GID_IN_SERVICE &&
	       notice->trap_number <= IBA_TRAP_MCAST_GROUP_DELETED;
}

void sa_report_trap(struct sa_reporter *reporter, const struct iba_notice *notice, uint16_t from)
{
	const struct subnet *subnet = reporter->subnet;
	struct iba_sa_notice told = {.notice = *notice};
	const uint16_t *p_keys = NULL;
	uint64_t origin = from; /* a LID cannot be mistaken for a port GUID */
	uint32_t port, n = 0;

	if (!has_listeners(reporter))
		return;
	if (!told.notice.issuer_lid)
		told.notice.issuer_lid = from;
	port = fabric_port_by_lid(subnet->fabric, told.notice.issuer_lid);
	if (port != fabric_port_by_lid(subnet->fabric, from) || is_of_sa(notice))
		return;
	if (port != FABRIC_NONE) {
		p_keys = partitions_of(subnet->partitions, port, &n);
		origin = subnet->fabric->ports[port].guid;
		told.issuer_gid = (struct iba_gid){subnet->options->subnet_prefix, origin};
	}
	pass_on(reporter, &told, from, 0);
	add_news(reporter, &told, told.issuer_gid, origin, p_keys, n);
}

/* ---- life ---- */

/* A new subscription is told of new notices only. */
static void on_added(void *arg, struct sa_subscription *subscription)
{
	struct sa_reporter *reporter = arg;

	if (!subscription->is_followed)
		see_all(reporter, subscription);
	subscription->is_followed = true;
	show_soon(reporter);
}

static void drop_told(struct sa_subscription *subscription)
{
	g_clear_pointer(&subscription->told, sa_notice_unref);
}

static void on_removed(void *arg, struct sa_subscription *subscription)
{
	struct sa_report_line *line = subscription->line;
	struct sa_reporter *reporter = arg;

	drop_told(subscription);
	show_soon(reporter);
	if (sa_subscribers_count(reporter->registries->subscribers) == 1) /* it is the last one */
		sa_notices_clear(reporter->notices);
	if (!line)
		return;
	g_queue_unlink(&line->waiting, &subscription->link);
	subscription->line = NULL;
	line_changed(line);
}

static const struct sa_subscribers_watch watch = {.added = on_added, .removed = on_removed};

struct sa_reporter *sa_reporter_new(struct context *context, struct actor *actor, struct mad *mad,
				    const struct sa_registries *registries)
{
	struct sa_reporter *reporter = g_new0(struct sa_reporter, 1);

	reporter->context = context;
	reporter->actor = actor;
	reporter->mad = mad;
	reporter->registries = registries;
	reporter->notices = sa_notices_new();
	lane_init(&reporter->lanes[PROMPT], PROMPT_OUT);
	lane_init(&reporter->lanes[SLOW], SLOW_OUT);
	timer_init(&reporter->turn, actor, take_turn);
	timer_init(&reporter->rest, actor, rest_is_over);
	timer_init(&reporter->show, actor, show);
	sa_subscribers_watch(registries->subscribers, &watch, reporter);
	return reporter;
}

static bool forget_told(struct sa_subscription *subscription, void *arg)
{
	(void)arg;
	drop_told(subscription);
	return true;
}

void sa_reporter_free(struct sa_reporter *reporter)
{
	timer_stop(&reporter->turn);
	timer_stop(&reporter->rest);
	timer_stop(&reporter->show);
	for (unsigned int i = 0; i < N_LANES; i++)
		g_hash_table_unref(reporter->lanes[i].lines);
	sa_subscribers_each(reporter->registries->subscribers, forget_told, NULL);
	sa_notices_free(reporter->notices);
	subnet_unref(reporter->subnet);
	g_free(reporter);
}

/* Records the P_Key that it subscribed with: its index may mean another P_Key from now on. */
static bool note_p_key(struct sa_subscription *subscription, void *arg)
{
	const struct subnet *subnet = arg;
	uint16_t index = subscription->to.p_key_index;

	if (!subscription->p_key && subnet->sm_p_keys && index < subnet->sm_p_keys->len)
		subscription->p_key = g_array_index(subnet->sm_p_keys, uint16_t, index);
	return true;
}

void sa_reporter_follow(struct sa_reporter *reporter, struct subnet *subnet)
{
	if (reporter->subnet)
		sa_subscribers_each(reporter->registries->subscribers, note_p_key,
				    reporter->subnet);
	subnet_unref(reporter->subnet);
	reporter->subnet = subnet ? subnet_ref(subnet) : NULL;
	if (!subnet)
		sa_notices_clear(reporter->notices);
}
