// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The link to an open port: its descriptor and the kernel state behind it, which end when the
 * device goes away (a driver is unloaded, an HCA is reset). Then another link must be opened to the
 * port with the same GUID, which may have another name and another umad number.
 *
 *	           umad_open_link()                       the descriptor fails, a send does,
 *	(closed) -------------------> device->link set    or IBV_EVENT_DEVICE_FATAL
 *	                                   ^      |
 *	 umad_rebind(), tried each second, |      | umad_lose()
 *	 all classes registered again,     |      v
 *	 IsSM set if it was                +--- NULL: requests fail
 *
 * Once the receiver thread exists, only it makes these transitions. Senders take the link without a
 * lock and are counted while they hold it: it is closed after a moment without any sender.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "umad_private.h"

static int open_port(const struct vendor_port *port, GError **error)
{
	g_autofree char *file = umad_device_file(port->device, port->port_num);
	int id;

	errno = 0;
	id = umad_open_port(port->device, port->port_num);
	if (id >= 0)
		return id;
	if (errno == EACCES || errno == EPERM)
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_PERMISSION,
			    "cannot open %s: %s (run as root, or give this user access to it)",
			    file ? file : port->device, g_strerror(errno));
	else
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_SYSTEM,
			    "cannot open %s of %s port %u: %s (is ib_umad loaded?)",
			    file ? file : "the umad device", port->device, port->port_num,
			    errno ? g_strerror(errno) : "libibumad refused");
	return -1;
}

struct umad_link *umad_open_link(struct umad_device *device, const struct vendor_port *port,
				 GError **error)
{
	int port_id = open_port(port, error);
	struct umad_link *link;

	if (port_id < 0)
		return NULL;
	link = g_new0(struct umad_link, 1);
	link->port_id = port_id;
	for (size_t i = 0; i < G_N_ELEMENTS(link->ids); i++)
		link->ids[i] = -1;
	g_strlcpy(device->device, port->device, sizeof(device->device));
	device->port_num = port->port_num;
	vendor_set_name(&device->vendor, "%s port %u", port->device, port->port_num);
	link->events = umad_events_start(device, port);
	return link;
}

void umad_close_link(struct umad_link *link)
{
	umad_events_stop(link->events);
	for (size_t i = 0; i < G_N_ELEMENTS(link->ids); i++)
		if (link->ids[i] >= 0)
			umad_unregister(link->port_id, link->ids[i]);
	umad_close_port(link->port_id);
	g_free(link);
}

bool umad_is_gone(int reason)
{
	return reason == EIO || reason == ENODEV;
}

void umad_lose(struct umad_device *device, int reason)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	struct umad_link *link;

	log_info(device->log, "%s: the device is gone (%s)", vendor_name(&device->vendor),
		 g_strerror(reason));
	pthread_mutex_lock(&device->lock);
	umad_close_issm(device);
	link = atomic_exchange(&device->link, NULL);
	pthread_mutex_unlock(&device->lock);
	while (atomic_load(&device->senders))
		nanosleep(&pause, NULL);
	umad_close_link(link);
	atomic_store(&device->in_flight, 0);
	atomic_store(&device->due_ms, 0);
	atomic_store(&device->broken, 0);
	vendor_tell_lost(&device->vendor, true);
}

/* All or nothing: another SM may have bound a class in the meantime. */
static bool restore(struct umad_device *device, struct umad_link *link, GError **error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(device->agents); i++) {
		const struct umad_agent *agent = atomic_load(&device->agents[i]);

		if (agent && !umad_register_agent(device, link, agent, error))
			return false;
	}
	return !device->is_sm || umad_open_issm(device, error);
}

static bool reopen(struct umad_device *device, GError **error)
{
	g_autoptr(GArray) ports = vendor_umad_ports(error);
	struct vendor_port port;
	struct umad_link *link;

	if (!ports || !umad_choose_port(ports, vendor_port_guid(&device->vendor), &port, error))
		return false;
	link = umad_open_link(device, &port, error);
	if (!link)
		return false;
	if (restore(device, link, error)) {
		atomic_store(&device->link, link);
		return true;
	}
	umad_close_link(link);
	return false;
}

bool umad_rebind(struct umad_device *device)
{
	g_autoptr(GError) error = NULL;
	bool ok;

	pthread_mutex_lock(&device->lock);
	ok = reopen(device, &error);
	pthread_mutex_unlock(&device->lock);
	if (!ok) {
		if (g_strcmp0(device->told, error->message) != 0)
			log_info(device->log, "still gone: %s", error->message);
		g_free(device->told);
		device->told = g_strdup(error->message);
		return false;
	}
	g_clear_pointer(&device->told, g_free);
	vendor_tell_lost(&device->vendor, false);
	return true;
}
