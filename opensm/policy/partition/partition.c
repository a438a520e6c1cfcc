// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rules and fabric become values: for each rule the ports that it names (of two entries for a port
 * the later counts); then the P_Keys of each port; equal sets form a class. Built by the sweep from
 * a frozen fabric, then immutable; any thread may read them.
 *
 * A port with more P_Keys than room keeps the default one, which it needs to ask the SA, then the
 * one for index 0, then the lowest. Only rules and PartitionCap decide, not the present contents of
 * its table: so paths, groups, routes and tables agree, and so do two SMs, and an SM before and
 * after a restart.
 */
#include "policy/partition/partition.h"

#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define PROBLEMS_MAX 200
#define NAMED_MAX 4 /* ports without room, named in a text */
#define CLASSES_MAX 512 /* for which there is a table of pairs that may talk: 512 KiB */

/* ---- P_Keys ---- */

/* The order in which a class keeps its keys, and paths use them: the default one is last. */
static uint32_t rank(uint16_t p_key)
{
	return (uint32_t)P_KEY_BASE(p_key) << 1 | !(p_key & P_KEY_FULL);
}

static gint compare_keys(gconstpointer a, gconstpointer b)
{
	const struct partition_key *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return rank(x->p_key) < rank(y->p_key) ? -1 : rank(x->p_key) > rank(y->p_key);
}

static uint32_t n_keys(const struct partitions *partitions, uint32_t class)
{
	return partitions->first[class + 1] - partitions->first[class];
}

static const uint16_t *keys_of(const struct partitions *partitions, uint32_t class)
{
	return partitions->p_keys + partitions->first[class];
}

