// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * FDR10, a speed that PortInfo does not have: the vendor attribute ExtendedPortInfo says whether a
 * port supports it, has it enabled, and runs at it. It is enabled where both ends of a cable
 * support it, or disabled everywhere, by option fdr10; a link takes it up when it trains next.
 *
 *	first port of a node --answered--> its other ports --differs--> read again --> Set
 *	       |
 *	       +-- error, or silence: not asked again as long as the node's epoch lasts
 *
 * Only devices that are known to have the attribute are asked, with the ports whose PortInfo the
 * sweep has read.
 */
#include <string.h>

#include "sm/health/health.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"

enum fdr10_option { FDR10_ENABLE = 1, FDR10_DISABLE = 2 };

static bool is_known_device(const struct iba_node_info *info)
{
	static const struct {
		uint32_t vendor;
		uint16_t first, last;
	} devices[] = {
#define FDR10_DEVICES(vendor, first, last) {vendor, first, last},
#include "sm/write/fdr10_devices.def"
	};

	for (size_t i = 0; i < G_N_ELEMENTS(devices); i++)
		if (info->vendor_id == devices[i].vendor && info->device_id >= devices[i].first &&
		    info->device_id <= devices[i].last)
			return true;
	return false;
}

static bool is_on(const struct sm *sm)
{
	return sm->options->fdr10 == FDR10_ENABLE || sm->options->fdr10 == FDR10_DISABLE;
}

/* ---- reading ---- */

static struct sm_request *make_get(struct sm *sm, struct builder_port *port,
				   void (*done)(struct sm_request *request))
{
	struct sm_request *request =
		sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_EXT_PORT_INFO, port->num);

	request->sender = REQUEST_FAULT_PROBE; /* silence says nothing about the node */
	request->done = done;
	return request;
}

/* Its bits as in fabric.h; none count at a port that does not support it, whatever it says. */
static uint8_t bits_of(const uint8_t *data)
{
	struct iba_ext_port_info info;

	wire_decode(&iba_ext_port_info_type, data, &info);
	if (!(info.link_speed_supported & IBA_EXT_PORT_SPEED_FDR10))
		return 0;
	return FABRIC_FDR10_SUPPORTED |
	       (info.link_speed_enabled & IBA_EXT_PORT_SPEED_FDR10 ? FABRIC_FDR10_ENABLED : 0) |
	       (info.link_speed_active & IBA_EXT_PORT_SPEED_FDR10 ? FABRIC_FDR10_ACTIVE : 0);
}

static void store(struct builder_port *port, uint8_t is)
{
	if (port->fdr10.is != is)
		builder_touch(port->node);
	port->fdr10.is = is;
}

static bool is_busy(const struct sm_request *request)
{
	return request->mad.result == MAD_STATUS && request->mad.status & IBA_STATUS_BUSY;
}

static void on_read(struct sm_request *request)
{
	struct builder_port *port = request->port;

	if (!port->node->builder || request->phase == REQUEST_SKIPPED ||
	    request->phase == REQUEST_NO_ROUTE || is_busy(request))
		return;
	if (!sm_request_ok(request)) {
		port->fdr10.read = 0;
		port->fdr10.failed_epoch = request->epoch;
		store(port, 0);
		return;
	}
	port->fdr10.read = request->sm->builder->sweep;
	port->fdr10.failed_epoch = 0;
	port->node->has_ext_port_info = true;
	store(port, bits_of(request->mad.data));
}

/* Whether this sweep has read its PortInfo, and it may answer. */
static bool is_due(const struct sm *sm, const struct builder_port *port)
{
	return port->num && builder_link_is_up(port) &&
	       (port->read == sm->builder->sweep || !port->fdr10.read) &&
	       port->fdr10.read != sm->builder->sweep &&
	       port->fdr10.failed_epoch != port->node->epoch;
}

/* The first port that is due, or any that has shown that the node does not have the attribute. */
static struct builder_port *first_of(const struct sm *sm, struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *port = &node->ports[num];

		if (is_due(sm, port) || port->fdr10.failed_epoch == node->epoch)
			return port;
	}
	return NULL;
}

