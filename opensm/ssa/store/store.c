// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Stores by their URI: what all kinds have in common (store.h). */
#include "ssa/store/store_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ssa/wire/alive.h"

#define TIMEOUT_MS 5000u
#define KEEP_S 60u

GQuark ssa_store_error_quark(void)
{
	return g_quark_from_static_string("ssa-store-error");
}

/* ---- errors and terms ---- */

void ssa_store_error(const struct ssa_store *store, GError **error, enum ssa_store_error code,
		     const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, SSA_STORE_ERROR, (int)code, "%s: %s", store->uri, text);
}

void ssa_store_write_term(char text[SSA_STORE_TERM_LENGTH + 1], uint64_t term, uint64_t epoch)
{
	snprintf(text, SSA_STORE_TERM_LENGTH + 1, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, term,
		 epoch);
}

bool ssa_store_read_term(const char *text, uint64_t *term, uint64_t *epoch)
{
	char again[SSA_STORE_TERM_LENGTH + 1];

	if (sscanf(text, "%20" G_GINT64_MODIFIER "u %20" G_GINT64_MODIFIER "u", term, epoch) != 2)
		return false;
	ssa_store_write_term(again, *term, *epoch);
	return !strcmp(text, again);
}

bool ssa_store_may_follow(const struct ssa_store *store, const char *text,
			  const struct ssa_publication *publication, bool *again, GError **error)
{
	uint64_t term = publication->term, epoch = publication->epoch, there_term, there_epoch;
	bool is_there = text && ssa_store_read_term(text, &there_term, &there_epoch);

	*again = is_there && there_term == term && there_epoch == epoch;
	if (!is_there || there_term < term || (there_term == term && there_epoch <= epoch))
		return true;
	ssa_store_error(store, error, SSA_STORE_ERROR_OLDER,
			"has term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT
			", which is newer than term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT
			": another master has published it",
			there_term, there_epoch, term, epoch);
	return false;
}

/* Keeps what an error says. */
static void note(struct ssa_store *store, const GError *error)
{
	store->stats.errors++;
	g_strlcpy(store->stats.last_error, error->message, sizeof(store->stats.last_error));
	store->stats.last_error_us = g_get_real_time();
}

/* Passes an error on, and notes it. That something is absent is an answer. */
static bool done(struct ssa_store *store, GError *problem, GError **error)
{
	if (!problem)
		return true;
	if (!g_error_matches(problem, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT))
		note(store, problem);
	g_propagate_error(error, problem);
	return false;
}

/* ---- opening ---- */

const char *ssa_store_shown(const char *uri)
{
	return strchr(uri, '@') ? "URI of the store" : uri;
}

static bool has_scheme(const struct ssa_store_kind *kind, const char *uri)
{
	for (unsigned int i = 0; kind && kind->schemes[i]; i++) {
		size_t length = strlen(kind->schemes[i]);

		if (!strncmp(uri, kind->schemes[i], length) && uri[length] == ':')
			return true;
	}
	return false;
}

struct ssa_store *ssa_store_open(const char *uri, uint64_t prefix,
				 const struct ssa_store_options *options, GError **error)
{
	static const struct ssa_store_options defaults;
	const struct ssa_store_kind *kind;
	struct ssa_store *store;
	int cancel_fd;

	options = options ? options : &defaults;
	kind = has_scheme(&ssa_store_files, uri) ? &ssa_store_files : options->more;
	if (!has_scheme(kind, uri)) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI, "%s: expected %s",
			    ssa_store_shown(uri),
			    options->more ? "files:DIR or redis://HOST" : "files:DIR");
		return NULL;
	}
	cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cancel_fd < 0) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_REFUSED, "%s: eventfd: %s", uri,
			    g_strerror(errno));
		return NULL;
	}
	store = kind->open(uri, options, error);
	if (!store) {
		close(cancel_fd);
		return NULL;
	}
	store->kind = kind;
	store->uri = g_strdup(uri);
	store->prefix = prefix;
	store->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
	store->keep_s = options->keep_s ? options->keep_s : KEEP_S;
	store->writes = options->writes;
	store->cancel_fd = cancel_fd;
	return store;
}

void ssa_store_close(struct ssa_store *store)
{
	if (!store)
		return;
	close(store->cancel_fd);
	g_free(store->uri);
	store->kind->close(store);
}

const char *ssa_store_uri(const struct ssa_store *store)
{
	return store->uri;
}

void ssa_store_stats(const struct ssa_store *store, struct ssa_store_stats *stats)
{
	*stats = store->stats;
}

/* ---- what a store may be asked ---- */

/* A name becomes a part of a path, or of a key. */
static bool check_names(const struct ssa_store *store, const char *const *names, unsigned int n,
			GError **error)
{
	for (unsigned int i = 0; i < n; i++) {
		g_autofree char *shown = NULL;

		if (ssa_chunk_is_name(names[i]))
			continue;
		shown = g_strescape(names[i], NULL);
		ssa_store_error(store, error, SSA_STORE_ERROR_REFUSED,
				"'%.64s' is not the name of a chunk: expected %d lower-case hex "
				"digits",
				shown, SSA_NAME_LENGTH);
		return false;
	}
	return true;
}

