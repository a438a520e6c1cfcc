// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When the rule changes, the ports still have the old keys: each is opened with its known key until
 * a Set gives it the new one. If nothing is known, or the known key fails, the keys according to
 * the rules are tried, newest first. A wrong key looks like a dead node: no answer. So no key is
 * tried twice in a round, and as long as the rule never changed there is nothing to try and a dead
 * node costs no more than it does without keys.
 *
 * M_Key 0 is not a candidate of its own: a port that has it accepts any key.
 */
#include "policy/keys/key_ring.h"

#include "complib/hash.h"
#include "core/state/state_file.h"

/* The known key, the one before, the rule's, those of previous rules, generations ahead. */
#define CANDIDATES_MAX (3 + KEY_RING_PREVIOUS + KEY_RING_AHEAD)
#define SHA256_OCTETS 32

struct entry {
	struct entry_id {
		uint64_t guid;
		uint64_t behind;
	} id;
	uint64_t known, previous; /* previous is 0 if there was none */
	uint64_t changes;	  /* of known */
	bool is_known, is_proven;
	uint64_t proven; /* number of the rule changes before it */
	uint64_t round;	 /* in which the failed ones failed */
	uint64_t failed[CANDIDATES_MAX];
	unsigned int n_failed;
	uint64_t wanted, wanted_at; /* the rule's key after that many changes */
};

struct key_ring {
	struct value {
		struct key_rule rule;
		uint64_t until; /* number of the change that ended it; unused in the first */
	} values[1 + KEY_RING_PREVIOUS]; /* newest first, all different */
	unsigned int n_values;
	uint64_t changes; /* of the rule */
	uint64_t round;
	uint64_t edition;
	uint64_t met; /* newest generation that a port had */
	bool ahead;
	GHashTable *entries; /* struct entry_id -> struct entry, owned */
};

/* ---- keys by a rule ---- */

static uint64_t number_at(const uint8_t *octets)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < sizeof(number); i++)
		number = number << 8 | octets[i];
	return number;
}

uint64_t key_derive(GBytes *seed, uint64_t guid, uint64_t generation)
{
	const uint64_t text[] = {GUINT64_TO_BE(guid), GUINT64_TO_BE(generation)};
	uint8_t digest[SHA256_OCTETS];
	gsize n = sizeof(digest), length;
	const uint8_t *octets = g_bytes_get_data(seed, &length);
	GHmac *hmac = g_hmac_new(G_CHECKSUM_SHA256, octets, length);
	uint64_t key = 0;

	g_hmac_update(hmac, (const guchar *)text, sizeof(text));
	g_hmac_get_digest(hmac, digest, &n);
	g_hmac_unref(hmac);
	for (unsigned int i = 0; i < sizeof(digest) && !key; i += sizeof(key))
		key = number_at(digest + i);
	return key ? key : 1;
}

static uint64_t rule_key(const struct key_rule *rule, const struct entry_id *id)
{
	if (!rule->seed || id->behind || !id->guid)
		return rule->m_key;
	return key_derive(rule->seed, id->guid, rule->generation);
}

static bool rule_same(const struct key_rule *a, const struct key_rule *b)
{
	return a->m_key == b->m_key && a->generation == b->generation && !a->seed == !b->seed &&
	       (!a->seed || g_bytes_equal(a->seed, b->seed));
}

static struct key_rule rule_copy(const struct key_rule *rule)
{
	struct key_rule copy = *rule;

	if (copy.seed)
		g_bytes_ref(copy.seed);
	return copy;
}

/* ---- entries ---- */

static guint id_hash(gconstpointer key)
{
	const struct entry_id *id = key;

	return hash_uint64(&id->guid) + (guint)id->behind;
}

static gboolean id_equal(gconstpointer a, gconstpointer b)
{
	const struct entry_id *x = a, *y = b;

	return x->guid == y->guid && x->behind == y->behind;
}

static struct entry_id id_of(struct key_port port)
{
	return (struct entry_id){.guid = port.guid, .behind = port.behind};
}

static struct entry *find(const struct key_ring *ring, struct key_port port)
{
	struct entry_id id = id_of(port);

	return g_hash_table_lookup(ring->entries, &id);
}

static struct entry *make(struct key_ring *ring, struct key_port port)
{
	struct entry *entry = find(ring, port);

	if (!entry) {
		entry = g_new0(struct entry, 1);
		entry->id = id_of(port);
		g_hash_table_insert(ring->entries, &entry->id, entry);
	}
	if (entry->round != ring->round) {
		entry->round = ring->round;
		entry->n_failed = 0;
	}
	return entry;
}

/* ---- candidates ---- */

struct candidates {
	uint64_t keys[CANDIDATES_MAX]; /* all different */
	unsigned int n;
};

static bool contains(const uint64_t *keys, unsigned int n, uint64_t key)
{
	for (unsigned int i = 0; i < n; i++)
		if (keys[i] == key)
			return true;
	return false;
}

