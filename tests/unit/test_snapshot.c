// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Snapshots for plug-ins: what the daemon writes into a block is, by the view of the host, what its
 * own objects say, member for member.
 */
#include <check.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/context.h"
#include "core/printable.h"
#include "ctl/plugin/snapshot.h"
#include "iba/constants.h"
#include "perf/image/growth.h"
#include "perf/image/layout.h"
#include "plugin/base/block.h"
#include "plugin/base/snapshot_sections.h"
#include "plugin/host/snapshot_view.h"
#include "tests/run_suite.h"
#include "tests/scenario/scenario.h"
#include "tests/unit/test_sa_make.h"

static struct snapshot_source source;
static const struct osm_snapshot *view;

static void look(uint32_t parts)
{
	g_autoptr(GError) error = NULL;
	int file = snapshot_make(&source, parts, &error);

	if (file < 0)
		ck_abort_msg("%s", error->message);
	view = snapshot_view_new(file, &error);
	if (!view)
		ck_abort_msg("%s", error->message);
}

static void end(void)
{
	snapshot_view_free(view);
	view = NULL;
	snapshot_source_clear(&source);
}

/* ---- sources ---- */

static const uint16_t p_keys[][4] = {
	{0xFFFF, 0x8001, 0x0002},
	{0x7FFF, 0x8001, 0x0001},
	{0},
	{0xFFFF, 0x8002, 0x0002, 0x0007},
};
static const struct partition partitions[] = {
	{.p_key = 0x7FFF, .name = (char *)"Default"},
	{.p_key = 1, .name = (char *)"one"},
	{.p_key = 2, .name = (char *)"two \x01"},
	{.p_key = 9, .name = (char *)"empty"},
};

static struct subnet *with_test_partitions(struct subnet *subnet)
{
	return with_partitions(subnet, p_keys, G_N_ELEMENTS(p_keys), partitions,
			       G_N_ELEMENTS(partitions));
}

static struct subnet *random_subnet(uint64_t seed)
{
	struct builder *builder = make_random(seed, 12);
	struct route_input input = {.threads = 1};
	struct options *options = options_new();
	struct partitions *all;
	struct routing *routing;
	struct fabric *fabric;
	struct subnet *subnet;

	make_lids(builder, seed % 3);
	fabric = builder_freeze(builder);
	builder_free(builder);
	routing = route_compute(route_find("minhop"), fabric, &input, NULL);
	ck_assert_ptr_nonnull(routing);
	all = partitions_default(fabric);
	subnet = subnet_new(fabric, routing, all, options);
	fabric_unref(fabric);
	routing_unref(routing);
	partitions_unref(all);
	options_unref(options);
	return with_test_partitions(subnet);
}

static struct mc_group *make_group(const struct fabric *fabric, uint16_t mlid, uint64_t *state)
{
	struct mc_group *group = mc_group_new(make_number(state, 9));
	uint32_t number = make_number(state, 1000);

	group->mgid = (struct iba_gid){UINT64_C(0xFF12401BFFFF0000), number};
	group->mlid = mlid;
	group->p_key = (uint16_t)(0x8000 + number);
	group->mtu = 4;
	group->rate = 3;
	group->sl = number % 16;
	for (uint32_t i = 0; i < group->n_ports; i++) {
		uint32_t port = make_number(state, fabric->n_ports);

		group->port_guids[i] = fabric->ports[port].guid;
		group->only_sends[i] = make_number(state, 2);
	}
	return group;
}

static struct mc_groups *make_groups(const struct fabric *fabric, uint64_t *state)
{
	struct mc_groups *groups = mc_groups_new(5);

	for (uint32_t block = 0; block < 4; block += 3) {
		struct mc_block *to = mc_block_new(3);

		for (uint32_t i = 0; i < to->n; i++)
			to->groups[i] = make_group(
				fabric, (uint16_t)(IBA_LID_MCAST_FIRST + block * MC_PER_BLOCK + i),
				state);
		groups->blocks[block] = to;
		groups->n += to->n;
	}
	return groups;
}

static struct perf_image *make_image(struct perf_layout *layout, uint64_t id, uint64_t *state)
{
	struct perf_image *image = perf_image_new(layout, 0);

