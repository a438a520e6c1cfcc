// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See hold.h. One table of entries by request, each in one of three queues: waiting, in order of
 * arrival; answered, in order of leaving; and passed, those that left and are not the latest about
 * their object. A waiting request holds its share of the receive buffers, which bounds the first
 * queue; SA_HOLD_MAX and times bound the others.
 */
#include "sa/admit/hold.h"

#include <string.h>

/* What a request is about: the first octets of its record, possibly except one. */
struct kind {
	uint16_t attribute;
	uint8_t octets, but;
	bool own; /* per requester: others may have an object with the same octets */
};

static const struct kind kinds[] = {
	{IBA_ATTR_MC_MEMBER_RECORD, 32, 32, false}, /* MGID, PortGID */
	{IBA_ATTR_SERVICE_RECORD, 26, 26, false},   /* ServiceID, ServiceGID, ServiceP_Key */
	{IBA_ATTR_INFORM_INFO, 36, 23, true},	    /* all but whether to subscribe */
	{IBA_ATTR_GUID_INFO_RECORD, 3, 3, false},   /* LID, BlockNum */
};

struct entry {
	GList link;
	const struct kind *kind; /* NULL: it is not about a named object */
	/* The request: its octets and its sender. */
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
	GHashTable *latest;  /* struct entry by what it is about */
	GQueue waiting, answered, passed;
	struct timer timer; /* the next deadline */
	uint64_t reached[SA_HOLD_TOPICS];
	bool (*stands)(void *arg, const struct vendor_address *requester, const uint8_t *answer);
	void *stands_arg;
};

static uint64_t tid_of(const struct entry *entry)
{
	uint64_t tid;

	memcpy(&tid, entry->request + 8, sizeof(tid));
	return tid;
}

static guint entry_hash(gconstpointer key)
{
	const struct entry *entry = key;
	uint64_t tid = tid_of(entry);

	return (guint)((tid ^ tid >> 32) * 2654435761u) ^ entry->lid;
}

static gboolean entry_equal(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;

	return x->lid == y->lid && x->qpn == y->qpn && x->length == y->length &&
	       memcmp(x->request, y->request, x->length) == 0;
}

static bool names_no_group(const uint8_t *record)
{
	static const uint8_t none[16];

	return !memcmp(record, none, sizeof(none));
}

/* The record that says what a request is about: the answer's for a group that the SA named. */
static const uint8_t *record_of(const struct entry *entry, uint16_t attribute)
{
	const uint8_t *record = entry->request + IBA_SA_DATA_OFFSET;

	if (attribute == IBA_ATTR_MC_MEMBER_RECORD && names_no_group(record))
		return entry->answer + IBA_SA_DATA_OFFSET;
	return record;
}

static guint object_hash(gconstpointer key)
{
	const struct entry *entry = key;
	guint hash = entry->kind->attribute;
	const uint8_t *record = record_of(entry, entry->kind->attribute);

	for (unsigned int i = 0; i < entry->kind->octets; i++)
		if (i != entry->kind->but)
			hash = hash * 31 + record[i];
	return hash;
}

static gboolean object_equal(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;
	const uint8_t *a_record = record_of(x, x->kind->attribute);
	const uint8_t *b_record = record_of(y, y->kind->attribute);
	unsigned int but = x->kind->but, rest = MIN(but + 1u, x->kind->octets);

	return x->kind == y->kind &&
	       (!x->kind->own || (x->lid == y->lid && x->qpn == y->qpn)) &&
	       !memcmp(a_record, b_record, but) &&
	       !memcmp(a_record + rest, b_record + rest, x->kind->octets - rest);
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

/* A group that the SA was to name and that was refused has no name. */
static const struct kind *kind_of(const struct entry *entry)
{
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, entry->request, &header);
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (kinds[i].attribute == header.attribute_id &&
		    (header.attribute_id != IBA_ATTR_MC_MEMBER_RECORD ||
		     !names_no_group(record_of(entry, header.attribute_id))))
			return &kinds[i];
	return NULL;
}

static bool is_latest(const struct sa_hold *hold, const struct entry *entry)
{
	return !entry->kind || g_hash_table_lookup(hold->latest, entry) == entry;
}

static struct entry *oldest(const GQueue *queue)
{
	return queue->head ? queue->head->data : NULL;
}

static void forget(struct sa_hold *hold, GQueue *queue, struct entry *entry)
{
	if (entry->kind && is_latest(hold, entry))
		g_hash_table_remove(hold->latest, entry);
	g_queue_unlink(queue, &entry->link);
	g_hash_table_remove(hold->entries, entry);
}