static void add(struct candidates *c, uint64_t key)
{
	if (!contains(c->keys, c->n, key))
		c->keys[c->n++] = key;
}

static void add_rules(const struct key_ring *ring, const struct entry_id *id, bool is_proven,
		      uint64_t proven, struct candidates *c)
{
	const struct key_rule *now = &ring->values[0].rule;

	for (unsigned int i = 0; i < ring->n_values; i++) {
		const struct value *value = &ring->values[i];

		/* A Set may have given it a newer one, never one that had ended before. */
		if (!is_proven || !i || value->until > proven)
			add(c, rule_key(&value->rule, id));
	}
	for (unsigned int i = 1; ring->ahead && now->seed && i <= KEY_RING_AHEAD; i++) {
		struct key_rule ahead = *now;

		ahead.generation += i;
		add(c, rule_key(&ahead, id));
	}
}

/* In the order in which they are tried; at least one. */
static void list_candidates(const struct key_ring *ring, struct key_port port,
			    const struct entry *entry, struct candidates *c)
{
	struct entry_id id = id_of(port);
	bool is_proven = entry && entry->is_known && entry->is_proven;

	c->n = 0;
	if (entry && entry->is_known)
		add(c, entry->known);
	if (entry && entry->previous && !is_proven)
		add(c, entry->previous);
	add_rules(ring, &id, is_proven, is_proven ? entry->proven : 0, c);
}

/* The next to be tried; false if all have failed, then it is the first. */
static bool next(const struct key_ring *ring, struct key_port port, const struct entry *entry,
		 uint64_t *key)
{
	bool tried = entry && entry->round == ring->round && entry->n_failed;
	struct candidates c;

	if (!tried && entry && entry->is_known) {
		*key = entry->known;
		return true;
	}
	list_candidates(ring, port, entry, &c);
	for (unsigned int i = 0; i < c.n; i++) {
		*key = c.keys[i];
		if (!tried || !contains(entry->failed, entry->n_failed, c.keys[i]))
			return true;
	}
	*key = c.keys[0];
	return false;
}

/* ---- the ring ---- */

struct key_ring *key_ring_new(const struct key_rule *rule)
{
	struct key_ring *ring = g_new0(struct key_ring, 1);

	ring->values[0].rule = rule_copy(rule);
	ring->n_values = 1;
	ring->round = 1;
	ring->entries = g_hash_table_new_full(id_hash, id_equal, NULL, g_free);
	return ring;
}

void key_ring_free(struct key_ring *ring)
{
	if (!ring)
		return;
	for (unsigned int i = 0; i < ring->n_values; i++)
		g_bytes_unref(ring->values[i].rule.seed);
	g_hash_table_unref(ring->entries);
	g_free(ring);
}

void key_ring_set(struct key_ring *ring, const struct key_rule *rule)
{
	struct value value = {0};
	unsigned int i = 0;

	if (rule_same(&ring->values[0].rule, rule))
		return;
	value.rule = rule_copy(rule);
	ring->values[0].until = ++ring->changes;
	/* Those newer than an older occurrence of the same rule move up; the oldest is dropped. */
	while (i < ring->n_values && !rule_same(&ring->values[i].rule, rule))
		i++;
	if (i < ring->n_values || ring->n_values == G_N_ELEMENTS(ring->values)) {
		i = MIN(i, ring->n_values - 1);
		g_bytes_unref(ring->values[i].rule.seed);
	} else {
		ring->n_values++;
	}
	for (; i > 0; i--)
		ring->values[i] = ring->values[i - 1];
	ring->values[0] = value;
	ring->round++;
}

void key_ring_look_ahead(struct key_ring *ring, bool on)
{
	ring->ahead = on;
}

uint64_t key_ring_generation(const struct key_ring *ring)
{
	return MAX(ring->values[0].rule.generation, ring->met);
}

uint64_t key_ring_wanted(struct key_ring *ring, struct key_port port)
{
	struct entry_id id = id_of(port);
	struct entry *entry = find(ring, port);

	if (!entry)
		return rule_key(&ring->values[0].rule, &id);
	if (entry->wanted_at != ring->changes + 1) {
		entry->wanted = rule_key(&ring->values[0].rule, &id);
		entry->wanted_at = ring->changes + 1;
	}
	return entry->wanted;
}

void key_ring_again(struct key_ring *ring)
{
	ring->round++;
}

uint64_t key_ring_for(const struct key_ring *ring, struct key_port port)
{
	uint64_t key;

	next(ring, port, find(ring, port), &key);
	return key;
}

uint64_t key_ring_first(const struct key_ring *ring, struct key_port port)
{
	const struct entry *entry = find(ring, port);

	return entry && entry->is_known && entry->is_proven ? entry->known
							     : key_ring_for(ring, port);
}