	image->id = id;
	image->ended_ns = id * 1000000;
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		image->flags[row] = make_number(state, 8) ? PERF_EVER : 0;
		if (image->flags[row] && make_number(state, 4))
			image->flags[row] |= PERF_READ;
		image->read_ns[row] = image->flags[row] & PERF_READ ? image->ended_ns - row : 7;
		image->have[row] = make_number(state, 1u << PERF_COUNTERS);
		image->at_least[row] = make_number(state, 1u << PERF_COUNTERS);
		for (unsigned int i = 0; i < PERF_COUNTERS; i++)
			image->total[i][row] = id * 1000 + make_number(state, 1500);
	}
	return image;
}

static struct perf_images *make_images(const struct fabric *fabric, unsigned int n, uint64_t *state)
{
	struct perf_images *images = g_new0(struct perf_images, 1);
	const struct perf_layout_wish wish = {.now_us = 1};

	ref_init(&images->ref);
	images->n = n;
	images->images = g_new(struct perf_image *, n);
	for (unsigned int i = 0; i < n; i++) {
		struct perf_layout *layout = perf_layout_make(fabric, NULL, &wish);

		images->images[i] = make_image(layout, i + 1, state);
		perf_layout_unref(layout);
	}
	return images;
}

/* Takes over the subnet. */
static void begin(struct subnet *subnet, uint64_t seed)
{
	source = (struct snapshot_source){.subnet = subnet, .sm_state = IBA_SM_MASTER};
	source.groups = make_groups(subnet->fabric, &seed);
	source.images = make_images(subnet->fabric, 3, &seed);
}

/* ---- each member ---- */

static void check_node(const struct fabric *fabric, uint32_t i)
{
	const struct fabric_node *from = &fabric->nodes[i];
	const struct osm_node *node = osm_node(view, i);
	g_autofree char *name = fabric_shown_name(fabric, i);
	g_autofree char *description = printable_text(from->description);

	ck_assert_uint_eq(node->guid, from->guid);
	ck_assert_uint_eq(node->system_guid, from->info.system_image_guid);
	ck_assert_str_eq(osm_name(view, node->name), name);
	ck_assert_str_eq(osm_name(view, node->description), description);
	ck_assert_uint_eq(node->first_port, from->first_port);
	ck_assert_uint_eq(node->sw, from->sw == FABRIC_NONE ? OSM_NONE : from->sw);
	ck_assert_uint_eq(node->vendor_id, from->info.vendor_id);
	ck_assert_uint_eq(node->revision, from->info.revision);
	ck_assert_uint_eq(node->device_id, from->info.device_id);
	ck_assert_uint_eq(node->partition_cap, from->info.partition_cap);
	ck_assert_uint_eq(node->type, from->type);
	ck_assert_int_eq(node->type == OSM_NODE_SWITCH, node->sw != OSM_NONE);
	ck_assert_uint_eq(node->n_ports, from->num_ports);
	ck_assert_uint_eq(node->silent, from->silent);
	if (node->sw != OSM_NONE)
		ck_assert_uint_eq(node->enhanced_port0,
				  fabric->switches[from->sw].info.enhanced_port0);
	else
		ck_assert_uint_eq(node->enhanced_port0, 0);
}

static void check_port_info(const struct osm_port *port, const struct fabric_port *from)
{
	const struct iba_port_info *info = &from->info;

	ck_assert_uint_eq(port->rate, from->rate);
	ck_assert_uint_eq(port->mtu, from->mtu);
	ck_assert_uint_eq(port->fdr10_active, from->fdr10 & FABRIC_FDR10_ACTIVE ? 1 : 0);
	ck_assert_uint_eq(port->capability_mask, info->capability_mask);
	ck_assert_uint_eq(port->state, info->port_state);
	ck_assert_uint_eq(port->physical_state, info->port_physical_state);
	ck_assert_uint_eq(port->mtu_cap, info->mtu_cap);
	ck_assert_uint_eq(port->vl_cap, info->vl_cap);
	ck_assert_uint_eq(port->operational_vls, info->operational_vls);
	ck_assert_uint_eq(port->width_supported, info->link_width_supported);
	ck_assert_uint_eq(port->width_enabled, info->link_width_enabled);
	ck_assert_uint_eq(port->width_active, info->link_width_active);
	ck_assert_uint_eq(port->speed_supported, info->link_speed_supported);
	ck_assert_uint_eq(port->speed_enabled, info->link_speed_enabled);
	ck_assert_uint_eq(port->speed_active, info->link_speed_active);
	ck_assert_uint_eq(port->speed_ext_supported, info->link_speed_ext_supported);
	ck_assert_uint_eq(port->speed_ext_enabled, info->link_speed_ext_enabled);
	ck_assert_uint_eq(port->speed_ext_active, info->link_speed_ext_active);
}

