// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A store in a Redis server. PREFIX is that of the subnet, 16 hex digits:
 *
 *    opensm:ssa:PREFIX:c:NAME     a chunk
 *    opensm:ssa:PREFIX:manifest
 *    opensm:ssa:PREFIX:epoch      "TERM EPOCH"; also the channel on which that is published
 *    opensm:ssa:PREFIX:kept       for the writer: which chunks are not used any more (kept.h)
 *
 * Chunks are collected and sent together, after their names are in "kept": so none is forgotten if
 * the writer dies before a manifest uses it. Manifest, epoch and the removal of old chunks are one
 * transaction, which replicas apply as a whole, and which fails if another writer has published
 * since the epoch was looked at.
 *
 * Any error ends the connection, so no reply is ever taken for that of another command.
 */
#include <string.h>

#include "ssa/store/connect.h"
#include "ssa/store/kept.h"
#include "ssa/store/store_private.h"
#include "ssa/wire/alive.h"

#define BATCH_OCTETS (1u << 20)
#define BATCH_CHUNKS 512u
#define GETS 16u /* whose replies are on their way at once */

struct chunk {
	char name[SSA_NAME_LENGTH + 1];
	GBytes *frame;
};

struct redis_store {
	struct ssa_store store; /* first */
	struct ssa_redis server;
	struct resp_link *link;	    /* NULL: not connected */
	struct resp_link *listener; /* subscribed; NULL: not connected */
	GArray *batch;		    /* of struct chunk: not sent yet */
	size_t batch_octets;
	struct ssa_kept *kept; /* as the server has it; NULL: not read */
};

/* ---- errors ---- */

static void hang_up(struct redis_store *redis, struct resp_link **link)
{
	g_clear_pointer(link, resp_close);
	if (link == &redis->link)
		g_clear_pointer(&redis->kept, ssa_kept_free);
}

/* False: the link is closed. Takes over what resp.h says. */
static bool lost(struct redis_store *redis, struct resp_link **link, GError *problem,
		 GError **error)
{
	hang_up(redis, link);
	ssa_store_error(&redis->store, error, SSA_STORE_ERROR_GONE, "%s", problem->message);
	g_error_free(problem);
	return false;
}

/* The server has said that it does not do it. */
static bool refused(struct redis_store *redis, struct resp_link **link, const char *what,
		    const char *text, GError **error)
{
	hang_up(redis, link);
	ssa_redis_refused(redis->server.uri, what, text, error);
	return false;
}

/* The server has said what none says that keeps to the protocol. */
static bool not_redis(struct redis_store *redis, struct resp_link **link, const char *what,
		      GError **error)
{
	hang_up(redis, link);
	ssa_redis_broken(redis->server.uri, what, error);
	return false;
}

/* ---- commands and replies ---- */

static char *key_of(const struct redis_store *redis, const char *kind, const char *name)
{
	return g_strdup_printf("opensm:ssa:%016" G_GINT64_MODIFIER "x:%s%s", redis->store.prefix,
			       kind, name);
}

static int64_t deadline_in(unsigned int ms)
{
	return g_get_monotonic_time() + ms * INT64_C(1000);
}

static int64_t deadline_of(const struct redis_store *redis)
{
	return deadline_in(redis->store.timeout_ms);
}

/* A command with one key. */
static void add_key(const struct redis_store *redis, struct resp_link *link, const char *command,
		    const char *kind, const char *name)
{
	g_autofree char *key = key_of(redis, kind, name);

	resp_add(link, 2, (const char *const[]){command, key}, NULL);
}

/* SET or PUBLISH. */
static void add_value(const struct redis_store *redis, const char *command, const char *kind,
		      const char *name, const void *octets, size_t length)
{
	g_autofree char *key = key_of(redis, kind, name);

	resp_add(redis->link, 3, (const char *const[]){command, key, octets},
		 (const size_t[]){strlen(command), strlen(key), length});
}

