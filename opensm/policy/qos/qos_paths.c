// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Groups of qos-policy.conf as sets of ports, so that a path query only tests bits. */
#include "policy/qos/qos_paths.h"

#include <string.h>

#include "policy/qos/qos_setup.h"

static void put(uint8_t *members, uint32_t port)
{
	members[port / 8] |= 1u << port % 8;
}

static bool has(const uint8_t *members, uint32_t port)
{
	return members[port / 8] >> port % 8 & 1;
}

/* Looks up each GUID, unless there are more of them than ports. */
static void add_guids(uint8_t *members, const struct fabric *fabric, const GArray *guids)
{
	for (guint i = 0; i < guids->len; i++) {
		const struct qos_range *range = &g_array_index(guids, struct qos_range, i);
		bool few = range->last - range->first < fabric->n_ports;

		for (uint64_t k = 0; few && k <= range->last - range->first; k++) {
			uint32_t port = fabric_port_by_guid(fabric, range->first + k);

			if (port != FABRIC_NONE)
				put(members, port);
		}
		for (uint32_t port = 0; port < fabric->n_ports && !few; port++)
			if (fabric_is_endport(fabric, port) &&
			    fabric->ports[port].guid >= range->first &&
			    fabric->ports[port].guid <= range->last)
				put(members, port);
	}
}

/* How a port-name of the file was found; both: it means ports of different nodes. */
#define BY_DESCRIPTION 1u
#define BY_GIVEN_NAME 2u

static void add_port(uint8_t *members, GHashTable *ports, const char *node, uint32_t port,
		     uint8_t num, unsigned int how)
{
	char name[NODE_NAME_MAX + 8];
	gpointer key, found;

	g_snprintf(name, sizeof(name), "%s/P%u", node, num);
	if (!g_hash_table_lookup_extended(ports, name, &key, &found))
		return;
	put(members, port);
	g_hash_table_insert(ports, key, GUINT_TO_POINTER(GPOINTER_TO_UINT(found) | how));
}

/*
 * Adds "NAME/Pnum" of any port, by the NodeDescription and by the name that the operator gave to
 * the node. ports: for each name, how it was found.
 */
static void add_ports(uint8_t *members, const struct fabric *fabric, GHashTable *ports)
{
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		const struct fabric_port *p = &fabric->ports[port];
		const char *description = fabric->nodes[p->node].description;
		const char *given = fabric_given_name(fabric, p->node);

		if (!p->num && !fabric_is_switch(fabric, p->node))
			continue;
		add_port(members, ports, description, port, p->num, BY_DESCRIPTION);
		if (given && strcmp(given, description) != 0)
			add_port(members, ports, given, port, p->num, BY_GIVEN_NAME);
	}
}

static char *tell_two(const char *file, unsigned int line, const char *name)
{
	return g_strdup_printf("%s:%u: port-name '%s': one node has this name in the node name map "
			       "and another as its description; ports of both are taken",
			       file, line, name);
}

static char *tell_unknown(const struct fabric *fabric, const char *file, unsigned int line,
			  const char *name)
{
	const char *num = g_strrstr(name, "/P");
	g_autofree char *node = g_strndup(name, (gsize)(num - name));

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric_is_called(fabric, i, node))
			return g_strdup_printf("%s:%u: port-name '%s': the node has no port '%s'",
					       file, line, name, num + strlen("/P"));
	return g_strdup_printf("%s:%u: port-name '%s': no node of the subnet is called '%s'", file,
			       line, name, node);
}

static void add_names(struct qos_paths *paths, uint8_t *members, const struct fabric *fabric,
		      const struct qos_group *group)
{
	g_autoptr(GHashTable) ports = g_hash_table_new(g_str_hash, g_str_equal);
	GPtrArray *names = group->ports, *unknown = paths->unknown;

	for (guint i = 0; i < names->len; i++)
		g_hash_table_insert(ports, names->pdata[i], NULL);
	if (names->len)
		add_ports(members, fabric, ports);
	for (guint i = 0; i < names->len && unknown->len < QOS_PROBLEMS_MAX; i++) {
		unsigned int how =
			GPOINTER_TO_UINT(g_hash_table_lookup(ports, names->pdata[i]));
		unsigned int line = g_array_index(group->port_lines, unsigned int, i);

		if (!how)
			g_ptr_array_add(unknown, tell_unknown(fabric, paths->policy->file, line,
							      names->pdata[i]));
		else if (how == (BY_DESCRIPTION | BY_GIVEN_NAME))
			g_ptr_array_add(unknown,
					tell_two(paths->policy->file, line, names->pdata[i]));
	}
}

