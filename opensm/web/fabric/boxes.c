// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A group opens to at most OWN_MAX boxes of its own switches and INNER_MAX of groups in it, so that
 * a picture stays readable, and an answer small, whatever the size of the fabric.
 */
#include "web/fabric/boxes.h"

#include <string.h>

#define OWN_MAX 64u
#define INNER_MAX 256u
#define BUNDLES_MAX 3000u

/* ---- making boxes ---- */

static uint32_t add_box(struct boxes *boxes, enum box_kind kind, uint32_t head)
{
	struct box box = {.kind = kind, .head = head};

	g_array_append_val(boxes->boxes, box);
	return boxes->boxes->len - 1;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Equal for switches with cables to the same others; a lost cable counts as if it were there. */
static guint64 neighbours(const struct fabric_view *view, uint32_t node)
{
	const struct image_node *n = &view->image.nodes[node];
	guint64 sum = 1;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		uint32_t other = view_across(view, n->first_port + i);

		if (other != IMAGE_NONE && view_is_switch(view, other))
			sum += mix(other + 1);
	}
	return sum;
}

/* Switches with the same neighbours are a box; false: these would be too many boxes. */
static bool add_sets(struct boxes *boxes, const GArray *own)
{
	g_autoptr(GHashTable) known =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	guint first = boxes->boxes->len;

	for (guint i = 0; i < own->len; i++) {
		uint32_t node = g_array_index(own, uint32_t, i), box;
		guint64 key = neighbours(boxes->view, node);
		void *found = g_hash_table_lookup(known, &key);

		if (!found && boxes->boxes->len - first == OWN_MAX) {
			g_array_set_size(boxes->boxes, first);
			return false;
		}
		if (!found) {
			box = add_box(boxes, BOX_SET, node);
			g_hash_table_insert(known, g_memdup2(&key, sizeof(key)),
					    GUINT_TO_POINTER(box + 1));
		} else {
			box = GPOINTER_TO_UINT(found) - 1;
		}
		boxes->box_of[node] = box;
	}
	return true;
}

/* In the order of their GUIDs. */
static void add_own(struct boxes *boxes, const GArray *own)
{
	guint each = (own->len + OWN_MAX - 1) / OWN_MAX;

	if (each > 1 && add_sets(boxes, own))
		return;
	for (guint i = 0; i < own->len; i++) {
		uint32_t node = g_array_index(own, uint32_t, i);

		if (i % each == 0)
			add_box(boxes, each > 1 ? BOX_SET : BOX_SWITCH, node);
		boxes->box_of[node] = boxes->boxes->len - 1;
	}
}

/* box[group] gets the box of each of these groups. */
static void add_inner(struct boxes *boxes, const GArray *inner, uint32_t *box)
{
	guint each = (inner->len + INNER_MAX - 1) / INNER_MAX;

	for (guint i = 0; i < inner->len; i++) {
		uint32_t at = g_array_index(inner, uint32_t, i);
		const struct view_group *group = &boxes->view->groups[at];

		if (i % each == 0)
			add_box(boxes,
				each > 1		 ? BOX_GROUPS
				: group->n_switches == 1 ? BOX_SWITCH
							 : BOX_GROUP,
				group->head);
		box[at] = boxes->boxes->len - 1;
	}
}

/* Switches of groups within groups get the box of the outermost. */
static void give_boxes(struct boxes *boxes, uint32_t *box)
{
	const struct fabric_view *view = boxes->view;

	/* Parents are behind their children. */
	for (uint32_t i = view->n_groups; i--;)
		if (box[i] == IMAGE_NONE && view->groups[i].parent != IMAGE_NONE)
			box[i] = box[view->groups[i].parent];
	for (uint32_t i = 0; i < view->image.header->n_nodes; i++)
		if (view->group_of[i] != IMAGE_NONE && boxes->box_of[i] == IMAGE_NONE)
			boxes->box_of[i] = box[view->group_of[i]];
}

static uint32_t *new_none(uint32_t n)
{
	uint32_t *list = g_new(uint32_t, n + 1);

	memset(list, 0xFF, (n + 1) * sizeof(*list));
	return list;
}

/* A container: a group, or IMAGE_NONE for the fabric. */
static void open_group(struct boxes *boxes, uint32_t container)
{
	const struct fabric_view *view = boxes->view;
	g_autofree uint32_t *box = new_none(view->n_groups);
	g_autoptr(GArray) inner = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) own = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < view->n_groups; i++)
		if (view->groups[i].parent == container)
			g_array_append_val(inner, i);
	for (uint32_t i = 0; container != IMAGE_NONE && i < view->image.header->n_nodes; i++)
		if (view->group_of[i] == container)
			g_array_append_val(own, i);
	add_own(boxes, own);
	add_inner(boxes, inner, box);
	give_boxes(boxes, box);
}