static void check_p_keys(const struct osm_port *port, uint32_t i)
{
	uint32_t n = 0;
	const uint16_t *keys = fabric_is_endport(source.subnet->fabric, i)
				       ? partitions_of(source.subnet->partitions, i, &n)
				       : NULL;

	ck_assert_uint_eq(port->n_p_keys, n);
	for (uint32_t k = 0; k < n; k++)
		ck_assert_uint_eq(osm_p_key(view, port->first_p_key + k), keys[k]);
}

static void check_port(const struct fabric *fabric, uint32_t i)
{
	const struct fabric_port *from = &fabric->ports[i];
	const struct osm_port *port = osm_port(view, i);

	ck_assert_uint_eq(port->guid, from->guid);
	ck_assert_uint_eq(port->node, from->node);
	ck_assert_uint_eq(port->peer, from->peer == FABRIC_NONE ? OSM_NONE : from->peer);
	ck_assert_uint_eq(port->lid, from->lid);
	ck_assert_uint_eq(port->num, from->num);
	ck_assert_uint_eq(osm_node(view, port->node)->first_port + port->num, i);
	ck_assert_uint_eq(port->lmc, from->lmc);
	ck_assert_uint_eq(port->known, from->known);
	if (from->known)
		check_port_info(port, from);
	else
		ck_assert_uint_eq(port->state, 0);
	check_p_keys(port, i);
}

static void check_switch(const struct subnet *subnet, uint32_t i)
{
	const struct fabric_switch *from = &subnet->fabric->switches[i];
	const struct osm_switch *sw = osm_switch(view, i);

	ck_assert_uint_eq(sw->node, from->node);
	ck_assert_uint_eq(sw->hops, from->hops);
	ck_assert_uint_eq(sw->linear_fdb_cap, from->info.linear_fdb_cap);
	ck_assert_uint_eq(sw->multicast_fdb_cap, from->info.multicast_fdb_cap);
	ck_assert_uint_eq(sw->lft_top, subnet->routing->top);
	for (uint32_t lid = 0; lid < 0xC000; lid++)
		ck_assert_uint_eq(osm_lft(view, i, (uint16_t)lid),
				  routing_port(subnet->routing, i, (uint16_t)lid));
}

/* From the ports, in the slow way. */
static void check_partition(const struct subnet *subnet, uint32_t i)
{
	const struct osm_partition *partition = osm_partition(view, i);
	const struct partition *from = &subnet->partitions->all[i];
	g_autofree char *name = printable_text(from->name);
	uint32_t n = 0;

	ck_assert_uint_eq(partition->p_key, from->p_key);
	ck_assert_str_eq(osm_name(view, partition->name), name);
	for (uint32_t port = 0; port < subnet->fabric->n_ports; port++) {
		uint16_t key = partitions_member(subnet->partitions, port, from->p_key);
		const struct osm_member *member;

		if (!key || !subnet->fabric->ports[port].guid)
			continue;
		ck_assert_uint_lt(n, partition->n_members);
		member = osm_partition_member(view, partition->first_member + n++);
		ck_assert_uint_eq(member->guid, subnet->fabric->ports[port].guid);
		ck_assert_uint_eq(member->full, (key & P_KEY_FULL) != 0);
	}
	ck_assert_uint_eq(partition->n_members, n);
}

static void check_groups(void)
{
	struct mc_cursor cursor = {0};
	const struct mc_group *from;
	uint32_t n = 0;

	while ((from = mc_groups_next(source.groups, &cursor))) {
		const struct osm_group *group = osm_group(view, n++);
		uint64_t mgid[2];

		memcpy(mgid, group->mgid, sizeof(mgid));
		ck_assert_uint_eq(GUINT64_FROM_BE(mgid[0]), from->mgid.prefix);
		ck_assert_uint_eq(GUINT64_FROM_BE(mgid[1]), from->mgid.guid);
		ck_assert_uint_eq(group->mlid, from->mlid);
		ck_assert_uint_eq(group->p_key, from->p_key);
		ck_assert_uint_eq(group->mtu, from->mtu);
		ck_assert_uint_eq(group->rate, from->rate);
		ck_assert_uint_eq(group->sl, from->sl);
		ck_assert_uint_eq(group->n_members, from->n_ports);
		for (uint32_t i = 0; i < from->n_ports; i++) {
			const struct osm_member *member =
				osm_group_member(view, group->first_member + i);

			ck_assert_uint_eq(member->guid, from->port_guids[i]);
			ck_assert_uint_eq(member->full, !from->only_sends[i]);
		}
	}
	ck_assert_uint_eq(view->groups.n, n);
}

