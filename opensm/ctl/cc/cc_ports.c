// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The agents one by one: in which state, since when, why, and with which settings. */
#include <inttypes.h>

#include "ctl/cc/cc_view.h"
#include "ctl/perfmgr/figures.h"
#include "iba/attributes.h"

#define NAME_COLUMNS 28

/* ---- words ---- */

static const char *key_word(const struct cc_row *row)
{
	if (row->lacks_key)
		return "unsupported";
	if (row->state == CC_LOCKED || row->state == CC_UNKNOWN)
		return "unknown";
	if (row->has_key)
		return "ours";
	return row->has_other_key ? "other" : "none";
}

/* IBA 13.4.7: bits 2 to 4 are a code. */
static const char *status_text(uint16_t status)
{
	static const char *const codes[] = {
		NULL,
		"version of the class not supported",
		"method not supported",
		"attribute not supported",
		NULL,
		NULL,
		NULL,
		"a field or the modifier is invalid",
	};
	const char *text = codes[(status & IBA_STATUS_CODE_MASK) >> 2];

	if (text)
		return text;
	return status & IBA_STATUS_BUSY ? "busy" : "an error of the class";
}

/* ---- the answer ---- */

static void add_refusal(GVariantBuilder *answer, const struct cc_row *row)
{
	const char *name = iba_attribute_name(IBA_CLASS_CC, row->attribute);

	if (row->state != CC_REFUSED && row->state != CC_UNSUPPORTED && row->state != CC_SILENT)
		return;
	if (name)
		answer_text(answer, "attribute", name);
	answer_hex16(answer, "attribute_id", row->attribute);
	if (row->state == CC_SILENT)
		return;
	answer_hex16(answer, "refused_with", row->status);
	answer_text(answer, "why", status_text(row->status));
}

static const uint8_t *octets_of(GBytes *bytes, bool is_switch, unsigned int pieces)
{
	gsize size = is_switch ? CC_SWITCH_OCTETS : (gsize)pieces * CC_CA_OCTETS;

	return bytes && pieces && g_bytes_get_size(bytes) == size ? g_bytes_get_data(bytes, NULL)
								  : NULL;
}

static void add_fields(GVariantBuilder *answer, const struct cc_row *row)
{
	const uint8_t *wanted = octets_of(row->wanted, row->is_switch, row->n_wanted);
	const uint8_t *has = octets_of(row->has, row->is_switch, row->n_has);
	GVariantBuilder list;

	answer_begin_list(&list);
	if (row->is_switch)
		cc_add_switch_fields(&list, wanted, false, row->known & 1 ? has : NULL);
	else
		cc_add_ca_fields(&list, wanted, row->n_wanted, has, has ? row->n_has : 0,
				 row->known);
	answer_hex16(answer, "capability_mask", row->capability);
	answer_hex16(answer, "congestion_info", row->info);
	answer_number(answer, "table_blocks_max", row->table_cap);
	answer_flag(answer, "original_is_kept", row->changed);
	answer_member(answer, "fields", &list);
}

static void add_row(const struct cc_view *view, const struct cc_row *row, bool fields,
		    GVariantBuilder *list)
{
	uint32_t node =
		view->fabric ? fabric_node_by_guid(view->fabric, row->node_guid) : FABRIC_NONE;
	GVariantBuilder answer;

	answer_begin(&answer);
	if (node != FABRIC_NONE)
		answer_name(&answer, "node", view->fabric, node);
	answer_guid(&answer, "guid", row->node_guid);
	answer_guid(&answer, "port_guid", row->guid);
	answer_number(&answer, "port", row->port);
	answer_number(&answer, "lid", row->lid);
	answer_flag(&answer, "switch", row->is_switch);
	answer_text(&answer, "state", cc_state_word(row->state));
	answer_text(&answer, "text", cc_state_text(row->state));
	answer_number(&answer, "since_us", row->since_us);
	add_refusal(&answer, row);
	answer_text(&answer, "key", key_word(row));
	answer_number(&answer, "key_lease", row->key_lease);
	answer_number(&answer, "violations", row->violations);
	answer_flag(&answer, "cut", row->cut);
	answer_number(&answer, "log_events", row->log_events);
	answer_number(&answer, "marked_ports", row->n_marked);
	if (fields)
		add_fields(&answer, row);
	answer_append(list, &answer);
}