/* The first key with that base or a higher one. */
static uint32_t find_base(const uint16_t *keys, uint32_t n, uint16_t base)
{
	uint32_t low = 0;

	while (low < n) {
		uint32_t middle = low + (n - low) / 2;

		if (P_KEY_BASE(keys[middle]) < base)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static uint16_t member_of_class(const struct partitions *partitions, uint32_t class, uint16_t p_key)
{
	const uint16_t *keys = keys_of(partitions, class);
	uint32_t n = n_keys(partitions, class), i = find_base(keys, n, P_KEY_BASE(p_key));

	return i < n && P_KEY_BASE(keys[i]) == P_KEY_BASE(p_key) ? keys[i] : 0;
}

/* For both ports the stronger membership counts, which is first. */
static uint16_t shared_by(const struct partitions *partitions, uint32_t a, uint32_t b)
{
	const uint16_t *x = keys_of(partitions, a), *y = keys_of(partitions, b);
	uint32_t n = n_keys(partitions, a), m = n_keys(partitions, b), i = 0, k = 0;

	while (i < n && k < m) {
		uint16_t base = P_KEY_BASE(x[i]), other = P_KEY_BASE(y[k]);

		if (base == other && (x[i] | y[k]) & P_KEY_FULL)
			return x[i];
		if (base <= other)
			i++;
		else
			k++;
	}
	return 0;
}

/* ---- partitions ---- */

static gint compare_partitions(gconstpointer a, gconstpointer b)
{
	return ((const struct partition *)a)->p_key - ((const struct partition *)b)->p_key;
}

static struct partition *find_partition(const struct partitions *partitions, uint16_t p_key)
{
	struct partition key = {.p_key = P_KEY_BASE(p_key)};

	return partitions->n ? bsearch(&key, partitions->all, partitions->n, sizeof(key),
				       compare_partitions)
			     : NULL;
}

static void partition_clear(struct partition *partition)
{
	g_free(partition->name);
	g_free(partition->groups);
}

/* ---- classes ---- */

struct key_set {
	const uint16_t *keys;
	uint32_t n;
};

static guint set_hash(gconstpointer data)
{
	const struct key_set *set = data;
	guint hash = set->n;

	for (uint32_t i = 0; i < set->n; i++)
		hash = (hash ^ set->keys[i]) * 0x9E3779B1u;
	return hash ^ hash >> 15;
}

static gboolean set_equal(gconstpointer a, gconstpointer b)
{
	const struct key_set *x = a, *y = b;

	return x->n == y->n && !memcmp(x->keys, y->keys, x->n * sizeof(*x->keys));
}

static uint32_t class_of_keys(GHashTable *classes, GArray *first, GArray *all, const uint16_t *keys,
			      uint32_t n)
{
	struct key_set set = {keys, n}, *own;
	gpointer found = g_hash_table_lookup(classes, &set);
	uint32_t end;

	if (found)
		return GPOINTER_TO_UINT(found);
	own = g_malloc(sizeof(*own) + n * sizeof(*keys));
	own->n = n;
	own->keys = memcpy(own + 1, keys, n * sizeof(*keys));
	g_hash_table_insert(classes, own, GUINT_TO_POINTER(first->len - 1));
	g_array_append_vals(all, keys, n);
	end = all->len;
	g_array_append_val(first, end);
	return first->len - 2;
}

static void make_shared(struct partitions *partitions)
{
	uint32_t n = partitions->n_classes;

	if (n > CLASSES_MAX)
		return;
	partitions->shared = g_new(uint16_t, (size_t)n * n);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			partitions->shared[a * n + b] = shared_by(partitions, a, b);
}

struct partitions *partitions_of_keys(uint32_t n_ports, GArray *keys)
{
	struct partitions *partitions = g_new0(struct partitions, 1);
	g_autoptr(GHashTable) classes = g_hash_table_new_full(set_hash, set_equal, g_free, NULL);
	GArray *first = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	g_autofree uint16_t *run = g_new(uint16_t, keys->len + 1);

	ref_init(&partitions->ref);
	partitions->problems = g_ptr_array_new_with_free_func(g_free);
	partitions->crowded = g_ptr_array_new_with_free_func(g_free);
	partitions->n_ports = n_ports;
	partitions->class_of = g_new0(uint32_t, n_ports);
	g_array_set_size(first, 2); /* class 0 */
	g_array_sort(keys, compare_keys);
	for (guint i = 0, n; i < keys->len; i += n) {
		const struct partition_key *key = &g_array_index(keys, struct partition_key, i);

		for (n = 0; i + n < keys->len && key[n].port == key->port; n++)
			run[n] = key[n].p_key;
		partitions->class_of[key->port] = class_of_keys(classes, first, all, run, n);
	}
	partitions->n_classes = first->len - 1;
	partitions->first = (uint32_t *)(void *)g_array_free(first, FALSE);
	partitions->p_keys = (uint16_t *)(void *)g_array_free(all, FALSE);
	make_shared(partitions);
	return partitions;
}

/* ---- rules ---- */

/* Members of a partition that have no room for its P_Key, and the first of them. */
struct crowd {
	uint32_t n, first[NAMED_MAX], last;
};

struct texts {
	GPtrArray *list; /* the first PROBLEMS_MAX */
	uint32_t n;
};

struct making {
	const struct partition_rules *rules;
	const struct options *options;
	const struct fabric *fabric;
	uint32_t *by_guid; /* endports by GUID; NULL until a range needs it */
	uint32_t n_by_guid;
	uint8_t *membership; /* [n_ports] in the current rule: enum partition_membership */
	GArray *touched;     /* uint32_t: ports with a membership in it */
	GArray *keys;	     /* struct partition_key */
	GArray *all;	     /* struct partition */
	struct crowd *crowds; /* [P_KEY_BASES]; NULL: all ports have room */
	struct texts problems, crowded;
};

/*
 * "FILE:LINE: partition 'NAME' (P_KEY): TEXT"; file and line 0: not about a line; rule NULL: not
 * about a partition. One without a name is called by its P_Key.
 */
G_GNUC_PRINTF(6, 7)
static void add_text(const struct making *making, struct texts *texts,
		     const struct partition_rule *rule, uint32_t file, uint32_t line,
		     const char *format, ...)
{
	GString *text;
	va_list args;

	if (texts->n++ >= PROBLEMS_MAX)
		return;
	text = g_string_new(NULL);
	if (line)
		g_string_append_printf(text, "%s:%u: ",
				       (char *)making->rules->files->pdata[file], line);
	if (rule && rule->name && *rule->name)
		g_string_append_printf(text, "partition '%s' (0x%04x): ", rule->name, rule->p_key);
	else if (rule)
		g_string_append_printf(text, "partition 0x%04x: ", rule->p_key);
	va_start(args, format);
	g_string_append_vprintf(text, format, args);
	va_end(args);
	g_ptr_array_add(texts->list, g_string_free(text, FALSE));
}

static void add_port(struct making *making, uint32_t port, uint8_t membership)
{
	if (!making->membership[port])
		g_array_append_val(making->touched, port);
	making->membership[port] = membership;
}

static gint compare_guids(gconstpointer a, gconstpointer b, gpointer arg)
{
	const struct fabric_port *ports = arg;
	uint64_t x = ports[*(const uint32_t *)a].guid, y = ports[*(const uint32_t *)b].guid;

	return x < y ? -1 : x > y;
}

static void sort_ports(struct making *making)
{
	const struct fabric *fabric = making->fabric;

	making->by_guid = g_new(uint32_t, fabric->n_ports);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i))
			making->by_guid[making->n_by_guid++] = i;
	g_qsort_with_data(making->by_guid, (gint)making->n_by_guid, sizeof(uint32_t), compare_guids,
			  fabric->ports);
}

