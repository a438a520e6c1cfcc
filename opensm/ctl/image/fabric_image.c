// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All rows are computed before the file is made, as its size depends on the names. Then they are
 * written into it once, and it is sealed.
 */
#define _GNU_SOURCE /* memfd_create */
#include "ctl/image/fabric_image.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/image.h"
#include "ctl/base/answer.h"
#include "fabric/link_quality.h"
#include "iba/codes.h"
#include "iba/constants.h"
#include "perf/image/query.h"
#include "route/graph/plan.h"
#include "route/order/orient.h"
#include "route/fill/shortest.h"
#include "sm/health/unhealthy.h"
#include "subnet/perf_alarms.h"
#include "subnet/subnet.h"

#define SECTION_ALIGN 8
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct maker {
	const struct fabric_image_source *source;
	const struct fabric *fabric; /* NULL: none yet */
	struct image_header header;
	struct image_column columns[PERF_COUNTERS];
	struct image_node *nodes;
	struct image_port *ports;
	uint32_t *node_at; /* [node of the image]: node of the fabric */
	uint32_t *port_at; /* [port of the fabric]: port of the image, or IMAGE_NONE */
	uint32_t *row_of; /* [port of the image]: row of the last image of counters, or PERF_NONE */
	GString *names;
};

G_STATIC_ASSERT(PERF_COUNTERS <= IMAGE_COLUMNS_MAX);

/* ---- names ---- */

static uint32_t add_name(struct maker *maker, const char *name)
{
	uint32_t at = (uint32_t)maker->names->len;

	g_string_append_len(maker->names, name, (gssize)strlen(name) + 1);
	return at;
}

static void add_columns(struct maker *maker)
{
	static const enum image_kind kinds[] = {
		[PERF_ERROR] = IMAGE_ERRORS,
		[PERF_WAIT] = IMAGE_WAIT,
		[PERF_DATA] = IMAGE_OCTETS,
		[PERF_PACKETS] = IMAGE_PACKETS,
	};

	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		maker->columns[i] = (struct image_column){
			.name = add_name(maker, perf_counter_info[i].iba),
			.kind = kinds[perf_counter_info[i].kind],
		};
}

/* ---- which nodes and ports ---- */

static int compare_guids(const void *a, const void *b, void *arg)
{
	const struct fabric_node *nodes = arg;
	uint64_t x = nodes[*(const uint32_t *)a].guid, y = nodes[*(const uint32_t *)b].guid;

	return (x > y) - (x < y);
}

static void order_nodes(struct maker *maker)
{
	const struct fabric *fabric = maker->fabric;
	uint32_t n = fabric->n_nodes, kept = 0;

	maker->node_at = g_new(uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++)
		maker->node_at[i] = i;
	g_qsort_with_data(maker->node_at, (gint)n, sizeof(uint32_t), compare_guids, fabric->nodes);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = maker->node_at[i];

		if (!kept ||
		    fabric->nodes[node].guid != fabric->nodes[maker->node_at[kept - 1]].guid)
			maker->node_at[kept++] = node;
	}
	maker->header.n_nodes = kept;
}

static void place_ports(struct maker *maker)
{
	const struct fabric *fabric = maker->fabric;
	uint32_t n = 0;

	maker->port_at = g_new(uint32_t, fabric->n_ports + 1);
	memset(maker->port_at, 0xFF, fabric->n_ports * sizeof(uint32_t));
	for (uint32_t i = 0; i < maker->header.n_nodes; i++) {
		const struct fabric_node *node = &fabric->nodes[maker->node_at[i]];

		for (unsigned int num = 1; num <= node->num_ports; num++)
			maker->port_at[node->first_port + num] = n++;
	}
	maker->header.n_ports = n;
}

/* ---- levels ---- */

/*
 * Ranks from the top, as routing finds them: then a leaf without hosts, and a spine with a host
 * beside it, are where they belong. In a tree whose hosts are on several ranks, the top is in the
 * middle of the hosts. False: it is not a tree.
 */
static bool find_ranks(struct route_plan *plan, const struct fabric *fabric, uint32_t *rank)
{
	const struct route_input input = {0};
	g_autofree uint64_t *keys = NULL;

	if (route_tree_rank(&plan->wishes, rank))
		return true;
	keys = route_keys(fabric, &input);
	return route_orient_middle(&plan->order, keys, rank) && route_is_layered(plan->graph, rank);
}

