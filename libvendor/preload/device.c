// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libibumad's functions about the host's devices: here they report the one CA of the node on which
 * the process runs. All results are those of libibumad over the kernel, down to the negative errno
 * values.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "preload_private.h"

#define NODE_SWITCH 2
#define STATE_ACTIVE 4
#define PHYS_DISABLED 3
#define PHYS_LINK_UP 5

/* The last index in libibumad's array of ports: it has ten, of which 0 is a switch's. */
static int last_port(const struct osmsim_node *node)
{
	if (node->type == NODE_SWITCH)
		return 0;
	return node->num_ports < UMAD_CA_MAX_PORTS ? node->num_ports : UMAD_CA_MAX_PORTS - 1;
}

static int first_port(const struct osmsim_node *node)
{
	return node->type == NODE_SWITCH ? 0 : 1;
}

int preload_port(int port_num, struct osmsim_port *port)
{
	const struct osmsim_port_request request = {.port_num = port_num};
	int rc = preload_ask(OSMSIM_PORT, &request, sizeof(request), port, sizeof(*port));

	if (rc == 0)
		rc = port->error;
	if (rc == 0 && port->n_p_keys > OSMSIM_MAX_P_KEYS)
		rc = -EPROTO;
	return rc;
}

int preload_device_name(char *name, size_t size)
{
	struct osmsim_node node;
	struct osmsim_port port;
	int rc = preload_node(&node);

	if (rc == 0)
		rc = preload_port(first_port(&node), &port);
	if (rc == 0)
		snprintf(name, size, "%s%u", OSMSIM_DEVICE_STEM, port.device);
	return rc;
}

bool preload_is_device(const char *name)
{
	char own[UMAD_CA_NAME_LEN];

	if (!name)
		return true;
	if (strncmp(name, OSMSIM_DEVICE_STEM, strlen(OSMSIM_DEVICE_STEM)) != 0)
		return false;
	return preload_device_name(own, sizeof(own)) != 0 || strcmp(name, own) == 0;
}

/* Of several ports the first that is ACTIVE, else LinkUp, else not disabled, as in libibumad. */
static int best_port(const struct osmsim_node *node)
{
	int best = -ENODEV, best_rank = 0;

	for (int i = first_port(node); i <= last_port(node); i++) {
		struct osmsim_port port;
		int rank;

		if (preload_port(i, &port) < 0)
			continue;
		rank = port.state == STATE_ACTIVE	  ? 3
		       : port.phys_state == PHYS_LINK_UP  ? 2
		       : port.phys_state != PHYS_DISABLED ? 1
							  : 0;
		if (rank > best_rank) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

int preload_resolve_port(int port_num)
{
	struct osmsim_node node;
	int rc = preload_node(&node);

	if (rc)
		return rc;
	if (port_num == UMAD_ANY_PORT)
		return node.type == NODE_SWITCH ? 0 : best_port(&node);
	return port_num >= first_port(&node) && port_num <= last_port(&node) ? port_num : -EINVAL;
}

int umad_init(void)
{
	struct osmsim_node node;
	int rc = preload_node(&node);

	errno = -rc;
	return rc ? -1 : 0;
}

int umad_done(void)
{
	return 0;
}

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	return max >= 1 && preload_device_name(cas[0], UMAD_CA_NAME_LEN) == 0;
}

static int fill_port(umad_port_t *to, const struct osmsim_port *from)
{
	memset(to, 0, sizeof(*to));
	snprintf(to->ca_name, sizeof(to->ca_name), "%s%u", OSMSIM_DEVICE_STEM, from->device);
	snprintf(to->link_layer, sizeof(to->link_layer), "InfiniBand");
	to->portnum = from->port_num;
	to->base_lid = from->base_lid;
	to->lmc = from->lmc;
	to->sm_lid = from->sm_lid;
	to->sm_sl = from->sm_sl;
	to->state = from->state;
	to->phys_state = from->phys_state;
	to->rate = from->rate;
	to->capmask = htobe32(from->capability_mask);
	to->gid_prefix = htobe64(from->gid_prefix);
	to->port_guid = htobe64(from->port_guid);
	to->pkeys = calloc(from->n_p_keys + 1, sizeof(*to->pkeys));
	if (!to->pkeys)
		return -ENOMEM;
	memcpy(to->pkeys, from->p_keys, from->n_p_keys * sizeof(*to->pkeys));
	to->pkeys_size = from->n_p_keys;
	return 0;
}

static int get_port(int port_num, umad_port_t *port)
{
	struct osmsim_port answer;
	int rc = preload_port(port_num, &answer);

	return rc ? rc : fill_port(port, &answer);
}

int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
	int port_num;

	if (!preload_is_device(ca_name))
		return -EIO;
	port_num = preload_resolve_port(portnum);
	if (port_num < 0)
		return port_num == -ENODEV ? -ENODEV : -EIO;
	return get_port(port_num, port) < 0 ? -EIO : 0;
}

