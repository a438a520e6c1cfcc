// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * First all is counted, and the texts are gathered, as the size of the block depends on them. Then
 * the block is made, and each of its sections is filled once.
 */
#include "ctl/plugin/snapshot.h"

#include <gio/gio.h>
#include <string.h>

#include "core/context.h"
#include "core/printable.h"
#include "iba/constants.h"
#include "opensm/plugin.h"
#include "perf/image/growth.h"
#include "plugin/base/block.h"
#include "plugin/base/snapshot_sections.h"
#include "policy/partition/groups.h"
#include "subnet/subnet.h"

struct maker {
	const struct snapshot_source *source;
	const struct subnet *subnet;
	const struct fabric *fabric;
	const struct routing *routing;	     /* these are NULL if their part is not wanted, */
	const struct partitions *partitions; /* or not there */
	const struct mc_groups *groups;
	const struct perf_image *last;
	uint32_t parts; /* that it gets */
	uint32_t n_group_members, n_counter_rows;
	uint32_t *partition_of;	   /* [P_KEY_BASES]: index in partitions, or OSM_NONE */
	uint32_t *first_member;	   /* [partitions->n + 1]: of a partition */
	uint32_t *names;	   /* [2 * n_nodes]: name and description of a node */
	uint32_t *partition_names; /* [partitions->n] */
	uint32_t engine;
	GString *texts;
	GHashTable *known; /* text -> its place in texts */
	struct block block;
};

