// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The functions of struct osm_host: a request to the daemon each, whose answer is waited for. */
#include "plugin/host/host_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/host/snapshot_view.h"

#define LOG_LINE_MAX 1001 /* with the NUL */

/* A request, on the stack of the thread that waits for its answer. */
struct call {
	uint64_t id;
	bool is_answered;
	enum osm_result result;
	char *octets; /* of the answer, with a NUL added */
	size_t length;
	int file; /* -1: none */
};

static struct host *host_of(const struct osm_host *face)
{
	return face->data;
}

static void enter(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	host->n_inside++;
	pthread_mutex_unlock(&host->lock);
}

static void leave(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	host->n_inside--;
	pthread_mutex_unlock(&host->lock);
}

/* Waits until the daemon takes another request. */
static enum osm_result begin(struct host *host, struct call *call)
{
	enum osm_result result = OSM_OK;

	pthread_mutex_lock(&host->lock);
	while (host->is_ready && !host->is_over && host->n_calls == LINK_REQUESTS)
		pthread_cond_wait(&host->changed, &host->lock);
	if (host->is_over) {
		result = OSM_OVER;
	} else if (!host->is_ready) {
		result = OSM_NOT_YET;
	} else {
		call->id = ++host->last_id;
		host->calls = g_list_prepend(host->calls, call);
		host->n_calls++;
	}
	pthread_mutex_unlock(&host->lock);
	return result;
}

static void end(struct host *host, struct call *call)
{
	pthread_mutex_lock(&host->lock);
	while (!call->is_answered && !host->is_over)
		pthread_cond_wait(&host->changed, &host->lock);
	host->calls = g_list_remove(host->calls, call);
	host->n_calls--;
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
	if (!call->is_answered)
		call->result = OSM_OVER;
}

static void clear(struct call *call)
{
	g_clear_pointer(&call->octets, g_free);
	if (call->file >= 0)
		close(call->file);
	call->file = -1;
}

/* Returns with the answer in *call, to be cleared. */
static enum osm_result ask(struct host *host, enum link_request kind, const void *octets,
			   size_t length, struct call *call)
{
	struct link_head head = {.type = LINK_REQUEST, .value = kind, .length = (uint32_t)length};
	enum osm_result result;

	*call = (struct call){.file = -1};
	if (length > LINK_MESSAGE_MAX)
		return OSM_USAGE;
	result = begin(host, call);
	if (result != OSM_OK)
		return result;
	head.id = call->id;
	host_send(host, &head, octets);
	end(host, call);
	return call->result;
}