bool key_ring_failed(struct key_ring *ring, struct key_port port, uint64_t key)
{
	struct entry *entry = find(ring, port);
	struct candidates c;

	list_candidates(ring, port, entry, &c);
	if (c.n == 1 && c.keys[0] == key)
		return false; /* the usual case: there is only one, and nothing to remember */
	entry = make(ring, port);
	if (contains(c.keys, c.n, key) && !contains(entry->failed, entry->n_failed, key) &&
	    entry->n_failed < CANDIDATES_MAX)
		entry->failed[entry->n_failed++] = key;
	return next(ring, port, entry, &key);
}

static void note(struct key_ring *ring, struct key_port port, uint64_t key, bool is_proven)
{
	struct entry *entry = make(ring, port);

	if (!entry->is_known || entry->known != key) {
		entry->previous = entry->known; /* 0, i.e. none, if it is the first */
		entry->changes++;
		ring->edition += !port.behind && (key || entry->previous);
		entry->known = key;
	}
	entry->is_known = true;
	entry->is_proven = is_proven;
	entry->proven = ring->changes;
	entry->n_failed = 0;
}

void key_ring_worked(struct key_ring *ring, struct key_port port, uint64_t key)
{
	note(ring, port, key, true);
}

void key_ring_told(struct key_ring *ring, struct key_port port, uint64_t key)
{
	struct key_rule rule = ring->values[0].rule;
	struct entry_id id = id_of(port);

	key_ring_worked(ring, port, key);
	if (!ring->ahead || !rule.seed || id.behind || key_ring_wanted(ring, port) == key)
		return;
	for (unsigned int i = 1; i <= KEY_RING_AHEAD; i++) {
		rule.generation++;
		if (rule_key(&rule, &id) == key)
			ring->met = MAX(ring->met, rule.generation);
	}
}

void key_ring_doubt(struct key_ring *ring, struct key_port port)
{
	struct entry *entry = find(ring, port);

	if (entry)
		entry->is_proven = false;
}

void key_ring_likely(struct key_ring *ring, struct key_port port, uint64_t key)
{
	note(ring, port, key, false);
}

uint64_t key_ring_changes(const struct key_ring *ring, struct key_port port)
{
	const struct entry *entry = find(ring, port);

	return entry ? entry->changes : 0;
}

void key_ring_keep(struct key_ring *ring, bool (*is_there)(void *arg, uint64_t guid), void *arg)
{
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, ring->entries);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&entry)) {
		if (is_there(arg, entry->id.guid))
			continue;
		g_hash_table_iter_remove(&iter);
		ring->edition++;
	}
}

/* An endport that is known to have a key. */
static bool is_of_endport(const struct entry *entry)
{
	return entry->is_known && entry->known && !entry->id.behind && entry->id.guid;
}

void key_ring_each(const struct key_ring *ring,
		   void (*each)(void *arg, uint64_t guid, uint64_t key), void *arg)
{
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, ring->entries);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&entry)) {
		if (entry->id.behind || !entry->id.guid)
			continue;
		each(arg, entry->id.guid, entry->known);
		if (entry->previous)
			each(arg, entry->id.guid, entry->previous);
	}
}

unsigned int key_ring_size(const struct key_ring *ring)
{
	return g_hash_table_size(ring->entries);
}

/* ---- the file ---- */

const char *key_ring_take_line(void *arg, const char *line)
{
	struct key_ring *ring = arg;
	struct key_port port = {0};
	uint64_t key;

	if (!state_hex(&line, &port.guid) || !state_hex(&line, &key) || !state_end(line))
		return "expected 0xGUID 0xMKEY";
	if (!port.guid)
		return "expected a GUID other than 0";
	if (find(ring, port))
		return "expected each GUID once";
	if (key)
		note(ring, port, key, false);
	return NULL;
}

static gint by_guid(gconstpointer a, gconstpointer b)
{
	const struct entry *const *x = a, *const *y = b;

	return (*x)->id.guid < (*y)->id.guid ? -1 : (*x)->id.guid > (*y)->id.guid;
}

char *key_ring_format(const struct key_ring *ring)
{
	GString *text = g_string_new(NULL);
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	GHashTableIter iter;
	struct entry *entry;

	g_hash_table_iter_init(&iter, ring->entries);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&entry))
		if (is_of_endport(entry))
			g_ptr_array_add(sorted, entry);
	g_ptr_array_sort(sorted, by_guid);
	for (guint i = 0; i < sorted->len; i++) {
		entry = sorted->pdata[i];
		g_string_append_printf(
			text, "0x%016" G_GINT64_MODIFIER "x 0x%016" G_GINT64_MODIFIER "x\n\n",
			entry->id.guid, entry->known);
	}
	return g_string_free(text, FALSE);
}

uint64_t key_ring_edition(const struct key_ring *ring)
{
	return ring->edition;
}