static void check_counter(const struct osm_counters *to, const struct perf_growth *growth,
			  uint32_t row, unsigned int counter)
{
	uint64_t grown, ns;

	if (!(growth->new->have[row] >> counter & 1)) {
		ck_assert_uint_eq(to->total[counter], 0);
		ck_assert_uint_eq(to->growth[counter], 0);
		return;
	}
	ck_assert_uint_eq(to->total[counter], growth->new->total[counter][row]);
	ck_assert_uint_eq(to->growth[counter], perf_growth_by(growth, row, counter));
	if (perf_growth_counter(growth, row, counter, &grown, &ns))
		ck_assert_uint_eq(to->interval_ns, ns);
}

static void check_counters(void)
{
	const struct perf_images *images = source.images;
	const struct perf_image *last = perf_images_last(images);
	struct perf_growth growth;
	uint64_t before = 0;
	uint32_t n = 0;

	perf_growth_init(&growth, images->n > 1 ? images->images[images->n - 2] : NULL, last);
	for (uint32_t row = 0; row < last->layout->n_rows; row++) {
		const struct osm_counters *to;

		if (!(last->flags[row] & PERF_EVER))
			continue;
		to = osm_counters(view, n++);
		ck_assert_uint_eq(to->guid, perf_layout_node_of(last->layout, row)->guid);
		ck_assert_uint_eq(to->port, last->layout->places[row].port);
		ck_assert_uint_ge(to->guid, before);
		before = to->guid;
		ck_assert_uint_eq(to->read, last->flags[row] & PERF_READ ? 1 : 0);
		ck_assert_uint_eq(to->have, last->have[row]);
		ck_assert_uint_eq(to->at_least, last->at_least[row]);
		for (unsigned int i = 0; i < OSM_COUNTERS; i++)
			check_counter(to, &growth, row, i);
	}
	ck_assert_uint_eq(view->counter_rows.n, n);
	ck_assert_uint_eq(view->counters, last->id);
	ck_assert_uint_eq(view->counters_ns, last->ended_ns);
	perf_growth_clear(&growth);
}

/* By LID, LMC ranges included. */
static void check_lids(const struct fabric *fabric)
{
	ck_assert_uint_eq(view->max_lid, fabric->max_lid);
	for (uint32_t lid = 0; lid <= view->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, (uint16_t)lid);

		ck_assert_uint_eq(view->of_lid[lid], port == FABRIC_NONE ? OSM_NONE : port);
		if (port != FABRIC_NONE)
			ck_assert_uint_eq(osm_port(view, port)->lid,
					  lid & ~((1u << osm_port(view, port)->lmc) - 1));
	}
}

static void check_fabric(const struct subnet *subnet)
{
	const struct fabric *fabric = subnet->fabric;

	ck_assert_uint_eq(view->size, sizeof(*view));
	ck_assert_uint_eq(view->generation, subnet->generation);
	ck_assert_int_gt(view->made_us, g_get_real_time() - 600 * G_USEC_PER_SEC);
	ck_assert_uint_eq(view->subnet_prefix, subnet->options->subnet_prefix);
	ck_assert_uint_eq(view->sm_port, fabric->sm_port);
	ck_assert_uint_eq(view->sm_state, OSM_SM_MASTER);
	ck_assert_str_eq(view->engine, subnet->routing->engine->name);
	ck_assert_uint_eq(view->nodes.n, fabric->n_nodes);
	ck_assert_uint_eq(view->ports.n, fabric->n_ports);
	ck_assert_uint_eq(view->switches.n, fabric->n_switches);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		check_node(fabric, i);
	check_lids(fabric);
}

