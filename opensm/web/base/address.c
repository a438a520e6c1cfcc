// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

static bool parse_unix(struct address *address, const char *path)
{
	struct sockaddr_un *local = (struct sockaddr_un *)&address->storage;

	if (*path != '/' || strlen(path) >= sizeof(local->sun_path))
		return false;
	local->sun_family = AF_UNIX;
	g_strlcpy(local->sun_path, path, sizeof(local->sun_path));
	address->length = sizeof(*local);
	return true;
}

static bool parse_port(const char *text, in_port_t *port)
{
	guint64 number;

	if (!g_ascii_string_to_unsigned(text, 10, 0, 65535, &number, NULL))
		return false;
	*port = htons((uint16_t)number);
	return true;
}

static bool parse_6(struct address *address, const char *text)
{
	struct sockaddr_in6 *inet = (struct sockaddr_in6 *)&address->storage;
	const char *end = strstr(text, "]:");
	g_autofree char *host = end ? g_strndup(text + 1, (size_t)(end - text - 1)) : NULL;

	inet->sin6_family = AF_INET6;
	address->length = sizeof(*inet);
	return host && inet_pton(AF_INET6, host, &inet->sin6_addr) == 1 &&
	       parse_port(end + 2, &inet->sin6_port);
}

static bool parse_4(struct address *address, const char *text)
{
	struct sockaddr_in *inet = (struct sockaddr_in *)&address->storage;
	const char *end = strchr(text, ':');
	g_autofree char *host = end ? g_strndup(text, (size_t)(end - text)) : NULL;

	inet->sin_family = AF_INET;
	address->length = sizeof(*inet);
	return host && inet_pton(AF_INET, host, &inet->sin_addr) == 1 &&
	       parse_port(end + 1, &inet->sin_port);
}

bool address_parse(struct address *address, const char *text)
{
	*address = (struct address){0};
	if (g_str_has_prefix(text, "unix:"))
		return parse_unix(address, text + strlen("unix:"));
	return *text == '[' ? parse_6(address, text) : parse_4(address, text);
}

static bool is_local_4(uint32_t host)
{
	return ntohl(host) >> 24 == 127;
}

bool address_is_local(const struct sockaddr *address)
{
	const struct sockaddr_in6 *inet6 = (const struct sockaddr_in6 *)address;

	switch (address->sa_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		return is_local_4(((const struct sockaddr_in *)address)->sin_addr.s_addr);
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&inet6->sin6_addr) ||
		       (IN6_IS_ADDR_V4MAPPED(&inet6->sin6_addr) &&
			inet6->sin6_addr.s6_addr[12] == 127);
	default:
		return false;
	}
}

char *address_host_text(const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "?";
	const struct sockaddr_in6 *inet6 = (const struct sockaddr_in6 *)address;

	if (address->sa_family == AF_UNIX)
		return g_strdup("unix");
	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text,
			  sizeof(text));
	else if (address->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &inet6->sin6_addr, text, sizeof(text));
	return g_strdup(text);
}

char *address_text(const struct sockaddr *address)
{
	g_autofree char *host = address_host_text(address);
	const struct sockaddr_un *local = (const struct sockaddr_un *)address;

	if (address->sa_family == AF_INET)
		return g_strdup_printf("%s:%u", host,
				       ntohs(((const struct sockaddr_in *)address)->sin_port));
	if (address->sa_family == AF_INET6)
		return g_strdup_printf("[%s]:%u", host,
				       ntohs(((const struct sockaddr_in6 *)address)->sin6_port));
	return g_strdup_printf("unix:%.*s", (int)sizeof(local->sun_path), local->sun_path);
}

/* Without the port; of "[::1]:80" what is in the brackets. */
static char *host_of(const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : strchr(host, ':');

	host += *host == '[';
	return g_ascii_strdown(host, end ? end - host : -1);
}

bool address_host_is_trusted(const char *host, const GPtrArray *names)
{
	g_autofree char *name = host_of(host);
	struct in6_addr unused;

	if (inet_pton(AF_INET, name, &unused) == 1 || inet_pton(AF_INET6, name, &unused) == 1 ||
	    !strcmp(name, "localhost"))
		return true;
	for (guint i = 0; i < names->len; i++)
		if (!strcmp(name, names->pdata[i]))
			return true;
	return false;
}
