// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GIO speaks TLS by a module (glib-networking), which need not be installed. Handshakes happen as
 * the session reads and writes. Errors here are for who set the options: a console that cannot be
 * had with TLS is not to be had without.
 */
#include "ctl/console_tls.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1u << 20)

struct console_tls {
	GTlsCertificate *certificate;
	GTlsDatabase *clients; /* who vouches for clients; NULL: they need no certificate */
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

/* Of an option that may be unset: a regular file, and one that others may not read if secret. */
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
			    "%s: %s: may be used by others than its owner: expected mode 0600",
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
	       fail(error, "console_tls_cert: GIO's module for TLS (glib-networking) is not there");
}

static bool load_files(struct console_tls *tls, const struct options *options, GError **error)
{
	g_autoptr(GError) trouble = NULL;

	tls->certificate = g_tls_certificate_new_from_files(options->console_tls_cert,
							    options->console_tls_key, &trouble);
	if (!tls->certificate)
		return fail(error, "console_tls_cert: %s with console_tls_key: %s: %s",
			    options->console_tls_cert, options->console_tls_key, trouble->message);
	if (!options->console_tls_ca)
		return true;
	tls->clients = g_tls_file_database_new(options->console_tls_ca, &trouble);
	return tls->clients ||
	       fail(error, "console_tls_ca: %s: %s", options->console_tls_ca, trouble->message);
}

/* What the GIO module reads when it is loaded; who has set it himself knows better. */
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

/* GIO leaves every certificate of a client to this; errors: what the database has against it. */
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
