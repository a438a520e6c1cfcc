// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The local ports: lists them and chooses one. Only reads /sys through libibumad, so it needs no
 * privilege and opens no device.
 */
#include <inttypes.h>
#include <string.h>

#include "umad_private.h"

/* node_type of /sys/class/infiniband/X: 1..3 are CA, switch and router, the others are not IBA. */
static bool is_infiniband(unsigned int node_type, const char *link_layer)
{
	if (node_type < IBA_NODE_CA || node_type > IBA_NODE_ROUTER)
		return false;
	/* Kernels before 2.6.37 have no link_layer: libibumad then says "IB". */
	return strcmp(link_layer, "InfiniBand") == 0 || strcmp(link_layer, "IB") == 0;
}

static void add_ports(GArray *ports, const char *name)
{
	struct umad_ca ca;

	if (umad_get_ca(name, &ca) < 0) /* unplugged in the meantime */
		return;
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		const struct umad_port *umad = ca.ports[i];
		struct vendor_port port = {};

		if (!umad)
			continue;
		g_strlcpy(port.device, name, sizeof(port.device));
		port.port_num = umad->portnum;
		port.guid = be64toh(umad->port_guid);
		port.lid = umad->base_lid;
		port.state = umad->state;
		port.infiniband = is_infiniband(ca.node_type, umad->link_layer);
		g_array_append_val(ports, port);
	}
	umad_release_ca(&ca);
}

GArray *vendor_umad_ports(GError **error)
{
	struct umad_device_node *devices;
	GArray *ports;

	if (umad_init() < 0) {
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_DEVICE,
			    "the kernel offers no user MAD interface (is ib_umad loaded?); "
			    "--sim fattree:16 runs without an HCA");
		return NULL;
	}
	ports = g_array_new(FALSE, TRUE, sizeof(struct vendor_port));
	devices = umad_get_ca_device_list();
	for (struct umad_device_node *d = devices; d; d = d->next)
		add_ports(ports, d->ca_name);
	if (devices)
		umad_free_ca_device_list(devices);
	return ports;
}

static char *list_ports(const GArray *ports)
{
	static const char *const states[] = {"no state", "DOWN", "INIT", "ARMED", "ACTIVE"};
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < ports->len; i++) {
		const struct vendor_port *p = &g_array_index(ports, struct vendor_port, i);

		g_string_append_printf(text, "%s0x%016" PRIx64 " (%s port %u, %s)", i ? ", " : "",
				       p->guid, p->device, p->port_num,
				       !p->infiniband			 ? "not InfiniBand"
				       : p->state < G_N_ELEMENTS(states) ? states[p->state]
									 : "?");
	}
	return g_string_free(text, FALSE);
}

static const struct vendor_port *find_guid(const GArray *ports, uint64_t guid)
{
	for (guint i = 0; i < ports->len; i++) {
		const struct vendor_port *p = &g_array_index(ports, struct vendor_port, i);

		if (p->infiniband && p->guid == guid)
			return p;
	}
	return NULL;
}

static const struct vendor_port *find_best(const GArray *ports)
{
	const struct vendor_port *best = NULL;
	int best_rank = 0;

	for (guint i = 0; i < ports->len; i++) {
		const struct vendor_port *p = &g_array_index(ports, struct vendor_port, i);
		int rank = p->state == IBA_PORT_ACTIVE ? 3 : p->state > IBA_PORT_DOWN ? 2 : 1;

		if (p->infiniband && rank > best_rank) {
			best = p;
			best_rank = rank;
		}
	}
	return best;
}

bool umad_choose_port(const GArray *ports, uint64_t port_guid, struct vendor_port *port,
		      GError **error)
{
	const struct vendor_port *found =
		port_guid ? find_guid(ports, port_guid) : find_best(ports);
	g_autofree char *list = NULL;

	if (found) {
		*port = *found;
		return true;
	}
	list = list_ports(ports);
	if (!ports->len)
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_DEVICE,
			    "no InfiniBand device on this host; --sim fattree:16 runs without one");
	else if (!port_guid)
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_DEVICE,
			    "no InfiniBand port on this host, only %s; "
			    "--sim fattree:16 runs without one",
			    list);
	else
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_SUCH_PORT,
			    "no local InfiniBand port has GUID 0x%016" PRIx64 "; there are: %s",
			    port_guid, list);
	return false;
}

char *umad_issm_file(const char *device, int port_num)
{
	char path[256] = "";

	if (umad_get_issm_path(device, port_num, path, sizeof(path)) < 0)
		return NULL;
	return g_strdup(path);
}

char *umad_device_file(const char *device, int port_num)
{
	g_autofree char *issm = umad_issm_file(device, port_num);
	char *name = issm ? strstr(issm, "issm") : NULL;

	/* libibumad reports only the issm path; both devices of a port have the same number. */
	if (!name)
		return NULL;
	memcpy(name, "umad", 4);
	return g_steal_pointer(&issm);
}
