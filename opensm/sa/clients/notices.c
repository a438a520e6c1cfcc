// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See notices.h. A sequence by serial, a table of its notices, and the origins by number of
 * notices, so that the origin with the most is found at once.
 */
#include "sa/clients/notices.h"

#include <string.h>

#include "complib/hash.h"

#define ROOM_OF_PORTS 131072 /* more than two for each LID of a subnet */
#define ROOM_OF_OTHERS 16384

/* A port with notices in a log. */
struct sa_origin {
	uint64_t guid;	       /* must be first: the key */
	GQueue all;	       /* struct sa_notice, oldest first, without the gap */
	struct sa_notice *gap; /* NULL: nothing was dropped */
	GList link;	       /* in by_count */
};

struct log {
	GSequence *all;	     /* struct sa_notice, counted, by serial */
	GHashTable *by_key;  /* those that are not gaps */
	GHashTable *origins; /* struct sa_origin, owned, by GUID */
	/*
	 * struct sa_origin by number of notices without the gap; those longest at that number
	 * first.
	 */
	GQueue by_count[SA_NOTICES_OF_ORIGIN + 2];
	unsigned int most; /* the maximum of any origin */
	uint64_t last;	   /* serial of the last notice */
};

struct sa_notices {
	uint64_t serial; /* of the last notice of any kind */
	struct log logs[SA_NOTICE_KINDS];
};

/* ---- one notice ---- */

struct sa_notice *sa_notice_ref(struct sa_notice *notice)
{
	notice->refs++;
	return notice;
}

void sa_notice_unref(struct sa_notice *notice)
{
	if (notice && !--notice->refs)
		g_free(notice);
}

static void unref(gpointer data)
{
	sa_notice_unref(data);
}

uint64_t sa_notice_origin(const struct sa_notice *notice)
{
	return notice->origin->guid;
}

static guint key_hash(gconstpointer data)
{
	const uint8_t *key = data;
	uint64_t mix = UINT64_C(0xCBF29CE484222325);

	for (unsigned int i = 0; i < iba_sa_notice_bytes; i++)
		mix = (mix ^ key[i]) * UINT64_C(0x100000001B3);
	return (guint)(mix ^ mix >> 32);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, iba_sa_notice_bytes) == 0;
}

/* Everything but the count of how often it was sent. */
static void make_key(const struct iba_sa_notice *told, uint16_t trap_number, uint8_t *key)
{
	struct iba_sa_notice what = *told;

	what.notice.trap_number = trap_number;
	what.notice.notice_toggle = 0;
	what.notice.notice_count = 0;
	memset(key, 0, iba_sa_notice_bytes);
	wire_encode(&iba_sa_notice_type, &what, key);
}

enum sa_notice_kind sa_notice_kind(const struct iba_notice *notice)
{
	uint16_t number = notice->trap_number;

	if (!notice->is_generic)
		return notice->type == IBA_NOTICE_SECURITY ? SA_NOTICES_SECURITY : SA_NOTICES_OTHER;
	if (number == IBA_TRAP_GID_IN_SERVICE || number == IBA_TRAP_GID_OUT_OF_SERVICE)
		return SA_NOTICES_PORTS;
	if (number == IBA_TRAP_MCAST_GROUP_CREATED || number == IBA_TRAP_MCAST_GROUP_DELETED)
		return SA_NOTICES_GROUPS;
	if (notice->type == IBA_NOTICE_SECURITY ||
	    (number >= IBA_TRAP_BAD_M_KEY && number <= IBA_TRAP_SWITCH_BAD_P_KEY))
		return SA_NOTICES_SECURITY;
	return SA_NOTICES_OTHER;
}

/* ---- origins ---- */

static void count_in(struct log *log, struct sa_origin *origin)
{
	log->most = MAX(log->most, origin->all.length);
	g_queue_push_tail_link(&log->by_count[origin->all.length], &origin->link);
}

static void count_out(struct log *log, struct sa_origin *origin)
{
	g_queue_unlink(&log->by_count[origin->all.length], &origin->link);
}

