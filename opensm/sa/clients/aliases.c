// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See aliases.h. The published value is also the one that is changed: the first change after a
 * publication copies it, so that many changes at a time cost one copy.
 *
 * A port that is gone may be back in a moment, and then has its alias GUIDs again.
 */
#include "sa/clients/aliases.h"

#include "complib/actor.h"
#include "complib/hash.h"
#include "sa/clients/services.h"

#define TRIES 1000
#define OUI UINT64_C(0x001405) /* the prefix of the classic daemon's alias GUIDs */

struct sa_aliases {
	struct alias_guids *now;
	bool is_shared, is_changed; /* published, not copied; changed since */
	unsigned int n_removed;	    /* entries without a GUID */
	uint64_t serial;
	uint32_t last_made;
	GArray *images; /* uint64_t by value: SystemImageGUIDs of the subnet; NULL: not built yet */
	uint64_t images_generation; /* of the subnet they were built from */
	GHashTable *gone;	    /* port GUID (uint64_t, owned) -> gone since (ns, owned) */
	void (*changed)(void *arg, const struct alias_guid *alias, bool forgotten);
	void *arg;
};

struct sa_aliases *sa_aliases_new(uint32_t first_made)
{
	struct sa_aliases *aliases = g_new0(struct sa_aliases, 1);

	aliases->now = alias_guids_new();
	aliases->last_made = first_made;
	aliases->gone = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, g_free);
	return aliases;
}

void sa_aliases_free(struct sa_aliases *aliases)
{
	alias_guids_unref(aliases->now);
	if (aliases->images)
		g_array_unref(aliases->images);
	g_hash_table_unref(aliases->gone);
	g_free(aliases);
}

void sa_aliases_watch(struct sa_aliases *aliases,
		      void (*changed)(void *arg, const struct alias_guid *alias, bool forgotten),
		      void *arg)
{
	aliases->changed = changed;
	aliases->arg = arg;
}

static void tell(const struct sa_aliases *aliases, struct alias_guid alias, bool forgotten)
{
	if (aliases->changed)
		aliases->changed(aliases->arg, &alias, forgotten);
}

/* ---- look-ups ---- */

const struct alias_guids *sa_aliases_now(const struct sa_aliases *aliases)
{
	return aliases->now;
}

static const struct alias_guid *find(const struct sa_aliases *aliases, uint64_t port, uint8_t index,
				     guint *place)
{
	const GArray *by_port = aliases->now->by_port;
	const struct alias_guid *entry;

	*place = alias_guids_place(aliases->now, port, index);
	if (*place == by_port->len)
		return NULL;
	entry = alias_guids_at(by_port, *place);
	return entry->port == port && entry->index == index ? entry : NULL;
}

uint64_t sa_aliases_get(const struct sa_aliases *aliases, uint64_t port, uint8_t index)
{
	guint place;
	const struct alias_guid *entry = find(aliases, port, index, &place);

	return entry ? entry->guid : 0;
}

/* ---- GUIDs in use ---- */