static void check_all(void)
{
	const struct subnet *subnet = source.subnet;

	ck_assert_uint_eq(view->parts, OSM_PART_ALL);
	check_fabric(subnet);
	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		check_port(subnet->fabric, i);
	for (uint32_t i = 0; i < subnet->fabric->n_switches; i++)
		check_switch(subnet, i);
	ck_assert_uint_eq(view->partitions.n, subnet->partitions->n);
	for (uint32_t i = 0; i < subnet->partitions->n; i++)
		check_partition(subnet, i);
	check_groups();
	check_counters();
}

START_TEST(whole_snapshot)
{
	begin(with_test_partitions(make_subnet(_i ? "torus:3x3" : "fattree:4", _i * 2, 3)), 1);
	look(OSM_PART_ALL);
	check_all();
	ck_assert_uint_gt(view->counter_rows.n, 0);
	ck_assert_uint_gt(view->p_keys.n, 0);
	ck_assert_uint_gt(osm_partition(view, 1)->n_members, 0);
	end();
}
END_TEST

START_TEST(random_fabrics)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		begin(random_subnet(seed), seed);
		look(OSM_PART_ALL);
		check_all();
		end();
	}
}
END_TEST

/* ---- parts ---- */

static void check_lacks(uint32_t parts)
{
	ck_assert_uint_eq(view->parts, parts | OSM_PART_NODES);
	if (!(parts & OSM_PART_LFTS)) {
		ck_assert_ptr_null(view->lfts);
		ck_assert_uint_eq(osm_lft(view, 0, 1), 0xFF);
	}
	if (!(parts & OSM_PART_P_KEYS))
		ck_assert_uint_eq(view->p_keys.n + view->partitions.n + view->partition_members.n +
					  osm_port(view, 0)->n_p_keys,
				  0);
	if (!(parts & OSM_PART_GROUPS))
		ck_assert_uint_eq(view->groups.n + view->group_members.n, 0);
	if (!(parts & OSM_PART_COUNTERS))
		ck_assert_uint_eq(view->counter_rows.n + view->counters + view->counters_ns, 0);
}

START_TEST(only_some_parts)
{
	begin(with_test_partitions(make_subnet("fattree:4", 0, 0)), 2);
	for (uint32_t wanted = 0; wanted <= OSM_PART_ALL; wanted++) {
		look(wanted);
		check_fabric(source.subnet);
		check_lacks(wanted & OSM_PART_ALL);
		snapshot_view_free(view);
	}
	look(UINT32_MAX); /* parts of a newer header */
	ck_assert_uint_eq(view->parts, OSM_PART_ALL);
	end();
}
END_TEST

/* No groups and counters yet, and tables that switches hold from before; then an image. */
START_TEST(what_is_not_there)
{
	uint64_t state = 1;

	source = (struct snapshot_source){.sm_state = IBA_SM_MASTER};
	source.subnet = make_subnet("fattree:2", 0, 0);
	source.subnet->routing->engine = NULL;
	look(OSM_PART_ALL);
	ck_assert_uint_eq(view->parts, OSM_PART_ALL);
	ck_assert_str_eq(view->engine, "");
	ck_assert_uint_eq(view->groups.n + view->counter_rows.n, 0);
	snapshot_view_free(view);
	source.images = make_images(source.subnet->fabric, 1, &state);
	source.images->images[0]->run = 5; /* of an earlier process */
	look(OSM_PART_COUNTERS);
	ck_assert_uint_gt(view->counter_rows.n, 0);
	ck_assert_uint_eq(view->counters, 1);
	ck_assert_uint_eq(view->counters_ns, 0);
	for (uint32_t i = 0; i < view->counter_rows.n; i++)
		ck_assert_uint_eq(osm_counters(view, i)->interval_ns, 0);
	end();
}
END_TEST

/* Between images of two processes, whose clocks differ, nothing is known to have grown. */
START_TEST(growth_over_a_restart)
{
	begin(make_subnet("fattree:2", 0, 0), 3);
	source.images->images[1]->run = 5;
	look(OSM_PART_COUNTERS);
	for (uint32_t i = 0; i < view->counter_rows.n; i++) {
		ck_assert_uint_eq(osm_counters(view, i)->interval_ns, 0);
		for (unsigned int k = 0; k < OSM_COUNTERS; k++)
			ck_assert_uint_eq(osm_counters(view, i)->growth[k], 0);
	}
	end();
}
END_TEST