/* Index of the first of the sorted ports with that GUID or a greater one. */
static uint32_t lower_bound(const struct making *making, uint64_t guid)
{
	uint32_t low = 0, high = making->n_by_guid;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (making->fabric->ports[making->by_guid[middle]].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_range(struct making *making, const struct partition_rule *rule,
		      const struct partition_member *member)
{
	const struct fabric *fabric = making->fabric;
	uint32_t i, found = 0;

	if (!making->by_guid)
		sort_ports(making);
	for (i = lower_bound(making, member->first);
	     i < making->n_by_guid && fabric->ports[making->by_guid[i]].guid <= member->last; i++) {
		add_port(making, making->by_guid[i], member->membership);
		found++;
	}
	if (!found)
		add_text(making, &making->problems, rule, member->file, member->line,
			 "no port of the subnet is in 0x%016" PRIx64 "-0x%016" PRIx64,
			 member->first, member->last);
}

static void add_guid(struct making *making, const struct partition_rule *rule,
		     const struct partition_member *member)
{
	const struct fabric *fabric = making->fabric;
	uint32_t port = fabric_port_by_guid(fabric, member->first);
	bool is_node = fabric_node_by_guid(fabric, member->first) != FABRIC_NONE;

	if (port != FABRIC_NONE)
		add_port(making, port, member->membership);
	else if (member->membership != PARTITION_NO_MEMBER)
		add_text(making, &making->problems, rule, member->file, member->line,
			 "GUID 0x%016" PRIx64 " %s", member->first,
			 is_node ? "is that of a node, expected that of a port"
				 : "is not in the subnet");
}

static void add_node(struct making *making, uint32_t index, uint8_t membership)
{
	const struct fabric_node *node = &making->fabric->nodes[index];

	for (unsigned int num = 0; num <= node->num_ports; num++)
		if (fabric_is_endport(making->fabric, node->first_port + num))
			add_port(making, node->first_port + num, membership);
}

/* By the name that the operator gave it, or by its NodeDescription. */
static bool has_name_like(const struct fabric *fabric, uint32_t node, GPatternSpec *pattern)
{
	const char *given = fabric_given_name(fabric, node);

	return (given && g_pattern_match_string(pattern, given)) ||
	       g_pattern_match_string(pattern, fabric->nodes[node].description);
}

static bool is_meant(const struct fabric *fabric, uint32_t index,
		     const struct partition_member *member, GPatternSpec *pattern)
{
	const struct fabric_node *node = &fabric->nodes[index];

	switch (member->who) {
	case PARTITION_ALL:
		return true;
	case PARTITION_CAS:
		return node->type == IBA_NODE_CA;
	case PARTITION_SWITCHES:
		return node->type == IBA_NODE_SWITCH;
	case PARTITION_ROUTERS:
		return node->type == IBA_NODE_ROUTER;
	default:
		return pattern && has_name_like(fabric, index, pattern);
	}
}

static void add_nodes(struct making *making, const struct partition_rule *rule,
		      const struct partition_member *member)
{
	GPatternSpec *pattern = member->pattern ? g_pattern_spec_new(member->pattern) : NULL;
	bool found = false;

	for (uint32_t i = 0; i < making->fabric->n_nodes; i++)
		if (is_meant(making->fabric, i, member, pattern)) {
			add_node(making, i, member->membership);
			found = true;
		}
	if (pattern && !found)
		add_text(making, &making->problems, rule, member->file, member->line,
			 "no node of the subnet is called \"%s\"", member->pattern);
	if (pattern)
		g_pattern_spec_free(pattern);
}

static void add_member(struct making *making, const struct partition_rule *rule,
		       const struct partition_member *member)
{
	if (member->who == PARTITION_SELF)
		add_port(making, making->fabric->sm_port, member->membership);
	else if (member->who != PARTITION_GUIDS)
		add_nodes(making, rule, member);
	else if (member->first == member->last)
		add_guid(making, rule, member);
	else
		add_range(making, rule, member);
}

static void add_key(struct making *making, uint32_t port, uint16_t p_key)
{
	struct partition_key key = {port, p_key};

	g_array_append_val(making->keys, key);
}

static void add_keys(struct making *making, const struct partition_rule *rule,
		     struct partition *partition)
{
	for (guint i = 0; i < making->touched->len; i++) {
		uint32_t port = g_array_index(making->touched, uint32_t, i);
		uint8_t membership = making->membership[port];
		bool both = membership == PARTITION_BOTH && making->options->allow_both_pkeys;

		making->membership[port] = PARTITION_NO_MEMBER;
		if (membership == PARTITION_NO_MEMBER) /* removed, or added before */
			continue;
		if (membership != PARTITION_LIMITED)
			add_key(making, port, rule->p_key | P_KEY_FULL);
		if (membership == PARTITION_LIMITED || both)
			add_key(making, port, rule->p_key);
		partition->n_full += membership != PARTITION_LIMITED;
		partition->n_limited += membership == PARTITION_LIMITED || both;
	}
	g_array_set_size(making->touched, 0);
}

static void copy_groups(const struct making *making, const struct partition_rule *rule,
			struct partition *partition)
{
	partition->n_groups = rule->groups->len;
	partition->groups = g_new(struct partition_group, rule->groups->len + 1);
	for (guint i = 0; i < rule->groups->len; i++) {
		struct partition_group *group = &partition->groups[i];

		*group = g_array_index(rule->groups, struct partition_group, i);
		if (iba_gid_equal(group->mgid, partition_broadcast_mgid(rule->p_key, group->scope)))
			group->sl = partition->sl;
		else if (!group->own_sl && !making->options->qos)
			group->sl = 0;
	}
}

/*
 * A port outside the default partition cannot talk to the SA, so a removed port stays a limited
 * member. Only a full member can talk to limited ones, so the SM is one.
 */
static void keep_in_default(struct making *making, const struct partition_rule *rule)
{
	uint32_t port = making->fabric->sm_port;

	if (rule->p_key != P_KEY_BASE(P_KEY_DEFAULT))
		return;
	for (guint i = 0; i < making->touched->len; i++) {
		uint8_t *of = &making->membership[g_array_index(making->touched, uint32_t, i)];

		*of = *of == PARTITION_NO_MEMBER ? PARTITION_LIMITED : *of;
	}
	if (making->membership[port] == PARTITION_LIMITED)
		add_text(making, &making->problems, rule, rule->file, rule->line,
			 "the SM's port stays a full member, as other ports could not reach it "
			 "otherwise");
	add_port(making, port, MAX(making->membership[port], PARTITION_FULL));
}

static void add_rule(struct making *making, const struct partition_rule *rule)
{
	struct partition partition = {
		.p_key = rule->p_key,
		.ipoib = rule->ipoib,
		.indx0 = rule->indx0,
		.sl = making->options->qos ? rule->sl : 0,
	};

	for (guint i = 0; i < rule->members->len; i++) {
		struct partition_member member =
			g_array_index(rule->members, struct partition_member, i);

		if (making->options->disconnect_unconfigured_endports && making->rules->built_in &&
		    member.who == PARTITION_ALL)
			member.membership = PARTITION_LIMITED;
		add_member(making, rule, &member);
	}
	keep_in_default(making, rule);
	add_keys(making, rule, &partition);
	if (!partition.n_full && !partition.n_limited) {
		add_text(making, &making->problems, rule, rule->file, rule->line,
			 "it has no member in the subnet");
		return;
	}
	if (rule->sl && !making->options->qos)
		add_text(making, &making->problems, rule, rule->file, rule->line,
			 "SL %u is not used: QoS is off", rule->sl);
	partition.name = g_strdup(rule->name);
	copy_groups(making, rule, &partition);
	g_array_append_val(making->all, partition);
}

/* ---- room ---- */

static uint32_t room_of(const struct fabric *fabric, uint32_t port)
{
	return MAX(1, fabric->nodes[fabric->ports[port].node].info.partition_cap);
}

static bool is_any_crowded(const struct making *making, const struct partitions *whole)
{
	for (uint32_t i = 0; i < whole->n_ports; i++)
		if (n_keys(whole, whole->class_of[i]) > room_of(making->fabric, i))
			return true;
	return false;
}

static void leave_out(struct making *making, struct partitions *whole, uint32_t port,
		      uint16_t p_key)
{
	struct partition *partition = find_partition(whole, p_key);
	struct crowd *crowd = &making->crowds[P_KEY_BASE(p_key)];

	partition->n_full -= p_key & P_KEY_FULL ? 1 : 0;
	partition->n_limited -= p_key & P_KEY_FULL ? 0 : 1;
	if (crowd->n && crowd->last == port)
		return; /* it lacks both memberships */
	if (crowd->n < NAMED_MAX)
		crowd->first[crowd->n] = port;
	crowd->n++;
	crowd->last = port;
}

/* Every port has the default P_Key. */
static void keep_keys(struct making *making, struct partitions *whole, uint32_t port)
{
	uint32_t n, room = room_of(making->fabric, port), others;
	const uint16_t *keys = partitions_of(whole, port, &n);
	uint16_t of_default = 0, index0 = 0;

	if (n > room) {
		of_default = partitions_member(whole, port, P_KEY_DEFAULT);
		index0 = room > 1 ? partitions_index0(whole, port) : of_default;
	}
	others = room - (of_default != 0) - (index0 != of_default);
	for (uint32_t i = 0; i < n; i++) {
		bool first = keys[i] == of_default || keys[i] == index0;

		if (first || others)
			add_key(making, port, keys[i]);
		else
			leave_out(making, whole, port, keys[i]);
		others -= !first && others;
	}
}

static char *name_crowd(const struct making *making, const struct partitions *whole,
			const struct crowd *crowd)
{
	const struct fabric *fabric = making->fabric;
	GString *text = g_string_new(NULL);
	char name[FABRIC_NAME_SIZE];

	for (uint32_t i = 0; i < MIN(crowd->n, NAMED_MAX); i++) {
		uint32_t port = crowd->first[i];

		g_string_append_printf(text, "%s%s needs %u and has room for %u", i ? ", " : "",
				       fabric_port_name(fabric, port, name, sizeof(name)),
				       n_keys(whole, whole->class_of[port]), room_of(fabric, port));
	}
	if (crowd->n > NAMED_MAX)
		g_string_append_printf(text, ", %u more", crowd->n - NAMED_MAX);
	return g_string_free(text, FALSE);
}

static void tell_crowds(struct making *making, const struct partitions *whole)
{
	for (guint i = 0; i < making->rules->rules->len; i++) {
		const struct partition_rule *rule = making->rules->rules->pdata[i];
		const struct crowd *crowd = &making->crowds[rule->p_key];
		g_autofree char *names = NULL;

		if (!crowd->n)
			continue;
		names = name_crowd(making, whole, crowd);
		add_text(making, &making->crowded, rule, rule->file, rule->line,
			 "%u of its members lack a P_Key of it, as their P_Key tables are too "
			 "small: %s",
			 crowd->n, names);
	}
}

static void move_partitions(struct partitions *from, struct partitions *to)
{
	to->all = g_steal_pointer(&from->all);
	for (uint32_t i = 0; i < from->n; i++)
		if (to->all[i].n_full || to->all[i].n_limited)
			to->all[to->n++] = to->all[i];
		else
			partition_clear(&to->all[i]);
	from->n = 0;
}

/* Takes ownership of whole. */
static struct partitions *fit(struct making *making, struct partitions *whole)
{
	struct partitions *partitions;

	if (!is_any_crowded(making, whole))
		return whole;
	making->crowds = g_new0(struct crowd, P_KEY_BASES);
	g_array_set_size(making->keys, 0);
	for (uint32_t i = 0; i < whole->n_ports; i++)
		keep_keys(making, whole, i);
	tell_crowds(making, whole);
	partitions = partitions_of_keys(whole->n_ports, making->keys);
	move_partitions(whole, partitions);
	partitions_unref(whole);
	g_free(making->crowds);
	return partitions;
}

/* ---- room for what is asked for ---- */

static unsigned int keys_in(uint8_t membership)
{
	return membership == PARTITION_BOTH ? 2 : membership != PARTITION_NO_MEMBER;
}

static unsigned int held_keys(const struct partitions *partitions, uint32_t port, uint16_t base)
{
	uint32_t n, held = 0;
	const uint16_t *keys = partitions_of(partitions, port, &n);

	for (uint32_t i = find_base(keys, n, base); i < n && P_KEY_BASE(keys[i]) == base; i++)
		held++;
	return held;
}

struct asking {
	const struct partitions *partitions;
	const struct fabric *fabric;
	const struct partition_rules *new;
	GHashTable *keys; /* port + 1 -> number of its P_Keys */
};

/* Notes the port of a new member with its present keys; else why it has none, or NULL. */
static char *note_asked(const struct asking *asking, const struct partition_member *member)
{
	uint32_t port = fabric_port_by_guid(asking->fabric, member->first), n;

	if (member->membership == PARTITION_NO_MEMBER)
		return NULL;
	if (port == FABRIC_NONE &&
	    fabric_node_by_guid(asking->fabric, member->first) != FABRIC_NONE)
		return g_strdup_printf("GUID 0x%016" PRIx64
				       " is that of a node, expected that of a port",
				       member->first);
	if (port == FABRIC_NONE)
		return NULL;
	partitions_of(asking->partitions, port, &n);
	g_hash_table_insert(asking->keys, GUINT_TO_POINTER(port + 1), GUINT_TO_POINTER(n));
	return NULL;
}

/* Adds what its rule changes: as the rules in effect may be older than these. */
static void count_member(const struct asking *asking, const struct partition_rule *rule,
			 const struct partition_member *member)
{
	uint32_t port = fabric_port_by_guid(asking->fabric, member->first);
	gpointer key = GUINT_TO_POINTER(port + 1), n;

	if (port == FABRIC_NONE || !g_hash_table_lookup_extended(asking->keys, key, NULL, &n))
		return;
	g_hash_table_insert(asking->keys, key,
			    GUINT_TO_POINTER(GPOINTER_TO_UINT(n) + keys_in(member->membership) -
					     held_keys(asking->partitions, port, rule->p_key)));
}

/* Also if they take it away: count_member() has seen to that. */
static bool are_about(const struct partition_rule *rule, uint64_t guid)
{
	for (guint i = 0; rule && i < rule->members->len; i++) {
		const struct partition_member *member =
			&g_array_index(rule->members, struct partition_member, i);

		if (member->who != PARTITION_GUIDS ||
		    (guid >= member->first && guid <= member->last))
			return true;
	}
	return false;
}

/* P_Keys in effect of which the rules say nothing any more. */
static unsigned int leaving_keys(const struct asking *asking, uint32_t port)
{
	uint64_t guid = asking->fabric->ports[port].guid;
	uint32_t n;
	const uint16_t *keys = partitions_of(asking->partitions, port, &n);
	unsigned int leaving = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t base = P_KEY_BASE(keys[i]);

		leaving += base != P_KEY_BASE(P_KEY_DEFAULT) &&
			   !are_about(partition_rules_find(asking->new, base), guid);
	}
	return leaving;
}

static char *find_full(const struct asking *asking)
{
	GHashTableIter iter;
	gpointer key, n;
	char name[FABRIC_NAME_SIZE];

	g_hash_table_iter_init(&iter, asking->keys);
	while (g_hash_table_iter_next(&iter, &key, &n)) {
		uint32_t port = GPOINTER_TO_UINT(key) - 1;
		unsigned int needs = GPOINTER_TO_UINT(n);
		uint32_t room = room_of(asking->fabric, port);

		if (needs > room)
			needs -= leaving_keys(asking, port);
		if (needs > room)
			return g_strdup_printf(
				"the P_Key table of %s (GUID 0x%016" PRIx64
				") is full: it would need %u P_Keys and has room for %u",
				fabric_port_name(asking->fabric, port, name, sizeof(name)),
				asking->fabric->ports[port].guid, needs, room);
	}
	return NULL;
}

char *partitions_lack(const struct partitions *partitions, const struct fabric *fabric,
		      const struct partition_rules *asked, const struct partition_rules *new)
{
	g_autoptr(GHashTable) keys = g_hash_table_new(NULL, NULL);
	const struct asking asking = {partitions, fabric, new, keys};
	char *why = NULL;

	for (guint i = 0; !why && i < asked->rules->len; i++) {
		const struct partition_rule *rule = asked->rules->pdata[i];

		for (guint k = 0; !why && k < rule->members->len; k++)
			why = note_asked(&asking, &g_array_index(rule->members,
								 struct partition_member, k));
	}
	for (guint i = 0; !why && g_hash_table_size(keys) && i < new->rules->len; i++) {
		const struct partition_rule *rule = new->rules->pdata[i];

		for (guint k = 0; k < rule->members->len; k++) {
			const struct partition_member *member =
				&g_array_index(rule->members, struct partition_member, k);

			if (member->file >= new->n_own_files)
				count_member(&asking, rule, member);
		}
	}
	return why ? why : find_full(&asking);
}

/* ---- rules that the fabric cannot meet ---- */

/* Checks switches with hosts. */
static void check_switches(struct making *making, const struct partitions *partitions)
{
	const struct fabric *fabric = making->fabric;
	uint32_t last = FABRIC_NONE;
	char name[FABRIC_NAME_SIZE];

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t peer = fabric->ports[i].peer, node = fabric->ports[i].node, cap;

		if (node == last || !fabric_is_switch(fabric, node) || peer == FABRIC_NONE ||
		    fabric_is_switch(fabric, fabric->ports[peer].node))
			continue;
		cap = fabric->switches[fabric->nodes[node].sw].info.partition_enforcement_cap;
		if (n_keys(partitions, partitions->class_of[peer]) <= cap)
			continue;
		last = node;
		add_text(making, &making->crowded, NULL, 0, 0,
			 "switch %s cannot enforce all partitions: it has room for %u P_Keys a "
			 "port",
			 fabric_node_name(fabric, node, name, sizeof(name)), cap);
	}
}

