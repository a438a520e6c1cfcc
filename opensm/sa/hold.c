// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See hold.h. One table of entries by request, in one of two queues: waiting, in the order in which
 * they came, and answered, in the order in which they left. Who waits holds its share of what is
 * received, which bounds the first; SA_HOLD_MAX and SA_HOLD_NS bound the second.
 */
#include "sa/hold.h"

#include <string.h>

struct entry {
	GList link;
	/* The request: its octets, and from whom. */
	uint16_t lid;
	uint32_t qpn;
	uint32_t length;
	uint8_t request[IBA_MAD_BYTES];
	uint8_t answer[IBA_MAD_BYTES];
	struct vendor_mad *mad; /* while it waits */
	uint64_t until[SA_HOLD_TOPICS];
	uint64_t deadline_ns; /* 0: none; of an answered one, when it is forgotten */
};

struct sa_hold {
	struct context *context;
	struct actor *actor;
	struct mad *mad;
	GHashTable *entries; /* struct entry, owned, by its request */
	GQueue waiting, answered;
	struct timer timer; /* the next deadline */
	uint64_t reached[SA_HOLD_TOPICS];
};

static guint entry_hash(gconstpointer key)
{
	const struct entry *entry = key;
	uint64_t tid;

	memcpy(&tid, entry->request + 8, sizeof(tid));
	return (guint)((tid ^ tid >> 32) * 2654435761u) ^ entry->lid;
}

static gboolean entry_equal(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;

	return x->lid == y->lid && x->qpn == y->qpn && x->length == y->length &&
	       memcmp(x->request, y->request, x->length) == 0;
}

static void entry_free(gpointer data)
{
	struct entry *entry = data;

	if (entry->mad)
		vendor_mad_free(entry->mad);
	g_free(entry);
}

static void set_request(struct entry *entry, const struct vendor_mad *mad)
{
	entry->lid = mad->remote.lid;
	entry->qpn = mad->remote.qpn;
	entry->length = mad->length;
	memcpy(entry->request, mad->data, mad->length);
}

static void forget(struct sa_hold *hold, GQueue *queue, struct entry *entry)
{
	g_queue_unlink(queue, &entry->link);
	g_hash_table_remove(hold->entries, entry);
}

/* ---- deadlines ---- */

static struct entry *oldest(const struct sa_hold *hold)
{
	return hold->answered.head ? hold->answered.head->data : NULL;
}

static void set_timer(struct sa_hold *hold)
{
	uint64_t now = actor_now(hold->actor);
	uint64_t next = oldest(hold) ? oldest(hold)->deadline_ns : UINT64_MAX;

	/* Who came first has the first deadline, but for a change of the option. */
	for (GList *link = hold->waiting.head; link; link = link->next) {
		uint64_t deadline = ((struct entry *)link->data)->deadline_ns;

		if (!deadline)
			continue;
		next = MIN(next, deadline);
		break;
	}
	if (next == UINT64_MAX)
		timer_stop(&hold->timer);
	else
		timer_start(&hold->timer, next > now ? next - now : 0);
}

static void send_out(struct sa_hold *hold, struct entry *entry)
{
	mad_reply(hold->mad, g_steal_pointer(&entry->mad), g_memdup2(entry->answer, IBA_MAD_BYTES),
		  IBA_MAD_BYTES, NULL);
	g_queue_unlink(&hold->waiting, &entry->link);
	if (hold->answered.length == SA_HOLD_MAX)
		forget(hold, &hold->answered, oldest(hold));
	entry->deadline_ns = actor_now(hold->actor) + SA_HOLD_NS;
	g_queue_push_tail_link(&hold->answered, &entry->link);
}