/* Moves an entry that has left, or leaves now, to a queue where it is remembered until then. */
static void remember(struct sa_hold *hold, GQueue *from, struct entry *entry, GQueue *to,
		     uint64_t deadline_ns)
{
	g_queue_unlink(from, &entry->link);
	if (to->length == SA_HOLD_MAX)
		forget(hold, to, oldest(to));
	entry->deadline_ns = deadline_ns;
	g_queue_push_tail_link(to, &entry->link);
}

/*
 * Replaces the previous entry about the same object. If both have the same TransactionID, it cannot
 * distinguish copies of one from the other.
 */
static void become_latest(struct sa_hold *hold, struct entry *entry)
{
	struct entry *before;

	entry->kind = kind_of(entry);
	if (!entry->kind)
		return;
	before = g_hash_table_lookup(hold->latest, entry);
	g_hash_table_replace(hold->latest, entry, entry);
	if (!before || before->mad)
		return;
	if (tid_of(before) == tid_of(entry) && before->lid == entry->lid &&
	    before->qpn == entry->qpn)
		forget(hold, &hold->answered, before);
	else
		remember(hold, &hold->answered, before, &hold->passed,
			 before->deadline_ns - SA_HOLD_NS + SA_HOLD_PASSED_NS);
}

/* ---- deadlines ---- */

static uint64_t first_end(const GQueue *queue)
{
	return queue->head ? oldest(queue)->deadline_ns : UINT64_MAX;
}

static void set_timer(struct sa_hold *hold)
{
	uint64_t now = actor_now(hold->actor);
	uint64_t next = MIN(first_end(&hold->answered), first_end(&hold->passed));

	/* Deadlines are in order of arrival, unless the option has changed. */
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
	uint64_t now = actor_now(hold->actor);

	mad_reply(hold->mad, g_steal_pointer(&entry->mad), g_memdup2(entry->answer, IBA_MAD_BYTES),
		  IBA_MAD_BYTES, NULL);
	if (is_latest(hold, entry))
		remember(hold, &hold->waiting, entry, &hold->answered, now + SA_HOLD_NS);
	else
		remember(hold, &hold->waiting, entry, &hold->passed, now + SA_HOLD_PASSED_NS);
}

static void on_deadline(struct timer *timer)
{
	struct sa_hold *hold = container_of(timer, struct sa_hold, timer);
	uint64_t now = actor_now(hold->actor);

	for (GList *link = hold->waiting.head, *next; link; link = next) {
		struct entry *entry = link->data;

		next = link->next;
		if (entry->deadline_ns && entry->deadline_ns <= now) {
			counter_inc(&hold->context->counters, sa_unconfirmed);
			send_out(hold, entry);
		}
	}
	while (first_end(&hold->answered) <= now)
		forget(hold, &hold->answered, oldest(&hold->answered));
	while (first_end(&hold->passed) <= now)
		forget(hold, &hold->passed, oldest(&hold->passed));
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
	become_latest(hold, entry);
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
			break; /* later ones are not due either */
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

/* It left, and what it said is no longer true. */
static bool is_undone(const struct sa_hold *hold, const struct entry *entry,
		      const struct vendor_mad *request)
{
	return !entry->mad && hold->stands && is_latest(hold, entry) &&
	       !hold->stands(hold->stands_arg, &request->remote, entry->answer);
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
	if ((!entry->mad && entry->deadline_ns <= actor_now(hold->actor)) ||
	    is_undone(hold, entry, request)) {
		/* An entry in passed may be queued behind others whose time is not over yet. */
		forget(hold, is_latest(hold, entry) ? &hold->answered : &hold->passed, entry);
		return false;
	}
	counter_inc(&hold->context->counters, sa_repeated);
	if (entry->mad)
		vendor_mad_free(request);
	else
		mad_reply(hold->mad, request, g_memdup2(entry->answer, IBA_MAD_BYTES),
			  IBA_MAD_BYTES, NULL);
	return true;
}

/* ---- life ---- */

void sa_hold_judge(struct sa_hold *hold,
		   bool (*stands)(void *arg, const struct vendor_address *requester,
				  const uint8_t *answer),
		   void *arg)
{
	hold->stands = stands;
	hold->stands_arg = arg;
}

void sa_hold_clear(struct sa_hold *hold)
{
	g_queue_init(&hold->waiting);
	g_queue_init(&hold->answered);
	g_queue_init(&hold->passed);
	g_hash_table_remove_all(hold->latest);
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
	hold->latest = g_hash_table_new(object_hash, object_equal);
	timer_init(&hold->timer, actor, on_deadline);
	return hold;
}

void sa_hold_free(struct sa_hold *hold)
{
	sa_hold_clear(hold);
	g_hash_table_unref(hold->latest);
	g_hash_table_unref(hold->entries);
	g_free(hold);
}
