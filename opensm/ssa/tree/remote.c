// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/remote.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "complib/file.h"

#define PORT 6379
#define TIMEOUT_MS 2000u
#define WORDS_MAX 16
#define PASSWORD_MAX 4096
#define SHOWN_MAX 200

struct ssa_remote {
	char *uri, *user, *password; /* NULL: none */
	struct resp_server server;
	struct resp_link *link;
	unsigned int timeout_ms;
};

static bool fail(const struct ssa_remote *remote, GError **error, enum ssa_store_error code,
		 const char *text)
{
	g_autofree char *shown = g_strndup(text, SHOWN_MAX);

	for (char *at = shown; *at; at++)
		if (!g_ascii_isprint(*at))
			*at = '?';
	g_set_error(error, SSA_STORE_ERROR, (int)code, "%s: %s", remote->uri, shown);
	return false;
}

/* Takes over the problem. */
static bool lost(const struct ssa_remote *remote, GError *problem, GError **error)
{
	fail(remote, error, SSA_STORE_ERROR_GONE, problem ? problem->message : "lost");
	g_clear_error(&problem);
	return false;
}

/* ---- URIs and keys ---- */

static bool split(const char *uri, char **scheme, char **user, char **host, int *port,
		  GError **error)
{
	if (g_uri_split_with_user(uri, G_URI_FLAGS_HAS_PASSWORD, scheme, user, NULL, NULL, host,
				  port, NULL, NULL, NULL, NULL) &&
	    *host && **host && *port != 0 && *port <= G_MAXUINT16) {
		if (*port < 0)
			*port = PORT;
		return true;
	}
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI,
		    "%s: expected redis://[USER@]HOST[:PORT], or rediss:// for TLS", uri);
	return false;
}

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
	g_autofree char *scheme = NULL, *user = NULL, *host = NULL;
	int port;

	if (!split(uri, &scheme, &user, &host, &port, NULL))
		return g_strdup_printf("redis://%s", address);
	return g_strdup_printf("%s://%s%s%s", scheme, user ? user : "", user ? "@" : "", address);
}

char *ssa_remote_address(const char *uri)
{
	g_autofree char *scheme = NULL, *user = NULL, *host = NULL;
	int port;

	if (!split(uri, &scheme, &user, &host, &port, NULL))
		return NULL;
	return g_strdup_printf(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
}

/* ---- opening ---- */

static bool read_password(struct ssa_remote *remote, const char *file, GError **error)
{
	char octets[PASSWORD_MAX + 1];
	int fd = file ? file_open_secret(file, error) : -1;
	ssize_t n;

	if (!file)
		return true;
	if (fd < 0)
		return false;
	n = read(fd, octets, PASSWORD_MAX);
	close(fd);
	octets[MAX(n, 0)] = '\0';
	octets[strcspn(octets, "\r\n")] = '\0';
	if (*octets)
		remote->password = g_strdup(octets);
	explicit_bzero(octets, sizeof(octets));
	return remote->password ||
	       fail(remote, error, SSA_STORE_ERROR_URI, "the password file is empty");
}

static bool read_certificates(struct ssa_remote *remote, const struct ssa_store_options *options,
			      GError **error)
{
	GError *problem = NULL;

	if (!remote->server.tls)
		return true;
	if (options->ca_file)
		remote->server.ca = g_tls_file_database_new(options->ca_file, &problem);
	if (!problem && options->cert_file)
		remote->server.certificate = g_tls_certificate_new_from_files(
			options->cert_file, options->key_file, &problem);
	return !problem || lost(remote, problem, error);
}

static bool authenticate(struct ssa_remote *remote, GError **error)
{
	if (!remote->password)
		return true;
	if (remote->user)
		return ssa_remote_order(remote, RESP_STATUS, error, "AUTH", remote->user,
					remote->password, NULL);
	return ssa_remote_order(remote, RESP_STATUS, error, "AUTH", remote->password, NULL);
}

static int64_t deadline(const struct ssa_remote *remote)
{
	return g_get_monotonic_time() + remote->timeout_ms * INT64_C(1000);
}

static bool connect_to(struct ssa_remote *remote, GError **error)
{
	GError *problem = NULL;

	remote->link = resp_connect(&remote->server, -1, deadline(remote), &problem);
	return remote->link || lost(remote, problem, error);
}

struct ssa_remote *ssa_remote_open(const char *uri, const struct ssa_store_options *options,
				   GError **error)
{
	struct ssa_remote *remote = g_new0(struct ssa_remote, 1);
	g_autofree char *scheme = NULL;
	int port = 0;

	remote->uri = g_strdup(uri);
	remote->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
	if (split(uri, &scheme, &remote->user, &remote->server.host, &port, error)) {
		remote->server.port = (uint16_t)port;
		remote->server.tls = !strcmp(scheme, "rediss");
		if (read_password(remote, options->password_file, error) &&
		    read_certificates(remote, options, error) && connect_to(remote, error) &&
		    authenticate(remote, error))
			return remote;
	}
	ssa_remote_close(remote);
	return NULL;
}

void ssa_remote_close(struct ssa_remote *remote)
{
	if (!remote)
		return;
	resp_close(remote->link);
	g_clear_object(&remote->server.ca);
	g_clear_object(&remote->server.certificate);
	g_free(remote->server.host);
	g_free(remote->uri);
	g_free(remote->user);
	if (remote->password)
		explicit_bzero(remote->password, strlen(remote->password));
	g_free(remote->password);
	g_free(remote);
}

const char *ssa_remote_uri(const struct ssa_remote *remote)
{
	return remote->uri;
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
	fail(remote, error,
	     g_str_has_prefix(reply->text, "LOADING") ? SSA_STORE_ERROR_GONE
						      : SSA_STORE_ERROR_REFUSED,
	     reply->text);
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
		fail(remote, error, SSA_STORE_ERROR_GONE, "the reply is not one that Redis gives");
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
		fail(remote, error, SSA_STORE_ERROR_GONE, "the reply is not one that Redis gives");
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