START_TEST(none)
{
	g_autoptr(GError) error = NULL;

	source = (struct snapshot_source){.sm_state = IBA_SM_MASTER};
	ck_assert_int_eq(snapshot_make(&source, OSM_PART_ALL, &error), -1);
	ck_assert(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED));
	ck_assert_str_eq(error->message, "the subnet has not been read yet");
	g_clear_error(&error);
	begin(make_subnet("fattree:2", 0, 0), 1);
	source.sm_state = IBA_SM_STANDBY; /* it was MASTER before */
	ck_assert_int_eq(snapshot_make(&source, OSM_PART_ALL, &error), -1);
	ck_assert(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED));
	ck_assert_str_eq(error->message, "the SM is not MASTER, so it publishes no subnet");
	snapshot_source_clear(&source);
}
END_TEST

/* ---- the store ---- */

static void get(struct snapshot_store *store, uint32_t parts, unsigned int made)
{
	int file = snapshot_store_get(store, &source, parts, NULL);

	ck_assert_int_ge(file, 0);
	close(file);
	ck_assert_uint_eq(snapshot_store_made(store), made);
}

START_TEST(is_shared)
{
	struct snapshot_store *store = snapshot_store_new();

	begin(make_subnet("fattree:2", 0, 0), 1);
	get(store, OSM_PART_GROUPS | OSM_PART_COUNTERS, 1);
	get(store, OSM_PART_GROUPS | OSM_PART_COUNTERS, 1);
	get(store, OSM_PART_GROUPS, 1); /* it has more */
	get(store, 0, 1);
	get(store, OSM_PART_LFTS, 2);
	source.groups->serial++;
	source.images->images[2]->id++;
	get(store, OSM_PART_LFTS, 2);
	get(store, OSM_PART_ALL, 3);
	source.groups->serial++;
	get(store, OSM_PART_GROUPS, 4);
	get(store, OSM_PART_GROUPS, 4);
	get(store, OSM_PART_COUNTERS, 5);
	source.images->images[2]->id++;
	get(store, OSM_PART_COUNTERS, 6);
	source.subnet->generation++;
	get(store, OSM_PART_COUNTERS, 7);
	source.subnet->generation = source.subnet->fabric->generation;
	get(store, OSM_PART_P_KEYS, 8);
	source.subnet = with_test_partitions(source.subnet); /* without a new generation */
	get(store, OSM_PART_P_KEYS, 9);
	get(store, OSM_PART_P_KEYS, 9);
	snapshot_store_drop(store);
	get(store, OSM_PART_COUNTERS, 10);
	source.sm_state = IBA_SM_STANDBY;
	ck_assert_int_eq(snapshot_store_get(store, &source, 0, NULL), -1);
	source.sm_state = IBA_SM_MASTER;
	get(store, OSM_PART_COUNTERS, 11);
	snapshot_store_unref(store);
	snapshot_source_clear(&source);
}
END_TEST

/* Policies come and go between two snapshots, and a later one may lie where an earlier one was. */
START_TEST(policies_that_came_and_went)
{
	struct snapshot_store *store = snapshot_store_new();

	begin(make_subnet("fattree:2", 0, 0), 1);
	for (unsigned int made = 1; made <= 20; made++) {
		get(store, OSM_PART_P_KEYS, made);
		for (unsigned int i = 0; i < 2; i++)
			source.subnet = with_test_partitions(source.subnet);
	}
	snapshot_store_unref(store);
	snapshot_source_clear(&source);
}
END_TEST

#define ASKERS 8

static void *ask(void *store)
{
	int file = snapshot_store_get(store, &source, OSM_PART_ALL, NULL);

	ck_assert_int_ge(file, 0);
	close(file);
	return NULL;
}

/* Of several threads at once, one makes it. */
START_TEST(is_made_once)
{
	struct snapshot_store *store = snapshot_store_new();
	pthread_t threads[ASKERS];

	begin(make_subnet("fattree:4", 0, 0), 1);
	for (unsigned int i = 0; i < ASKERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, store), 0);
	for (unsigned int i = 0; i < ASKERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(snapshot_store_made(store), 1);
	snapshot_store_unref(store);
	snapshot_source_clear(&source);
}
END_TEST

/* ---- the view ---- */

