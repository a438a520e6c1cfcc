// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libibverbs's functions about devices: what a program asks of a device and its ports, and the
 * events that these report. Only libosmsim-verbs.so has them, which is libosmsim-preload.so in
 * addition: without it libibverbs finds no device.
 *
 * Only management is simulated: to make an object that carries data fails with EOPNOTSUPP.
 *
 * The descriptor that programs poll for events is a connection to the server, which sends an event
 * in each frame, and closes it when the CA is removed.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "config.h"
#include "preload_private.h"

#pragma GCC visibility push(default)
#include <infiniband/verbs.h>
#pragma GCC visibility pop
#undef ibv_query_port
#undef ibv_query_gid_ex

#define MAX_MESSAGE (UINT32_C(1) << 30)
/* LinkSpeedActive of verbs, which continues that of PortInfo; the first code of LinkSpeedExt. */
#define SPEED_EXT_FIRST 16
#define SPEED_NDR 128

/* A list of devices has one, and each open context, as programs free the list first. */
struct device {
	struct ibv_device base;
	_Atomic unsigned int users;
	struct osmsim_node node;
};

struct context {
	struct ibv_context base;
	struct device *device;
	bool told_fatal; /* IBV_EVENT_DEVICE_FATAL, the last event of all */
};

/* ---- devices ---- */

static void device_unref(struct device *device)
{
	if (atomic_fetch_sub(&device->users, 1) == 1)
		free(device);
}

static struct device *device_new(void)
{
	struct device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	atomic_init(&device->users, 1);
	if (preload_node(&device->node) < 0 ||
	    preload_device_name(device->base.name, sizeof(device->base.name)) < 0) {
		free(device);
		return NULL;
	}
	device->base.node_type = (enum ibv_node_type)device->node.type;
	device->base.transport_type = IBV_TRANSPORT_IB;
	return device;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = calloc(2, sizeof(*list));
	struct device *device;

	if (!list)
		return NULL;
	device = device_new();
	if (device)
		list[0] = &device->base;
	if (num_devices)
		*num_devices = device != NULL;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	if (list[0])
		device_unref((struct device *)list[0]);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(((struct device *)device)->node.node_guid);
}

int ibv_get_device_index(struct ibv_device *device)
{
	(void)device;
	return -1; /* unknown */
}

/* ---- contexts ---- */

/* The connection for events: it blocks until one comes. */
static int watch(const struct osmsim_node *node)
{
	struct osmsim_hello hello = {.version = OSMSIM_VERSION, .pid = getpid()};
	const struct timeval for_ever = {};
	struct osmsim_result result;
	int fd = preload_connect(), rc;

	if (fd < 0)
		return fd;
	snprintf(hello.node, sizeof(hello.node), "0x%016" PRIx64, node->node_guid);
	rc = preload_exchange(fd, OSMSIM_WATCH, &hello, sizeof(hello), &result, sizeof(result));
	if (rc == 0)
		rc = result.value;
	if (rc == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof(for_ever)) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

struct ibv_context *ibv_open_device(struct ibv_device *base)
{
	struct device *device = (struct device *)base;
	struct context *context = calloc(1, sizeof(*context));
	int fd;

	if (!context)
		return NULL;
	fd = watch(&device->node);
	if (fd < 0) {
		free(context);
		errno = -fd;
		return NULL;
	}
	context->base.device = base;
	context->base.cmd_fd = -1;
	context->base.async_fd = fd;
	context->base.num_comp_vectors = 1;
	pthread_mutex_init(&context->base.mutex, NULL);
	context->device = device;
	atomic_fetch_add(&device->users, 1);
	return &context->base;
}

int ibv_close_device(struct ibv_context *base)
{
	struct context *context = (struct context *)base;

	close(base->async_fd);
	pthread_mutex_destroy(&base->mutex);
	device_unref(context->device);
	free(context);
	return 0;
}

/* ---- questions ---- */

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct osmsim_node *node = &((struct context *)context)->device->node;

	*attr = (struct ibv_device_attr){
		.node_guid = htobe64(node->node_guid),
		.sys_image_guid = htobe64(node->system_image_guid),
		.vendor_id = node->vendor_id,
		.vendor_part_id = node->device_id,
		.max_pkeys = OSMSIM_MAX_P_KEYS,
		.phys_port_cnt = node->num_ports,
	};
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "%s", PACKAGE_VERSION);
	return 0;
}

static int ask(uint32_t port_num, struct osmsim_port *port)
{
	int rc = port_num > OSMSIM_MAX_PORTS ? -EINVAL : preload_port((int)port_num, port);

	return rc < 0 ? -rc : 0;
}

/* As the kernel reports faster speeds to programs that know none above NDR. */
static uint8_t speed_of(const struct osmsim_port *port)
{
	if (port->link_speed_ext2)
		return SPEED_NDR;
	if (port->link_speed_ext)
		return port->link_speed_ext * SPEED_EXT_FIRST;
	return port->link_speed;
}

