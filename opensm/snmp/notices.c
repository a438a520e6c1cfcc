// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "snmp/notices.h"

#include <inttypes.h>
#include <string.h>

static const uint32_t numbers[NOTICE_KINDS] = {
#define NOTICE(number, symbol, name) number,
#include "snmp/notices.def"
#undef NOTICE
};

/* What is kept of facts. */
struct before {
	bool known;
	enum facts_state state;
	bool up, errors;
	char *partition_problems; /* a line each */
	GArray *unhealthy;	  /* of struct facts_port, without texts */
	GArray *standbys;
};

struct notices {
	struct before before;
	GArray *waiting; /* of struct notice: at most one of each kind */
	gint64 next_us;	 /* none is sent before */
};

uint32_t notice_number(enum notice_kind kind)
{
	return numbers[kind];
}

void notice_clear(struct notice *notice)
{
	g_clear_pointer(&notice->text, g_free);
}

static void clear_notice(gpointer notice)
{
	notice_clear(notice);
}

struct notices *notices_new(void)
{
	struct notices *notices = g_new0(struct notices, 1);

	notices->waiting = g_array_new(FALSE, FALSE, sizeof(struct notice));
	g_array_set_clear_func(notices->waiting, clear_notice);
	notices->before.unhealthy = g_array_new(FALSE, FALSE, sizeof(struct facts_port));
	notices->before.standbys = g_array_new(FALSE, FALSE, sizeof(struct facts_port));
	return notices;
}

void notices_free(struct notices *notices)
{
	if (!notices)
		return;
	g_array_unref(notices->waiting);
	g_array_unref(notices->before.unhealthy);
	g_array_unref(notices->before.standbys);
	g_free(notices->before.partition_problems);
	g_free(notices);
}

/* ---- what has happened ---- */

/* Takes over the text. */
static void add(struct notices *notices, const struct facts *facts, enum notice_kind kind,
		uint64_t guid, char *text)
{
	struct notice notice = {kind, 1, guid, text, facts->state, facts->guid};

	for (guint i = 0; i < notices->waiting->len; i++) {
		struct notice *old = &g_array_index(notices->waiting, struct notice, i);

		if (old->kind != kind)
			continue;
		notice.count += old->count;
		notice_clear(old);
		*old = notice;
		return;
	}
	g_array_append_val(notices->waiting, notice);
}

static bool has_port(const GArray *ports, const struct facts_port *wanted)
{
	for (guint i = 0; i < ports->len; i++) {
		const struct facts_port *port = &g_array_index(ports, struct facts_port, i);

		if (port->guid == wanted->guid && port->port == wanted->port)
			return true;
	}
	return false;
}

static void compare_state(struct notices *notices, const struct facts *facts)
{
	const struct before *before = &notices->before;

	if (facts->state != before->state)
		add(notices, facts, NOTICE_STATE_CHANGED, facts->guid,
		    g_strdup_printf("%s, was %s", facts_state_word(facts->state),
				    facts_state_word(before->state)));
	if (facts_subnet_up(facts) && !before->up)
		add(notices, facts, NOTICE_SUBNET_UP, facts->guid, g_strdup(facts->summary));
	if (facts->state == FACTS_MASTER && facts->errors && !before->errors)
		add(notices, facts, NOTICE_SUBNET_ERRORS, facts->guid,
		    g_strdup(*facts->problems ? facts->problems : facts->summary));
}

static void compare_partitions(struct notices *notices, const struct facts *facts)
{
	g_auto(GStrv) now = g_strsplit(facts->partition_problems, "\n", -1);
	g_auto(GStrv) before = g_strsplit(notices->before.partition_problems, "\n", -1);

	for (char **line = now; *line; line++)
		if (**line && !g_strv_contains((const char *const *)before, *line))
			add(notices, facts, NOTICE_PARTITION_PROBLEM, facts->guid, g_strdup(*line));
}

static void compare_ports(struct notices *notices, const struct facts *facts)
{
	const GArray *unhealthy = facts->unhealthy, *standbys = notices->before.standbys;

	for (guint i = 0; i < unhealthy->len; i++) {
		const struct facts_port *port = &g_array_index(unhealthy, struct facts_port, i);

		if (!has_port(notices->before.unhealthy, port))
			add(notices, facts, NOTICE_PORT_UNHEALTHY, port->guid,
			    g_strdup(port->text));
	}
	if (facts->state != FACTS_MASTER || notices->before.state != FACTS_MASTER)
		return;
	for (guint i = 0; i < standbys->len; i++) {
		const struct facts_port *standby = &g_array_index(standbys, struct facts_port, i);

		if (!has_port(facts->standbys, standby))
			add(notices, facts, NOTICE_STANDBY_LOST, standby->guid,
			    g_strdup_printf("SM 0x%016" PRIx64
					    " no longer has what it needs to take over",
					    standby->guid));
	}
}

static void keep_ports(GArray *kept, const GArray *ports)
{
	g_array_set_size(kept, 0);
	for (guint i = 0; i < ports->len; i++) {
		struct facts_port port = g_array_index(ports, struct facts_port, i);

		port.text = NULL;
		g_array_append_val(kept, port);
	}
}

void notices_look(struct notices *notices, const struct facts *facts)
{
	struct before *before = &notices->before;

	if (before->known) {
		compare_state(notices, facts);
		compare_partitions(notices, facts);
		compare_ports(notices, facts);
	}
	before->known = true;
	before->state = facts->state;
	before->up = facts_subnet_up(facts);
	before->errors = facts->errors;
	/* What a daemon that does not answer had is not told again when it does. */
	if (facts->state == FACTS_UNREACHABLE && before->partition_problems)
		return;
	g_free(before->partition_problems);
	before->partition_problems = g_strdup(facts->partition_problems);
	keep_ports(before->unhealthy, facts->unhealthy);
	keep_ports(before->standbys, facts->standbys);
}

/* The changes of the subnet that are worth a notification, by their names in the journal. */
static const struct {
	const char *change;
	enum notice_kind kind;
} changes[] = {
	{"link_down", NOTICE_LINK_DOWN},
	{"nodes_gone", NOTICE_NODES_GONE},
};

void notices_read(struct notices *notices, const struct facts *facts, JsonArray *events)
{
	for (guint i = 0; i < json_rows(events); i++) {
		JsonObject *row = json_row(events, i);

		for (size_t k = 0; k < G_N_ELEMENTS(changes); k++)
			if (!strcmp(changes[k].change, json_text(row, "change")))
				add(notices, facts, changes[k].kind, facts_guid(row, "guid"),
				    g_strdup(json_text(row, "text")));
	}
}

/* ---- sending ---- */

gint64 notices_due(const struct notices *notices)
{
	return notices->waiting->len ? notices->next_us : -1;
}

bool notices_take(struct notices *notices, gint64 now_us, struct notice *notice)
{
	if (!notices->waiting->len || now_us < notices->next_us)
		return false;
	*notice = g_array_index(notices->waiting, struct notice, 0);
	g_array_index(notices->waiting, struct notice, 0).text = NULL;
	g_array_remove_index(notices->waiting, 0);
	notices->next_us = now_us + NOTICES_INTERVAL_US;
	return true;
}