void host_take_answer(struct host *host, const struct link_head *head, const void *octets,
		      int files[LINK_FILES])
{
	pthread_mutex_lock(&host->lock);
	for (GList *at = host->calls; at; at = at->next) {
		struct call *call = at->data;

		if (call->id != head->id || call->is_answered)
			continue;
		call->is_answered = true;
		/* without descriptors the kernel drops the file of an answer */
		call->result = head->n_files && files[0] < 0 ? OSM_FAILED : head->value;
		call->length = head->length;
		call->octets = g_malloc(head->length + 1);
		memcpy(call->octets, octets, head->length);
		call->octets[head->length] = '\0';
		call->file = files[0];
		files[0] = -1;
		pthread_cond_broadcast(&host->changed);
	}
	pthread_mutex_unlock(&host->lock);
	for (unsigned int i = 0; i < LINK_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
}

/* ---- texts ---- */

/* A text that is longer than a message is in a file. */
static char *text_of_file(int file)
{
	struct stat stat;
	char *text;
	size_t n = 0;

	if (fstat(file, &stat) || stat.st_size < 0)
		return NULL;
	text = malloc((size_t)stat.st_size + 1);
	while (text && n < (size_t)stat.st_size) {
		ssize_t got = pread(file, text + n, (size_t)stat.st_size - n, (off_t)n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (text)
		text[n] = '\0';
	return text;
}

static enum osm_result ask_text(const struct osm_host *face, enum link_request kind,
				const char *line, char **answer)
{
	struct host *host = host_of(face);
	enum osm_result result;
	struct call call;

	enter(host);
	result = ask(host, kind, line, strlen(line), &call);
	if (answer)
		*answer = call.file >= 0 ? text_of_file(call.file)
					 : strdup(call.octets ? call.octets : "");
	clear(&call);
	leave(host);
	return result;
}

static enum osm_result command(const struct osm_host *face, const char *line, char **answer)
{
	return ask_text(face, LINK_COMMAND, line, answer);
}

static enum osm_result option(const struct osm_host *face, const char *name, char **value)
{
	return ask_text(face, LINK_OPTION, name, value);
}

static void text_free(const struct osm_host *face, char *text)
{
	(void)face;
	free(text);
}

/* ---- other requests ---- */

static const struct osm_snapshot *snapshot(const struct osm_host *face, uint32_t parts,
					   enum osm_result *result)
{
	struct host *host = host_of(face);
	const struct osm_snapshot *view = NULL;
	enum osm_result why;
	struct call call;

	enter(host);
	why = ask(host, LINK_SNAPSHOT, &parts, sizeof(parts), &call);
	if (why == OSM_OK && call.file >= 0) {
		view = snapshot_view_new(call.file, NULL);
		call.file = -1;
	}
	if (why == OSM_OK && !view)
		why = OSM_FAILED;
	if (result)
		*result = why;
	clear(&call);
	leave(host);
	return view;
}

static void snapshot_free(const struct osm_host *face, const struct osm_snapshot *view)
{
	(void)face;
	if (view)
		snapshot_view_free(view);
}

static enum osm_result sweep(const struct osm_host *face, enum osm_sweep_kind kind)
{
	struct host *host = host_of(face);
	uint32_t value = kind;
	enum osm_result result;
	struct call call;

	enter(host);
	result = ask(host, LINK_SWEEP, &value, sizeof(value), &call);
	clear(&call);
	leave(host);
	return result;
}

/* An element of a list whose elements may be longer or shorter than those of this version. */
static void *mad_at(struct osm_mad *mads, uint32_t i)
{
	return (char *)mads + (size_t)i * mads->size;
}

static enum osm_result ask_mads(struct host *host, struct osm_mad *mads, uint32_t from, uint32_t n)
{
	g_autofree struct osm_mad *some = g_new0(struct osm_mad, n);
	size_t octets = MIN(mads->size, sizeof(*some));
	enum osm_result result;
	struct call call;

	for (uint32_t i = 0; i < n; i++)
		memcpy(&some[i], mad_at(mads, from + i), octets);
	result = ask(host, LINK_MAD, some, n * sizeof(*some), &call);
	if (result == OSM_OK && call.length != n * sizeof(*some))
		result = OSM_FAILED;
	if (result == OSM_OK)
		memcpy(some, call.octets, call.length);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = mads->size;

		if (result != OSM_OK)
			some[i].result = result;
		some[i].size = size;
		memcpy(mad_at(mads, from + i), &some[i], octets);
	}
	clear(&call);
	return result;
}

static enum osm_result mads(const struct osm_host *face, struct osm_mad *mads, uint32_t n)
{
	struct host *host = host_of(face);
	enum osm_result result = OSM_OK;

	if (n && !OSM_HAS(mads, struct osm_mad, length))
		return OSM_USAGE;
	enter(host);
	for (uint32_t from = 0; from < n && result == OSM_OK; from += LINK_MADS)
		result = ask_mads(host, mads, from, MIN(n - from, LINK_MADS));
	leave(host);
	return result;
}

OSM_PRINTF(3, 4)
static void log_line(const struct osm_host *face, enum osm_log_level level, const char *format, ...)
{
	struct host *host = host_of(face);
	char line[LOG_LINE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	enter(host);
	host_send_text(host, LINK_LOG, level, line);
	leave(host);
}

static void leave_daemon(const struct osm_host *face)
{
	struct host *host = host_of(face);
	bool is_known;

	enter(host);
	pthread_mutex_lock(&host->lock);
	host->is_leaving = true;
	is_known = host->is_known;
	pthread_mutex_unlock(&host->lock);
	if (is_known)
		host_send(host, &(struct link_head){.type = LINK_LEAVE}, NULL);
	leave(host);
}

void host_fill_face(struct host *host)
{
	host->face.size = sizeof(host->face);
	host->face.abi = OSM_PLUGIN_ABI;
	host->face.data = host;
	host->face.log = log_line;
	host->face.snapshot = snapshot;
	host->face.snapshot_free = snapshot_free;
	host->face.command = command;
	host->face.option = option;
	host->face.text_free = text_free;
	host->face.sweep = sweep;
	host->face.mads = mads;
	host->face.leave = leave_daemon;
}