/* A command with the keys of several chunks. */
static void add_chunks(const struct redis_store *redis, const char *command,
		       const char *const *names, unsigned int n)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(words, g_strdup(command));
	for (unsigned int i = 0; i < n; i++)
		g_ptr_array_add(words, key_of(redis, "c:", names[i]));
	resp_add(redis->link, words->len, (const char *const *)words->pdata, NULL);
}

/* The next reply, which has to be of that kind, or nothing where nil is allowed. */
static struct resp_reply *read_reply(struct redis_store *redis, struct resp_link **link,
				     const char *what, enum resp_kind kind, bool nil,
				     int64_t deadline_us, GError **error)
{
	GError *problem = NULL;
	struct resp_reply *reply = resp_read(*link, deadline_us, &problem);

	if (!reply) {
		lost(redis, link, problem, error);
		return NULL;
	}
	if (reply->kind == kind || (nil && reply->kind == RESP_NIL))
		return reply;
	if (reply->kind == RESP_ERROR)
		refused(redis, link, what, reply->text, error);
	else
		not_redis(redis, link, what, error);
	resp_reply_free(reply);
	return NULL;
}

/* Whether the next reply is that status. */
static bool read_status(struct redis_store *redis, struct resp_link **link, const char *what,
			const char *status, int64_t deadline_us, GError **error)
{
	struct resp_reply *reply =
		read_reply(redis, link, what, RESP_STATUS, false, deadline_us, error);
	bool same = reply && !strcmp(reply->text, status);

	if (reply && !same)
		not_redis(redis, link, what, error);
	resp_reply_free(reply);
	return same;
}

static bool read_number(struct redis_store *redis, const char *what, int64_t *number,
			int64_t deadline_us, GError **error)
{
	struct resp_reply *reply =
		read_reply(redis, &redis->link, what, RESP_NUMBER, false, deadline_us, error);

	if (!reply)
		return false;
	*number = reply->number;
	resp_reply_free(reply);
	return true;
}

/* Octets, at most max; *bytes is NULL if the key is absent. */
static bool read_bytes(struct redis_store *redis, const char *what, size_t max, GBytes **bytes,
		       int64_t deadline_us, GError **error)
{
	struct resp_reply *reply =
		read_reply(redis, &redis->link, what, RESP_TEXT, true, deadline_us, error);
	bool fits = reply && reply->length <= max;

	*bytes = NULL;
	if (fits && reply->kind == RESP_TEXT)
		*bytes = g_bytes_new_take(g_steal_pointer(&reply->text), reply->length);
	if (reply && !fits) {
		hang_up(redis, &redis->link);
		ssa_store_error(&redis->store, error, SSA_STORE_ERROR_GONE,
				"%s has %" G_GSIZE_FORMAT
				" octets, expected at most %" G_GSIZE_FORMAT,
				what, reply->length, max);
	}
	resp_reply_free(reply);
	return fits;
}

static bool send_all(struct redis_store *redis, struct resp_link **link, int64_t deadline_us,
		     GError **error)
{
	GError *problem = NULL;

	return resp_send(*link, deadline_us, &problem) || lost(redis, link, problem, error);
}

/* ---- connecting ---- */

static bool connect_link(struct redis_store *redis, struct resp_link **link, int cancel_fd,
			 int64_t deadline_us, GError **error)
{
	if (!*link)
		*link = ssa_redis_connect(&redis->server, cancel_fd, deadline_us, error);
	return *link != NULL;
}

/* The connection for all but waiting. */
static bool connected(struct redis_store *redis, int64_t deadline_us, GError **error)
{
	return connect_link(redis, &redis->link, -1, deadline_us, error);
}

/* ---- putting ---- */

static int64_t now_s(void)
{
	return g_get_real_time() / G_USEC_PER_SEC;
}

