// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Readiness and status for the service manager: one datagram per message to the socket named in
 * NOTIFY_SOCKET, a path or (with @) an abstract name. Small enough not to need libsystemd.
 */
#include "core/notify.h"

#include <glib.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool send_datagram(const char *name, const char *message)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	ssize_t sent;
	int fd;

	if ((name[0] != '/' && name[0] != '@') || length >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	/* A service manager that does not read must not block the SM. */
	sent = sendto(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT,
		      (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
	return sent == (ssize_t)strlen(message);
}

bool notify_is_on(void)
{
	const char *name = getenv("NOTIFY_SOCKET");

	return name && *name;
}

static bool notify(const char *message)
{
	return !notify_is_on() || send_datagram(getenv("NOTIFY_SOCKET"), message);
}

bool notify_ready(void)
{
	return notify("READY=1");
}

bool notify_status(const char *status)
{
	g_autofree char *message = g_strconcat("STATUS=", status, NULL);

	/* A second line would be a second message. */
	g_strdelimit(message, "\n\r", ' ');
	return notify(message);
}

bool notify_reloading(void)
{
	/* systemd takes this as the time of the signal by which it requested the reload. */
	g_autofree char *message = g_strdup_printf("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT,
						   g_get_monotonic_time());

	return notify(message);
}

bool notify_patience(uint64_t us)
{
	g_autofree char *message = g_strdup_printf("EXTEND_TIMEOUT_USEC=%" G_GUINT64_FORMAT, us);

	return notify(message);
}

bool notify_watchdog(void)
{
	return notify("WATCHDOG=1");
}

uint64_t notify_watchdog_us(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	guint64 value;

	if (pid && g_ascii_strtoll(pid, NULL, 10) != getpid())
		return 0;
	if (!us || !g_ascii_string_to_unsigned(us, 10, 1, G_MAXINT64 / 1000, &value, NULL))
		return 0;
	return value;
}

bool notify_stopping(void)
{
	return notify("STOPPING=1");
}
