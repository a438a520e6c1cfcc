// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/process/tcp_owner.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRESS_SIZE 48

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* As "0100007F:2710": address words in memory order, port as a plain hex number. */
static void write_address(const union address *address, char text[ADDRESS_SIZE])
{
	bool v6 = address->any.sa_family == AF_INET6;
	const void *octets =
		v6 ? (const void *)&address->v6.sin6_addr : (const void *)&address->v4.sin_addr;
	uint32_t words[4];

	memcpy(words, octets, v6 ? 16 : 4);
	for (unsigned int i = 0; i < (v6 ? 4 : 1); i++)
		sprintf(text + 8 * i, "%08X", words[i]);
	sprintf(text + strlen(text), ":%04X",
		ntohs(v6 ? address->v6.sin6_port : address->v4.sin_port));
}

bool tcp_owner_in(const char *table, const char *local, const char *remote, uid_t *uid)
{
	FILE *file = fopen(table, "re");
	char line[512], a[ADDRESS_SIZE], b[ADDRESS_SIZE];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned long inode;

		found = sscanf(line, "%*s %47s %47s %*s %*s %*s %*s %u %*s %lu", a, b, uid,
			       &inode) == 4 &&
			inode && !strcmp(a, local) && !strcmp(b, remote);
	}
	if (file)
		fclose(file);
	return found;
}

bool tcp_owner(GSocket *connection, uid_t *uid)
{
	union address own = {0}, peer = {0};
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
	char local[ADDRESS_SIZE], remote[ADDRESS_SIZE];
	const char *table;
	uid_t again;

	if (getsockname(g_socket_get_fd(connection), &own.any, &own_size) < 0 ||
	    getpeername(g_socket_get_fd(connection), &peer.any, &peer_size) < 0 ||
	    own.any.sa_family != peer.any.sa_family ||
	    (own.any.sa_family != AF_INET && own.any.sa_family != AF_INET6))
		return false;
	table = own.any.sa_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp";
	write_address(&peer, local);
	write_address(&own, remote);
	/* The kernel reads user and inode separately: the socket may be closed in between. */
	return tcp_owner_in(table, local, remote, uid) &&
	       tcp_owner_in(table, local, remote, &again) && again == *uid;
}
