// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* TCP on this host uses both address families, if both exist. */
#include "ctl/console/console_listen.h"

static bool listen_loopback_of(GSocketService *service, GSocketFamily family, uint16_t port,
			       GError **error)
{
	g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(family);
	g_autoptr(GSocketAddress) address = g_inet_socket_address_new(loopback, port);

	return g_socket_listener_add_address(G_SOCKET_LISTENER(service), address,
					     G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL,
					     NULL, error);
}

static bool listen_loopback(GSocketService *service, uint16_t port, struct log *log, GError **error)
{
	g_autoptr(GError) no_ipv6 = NULL;

	if (!listen_loopback_of(service, G_SOCKET_FAMILY_IPV4, port, error))
		return false;
	if (listen_loopback_of(service, G_SOCKET_FAMILY_IPV6, port, &no_ipv6))
		return true;
	if (g_error_matches(no_ipv6, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) {
		g_propagate_error(error, g_steal_pointer(&no_ipv6));
		return false;
	}
	log_verbose(log, "console: not on ::1: %s", no_ipv6->message);
	return true;
}

static void close_service(GSocketService *service)
{
	g_socket_service_stop(service);
	g_socket_listener_close(G_SOCKET_LISTENER(service));
	g_object_unref(service);
}

/* A service that already listens would drop connections while the next address is added. */
static GSocketService *new_service(void)
{
	GSocketService *service = g_socket_service_new();

	g_socket_service_stop(service);
	return service;
}

GSocketService *console_listen_tcp(uint16_t port, bool everywhere, struct log *log, GError **error)
{
	GSocketService *service = new_service();
	bool good = everywhere ? g_socket_listener_add_inet_port(G_SOCKET_LISTENER(service), port,
								 NULL, error)
			       : listen_loopback(service, port, log, error);

	if (good)
		return service;
	close_service(service);
	return NULL;
}

GSocketService *console_listen_at(GSocket *socket, GError **error)
{
	GSocketService *service = new_service();

	if (g_socket_listener_add_socket(G_SOCKET_LISTENER(service), socket, NULL, error))
		return service;
	close_service(service);
	return NULL;
}

void console_listen_end(GSocketService *service, void *console)
{
	if (!service)
		return;
	g_signal_handlers_disconnect_by_data(service, console);
	close_service(service);
	/* The cancelled accept still reports to the loop. */
	while (g_main_context_iteration(NULL, FALSE))
		continue;
}
