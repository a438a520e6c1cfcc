// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Certificates: of this server, and of clients. */
#ifndef WEB_SERVE_TLS_H
#define WEB_SERVE_TLS_H

#include <glib.h>
#include <gnutls/gnutls.h>

/* The texts of PEM files. */
struct tls_files {
	char *cert, *key;
	char *ca; /* that signs certificates of clients; NULL: none are asked for */
};

/*
 * Reads them, and checks that the key is that of the certificate. NULL and error; ca: NULL for
 * none. A certificate that is not valid now is taken, and told.
 */
struct tls_files *tls_read(const char *cert, const char *key, const char *ca, GError **error);
void tls_files_free(struct tls_files *files);

/*
 * The names (struct caller) of the client's certificate: newly allocated, empty if it has sent
 * none. NULL: it has sent one that cannot be trusted; *why is for the log.
 */
char **tls_client_names(gnutls_session_t session, const char **why);

#endif