/* In what is not a tree, by the distance from hosts. */
static void find_levels(const struct fabric *fabric, uint8_t *level)
{
	g_autofree uint32_t *rank = g_new0(uint32_t, fabric->n_switches + 1);
	struct route_plan plan;
	uint32_t lowest = 0;
	bool is_tree;

	route_plan_init(&plan, fabric);
	is_tree = find_ranks(&plan, fabric, rank);
	if (!is_tree)
		route_rank_from_hosts(plan.graph, rank);
	route_plan_clear(&plan);
	for (uint32_t sw = 0; is_tree && sw < fabric->n_switches; sw++)
		if (rank[sw] != ROUTE_NO_RANK)
			lowest = MAX(lowest, rank[sw]);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		bool known = rank[sw] != ROUTE_NO_RANK;
		uint32_t above = known && is_tree ? lowest - rank[sw] : rank[sw];

		level[sw] = known ? MIN(above, IMAGE_LEVELS_MAX - 2) + 1 : 1;
	}
}

/* ---- nodes ---- */

static uint16_t lid_of(const struct fabric *fabric, const struct fabric_node *node)
{
	for (unsigned int num = 0; num <= node->num_ports; num++)
		if (fabric->ports[node->first_port + num].lid)
			return fabric->ports[node->first_port + num].lid;
	return 0;
}

static void fill_node(struct maker *maker, uint32_t i, const uint8_t *level)
{
	const struct fabric *fabric = maker->fabric;
	const struct fabric_node *from = &fabric->nodes[maker->node_at[i]];
	g_autofree char *name = fabric_shown_name(fabric, maker->node_at[i]);
	struct image_node *node = &maker->nodes[i];

	*node = (struct image_node){
		.guid = from->guid,
		.system_guid = from->info.system_image_guid,
		.name = add_name(maker, name),
		.n_ports = from->num_ports,
		.lid = lid_of(fabric, from),
		.type = from->sw != FABRIC_NONE		? IMAGE_SWITCH
			: from->type == IBA_NODE_ROUTER ? IMAGE_ROUTER
							: IMAGE_HOST,
		.level = from->sw == FABRIC_NONE ? 0 : level[from->sw],
		.flags = from->silent ? IMAGE_NODE_SILENT : 0,
	};
	if (i)
		node->first_port = maker->nodes[i - 1].first_port + maker->nodes[i - 1].n_ports;
	if (fabric->n_ports && fabric->ports[fabric->sm_port].node == maker->node_at[i])
		node->flags |= IMAGE_NODE_SM;
	maker->header.levels = MAX(maker->header.levels, node->level + 1u);
}

/* ---- ports ---- */

static void fill_link(const struct fabric *fabric, uint32_t at, struct image_port *port)
{
	const struct fabric_port *from = &fabric->ports[at];
	unsigned int lanes;

	port->state = MIN(from->info.port_state, IBA_PORT_ACTIVE);
	port->physical = from->info.port_physical_state;
	port->best_rate = link_best_rate(fabric, at, &lanes);
	port->best_lanes = (uint8_t)lanes;
	if (from->info.port_state <= IBA_PORT_DOWN)
		return;
	port->rate = link_rate(from);
	port->lanes = (uint8_t)iba_width_lanes(from->info.link_width_active);
	port->mtu = iba_mtu_bytes(from->mtu);
	if (link_issues(fabric, at) & (LINK_REDUCED_WIDTH | LINK_REDUCED_SPEED))
		port->flags |= IMAGE_PORT_SLOW;
	if (fabric_is_silent_link(fabric, at))
		port->flags |= IMAGE_PORT_SILENT;
}

static void fill_port(struct maker *maker, uint32_t node, uint32_t at)
{
	const struct fabric_port *from = &maker->fabric->ports[at];
	struct image_port *port = &maker->ports[maker->port_at[at]];

	*port = (struct image_port){
		.guid = from->guid,
		.node = node,
		.peer = IMAGE_NONE,
		.lid = from->lid,
		.num = from->num,
	};
	if (from->peer != FABRIC_NONE && from->peer != at)
		port->peer = maker->port_at[from->peer];
	if (from->loopback)
		port->flags |= IMAGE_PORT_LOOPBACK;
	if (!from->known)
		return;
	port->flags |= IMAGE_PORT_KNOWN;
	fill_link(maker->fabric, at, port);
}