/* Also of a plug-in that keeps many. */
START_TEST(view_needs_no_descriptor)
{
	int lowest = dup(STDIN_FILENO), now;

	ck_assert_int_ge(lowest, 0);
	close(lowest);
	begin(make_subnet("fattree:2", 0, 0), 1);
	look(OSM_PART_ALL);
	now = dup(STDIN_FILENO);
	close(now);
	ck_assert_int_eq(now, lowest);
	check_all();
	end();
}
END_TEST

/* Each section is needed, and each must be as large as its struct. */
START_TEST(view_wants_all)
{
	const struct snapshot_head head = {.max_lid = 0};

	for (unsigned int lacking = 0; lacking <= 2 * SNAPSHOT_SECTIONS; lacking++) {
		static const uint32_t sizes[SNAPSHOT_SECTIONS] = {sizeof(struct snapshot_head),
								  1,
								  sizeof(struct osm_node),
								  sizeof(struct osm_port),
								  sizeof(struct osm_switch),
								  4,
								  1,
								  2,
								  sizeof(struct osm_partition),
								  sizeof(struct osm_member),
								  sizeof(struct osm_group),
								  sizeof(struct osm_member),
								  sizeof(struct osm_counters)};
		g_autoptr(GError) error = NULL;
		struct block_plan plan = {0};
		struct block block;
		uint64_t n;

		for (unsigned int i = 0; i < SNAPSHOT_SECTIONS; i++)
			block_want(&plan, i, sizes[i] - (lacking == SNAPSHOT_SECTIONS + 1 + i), 1);
		if (lacking < SNAPSHOT_SECTIONS)
			block_want(&plan, lacking, 0, 0);
		ck_assert(block_new(&block, "test", &plan, NULL));
		if (lacking != SNAPSHOT_HEAD && lacking != SNAPSHOT_SECTIONS + 1)
			memcpy(block_section(&block, SNAPSHOT_HEAD, 1, &n, NULL), &head,
			       sizeof(head));
		ck_assert(block_freeze(&block, NULL));
		view = snapshot_view_new(block.file, &error);
		ck_assert_int_eq(view != NULL, lacking == SNAPSHOT_SECTIONS);
		ck_assert_int_eq(error != NULL, lacking != SNAPSHOT_SECTIONS);
		snapshot_view_free(view);
	}
	ck_assert_ptr_null(snapshot_view_new(open("/dev/null", O_RDONLY | O_CLOEXEC), NULL));
	snapshot_view_free(NULL);
}
END_TEST

/* ---- a daemon ---- */

/* What is published is what is shown; as soon as the daemon is not MASTER, nothing is. */
START_TEST(of_a_daemon)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	uint64_t state = 1;

	scenario_option(s, "--lmc", "1");
	scenario_start(s);
	snapshot_source_take(daemon_context(s->daemon), &source);
	ck_assert_int_eq(snapshot_make(&source, 0, NULL), -1);
	snapshot_source_clear(&source);
	scenario_converge(s, 10);
	snapshot_source_take(daemon_context(s->daemon), &source);
	ck_assert_ptr_nonnull(source.subnet);
	ck_assert_ptr_nonnull(source.groups); /* the broadcast group */
	ck_assert_ptr_null(source.images);
	source.images = make_images(source.subnet->fabric, 2, &state);
	look(OSM_PART_ALL);
	check_all();
	ck_assert_uint_eq(view->partitions.n, 1);
	ck_assert_uint_eq(osm_partition(view, 0)->n_members, n_endports(source.subnet));
	end();
	scenario_stop(s);
	scenario_free(s);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("snapshot");
	TCase *tcase = tcase_create("snapshot");

	tcase_add_loop_test(tcase, whole_snapshot, 0, 2);
	tcase_add_test(tcase, random_fabrics);
	tcase_add_test(tcase, only_some_parts);
	tcase_add_test(tcase, what_is_not_there);
	tcase_add_test(tcase, growth_over_a_restart);
	tcase_add_test(tcase, none);
	tcase_add_test(tcase, is_shared);
	tcase_add_test(tcase, policies_that_came_and_went);
	tcase_add_test(tcase, is_made_once);
	tcase_add_test(tcase, view_needs_no_descriptor);
	tcase_add_test(tcase, view_wants_all);
	tcase_add_test(tcase, of_a_daemon);
	suite_add_tcase(suite, tcase);
	return suite;
}