/* Number of ports by base of the P_Key at index 0: all, and the limited members among them. */
struct index0 {
	uint32_t all[P_KEY_BASES], limited[P_KEY_BASES];
};

static void count_index0(const struct partitions *partitions, uint32_t self, struct index0 *count)
{
	g_autofree uint32_t *ports = g_new0(uint32_t, partitions->n_classes + 1);
	g_autofree uint32_t *one = g_new0(uint32_t, partitions->n_classes + 1);

	for (uint32_t i = 0; i < partitions->n_ports; i++) {
		ports[partitions->class_of[i]] += i != self;
		one[partitions->class_of[i]] = i;
	}
	for (uint32_t class = 0; class < partitions->n_classes; class++) {
		uint16_t index0 = ports[class] ? partitions_index0(partitions, one[class]) : 0;

		count->all[P_KEY_BASE(index0)] += ports[class];
		count->limited[P_KEY_BASE(index0)] += index0 & P_KEY_FULL ? 0 : ports[class];
	}
}

/* Programs ask the SA with the P_Key at index 0: a limited member cannot reach another. */
static void check_index0(struct making *making, const struct partitions *partitions)
{
	g_autofree struct index0 *count = NULL;

	for (guint i = 0; i < making->rules->rules->len; i++) {
		const struct partition_rule *rule = making->rules->rules->pdata[i];
		uint16_t own = partitions_member(partitions, making->fabric->sm_port, rule->p_key);
		uint32_t n;

		if (!rule->indx0 || own & P_KEY_FULL)
			continue;
		if (!count) {
			count = g_new0(struct index0, 1);
			count_index0(partitions, making->fabric->sm_port, count);
		}
		n = (own ? count->limited : count->all)[P_KEY_BASE(rule->p_key)];
		if (n)
			add_text(making, &making->problems, rule, rule->file, rule->line,
				 "it has indx0, but the SM's port is %s member of it: programs "
				 "at %u port(s) that have this P_Key at index 0 cannot query the "
				 "SA",
				 own ? "a limited" : "no", n);
	}
}

