// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GIO needs a module (glib-networking) for TLS, which may not be installed. Handshakes happen as
 * the session reads and writes. Errors here are for the person who set the options: if TLS is
 * configured but not possible, the console is not opened without it.
 */
#include "ctl/console/console_tls.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1u << 20)
#define TRIAL_S 2 /* for a handshake with ourselves */

struct console_tls {
	GTlsCertificate *certificate;
	GTlsDatabase *clients; /* CAs of client certificates; NULL: clients need no certificate */
};

bool console_tls_is_wanted(const struct options *options)
{
	return options->console_tls_cert || options->console_tls_key || options->console_tls_ca;
}

G_GNUC_PRINTF(2, 3)
static bool fail(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(error, g_error_new_valist(G_IO_ERROR, G_IO_ERROR_FAILED, format, args));
	va_end(args);
	return false;
}

/* The file of an option that may be unset: it must be regular, and if secret, private. */
static bool check_file(const char *option, const char *file, bool secret, GError **error)
{
	struct stat about;

	if (!file)
		return true;
	if (stat(file, &about) < 0)
		return fail(error, "%s: %s: %s", option, file, g_strerror(errno));
	if (!S_ISREG(about.st_mode) || about.st_size > FILE_MAX)
		return fail(error, "%s: %s: expected a regular file of at most %u octets", option,
			    file, FILE_MAX);
	if (secret && about.st_uid != geteuid() && about.st_uid != 0)
		return fail(error, "%s: %s: belongs to another user", option, file);
	if (secret && about.st_mode & (S_IRWXG | S_IRWXO))
		return fail(error,
			    "%s: %s: is accessible to other users than its owner: expected mode "
			    "0600",
			    option, file);
	return true;
}

static bool check_options(const struct options *options, GError **error)
{
	if (!check_file("console_tls_cert", options->console_tls_cert, false, error) ||
	    !check_file("console_tls_key", options->console_tls_key, true, error) ||
	    !check_file("console_tls_ca", options->console_tls_ca, false, error))
		return false;
	if (!options->console_tls_cert || !options->console_tls_key)
		return fail(error, "console_tls_cert and console_tls_key belong together, and "
				   "console_tls_ca needs them");
	return g_tls_backend_supports_tls(g_tls_backend_get_default()) ||
	       fail(error, "console_tls_cert: GIO's module for TLS (glib-networking) is not "
			   "installed");
}

/* ---- do certificate and key belong together? ---- */

/* Both ends of a handshake with ourselves. */
struct trial {
	GIOStream *server, *client;
	GCancellable *stop;
	unsigned int running; /* ends still in the handshake */
	GError *trouble;      /* the first error; NULL: none */
};

static GSocketConnection *connection_of(int fd, GError **error)
{
	g_autoptr(GSocket) socket = g_socket_new_from_fd(fd, error);

	if (socket)
		return g_socket_connection_factory_create_connection(socket);
	close(fd);
	return NULL;
}

static gboolean accept_all(GTlsConnection *connection, GTlsCertificate *certificate,
			   GTlsCertificateFlags errors, gpointer arg)
{
	(void)connection, (void)certificate, (void)errors, (void)arg;
	return TRUE;
}

static bool open_trial(struct trial *trial, GTlsCertificate *certificate, GError **error)
{
	g_autoptr(GSocketConnection) near = NULL, far = NULL;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return fail(error, "socketpair: %s", g_strerror(errno));
	near = connection_of(ends[0], error);
	far = connection_of(ends[1], near ? error : NULL);
	if (!near || !far)
		return false;
	trial->server = g_tls_server_connection_new(G_IO_STREAM(near), certificate, error);
	if (trial->server)
		trial->client = g_tls_client_connection_new(G_IO_STREAM(far), NULL, error);
	if (!trial->client)
		return false;
	g_signal_connect(trial->client, "accept-certificate", G_CALLBACK(accept_all), NULL);
	return true;
}

/* If one end fails, the other one need not continue. */
static void on_handshake(GObject *end, GAsyncResult *result, gpointer arg)
{
	struct trial *trial = arg;
	GError *trouble = NULL;

	trial->running--;
	if (g_tls_connection_handshake_finish(G_TLS_CONNECTION(end), result, &trouble))
		return;
	g_cancellable_cancel(trial->stop);
	if (trial->trouble)
		g_error_free(trouble);
	else
		trial->trouble = trouble;
}

