// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/agent/net-snmp-agent-includes.h>

#include "snmp/loop.h"

struct watched {
	int fd;
	gpointer tag;
};

struct loop {
	GSource source;
	GArray *watched; /* of struct watched: what the library wants to read */
	bool held;
};

/* Watches what the set has, and nothing else. */
static void watch(struct loop *loop, const fd_set *fds, int n)
{
	fd_set missing = *fds;

	for (guint i = loop->watched->len; i--;) {
		struct watched watched = g_array_index(loop->watched, struct watched, i);

		if (watched.fd < n && FD_ISSET(watched.fd, fds)) {
			FD_CLR(watched.fd, &missing);
			continue;
		}
		g_source_remove_unix_fd(&loop->source, watched.tag);
		g_array_remove_index_fast(loop->watched, i);
	}
	for (int fd = 0; fd < n; fd++) {
		struct watched watched = {.fd = fd};

		if (!FD_ISSET(fd, &missing))
			continue;
		watched.tag =
			g_source_add_unix_fd(&loop->source, fd, G_IO_IN | G_IO_HUP | G_IO_ERR);
		g_array_append_val(loop->watched, watched);
	}
}

static gboolean prepare(GSource *source, int *timeout)
{
	struct timeval wait = {0};
	fd_set fds;
	int n = 0, block = 1;

	FD_ZERO(&fds);
	if (!((struct loop *)source)->held)
		snmp_select_info(&n, &fds, &wait, &block);
	watch((struct loop *)source, &fds, n);
	*timeout = block ? -1 : (int)(wait.tv_sec * 1000 + (wait.tv_usec + 999) / 1000);
	return *timeout == 0;
}

static gboolean check(GSource *source)
{
	const struct loop *loop = (struct loop *)source;
	struct timeval wait = {0};
	fd_set fds;
	int n = 0, block = 1;

	if (loop->held)
		return FALSE;
	for (guint i = 0; i < loop->watched->len; i++)
		if (g_source_query_unix_fd(source,
					   g_array_index(loop->watched, struct watched, i).tag))
			return TRUE;
	FD_ZERO(&fds);
	snmp_select_info(&n, &fds, &wait, &block);
	return !block && !wait.tv_sec && !wait.tv_usec;
}

static gboolean dispatch(GSource *source, GSourceFunc run, gpointer data)
{
	const struct loop *loop = (struct loop *)source;
	fd_set ready;

	(void)run, (void)data;
	if (loop->held)
		return G_SOURCE_CONTINUE;
	g_source_set_ready_time(source, -1);
	FD_ZERO(&ready);
	for (guint i = 0; i < loop->watched->len; i++) {
		const struct watched *watched = &g_array_index(loop->watched, struct watched, i);

		if (g_source_query_unix_fd(source, watched->tag))
			FD_SET(watched->fd, &ready);
	}
	snmp_read(&ready);
	snmp_timeout();
	run_alarms();
	netsnmp_check_outstanding_agent_requests();
	return G_SOURCE_CONTINUE;
}

static void finalize(GSource *source)
{
	g_array_unref(((struct loop *)source)->watched);
}

static const GSourceFuncs functions = {prepare, check, dispatch, finalize};

GSource *loop_new(void)
{
	GSource *source = g_source_new((GSourceFuncs *)&functions, sizeof(struct loop));

	((struct loop *)source)->watched = g_array_new(FALSE, FALSE, sizeof(struct watched));
	/* loop_hold() is for that. Without this GLib wakes the loop twice for each descriptor at
	 * each turn.
	 */
	g_source_set_can_recurse(source, TRUE);
	g_source_attach(source, NULL);
	return source;
}

void loop_free(GSource *loop)
{
	g_source_destroy(loop);
	g_source_unref(loop);
}

void loop_hold(GSource *loop, bool held)
{
	((struct loop *)loop)->held = held;
}

void loop_wake(GSource *loop)
{
	g_source_set_ready_time(loop, 0);
}