/* False: every port is in one partition, as a full member, and in no other. */
static bool keeps_apart(const struct partitions *partitions)
{
	return partitions->n > 1 || partitions->all[0].n_limited;
}

static void end_texts(struct texts *texts)
{
	if (texts->n > PROBLEMS_MAX)
		g_ptr_array_add(texts->list, g_strdup_printf("%u more problems with partitions",
							     texts->n - PROBLEMS_MAX));
}

static void check(struct making *making, struct partitions *partitions)
{
	check_index0(making, partitions);
	if (keeps_apart(partitions) && making->options->part_enforce != PART_ENFORCE_OFF)
		check_switches(making, partitions);
	end_texts(&making->problems);
	end_texts(&making->crowded);
}

/* ---- life ---- */

static struct partitions *finish(struct making *making, struct partition_rules *rules)
{
	struct partitions *partitions = partitions_of_keys(making->fabric->n_ports, making->keys);

	g_array_sort(making->all, compare_partitions);
	partitions->n = making->all->len;
	partitions->all = (struct partition *)(void *)g_array_free(making->all, FALSE);
	partitions = fit(making, partitions);
	partitions->rules = partition_rules_ref(rules);
	check(making, partitions);
	g_ptr_array_unref(partitions->problems);
	g_ptr_array_unref(partitions->crowded);
	partitions->problems = making->problems.list;
	partitions->crowded = making->crowded.list;
	g_array_unref(making->keys);
	g_array_unref(making->touched);
	g_free(making->membership);
	g_free(making->by_guid);
	return partitions;
}