G_STATIC_ASSERT((int)OSM_SM_MASTER == (int)IBA_SM_MASTER);
G_STATIC_ASSERT((int)OSM_SM_STANDBY == (int)IBA_SM_STANDBY);
G_STATIC_ASSERT(OSM_COUNTERS >= (int)PERF_COUNTERS);
#define PERF_COUNTER(name, field, width, select, kind, iba, dump, machine, number)                 \
	G_STATIC_ASSERT((int)OSM_COUNTER_##name == (int)PERF_##name);
#define PERF_WIDE_COUNTER(name, field, iba, dump)                                                  \
	G_STATIC_ASSERT((int)OSM_COUNTER_##name == (int)PERF_##name);
#include "perf/image/counters.def"

/* ---- texts ---- */

/* Takes the text over. Equal texts have one place. */
static uint32_t add_text(struct maker *maker, char *text)
{
	gpointer place;

	if (g_hash_table_lookup_extended(maker->known, text, NULL, &place)) {
		g_free(text);
		return GPOINTER_TO_UINT(place);
	}
	place = GUINT_TO_POINTER(maker->texts->len);
	g_string_append_len(maker->texts, text, (gssize)strlen(text) + 1);
	g_hash_table_insert(maker->known, text, place);
	return GPOINTER_TO_UINT(place);
}

static const char *engine_name(const struct routing *routing)
{
	const struct route_engine *engine = routing->engine ? routing->engine : routing->maker;

	return engine ? engine->name : "";
}

static void gather_texts(struct maker *maker)
{
	const struct fabric *fabric = maker->fabric;

	add_text(maker, g_strdup(""));
	maker->engine = add_text(maker, g_strdup(engine_name(maker->subnet->routing)));
	maker->names = g_new(uint32_t, 2 * (size_t)fabric->n_nodes + 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		maker->names[2 * (size_t)i] = add_text(maker, fabric_shown_name(fabric, i));
		maker->names[2 * (size_t)i + 1] =
			add_text(maker, printable_text(fabric->nodes[i].description));
	}
	if (!maker->partitions)
		return;
	maker->partition_names = g_new(uint32_t, maker->partitions->n + 1);
	for (uint32_t i = 0; i < maker->partitions->n; i++) {
		const char *name = maker->partitions->all[i].name;

		maker->partition_names[i] = add_text(maker, printable_text(name ? name : ""));
	}
}

/* ---- how many ---- */

/* The members of each partition, a port with both kinds of P_Key once: as a full one. */
static void visit_members(const struct maker *maker, struct osm_member *members, uint32_t *n)
{
	const struct fabric *fabric = maker->fabric;

	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		const uint16_t *keys;
		uint32_t n_keys;

		if (!fabric_is_endport(fabric, port))
			continue;
		keys = partitions_of(maker->partitions, port, &n_keys);
		for (uint32_t i = 0; i < n_keys; i++) {
			uint32_t at = maker->partition_of[P_KEY_BASE(keys[i])];

			if (at == OSM_NONE || (i && P_KEY_BASE(keys[i]) == P_KEY_BASE(keys[i - 1])))
				continue;
			if (members)
				members[n[at]] = (struct osm_member){
					.guid = fabric->ports[port].guid,
					.full = keys[i] & P_KEY_FULL ? 1 : 0,
				};
			n[at]++;
		}
	}
}

static void count_members(struct maker *maker)
{
	const struct partitions *partitions = maker->partitions;

	maker->partition_of = g_new(uint32_t, P_KEY_BASES);
	maker->first_member = g_new0(uint32_t, partitions->n + 1);
	memset(maker->partition_of, 0xFF, P_KEY_BASES * sizeof(uint32_t));
	for (uint32_t i = 0; i < partitions->n; i++)
		maker->partition_of[P_KEY_BASE(partitions->all[i].p_key)] = i;
	visit_members(maker, NULL, maker->first_member + 1);
	for (uint32_t i = 0; i < partitions->n; i++)
		maker->first_member[i + 1] += maker->first_member[i];
}

static void count_all(struct maker *maker)
{
	struct mc_cursor cursor = {0};
	const struct mc_group *group;

	while ((group = mc_groups_next(maker->groups, &cursor)))
		maker->n_group_members += group->n_ports;
	for (uint32_t row = 0; maker->last && row < maker->last->layout->n_rows; row++)
		maker->n_counter_rows += (maker->last->flags[row] & PERF_EVER) != 0;
	if (maker->partitions)
		count_members(maker);
}

/* ---- sections ---- */

/* LFTs are rows of whole blocks, as a routing has them. */
static size_t row_octets(const struct routing *routing)
{
	return (size_t)routing->n_blocks * FABRIC_LFT_BLOCK;
}

static uint32_t n_p_keys(const struct partitions *partitions)
{
	return partitions ? partitions->first[partitions->n_classes] : 0;
}

static void lay_out(const struct maker *maker, struct block_plan *plan)
{
	const struct fabric *fabric = maker->fabric;
	const struct partitions *partitions = maker->partitions;
	uint32_t n_members = partitions ? maker->first_member[partitions->n] : 0;

	block_want(plan, SNAPSHOT_HEAD, sizeof(struct snapshot_head), 1);
	block_want(plan, SNAPSHOT_TEXTS, 1, maker->texts->len);
	block_want(plan, SNAPSHOT_NODES, sizeof(struct osm_node), fabric->n_nodes);
	block_want(plan, SNAPSHOT_PORTS, sizeof(struct osm_port), fabric->n_ports);
	block_want(plan, SNAPSHOT_SWITCHES, sizeof(struct osm_switch), fabric->n_switches);
	block_want(plan, SNAPSHOT_OF_LID, sizeof(uint32_t), fabric->max_lid + 1u);
	block_want(plan, SNAPSHOT_LFTS, 1,
		   maker->routing ? row_octets(maker->routing) * fabric->n_switches : 0);
	block_want(plan, SNAPSHOT_P_KEYS, sizeof(uint16_t), n_p_keys(partitions));
	block_want(plan, SNAPSHOT_PARTITIONS, sizeof(struct osm_partition),
		   partitions ? partitions->n : 0);
	block_want(plan, SNAPSHOT_PARTITION_MEMBERS, sizeof(struct osm_member), n_members);
	block_want(plan, SNAPSHOT_GROUPS, sizeof(struct osm_group),
		   maker->groups ? maker->groups->n : 0);
	block_want(plan, SNAPSHOT_GROUP_MEMBERS, sizeof(struct osm_member), maker->n_group_members);
	block_want(plan, SNAPSHOT_COUNTER_ROWS, sizeof(struct osm_counters), maker->n_counter_rows);
}

static void *section(const struct maker *maker, enum snapshot_section section)
{
	uint64_t n;

	return block_section(&maker->block, section, 1, &n, NULL);
}

static void fill_head(const struct maker *maker)
{
	struct snapshot_head *head = section(maker, SNAPSHOT_HEAD);
	const struct fabric *fabric = maker->fabric;

	*head = (struct snapshot_head){
		.parts = maker->parts,
		.engine = maker->engine,
		.generation = maker->subnet->generation,
		.made_us = g_get_real_time(),
		.subnet_prefix = maker->subnet->options->subnet_prefix,
		.sm_port = fabric->sm_port,
		.sm_state = maker->source->sm_state,
		.max_lid = fabric->max_lid,
	};
	if (maker->last) {
		head->counters = maker->last->id;
		head->counters_ns = maker->last->run ? 0 : maker->last->ended_ns;
	}
	memcpy(section(maker, SNAPSHOT_TEXTS), maker->texts->str, maker->texts->len);
	memcpy(section(maker, SNAPSHOT_OF_LID), fabric->lid_port,
	       (fabric->max_lid + 1u) * sizeof(uint32_t));
}

static void fill_nodes(const struct maker *maker)
{
	struct osm_node *nodes = section(maker, SNAPSHOT_NODES);
	const struct fabric *fabric = maker->fabric;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct fabric_node *from = &fabric->nodes[i];
		bool is_switch = fabric_is_switch(fabric, i);

		nodes[i] = (struct osm_node){
			.guid = from->guid,
			.system_guid = from->info.system_image_guid,
			.name = maker->names[2 * (size_t)i],
			.description = maker->names[2 * (size_t)i + 1],
			.first_port = from->first_port,
			.sw = from->sw,
			.vendor_id = from->info.vendor_id,
			.revision = from->info.revision,
			.device_id = from->info.device_id,
			.partition_cap = from->info.partition_cap,
			.type = from->type,
			.n_ports = from->num_ports,
			.silent = from->silent,
			.enhanced_port0 =
				is_switch && fabric->switches[from->sw].info.enhanced_port0,
		};
	}
}

