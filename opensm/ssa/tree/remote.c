// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/remote.h"

#include <stdarg.h>
#include <string.h>

#include "ssa/store/connect.h"

#define TIMEOUT_MS 2000u
#define WORDS_MAX 16

struct ssa_remote {
	struct ssa_redis server;
	struct resp_link *link;
	unsigned int timeout_ms;
};

/* Takes over the problem. */
static bool lost(const struct ssa_remote *remote, GError *problem, GError **error)
{
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE, "%s: %s", remote->server.uri,
		    problem ? problem->message : "lost");
	g_clear_error(&problem);
	return false;
}

/* ---- URIs and keys ---- */

char *ssa_remote_key(uint64_t prefix, const char *name, uint64_t guid)
{
	if (guid)
		return g_strdup_printf("opensm:ssa:%016" G_GINT64_MODIFIER
				       "x:%s:%016" G_GINT64_MODIFIER "x",
				       prefix, name, guid);
	return g_strdup_printf("opensm:ssa:%016" G_GINT64_MODIFIER "x:%s", prefix, name);
}

char *ssa_remote_beside(const char *uri, const char *address)
{
	struct ssa_redis server;
	bool good = ssa_redis_parse(&server, uri, NULL);
	char *beside = g_strdup_printf("%s://%s%s%s", server.server.tls ? "rediss" : "redis",
				       good && server.user ? server.user : "",
				       good && server.user ? "@" : "", address);

	ssa_redis_clear(&server);
	return beside;
}

char *ssa_remote_address(const char *uri)
{
	struct ssa_redis redis;
	const struct resp_server *server = &redis.server;
	char *address = NULL;

	if (ssa_redis_parse(&redis, uri, NULL))
		address = g_strdup_printf(strchr(server->host, ':') ? "[%s]:%u" : "%s:%u",
					  server->host, server->port);
	ssa_redis_clear(&redis);
	return address;
}

/* ---- opening ---- */

static int64_t deadline(const struct ssa_remote *remote)
{
	return g_get_monotonic_time() + remote->timeout_ms * INT64_C(1000);
}

struct ssa_remote *ssa_remote_open_until(const char *uri, const struct ssa_store_options *options,
					 int cancel_fd, GError **error)
{
	struct ssa_remote *remote = g_new0(struct ssa_remote, 1);

	remote->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
	if (ssa_redis_open(&remote->server, uri, options, error))
		remote->link =
			ssa_redis_connect(&remote->server, cancel_fd, deadline(remote), error);
	if (remote->link)
		return remote;
	ssa_remote_close(remote);
	return NULL;
}

struct ssa_remote *ssa_remote_open(const char *uri, const struct ssa_store_options *options,
				   GError **error)
{
	return ssa_remote_open_until(uri, options, -1, error);
}

void ssa_remote_close(struct ssa_remote *remote)
{
	if (!remote)
		return;
	resp_close(remote->link);
	ssa_redis_clear(&remote->server);
	g_free(remote);
}

const char *ssa_remote_uri(const struct ssa_remote *remote)
{
	return remote->server.uri;
}

/* ---- commands ---- */

static struct resp_reply *ask(struct ssa_remote *remote, unsigned int n, const char *const *words,
			      GError **error)
{
	int64_t until = deadline(remote);
	GError *problem = NULL;
	struct resp_reply *reply = NULL;

	resp_add(remote->link, n, words, NULL);
	if (resp_send(remote->link, until, &problem))
		reply = resp_read(remote->link, until, &problem);
	if (!reply) {
		lost(remote, problem, error);
		return NULL;
	}
	if (reply->kind != RESP_ERROR)
		return reply;
	ssa_redis_refused(remote->server.uri, NULL, reply->text, error);
	resp_reply_free(reply);
	return NULL;
}

static struct resp_reply *ask_list(struct ssa_remote *remote, GError **error, va_list arguments)
{
	const char *words[WORDS_MAX];
	unsigned int n = 0;

	while (n < WORDS_MAX && (words[n] = va_arg(arguments, const char *)))
		n++;
	return ask(remote, n, words, error);
}

struct resp_reply *ssa_remote_ask(struct ssa_remote *remote, GError **error, ...)
{
	struct resp_reply *reply;
	va_list arguments;

	va_start(arguments, error);
	reply = ask_list(remote, error, arguments);
	va_end(arguments);
	return reply;
}

bool ssa_remote_order(struct ssa_remote *remote, enum resp_kind kind, GError **error, ...)
{
	struct resp_reply *reply;
	va_list arguments;
	bool good;

	va_start(arguments, error);
	reply = ask_list(remote, error, arguments);
	va_end(arguments);
	good = reply && reply->kind == kind;
	if (reply && !good)
		ssa_redis_broken(remote->server.uri, NULL, error);
	resp_reply_free(reply);
	return good;
}

char *ssa_remote_get(struct ssa_remote *remote, const char *key, GError **error)
{
	struct resp_reply *reply = ssa_remote_ask(remote, error, "GET", key, NULL);
	char *text = NULL;

	if (reply && reply->kind == RESP_TEXT)
		text = g_steal_pointer(&reply->text);
	else if (reply && reply->kind != RESP_NIL)
		ssa_redis_broken(remote->server.uri, NULL, error);
	resp_reply_free(reply);
	return text;
}

bool ssa_remote_set(struct ssa_remote *remote, const char *key, const char *text,
		    unsigned int seconds, GError **error)
{
	g_autofree char *number = g_strdup_printf("%u", seconds);

	if (seconds)
		return ssa_remote_order(remote, RESP_STATUS, error, "SET", key, text, "EX", number,
					NULL);
	return ssa_remote_order(remote, RESP_STATUS, error, "SET", key, text, NULL);
}

bool ssa_remote_publish(struct ssa_remote *remote, const char *channel, const char *text,
			int64_t *listeners, GError **error)
{
	struct resp_reply *reply = ssa_remote_ask(remote, error, "PUBLISH", channel, text, NULL);
	bool good = reply && reply->kind == RESP_NUMBER;

	if (good)
		*listeners = reply->number;
	else if (reply)
		ssa_redis_broken(remote->server.uri, NULL, error);
	resp_reply_free(reply);
	return good;
}

bool ssa_remote_wait(struct ssa_remote *remote, unsigned int ms, struct resp_reply **reply,
		     GError **error)
{
	GError *problem = NULL;

	*reply = NULL;
	if (!resp_has_more(remote->link) &&
	    !resp_wait(remote->link, g_get_monotonic_time() + ms * INT64_C(1000), &problem))
		return !problem || lost(remote, problem, error);
	*reply = resp_read(remote->link, deadline(remote), &problem);
	return *reply || lost(remote, problem, error);
}