struct partitions *partitions_make(struct partition_rules *rules, const struct options *options,
				   const struct fabric *fabric)
{
	struct making making = {
		.rules = rules,
		.options = options,
		.fabric = fabric,
		.membership = g_new0(uint8_t, fabric->n_ports),
		.touched = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.keys = g_array_new(FALSE, FALSE, sizeof(struct partition_key)),
		.all = g_array_new(FALSE, FALSE, sizeof(struct partition)),
		.problems.list = g_ptr_array_new_with_free_func(g_free),
		.crowded.list = g_ptr_array_new_with_free_func(g_free),
	};

	for (guint i = 0; i < rules->rules->len; i++)
		add_rule(&making, rules->rules->pdata[i]);
	return finish(&making, rules);
}

struct partitions *partitions_default(const struct fabric *fabric)
{
	struct partition_rules *rules = partition_rules_load(NULL, NULL);
	struct options *options = options_new();
	struct partitions *partitions = partitions_make(rules, options, fabric);

	options_unref(options);
	partition_rules_unref(rules);
	return partitions;
}

bool partitions_same_members(const struct partitions *a, const struct partitions *b)
{
	uint32_t n = a->n_classes;

	return a->n_ports == b->n_ports && n == b->n_classes &&
	       !memcmp(a->class_of, b->class_of, a->n_ports * sizeof(*a->class_of)) &&
	       !memcmp(a->first, b->first, (n + 1) * sizeof(*a->first)) &&
	       !memcmp(a->p_keys, b->p_keys, a->first[n] * sizeof(*a->p_keys));
}