static struct sa_origin *origin_of(struct log *log, uint64_t guid)
{
	struct sa_origin *origin = g_hash_table_lookup(log->origins, &guid);

	if (origin)
		return origin;
	origin = g_new0(struct sa_origin, 1);
	origin->guid = guid;
	origin->link.data = origin;
	g_queue_init(&origin->all);
	g_hash_table_insert(log->origins, &origin->guid, origin);
	count_in(log, origin);
	return origin;
}

static void forget_if_idle(struct log *log, struct sa_origin *origin)
{
	if (origin->all.length || origin->gap)
		return;
	count_out(log, origin);
	g_hash_table_remove(log->origins, &origin->guid);
}

static struct sa_origin *origin_with_most(struct log *log)
{
	while (!log->by_count[log->most].length)
		log->most--;
	return g_queue_peek_head(&log->by_count[log->most]);
}

/* ---- in and out of the log ---- */

static gint by_serial(gconstpointer a, gconstpointer b, gpointer arg)
{
	const struct sa_notice *one = a, *other = b;

	(void)arg;
	return one->serial < other->serial ? -1 : one->serial > other->serial;
}

/* The notice no longer counts; it is freed unless it is referenced. */
static void take_out(struct sa_notice *notice)
{
	GSequenceIter *place = g_steal_pointer(&notice->place);

	g_sequence_remove(place);
}

/* Removes it from its origin's list; the origin stays. */
static void disown(struct log *log, struct sa_notice *notice)
{
	struct sa_origin *origin = notice->origin;

	count_out(log, origin);
	g_queue_unlink(&origin->all, &notice->link);
	count_in(log, origin);
	g_hash_table_remove(log->by_key, notice->key);
}

static void remove_gap(struct sa_origin *origin)
{
	if (origin->gap)
		take_out(g_steal_pointer(&origin->gap));
}

/* It was joined with another, or all have seen it. */
static void remove_notice(struct log *log, struct sa_notice *notice)
{
	struct sa_origin *origin = notice->origin;

	if (notice->is_gap)
		remove_gap(origin);
	else {
		disown(log, notice);
		take_out(notice);
	}
	forget_if_idle(log, origin);
}

/* The oldest of an origin becomes its gap. */
static void drop_oldest(struct log *log, struct sa_origin *origin, bool is_flood)
{
	struct sa_notice *dropped = g_queue_peek_head(&origin->all);
	const struct sa_notice *before = origin->gap;

	disown(log, dropped);
	dropped->is_gap = true;
	dropped->is_flood = is_flood && (!before || before->is_flood);
	dropped->n_dropped = 1 + (before ? before->n_dropped : 0);
	dropped->first_dropped = before ? before->first_dropped : dropped->serial;
	remove_gap(origin);
	origin->gap = dropped;
}

static unsigned int make_room(struct log *log, struct sa_origin *origin, unsigned int room)
{
	unsigned int n = 0;

	for (; origin->all.length > SA_NOTICES_OF_ORIGIN; n++)
		drop_oldest(log, origin, true);
	for (; g_hash_table_size(log->by_key) > room; n++)
		drop_oldest(log, origin_with_most(log), false);
	return n;
}

/* ---- notices about the same object ---- */

static struct sa_notice *find(const struct log *log, const struct iba_sa_notice *told,
			      uint16_t trap_number)
{
	uint8_t key[iba_sa_notice_bytes];

	make_key(told, trap_number, key);
	return g_hash_table_lookup(log->by_key, key);
}

static bool is_arrival(const struct iba_notice *notice)
{
	return notice->trap_number == IBA_TRAP_GID_IN_SERVICE ||
	       notice->trap_number == IBA_TRAP_MCAST_GROUP_CREATED;
}

/* Removes the notices that the new one replaces. */
static void join(struct log *log, const struct sa_notice *notice)
{
	const struct iba_notice *what = &notice->told.notice;
	struct sa_notice *same = find(log, &notice->told, what->trap_number);
	struct sa_notice *undone = NULL;

	if (notice->kind == SA_NOTICES_PORTS || notice->kind == SA_NOTICES_GROUPS)
		undone = is_arrival(what) ? NULL : find(log, &notice->told, what->trap_number - 1);
	if (same)
		remove_notice(log, same);
	if (undone)
		remove_notice(log, undone);
}