static void take_kept(struct redis_store *redis, GBytes *text)
{
	g_clear_pointer(&redis->kept, ssa_kept_free);
	redis->kept = ssa_kept_parse(text ? g_bytes_get_data(text, NULL) : NULL,
				     text ? g_bytes_get_size(text) : 0, now_s());
}

static bool fetch_kept(struct redis_store *redis, int64_t deadline_us, GError **error)
{
	g_autoptr(GBytes) text = NULL;

	if (redis->kept)
		return true;
	add_key(redis, redis->link, "GET", "kept", "");
	if (!send_all(redis, &redis->link, deadline_us, error) ||
	    !read_bytes(redis, "the list of chunks", SSA_CHUNK_MAX, &text, deadline_us, error))
		return false;
	take_kept(redis, text);
	return true;
}

static void add_kept(const struct redis_store *redis)
{
	g_autofree char *text = ssa_kept_text(redis->kept);

	add_value(redis, "SET", "kept", "", text, strlen(text));
}

static bool send_batch(struct redis_store *redis, int64_t deadline_us, GError **error)
{
	const struct chunk *chunks = (const struct chunk *)(const void *)redis->batch->data;
	unsigned int n = redis->batch->len;

	if (!n)
		return true;
	if (!connected(redis, deadline_us, error) || !fetch_kept(redis, deadline_us, error))
		return false;
	for (unsigned int i = 0; i < n; i++)
		ssa_kept_add(redis->kept, chunks[i].name, now_s());
	add_kept(redis);
	for (unsigned int i = 0; i < n; i++)
		add_value(redis, "SET", "c:", chunks[i].name,
			  g_bytes_get_data(chunks[i].frame, NULL),
			  g_bytes_get_size(chunks[i].frame));
	if (!send_all(redis, &redis->link, deadline_us, error))
		return false;
	for (unsigned int i = 0; i < n + 1; i++)
		if (!read_status(redis, &redis->link, "SET", "OK", deadline_us, error))
			return false;
	return true;
}

static void clear_chunk(void *data)
{
	g_bytes_unref(((struct chunk *)data)->frame);
}

/* What could not be sent is not kept: its user puts it again. */
static bool flush(struct redis_store *redis, int64_t deadline_us, GError **error)
{
	bool sent = send_batch(redis, deadline_us, error);

	g_array_set_size(redis->batch, 0);
	redis->batch_octets = 0;
	return sent;
}

static bool redis_put(struct ssa_store *store, const char *name, GBytes *frame, GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	struct chunk chunk = {.frame = g_bytes_ref(frame)};

	g_strlcpy(chunk.name, name, sizeof(chunk.name));
	g_array_append_val(redis->batch, chunk);
	redis->batch_octets += g_bytes_get_size(frame);
	return (redis->batch_octets < BATCH_OCTETS && redis->batch->len < BATCH_CHUNKS) ||
	       flush(redis, deadline_of(redis), error);
}

/* ---- reading ---- */

static bool redis_has(struct ssa_store *store, const char *const *names, unsigned int n, bool *has,
		      GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	int64_t deadline_us = deadline_of(redis), number;

	if (!flush(redis, deadline_us, error) || !connected(redis, deadline_us, error))
		return false;
	for (unsigned int i = 0; i < n; i++)
		add_key(redis, redis->link, "EXISTS", "c:", names[i]);
	if (!send_all(redis, &redis->link, deadline_us, error))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		if (!read_number(redis, "EXISTS", &number, deadline_us, error))
			return false;
		has[i] = number > 0;
	}
	return true;
}

static bool redis_get_many(struct ssa_store *store, const char *const *names, unsigned int n,
			   GBytes **frames, GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	int64_t deadline_us = deadline_of(redis);
	unsigned int asked = 0;

	if (!flush(redis, deadline_us, error) || !connected(redis, deadline_us, error))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		for (; asked < MIN(n, i + GETS); asked++)
			add_key(redis, redis->link, "GET", "c:", names[asked]);
		if (!send_all(redis, &redis->link, deadline_us, error) ||
		    !read_bytes(redis, names[i], SSA_CHUNK_MAX, &frames[i], deadline_us, error))
			return false;
	}
	return true;
}