static gint compare_indx0(gconstpointer a, gconstpointer b)
{
	const struct partition *const *x = a, *const *y = b;

	return ((*x)->indx0 > (*y)->indx0) - ((*x)->indx0 < (*y)->indx0);
}

/* Those with indx0, in the order in which one takes precedence over those before. */
static GPtrArray *by_indx0(const struct partitions *partitions)
{
	GPtrArray *found = g_ptr_array_new();

	for (uint32_t i = 0; i < partitions->n; i++)
		if (partitions->all[i].indx0)
			g_ptr_array_add(found, &partitions->all[i]);
	g_ptr_array_sort(found, compare_indx0);
	return found;
}

bool partitions_same_tables(const struct partitions *a, const struct partitions *b)
{
	g_autoptr(GPtrArray) left = by_indx0(a), right = by_indx0(b);
	bool same = left->len == right->len && partitions_same_members(a, b);

	for (guint i = 0; same && i < left->len; i++)
		same = ((const struct partition *)left->pdata[i])->p_key ==
		       ((const struct partition *)right->pdata[i])->p_key;
	return same;
}

struct partitions *partitions_ref(struct partitions *partitions)
{
	ref_get(&partitions->ref);
	return partitions;
}

void partitions_unref(struct partitions *partitions)
{
	if (!partitions || !ref_put(&partitions->ref))
		return;
	for (uint32_t i = 0; i < partitions->n; i++)
		partition_clear(&partitions->all[i]);
	g_free(partitions->all);
	g_free(partitions->class_of);
	g_free(partitions->first);
	g_free(partitions->p_keys);
	g_free(partitions->shared);
	g_ptr_array_unref(partitions->problems);
	g_ptr_array_unref(partitions->crowded);
	partition_rules_unref(partitions->rules);
	g_free(partitions);
}

