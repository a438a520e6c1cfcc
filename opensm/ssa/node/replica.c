// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/replica.h"

#include <string.h>

#include "ssa/tree/parents.h"
#include "ssa/tree/remote.h"
#include "ssa/tree/thread.h"

#define SLICE_MS 250u	    /* from one look at the server to the next */
#define PING_SLICES 20u	    /* a parent that says nothing is asked whether it lives */
#define PATIENCE_SLICES 40u /* as long the server may take to reach its parent */

struct ssa_replica {
	struct ssa_replica_config config;
	pthread_t thread;
	struct ssa_parents parents;

	/* Of the thread. */
	struct ssa_remote *server, *probe; /* NULL: not connected */
	char *key;			   /* of the epoch */
	char *host, *port;		   /* of the parent */
	char *told;			   /* the epoch that was reported, as the server says it */
	char *history;			   /* the server's history of changes; NULL: not known */
	bool filled;			   /* as a whole, maybe, since the last report */
	unsigned int slices, down;
};

/* ---- the server ---- */

static bool is_line(const char *text, const char *name, const char *value)
{
	g_autofree char *line = g_strdup_printf("\n%s:%s\r", name, value);

	return strstr(text, line) != NULL;
}

/* The value of a line; NULL: there is none. */
static char *value_of(const char *text, const char *name)
{
	g_autofree char *start = g_strdup_printf("\n%s:", name);
	const char *line = strstr(text, start);

	return line ? g_strndup(line + strlen(start), strcspn(line + strlen(start), "\r")) : NULL;
}

/*
 * A server that is filled as a whole, as by a new parent with another history, tells its readers
 * nothing.
 */
static void note_history(struct ssa_replica *replica, const char *text, bool is_up)
{
	char *history = value_of(text, "master_replid");

	if (!is_up || !replica->told || g_strcmp0(history, replica->history) != 0)
		replica->filled = true;
	g_free(replica->history);
	replica->history = history;
}

static bool look_at_server(struct ssa_replica *replica, bool *is_ours, bool *is_up, GError **error)
{
	struct resp_reply *reply =
		ssa_remote_ask(replica->server, error, "INFO", "replication", NULL);
	bool good = reply && reply->kind == RESP_TEXT;

	*is_ours = good && is_line(reply->text, "master_host", replica->host) &&
		   is_line(reply->text, "master_port", replica->port);
	*is_up = *is_ours && is_line(reply->text, "master_link_status", "up");
	if (good)
		note_history(replica, reply->text, *is_up);
	if (reply && !good)
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE,
			    "%s: INFO: the reply is not one that Redis gives",
			    replica->config.server);
	resp_reply_free(reply);
	return good;
}

/* What the server passes on now. Readers are told if the server has not. */
static bool report_epoch(struct ssa_replica *replica, GError **error)
{
	bool filled = replica->filled;
	GError *problem = NULL;
	int64_t readers;
	g_autofree char *text = ssa_remote_get(replica->server, replica->key, &problem);
	g_auto(GStrv) words = NULL;
	guint64 term, epoch;

	if (problem) {
		g_propagate_error(error, problem);
		return false;
	}
	replica->filled = false;
	if (!text || !g_strcmp0(text, replica->told))
		return true;
	if (filled && !ssa_remote_publish(replica->server, replica->key, text, &readers, error))
		return false;
	words = g_strsplit(text, " ", 3);
	if (g_strv_length(words) == 2 &&
	    g_ascii_string_to_unsigned(words[0], 10, 0, G_MAXUINT64, &term, NULL) &&
	    g_ascii_string_to_unsigned(words[1], 10, 0, G_MAXUINT64, &epoch, NULL))
		ssa_report_epoch(replica->config.reporter, term, epoch);
	g_free(replica->told);
	replica->told = g_steal_pointer(&text);
	return true;
}

/* A server that was started again has no parent: it is given back its own. */
static bool keep_server(struct ssa_replica *replica, GError **error)
{
	bool is_ours, is_up;

	if (!replica->server)
		replica->server =
			ssa_remote_open(replica->config.server, &replica->config.own, error);
	if (!replica->server || !look_at_server(replica, &is_ours, &is_up, error))
		return false;
	if (!is_ours && !ssa_remote_order(replica->server, RESP_STATUS, error, "REPLICAOF",
					  replica->host, replica->port, NULL))
		return false;
	replica->down = is_up ? 0 : replica->down + 1;
	return !is_up || report_epoch(replica, error);
}

