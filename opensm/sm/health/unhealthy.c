// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counting, verdicts and their end: unhealthy.h. */
#include "sm/health/unhealthy.h"

#include "complib/actor.h"
#include "complib/hash.h"

#define SWEEP_NS (10 * NS_PER_S) /* the usual interval, if sweeps are counted */
#define AGAIN_MAX 4

/* The most recent events of one condition. */
struct ring {
	uint64_t *times; /* [size], in ns, or in sweeps */
	uint16_t size, n, at;
};

struct entry {
	struct unhealthy_port port; /* first: its guid and num are the key */
	GList link;		    /* in by_age */
	struct ring rings[PORT_CONDITIONS];
	uint64_t released_ns; /* 0: never, or by the operator */
};

struct unhealthy {
	GHashTable *entries; /* struct entry, owned */
	GQueue by_age;	     /* of entries, ordered by their last event, the oldest first */
	unsigned int count;  /* number of unhealthy ones */
	uint32_t last_id;
};

static guint port_hash(gconstpointer key)
{
	const struct unhealthy_port *port = key;

	return (guint)(hash_spread(port->guid * 257 + port->num) >> 32);
}

static gboolean port_equal(gconstpointer a, gconstpointer b)
{
	const struct unhealthy_port *x = a, *y = b;

	return x->guid == y->guid && x->num == y->num;
}

static void entry_free(void *value)
{
	struct entry *entry = value;

	for (unsigned int i = 0; i < PORT_CONDITIONS; i++)
		g_free(entry->rings[i].times);
	g_free(entry);
}

struct unhealthy *unhealthy_new(void)
{
	struct unhealthy *unhealthy = g_new0(struct unhealthy, 1);

	unhealthy->entries = g_hash_table_new_full(port_hash, port_equal, NULL, entry_free);
	g_queue_init(&unhealthy->by_age);
	return unhealthy;
}

void unhealthy_free(struct unhealthy *unhealthy)
{
	g_hash_table_unref(unhealthy->entries);
	g_free(unhealthy);
}

static void forget(struct unhealthy *unhealthy, struct entry *entry)
{
	unhealthy->count -= entry->port.action != PORT_IGNORE;
	g_queue_unlink(&unhealthy->by_age, &entry->link);
	g_hash_table_remove(unhealthy->entries, &entry->port);
}

/* Frees the entry without events for the longest time, unless it has an action. */
static bool make_room(struct unhealthy *unhealthy)
{
	if (unhealthy->by_age.length < UNHEALTHY_PORTS_MAX)
		return true;
	for (GList *i = unhealthy->by_age.head; i; i = i->next) {
		struct entry *entry = i->data;

		if (entry->port.action > PORT_REPORT)
			continue;
		forget(unhealthy, entry);
		return true;
	}
	return false;
}

static struct entry *find(const struct unhealthy *unhealthy, uint64_t guid, uint8_t num)
{
	struct unhealthy_port key = {.guid = guid, .num = num};

	return g_hash_table_lookup(unhealthy->entries, &key);
}

/* The entry, created if it is new; NULL: there is no room. */
static struct entry *meet(struct unhealthy *unhealthy, uint64_t guid, uint8_t num)
{
	struct entry *entry = find(unhealthy, guid, num);

	if (entry) {
		g_queue_unlink(&unhealthy->by_age, &entry->link);
	} else if (make_room(unhealthy)) {
		entry = g_new0(struct entry, 1);
		entry->port.guid = guid;
		entry->port.num = num;
		entry->port.type = IBA_NODE_CA;
		entry->link.data = entry;
		g_hash_table_add(unhealthy->entries, entry);
	} else {
		return NULL;
	}
	g_queue_push_tail_link(&unhealthy->by_age, &entry->link);
	return entry;
}

/* True if the last events, including this one, reach the rule's count within its time. */
static bool ring_add(struct ring *ring, const struct port_rule *rule, uint64_t now_ns)
{
	uint64_t now = rule->sweeps ? now_ns / SWEEP_NS : now_ns;
	uint64_t window = rule->sweeps ? rule->window - 1 : rule->window * NS_PER_S;

	if (ring->size != rule->count) { /* the first event, or the rule has changed */
		g_free(ring->times);
		*ring = (struct ring){g_new(uint64_t, rule->count), rule->count, 0, 0};
	}
	if (rule->sweeps && ring->n && ring->times[(ring->at + ring->size - 1) % ring->size] == now)
		return false; /* already counted in this sweep */
	ring->times[ring->at] = now;
	ring->at = (ring->at + 1) % ring->size;
	ring->n = MIN(ring->n + 1, ring->size);
	return ring->n == ring->size && now - ring->times[ring->at] <= window;
}

/* From now on, without further events. */
static void start_time(struct unhealthy_port *port, uint64_t now_ns)
{
	port->until_ns = UINT64_MAX;
	if (port->release)
		port->until_ns = now_ns + ((uint64_t)port->release << port->again) * NS_PER_S;
}

/* Whether it was released only recently. */
static bool is_relapse(const struct entry *entry, const struct port_rule *rule, uint64_t now_ns)
{
	return entry->released_ns &&
	       now_ns - entry->released_ns <
		       ((uint64_t)rule->release << entry->port.again) * NS_PER_S;
}