static bool is_wished(const struct cc_wish *wish, const struct cc_row *row)
{
	return (!wish->node_guid || wish->node_guid == row->node_guid) &&
	       (wish->any_port || wish->port == row->port) &&
	       (wish->any_state || wish->state == row->state);
}

unsigned int cc_view_ports(const struct cc_view *view, const struct cc_wish *wish,
			   GVariantBuilder *answer)
{
	const struct cc_report *report = view->report;
	unsigned int n = 0;
	GVariantBuilder list;

	answer_begin_list(&list);
	for (uint32_t i = 0; report && i < report->n_rows; i++) {
		if (!is_wished(wish, &report->rows[i]))
			continue;
		add_row(view, &report->rows[i], wish->fields, &list);
		n++;
	}
	answer_member(answer, "ports", &list);
	return n;
}

/* ---- in words ---- */

static void print_name(GVariant *row, GString *out)
{
	const char *node = answer_get_text(row, "node");
	gsize before = out->len;
	glong length;

	g_string_append(out, *node ? node : answer_get_text(row, "guid"));
	if (!answer_get_flag(row, "switch"))
		g_string_append_printf(out, " port %" PRIu64, answer_get_number(row, "port"));
	length = g_utf8_strlen(out->str + before, -1);
	g_string_append_printf(out, "%*s", (int)MAX(1, NAME_COLUMNS - length), "");
}

static void print_row(GVariant *row, GString *out)
{
	g_autofree char *since = figures_time(answer_get_number(row, "since_us"));
	const char *attribute = answer_get_text(row, "attribute");

	print_name(row, out);
	g_string_append_printf(out, "%5" PRIu64 " %-28s %s  %-11s %10" PRIu64,
			       answer_get_number(row, "lid"), answer_get_text(row, "text"), since,
			       answer_get_text(row, "key"), answer_get_number(row, "violations"));
	if (*answer_get_text(row, "attribute_id"))
		g_string_append_printf(
			out, "  %s", *attribute ? attribute : answer_get_text(row, "attribute_id"));
	if (*answer_get_text(row, "why"))
		g_string_append_printf(out, ": %s (status %s)", answer_get_text(row, "why"),
				       answer_get_text(row, "refused_with"));
	if (answer_get_flag(row, "cut"))
		g_string_append(out, "  the table is cut");
	g_string_append_c(out, '\n');
}

static void print_details(GVariant *row, GString *out)
{
	print_row(row, out);
	g_string_append_printf(
		out,
		"   GUID %s, CapabilityMask %s, CongestionInfo %s, room for %" PRIu64
		" blocks of the table\n   lease of the key: %" PRIu64 " s; %" PRIu64
		" events in its log; %" PRIu64 " ports have marked packets\n   %s\n",
		answer_get_text(row, "port_guid"), answer_get_text(row, "capability_mask"),
		answer_get_text(row, "congestion_info"), answer_get_number(row, "table_blocks_max"),
		answer_get_number(row, "key_lease"), answer_get_number(row, "log_events"),
		answer_get_number(row, "marked_ports"),
		answer_get_flag(row, "original_is_kept")
			? "its original settings are kept, for when it is switched off"
			: "no original settings are kept");
	cc_print_fields(row, "fields", out);
}

void cc_print_ports(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) rows = answer_get(answer, "ports");
	bool fields = answer_get_flag(answer, "fields");
	gsize n = g_variant_n_children(rows);

	g_string_append_printf(out, "%-*s%5s %-28s %-19s  %-11s %10s\n", NAME_COLUMNS, "PORT",
			       "LID", "STATE", "SINCE", "KEY", "VIOLATIONS");
	answer_each(answer, "ports", fields ? print_details : print_row, out);
	if (!fields)
		g_string_append_printf(out, "%" G_GSIZE_FORMAT " %s\n", n,
				       n == 1 ? "port" : "ports");
}