static void fill_port_info(const struct fabric_port *from, struct osm_port *port)
{
	const struct iba_port_info *info = &from->info;

	port->known = 1;
	port->rate = from->rate;
	port->mtu = from->mtu;
	port->fdr10_active = (from->fdr10 & FABRIC_FDR10_ACTIVE) != 0;
	port->capability_mask = info->capability_mask;
	port->state = info->port_state;
	port->physical_state = info->port_physical_state;
	port->mtu_cap = info->mtu_cap;
	port->vl_cap = info->vl_cap;
	port->operational_vls = info->operational_vls;
	port->width_supported = info->link_width_supported;
	port->width_enabled = info->link_width_enabled;
	port->width_active = info->link_width_active;
	port->speed_supported = info->link_speed_supported;
	port->speed_enabled = info->link_speed_enabled;
	port->speed_active = info->link_speed_active;
	port->speed_ext_supported = info->link_speed_ext_supported;
	port->speed_ext_enabled = info->link_speed_ext_enabled;
	port->speed_ext_active = info->link_speed_ext_active;
}

static void fill_ports(const struct maker *maker)
{
	struct osm_port *ports = section(maker, SNAPSHOT_PORTS);
	const struct fabric *fabric = maker->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *from = &fabric->ports[i];
		const uint16_t *keys;

		ports[i] = (struct osm_port){
			.guid = from->guid,
			.node = from->node,
			.peer = from->peer,
			.lid = from->lid,
			.num = from->num,
			.lmc = from->lmc,
		};
		if (from->known)
			fill_port_info(from, &ports[i]);
		if (!maker->partitions || !fabric_is_endport(fabric, i))
			continue;
		keys = partitions_of(maker->partitions, i, &ports[i].n_p_keys);
		if (keys)
			ports[i].first_p_key = (uint32_t)(keys - maker->partitions->p_keys);
	}
}