static GBytes *redis_manifest(struct ssa_store *store, GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	int64_t deadline_us = deadline_of(redis);
	GBytes *manifest;

	if (!connected(redis, deadline_us, error))
		return NULL;
	add_key(redis, redis->link, "GET", "manifest", "");
	if (!send_all(redis, &redis->link, deadline_us, error) ||
	    !read_bytes(redis, "the manifest", SSA_MANIFEST_MAX, &manifest, deadline_us, error))
		return NULL;
	if (!manifest)
		ssa_store_error(store, error, SSA_STORE_ERROR_ABSENT, "has no manifest yet");
	return manifest;
}

/* ---- the pulse ---- */

static bool redis_set_pulse(struct ssa_store *store, GBytes *text, GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	int64_t deadline_us = deadline_of(redis);

	if (!connected(redis, deadline_us, error))
		return false;
	add_value(redis, "SET", "alive", "", g_bytes_get_data(text, NULL), g_bytes_get_size(text));
	return send_all(redis, &redis->link, deadline_us, error) &&
	       read_status(redis, &redis->link, "the pulse", "OK", deadline_us, error);
}

static GBytes *redis_pulse(struct ssa_store *store, GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	int64_t deadline_us = deadline_of(redis);
	GBytes *text = NULL;

	if (!connected(redis, deadline_us, error))
		return NULL;
	add_key(redis, redis->link, "GET", "alive", "");
	if (send_all(redis, &redis->link, deadline_us, error))
		read_bytes(redis, "the pulse", SSA_ALIVE_MAX, &text, deadline_us, error);
	return text;
}

/* ---- publishing ---- */

/* Whether all chunks of an epoch are there, and it may follow the one that is published. */
static bool check(struct redis_store *redis, const struct ssa_publication *publication, bool *again,
		  int64_t deadline_us, GError **error)
{
	g_autoptr(GBytes) epoch = NULL, kept = NULL;
	g_autofree char *text = NULL;
	int64_t there = 0;

	add_key(redis, redis->link, "WATCH", "epoch", "");
	add_key(redis, redis->link, "GET", "epoch", "");
	add_key(redis, redis->link, "GET", "kept", "");
	if (publication->n)
		add_chunks(redis, "EXISTS", publication->names, publication->n);
	if (!send_all(redis, &redis->link, deadline_us, error) ||
	    !read_status(redis, &redis->link, "WATCH", "OK", deadline_us, error) ||
	    !read_bytes(redis, "the epoch", SSA_MANIFEST_MAX, &epoch, deadline_us, error) ||
	    !read_bytes(redis, "the list of chunks", SSA_CHUNK_MAX, &kept, deadline_us, error) ||
	    (publication->n && !read_number(redis, "EXISTS", &there, deadline_us, error)))
		return false;
	if (epoch)
		text = g_strndup(g_bytes_get_data(epoch, NULL), g_bytes_get_size(epoch));
	if (there != (int64_t)publication->n)
		ssa_store_error(&redis->store, error, SSA_STORE_ERROR_ABSENT,
				"has %" G_GINT64_FORMAT " of the %u chunks that the manifest uses",
				there, publication->n);
	if (there != (int64_t)publication->n ||
	    !ssa_store_may_follow(&redis->store, text, publication, again, error)) {
		hang_up(redis, &redis->link); /* which ends the WATCH, too */
		return false;
	}
	take_kept(redis, kept);
	return true;
}