/* What a set, or groups together, consist of. */
static void open_box(struct boxes *boxes, uint32_t number, uint32_t container)
{
	const struct fabric_view *view = boxes->view;
	bool own = g_array_index(boxes->boxes, struct box, number).kind == BOX_SET;
	g_autofree uint32_t *box = new_none(view->n_groups);
	g_autofree uint32_t *box_of = boxes->box_of;

	boxes->box_of = new_none(view->image.header->n_nodes);
	g_array_set_size(boxes->boxes, 0);
	for (uint32_t i = 0; own && i < view->image.header->n_nodes; i++) {
		if (view->group_of[i] != container || box_of[i] != number)
			continue;
		if (boxes->boxes->len < ARGS_ROWS_MAX)
			boxes->box_of[i] = add_box(boxes, BOX_SWITCH, i);
		else
			boxes->boxes_left_out++;
	}
	for (uint32_t i = 0; !own && i < view->n_groups; i++) {
		const struct view_group *group = &view->groups[i];

		if (group->parent != container || box_of[group->head] != number)
			continue;
		if (boxes->boxes->len < ARGS_ROWS_MAX)
			box[i] = add_box(boxes, group->n_switches == 1 ? BOX_SWITCH : BOX_GROUP,
					 group->head);
		else
			boxes->boxes_left_out++;
	}
	if (!own)
		give_boxes(boxes, box);
}

/* ---- what is in them ---- */

/* Whether this is the first end of a cable that leads back to its node, or its only one. */
static bool is_loop(const struct fabric_view *view, uint32_t i)
{
	const struct image_port *port = &view->image.ports[i];

	if (port->flags & IMAGE_PORT_LOST)
		return false;
	return port->flags & IMAGE_PORT_LOOPBACK ||
	       (port->peer != IMAGE_NONE && i < port->peer &&
		view->image.ports[port->peer].node == port->node);
}

static void add_port(const struct fabric_view *view, uint32_t i, struct box *box)
{
	const struct image_port *port = &view->image.ports[i];
	uint32_t other = view_across(view, i);

	box->loops += is_loop(view, i);
	box->hosts += other != IMAGE_NONE && !view_is_switch(view, other) && view_is_up(port);
	box->lost += !!(port->flags & IMAGE_PORT_LOST);
	box->slow += !!(port->flags & IMAGE_PORT_SLOW);
	box->unhealthy += !!(port->flags & IMAGE_PORT_UNHEALTHY);
	box->silent += !!(port->flags & IMAGE_PORT_SILENT);
	box->errors_minute += port->errors_minute;
	box->load = MAX(box->load, MAX(port->load[0], port->load[1]));
}

static void count_boxes(struct boxes *boxes)
{
	const struct image *image = &boxes->view->image;

	for (uint32_t i = 0; i < image->header->n_nodes; i++) {
		const struct image_node *node = &image->nodes[i];
		struct box *box;

		if (boxes->box_of[i] == IMAGE_NONE)
			continue;
		box = &g_array_index(boxes->boxes, struct box, boxes->box_of[i]);
		box->switches++;
		box->unhealthy += !!(node->flags & IMAGE_NODE_UNHEALTHY);
		box->silent += !!(node->flags & IMAGE_NODE_SILENT);
		box->alarm = MAX(box->alarm, node->alarm);
		for (uint32_t p = 0; p < node->n_ports; p++)
			add_port(boxes->view, node->first_port + p, box);
	}
}

/* ---- which is asked for ---- */

static bool not_found(const char *what, uint64_t guid, GError **error)
{
	g_set_error(error, FABRIC_ERROR, FABRIC_NOT_FOUND,
		    "%s=0x%016" G_GINT64_MODIFIER "x: not in the fabric now", what, guid);
	return false;
}

/* The box of the container that has this head and kind. */
static bool open_inner(struct boxes *boxes, uint32_t container, uint64_t guid, enum box_kind kind,
		       GError **error)
{
	uint32_t head = image_find(&boxes->view->image, guid);

	open_group(boxes, container);
	for (guint i = 0; i < boxes->boxes->len; i++) {
		const struct box *box = &g_array_index(boxes->boxes, struct box, i);

		if (box->head == head && box->kind == kind) {
			open_box(boxes, i, container);
			return true;
		}
	}
	return not_found(kind == BOX_SET ? "set" : "groups", guid, error);
}

