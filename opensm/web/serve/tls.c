// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libmicrohttpd asks clients for a certificate but serves those that have none, or a wrong one: it
 * is verified here.
 */
#include "web/serve/tls.h"

#include <gnutls/x509.h>
#include <string.h>
#include <time.h>

#include "web/base/config.h"
#include "web/base/say.h"

#define CHAIN_MAX 16

static bool wrong(GError **error, const char *file, const char *what, int code)
{
	g_set_error(error, CONFIG_ERROR, 0, "%s: expected %s: %s", file, what,
		    gnutls_strerror(code));
	return false;
}

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)text, (unsigned int)strlen(text)};
}

/* With an expired certificate some clients still connect, without a server none. */
static void tell_if_expired(const char *file, const char *pem)
{
	gnutls_x509_crt_t cert[CHAIN_MAX];
	unsigned int n = CHAIN_MAX;
	gnutls_datum_t text = datum(pem);

	if (gnutls_x509_crt_list_import(cert, &n, &text, GNUTLS_X509_FMT_PEM, 0) < 0)
		return;
	if (n && gnutls_x509_crt_get_expiration_time(cert[0]) < time(NULL))
		say(LOG_WARNING, "%s: the certificate has expired", file);
	for (unsigned int i = 0; i < n; i++)
		gnutls_x509_crt_deinit(cert[i]);
}

static bool check(const struct tls_files *files, const char *cert, const char *ca, GError **error)
{
	gnutls_certificate_credentials_t credentials;
	gnutls_datum_t chain = datum(files->cert), key = datum(files->key);
	int code = gnutls_certificate_allocate_credentials(&credentials), n = 1;

	if (code < 0)
		return wrong(error, cert, "a certificate", code);
	code = gnutls_certificate_set_x509_key_mem(credentials, &chain, &key, GNUTLS_X509_FMT_PEM);
	if (code >= 0 && files->ca) {
		gnutls_datum_t trust = datum(files->ca);

		n = gnutls_certificate_set_x509_trust_mem(credentials, &trust, GNUTLS_X509_FMT_PEM);
	}
	gnutls_certificate_free_credentials(credentials);
	if (code < 0)
		return wrong(error, cert, "a certificate in PEM form, and its key in tls_key",
			     code);
	if (n <= 0)
		return wrong(error, ca, "certificates in PEM form", n);
	tell_if_expired(cert, files->cert);
	return true;
}

struct tls_files *tls_read(const char *cert, const char *key, const char *ca, GError **error)
{
	struct tls_files *files = g_new0(struct tls_files, 1);

	if ((files->cert = config_read_file(cert, false, NULL, error)) &&
	    (files->key = config_read_file(key, true, NULL, error)) &&
	    (!ca || (files->ca = config_read_file(ca, false, NULL, error))) &&
	    check(files, cert, ca, error))
		return files;
	tls_files_free(files);
	return NULL;
}

void tls_files_free(struct tls_files *files)
{
	if (!files)
		return;
	if (files->key)
		explicit_bzero(files->key, strlen(files->key));
	g_free(files->key);
	g_free(files->cert);
	g_free(files->ca);
	g_free(files);
}

/* ---- clients ---- */

static void add_name(GPtrArray *names, const gnutls_datum_t *name)
{
	char *text = g_strndup((const char *)name->data, name->size);

	if (g_utf8_validate(text, -1, NULL))
		g_ptr_array_add(names, text);
	else
		g_free(text);
}

static void add_uris(GPtrArray *names, gnutls_x509_crt_t cert)
{
	for (unsigned int i = 0;; i++) {
		char text[1024];
		size_t size = sizeof(text);
		int type = gnutls_x509_crt_get_subject_alt_name(cert, i, text, &size, NULL);

		if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			return;
		if (type == GNUTLS_SAN_URI && !memchr(text, '\0', size))
			add_name(names,
				 &(gnutls_datum_t){(unsigned char *)text, (unsigned int)size});
	}
}

static char **names_of(const gnutls_datum_t *der)
{
	GPtrArray *names = g_ptr_array_new();
	gnutls_datum_t subject = {0};
	gnutls_x509_crt_t cert;

	if (gnutls_x509_crt_init(&cert) >= 0) {
		if (gnutls_x509_crt_import(cert, der, GNUTLS_X509_FMT_DER) >= 0) {
			if (gnutls_x509_crt_get_dn3(cert, &subject, 0) >= 0)
				add_name(names, &subject);
			add_uris(names, cert);
		}
		gnutls_free(subject.data);
		gnutls_x509_crt_deinit(cert);
	}
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(names, FALSE);
}

char **tls_client_names(gnutls_session_t session, const char **why)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	unsigned int n = 0, status = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &n);
	int code;

	if (!chain || !n)
		return g_new0(char *, 1);
	code = gnutls_certificate_verify_peers(session, &purpose, 1, &status);
	if (code >= 0 && !status)
		return names_of(&chain[0]);
	if (code < 0)
		*why = gnutls_strerror(code);
	else if (status & GNUTLS_CERT_EXPIRED)
		*why = "it has expired";
	else if (status & GNUTLS_CERT_PURPOSE_MISMATCH)
		*why = "it is not for clients";
	else
		*why = "tls_ca has not signed it";
	return NULL;
}
