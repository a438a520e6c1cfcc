// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "osmroute/report_measured.h"

#define SHOWN_MAX 20

static const struct measured_channel *channel_at(const struct measured *measured, guint i)
{
	return &g_array_index(measured->channels, struct measured_channel, i);
}

void report_measured(GString *text, const struct fabric *fabric, const struct measured *measured)
{
	guint n = measured->channels->len, shown = MIN(n, SHOWN_MAX);

	g_string_append_printf(text, "\nload measured beside that of %s: %u channels",
			       measured->engine, n);
	if (measured->unknown)
		g_string_append_printf(text, ", %u not measured", measured->unknown);
	if (shown < n)
		g_string_append_printf(text, "; the %u worst", shown);
	g_string_append_c(text, '\n');
	if (!shown)
		return;
	g_string_append(text, "   flows   share          octets   share  difference  channel\n");
	for (guint i = 0; i < shown; i++) {
		const struct measured_channel *channel = channel_at(measured, i);
		char from[FABRIC_NAME_SIZE], to[FABRIC_NAME_SIZE];

		fabric_port_name(fabric, channel->port, from, sizeof(from));
		fabric_port_name(fabric, fabric->ports[channel->port].peer, to, sizeof(to));
		g_string_append_printf(text,
				       "%8" G_GUINT64_FORMAT " %6.2f%% %15" G_GUINT64_FORMAT
				       "%c%6.2f%% %+10.2f%%  %s -> %s\n",
				       channel->flows, 100 * channel->computed_share,
				       channel->octets, channel->at_least ? '+' : ' ',
				       100 * channel->measured_share, 100 * channel->difference,
				       from, to);
	}
}

static GVariant *end_value(const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];
	const struct fabric_node *node = &fabric->nodes[p->node];
	g_autofree char *guid = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", node->guid);
	g_autofree char *name = g_utf8_make_valid(node->description, -1);
	GVariantDict dict;

	g_variant_dict_init(&dict, NULL);
	g_variant_dict_insert(&dict, "guid", "s", guid);
	g_variant_dict_insert(&dict, "name", "s", name);
	g_variant_dict_insert(&dict, "port", "u", (guint32)p->num);
	return g_variant_dict_end(&dict);
}

GVariant *report_measured_value(const struct fabric *fabric, const struct measured *measured)
{
	GVariantBuilder channels;
	GVariantDict dict;

	g_variant_builder_init(&channels, G_VARIANT_TYPE("aa{sv}"));
	for (guint i = 0; i < measured->channels->len; i++) {
		const struct measured_channel *channel = channel_at(measured, i);

		g_variant_dict_init(&dict, NULL);
		g_variant_dict_insert_value(&dict, "from", end_value(fabric, channel->port));
		g_variant_dict_insert_value(&dict, "to",
					    end_value(fabric, fabric->ports[channel->port].peer));
		g_variant_dict_insert(&dict, "flows", "t", channel->flows);
		g_variant_dict_insert(&dict, "computed_share", "d", channel->computed_share);
		g_variant_dict_insert(&dict, "octets", "t", channel->octets);
		g_variant_dict_insert(&dict, "at_least", "b", channel->at_least);
		g_variant_dict_insert(&dict, "measured_share", "d", channel->measured_share);
		g_variant_builder_add_value(&channels, g_variant_dict_end(&dict));
	}
	g_variant_dict_init(&dict, NULL);
	g_variant_dict_insert(&dict, "engine", "s", measured->engine);
	g_variant_dict_insert(&dict, "not_measured", "u", measured->unknown);
	g_variant_dict_insert_value(&dict, "channels", g_variant_builder_end(&channels));
	return g_variant_dict_end(&dict);
}
