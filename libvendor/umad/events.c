// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events of the bound port, as reported by the verbs device of the same HCA: a thread waits for
 * them and passes them on as enum vendor_event. It sends nothing and creates no verbs object.
 *
 * A simulator under libibumad has no verbs device, and a sandbox may deny access: then there are no
 * events, and changes are noticed by polling the port.
 *
 * When an HCA is removed, it reports IBV_EVENT_DEVICE_FATAL, or its descriptor fails: the receiver
 * thread, which owns the link that this is part of, is notified and closes all of it. Kernels whose
 * drivers cannot take a device from its users wait for that.
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "complib/thread.h"
#include "umad_private.h"

struct umad_events {
	struct umad_device *device;
	struct ibv_context *context;
	int port_num;
	int stop_fd;
	pthread_t thread;
};

static const struct event_row {
	enum ibv_event_type type;
	unsigned int event;
	const char *text;
} rows[] = {
	{IBV_EVENT_PORT_ACTIVE, VENDOR_PORT_UP, "the port is active"},
	{IBV_EVENT_PORT_ERR, VENDOR_PORT_DOWN, "the port is down"},
	{IBV_EVENT_LID_CHANGE, VENDOR_LID_CHANGED, "the LID changed"},
	{IBV_EVENT_SM_CHANGE, VENDOR_SM_CHANGED, "the SM changed"},
	{IBV_EVENT_CLIENT_REREGISTER, VENDOR_REREGISTER, "an SM asks clients to register again"},
	{IBV_EVENT_PKEY_CHANGE, VENDOR_P_KEYS_CHANGED, "the P_Keys changed"},
};

static void port_event(struct umad_events *events, const struct ibv_async_event *event)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (rows[i].type != event->event_type ||
		    event->element.port_num != events->port_num)
			continue;
		log_verbose(events->device->log, "%s: %s", vendor_name(&events->device->vendor),
			    rows[i].text);
		vendor_tell(&events->device->vendor, rows[i].event);
	}
}

/* Takes the pending events; false: there will be no more. */
static bool take_events(struct umad_events *events)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(events->context, &event) == 0) {
		bool fatal = event.event_type == IBV_EVENT_DEVICE_FATAL;

		if (!fatal)
			port_event(events, &event);
		ibv_ack_async_event(&event);
		if (fatal) {
			errno = ENODEV;
			return false;
		}
	}
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void *events_main(void *arg)
{
	struct umad_events *events = arg;
	struct pollfd fds[] = {{.fd = events->context->async_fd, .events = POLLIN},
			       {.fd = events->stop_fd, .events = POLLIN}};

	pthread_setname_np(pthread_self(), "verbs");
	while (!fds[1].revents) {
		if (poll(fds, G_N_ELEMENTS(fds), -1) < 0 || !fds[0].revents || take_events(events))
			continue;
		atomic_store(&events->device->broken, errno == ENODEV ? ENODEV : EIO);
		break;
	}
	return NULL;
}

static struct ibv_context *open_verbs(const char *name)
{
	struct ibv_context *context = NULL;
	struct ibv_device **devices = ibv_get_device_list(NULL);

	if (!devices)
		return NULL;
	errno = ENODEV;
	for (int i = 0; devices[i] && !context; i++)
		if (strcmp(ibv_get_device_name(devices[i]), name) == 0)
			context = ibv_open_device(devices[i]);
	ibv_free_device_list(devices);
	return context;
}

static bool start_thread(struct umad_events *events)
{
	int fd = events->context->async_fd;

	if (events->stop_fd < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return false;
	return !thread_try(&events->thread, NULL, events_main, events);
}

static void events_free(struct umad_events *events)
{
	if (events->stop_fd >= 0)
		close(events->stop_fd);
	ibv_close_device(events->context);
	g_free(events);
}

struct umad_events *umad_events_start(struct umad_device *device, const struct vendor_port *port)
{
	struct ibv_context *context = open_verbs(port->device);
	struct umad_events *events;

	if (!context) {
		log_verbose(device->log, "%s: no verbs device (%s): no local events", port->device,
			    g_strerror(errno));
		return NULL;
	}
	events = g_new0(struct umad_events, 1);
	events->device = device;
	events->context = context;
	events->port_num = port->port_num;
	events->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (start_thread(events))
		return events;
	log_error(device->log, "%s: no thread for local events", port->device);
	events_free(events);
	return NULL;
}

void umad_events_stop(struct umad_events *events)
{
	if (!events)
		return;
	eventfd_write(events->stop_fd, 1);
	pthread_join(events->thread, NULL);
	events_free(events);
}