static bool open_asked(struct boxes *boxes, const struct args *args, GError **error)
{
	const struct fabric_view *view = boxes->view;
	uint32_t node, group;

	if (args->given & ARG_SET) {
		node = image_find(&view->image, args->set);
		if (node == IMAGE_NONE || view->group_of[node] == IMAGE_NONE)
			return not_found("set", args->set, error);
		return open_inner(boxes, view->group_of[node], args->set, BOX_SET, error);
	}
	if (args->given & ARG_GROUPS) {
		group = view_group_by_guid(view, args->groups);
		if (group == IMAGE_NONE)
			return not_found("groups", args->groups, error);
		return open_inner(boxes, view->groups[group].parent, args->groups, BOX_GROUPS,
				  error);
	}
	group = args->given & ARG_GROUP ? view_group_by_guid(view, args->group) : view_root(view);
	if (args->given & ARG_GROUP && group == IMAGE_NONE)
		return not_found("group", args->group, error);
	open_group(boxes, group);
	return true;
}

bool boxes_open(struct boxes *boxes, const struct fabric_view *view, const struct args *args,
		GError **error)
{
	unsigned int which = args->given & (ARG_GROUP | ARG_SET | ARG_GROUPS);

	*boxes = (struct boxes){.view = view};
	if (which & (which - 1)) {
		g_set_error(error, FABRIC_ERROR, FABRIC_WRONG,
			    "expected one of group=, set= and groups=");
		return false;
	}
	boxes->boxes = g_array_new(FALSE, FALSE, sizeof(struct box));
	boxes->bundles = g_array_new(FALSE, FALSE, sizeof(struct bundle));
	boxes->box_of = new_none(view->image.header->n_nodes);
	if (!open_asked(boxes, args, error)) {
		boxes_clear(boxes);
		return false;
	}
	count_boxes(boxes);
	return true;
}

void boxes_open_whole(struct boxes *boxes, const struct fabric_view *view)
{
	*boxes = (struct boxes){.view = view};
	boxes->boxes = g_array_new(FALSE, FALSE, sizeof(struct box));
	boxes->bundles = g_array_new(FALSE, FALSE, sizeof(struct bundle));
	boxes->box_of = new_none(view->image.header->n_nodes);
	for (uint32_t i = 0; i < view->image.header->n_nodes; i++)
		if (view_is_switch(view, i))
			boxes->box_of[i] = add_box(boxes, BOX_SWITCH, i);
	count_boxes(boxes);
}

void boxes_clear(struct boxes *boxes)
{
	if (boxes->boxes)
		g_array_unref(boxes->boxes);
	if (boxes->bundles)
		g_array_unref(boxes->bundles);
	g_free(boxes->box_of);
	*boxes = (struct boxes){0};
}

/* ---- bundles ---- */

static struct bundle *find_bundle(struct boxes *boxes, GHashTable *known, uint32_t a, uint32_t b)
{
	guint64 key = (guint64)MIN(a, b) << 32 | MAX(a, b);
	void *found = g_hash_table_lookup(known, &key);
	struct bundle bundle = {.a = MIN(a, b), .b = MAX(a, b)};

	if (!found) {
		g_array_append_val(boxes->bundles, bundle);
		found = GUINT_TO_POINTER(boxes->bundles->len);
		g_hash_table_insert(known, g_memdup2(&key, sizeof(key)), found);
	}
	return &g_array_index(boxes->bundles, struct bundle, GPOINTER_TO_UINT(found) - 1);
}

/* Each end says what it sends. */
static void add_cable(const struct image *image, uint32_t port, struct bundle *bundle)
{
	const struct image_port *ends[2] = {&image->ports[port],
					    &image->ports[image->ports[port].peer]};
	bool lost = ends[0]->flags & IMAGE_PORT_LOST;

	bundle->cables += !lost;
	bundle->lost += lost;
	bundle->slow += !!(ends[0]->flags & IMAGE_PORT_SLOW);
	for (unsigned int i = 0; i < 2; i++) {
		bundle->errors_minute += ends[i]->errors_minute;
		bundle->octets_s += ends[i]->octets_s[0];
		bundle->load = MAX(bundle->load, ends[i]->load[0]);
		bundle->alarm = MAX(bundle->alarm, ends[i]->alarm);
	}
}

static int compare_trouble(const void *x, const void *y)
{
	const struct bundle *a = x, *b = y;

	if (a->lost != b->lost)
		return a->lost < b->lost ? 1 : -1;
	if (a->alarm != b->alarm)
		return a->alarm < b->alarm ? 1 : -1;
	if (a->slow != b->slow)
		return a->slow < b->slow ? 1 : -1;
	return (a->load < b->load) - (a->load > b->load);
}