static bool is_named(const struct partitions *partitions, uint16_t p_key, const GPtrArray *names)
{
	const struct partition *partition = partitions_find(partitions, p_key);

	for (guint i = 0; partition && i < names->len; i++)
		if (!g_strcmp0(partition->name, names->pdata[i]))
			return true;
	return false;
}

/* For each class of ports, whether its P_Keys make it a member of the group. */
static bool *member_classes(const struct qos_group *group, const struct partitions *partitions)
{
	bool *classes = g_new0(bool, partitions->n_classes);

	for (uint32_t class = 0; class < partitions->n_classes; class ++)
		for (uint32_t i = partitions->first[class]; i < partitions->first[class + 1]; i++) {
			uint16_t p_key = P_KEY_BASE(partitions->p_keys[i]);

			classes[class] |= qos_ranges_have(group->p_keys, p_key) ||
					  is_named(partitions, p_key, group->partitions);
		}
	return classes;
}

static void add_endports(uint8_t *members, const struct qos_group *group,
			 const struct fabric *fabric, const struct partitions *partitions,
			 const GArray *endports)
{
	g_autofree bool *classes = member_classes(group, partitions);

	for (guint i = 0; i < endports->len; i++) {
		uint32_t port = g_array_index(endports, uint32_t, i);
		uint32_t class = port < partitions->n_ports ? partitions->class_of[port] : 0;

		if (classes[class] ||
		    group->types & 1u << fabric->nodes[fabric->ports[port].node].type ||
		    (group->self && port == fabric->sm_port))
			put(members, port);
	}
}

static uint8_t *members_of(struct qos_paths *paths, const struct qos_group *group,
			   const struct fabric *fabric, const GArray *endports)
{
	uint8_t *members = g_new0(uint8_t, fabric->n_ports / 8 + 1);

	add_endports(members, group, fabric, paths->partitions, endports);
	add_guids(members, fabric, group->guids);
	add_names(paths, members, fabric, group);
	return members;
}

static void find_members(struct qos_paths *paths, const struct fabric *fabric)
{
	const GPtrArray *groups = paths->policy->groups;
	g_autoptr(GArray) endports = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (fabric_is_endport(fabric, port))
			g_array_append_val(endports, port);
	paths->members = g_new0(uint8_t *, groups->len + 1);
	paths->unknown = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < groups->len; i++)
		paths->members[i] = members_of(paths, groups->pdata[i], fabric, endports);
}

static uint16_t dropped_by(const uint8_t *vl)
{
	uint16_t dropped = 0;

	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		if (vl[sl] == QOS_DROP)
			dropped |= 1u << sl;
	return dropped;
}

/* Bits of SLs that are dropped somewhere; only their paths are followed hop by hop. */
static uint16_t dropped_sls(const struct qos_paths *paths)
{
	uint16_t dropped = 0;

	for (unsigned int role = 0; role < QOS_ROLES; role++)
		dropped |= dropped_by(paths->qos.of[role].vl);
	for (guint i = 0; i < paths->policy->scopes->len; i++) {
		const struct qos_scope *scope = paths->policy->scopes->pdata[i];

		if (scope->sets & QOS_SETS_SL2VL)
			dropped |= dropped_by(scope->vl);
	}
	return dropped;
}

static bool has_rows(const struct qos_policy *policy)
{
	for (guint i = 0; i < policy->scopes->len; i++)
		if (((const struct qos_scope *)policy->scopes->pdata[i])->sets & QOS_SETS_SL2VL)
			return true;
	return false;
}

#define FNV_PRIME UINT64_C(0x100000001B3)

static uint64_t digest_add(uint64_t digest, const char *text)
{
	do
		digest = (digest ^ (uint8_t)*text) * FNV_PRIME;
	while (*text++);
	return digest;
}

/* FNV-1a; names arrive late, and count only if a group uses them. */
static uint64_t digest_of_names(const struct qos_policy *policy, const struct fabric *fabric)
{
	uint64_t digest = UINT64_C(0xCBF29CE484222325);
	bool any = false;

	for (guint i = 0; i < policy->groups->len; i++)
		any |= ((const struct qos_group *)policy->groups->pdata[i])->ports->len > 0;
	for (uint32_t i = 0; any && i < fabric->n_nodes; i++) {
		const char *given = fabric_given_name(fabric, i);

		digest = digest_add(digest, fabric->nodes[i].description);
		digest = digest_add(digest, given ? given : "");
	}
	return digest;
}

