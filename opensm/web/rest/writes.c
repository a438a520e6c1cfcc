// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes. The daemon answers a change at once, so that many are kept together. Whether it is on the
 * disk and with the standbys, and then whether tables are set, is asked by one question for all
 * writes that wait.
 */
#include <string.h>

#include "web/api/api.h"
#include "web/api/asker.h"
#include "web/rest/rest_private.h"

#define SETTLE_MS 5000
#define LAST_LOOK_MS 500 /* for the last question whether the change is kept */
#define ABOUT_GUIDS 256	 /* in a line of the log */
#define ABOUT_NAMES 2000 /* octets */
#define LOOK_MS 20
#define LOOK_SOON_MS 2 /* a disk takes about as long */
#define LOOK_PATIENCE_MS 2000

/* ---- lines ---- */

static void add_flag(GString *line, const char *name, int flag)
{
	if (flag >= 0)
		g_string_append_printf(line, ",%s%s", name, flag ? "" : "=no");
}

static void add_number(GString *line, const char *name, int number)
{
	if (number >= 0)
		g_string_append_printf(line, ",%s=%d", name, number);
}

static void add_head(GString *line, const struct body *body, enum write_kind kind, bool new)
{
	int ip_over_ib = body->ip_over_ib < 0 && new ? 1 : body->ip_over_ib;

	if (kind == WRITE_REMOVE) {
		g_string_append_printf(line, "0x%x:", body->p_key);
		return;
	}
	g_string_append_printf(line, "%s%s0x%x", body->name ? body->name : "",
			       body->name && *body->name ? "=" : "", body->p_key);
	if (kind != WRITE_QOS) {
		add_flag(line, "ipoib", ip_over_ib);
		add_flag(line, "indx0", body->index0);
	}
	if (kind == WRITE_MAKE)
		add_flag(line, "stays", 1);
	add_number(line, "mtu", body->mtu);
	add_number(line, "rate", body->rate);
	add_number(line, "sl", body->sl);
	g_string_append_c(line, ':');
}

/* At most n of them. */
static void add_members(GString *line, const struct body *body, enum write_kind kind, guint first,
			guint n)
{
	for (guint i = first; i < body->members->len && i - first < n; i++) {
		const struct body_member *member =
			&g_array_index(body->members, struct body_member, i);

		g_string_append_printf(line, "%s0x%" G_GINT64_MODIFIER "x=%s", i > first ? "," : "",
				       member->guid,
				       kind == WRITE_REMOVE ? "none" : member->membership);
	}
}

/* As one word without quotes. */
static char *safe_user(const char *user)
{
	char *safe = g_strdup(user && *user ? user : "unknown");

	for (char *c = safe; *c; c++)
		if (!g_ascii_isalnum(*c) && !strchr("@.:-[]", *c))
			*c = '_';
	return safe;
}

char *write_line(const struct body *body, enum write_kind kind, const char *user, bool new)
{
	g_autofree char *by = safe_user(user);
	GString *line = g_string_new("partitions");

	g_string_append_printf(line, " %s by rest:%s wait none strict",
			       kind == WRITE_DELETE ? "forget" : "change", by);
	if (kind == WRITE_DELETE || kind == WRITE_QOS)
		g_string_append(line, " existing");
	if (kind == WRITE_REPLACE)
		g_string_append(line, " replace");
	else if (kind == WRITE_ADD || kind == WRITE_MAKE || kind == WRITE_QOS)
		g_string_append(line, " merge");
	g_string_append_c(line, ' ');
	if (kind == WRITE_DELETE) {
		g_string_append_printf(line, "0x%x", body->p_key);
	} else {
		add_head(line, body, kind, new);
		if (kind != WRITE_QOS && kind != WRITE_MAKE)
			add_members(line, body, kind, 0, BODY_GUIDS_MAX);
	}
	g_string_append(line, " json");
	return g_string_free(line, FALSE);
}

static void add_hosts(GString *text, const struct body *body)
{
	g_autoptr(GString) names = g_string_new(NULL);
	g_autofree char *safe = NULL;

	for (guint i = 0; i < body->hosts->len && names->len < ABOUT_NAMES; i++)
		g_string_append_printf(names, "%s%s", i ? "," : "", (char *)body->hosts->pdata[i]);
	if (names->len > ABOUT_NAMES)
		g_string_append(g_string_truncate(names, ABOUT_NAMES), "...");
	safe = g_strescape(names->str, NULL);
	g_string_append_printf(text, " of %u hosts \"%s\"", body->hosts->len, safe);
}

char *write_about(const struct body *body, enum write_kind kind)
{
	GString *text = g_string_new("P_Key ");

	if (body->p_key)
		add_head(text, body, kind, false);
	else
		g_string_append(text, "unknown:");
	g_string_append_printf(text, " %u GUIDs", body->members->len);
	if (body->hosts->len)
		add_hosts(text, body);
	for (guint i = 0; i < body->members->len; i += ABOUT_GUIDS) {
		if (i)
			g_string_append_printf(text, "\nP_Key 0x%x, from the %uth GUID:",
					       body->p_key, i + 1);
		g_string_append_c(text, ' ');
		add_members(text, body, kind, i, ABOUT_GUIDS);
	}
	return g_string_free(text, FALSE);
}

