// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Groups of qos-policy.conf as sets of ports, so that a path query only looks at bits. */
#include "policy/qos_paths.h"

#include <string.h>

#include "policy/qos.h"

static bool is_named(const struct fabric *fabric, uint32_t port, const GPtrArray *names)
{
	const struct fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	g_autofree char *name = NULL;

	if (!names->len)
		return false;
	name = g_strdup_printf("%s/P%u", node->description, fabric->ports[port].num);
	for (guint i = 0; i < names->len; i++)
		if (!strcmp(names->pdata[i], name))
			return true;
	return false;
}

static bool has_p_key(const struct partitions *partitions, uint32_t port, const GArray *ranges)
{
	uint32_t n;
	const uint16_t *p_keys = partitions_of(partitions, port, &n);

	for (uint32_t i = 0; i < n && ranges->len; i++)
		if (qos_ranges_have(ranges, P_KEY_BASE(p_keys[i])))
			return true;
	return false;
}

static bool is_in_partition(const struct partitions *partitions, uint32_t port,
			    const GPtrArray *names)
{
	for (uint32_t i = 0; i < partitions->n && names->len; i++)
		for (guint j = 0; j < names->len; j++)
			if (!g_strcmp0(partitions->all[i].name, names->pdata[j]) &&
			    partitions_member(partitions, port, partitions->all[i].p_key))
				return true;
	return false;
}

static bool is_member(const struct qos_group *group, const struct fabric *fabric,
		      const struct partitions *partitions, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];

	return (group->types & 1u << fabric->nodes[p->node].type) ||
	       (group->self && port == fabric->sm_port) || qos_ranges_have(group->guids, p->guid) ||
	       is_named(fabric, port, group->ports) || has_p_key(partitions, port, group->p_keys) ||
	       is_in_partition(partitions, port, group->partitions);
}

static uint8_t *members_of(const struct qos_group *group, const struct fabric *fabric,
			   const struct partitions *partitions)
{
	uint8_t *members = g_new0(uint8_t, fabric->n_ports / 8 + 1);

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (fabric_is_endport(fabric, port) && is_member(group, fabric, partitions, port))
			members[port / 8] |= 1u << port % 8;
	return members;
}

static uint16_t dropped_sls(const struct options *options)
{
	uint16_t dropped = 0;
	struct qos qos;

	qos_make(options, &qos);
	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		if (qos.of[QOS_CA].vl[sl] == QOS_DROP || qos.of[QOS_SWITCH].vl[sl] == QOS_DROP)
			dropped |= 1u << sl;
	return dropped;
}

struct qos_paths *qos_paths_make(struct qos_policy *policy, const struct options *options,
				 const struct fabric *fabric, const struct partitions *partitions)
{
	struct qos_paths *paths;

	if (!policy || !options->qos)
		return NULL;
	paths = g_new0(struct qos_paths, 1);
	ref_init(&paths->ref);
	paths->policy = qos_policy_ref(policy);
	paths->n_ports = fabric->n_ports;
	paths->members = g_new0(uint8_t *, policy->groups->len + 1);
	for (guint i = 0; i < policy->groups->len; i++)
		paths->members[i] = members_of(policy->groups->pdata[i], fabric, partitions);
	paths->dropped = dropped_sls(options);
	return paths;
}

void qos_paths_unref(struct qos_paths *paths)
{
	if (!paths || !ref_put(&paths->ref))
		return;
	for (guint i = 0; i < paths->policy->groups->len; i++)
		g_free(paths->members[i]);
	g_free(paths->members);
	qos_policy_unref(paths->policy);
	g_free(paths);
}

struct ends {
	const struct qos_paths *paths;
	uint32_t from, to;
};

static bool is_in(void *arg, unsigned int group, bool destination)
{
	const struct ends *ends = arg;
	uint32_t port = destination ? ends->to : ends->from;

	return ends->paths->members[group][port / 8] >> port % 8 & 1;
}

const struct qos_level *qos_paths_level(const struct qos_paths *paths, struct qos_query *query,
					uint32_t from, uint32_t to)
{
	struct ends ends = {paths, from, to};

	query->is_in = is_in;
	query->arg = &ends;
	return qos_policy_level(paths->policy, query);
}