int umad_release_port(umad_port_t *port)
{
	free(port->pkeys);
	port->pkeys = NULL;
	port->pkeys_size = 0;
	return 0;
}

static void fill_ca(umad_ca_t *ca, const struct osmsim_node *node)
{
	memset(ca, 0, sizeof(*ca));
	snprintf(ca->ca_type, sizeof(ca->ca_type), "osmsim");
	snprintf(ca->fw_ver, sizeof(ca->fw_ver), "%s", PACKAGE_VERSION);
	snprintf(ca->hw_ver, sizeof(ca->hw_ver), "0");
	ca->node_type = node->type;
	ca->numports = last_port(node);
	ca->node_guid = htobe64(node->node_guid);
	ca->system_guid = htobe64(node->system_image_guid);
}

static int add_port(umad_ca_t *ca, int port_num)
{
	umad_port_t *port = calloc(1, sizeof(*port));
	int rc = port ? get_port(port_num, port) : -ENOMEM;

	if (rc)
		free(port);
	else
		ca->ports[port_num] = port;
	return rc;
}

int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	struct osmsim_node node;

	if (!preload_is_device(ca_name))
		return -ENOENT;
	if (preload_node(&node) < 0)
		return -ENODEV;
	fill_ca(ca, &node);
	if (preload_device_name(ca->ca_name, sizeof(ca->ca_name)) < 0)
		return -ENODEV;
	for (int i = first_port(&node); i <= last_port(&node); i++) {
		int rc = add_port(ca, i);

		if (rc) {
			umad_release_ca(ca);
			return rc;
		}
	}
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		if (!ca->ports[i])
			continue;
		umad_release_port(ca->ports[i]);
		free(ca->ports[i]);
		ca->ports[i] = NULL;
	}
	return 0;
}

int umad_get_ca_portguids(const char *ca_name, __be64 *portguids, int max)
{
	umad_ca_t ca;
	int n;

	if (umad_get_ca(ca_name, &ca) < 0)
		return -1;
	n = ca.numports + 1;
	if (portguids && n > max)
		n = -ENOMEM;
	for (int i = 0; portguids && i < n; i++)
		portguids[i] = ca.ports[i] ? ca.ports[i]->port_guid : 0;
	umad_release_ca(&ca);
	return n;
}

int umad_get_issm_path(const char *ca_name, int portnum, char path[], int max)
{
	struct osmsim_port_request request = {};
	struct osmsim_path answer;
	int port_num, n;

	if (!preload_is_device(ca_name))
		return -EINVAL;
	port_num = preload_resolve_port(portnum);
	if (port_num < 0)
		return port_num == -ENODEV ? -ENODEV : -EINVAL;
	request.port_num = port_num;
	if (preload_ask(OSMSIM_ISSM, &request, sizeof(request), &answer, sizeof(answer)) < 0)
		return -ENODEV;
	if (answer.error)
		return -EINVAL;
	n = snprintf(path, max > 0 ? max : 0, "%.*s", (int)sizeof(answer.path), answer.path);
	return n < max ? 0 : -EINVAL;
}

struct umad_device_node *umad_get_ca_device_list(void)
{
	char names[1][UMAD_CA_NAME_LEN];
	struct umad_device_node *node;
	char *name;

	if (umad_get_cas_names(names, 1) != 1)
		return NULL;
	node = calloc(1, sizeof(*node) + UMAD_CA_NAME_LEN);
	if (!node)
		return NULL;
	name = (char *)(node + 1);
	memcpy(name, names[0], UMAD_CA_NAME_LEN);
	node->ca_name = name;
	return node;
}

void umad_free_ca_device_list(struct umad_device_node *head)
{
	while (head) {
		struct umad_device_node *next = head->next;

		free(head);
		head = next;
	}
}