static void fill_switches(const struct maker *maker)
{
	struct osm_switch *switches = section(maker, SNAPSHOT_SWITCHES);
	uint8_t *lfts = section(maker, SNAPSHOT_LFTS);
	const struct fabric *fabric = maker->fabric;
	const struct routing *routing = maker->routing;

	for (uint32_t i = 0; i < fabric->n_switches; i++) {
		const struct fabric_switch *from = &fabric->switches[i];

		switches[i] = (struct osm_switch){
			.node = from->node,
			.hops = from->hops,
			.linear_fdb_cap = from->info.linear_fdb_cap,
			.multicast_fdb_cap = from->info.multicast_fdb_cap,
		};
		if (!routing)
			continue;
		switches[i].lft = row_octets(routing) * i;
		switches[i].lft_top = routing->top;
		memcpy(lfts + switches[i].lft, routing->lft[i], row_octets(routing));
	}
}

static void fill_partitions(const struct maker *maker)
{
	struct osm_partition *to = section(maker, SNAPSHOT_PARTITIONS);
	const struct partitions *partitions = maker->partitions;
	g_autofree uint32_t *next = NULL;

	if (n_p_keys(partitions))
		memcpy(section(maker, SNAPSHOT_P_KEYS), partitions->p_keys,
		       n_p_keys(partitions) * sizeof(uint16_t));
	for (uint32_t i = 0; i < partitions->n; i++)
		to[i] = (struct osm_partition){
			.name = maker->partition_names[i],
			.first_member = maker->first_member[i],
			.n_members = maker->first_member[i + 1] - maker->first_member[i],
			.p_key = P_KEY_BASE(partitions->all[i].p_key),
		};
	next = g_memdup2(maker->first_member, (partitions->n + 1) * sizeof(uint32_t));
	visit_members(maker, section(maker, SNAPSHOT_PARTITION_MEMBERS), next);
}

static void fill_group(const struct mc_group *from, struct osm_group *group,
		       struct osm_member *members)
{
	uint64_t mgid[2] = {GUINT64_TO_BE(from->mgid.prefix), GUINT64_TO_BE(from->mgid.guid)};

	group->n_members = from->n_ports;
	group->mlid = from->mlid;
	group->p_key = from->p_key;
	group->mtu = from->mtu;
	group->rate = from->rate;
	group->sl = from->sl;
	memcpy(group->mgid, mgid, sizeof(mgid));
	for (uint32_t i = 0; i < from->n_ports; i++)
		members[i] = (struct osm_member){
			.guid = from->port_guids[i],
			.full = !from->only_sends[i],
		};
}

static void fill_groups(const struct maker *maker)
{
	struct osm_group *groups = section(maker, SNAPSHOT_GROUPS);
	struct osm_member *members = section(maker, SNAPSHOT_GROUP_MEMBERS);
	struct mc_cursor cursor = {0};
	const struct mc_group *from;
	uint32_t n = 0;

	while ((from = mc_groups_next(maker->groups, &cursor))) {
		groups->first_member = n;
		fill_group(from, groups++, members + n);
		n += from->n_ports;
	}
}

/* ---- counters ---- */

static void fill_counters_of(const struct perf_growth *growth, uint32_t row,
			     struct osm_counters *to)
{
	const struct perf_image *last = growth->new;
	const struct perf_place *place = &last->layout->places[row];
	uint64_t grown, ns;