/* ---- the change ---- */

static unsigned int status_of(const char *kind)
{
	static const struct {
		const char *kind;
		unsigned int status;
	} kinds[] = {
		{"unknown", 404},    {"configured", 409}, {"name", 409},
		{"impossible", 422}, {"limit", 422},	  {"syntax", 400},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].status;
	return 503;
}

/* ---- the wait for the disk, standbys and tables ---- */

static void look(struct call *call);

static gboolean on_time(gpointer data)
{
	look(data);
	return G_SOURCE_REMOVE;
}

/* Why the change failed after it was taken; NULL: it did not. */
static const char *failure_of(JsonObject *answer, uint64_t serial)
{
	JsonArray *list = json_list(answer, "failures");

	for (guint i = 0; i < json_rows(list); i++) {
		JsonObject *row = json_row(list, i);

		if ((gint64)serial >= json_number(row, "from") &&
		    (gint64)serial <= json_number(row, "to"))
			return json_text(row, "error");
	}
	return NULL;
}

static void settled(struct call *call, bool yes)
{
	request_set_header(call->request, "X-Opensm-Settled", yes ? "true" : "false");
	call_done(call);
}

static void lost(struct call *call, const char *why)
{
	g_autoptr(GBytes) bytes = g_bytes_new(why, strlen(why));

	api_fail(call->web, call->request, CONTROL_FAILED, bytes, 503);
	call_free(call);
}

static void on_progress(void *arg, enum control_status status, GBytes *text)
{
	struct call *call = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *answer = status == CONTROL_DONE ? json_read(parser, text) : NULL;
	const char *failure = failure_of(answer, call->serial);
	bool kept = json_number(answer, "kept") >= (gint64)call->serial;
	bool late = g_get_monotonic_time() >= call->until_us;

	if (failure)
		lost(call, failure);
	else if (!answer || !json_flag(answer, "master") || (late && !kept))
		lost(call, "whether the change is kept could not be found out");
	else if (kept && json_number(answer, "policy") >= (gint64)call->serial)
		settled(call, true);
	else if (kept && (late || json_flag(answer, "held")))
		settled(call, false);
	else
		g_timeout_add(kept ? LOOK_MS : LOOK_SOON_MS, on_time, call);
}

static void look(struct call *call)
{
	asker_ask(call->web->asker, "partitions serial json", LOOK_SOON_MS / 2,
		  request_left_ms(call->request, LOOK_PATIENCE_MS), on_progress, call);
}

static void refused(struct call *call, enum control_status status, const char *text,
		    JsonObject *answer)
{
	const char *kind = json_text(answer, "kind");
	g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
	unsigned int code = status_of(kind);

	if (*kind && code != 503)
		request_fail(call->request, code, "%s", json_text(answer, "error"));
	else
		api_fail(call->web, call->request, status, bytes, 503);
	call_free(call);
}

static void on_changed(void *arg, struct reply *reply)
{
	struct call *call = arg;
	const char *text = reply->output ? reply->output : "";
	g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *answer = json_read(parser, bytes);
	unsigned int left_ms;

	if (!answer || reply->status != CONTROL_DONE || json_text(answer, "error")[0]) {
		refused(call, reply->status == CONTROL_DONE ? CONTROL_FAILED : reply->status, text,
			answer);
		return;
	}
	call->serial = (uint64_t)json_number(answer, "serial");
	left_ms = patience_of(call);
	left_ms = MIN(SETTLE_MS, left_ms - MIN(left_ms, LAST_LOOK_MS));
	call->until_us = g_get_monotonic_time() + (gint64)left_ms * 1000;
	look(call);
}

static void send_change(struct call *call, bool new)
{
	g_autofree char *line = write_line(&call->body, call->writing, call->request->user, new);

	link_ask(call->web->link, line, patience_of(call),
		 on_changed, call);
}

/* Whether it exists decides about defaults. */
static void on_members(void *arg, enum control_status status, GBytes *text)
{
	struct call *call = arg;

	if (status == CONTROL_DONE || status == CONTROL_FAILED) {
		send_change(call, status == CONTROL_FAILED);
		return;
	}
	api_fail(call->web, call->request, status, text, 503);
	call_free(call);
}

void write_change(struct call *call)
{
	enum write_kind kind = call->writing;
	bool makes = kind == WRITE_ADD || kind == WRITE_REPLACE || kind == WRITE_MAKE;
	g_autofree char *line =
		g_strdup_printf("partitions members 0x%x json", call->body.p_key);

	if (makes && call->body.ip_over_ib < 0)
		asker_ask(call->web->asker, line, 0,
			  patience_of(call), on_members, call);
	else
		send_change(call, false);
}
