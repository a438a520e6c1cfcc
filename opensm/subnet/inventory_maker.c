// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Builds inventories. A node is changed in place until it is published; after that, changes go to a
 * copy. Tables with equal contents are one object, found by a hash set that has a reference of its
 * own; tables that only the set references are dropped when an inventory is published.
 */
#include <glib.h>
#include <string.h>

#include "subnet/inventory_private.h"

struct inventory_maker {
	GPtrArray *nodes;  /* struct inventory_node by GUID */
	GHashTable *lists; /* set of struct inventory_list */
	uint32_t epoch[INVENTORY_KINDS];
	bool any[INVENTORY_KINDS]; /* something was added since the epoch began */
	uint64_t serial;
	guint swept_at; /* size of the set when it was last cleaned */
};

static size_t list_bytes(const struct inventory_list *list)
{
	return (size_t)list->n_stored * list->block_bytes + list->n;
}

static guint list_hash(gconstpointer p)
{
	const struct inventory_list *list = p;
	uint64_t hash = UINT64_C(0xCBF29CE484222325) ^ list->n; /* FNV-1a */
	size_t n = list_bytes(list);

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ list->data[i]) * UINT64_C(0x100000001B3);
	return (guint)(hash ^ hash >> 32);
}

static gboolean list_equal(gconstpointer a, gconstpointer b)
{
	const struct inventory_list *x = a, *y = b;

	return x->block_bytes == y->block_bytes && x->n == y->n && x->n_stored == y->n_stored &&
	       memcmp(x->data, y->data, list_bytes(x)) == 0;
}

static void list_put(gpointer list)
{
	inventory_list_unref(list);
}

static void node_put(gpointer node)
{
	inventory_node_unref(node);
}

struct inventory_maker *inventory_maker_new(void)
{
	struct inventory_maker *maker = g_new0(struct inventory_maker, 1);

	maker->nodes = g_ptr_array_new_with_free_func(node_put);
	maker->lists = g_hash_table_new_full(list_hash, list_equal, list_put, NULL);
	return maker;
}

void inventory_maker_free(struct inventory_maker *maker)
{
	if (!maker)
		return;
	g_ptr_array_unref(maker->nodes);
	g_hash_table_unref(maker->lists);
	g_free(maker);
}

/* The one list with that content; takes the caller's reference and returns one. */
static struct inventory_list *intern(struct inventory_maker *maker, struct inventory_list *list)
{
	struct inventory_list *same = g_hash_table_lookup(maker->lists, list);

	if (same) {
		inventory_list_unref(list);
		return inventory_list_ref(same);
	}
	g_hash_table_add(maker->lists, inventory_list_ref(list));
	return list;
}

static struct inventory_node *node_new(uint64_t guid, uint32_t n_ports, uint64_t sweep)
{
	struct inventory_node *node = g_new0(struct inventory_node, 1);

	ref_init(&node->ref);
	node->guid = guid;
	node->n_ports = n_ports;
	node->sweep = sweep;
	return node;
}

static struct inventory_node *node_copy(const struct inventory_node *old)
{
	struct inventory_node *node = g_memdup2(old, sizeof(*old));

	ref_init(&node->ref);
	for (unsigned int kind = 0; kind < INVENTORY_KINDS; kind++) {
		if (!old->lists[kind])
			continue;
		node->lists[kind] =
			g_memdup2(old->lists[kind], old->n_ports * sizeof(*old->lists[kind]));
		for (uint32_t i = 0; i < old->n_ports; i++)
			if (node->lists[kind][i])
				inventory_list_ref(node->lists[kind][i]);
	}
	return node;
}

/* If only the maker has a reference, no other thread can take one. */
static bool is_published(const struct ref *ref)
{
	return atomic_load_explicit(&ref->count, memory_order_acquire) > 1;
}

/* The node, ready to be changed; new if it does not exist or has another number of ports. */
static struct inventory_node *writable(struct inventory_maker *maker, uint64_t guid,
				       uint32_t n_ports, uint64_t sweep)
{
	struct inventory_node **nodes = (struct inventory_node **)maker->nodes->pdata;
	uint32_t place = inventory_place(nodes, maker->nodes->len, guid);
	struct inventory_node *node = place < maker->nodes->len ? nodes[place] : NULL;

	if (!node || node->guid != guid) {
		node = node_new(guid, n_ports, sweep);
		g_ptr_array_insert(maker->nodes, (gint)place, node);
		return node;
	}
	if (node->n_ports == n_ports && !is_published(&node->ref))
		return node;
	nodes[place] = node->n_ports == n_ports ? node_copy(node) : node_new(guid, n_ports, sweep);
	inventory_node_unref(node);
	return nodes[place];
}

