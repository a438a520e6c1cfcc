// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "policy/files/in_effect.h"

#include <stdlib.h>
#include <string.h>

#include "complib/file.h"
#include "policy/files/ports_policy.h"
#include "policy/files/prefix_routes.h"
#include "policy/files/route_files.h"
#include "policy/files/ties.h"
#include "policy/partition/partition_file.h"
#include "policy/qos/qos_file.h"

/* The settings in effect, kept while one digest is computed. */
struct in_effect {
	struct context *context;
	const struct options *options;
	struct route_files *files;
	struct route_input input; /* of these */
};

static void add(GChecksum *sum, uint64_t number)
{
	uint64_t octets = GUINT64_TO_BE(number);

	g_checksum_update(sum, (const guchar *)&octets, sizeof(octets));
}

/* Includes the final NUL, so that two texts differ from their concatenation. */
static void add_text(GChecksum *sum, const char *text)
{
	g_checksum_update(sum, (const guchar *)(text ? text : ""), text ? strlen(text) + 1 : 1);
}

/* ---- policies ---- */

static void add_member(GChecksum *sum, const struct partition_member *member)
{
	add(sum, member->first);
	add(sum, member->last);
	add_text(sum, member->pattern);
	add(sum, member->who);
	add(sum, member->membership);
}

static void add_group(GChecksum *sum, const struct partition_group *group)
{
	add(sum, group->mgid.prefix);
	add(sum, group->mgid.guid);
	add(sum, group->q_key);
	add(sum, group->flow_label);
	add(sum, group->mtu);
	add(sum, group->rate);
	add(sum, group->sl);
	add(sum, group->scope);
	add(sum, group->t_class);
	add(sum, group->own_sl);
}

/* Without changes made at run time, which replication brings to all SMs. */
static void add_rule(GChecksum *sum, const struct partition_rule *rule, uint32_t n_files)
{
	add(sum, rule->p_key);
	add_text(sum, rule->name);
	add(sum, rule->indx0);
	add(sum, rule->sl);
	add(sum, rule->ipoib);
	for (guint i = 0; i < rule->members->len; i++) {
		const struct partition_member *member =
			&g_array_index(rule->members, struct partition_member, i);

		if (member->file < n_files)
			add_member(sum, member);
	}
	for (guint i = 0; i < rule->groups->len; i++)
		add_group(sum, &g_array_index(rule->groups, struct partition_group, i));
}

static void add_partitions(GChecksum *sum, const struct in_effect *in)
{
	struct partition_rules *rules = slot_take(&in->context->partition_rules);

	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		if (rule->file < rules->n_own_files)
			add_rule(sum, rule, rules->n_own_files);
	}
	partition_rules_unref(rules);
}

/* Without comments, empty lines and blanks at the ends of lines. */
static void add_lines(GChecksum *sum, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);

	for (unsigned int i = 0; lines[i]; i++) {
		lines[i][strcspn(lines[i], "#")] = '\0';
		g_strstrip(lines[i]);
		if (*lines[i])
			add_text(sum, lines[i]);
	}
}

static void add_qos(GChecksum *sum, const struct in_effect *in)
{
	struct qos_policy *policy = slot_take(&in->context->qos_policy);

	add_lines(sum, policy->text);
	qos_policy_unref(policy);
}

static void add_prefix_routes(GChecksum *sum, const struct in_effect *in)
{
	struct prefix_routes *routes = slot_take(&in->context->prefix_routes);

	for (guint i = 0; i < routes->routes->len; i++) {
		const struct prefix_route *route =
			&g_array_index(routes->routes, struct prefix_route, i);

		add(sum, route->prefix);
		add(sum, route->guid);
	}
	prefix_routes_unref(routes);
}

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = **(const uint64_t *const *)a, y = **(const uint64_t *const *)b;

	return (x > y) - (x < y);
}