static void condemn(struct unhealthy *unhealthy, struct entry *entry, unsigned int condition,
		    const struct port_rule *rule, uint64_t now_ns)
{
	struct unhealthy_port *port = &entry->port;

	if (port->action == PORT_IGNORE) {
		bool relapse = is_relapse(entry, rule, now_ns);

		port->again = relapse ? MIN(port->again + 1, AGAIN_MAX) : 0;
		port->id = ++unhealthy->last_id;
		unhealthy->count++;
	}
	port->condition = (uint8_t)condition;
	port->action = rule->action;
	port->cut_off = rule->cut_off;
	port->release = rule->release;
	start_time(port, now_ns);
}

struct unhealthy_port *unhealthy_event(struct unhealthy *unhealthy,
				       const struct unhealthy_port *who, unsigned int condition,
				       const struct port_rule *rule, uint64_t now_ns)
{
	struct entry *entry;
	bool met;

	if (rule->action == PORT_IGNORE)
		return NULL;
	entry = meet(unhealthy, who->guid, who->num);
	if (!entry)
		return NULL;
	if (who->blamed) {
		entry->port.type = who->type;
		entry->port.blamed = who->blamed;
	}
	met = ring_add(&entry->rings[condition], rule, now_ns);
	if (entry->port.action != PORT_IGNORE && entry->port.action != PORT_ENABLE)
		start_time(&entry->port, now_ns);
	if (!met || entry->port.action >= rule->action)
		return NULL;
	condemn(unhealthy, entry, condition, rule, now_ns);
	return &entry->port;
}

uint8_t unhealthy_last_type(const struct unhealthy *unhealthy, uint64_t guid, uint8_t num)
{
	const struct entry *entry = find(unhealthy, guid, num);

	return entry ? entry->port.type : IBA_NODE_CA;
}

struct unhealthy_port *unhealthy_find(const struct unhealthy *unhealthy, uint64_t guid, uint8_t num)
{
	struct entry *entry = unhealthy->count ? find(unhealthy, guid, num) : NULL;

	return entry && entry->port.action != PORT_IGNORE ? &entry->port : NULL;
}

struct unhealthy_port *unhealthy_restore(struct unhealthy *unhealthy,
					 const struct unhealthy_port *port)
{
	struct entry *entry = meet(unhealthy, port->guid, port->num);

	if (!entry || entry->port.action >= port->action)
		return NULL;
	unhealthy->count += entry->port.action == PORT_IGNORE;
	entry->port = *port;
	entry->port.id = ++unhealthy->last_id;
	return &entry->port;
}

struct unhealthy_port *unhealthy_copy(struct unhealthy *unhealthy,
				      const struct unhealthy_port *from, uint64_t guid, uint8_t num)
{
	struct unhealthy_port copy = *from;

	copy.guid = guid;
	copy.num = num;
	copy.until_ns = UINT64_MAX;
	return unhealthy_restore(unhealthy, &copy);
}

void unhealthy_drop(struct unhealthy *unhealthy, struct unhealthy_port *port)
{
	struct entry *entry = (struct entry *)port;

	unhealthy->count -= port->action != PORT_IGNORE;
	port->action = PORT_IGNORE;
	for (unsigned int i = 0; i < PORT_CONDITIONS; i++)
		entry->rings[i].n = 0;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	const struct unhealthy_port *x = *(struct unhealthy_port *const *)a;
	const struct unhealthy_port *y = *(struct unhealthy_port *const *)b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->num - y->num;
}

GPtrArray *unhealthy_list(const struct unhealthy *unhealthy)
{
	GPtrArray *list = g_ptr_array_new();
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, unhealthy->entries);
	while (g_hash_table_iter_next(&iter, (void **)&entry, NULL))
		if (entry->port.action != PORT_IGNORE)
			g_ptr_array_add(list, &entry->port);
	g_ptr_array_sort(list, by_name);
	return list;
}

void unhealthy_release(struct unhealthy *unhealthy, struct unhealthy_port *port, bool by_operator,
		       uint64_t now_ns)
{
	struct entry *entry = (struct entry *)port;

	entry->released_ns = by_operator ? 0 : now_ns;
	if (port->action == PORT_DISABLE && port->num) {
		port->action = PORT_ENABLE;
		port->until_ns = UINT64_MAX;
	} else if (port->action != PORT_ENABLE) {
		unhealthy_drop(unhealthy, port);
	}
}

unsigned int unhealthy_count(const struct unhealthy *unhealthy)
{
	return unhealthy->count;
}

uint64_t unhealthy_next(const struct unhealthy *unhealthy)
{
	g_autoptr(GPtrArray) list = unhealthy_list(unhealthy);
	uint64_t next = UINT64_MAX;

	for (guint i = 0; i < list->len; i++)
		next = MIN(next, ((struct unhealthy_port *)list->pdata[i])->until_ns);
	return next;
}

struct unhealthy_ports *unhealthy_ports_new(const struct unhealthy *unhealthy)
{
	g_autoptr(GPtrArray) list = unhealthy_list(unhealthy);
	struct unhealthy_ports *ports =
		g_malloc0(sizeof(*ports) + list->len * sizeof(ports->ports[0]));

	ref_init(&ports->ref);
	ports->n = list->len;
	for (guint i = 0; i < list->len; i++)
		ports->ports[i] = *(const struct unhealthy_port *)list->pdata[i];
	return ports;
}

struct unhealthy_ports *unhealthy_ports_ref(struct unhealthy_ports *ports)
{
	ref_get(&ports->ref);
	return ports;
}

void unhealthy_ports_unref(struct unhealthy_ports *ports)
{
	if (ports && ref_put(&ports->ref))
		g_free(ports);
}

unsigned int unhealthy_counted(const struct unhealthy *unhealthy)
{
	return g_hash_table_size(unhealthy->entries);
}
