// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/store/connect.h"

#include <string.h>
#include <unistd.h>

#include "complib/file.h"
#include "ssa/store/store_private.h"

#define PORT 6379
#define PASSWORD_MAX 4096 /* octets */
#define SHOWN_MAX 200	  /* octets of what a server says */

/* ---- errors ---- */

void ssa_redis_refused(const char *uri, const char *what, const char *text, GError **error)
{
	static const char *const later[] = {"LOADING", "MASTERDOWN", "BUSY", "TRYAGAIN"};
	enum ssa_store_error code = SSA_STORE_ERROR_REFUSED;
	g_autofree char *shown = g_strndup(text, SHOWN_MAX);

	for (char *at = shown; *at; at++)
		if (!g_ascii_isprint(*at))
			*at = '?';
	for (unsigned int i = 0; i < G_N_ELEMENTS(later); i++)
		if (g_str_has_prefix(text, later[i]))
			code = SSA_STORE_ERROR_GONE;
	g_set_error(error, SSA_STORE_ERROR, (int)code, "%s: %s%s%s", uri, what ? what : "",
		    what ? ": " : "", shown);
}

void ssa_redis_broken(const char *uri, const char *what, GError **error)
{
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE,
		    "%s: %s%sthe reply is not one that Redis gives", uri, what ? what : "",
		    what ? ": " : "");
}

static bool wrong(const char *name, GError **error, const char *expected)
{
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI, "%s: %s", name, expected);
	return false;
}

/* ---- opening ---- */

bool ssa_redis_parse(struct ssa_redis *redis, const char *uri, GError **error)
{
	g_autofree char *scheme = NULL, *password = NULL, *path = NULL, *query = NULL;
	g_autofree char *fragment = NULL;
	const char *shown = ssa_store_shown(uri);
	int port;

	*redis = (struct ssa_redis){.uri = g_strdup(uri)};
	if (!g_uri_split_with_user(uri, G_URI_FLAGS_HAS_PASSWORD, &scheme, &redis->user, &password,
				   NULL, &redis->server.host, &port, &path, &query, &fragment,
				   NULL) ||
	    (g_strcmp0(scheme, "redis") != 0 && g_strcmp0(scheme, "rediss") != 0) ||
	    !redis->server.host || !*redis->server.host || query || fragment ||
	    (path && *path && strcmp(path, "/") != 0) || port == 0 || port > G_MAXUINT16)
		return wrong(shown, error,
			     "expected redis://[USER@]HOST[:PORT], or rediss:// for TLS");
	if (password)
		return wrong(shown, error,
			     "the URI has a password, which others can see: expected it in the "
			     "password file");
	redis->server.port = port < 0 ? PORT : (uint16_t)port;
	redis->server.tls = !strcmp(scheme, "rediss");
	return true;
}

/* One line. */
static bool read_password(struct ssa_redis *redis, const char *file, GError **error)
{
	g_autoptr(GError) problem = NULL;
	char octets[PASSWORD_MAX + 1];
	ssize_t n;
	int fd;

	if (!file)
		return !redis->user || wrong(redis->uri, error, "a user needs a password file");
	fd = file_open_secret(file, &problem);
	if (fd < 0) {
		g_set_error_literal(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI, problem->message);
		return false;
	}
	n = read(fd, octets, PASSWORD_MAX);
	close(fd);
	if (n < 0)
		return wrong(file, error, "cannot be read");
	octets[n] = '\0';
	octets[strcspn(octets, "\r\n")] = '\0';
	if (!*octets)
		return wrong(file, error, "is empty, expected a password in its first line");
	redis->password = g_strdup(octets);
	explicit_bzero(octets, sizeof(octets));
	return true;
}

static bool read_certificates(struct ssa_redis *redis, const struct ssa_store_options *options,
			      GError **error)
{
	struct resp_server *server = &redis->server;
	GError *problem = NULL;

	if (!server->tls)
		return true;
	if (!g_tls_backend_supports_tls(g_tls_backend_get_default()))
		return wrong(redis->uri, error, "no TLS: GLib needs glib-networking for that");
	if (!options->cert_file != !options->key_file)
		return wrong(redis->uri, error, "expected a certificate and its key, or neither");
	if (options->ca_file)
		server->ca = g_tls_file_database_new(options->ca_file, &problem);
	if (!problem && options->cert_file)
		server->certificate = g_tls_certificate_new_from_files(options->cert_file,
								       options->key_file, &problem);
	if (!problem)
		return true;
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI, "%s: %s",
		    server->ca || !options->ca_file ? options->cert_file : options->ca_file,
		    problem->message);
	g_error_free(problem);
	return false;
}

bool ssa_redis_open(struct ssa_redis *redis, const char *uri,
		    const struct ssa_store_options *options, GError **error)
{
	return ssa_redis_parse(redis, uri, error) &&
	       read_password(redis, options->password_file, error) &&
	       read_certificates(redis, options, error);
}

void ssa_redis_clear(struct ssa_redis *redis)
{
	g_clear_object(&redis->server.ca);
	g_clear_object(&redis->server.certificate);
	g_free(redis->server.host);
	g_free(redis->uri);
	g_free(redis->user);
	if (redis->password)
		explicit_bzero(redis->password, strlen(redis->password));
	g_free(redis->password);
}

/* ---- connecting ---- */

/* What the server says to AUTH; NULL and error: it is lost. */
static struct resp_reply *ask_in(const struct ssa_redis *redis, struct resp_link *link,
				 int64_t deadline_us, GError **error)
{
	if (redis->user)
		resp_add(link, 3, (const char *const[]){"AUTH", redis->user, redis->password},
			 NULL);
	else
		resp_add(link, 2, (const char *const[]){"AUTH", redis->password}, NULL);
	return resp_send(link, deadline_us, error) ? resp_read(link, deadline_us, error) : NULL;
}

static bool authenticate(const struct ssa_redis *redis, struct resp_link *link, int64_t deadline_us,
			 GError **error)
{
	GError *problem = NULL;
	struct resp_reply *reply = ask_in(redis, link, deadline_us, &problem);
	bool good = reply && reply->kind == RESP_STATUS && !strcmp(reply->text, "OK");

	if (!reply) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE, "%s: %s", redis->uri,
			    problem->message);
		g_error_free(problem);
	} else if (reply->kind == RESP_ERROR) {
		ssa_redis_refused(redis->uri, "AUTH", reply->text, error);
	} else if (!good) {
		ssa_redis_broken(redis->uri, "AUTH", error);
	}
	resp_reply_free(reply);
	return good;
}

struct resp_link *ssa_redis_connect(const struct ssa_redis *redis, int cancel_fd,
				    int64_t deadline_us, GError **error)
{
	GError *problem = NULL;
	struct resp_link *link = resp_connect(&redis->server, cancel_fd, deadline_us, &problem);

	if (!link) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE, "%s: %s", redis->uri,
			    problem->message);
		g_error_free(problem);
		return NULL;
	}
	if (!redis->password || authenticate(redis, link, deadline_us, error))
		return link;
	resp_close(link);
	return NULL;
}