static void add_node_names(GChecksum *sum, const struct in_effect *in)
{
	struct node_names *names = slot_take(&in->context->node_names);
	g_autofree gpointer *guids = NULL;
	guint n = 0;

	if (names)
		guids = g_hash_table_get_keys_as_array(names->by_guid, &n);
	if (n)
		qsort(guids, n, sizeof(*guids), compare_guids);
	for (guint i = 0; i < n; i++) {
		add(sum, *(const uint64_t *)guids[i]);
		add_text(sum, g_hash_table_lookup(names->by_guid, guids[i]));
	}
	node_names_unref(names);
}

static void add_ports_policy(GChecksum *sum, const struct in_effect *in)
{
	struct ports_policy *policy = slot_take(&in->context->ports_policy);

	for (unsigned int condition = 0; condition < PORT_CONDITIONS; condition++)
		for (unsigned int type = 0; type <= IBA_NODE_ROUTER; type++) {
			const struct port_rule *rule = &policy->rules[condition][type];

			add(sum, rule->action);
			add(sum, rule->cut_off);
			add(sum, rule->sweeps);
			add(sum, rule->count);
			add(sum, rule->window);
			add(sum, rule->release);
		}
	ports_policy_unref(policy);
}

/* ---- files of the routing options ---- */

static void add_guids(GChecksum *sum, const uint64_t *guids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add(sum, guids[i]);
}

static void add_roots(GChecksum *sum, const struct in_effect *in)
{
	add_guids(sum, in->input.roots, in->input.n_roots);
}

static void add_compute(GChecksum *sum, const struct in_effect *in)
{
	add_guids(sum, in->input.compute, in->input.n_compute);
}

static void add_io(GChecksum *sum, const struct in_effect *in)
{
	add_guids(sum, in->input.io, in->input.n_io);
}

static void add_ahead(GChecksum *sum, const struct in_effect *in)
{
	add_guids(sum, in->input.ahead, in->input.n_ahead);
}

static void add_ids(GChecksum *sum, const struct in_effect *in)
{
	for (uint32_t i = 0; i < in->input.n_ids; i++) {
		add(sum, in->input.ids[i].guid);
		add(sum, in->input.ids[i].id);
	}
}

static void add_ignored(GChecksum *sum, const struct in_effect *in)
{
	for (uint32_t i = 0; i < in->input.n_ignored; i++) {
		add(sum, in->input.ignored[i].guid);
		add(sum, (uint16_t)in->input.ignored[i].num);
	}
}

static void add_weights(GChecksum *sum, const struct in_effect *in)
{
	for (uint32_t i = 0; i < in->input.n_weights; i++) {
		add(sum, in->input.weights[i].guid);
		add(sum, in->input.weights[i].port);
		add(sum, in->input.weights[i].weight);
	}
}

static void add_port_orders(GChecksum *sum, const struct in_effect *in)
{
	for (uint32_t i = 0; i < in->input.n_port_orders; i++) {
		const struct route_port_order *order = &in->input.port_orders[i];

		add(sum, order->guid);
		add(sum, order->n);
		g_checksum_update(sum, order->ports, order->n);
	}
}

static void add_ties(GChecksum *sum, const struct in_effect *in)
{
	const GArray *ties = route_files_ties(in->files);

	for (guint i = 0; ties && i < ties->len; i++) {
		const struct tie_row *tie = &g_array_index(ties, struct tie_row, i);

		add(sum, tie->guid);
		add(sum, tie->p_key);
		add(sum, tie->port);
	}
}

static void add_lfts(GChecksum *sum, const struct in_effect *in)
{
	const struct route_lfts *lfts = &in->input.lfts;

	for (uint32_t i = 0; i < lfts->n; i++) {
		add(sum, lfts->lfts[i].guid);
		add(sum, lfts->lfts[i].n);
		for (uint32_t k = 0; k < lfts->lfts[i].n; k++) {
			const struct route_lft_entry *entry =
				&lfts->entries[lfts->lfts[i].first + k];

			add(sum, entry->guid);
			add(sum, entry->lid);
			add(sum, entry->port);
		}
	}
}

static void add_hops(GChecksum *sum, const struct in_effect *in)
{
	const struct route_hops_rows *hops = &in->input.hops;

	for (uint32_t i = 0; i < hops->n; i++) {
		const struct route_hops_row *row = &hops->rows[i];

		add(sum, row->sw);
		add(sum, row->guid);
		add(sum, row->lid);
		add(sum, row->n);
		if (row->n)
			g_checksum_update(sum, hops->hops + row->first, row->n);
	}
}