/* ---- the interface ---- */

unsigned int sa_notices_room(enum sa_notice_kind kind)
{
	return kind == SA_NOTICES_PORTS ? ROOM_OF_PORTS : ROOM_OF_OTHERS;
}

unsigned int sa_notices_add(struct sa_notices *notices, const struct iba_sa_notice *told,
			    struct iba_gid gid, uint64_t origin, const uint16_t *p_keys,
			    uint32_t n_p_keys)
{
	struct sa_notice *notice = g_malloc0(sizeof(*notice) + n_p_keys * sizeof(*p_keys));
	enum sa_notice_kind kind = sa_notice_kind(&told->notice);
	struct log *log = &notices->logs[kind];

	notice->refs = 1;
	notice->kind = kind;
	notice->told = *told;
	notice->gid = gid;
	notice->n_p_keys = n_p_keys;
	if (n_p_keys)
		memcpy(notice->p_keys, p_keys, n_p_keys * sizeof(*p_keys));
	make_key(told, told->notice.trap_number, notice->key);
	join(log, notice);
	notice->serial = log->last = ++notices->serial;
	notice->link.data = notice;
	notice->origin = origin_of(log, origin);
	notice->place = g_sequence_append(log->all, notice);
	g_hash_table_insert(log->by_key, notice->key, notice);
	count_out(log, notice->origin);
	g_queue_push_tail_link(&notice->origin->all, &notice->link);
	count_in(log, notice->origin);
	return make_room(log, notice->origin, sa_notices_room(kind));
}

unsigned int sa_notices_count(const struct sa_notices *notices, enum sa_notice_kind kind)
{
	return (unsigned int)g_sequence_get_length(notices->logs[kind].all);
}

uint64_t sa_notices_last(const struct sa_notices *notices, enum sa_notice_kind kind)
{
	return notices->logs[kind].last;
}

static struct sa_notice *at(GSequenceIter *place)
{
	return g_sequence_iter_is_end(place) ? NULL : g_sequence_get(place);
}

struct sa_notice *sa_notices_after(const struct sa_notices *notices, enum sa_notice_kind kind,
				   uint64_t serial)
{
	struct sa_notice last_seen = {.serial = serial};

	return at(g_sequence_search(notices->logs[kind].all, &last_seen, by_serial, NULL));
}

struct sa_notice *sa_notice_next(const struct sa_notice *notice)
{
	return at(g_sequence_iter_next(notice->place));
}

static struct sa_notice *first_of(const struct log *log)
{
	return at(g_sequence_get_begin_iter(log->all));
}

void sa_notices_forget(struct sa_notices *notices, enum sa_notice_kind kind, uint64_t serial)
{
	struct log *log = &notices->logs[kind];
	struct sa_notice *first;

	while ((first = first_of(log)) && first->serial <= serial)
		remove_notice(log, first);
}

void sa_notices_clear(struct sa_notices *notices)
{
	for (unsigned int kind = 0; kind < SA_NOTICE_KINDS; kind++)
		sa_notices_forget(notices, kind, UINT64_MAX);
}

struct sa_notices *sa_notices_new(void)
{
	struct sa_notices *notices = g_new0(struct sa_notices, 1);

	for (unsigned int kind = 0; kind < SA_NOTICE_KINDS; kind++) {
		struct log *log = &notices->logs[kind];

		log->all = g_sequence_new(unref);
		log->by_key = g_hash_table_new(key_hash, key_equal);
		log->origins = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, g_free);
	}
	return notices;
}

void sa_notices_free(struct sa_notices *notices)
{
	sa_notices_clear(notices);
	for (unsigned int kind = 0; kind < SA_NOTICE_KINDS; kind++) {
		g_sequence_free(notices->logs[kind].all);
		g_hash_table_unref(notices->logs[kind].by_key);
		g_hash_table_unref(notices->logs[kind].origins);
	}
	g_free(notices);
}