/* A cable that only one end knows is none. */
static void settle_peers(struct maker *maker)
{
	for (uint32_t i = 0; i < maker->header.n_ports; i++) {
		struct image_port *port = &maker->ports[i];

		if (port->peer != IMAGE_NONE && maker->ports[port->peer].peer != i)
			port->peer = IMAGE_NONE;
	}
}

static void fill_fabric(struct maker *maker)
{
	const struct fabric *fabric = maker->fabric;
	g_autofree uint8_t *level = g_malloc0(fabric->n_switches + 1);

	order_nodes(maker);
	place_ports(maker);
	find_levels(fabric, level);
	maker->nodes = g_new(struct image_node, maker->header.n_nodes + 1);
	maker->ports = g_new(struct image_port, maker->header.n_ports + 1);
	for (uint32_t i = 0; i < maker->header.n_nodes; i++) {
		const struct fabric_node *node = &fabric->nodes[maker->node_at[i]];

		fill_node(maker, i, level);
		for (unsigned int num = 1; num <= node->num_ports; num++)
			fill_port(maker, i, node->first_port + num);
	}
	settle_peers(maker);
}

/* ---- what is wrong with them ---- */

/* The port of the image, or IMAGE_NONE; *node gets the node, or IMAGE_NONE. */
static uint32_t find_port(const struct maker *maker, uint64_t guid, uint8_t num, uint32_t *node)
{
	const struct image image = {.header = &maker->header, .nodes = maker->nodes};

	*node = image_find(&image, guid);
	if (*node == IMAGE_NONE || !num || num > maker->nodes[*node].n_ports)
		return IMAGE_NONE;
	return maker->nodes[*node].first_port + num - 1;
}

static void fill_alarms(struct maker *maker)
{
	static const uint8_t levels[PERF_LEVELS] = {
		[PERF_INFO] = IMAGE_INFO,
		[PERF_WARNING] = IMAGE_WARNING,
		[PERF_ALARM] = IMAGE_ALARM,
	};
	const struct perf_alarms *alarms = maker->source->alarms;

	for (uint32_t i = 0; alarms && i < alarms->n; i++) {
		const struct perf_alarm *alarm = &alarms->all[i];
		uint8_t level = levels[alarm->level];
		uint32_t node, port = find_port(maker, alarm->guid, alarm->port, &node);

		if (node != IMAGE_NONE)
			maker->nodes[node].alarm = MAX(maker->nodes[node].alarm, level);
		if (port != IMAGE_NONE)
			maker->ports[port].alarm = MAX(maker->ports[port].alarm, level);
	}
}

static void fill_unhealthy(struct maker *maker, const uint16_t *words)
{
	const struct unhealthy_ports *ports = maker->source->unhealthy;

	for (unsigned int i = 0; ports && i < ports->n; i++) {
		const struct unhealthy_port *from = &ports->ports[i];
		uint32_t node, port = find_port(maker, from->guid, from->num, &node);

		if (port != IMAGE_NONE) {
			maker->ports[port].flags |= IMAGE_PORT_UNHEALTHY;
			maker->ports[port].condition = words[from->condition];
		} else if (node != IMAGE_NONE && !from->num) {
			maker->nodes[node].flags |= IMAGE_NODE_UNHEALTHY;
		}
	}
}

/* ---- counters ---- */

/* Their rows in the last image of counters. */
static void find_rows(struct maker *maker, const struct perf_layout *layout)
{
	maker->row_of = g_new(uint32_t, maker->header.n_ports + 1);
	memset(maker->row_of, 0xFF, maker->header.n_ports * sizeof(uint32_t));
	for (uint32_t i = 0; i < maker->header.n_nodes; i++) {
		const struct image_node *node = &maker->nodes[i];
		uint32_t at = perf_layout_node(layout, node->guid);

		for (unsigned int num = 1; at != PERF_NONE && num <= node->n_ports; num++) {
			const struct perf_node *from = &layout->nodes[at];

			if (num >= from->first_port && num <= from->num_ports)
				maker->row_of[node->first_port + num - 1] =
					from->first_row + num - from->first_port;
		}
	}
}