static gboolean on_trial_over(gpointer arg)
{
	struct trial *trial = arg;

	g_cancellable_cancel(trial->stop);
	return G_SOURCE_REMOVE;
}

static void run_trial(struct trial *trial)
{
	g_autoptr(GMainContext) loop = g_main_context_new();
	g_autoptr(GSource) over = g_timeout_source_new_seconds(TRIAL_S);
	GIOStream *const ends[] = {trial->server, trial->client};

	g_main_context_push_thread_default(loop);
	g_source_set_callback(over, on_trial_over, trial, NULL);
	g_source_attach(over, loop);
	for (unsigned int i = 0; i < G_N_ELEMENTS(ends); i++, trial->running++)
		g_tls_connection_handshake_async(G_TLS_CONNECTION(ends[i]), G_PRIORITY_DEFAULT,
						 trial->stop, on_handshake, trial);
	while (trial->running)
		g_main_context_iteration(loop, TRUE);
	g_source_destroy(over);
	g_main_context_pop_thread_default(loop);
}

/*
 * GIO accepts any certificate with any key, and has no call that compares them; a handshake does. A
 * handshake that does not end in time, on a busy machine, proves nothing.
 */
static bool check_pair(GTlsCertificate *certificate, GError **error)
{
	struct trial trial = {.stop = g_cancellable_new()};
	bool good = open_trial(&trial, certificate, error);

	if (good)
		run_trial(&trial);
	if (trial.trouble && !g_error_matches(trial.trouble, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
		g_propagate_error(error, g_steal_pointer(&trial.trouble));
		good = false;
	}
	g_clear_error(&trial.trouble);
	g_clear_object(&trial.server);
	g_clear_object(&trial.client);
	g_object_unref(trial.stop);
	return good;
}

static bool load_files(struct console_tls *tls, const struct options *options, GError **error)
{
	g_autoptr(GError) trouble = NULL;

	tls->certificate = g_tls_certificate_new_from_files(options->console_tls_cert,
							    options->console_tls_key, &trouble);
	if (!tls->certificate)
		return fail(error, "console_tls_cert: %s with console_tls_key: %s: %s",
			    options->console_tls_cert, options->console_tls_key, trouble->message);
	if (!check_pair(tls->certificate, &trouble))
		return fail(error, "console_tls_cert: %s and console_tls_key: %s do not belong "
				   "together: %s",
			    options->console_tls_cert, options->console_tls_key, trouble->message);
	if (!options->console_tls_ca)
		return true;
	tls->clients = g_tls_file_database_new(options->console_tls_ca, &trouble);
	return tls->clients ||
	       fail(error, "console_tls_ca: %s: %s", options->console_tls_ca, trouble->message);
}

/* Read by the GIO module when it is loaded; a value set by the user is kept. */
void console_tls_init(void)
{
	g_setenv("G_TLS_GNUTLS_PRIORITY", "NORMAL:%COMPAT:-VERS-TLS1.0:-VERS-TLS1.1", FALSE);
}

struct console_tls *console_tls_new(const struct options *options, GError **error)
{
	struct console_tls *tls = g_new0(struct console_tls, 1);

	if (check_options(options, error) && load_files(tls, options, error))
		return tls;
	console_tls_free(tls);
	return NULL;
}

void console_tls_free(struct console_tls *tls)
{
	if (!tls)
		return;
	g_clear_object(&tls->certificate);
	g_clear_object(&tls->clients);
	g_free(tls);
}

/* GIO leaves the decision about client certificates to this; errors: the database's objections. */
static gboolean on_certificate(GTlsConnection *connection, GTlsCertificate *certificate,
			       GTlsCertificateFlags errors, gpointer arg)
{
	(void)connection;
	(void)certificate;
	(void)arg;
	return errors == 0;
}

GIOStream *console_tls_wrap(const struct console_tls *tls, GSocketConnection *connection,
			    GError **error)
{
	GIOStream *stream =
		g_tls_server_connection_new(G_IO_STREAM(connection), tls->certificate, error);

	if (!stream || !tls->clients)
		return stream;
	g_signal_connect(stream, "accept-certificate", G_CALLBACK(on_certificate), NULL);
	g_tls_connection_set_database(G_TLS_CONNECTION(stream), tls->clients);
	g_object_set(stream, "authentication-mode", G_TLS_AUTHENTICATION_REQUIRED, NULL);
	return stream;
}