static gint compare_guids(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_listed(const GArray *guids, uint64_t guid)
{
	return guids && g_array_binary_search((GArray *)guids, &guid, compare_guids, NULL);
}

/* SystemImageGUIDs of the subnet, as an index built when it is first needed. */
static const GArray *images_of(struct sa_aliases *aliases, const struct fabric *fabric)
{
	if (aliases->images && aliases->images_generation == fabric->generation)
		return aliases->images;
	if (aliases->images)
		g_array_unref(aliases->images);
	aliases->images = g_array_sized_new(FALSE, FALSE, sizeof(uint64_t), fabric->n_nodes);
	aliases->images_generation = fabric->generation;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		g_array_append_val(aliases->images, fabric->nodes[i].info.system_image_guid);
	g_array_sort(aliases->images, compare_guids);
	return aliases->images;
}

/* Not all ones, nor a value that begins like a multicast GID. */
static bool is_legal(uint64_t guid)
{
	return guid != 0 && guid >> 56 != 0xFF;
}

/*
 * Why a port of the subnet may not have it, apart from other ports' aliases and former port GUIDs.
 */
static const char *conflict(struct sa_aliases *aliases, const struct fabric *fabric, uint64_t port,
			    uint64_t guid)
{
	uint32_t found = fabric_port_by_guid(fabric, port),
		 node = fabric_node_by_guid(fabric, guid);
	const struct fabric_node *own =
		found != FABRIC_NONE ? &fabric->nodes[fabric->ports[found].node] : NULL;

	if (!is_legal(guid))
		return "no port can have that GUID";
	if (fabric_port_by_guid(fabric, guid) != FABRIC_NONE)
		return "it is the GUID of a port";
	if (node != FABRIC_NONE && &fabric->nodes[node] != own)
		return "it is the NodeGUID of another node";
	if (!(own && own->info.system_image_guid == guid) &&
	    is_listed(images_of(aliases, fabric), guid))
		return "it is the SystemImageGUID of another node";
	return NULL;
}

const char *sa_aliases_refusal(struct sa_aliases *aliases, const struct subnet *subnet,
			       uint64_t port, uint64_t guid, bool privileged)
{
	const char *why = conflict(aliases, subnet->fabric, port, guid);

	if (why)
		return why;
	if (alias_guids_find(aliases->now, guid))
		return "it is an alias GUID of another port, or of another entry";
	return !privileged && is_listed(subnet->lid_guids, guid)
		       ? "it is the GUID of a port that is gone for now"
		       : NULL;
}

uint64_t sa_aliases_make(struct sa_aliases *aliases, const struct subnet *subnet, uint64_t port,
			 uint8_t byte)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t guid = OUI << 40 | (uint64_t)byte << 32 | ++aliases->last_made;

		if (!sa_aliases_refusal(aliases, subnet, port, guid, false))
			return guid;
	}
	return 0;
}

/* ---- changes ---- */

static void begin_change(struct sa_aliases *aliases)
{
	struct alias_guids *shared = aliases->now;

	if (!aliases->is_shared)
		return;
	aliases->now = alias_guids_copy(shared);
	aliases->is_shared = false;
	alias_guids_unref(shared);
}

/* Removes an entry from both arrays; from by_port only if it is forgotten. */
static void drop_guid(struct sa_aliases *aliases, uint64_t guid)
{
	if (guid)
		g_array_remove_index(aliases->now->by_guid,
				     alias_guids_place_of(aliases->now, guid));
}

bool sa_aliases_set(struct sa_aliases *aliases, uint64_t port, uint8_t index, uint64_t guid)
{
	return sa_aliases_get(aliases, port, index) == guid ||
	       sa_aliases_restore(aliases, port, index, guid);
}

bool sa_aliases_restore(struct sa_aliases *aliases, uint64_t port, uint8_t index, uint64_t guid)
{
	struct alias_guid entry = {.port = port, .guid = guid, .index = index};
	guint place;
	const struct alias_guid *old = find(aliases, port, index, &place);
	uint64_t before = old ? old->guid : 0;

	if ((guid && alias_guids_find(aliases->now, guid)) ||
	    (!old && aliases->now->by_port->len >= SA_ALIASES_MAX))
		return false;
	begin_change(aliases);
	drop_guid(aliases, before);
	if (old)
		g_array_index(aliases->now->by_port, struct alias_guid, place) = entry;
	else
		g_array_insert_val(aliases->now->by_port, place, entry);
	if (guid)
		g_array_insert_val(aliases->now->by_guid, alias_guids_place_of(aliases->now, guid),
				   entry);
	aliases->n_removed += !guid;
	aliases->n_removed -= old && !before;
	aliases->is_changed = true;
	tell(aliases, entry, false);
	return true;
}