static void add_torus(GChecksum *sum, const struct in_effect *in)
{
	const struct route_torus *torus = &in->input.torus;

	for (unsigned int i = 0; i < 3; i++)
		add(sum, torus->radix[i]);
	for (unsigned int i = 0; i < 3; i++)
		add(sum, torus->loops[i]);
	add(sum, torus->max_ports);
	for (uint32_t i = 0; i < torus->n_seeds; i++) {
		const struct route_torus_seed *seed = &torus->seeds[i];

		add(sum, seed->from);
		add_guids(sum, seed->to, G_N_ELEMENTS(seed->to));
		for (unsigned int k = 0; k < 3; k++)
			add(sum, (uint32_t)seed->dateline[k]);
	}
	if (torus->n_port_order)
		g_checksum_update(sum, torus->port_order, torus->n_port_order);
}

static void add_seed(GChecksum *sum, const struct in_effect *in)
{
	gsize length;
	const guchar *seed;

	if (!in->options->m_key_seed)
		return;
	seed = g_bytes_get_data(in->options->m_key_seed, &length);
	g_checksum_update(sum, seed, (gssize)length);
}

/* ---- of the Scalable SA, which reads them itself ---- */

static void add_ssa_key(GChecksum *sum, const struct in_effect *in)
{
	const char *file = in->options->ssa_key_file;
	char *text = file ? file_read(file, FILE_MAX_CONFIG, NULL, NULL) : NULL;

	if (!text)
		return;
	text[strcspn(text, "\r\n")] = '\0';
	add_text(sum, text);
	explicit_bzero(text, strlen(text));
	g_free(text);
}

static void add_ssa_addresses(GChecksum *sum, const struct in_effect *in)
{
	const char *file = in->options->ssa_address_file;
	g_autofree char *text = file ? file_read(file, FILE_MAX_CONFIG, NULL, NULL) : NULL;

	add_lines(sum, text);
}

static const struct {
	enum option_id id;
	void (*add)(GChecksum *sum, const struct in_effect *in);
} readers[] = {
	{OPTION_m_key_seed_file, add_seed},
	{OPTION_partition_config_file, add_partitions},
	{OPTION_qos_policy_file, add_qos},
	{OPTION_prefix_routes_file, add_prefix_routes},
	{OPTION_hm_ports_health_policy_file, add_ports_policy},
	{OPTION_node_name_map_name, add_node_names},
	{OPTION_root_guid_file, add_roots},
	{OPTION_cn_guid_file, add_compute},
	{OPTION_io_guid_file, add_io},
	{OPTION_ids_guid_file, add_ids},
	{OPTION_guid_routing_order_file, add_ahead},
	{OPTION_port_prof_ignore_file, add_ignored},
	{OPTION_hop_weights_file, add_weights},
	{OPTION_port_search_ordering_file, add_port_orders},
	{OPTION_partition_links_file, add_ties},
	{OPTION_lfts_file, add_lfts},
	{OPTION_lid_matrix_dump_file, add_hops},
	{OPTION_torus_config, add_torus},
	{OPTION_ssa_key_file, add_ssa_key},
	{OPTION_ssa_address_file, add_ssa_addresses},
};

static char *digest(const void *arg, enum option_id id)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	bool found = false;

	for (unsigned int i = 0; i < G_N_ELEMENTS(readers); i++)
		if (readers[i].id == id) {
			readers[i].add(sum, arg);
			found = true;
		}
	g_assert(found);
	return g_strdup(g_checksum_get_string(sum));
}

struct agreed *agreed_in_effect(struct context *context)
{
	struct options *options = slot_take(&context->options);
	struct in_effect in = {
		.context = context,
		.options = options,
		.files = slot_take(&context->route_files),
	};
	struct agreed *agreed;

	route_files_input(in.files, options, &in.input);
	agreed = agreed_new(options, digest, &in);
	route_files_unref(in.files);
	options_unref(options);
	return agreed;
}