static int compare_places(const void *x, const void *y)
{
	const struct bundle *a = x, *b = y;

	if (a->a != b->a)
		return a->a > b->a ? 1 : -1;
	return (a->b > b->b) - (a->b < b->b);
}

void boxes_find_bundles(struct boxes *boxes)
{
	const struct image *image = &boxes->view->image;
	g_autoptr(GHashTable) known =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (uint32_t i = 0; i < image->header->n_ports; i++) {
		uint32_t peer = image->ports[i].peer, a, b;

		if (peer == IMAGE_NONE || peer < i ||
		    !view_is_switch(boxes->view, image->ports[i].node) ||
		    !view_is_switch(boxes->view, image->ports[peer].node))
			continue;
		a = boxes->box_of[image->ports[i].node];
		b = boxes->box_of[image->ports[peer].node];
		if (a != b)
			add_cable(image, i, find_bundle(boxes, known, a, b));
	}
	g_array_sort(boxes->bundles, compare_trouble);
	if (boxes->bundles->len > BUNDLES_MAX) {
		boxes->bundles_left_out = boxes->bundles->len - BUNDLES_MAX;
		g_array_set_size(boxes->bundles, BUNDLES_MAX);
	}
	g_array_sort(boxes->bundles, compare_places);
}

/* ---- as JSON ---- */

static const char *const kinds[] = {[BOX_SWITCH] = "switch",
				    [BOX_GROUP] = "group",
				    [BOX_SET] = "set",
				    [BOX_GROUPS] = "groups"};

char *boxes_opening(const struct boxes *boxes, const struct box *box)
{
	return g_strdup_printf("%s=0x%016" G_GINT64_MODIFIER "x", kinds[box->kind],
			       boxes->view->image.nodes[box->head].guid);
}

static void emit_box(const struct boxes *boxes, const struct box *box, struct emit *emit)
{
	const struct image_node *head = &boxes->view->image.nodes[box->head];
	g_autofree char *opening = boxes_opening(boxes, box);

	emit_begin(emit, '[');
	emit_text(emit, opening);
	emit_text(emit, kinds[box->kind]);
	emit_text(emit, image_name(&boxes->view->image, head->name));
	emit_number(emit, head->level);
	emit_number(emit, box->switches);
	emit_number(emit, box->hosts);
	emit_number(emit, box->lost);
	emit_number(emit, box->slow);
	emit_number(emit, box->unhealthy);
	emit_number(emit, box->silent);
	emit_number(emit, box->alarm);
	emit_real(emit, box->errors_minute);
	emit_real(emit, box->load);
	emit_number(emit, box->loops);
	emit_number(emit, head->lid);
	emit_end(emit, ']');
}

void boxes_emit(const struct boxes *boxes, struct emit *emit)
{
	static const char *const columns[] = {
		"open", "kind",	     "name",   "level", "switches",	 "hosts", "lost",
		"slow", "unhealthy", "silent", "alarm", "errors_minute", "load",  "loops", "lid"};

	emit_key(emit, "boxes");
	emit_table(emit, columns, G_N_ELEMENTS(columns));
	for (guint i = 0; i < boxes->boxes->len; i++)
		emit_box(boxes, &g_array_index(boxes->boxes, struct box, i), emit);
	emit_table_end(emit);
	emit_key(emit, "boxes_left_out");
	emit_number(emit, boxes->boxes_left_out);
}

void boxes_emit_bundles(const struct boxes *boxes, struct emit *emit)
{
	static const char *const columns[] = {
		"a", "b", "cables", "lost", "slow", "alarm", "errors_minute", "octets_s", "load"};

	emit_key(emit, "bundles");
	emit_table(emit, columns, G_N_ELEMENTS(columns));
	for (guint i = 0; i < boxes->bundles->len; i++) {
		const struct bundle *bundle = &g_array_index(boxes->bundles, struct bundle, i);

		emit_begin(emit, '[');
		emit_number(emit, bundle->a);
		if (bundle->b == IMAGE_NONE)
			emit_text(emit, NULL);
		else
			emit_number(emit, bundle->b);
		emit_number(emit, bundle->cables);
		emit_number(emit, bundle->lost);
		emit_number(emit, bundle->slow);
		emit_number(emit, bundle->alarm);
		emit_real(emit, bundle->errors_minute);
		emit_real(emit, bundle->octets_s);
		emit_real(emit, bundle->load);
		emit_end(emit, ']');
	}
	emit_table_end(emit);
	emit_key(emit, "bundles_left_out");
	emit_number(emit, boxes->bundles_left_out);
}