/* The transaction; *commands is the number of those in it. */
static void add_transaction(struct redis_store *redis, const struct ssa_publication *publication,
			    bool again, unsigned int *commands)
{
	char term[SSA_STORE_TERM_LENGTH + 1];
	g_autoptr(GPtrArray) old = NULL;
	gsize length = 0;
	const void *octets = g_bytes_get_data(publication->manifest, &length);

	ssa_store_write_term(term, publication->term, publication->epoch);
	ssa_kept_publish(redis->kept, publication->names, publication->n, again, now_s());
	old = ssa_kept_take_old(redis->kept, redis->store.keep_s, now_s());
	resp_add(redis->link, 1, (const char *const[]){"MULTI"}, NULL);
	add_value(redis, "SET", "manifest", "", octets, length);
	add_value(redis, "SET", "epoch", "", term, strlen(term));
	add_kept(redis);
	if (old->len)
		add_chunks(redis, "UNLINK", (const char *const *)old->pdata, old->len);
	add_value(redis, "PUBLISH", "epoch", "", term, strlen(term));
	resp_add(redis->link, 1, (const char *const[]){"EXEC"}, NULL);
	*commands = old->len ? 5 : 4;
}

/* What each command of the transaction has given: 3 x "OK", then numbers. */
static bool check_results(struct redis_store *redis, const struct resp_reply *results,
			  unsigned int commands, GError **error)
{
	if (results->kind == RESP_NIL)
		return refused(redis, &redis->link, "EXEC",
			       "another writer has published at the same time", error);
	if (results->n != commands)
		return not_redis(redis, &redis->link, "EXEC", error);
	for (unsigned int i = 0; i < commands; i++) {
		const struct resp_reply *result = results->elements[i];

		if (result->kind == RESP_ERROR)
			return refused(redis, &redis->link, "EXEC", result->text, error);
		if (result->kind != (i < 3 ? RESP_STATUS : RESP_NUMBER))
			return not_redis(redis, &redis->link, "EXEC", error);
	}
	return true;
}

static bool redis_publish(struct ssa_store *store, const struct ssa_publication *publication,
			  GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	int64_t deadline_us = deadline_of(redis);
	struct resp_reply *results;
	unsigned int commands;
	bool published, again;

	if (!flush(redis, deadline_us, error) || !connected(redis, deadline_us, error) ||
	    !check(redis, publication, &again, deadline_us, error))
		return false;
	add_transaction(redis, publication, again, &commands);
	if (!send_all(redis, &redis->link, deadline_us, error) ||
	    !read_status(redis, &redis->link, "MULTI", "OK", deadline_us, error))
		return false;
	for (unsigned int i = 0; i < commands; i++)
		if (!read_status(redis, &redis->link, "publishing", "QUEUED", deadline_us, error))
			return false;
	results = read_reply(redis, &redis->link, "EXEC", RESP_ARRAY, true, deadline_us, error);
	published = results && check_results(redis, results, commands, error);
	resp_reply_free(results);
	g_clear_pointer(&redis->kept, ssa_kept_free);
	return published;
}

/* ---- waiting ---- */

/* The next of what a subscriber is told: ["message", ...] and so on. */
static bool read_told(struct redis_store *redis, const char *what, bool *is_that,
		      int64_t deadline_us, GError **error)
{
	struct resp_reply *told =
		read_reply(redis, &redis->listener, what, RESP_ARRAY, false, deadline_us, error);
	bool is_array = told && told->n >= 2 && told->elements[0]->kind == RESP_TEXT;

	*is_that = is_array && !strcmp(told->elements[0]->text, what);
	if (told && !*is_that && (!is_array || strcmp(told->elements[0]->text, "message") != 0)) {
		is_array = false;
		not_redis(redis, &redis->listener, what, error);
	}
	resp_reply_free(told);
	return is_array;
}

/* Asks, and reads what comes up to the answer. */
static bool listener_asks(struct redis_store *redis, const char *answer, int64_t deadline_us,
			  GError **error)
{
	bool answered = false;

	if (!send_all(redis, &redis->listener, deadline_us, error))
		return false;
	while (!answered)
		if (!read_told(redis, answer, &answered, deadline_us, error))
			return false;
	return true;
}

