// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queues of sources that take turns: see admission.h. For each admitted MAD a token goes to the
 * client's actor; which MAD it stands for is decided when the token's turn comes.
 *
 * All fields are under the lock. The object lives as long as any admitted MAD.
 */
#include "admission.h"

#include <pthread.h>

#include "vendor/vendor_private.h"

#define WINDOW (100 * NS_PER_MS)
#define QUOTA_MAX 12800 /* requests of a source in a window: practically no quota */
#define QUOTA_MIN 50
#define ALONE_NS (60 * NS_PER_S) /* since another source asked: then this one is alone */

struct source {
	GQueue waiting;	    /* struct vendor_mad */
	unsigned int taken; /* of its share: waiting or being served */
};

struct admission {
	struct vendor_client client;
	struct vendor_shares shares;
	pthread_mutex_t lock;
	GHashTable *sources; /* by LID: sources with requests taken */
	GQueue turns;	     /* sources with waiting requests, next one first */
	unsigned int taken;
	bool closed;
	unsigned int quota;	/* of a source in this window */
	uint64_t window_end_ns; /* on the clock of the client's actor */
	GHashTable *counts;	/* by LID: requests in this window, if there is a quota */
	uint16_t last_lid;	/* of the last request; 0: none yet */
	uint64_t shared_until;	/* after this time the source is alone */
};

struct token {
	struct message message;
	struct admission *admission;
};

struct admission *admission_new(const struct vendor_client *client,
				const struct vendor_shares *shares)
{
	struct admission *admission = g_new0(struct admission, 1);

	admission->client = *client;
	admission->shares = *shares;
	pthread_mutex_init(&admission->lock, NULL);
	g_queue_init(&admission->turns);
	admission->sources = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	admission->counts = g_hash_table_new(NULL, NULL);
	admission->quota = QUOTA_MAX;
	return admission;
}

static void admission_free(struct admission *admission)
{
	g_hash_table_unref(admission->sources);
	g_hash_table_unref(admission->counts);
	pthread_mutex_destroy(&admission->lock);
	g_free(admission);
}

/* Unlocks, and frees the object if it is not used any more. */
static void unlock(struct admission *admission)
{
	bool last = admission->closed && !admission->taken;

	pthread_mutex_unlock(&admission->lock);
	if (last)
		admission_free(admission);
}

void admission_close(struct admission *admission)
{
	if (!admission)
		return;
	pthread_mutex_lock(&admission->lock);
	admission->closed = true;
	unlock(admission);
}

/* The oldest MAD of the source whose turn it is. */
static struct vendor_mad *next_mad(struct admission *admission)
{
	struct source *source;
	struct vendor_mad *mad;

	pthread_mutex_lock(&admission->lock);
	source = g_queue_pop_head(&admission->turns);
	mad = g_queue_pop_head(&source->waiting);
	if (source->waiting.length)
		g_queue_push_tail(&admission->turns, source);
	pthread_mutex_unlock(&admission->lock);
	return mad;
}

/* ---- in ---- */

static void token_run(struct message *message)
{
	struct admission *admission = ((struct token *)message)->admission;
	struct vendor_client client = admission->client;
	struct vendor_mad *mad = next_mad(admission);

	g_free(message);
	client.receive(client.arg, mad);
}

/* The actor has ended. */
static void token_drop(struct message *message)
{
	struct admission *admission = ((struct token *)message)->admission;

	g_free(message);
	vendor_mad_free(next_mad(admission));
}

static void next_window(struct admission *admission, uint64_t now_ns, bool pressed)
{
	admission->window_end_ns = now_ns + WINDOW;
	admission->quota = pressed ? MAX(admission->quota / 2, QUOTA_MIN)
				   : MIN(admission->quota * 2, QUOTA_MAX);
	g_hash_table_remove_all(admission->counts);
}

