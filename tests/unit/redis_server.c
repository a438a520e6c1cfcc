// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/redis_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/directory.h"
#include "tests/unit/ssa_bed.h"

#define PROGRAM "redis-server"
#define PATIENCE_MS 10000
#define ZEROS "#0000000000000000000000000000000000000000000000000000000000000000"
#define TRIES 5 /* another program may take the port first */

bool redis_server_installed(void)
{
	g_autofree char *path = g_find_program_in_path(PROGRAM);
	static bool told; /* in this process */

	if (!path && !told)
		fprintf(stderr, "skipped: stores in Redis: %s is not installed\n", PROGRAM);
	told = true;
	return path != NULL;
}

static struct sockaddr_in address_of(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

uint16_t redis_server_free_port(void)
{
	struct sockaddr_in address = address_of(0);
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	close(fd);
	return ntohs(address.sin_port);
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = address_of(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* In the new process. It does not outlive the test. */
static void run_server(const struct redis_server *server, const char *const *words)
{
	g_autofree char *port = g_strdup_printf("%u", server->port);
	g_autofree char *log = g_build_filename(server->directory, "log", NULL);
	const char *own[] = {"--port",
			     port,
			     "--bind",
			     "127.0.0.1",
			     "--dir",
			     server->directory,
			     "--save",
			     "",
			     "--appendonly",
			     "no",
			     "--repl-diskless-sync-delay",
			     "0",
			     "--logfile",
			     log};
	g_autoptr(GPtrArray) all = g_ptr_array_new();

	g_ptr_array_add(all, (gpointer)PROGRAM);
	if (words && *words && **words != '-')
		g_ptr_array_add(all, (gpointer)*words++);
	for (unsigned int i = 0; i < G_N_ELEMENTS(own); i++)
		g_ptr_array_add(all, (gpointer)own[i]);
	while (words && *words)
		g_ptr_array_add(all, (gpointer)*words++);
	g_ptr_array_add(all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(PROGRAM, (char **)all->pdata);
	_exit(127);
}

static bool is_ready(const struct redis_server *server)
{
	int fd = -1;

	for (int waited = 0; fd < 0 && waited < PATIENCE_MS; waited += 5) {
		if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
			return false;
		fd = connect_to(server->port);
		if (fd < 0)
			g_usleep(5000);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void redis_server_restart(struct redis_server *server, const char *const *words)
{
	server->pid = fork();
	ck_assert_int_ge(server->pid, 0);
	if (!server->pid)
		run_server(server, words);
	if (!is_ready(server))
		server->pid = 0;
}

struct redis_server *redis_server_start(uint16_t port, const char *const *words)
{
	struct redis_server *server = g_new0(struct redis_server, 1);

	server->directory = bed_directory();
	for (int tries = 0; !server->pid && tries < TRIES; tries++) {
		server->port = port ? port : redis_server_free_port();
		redis_server_restart(server, words);
	}
	ck_assert_msg(server->pid > 0, "no Redis server starts; see %s/log", server->directory);
	return server;
}

void redis_server_kill(struct redis_server *server)
{
	if (server->pid <= 0)
		return;
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	server->pid = 0;
}

void redis_server_free(struct redis_server *server)
{
	if (!server)
		return;
	redis_server_kill(server);
	directory_remove(server->directory);
	g_free(server->directory);
	g_free(server);
}

int redis_server_tell(uint16_t port, const char *lines)
{
	int fd = connect_to(port);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(send(fd, lines, strlen(lines), MSG_NOSIGNAL), (ssize_t)strlen(lines));
	return fd;
}

char *redis_server_ask(uint16_t port, const char *lines, unsigned int ms)
{
	int fd = redis_server_tell(port, lines);
	struct pollfd wait = {fd, POLLIN, 0};
	GString *answer = g_string_new(NULL);
	char octets[65536];
	ssize_t n = 1;

	while (n > 0 && poll(&wait, 1, (int)ms) > 0) {
		n = read(fd, octets, sizeof(octets));
		if (n > 0)
			g_string_append_len(answer, octets, n);
	}
	close(fd);
	return g_string_free(answer, FALSE);
}