/* The keys count if QoS is on. */
static struct qos_paths *make(struct qos_policy *policy, const struct options *options,
			      const struct fabric *fabric, const struct partitions *partitions)
{
	struct qos_paths *paths = g_new0(struct qos_paths, 1);

	ref_init(&paths->ref);
	paths->policy = qos_policy_ref(policy);
	paths->options = options_ref((struct options *)options);
	paths->shape = fabric->shape;
	paths->names = digest_of_names(policy, fabric);
	paths->partitions = partitions_ref((struct partitions *)partitions);
	if (options->qos)
		qos_make(options, &paths->qos);
	else
		qos_make_built_in(&paths->qos);
	paths->has_rows = has_rows(policy);
	find_members(paths, fabric);
	paths->dropped = dropped_sls(paths);
	paths->problems = qos_setup_problems(paths, fabric);
	return paths;
}

struct qos_paths *qos_paths_make(struct qos_policy *policy, const struct options *options,
				 const struct fabric *fabric, const struct partitions *partitions)
{
	return policy && options->qos ? make(policy, options, fabric, partitions) : NULL;
}

struct qos_paths *qos_paths_built_in(const struct options *options, const struct fabric *fabric,
				     const struct partitions *partitions)
{
	struct qos_policy *none = qos_policy_load(NULL, NULL);
	struct qos_paths *paths = make(none, options, fabric, partitions);

	qos_policy_unref(none);
	return paths;
}

/* Cables do not change members of groups; messages about scopes may wait until the next time. */
bool qos_paths_are_of(const struct qos_paths *paths, const struct qos_policy *policy,
		      const struct options *options, const struct fabric *fabric,
		      const struct partitions *partitions)
{
	return paths->policy == policy && paths->options == options &&
	       paths->partitions == partitions && paths->shape == fabric->shape &&
	       paths->names == digest_of_names(policy, fabric);
}

/* Both must have the same groups. */
static bool same_members(const struct qos_paths *a, const struct qos_paths *b, uint32_t n_ports)
{
	for (guint i = 0; i < a->policy->groups->len; i++)
		if (memcmp(a->members[i], b->members[i], n_ports / 8 + 1) != 0)
			return false;
	return true;
}

bool qos_paths_same_tables(const struct qos_paths *a, const struct qos_paths *b,
			   const struct fabric *fabric)
{
	if (!a || !b)
		return a == b;
	if (a->options != b->options || a->shape != b->shape)
		return false;
	if (!a->policy->scopes->len && !b->policy->scopes->len)
		return true;
	return a->policy == b->policy && same_members(a, b, fabric->n_ports);
}

struct qos_paths *qos_paths_ref(struct qos_paths *paths)
{
	ref_get(&paths->ref);
	return paths;
}

void qos_paths_unref(struct qos_paths *paths)
{
	if (!paths || !ref_put(&paths->ref))
		return;
	for (guint i = 0; i < paths->policy->groups->len; i++)
		g_free(paths->members[i]);
	g_free(paths->members);
	g_ptr_array_unref(paths->problems);
	g_ptr_array_unref(paths->unknown);
	qos_policy_unref(paths->policy);
	partitions_unref(paths->partitions);
	options_unref(paths->options);
	g_free(paths);
}

bool qos_paths_is_in(const struct qos_paths *paths, const struct fabric *fabric, unsigned int group,
		     uint32_t port)
{
	const uint8_t *members = paths->members[group];

	return has(members, port) || has(members, fabric_endport_of(fabric, port));
}

struct ends {
	const struct qos_paths *paths;
	uint32_t from, to;
};

static bool is_in(void *arg, unsigned int group, bool destination)
{
	const struct ends *ends = arg;
	uint32_t port = destination ? ends->to : ends->from;

	return has(ends->paths->members[group], port);
}

const struct qos_level *qos_paths_level(const struct qos_paths *paths, struct qos_query *query,
					uint32_t from, uint32_t to)
{
	struct ends ends = {paths, from, to};

	query->is_in = is_in;
	query->arg = &ends;
	return qos_policy_level(paths->policy, query);
}
