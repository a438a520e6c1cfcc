// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The published subnet: a set of references. */
#include "subnet/subnet.h"

struct subnet *subnet_new(struct fabric *fabric, struct routing *routing,
			  struct partitions *partitions, struct options *options)
{
	struct subnet *subnet = g_new0(struct subnet, 1);
	const struct fabric_port *sm = &fabric->ports[fabric->sm_port];

	ref_init(&subnet->ref);
	subnet->generation = fabric->generation;
	subnet->fabric = fabric_ref(fabric);
	subnet->routing = routing_ref(routing);
	subnet->partitions = partitions_ref(partitions);
	subnet->options = options_ref(options);
	subnet->sm_guid = sm->guid;
	subnet->sm_lid = sm->lid;
	return subnet;
}

struct subnet *subnet_ref(struct subnet *subnet)
{
	ref_get(&subnet->ref);
	return subnet;
}

void subnet_unref(struct subnet *subnet)
{
	if (!subnet || !ref_put(&subnet->ref))
		return;
	fabric_unref(subnet->fabric);
	routing_unref(subnet->routing);
	partitions_unref(subnet->partitions);
	options_unref(subnet->options);
	route_files_unref(subnet->route_files);
	qos_paths_unref(subnet->qos);
	prefix_routes_unref(subnet->prefix_routes);
	if (subnet->lid_guids)
		g_array_unref(subnet->lid_guids);
	if (subnet->sm_p_keys)
		g_array_unref(subnet->sm_p_keys);
	g_free(subnet->credit_loop);
	g_free(subnet->exposed);
	g_free(subnet->fallback);
	g_free(subnet->held);
	g_strfreev(subnet->small_tables);
	g_strfreev(subnet->sick);
	g_strfreev(subnet->unknown_keys);
	g_strfreev(subnet->without_p_keys);
	g_strfreev(subnet->p_key_reuse);
	g_free(subnet);
}

void subnet_route_input(const struct subnet *subnet, struct route_input *input)
{
	route_files_input(subnet->route_files, subnet->options, input);
	if (subnet->roots_found)
		input->n_roots = 0;
}