/* ---- questions ---- */

const uint16_t *partitions_of(const struct partitions *partitions, uint32_t port, uint32_t *n)
{
	uint32_t class = port < partitions->n_ports ? partitions->class_of[port] : 0;

	*n = n_keys(partitions, class);
	return *n ? keys_of(partitions, class) : NULL;
}

const struct partition *partitions_find(const struct partitions *partitions, uint16_t p_key)
{
	return find_partition(partitions, p_key);
}

uint16_t partitions_index0(const struct partitions *partitions, uint32_t port)
{
	uint16_t p_key = partitions_member(partitions, port, P_KEY_DEFAULT);
	unsigned int last = 0;

	for (uint32_t i = 0; i < partitions->n; i++) {
		const struct partition *partition = &partitions->all[i];

		if (partition->indx0 <= last ||
		    !partitions_member(partitions, port, partition->p_key))
			continue;
		last = partition->indx0;
		p_key = partitions_member(partitions, port, partition->p_key);
	}
	return p_key;
}

uint16_t partitions_member(const struct partitions *partitions, uint32_t port, uint16_t p_key)
{
	return port < partitions->n_ports
		       ? member_of_class(partitions, partitions->class_of[port], p_key)
		       : 0;
}

uint32_t partitions_class(const struct partitions *partitions, uint32_t port)
{
	return port < partitions->n_ports ? partitions->class_of[port] : 0;
}

static uint16_t shared_by_classes(const struct partitions *partitions, uint32_t a, uint32_t b)
{
	return partitions->shared ? partitions->shared[a * partitions->n_classes + b]
				  : shared_by(partitions, a, b);
}

bool partitions_classes_talk(const struct partitions *partitions, uint32_t a, uint32_t b)
{
	return shared_by_classes(partitions, a, b) != 0;
}

uint16_t partitions_shared(const struct partitions *partitions, uint32_t a, uint32_t b)
{
	return shared_by_classes(partitions, partitions_class(partitions, a),
				 partitions_class(partitions, b));
}
