// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/fake_daemon.h"

#include <gio/gunixfdmessage.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>

#include "client/control.h"

struct visitor {
	struct fake_daemon *fake;
	GSocket *socket;
	GSource *reader;
	GString *input;
	bool greeted;
};

struct fake_daemon {
	char *directory, *path;
	GSocket *socket;
	GSource *acceptor;
	GPtrArray *visitors;
	unsigned int connections;
	int file; /* 0: none */
	fake_answer_fn *answer;
	void *arg;
};

static void drop(GSource **source)
{
	if (!*source)
		return;
	g_source_destroy(*source);
	g_source_unref(*source);
	*source = NULL;
}

static void visitor_free(gpointer data)
{
	struct visitor *visitor = data;

	drop(&visitor->reader);
	g_object_unref(visitor->socket);
	g_string_free(visitor->input, TRUE);
	g_free(visitor);
}

char *fake_record(unsigned int status, const char *text)
{
	return control_record((enum control_status)status, text, false);
}

static void send_octets(const struct visitor *visitor, const char *octets)
{
	GOutputVector all = {octets, strlen(octets)};
	GSocketControlMessage *files = NULL;

	if (visitor->fake->file && strstr(octets, "\"file\"")) {
		files = g_unix_fd_message_new();
		g_unix_fd_message_append_fd(G_UNIX_FD_MESSAGE(files), visitor->fake->file, NULL);
	}
	g_socket_send_message(visitor->socket, NULL, &all, 1, files ? &files : NULL, files ? 1 : 0,
			      0, NULL, NULL);
	if (files)
		g_object_unref(files);
}

/* False: the connection is to be closed. */
static bool take_line(struct visitor *visitor, const char *line)
{
	bool close = false;
	g_autofree char *octets = NULL;

	if (!visitor->greeted && visitor->fake->answer)
		octets = control_welcome(false);
	else if (visitor->fake->answer)
		octets = visitor->fake->answer(visitor->fake->arg, line, &close);
	visitor->greeted = true;
	if (octets)
		send_octets(visitor, octets);
	return !close;
}

static gboolean on_readable(GSocket *socket, GIOCondition condition, gpointer data)
{
	struct visitor *visitor = data;
	char piece[4096];
	gssize n = g_socket_receive(socket, piece, sizeof(piece), NULL, NULL);
	bool lives = n > 0;
	char *end;

	(void)condition;
	if (lives)
		g_string_append_len(visitor->input, piece, n);
	while (lives && (end = strchr(visitor->input->str, '\n'))) {
		g_autofree char *line =
			g_strndup(visitor->input->str, (gsize)(end - visitor->input->str));

		g_string_erase(visitor->input, 0, end + 1 - visitor->input->str);
		lives = take_line(visitor, line);
	}
	if (!lives)
		g_ptr_array_remove(visitor->fake->visitors, visitor);
	return lives ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static GSource *watch(GSocket *socket, GSocketSourceFunc run, gpointer data)
{
	GSource *source = g_socket_create_source(socket, G_IO_IN, NULL);

	g_source_set_callback(source, G_SOURCE_FUNC(run), data, NULL);
	g_source_attach(source, NULL);
	return source;
}

static gboolean on_visitor(GSocket *socket, GIOCondition condition, gpointer data)
{
	struct fake_daemon *fake = data;
	struct visitor *visitor = g_new0(struct visitor, 1);

	(void)condition;
	visitor->fake = fake;
	visitor->input = g_string_new(NULL);
	visitor->socket = g_socket_accept(socket, NULL, NULL);
	visitor->reader = watch(visitor->socket, on_readable, visitor);
	fake->connections++;
	g_ptr_array_add(fake->visitors, visitor);
	return G_SOURCE_CONTINUE;
}

struct fake_daemon *fake_daemon_new(fake_answer_fn *answer, void *arg)
{
	struct fake_daemon *fake = g_new0(struct fake_daemon, 1);
	g_autoptr(GSocketAddress) address = NULL;

	fake->directory = g_dir_make_tmp("fake-daemon.XXXXXX", NULL);
	fake->path = g_build_filename(fake->directory, "sm.sock", NULL);
	fake->answer = answer;
	fake->arg = arg;
	fake->visitors = g_ptr_array_new_with_free_func(visitor_free);
	address = g_unix_socket_address_new(fake->path);
	fake->socket = g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM,
				    G_SOCKET_PROTOCOL_DEFAULT, NULL);
	if (!g_socket_bind(fake->socket, address, FALSE, NULL) ||
	    !g_socket_listen(fake->socket, NULL))
		g_error("no socket at %s", fake->path);
	fake->acceptor = watch(fake->socket, on_visitor, fake);
	return fake;
}

void fake_daemon_kill(struct fake_daemon *fake)
{
	drop(&fake->acceptor);
	g_clear_object(&fake->socket);
	g_ptr_array_set_size(fake->visitors, 0);
}

void fake_daemon_free(struct fake_daemon *fake)
{
	fake_daemon_kill(fake);
	g_ptr_array_unref(fake->visitors);
	g_unlink(fake->path);
	g_rmdir(fake->directory);
	g_free(fake->path);
	g_free(fake->directory);
	g_free(fake);
}

const char *fake_daemon_path(const struct fake_daemon *fake)
{
	return fake->path;
}

void fake_daemon_set_file(struct fake_daemon *fake, int file)
{
	fake->file = file;
}

unsigned int fake_daemon_connections(const struct fake_daemon *fake)
{
	return fake->connections;
}

static gboolean on_late(gpointer late)
{
	*(bool *)late = true;
	return G_SOURCE_CONTINUE;
}

bool fake_run_until(const bool *done)
{
	bool late = false;
	guint timer = g_timeout_add_seconds(20, on_late, &late);

	while (!*done && !late)
		g_main_context_iteration(NULL, TRUE);
	g_source_remove(timer);
	return *done;
}