enum inventory_state inventory_maker_look(const struct inventory_maker *maker, uint64_t node_guid,
					  uint8_t port, enum inventory_kind kind, uint64_t now_ns)
{
	struct inventory_node **nodes = (struct inventory_node **)maker->nodes->pdata;
	uint32_t place = inventory_place(nodes, maker->nodes->len, node_guid);
	const struct inventory_list *list;

	if (place == maker->nodes->len || nodes[place]->guid != node_guid)
		return INVENTORY_UNKNOWN;
	return inventory_node_look(nodes[place], maker->epoch, port, kind, now_ns, &list);
}

void inventory_put(struct inventory_maker *maker, uint64_t node_guid, uint32_t n_ports,
		   uint8_t port, enum inventory_kind kind, const void *blocks, const uint8_t *has,
		   uint32_t n, uint64_t now_ns, uint64_t sweep)
{
	struct inventory_node *node = writable(maker, node_guid, n_ports, sweep);

	g_assert(port < n_ports);
	if (node->lists[kind] && node->epoch[kind] != maker->epoch[kind])
		inventory_node_clear(node, kind);
	if (!node->lists[kind])
		node->lists[kind] = g_new0(struct inventory_list *, n_ports);
	node->epoch[kind] = maker->epoch[kind];
	node->silent_ns = 0;
	if (kind == INVENTORY_SM_INFO)
		node->sm_info_ns = now_ns;
	maker->any[kind] = true;
	inventory_list_unref(node->lists[kind][port]);
	node->lists[kind][port] = intern(maker, inventory_list_new(kind, blocks, has, n));
}

void inventory_put_silent(struct inventory_maker *maker, uint64_t node_guid, uint32_t n_ports,
			  uint64_t now_ns, uint64_t sweep)
{
	writable(maker, node_guid, n_ports, sweep)->silent_ns = MAX(now_ns, 1);
}

bool inventory_forget(struct inventory_maker *maker, enum inventory_kind kind)
{
	if (!maker->any[kind])
		return false;
	maker->any[kind] = false;
	maker->epoch[kind]++;
	return true;
}

uint32_t inventory_prune(struct inventory_maker *maker,
			 bool (*keep)(void *arg, uint64_t node_guid, uint64_t sweep), void *arg)
{
	struct inventory_node **nodes = (struct inventory_node **)maker->nodes->pdata;
	uint32_t n = maker->nodes->len;
	GPtrArray *kept = g_ptr_array_new_with_free_func(node_put);

	for (uint32_t i = 0; i < n; i++)
		if (keep(arg, nodes[i]->guid, nodes[i]->sweep)) {
			ref_get(&nodes[i]->ref);
			g_ptr_array_add(kept, nodes[i]);
		}
	g_ptr_array_unref(maker->nodes);
	maker->nodes = kept;
	return n - kept->len;
}

static gboolean is_unused(gpointer key, gpointer value, gpointer arg)
{
	struct inventory_list *list = key;

	(void)value;
	(void)arg;
	return !is_published(&list->ref);
}

/* Called now and then, so that tables that change all the time do not pile up. */
static void drop_unused(struct inventory_maker *maker)
{
	if (g_hash_table_size(maker->lists) < 2 * maker->swept_at + 64)
		return;
	g_hash_table_foreach_remove(maker->lists, is_unused, NULL);
	maker->swept_at = g_hash_table_size(maker->lists);
}

struct inventory *inventory_publish(struct inventory_maker *maker)
{
	struct inventory *inventory = g_new0(struct inventory, 1);

	drop_unused(maker);
	ref_init(&inventory->ref);
	inventory->serial = ++maker->serial;
	memcpy(inventory->epoch, maker->epoch, sizeof(inventory->epoch));
	inventory->n = maker->nodes->len;
	inventory->nodes = g_memdup2(maker->nodes->pdata, inventory->n * sizeof(gpointer));
	for (uint32_t i = 0; i < inventory->n; i++)
		ref_get(&inventory->nodes[i]->ref);
	return inventory;
}

uint32_t inventory_maker_lists(const struct inventory_maker *maker)
{
	return g_hash_table_size(maker->lists);
}