/* Under the lock. */
static void note_source(struct admission *admission, uint16_t lid)
{
	if (lid == admission->last_lid)
		return;
	if (admission->last_lid)
		admission->shared_until = actor_now(admission->client.actor) + ALONE_NS;
	admission->last_lid = lid;
}

/*
 * Under the lock. While the receiver cannot keep up, it limits all sources: each window halves the
 * quota of a source, so that time is left for reading; afterwards the quota doubles again. A source
 * that is alone gets all it asks for: it may send little, and on a busy machine the receiver always
 * has something to read.
 */
static bool is_over_quota(struct admission *admission, const struct vendor_mad *mad)
{
	bool pressed = atomic_load_explicit(&mad->vendor->pressed, memory_order_relaxed);
	void *lid = GUINT_TO_POINTER((guint)mad->remote.lid);
	uint64_t now_ns;
	guint count;

	if (!pressed && admission->quota == QUOTA_MAX)
		return false;
	now_ns = actor_now(admission->client.actor);
	if (now_ns >= admission->window_end_ns)
		next_window(admission, now_ns, pressed);
	count = GPOINTER_TO_UINT(g_hash_table_lookup(admission->counts, lid));
	if (count >= admission->quota)
		return now_ns < admission->shared_until;
	g_hash_table_insert(admission->counts, lid, GUINT_TO_POINTER(count + 1));
	return false;
}

/*
 * Under the lock; NULL: the source has its full share, or as much as is left for others. So even if
 * many sources take much, something is left for a source that asks for little.
 */
static struct source *source_with_room(struct admission *admission, uint16_t lid)
{
	struct source *source =
		g_hash_table_lookup(admission->sources, GUINT_TO_POINTER((guint)lid));
	unsigned int left = admission->shares.total - admission->taken;

	if (admission->closed || !left)
		return NULL;
	if (source)
		return source->taken < MIN(admission->shares.source, left) ? source : NULL;
	source = g_new0(struct source, 1);
	g_queue_init(&source->waiting);
	g_hash_table_insert(admission->sources, GUINT_TO_POINTER((guint)lid), source);
	return source;
}

bool admission_enter(struct admission *admission, struct vendor_mad *mad)
{
	struct source *source = NULL;

	pthread_mutex_lock(&admission->lock);
	note_source(admission, mad->remote.lid);
	if (!is_over_quota(admission, mad))
		source = source_with_room(admission, mad->remote.lid);
	if (source) {
		source->taken++;
		admission->taken++;
		mad->admission = admission;
	}
	pthread_mutex_unlock(&admission->lock);
	if (!source && admission->shares.refused)
		admission->shares.refused(admission->shares.arg, mad);
	return source != NULL;
}

void admission_queue(struct vendor_mad *mad)
{
	struct admission *admission = mad->admission;
	struct token *token = g_new0(struct token, 1);
	struct source *source;

	mad->admitted_ns = actor_now(admission->client.actor);
	pthread_mutex_lock(&admission->lock);
	source = g_hash_table_lookup(admission->sources, GUINT_TO_POINTER((guint)mad->remote.lid));
	if (!source->waiting.length)
		g_queue_push_tail(&admission->turns, source);
	g_queue_push_tail(&source->waiting, mad);
	pthread_mutex_unlock(&admission->lock);
	token->message.run = token_run;
	token->message.drop = token_drop;
	token->admission = admission;
	actor_post(admission->client.actor, &token->message);
}

void admission_dropped(struct admission *admission, enum vendor_dropped what)
{
	if (admission->shares.dropped)
		admission->shares.dropped(admission->shares.arg, what);
}

/* ---- out ---- */

void admission_leave(struct admission *admission, uint16_t lid)
{
	struct source *source;

	pthread_mutex_lock(&admission->lock);
	source = g_hash_table_lookup(admission->sources, GUINT_TO_POINTER((guint)lid));
	admission->taken--;
	if (!--source->taken)
		g_hash_table_remove(admission->sources, GUINT_TO_POINTER((guint)lid));
	unlock(admission);
}