/* ---- the parent ---- */

static bool find_address(struct ssa_replica *replica, const char *uri, GError **error)
{
	g_autofree char *address = ssa_remote_address(uri);
	char *colon = address ? strrchr(address, ':') : NULL;
	size_t skip = address && *address == '[';

	g_clear_pointer(&replica->host, g_free);
	g_clear_pointer(&replica->port, g_free);
	if (!colon) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI, "%s: not a server", uri);
		return false;
	}
	replica->host = g_strndup(address + skip, (size_t)(colon - address) - 2 * skip);
	replica->port = g_strdup(colon + 1);
	return true;
}

/* Waits a while; false and error if the parent is lost meanwhile. */
static bool watch_parent(struct ssa_replica *replica, GError **error)
{
	struct resp_reply *reply;
	bool good;

	if (++replica->slices % PING_SLICES == 0)
		return ssa_remote_order(replica->probe, RESP_STATUS, error, "PING", NULL);
	good = ssa_remote_wait(replica->probe, SLICE_MS, &reply, error);
	resp_reply_free(reply);
	return good;
}

/* That the own server is away does not speak against the parent. */
static bool follow_parent(struct ssa_replica *replica, GError **error)
{
	while (ssa_parents_go_on(&replica->parents)) {
		GError *own = NULL;

		if (!keep_server(replica, &own)) {
			g_clear_pointer(&replica->server, ssa_remote_close);
			g_clear_pointer(&replica->told, g_free);
			ssa_report_error(replica->config.reporter, own);
			g_error_free(own);
			replica->down = 0;
		} else if (!replica->down) {
			ssa_parents_worked(&replica->parents, replica->config.reporter);
		}
		if (replica->down > PATIENCE_SLICES) {
			g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_REFUSED,
				    "%s: cannot become a replica of %s:%s, which lives: see the "
				    "server's log",
				    replica->config.server, replica->host, replica->port);
			return false;
		}
		if (!watch_parent(replica, error))
			return false;
	}
	return true;
}

static void *run(void *arg)
{
	struct ssa_replica *replica = arg;
	const struct ssa_replica_config *config = &replica->config;
	const char *uri;

	while ((uri = ssa_parents_next(&replica->parents, config->reporter))) {
		GError *error = NULL;
		bool good = find_address(replica, uri, &error);

		replica->down = replica->slices = 0;
		if (good)
			replica->probe = ssa_remote_open(uri, &config->parent, &error);
		good = replica->probe && follow_parent(replica, &error);
		g_clear_pointer(&replica->probe, ssa_remote_close);
		if (!good)
			ssa_parents_failed(&replica->parents, config->reporter, error);
	}
	g_clear_pointer(&replica->server, ssa_remote_close);
	return NULL;
}

/* ---- life ---- */

/* It looks every SLICE_MS in any case. */
static void wake(void *arg)
{
	(void)arg;
}

struct ssa_replica *ssa_replica_start(const struct ssa_replica_config *config)
{
	struct ssa_replica *replica = g_new0(struct ssa_replica, 1);

	replica->config = *config;
	replica->key = ssa_remote_key(config->prefix, "epoch", 0);
	ssa_parents_init(&replica->parents, wake, replica);
	ssa_thread_start(&replica->thread, run, replica);
	return replica;
}

void ssa_replica_parents(struct ssa_replica *replica, const char *primary, const char *backup)
{
	ssa_parents_set(&replica->parents, primary, backup);
}

void ssa_replica_stop(struct ssa_replica *replica)
{
	if (!replica)
		return;
	ssa_parents_stop(&replica->parents);
	pthread_join(replica->thread, NULL);
	ssa_parents_clear(&replica->parents);
	g_free(replica->key);
	g_free(replica->host);
	g_free(replica->port);
	g_free(replica->told);
	g_free(replica->history);
	g_free(replica);
}
