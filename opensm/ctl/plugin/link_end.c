// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/plugin/link_end.h"

#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

#include "client/source.h"

#define READ_AT_ONCE 32 /* messages */
#define PAUSE_TIMES 4	/* what reading took, before the next */

struct link_end {
	int fd;
	GMainContext *loop;
	struct link_end_user user;
	void (*watch)(struct link_end *end); /* watch() */
	GQueue out;			     /* struct outgoing */
	GSource *reader, *writer, *pause;    /* NULL: none */
	bool is_closed, is_told;
	char octets[LINK_MESSAGE_MAX] __attribute__((aligned(8)));
};

struct outgoing {
	struct link_head head;
	int file;
	char octets[];
};

static void drop_outgoing(gpointer arg)
{
	struct outgoing *outgoing = arg;

	if (outgoing->file >= 0)
		close(outgoing->file);
	g_free(outgoing);
}

static void close_end(struct link_end *end)
{
	source_drop(&end->writer);
	source_drop(&end->pause);
	g_queue_clear_full(&end->out, drop_outgoing);
	end->is_closed = true;
}

/* ---- reading ---- */

static bool read_one(struct link_end *end)
{
	int files[LINK_FILES];
	struct link_head head;
	enum link_outcome outcome = link_receive(end->fd, &head, end->octets, files);

	if (outcome == LINK_AGAIN)
		return false;
	if (outcome == LINK_ENDED || !end->user.take(end->user.arg, &head, end->octets, files))
		close_end(end);
	for (unsigned int i = 0; i < LINK_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
	return !end->is_closed;
}

static gboolean on_pause_over(gpointer arg)
{
	struct link_end *end = arg;

	source_drop(&end->pause);
	end->watch(end);
	return G_SOURCE_REMOVE;
}

static void pause_for(struct link_end *end, gint64 us)
{
	source_drop(&end->reader);
	source_drop(&end->pause);
	end->pause = g_timeout_source_new((guint)(us / 1000 + 1));
	g_source_set_callback(end->pause, on_pause_over, end, NULL);
	g_source_attach(end->pause, end->loop);
}

/* The other end is known to be closed, or is treated so; the user hears it once, from the loop. */
static gboolean on_readable(gint fd, GIOCondition condition, gpointer arg)
{
	struct link_end *end = arg;
	gint64 began_us = g_get_monotonic_time();
	unsigned int n = 0;

	(void)fd;
	(void)condition;
	while (!end->is_closed && n < READ_AT_ONCE && read_one(end))
		n++;
	if (end->is_closed) {
		source_drop(&end->reader);
		if (!end->is_told) {
			end->is_told = true;
			end->user.ended(end->user.arg);
		}
	} else if (n == READ_AT_ONCE) {
		pause_for(end, PAUSE_TIMES * (g_get_monotonic_time() - began_us));
	}
	return G_SOURCE_CONTINUE;
}

static void watch(struct link_end *end)
{
	if (end->reader || end->pause)
		return;
	end->reader = g_unix_fd_source_new(end->fd, G_IO_IN | G_IO_HUP | G_IO_ERR);
	g_source_set_callback(end->reader, G_SOURCE_FUNC(on_readable), end, NULL);
	g_source_attach(end->reader, end->loop);
}

/* ---- writing ---- */

static void write_all(struct link_end *end)
{
	struct outgoing *outgoing;

	while ((outgoing = g_queue_peek_head(&end->out))) {
		if (link_send(end->fd, &outgoing->head, outgoing->octets, &outgoing->file) ==
		    LINK_AGAIN)
			return;
		/* If the other end is closed, the reader finds out. */
		drop_outgoing(g_queue_pop_head(&end->out));
	}
}

static gboolean on_writable(gint fd, GIOCondition condition, gpointer arg)
{
	struct link_end *end = arg;

	(void)fd;
	(void)condition;
	write_all(end);
	if (!g_queue_is_empty(&end->out))
		return G_SOURCE_CONTINUE;
	source_drop(&end->writer);
	end->user.clear(end->user.arg);
	return G_SOURCE_REMOVE;
}

void link_end_send(struct link_end *end, const struct link_head *head, const void *octets, int file)
{
	struct outgoing *outgoing = g_malloc(sizeof(*outgoing) + head->length);

	outgoing->head = *head;
	outgoing->head.n_files = file >= 0;
	outgoing->file = file;
	if (head->length)
		memcpy(outgoing->octets, octets, head->length);
	if (end->is_closed) {
		drop_outgoing(outgoing);
		return;
	}
	g_queue_push_tail(&end->out, outgoing);
	if (end->writer)
		return;
	write_all(end);
	if (g_queue_is_empty(&end->out))
		return;
	end->writer = g_unix_fd_source_new(end->fd, G_IO_OUT | G_IO_HUP | G_IO_ERR);
	g_source_set_callback(end->writer, G_SOURCE_FUNC(on_writable), end, NULL);
	g_source_attach(end->writer, end->loop);
}

bool link_end_is_clear(const struct link_end *end)
{
	return !end->out.length;
}

/* ---- without the loop ---- */

void link_end_work(struct link_end *end, int timeout_ms)
{
	if (end->is_closed)
		return;
	write_all(end);
	if (link_wait(end->fd, false, timeout_ms))
		on_readable(end->fd, G_IO_IN, end);
}

/* ---- life ---- */

struct link_end *link_end_new(int fd, GMainContext *loop, const struct link_end_user *user)
{
	struct link_end *end = g_new0(struct link_end, 1);

	end->fd = fd;
	end->loop = loop;
	end->user = *user;
	end->watch = watch;
	g_queue_init(&end->out);
	watch(end);
	return end;
}

void link_end_free(struct link_end *end)
{
	if (!end)
		return;
	close_end(end);
	source_drop(&end->reader);
	close(end->fd);
	g_free(end);
}