/* Forgets an entry by its index in by_port. */
static void forget(struct sa_aliases *aliases, guint place)
{
	struct alias_guid entry;

	begin_change(aliases);
	entry = *alias_guids_at(aliases->now->by_port, place);
	drop_guid(aliases, entry.guid);
	g_array_remove_index(aliases->now->by_port, place);
	aliases->n_removed -= !entry.guid;
	tell(aliases, entry, true);
}

void sa_aliases_clear(struct sa_aliases *aliases)
{
	aliases->is_changed |= aliases->now->by_port->len != 0;
	for (guint i = aliases->now->by_port->len; i-- > 0;)
		forget(aliases, i);
	g_hash_table_remove_all(aliases->gone);
}

/* ---- a new subnet ---- */

static bool is_overdue(struct sa_aliases *aliases, uint64_t port, uint64_t now_ns)
{
	const uint64_t *since = g_hash_table_lookup(aliases->gone, &port);

	if (since && now_ns - *since >= SA_ABSENCE_NS)
		return g_hash_table_remove(aliases->gone, &port);
	if (!since)
		g_hash_table_insert(aliases->gone, g_memdup2(&port, sizeof(port)),
				    g_memdup2(&now_ns, sizeof(now_ns)));
	return false;
}

/* Whether a port that was gone has no entry any more. */
static gboolean has_none(gpointer key, gpointer value, gpointer arg)
{
	const struct sa_aliases *aliases = arg;
	const uint64_t *port = key;
	guint place = alias_guids_place(aliases->now, *port, 0);

	(void)value;
	return place == aliases->now->by_port->len ||
	       alias_guids_at(aliases->now->by_port, place)->port != *port;
}

void sa_aliases_follow(struct sa_aliases *aliases, const struct subnet *subnet, uint64_t now_ns)
{
	uint64_t port = 0;
	bool drops = false;

	for (guint i = aliases->now->by_port->len; i-- > 0;) {
		uint64_t next = alias_guids_at(aliases->now->by_port, i)->port;

		if (next != port && fabric_port_by_guid(subnet->fabric, next) != FABRIC_NONE) {
			g_hash_table_remove(aliases->gone, &next);
			drops = false;
		} else if (next != port) {
			drops = is_overdue(aliases, next, now_ns);
		}
		port = next;
		if (drops) {
			forget(aliases, i);
			aliases->is_changed = true;
		}
	}
	g_hash_table_foreach_remove(aliases->gone, has_none, aliases);
}

void sa_aliases_yield(struct sa_aliases *aliases, const struct subnet *subnet,
		      void (*lost)(void *arg, const struct alias_guid *alias, const char *why),
		      void *arg)
{
	for (guint i = 0; i < aliases->now->by_port->len; i++) {
		struct alias_guid alias = *alias_guids_at(aliases->now->by_port, i);
		const char *why =
			alias.guid ? conflict(aliases, subnet->fabric, alias.port, alias.guid)
				   : NULL;

		if (!why)
			continue;
		lost(arg, &alias, why);
		sa_aliases_set(aliases, alias.port, alias.index, 0);
	}
}

/* ---- publication ---- */

uint64_t sa_aliases_serial(const struct sa_aliases *aliases)
{
	return aliases->serial + aliases->is_changed;
}

bool sa_aliases_changed(const struct sa_aliases *aliases)
{
	return aliases->is_changed;
}

struct alias_guids *sa_aliases_publish(struct sa_aliases *aliases)
{
	if (!aliases->is_changed)
		return NULL;
	aliases->is_changed = false;
	aliases->is_shared = true;
	aliases->now->serial = ++aliases->serial;
	return alias_guids_ref(aliases->now);
}

void sa_aliases_programmed(struct sa_aliases *aliases, uint64_t serial)
{
	if (serial != sa_aliases_serial(aliases) || !aliases->n_removed)
		return;
	for (guint i = aliases->now->by_port->len; i-- > 0;)
		if (!alias_guids_at(aliases->now->by_port, i)->guid)
			forget(aliases, i);
}