/* Links that the images of counters saw up. A cable has two ends that both lost it. */
static void fill_lost(struct maker *maker, const struct perf_layout *layout)
{
	for (uint32_t i = 0; i < maker->header.n_ports; i++) {
		struct image_port *port = &maker->ports[i];
		struct perf_far far = {.row = PERF_NONE};
		uint32_t node;

		if (port->state == IBA_PORT_DOWN && maker->row_of[i] != PERF_NONE)
			far = perf_images_far(maker->source->images, layout, maker->row_of[i]);
		if (far.row == PERF_NONE)
			continue;
		port->flags |= IMAGE_PORT_LOST;
		if (port->peer == IMAGE_NONE)
			port->peer =
				find_port(maker, perf_layout_node_of(far.layout, far.row)->guid,
					  far.layout->places[far.row].port, &node);
		if (port->peer == i)
			port->peer = IMAGE_NONE;
	}
	settle_peers(maker);
}

/* False: not known. */
static bool measure(const struct perf_fold *fold, uint32_t row, enum perf_figure figure,
		    unsigned int column, float *value)
{
	struct perf_measure measure;

	perf_fold_measure(fold, row, (struct perf_value){figure, column}, &measure);
	if (measure.flags & PERF_UNKNOWN || measure.flags & PERF_UNTIMED)
		return false;
	*value = (float)measure.value;
	return true;
}

static void fill_rates(const struct perf_fold *fold, uint32_t row, struct image_port *port)
{
	static const unsigned int data[2] = {PERF_XMIT_DATA, PERF_RCV_DATA};
	static const unsigned int packets[2] = {PERF_XMIT_PKTS, PERF_RCV_PKTS};
	float errors;
	bool known = false;

	for (unsigned int i = 0; i < 2; i++) {
		known |= measure(fold, row, PERF_RATE, data[i], &port->octets_s[i]);
		measure(fold, row, PERF_RATE, packets[i], &port->packets_s[i]);
		measure(fold, row, PERF_UTILIZATION, data[i], &port->load[i]);
	}
	measure(fold, row, PERF_WAITING, PERF_XMIT_WAIT, &port->wait);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		if (perf_counter_info[i].kind == PERF_ERROR &&
		    measure(fold, row, PERF_RATE, i, &errors))
			port->errors_minute += errors * 60;
	if (known)
		port->flags |= IMAGE_PORT_RATES;
}

static void fill_counters(struct maker *maker, const struct perf_image *last)
{
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
	bool rates = maker->source->images->n > 1;

	perf_fold_add_ring(fold, maker->source->images, 1);
	find_rows(maker, last->layout);
	fill_lost(maker, last->layout);
	for (uint32_t i = 0; i < maker->header.n_ports; i++) {
		struct image_port *port = &maker->ports[i];
		uint32_t row = maker->row_of[i];

		if (row == PERF_NONE || !(last->flags[row] & PERF_EVER))
			continue;
		port->have = last->have[row];
		port->at_least = last->at_least[row];
		if (last->flags[row] & PERF_READ)
			port->flags |= IMAGE_PORT_READ;
		if (rates)
			fill_rates(fold, row, port);
	}
	maker->header.counters = last->id;
	maker->header.counters_us = last->ended_us;
	if (rates && fold->until_us > fold->since_us)
		maker->header.window_us = (uint64_t)(fold->until_us - fold->since_us);
	perf_fold_free(fold);
}

static uint64_t total(const struct perf_image *image, unsigned int column, uint32_t row)
{
	uint64_t value = image->total[column][row];

	if (perf_counter_info[column].kind != PERF_DATA)
		return value;
	return value > UINT64_MAX / 4 ? UINT64_MAX : value * 4;
}

static void write_counters(const struct maker *maker, uint64_t *to)
{
	const struct perf_image *last = perf_images_last(maker->source->images);

	for (uint32_t i = 0; last && maker->row_of && i < maker->header.n_ports; i++)
		for (unsigned int column = 0; column < PERF_COUNTERS; column++)
			if (maker->ports[i].have >> column & 1)
				to[(size_t)i * PERF_COUNTERS + column] =
					total(last, column, maker->row_of[i]);
}