static bool subscribe(struct redis_store *redis, int64_t deadline_us, GError **error)
{
	if (!connect_link(redis, &redis->listener, redis->store.cancel_fd, deadline_us, error))
		return false;
	add_key(redis, redis->listener, "SUBSCRIBE", "epoch", "");
	return listener_asks(redis, "subscribe", deadline_us, error);
}

/* A connection on which nothing came may be dead: a server that lives answers to PING. */
static bool ping_listener(struct redis_store *redis, int64_t deadline_us, GError **error)
{
	resp_add(redis->listener, 1, (const char *const[]){"PING"}, NULL);
	return listener_asks(redis, "pong", deadline_us, error);
}

static bool listen_for(struct redis_store *redis, unsigned int timeout_ms, GError **error)
{
	int64_t deadline_us = deadline_in(timeout_ms);
	GError *problem = NULL;
	bool is_message;

	if (!resp_wait(redis->listener, deadline_us, &problem)) {
		if (problem)
			return lost(redis, &redis->listener, problem, error);
		return ping_listener(redis, deadline_of(redis), error);
	}
	do {
		if (!read_told(redis, "message", &is_message, deadline_of(redis), error))
			return false;
	} while (resp_has_more(redis->listener));
	return true;
}

static bool redis_wait(struct ssa_store *store, unsigned int timeout_ms, GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	GError *problem = NULL;

	if (redis->listener ? listen_for(redis, timeout_ms, &problem)
			    : subscribe(redis, deadline_of(redis), &problem))
		return true;
	if (ssa_store_forget_cancel(store)) {
		g_error_free(problem);
		return true;
	}
	g_propagate_error(error, problem);
	return false;
}

/* What the listener has been told meanwhile is forgotten: the manifest is read in any case. */
static bool redis_keep(struct ssa_store *store, unsigned int timeout_ms, GError **error)
{
	struct redis_store *redis = (struct redis_store *)store;
	int64_t deadline_us = deadline_in(timeout_ms);

	if (!(redis->listener ? ping_listener(redis, deadline_us, error)
			      : subscribe(redis, deadline_us, error)))
		return false;
	if (!redis->link)
		return connected(redis, deadline_us, error);
	resp_add(redis->link, 1, (const char *const[]){"PING"}, NULL);
	return send_all(redis, &redis->link, deadline_us, error) &&
	       read_status(redis, &redis->link, "PING", "PONG", deadline_us, error);
}

/* ---- opening ---- */

static void redis_close(struct ssa_store *store)
{
	struct redis_store *redis = (struct redis_store *)store;

	hang_up(redis, &redis->link);
	hang_up(redis, &redis->listener);
	g_array_unref(redis->batch);
	ssa_redis_clear(&redis->server);
	g_free(redis);
}

static struct ssa_store *redis_open(const char *uri, const struct ssa_store_options *options,
				    GError **error)
{
	struct redis_store *redis = g_new0(struct redis_store, 1);

	redis->batch = g_array_new(FALSE, FALSE, sizeof(struct chunk));
	g_array_set_clear_func(redis->batch, clear_chunk);
	if (ssa_redis_open(&redis->server, uri, options, error))
		return &redis->store;
	redis_close(&redis->store);
	return NULL;
}

const struct ssa_store_kind ssa_store_redis = {
	.schemes = {"redis", "rediss"},
	.open = redis_open,
	.close = redis_close,
	.has = redis_has,
	.put = redis_put,
	.publish = redis_publish,
	.manifest = redis_manifest,
	.get_many = redis_get_many,
	.set_pulse = redis_set_pulse,
	.pulse = redis_pulse,
	.wait = redis_wait,
	.keep = redis_keep,
};