static bool check_writer(const struct ssa_store *store, const char *what, GBytes *bytes, size_t max,
			 GError **error)
{
	if (!store->writes) {
		ssa_store_error(store, error, SSA_STORE_ERROR_REFUSED, "opened for reading only");
		return false;
	}
	if (g_bytes_get_size(bytes) <= max)
		return true;
	ssa_store_error(store, error, SSA_STORE_ERROR_REFUSED,
			"%s has %" G_GSIZE_FORMAT " octets, expected at most %" G_GSIZE_FORMAT,
			what, g_bytes_get_size(bytes), max);
	return false;
}

bool ssa_store_has(struct ssa_store *store, const char *const *names, unsigned int n, bool *has,
		   GError **error)
{
	GError *problem = NULL;

	if (n && check_names(store, names, n, &problem))
		store->kind->has(store, names, n, has, &problem);
	return done(store, problem, error);
}

bool ssa_store_put(struct ssa_store *store, const char *name, GBytes *frame, GError **error)
{
	GError *problem = NULL;

	if (check_names(store, &name, 1, &problem) &&
	    check_writer(store, name, frame, SSA_CHUNK_MAX, &problem) &&
	    store->kind->put(store, name, frame, &problem)) {
		store->stats.puts++;
		store->stats.bytes_out += g_bytes_get_size(frame);
	}
	return done(store, problem, error);
}

bool ssa_store_publish(struct ssa_store *store, GBytes *manifest, uint64_t term, uint64_t epoch,
		       const char *const *names, unsigned int n, GError **error)
{
	struct ssa_publication publication = {manifest, term, epoch, names, n};
	GError *problem = NULL;

	if (check_names(store, names, n, &problem) &&
	    check_writer(store, "the manifest", manifest, SSA_MANIFEST_MAX, &problem) &&
	    store->kind->publish(store, &publication, &problem)) {
		store->stats.publishes++;
		store->stats.bytes_out += g_bytes_get_size(manifest);
	}
	return done(store, problem, error);
}

GBytes *ssa_store_manifest(struct ssa_store *store, GError **error)
{
	GError *problem = NULL;
	GBytes *manifest = store->kind->manifest(store, &problem);

	if (manifest)
		store->stats.bytes_in += g_bytes_get_size(manifest);
	done(store, problem, error);
	return manifest;
}

bool ssa_store_get_many(struct ssa_store *store, const char *const *names, unsigned int n,
			GBytes **frames, GError **error)
{
	GError *problem = NULL;

	for (unsigned int i = 0; i < n; i++)
		frames[i] = NULL;
	if (n && check_names(store, names, n, &problem))
		store->kind->get_many(store, names, n, frames, &problem);
	for (unsigned int i = 0; i < n; i++) {
		if (problem)
			g_clear_pointer(&frames[i], g_bytes_unref);
		store->stats.gets += frames[i] != NULL;
		store->stats.bytes_in += frames[i] ? g_bytes_get_size(frames[i]) : 0;
	}
	return done(store, problem, error);
}

GBytes *ssa_store_get(struct ssa_store *store, const char *name, GError **error)
{
	GBytes *frame;

	if (ssa_store_get_many(store, &name, 1, &frame, error) && !frame)
		ssa_store_error(store, error, SSA_STORE_ERROR_ABSENT, "has no chunk %s", name);
	return frame;
}

bool ssa_store_set_pulse(struct ssa_store *store, const char *text, GError **error)
{
	g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
	GError *problem = NULL;

	if (check_writer(store, "the pulse", bytes, SSA_ALIVE_MAX, &problem))
		store->kind->set_pulse(store, bytes, &problem);
	return done(store, problem, error);
}

char *ssa_store_pulse(struct ssa_store *store, GError **error)
{
	GError *problem = NULL;
	g_autoptr(GBytes) bytes = store->kind->pulse(store, &problem);

	done(store, problem, error);
	return bytes ? g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes)) : NULL;
}

/* ---- waiting ---- */

bool ssa_store_wait(struct ssa_store *store, unsigned int timeout_ms, GError **error)
{
	GError *problem = NULL;

	store->kind->wait(store, timeout_ms, &problem);
	return done(store, problem, error);
}

bool ssa_store_keep(struct ssa_store *store, unsigned int timeout_ms, GError **error)
{
	GError *problem = NULL;

	if (store->kind->keep)
		store->kind->keep(store, timeout_ms, &problem);
	return done(store, problem, error);
}

void ssa_store_cancel(struct ssa_store *store)
{
	static const uint64_t one = 1;
	ssize_t n;

	do
		n = write(store->cancel_fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR); /* EAGAIN: it is cancelled already, very often */
}

bool ssa_store_forget_cancel(struct ssa_store *store)
{
	uint64_t times;
	ssize_t n;

	do
		n = read(store->cancel_fd, &times, sizeof(times));
	while (n < 0 && errno == EINTR);
	return n == sizeof(times);
}