/* ---- the file ---- */

static uint64_t place(uint64_t *end, uint64_t n, size_t size)
{
	uint64_t at = (*end + SECTION_ALIGN - 1) / SECTION_ALIGN * SECTION_ALIGN;

	*end = at + n * size;
	return at;
}

static void place_sections(struct image_header *header, const GString *names)
{
	uint64_t end = sizeof(*header);

	header->columns_at = place(&end, header->n_columns, sizeof(struct image_column));
	header->nodes_at = place(&end, header->n_nodes, sizeof(struct image_node));
	header->ports_at = place(&end, header->n_ports, sizeof(struct image_port));
	header->counters_at =
		place(&end, (uint64_t)header->n_ports * header->n_columns, sizeof(uint64_t));
	header->names_at = place(&end, names->len, 1);
	header->names_octets = names->len;
	header->octets = end;
}

static void write_all(const struct maker *maker, char *map)
{
	const struct image_header *header = &maker->header;

	memcpy(map, header, sizeof(*header));
	memcpy(map + header->columns_at, maker->columns, sizeof(maker->columns));
	if (header->n_nodes)
		memcpy(map + header->nodes_at, maker->nodes,
		       header->n_nodes * sizeof(*maker->nodes));
	if (header->n_ports)
		memcpy(map + header->ports_at, maker->ports,
		       header->n_ports * sizeof(*maker->ports));
	write_counters(maker, (uint64_t *)(map + header->counters_at));
	memcpy(map + header->names_at, maker->names->str, maker->names->len);
}

/* The room is there before it is written: a lack of it is an error here, and not a signal. */
static bool fill_file(const struct maker *maker, int file)
{
	size_t n = maker->header.octets;
	char *map;

	errno = posix_fallocate(file, 0, (off_t)n);
	if (errno)
		return false;
	map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		return false;
	write_all(maker, map);
	munmap(map, n);
	return fcntl(file, F_ADD_SEALS, SEALS) == 0;
}

static int make_file(const struct maker *maker, GError **error)
{
	int file = memfd_create("opensm-image", MFD_CLOEXEC | MFD_ALLOW_SEALING), code;

	if (file >= 0 && fill_file(maker, file))
		return file;
	code = errno;
	g_set_error(error, G_IO_ERROR, (gint)g_io_error_from_errno(code),
		    "no file for the image: %s", g_strerror(code));
	if (file >= 0)
		close(file);
	return -1;
}

/* ---- all ---- */

static void begin(struct maker *maker, const struct fabric_image_source *source)
{
	*maker = (struct maker){
		.source = source,
		.fabric = source->subnet ? source->subnet->fabric : NULL,
		.header = {.version = IMAGE_VERSION,
			   .order = IMAGE_ORDER,
			   .run = source->run,
			   .serial = source->serial,
			   .generation = source->subnet ? source->subnet->generation : 0,
			   .made_us = g_get_real_time(),
			   .sm_guid = source->subnet ? source->subnet->sm_guid : 0,
			   .n_columns = PERF_COUNTERS,
			   .levels = 1},
		.names = g_string_new(NULL),
	};
	memcpy(maker->header.magic, IMAGE_MAGIC, sizeof(maker->header.magic));
	add_name(maker, "");
}

int fabric_image_make(const struct fabric_image_source *source, GError **error)
{
	const struct perf_image *last = perf_images_last(source->images);
	uint16_t words[PORT_CONDITIONS];
	struct maker maker;
	int file;

	begin(&maker, source);
	for (unsigned int i = 0; i < PORT_CONDITIONS; i++)
		words[i] = (uint16_t)add_name(&maker, port_condition_word(i));
	add_columns(&maker);
	if (maker.fabric) {
		fill_fabric(&maker);
		fill_alarms(&maker);
		fill_unhealthy(&maker, words);
	}
	if (maker.fabric && last)
		fill_counters(&maker, last);
	place_sections(&maker.header, maker.names);
	file = make_file(&maker, error);
	g_string_free(maker.names, TRUE);
	g_free(maker.nodes);
	g_free(maker.ports);
	g_free(maker.node_at);
	g_free(maker.port_at);
	g_free(maker.row_of);
	return file;
}