static void on_deadline(struct timer *timer)
{
	struct sa_hold *hold = (struct sa_hold *)((char *)timer - offsetof(struct sa_hold, timer));
	uint64_t now = actor_now(hold->actor);

	for (GList *link = hold->waiting.head, *next; link; link = next) {
		struct entry *entry = link->data;

		next = link->next;
		if (entry->deadline_ns && entry->deadline_ns <= now) {
			counter_inc(&hold->context->counters, sa_unconfirmed);
			send_out(hold, entry);
		}
	}
	while (oldest(hold) && oldest(hold)->deadline_ns <= now)
		forget(hold, &hold->answered, oldest(hold));
	set_timer(hold);
}

/* ---- answers ---- */

static bool is_waiting(const struct entry *entry)
{
	for (unsigned int i = 0; i < SA_HOLD_TOPICS; i++)
		if (entry->until[i])
			return true;
	return false;
}

void sa_hold_answer(struct sa_hold *hold, struct vendor_mad *request, uint8_t *answer,
		    const uint64_t until[SA_HOLD_TOPICS], uint64_t deadline_ns)
{
	struct entry *entry = g_new0(struct entry, 1);

	g_assert(request->length <= IBA_MAD_BYTES);
	set_request(entry, request);
	memcpy(entry->answer, answer, IBA_MAD_BYTES);
	g_free(answer);
	entry->mad = request;
	entry->deadline_ns = deadline_ns;
	entry->link.data = entry;
	for (unsigned int i = 0; i < SA_HOLD_TOPICS; i++)
		entry->until[i] = until[i] > hold->reached[i] ? until[i] : 0;
	g_queue_push_tail_link(&hold->waiting, &entry->link);
	if (!g_hash_table_add(hold->entries, entry))
		g_assert_not_reached(); /* sa_hold_again() would have known it */
	if (!is_waiting(entry))
		send_out(hold, entry);
	if (deadline_ns || !timer_running(&hold->timer))
		set_timer(hold);
}

void sa_hold_reached(struct sa_hold *hold, enum sa_hold_topic topic, uint64_t serial)
{
	hold->reached[topic] = MAX(hold->reached[topic], serial);
	for (GList *link = hold->waiting.head, *next; link; link = next) {
		struct entry *entry = link->data;

		next = link->next;
		if (entry->until[topic] > serial)
			break; /* so are those of all that came later */
		entry->until[topic] = 0;
		if (!is_waiting(entry))
			send_out(hold, entry);
	}
	if (!timer_running(&hold->timer))
		set_timer(hold);
}

unsigned int sa_hold_waiting(const struct sa_hold *hold)
{
	return hold->waiting.length;
}

bool sa_hold_again(struct sa_hold *hold, struct vendor_mad *request)
{
	struct entry key, *entry;

	if (request->status != VENDOR_RECEIVED || request->length > IBA_MAD_BYTES ||
	    request->length < iba_mad_header_bytes)
		return false;
	set_request(&key, request);
	entry = g_hash_table_lookup(hold->entries, &key);
	if (!entry)
		return false;
	counter_inc(&hold->context->counters, sa_repeated);
	if (entry->mad)
		vendor_mad_free(request);
	else
		mad_reply(hold->mad, request, g_memdup2(entry->answer, IBA_MAD_BYTES),
			  IBA_MAD_BYTES, NULL);
	return true;
}

/* ---- life ---- */

void sa_hold_clear(struct sa_hold *hold)
{
	g_queue_init(&hold->waiting);
	g_queue_init(&hold->answered);
	g_hash_table_remove_all(hold->entries);
	timer_stop(&hold->timer);
}

struct sa_hold *sa_hold_new(struct context *context, struct actor *actor, struct mad *mad)
{
	struct sa_hold *hold = g_new0(struct sa_hold, 1);

	hold->context = context;
	hold->actor = actor;
	hold->mad = mad;
	hold->entries = g_hash_table_new_full(entry_hash, entry_equal, entry_free, NULL);
	timer_init(&hold->timer, actor, on_deadline);
	return hold;
}

void sa_hold_free(struct sa_hold *hold)
{
	sa_hold_clear(hold);
	g_hash_table_unref(hold->entries);
	g_free(hold);
}