/*
 * Programs give room for the structure as it was when libibverbs 1.1 began, without what follows
 * link_layer, and have cleared the rest.
 */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr out = {};
	struct osmsim_port port;
	int rc = ask(port_num, &port);

	(void)context;
	if (rc)
		return rc;
	out.state = (enum ibv_port_state)port.state;
	out.max_mtu = (enum ibv_mtu)port.mtu_cap;
	out.active_mtu = (enum ibv_mtu)port.neighbor_mtu;
	out.gid_tbl_len = 1;
	out.port_cap_flags = port.capability_mask;
	out.max_msg_sz = MAX_MESSAGE;
	out.pkey_tbl_len = port.n_p_keys;
	out.lid = port.base_lid;
	out.sm_lid = port.sm_lid;
	out.lmc = port.lmc;
	out.max_vl_num = port.vl_cap;
	out.sm_sl = port.sm_sl;
	out.subnet_timeout = port.subnet_timeout;
	out.active_width = port.link_width;
	out.active_speed = speed_of(&port);
	out.phys_state = port.phys_state;
	out.link_layer = IBV_LINK_LAYER_INFINIBAND;
	memcpy(attr, &out, offsetof(struct ibv_port_attr, flags));
	return 0;
}

static int ask_gid(uint32_t port_num, uint32_t index, union ibv_gid *gid)
{
	struct osmsim_port port;
	int rc = index ? ENODATA : ask(port_num, &port);

	if (rc)
		return rc;
	gid->global.subnet_prefix = htobe64(port.gid_prefix);
	gid->global.interface_id = htobe64(port.port_guid);
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	int rc = index < 0 ? EINVAL : ask_gid(port_num, index, gid);

	(void)context;
	if (!rc)
		return 0;
	errno = rc;
	return -1;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry out = {.gid_index = gid_index, .port_num = port_num};
	int rc =
		flags || entry_size < sizeof(out) ? EINVAL : ask_gid(port_num, gid_index, &out.gid);

	(void)context;
	if (rc)
		return rc;
	out.gid_type = IBV_GID_TYPE_IB;
	memset(entry, 0, entry_size);
	memcpy(entry, &out, sizeof(out));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size)
{
	const struct osmsim_node *node = &((struct context *)context)->device->node;
	size_t n = 0;

	for (unsigned int i = 1; i <= node->num_ports && n < max_entries; i++) {
		int rc =
			_ibv_query_gid_ex(context, i, 0, (void *)((char *)entries + n * entry_size),
					  flags, entry_size);

		if (rc)
			return -rc;
		n++;
	}
	return (ssize_t)n;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *p_key)
{
	struct osmsim_port port;
	int rc = ask(port_num, &port);

	(void)context;
	if (!rc && (index < 0 || (uint32_t)index >= port.n_p_keys))
		rc = EINVAL;
	if (rc) {
		errno = rc;
		return -1;
	}
	*p_key = htobe16(port.p_keys[index]);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 p_key)
{
	struct osmsim_port port;
	int rc = ask(port_num, &port);

	(void)context;
	for (uint32_t i = 0; !rc && i < port.n_p_keys; i++)
		if (htobe16(port.p_keys[i]) == p_key)
			return (int)i;
	errno = rc ? rc : EINVAL;
	return -1;
}

/* ---- events ---- */

struct frame {
	struct osmsim_header header;
	struct osmsim_event event;
};

static const enum ibv_event_type types[] = {
	[OSMSIM_PORT_DOWN] = IBV_EVENT_PORT_ERR,
	[OSMSIM_LID_CHANGED] = IBV_EVENT_LID_CHANGE,
	[OSMSIM_GID_CHANGED] = IBV_EVENT_GID_CHANGE,
	[OSMSIM_P_KEYS_CHANGED] = IBV_EVENT_PKEY_CHANGE,
	[OSMSIM_SM_CHANGED] = IBV_EVENT_SM_CHANGE,
	[OSMSIM_REREGISTER] = IBV_EVENT_CLIENT_REREGISTER,
	[OSMSIM_PORT_UP] = IBV_EVENT_PORT_ACTIVE,
};

static bool is_event(const struct frame *frame)
{
	return frame->header.type == OSMSIM_EVENT && frame->header.length == sizeof(frame->event) &&
	       frame->event.kind >= OSMSIM_PORT_DOWN && frame->event.kind <= OSMSIM_PORT_UP;
}

/* Takes a frame, which the server writes at once; false: the connection is at its end. */
static bool take_frame(int fd, struct frame *frame)
{
	ssize_t n;

	do
		n = recv(fd, frame, sizeof(*frame), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n == sizeof(*frame) && is_event(frame))
		return true;
	if (n >= 0)
		errno = EIO;
	return false;
}

int ibv_get_async_event(struct ibv_context *base, struct ibv_async_event *event)
{
	struct context *context = (struct context *)base;
	struct frame frame;

	if (take_frame(base->async_fd, &frame)) {
		event->event_type = types[frame.event.kind];
		event->element.port_num = (int)frame.event.port_num;
		return 0;
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK || context->told_fatal)
		return -1;
	context->told_fatal = true;
	event->event_type = IBV_EVENT_DEVICE_FATAL;
	event->element.port_num = 0;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

/* ---- objects that carry data: refused, where libibverbs would ask a driver ---- */

static void *refuse(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	(void)context;
	return refuse();
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	(void)context;
	return refuse();
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	(void)context;
	(void)cqe;
	(void)cq_context;
	(void)channel;
	(void)comp_vector;
	return refuse();
}