	*to = (struct osm_counters){
		.guid = last->layout->nodes[place->node].guid,
		.port = place->port,
		.read = (last->flags[row] & PERF_READ) != 0,
		.have = last->have[row],
		.at_least = last->at_least[row],
	};
	for (unsigned int i = 0; i < PERF_COUNTERS; i++) {
		if (!(to->have >> i & 1))
			continue;
		to->total[i] = last->total[i][row];
		if (perf_growth_counter(growth, row, i, &grown, &ns)) {
			to->growth[i] = grown;
			to->interval_ns = ns;
		}
	}
}

/* An image of an earlier process has times of another clock. */
static void fill_counters(const struct maker *maker)
{
	struct osm_counters *to = section(maker, SNAPSHOT_COUNTER_ROWS);
	const struct perf_images *images = maker->source->images;
	const struct perf_image *last = maker->last, *old = NULL;
	struct perf_growth growth;

	if (images->n > 1 && images->images[images->n - 2]->run == last->run)
		old = images->images[images->n - 2];
	perf_growth_init(&growth, old, last);
	for (uint32_t row = 0; row < last->layout->n_rows; row++)
		if (last->flags[row] & PERF_EVER)
			fill_counters_of(&growth, row, to++);
	perf_growth_clear(&growth);
}

/* ---- all ---- */

static void begin(struct maker *maker, const struct snapshot_source *source, uint32_t parts)
{
	const struct subnet *subnet = source->subnet;

	*maker = (struct maker){
		.source = source,
		.subnet = subnet,
		.fabric = subnet->fabric,
		.routing = parts & OSM_PART_LFTS ? subnet->routing : NULL,
		.partitions = parts & OSM_PART_P_KEYS ? subnet->partitions : NULL,
		.groups = parts & OSM_PART_GROUPS ? source->groups : NULL,
		.last = parts & OSM_PART_COUNTERS ? perf_images_last(source->images) : NULL,
		.texts = g_string_new(NULL),
		.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.block = {.file = -1},
	};
	maker->parts = OSM_PART_NODES | (maker->routing ? OSM_PART_LFTS : 0) |
		       (maker->partitions ? OSM_PART_P_KEYS : 0) |
		       (parts & (OSM_PART_GROUPS | OSM_PART_COUNTERS));
}

static void end(struct maker *maker)
{
	g_free(maker->partition_of);
	g_free(maker->first_member);
	g_free(maker->names);
	g_free(maker->partition_names);
	g_string_free(maker->texts, TRUE);
	g_hash_table_unref(maker->known);
}

static void fill_all(const struct maker *maker)
{
	fill_head(maker);
	fill_nodes(maker);
	fill_ports(maker);
	fill_switches(maker);
	if (maker->partitions)
		fill_partitions(maker);
	if (maker->groups)
		fill_groups(maker);
	if (maker->last)
		fill_counters(maker);
}

int snapshot_make(const struct snapshot_source *source, uint32_t parts, GError **error)
{
	struct block_plan plan = {0};
	struct maker maker;
	int file = -1;

	if (!source->subnet || source->sm_state != IBA_SM_MASTER) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED, "%s",
			    source->sm_state == IBA_SM_MASTER
				    ? "the subnet has not been read yet"
				    : "the SM is not MASTER, so it publishes no subnet");
		return -1;
	}
	begin(&maker, source, parts);
	gather_texts(&maker);
	count_all(&maker);
	lay_out(&maker, &plan);
	if (block_new(&maker.block, "snapshot", &plan, error)) {
		fill_all(&maker);
		if (block_freeze(&maker.block, error))
			file = maker.block.file;
	}
	end(&maker);
	return file;
}

/* ---- the source ---- */

void snapshot_source_take(struct context *context, struct snapshot_source *source)
{
	*source = (struct snapshot_source){
		.subnet = slot_take(&context->subnet),
		.groups = slot_take(&context->groups),
		.images = slot_take(&context->perf_images),
		.sm_state = atomic_load(&context->sm_state),
	};
}

void snapshot_source_clear(struct snapshot_source *source)
{
	subnet_unref(source->subnet);
	mc_groups_unref(source->groups);
	perf_images_unref(source->images);
	*source = (struct snapshot_source){0};
}