static void read_due_ports(struct sm *sm, void *item)
{
	struct builder_node *node = item;

	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		if (is_due(sm, &node->ports[num]))
			sm_request_send(make_get(sm, &node->ports[num], on_read));
}

static void on_read_first(struct sm_request *request)
{
	GPtrArray *nodes;

	on_read(request);
	if (!sm_request_ok(request) || !request->node->builder)
		return;
	nodes = g_ptr_array_new();
	g_ptr_array_add(nodes, request->node);
	sweep_walk(request->sm, nodes, 1, read_due_ports);
}

static void read_node(struct sm *sm, void *item)
{
	struct builder_node *node = item;
	struct builder_port *first = first_of(sm, node);

	if (!first || !is_known_device(&node->info))
		return;
	if (node->has_ext_port_info)
		read_due_ports(sm, node);
	else if (is_due(sm, first))
		sm_request_send(make_get(sm, first, on_read_first));
}

/* What was known of it is not told any more. */
static void forget_node(struct sm *sm, void *item)
{
	struct builder_node *node = item;

	(void)sm;
	for (unsigned int num = 1; node->has_ext_port_info && num <= node->info.num_ports; num++) {
		store(&node->ports[num], 0);
		node->ports[num].fdr10 = (struct builder_fdr10){0};
	}
	node->has_ext_port_info = false;
}

enum step_result step_fdr10_read(struct sm *sm)
{
	sweep_walk(sm, sweep_nodes(sm), 1, is_on(sm) ? read_node : forget_node);
	return STEP_NEXT;
}

/* ---- setting ---- */

static bool differs(const struct sm *sm, const struct builder_port *port)
{
	bool is = port->fdr10.is & FABRIC_FDR10_ENABLED;

	if (!port->fdr10.is || !builder_link_is_up(port))
		return false;
	if (sm->options->fdr10 == FDR10_DISABLE)
		return is;
	return !is && port->peer && port->peer->fdr10.is & FABRIC_FDR10_SUPPORTED;
}

/* It is not set again, unless the option changes or the device has been reset. */
static bool keeps_its_own(const struct sm *sm, const struct builder_port *port)
{
	return port->fdr10.kept == sm->options->fdr10 &&
	       port->fdr10.kept_epoch == port->node->epoch;
}

static void on_set(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *port = request->port;

	if (!port->node->builder)
		return;
	if (sm_request_ok(request))
		store(port, bits_of(request->mad.data));
	if (sm_request_is_late(request))
		return;
	if (!sm_request_ok(request) && (request->mad.result != MAD_STATUS || is_busy(request))) {
		sm_request_failed(request);
		return;
	}
	if (!differs(sm, port))
		return;
	port->fdr10.kept = sm->options->fdr10;
	port->fdr10.kept_epoch = request->epoch;
	health_refused(sm, port, "port %u does not accept FDR10 being %s", port->num,
		       port->fdr10.kept == FDR10_ENABLE ? "enabled" : "disabled");
}

/* What else the attribute has stays as it is. */
static void on_read_to_set(struct sm_request *read)
{
	struct sm *sm = read->sm;
	struct builder_port *port = read->port;
	struct sm_request *request;
	struct iba_ext_port_info info;

	on_read(read);
	if (!sm_request_ok(read) || !port->node->builder || sm_request_is_late(read) ||
	    !differs(sm, port))
		return;
	wire_decode(&iba_ext_port_info_type, read->mad.data, &info);
	info.state_change_enable = 1;
	info.link_speed_enabled ^= IBA_EXT_PORT_SPEED_FDR10;
	request = sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_EXT_PORT_INFO, port->num);
	memcpy(request->mad.data, read->mad.data, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_ext_port_info_type, &info, request->mad.data);
	request->done = on_set;
	sm_request_send(request);
}

static void set_port(struct sm *sm, void *item)
{
	struct builder_port *port = item;

	if (differs(sm, port) && !keeps_its_own(sm, port))
		sm_request_send(make_get(sm, port, on_read_to_set));
}

enum step_result step_fdr10(struct sm *sm)
{
	if (is_on(sm))
		sweep_walk(sm, sweep_ports(sm, sweep_is_local(sm)), 1, set_port);
	return STEP_NEXT;
}
