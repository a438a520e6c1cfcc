// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Redis servers for tests: each on a free port of the loopback, in a directory of its own. */
#ifndef TESTS_UNIT_REDIS_SERVER_H
#define TESTS_UNIT_REDIS_SERVER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct redis_server {
	pid_t pid; /* 0: it does not run */
	uint16_t port;
	char *directory;
};

/* Whether a server can be started; if not, says so once. */
bool redis_server_installed(void);
/* A port that nothing uses. */
uint16_t redis_server_free_port(void);
/*
 * Starts a server with these words of its configuration (NULL ends them, NULL: none) besides those
 * of the test, and waits until it accepts connections. If the first word does not begin with "-",
 * it is the file of its configuration. port 0: a free one.
 */
struct redis_server *redis_server_start(uint16_t port, const char *const *words);
/* Starts one that was killed, empty, on its old port. */
void redis_server_restart(struct redis_server *server, const char *const *words);
void redis_server_kill(struct redis_server *server);
/* Kills it and removes its directory; NULL is fine. */
void redis_server_free(struct redis_server *server);

/* Sends lines; the connection, from which nothing is read. */
int redis_server_tell(uint16_t port, const char *lines);
/* Sends lines, and returns what is answered within that time; free with g_free(). */
char *redis_server_ask(uint16_t port, const char *lines, unsigned int ms);

#endif
