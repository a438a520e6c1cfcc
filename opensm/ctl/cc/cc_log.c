// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The events of CongestionLogs: the latest, and which ports they name most often. */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl/cc/cc_view.h"
#include "ctl/perfmgr/figures.h"

#define TOP 5

static const char *const services[] = {"RC", "UC", "RD", "UD"};

/* ---- the latest ---- */

static int by_time(const void *a, const void *b)
{
	const struct cc_event *x = a, *y = b;

	return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

static void add_event(const struct fabric *fabric, const struct cc_event *event,
		      GVariantBuilder *list)
{
	uint32_t port = fabric ? fabric_port_by_guid(fabric, event->guid) : FABRIC_NONE;
	GVariantBuilder row;

	answer_begin(&row);
	answer_number(&row, "time_us", (uint64_t)event->time_us);
	answer_flag(&row, "switch", event->is_switch);
	answer_guid(&row, "port_guid", event->guid);
	if (port != FABRIC_NONE)
		answer_name(&row, "node", fabric, fabric->ports[port].node);
	cc_add_lid(&row, "source", fabric, event->slid);
	cc_add_lid(&row, "target", fabric, event->dlid);
	answer_number(&row, "sl", event->sl);
	if (!event->is_switch) {
		answer_text(&row, "service",
			    services[event->service_type % G_N_ELEMENTS(services)]);
		answer_number(&row, "local_qp", event->local_qp);
		answer_number(&row, "remote_qp", event->remote_qp);
	}
	answer_append(list, &row);
}

/* ---- the most frequent ---- */

enum subject { SOURCES, TARGETS, SWITCHES, SUBJECTS };
static const char *const subjects[SUBJECTS] = {
	[SOURCES] = "sources", [TARGETS] = "targets", [SWITCHES] = "switches"};

struct count {
	uint64_t what; /* LID; of a switch its GUID */
	uint64_t n;
};

static int by_what(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return (x->what > y->what) - (x->what < y->what);
}

/* The greatest first; the lower LID or GUID of equal ones. */
static int by_number(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return x->n == y->n ? by_what(a, b) : (x->n < y->n) - (x->n > y->n);
}

/* Both kinds of agents log the LIDs of a flow, but only a switch is where it was congested. */
static GArray *count(const GArray *events, enum subject subject)
{
	GArray *counts = g_array_new(FALSE, FALSE, sizeof(struct count));
	guint n = 0;

	for (guint i = 0; i < events->len; i++) {
		const struct cc_event *event = &g_array_index(events, struct cc_event, i);
		struct count one = {.what = subject == SOURCES	 ? event->slid
					    : subject == TARGETS ? event->dlid
								 : event->guid,
				    .n = 1};

		if (subject != SWITCHES || event->is_switch)
			g_array_append_val(counts, one);
	}
	g_array_sort(counts, by_what);
	for (guint i = 0; i < counts->len; i++) {
		struct count *at = &g_array_index(counts, struct count, i);
		struct count *last = n ? &g_array_index(counts, struct count, n - 1) : NULL;

		if (last && last->what == at->what)
			last->n++;
		else
			g_array_index(counts, struct count, n++) = *at;
	}
	g_array_set_size(counts, n);
	g_array_sort(counts, by_number);
	return counts;
}

static void add_switch(GVariantBuilder *row, const struct fabric *fabric, uint64_t guid)
{
	uint32_t port = fabric ? fabric_port_by_guid(fabric, guid) : FABRIC_NONE;

	answer_guid(row, "guid", guid);
	if (port != FABRIC_NONE)
		answer_name(row, "node", fabric, fabric->ports[port].node);
}

static void add_top(GVariantBuilder *answer, const struct cc_view *view, enum subject subject)
{
	g_autoptr(GArray) counts = count(view->report->events, subject);
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (guint i = 0; i < MIN(counts->len, TOP); i++) {
		const struct count *one = &g_array_index(counts, struct count, i);

		answer_begin(&row);
		if (subject == SWITCHES)
			add_switch(&row, view->fabric, one->what);
		else
			cc_add_lid(&row, "lid", view->fabric, (uint16_t)one->what);
		answer_number(&row, "events", one->n);
		answer_append(&list, &row);
	}
	answer_member(answer, subjects[subject], &list);
}

void cc_view_log(const struct cc_view *view, unsigned int n, GVariantBuilder *answer)
{
	g_autoptr(GArray) events = view->report ? g_array_copy(view->report->events) : NULL;
	guint kept = events ? events->len : 0;
	GVariantBuilder list;

	if (kept)
		qsort(events->data, kept, sizeof(struct cc_event), by_time);
	answer_number(answer, "kept", kept);
	answer_number(answer, "poll_seconds", view->options->cc_log_poll);
	answer_begin_list(&list);
	for (guint i = kept - MIN(kept, n); i < kept; i++)
		add_event(view->fabric, &g_array_index(events, struct cc_event, i), &list);
	answer_member(answer, "events", &list);
	for (unsigned int subject = 0; view->report && subject < SUBJECTS; subject++)
		add_top(answer, view, subject);
}

/* ---- in words ---- */

/* "host-5 (LID 12)". */
static char *lid_text(GVariant *row, const char *key)
{
	g_autofree char *node = g_strconcat(key, "_node", NULL);
	const char *name = answer_get_text(row, node);

	return *name ? g_strdup_printf("%s (LID %" PRIu64 ")", name, answer_get_number(row, key))
		     : g_strdup_printf("LID %" PRIu64, answer_get_number(row, key));
}

static const char *node_text(GVariant *row, const char *guid)
{
	const char *name = answer_get_text(row, "node");

	return *name ? name : answer_get_text(row, guid);
}

static void print_event(GVariant *row, GString *out)
{
	g_autofree char *when = figures_time(answer_get_number(row, "time_us"));
	g_autofree char *source = lid_text(row, "source"), *target = lid_text(row, "target");

	g_string_append_printf(out, "%s  %s %s: %s to %s, SL %" PRIu64, when,
			       node_text(row, "port_guid"),
			       answer_get_flag(row, "switch") ? "marked a packet" : "slows down",
			       source, target, answer_get_number(row, "sl"));
	if (*answer_get_text(row, "service"))
		g_string_append_printf(out, ", %s from QP 0x%" PRIx64 " to QP 0x%" PRIx64,
				       answer_get_text(row, "service"),
				       answer_get_number(row, "local_qp"),
				       answer_get_number(row, "remote_qp"));
	g_string_append_c(out, '\n');
}

static void print_lid(GVariant *row, GString *out)
{
	g_autofree char *name = lid_text(row, "lid");

	g_string_append_printf(out, "   %8" PRIu64 "  %s\n", answer_get_number(row, "events"),
			       name);
}

static void print_switch(GVariant *row, GString *out)
{
	g_string_append_printf(out, "   %8" PRIu64 "  %s\n", answer_get_number(row, "events"),
			       node_text(row, "guid"));
}

static void print_top(GVariant *answer, enum subject subject, GString *out)
{
	g_autoptr(GVariant) rows = answer_get(answer, subjects[subject]);

	if (!rows || !g_variant_n_children(rows))
		return;
	g_string_append_printf(out, "%s with the most events:\n", subjects[subject]);
	answer_each(answer, subjects[subject], subject == SWITCHES ? print_switch : print_lid, out);
}

void cc_print_log(GVariant *answer, GString *out)
{
	if (!answer_get_number(answer, "poll_seconds"))
		g_string_append(out, "logs are not read: cc_log_poll is 0\n");
	answer_each(answer, "events", print_event, out);
	g_string_append_printf(out, "%" PRIu64 " events are kept\n",
			       answer_get_number(answer, "kept"));
	for (unsigned int subject = 0; subject < SUBJECTS; subject++)
		print_top(answer, subject, out);
}
