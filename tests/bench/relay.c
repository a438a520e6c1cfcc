// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/bench/relay.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER 65536
#define LOOK_MS 10 /* for a cut, or for the end */

/* Octets that one side has sent and the other has not taken yet. */
struct way {
	int from, to;
	size_t begin, end;
	char octets[BUFFER];
};

struct pair {
	struct way ways[2];
};

struct relay {
	pthread_t thread;
	int listener;
	uint16_t port, to;
	atomic_bool cut, stop;
	GPtrArray *pairs;
};

static struct sockaddr_in address_of(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void pair_free(void *data)
{
	struct pair *pair = data;

	close(pair->ways[0].from);
	close(pair->ways[0].to);
	g_free(pair);
}

static void take_connection(struct relay *relay)
{
	struct sockaddr_in address = address_of(relay->to);
	int near = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pair *pair;

	if (near < 0 || connect(far, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(near);
		close(far);
		return;
	}
	pair = g_new0(struct pair, 1);
	pair->ways[0].from = pair->ways[1].to = near;
	pair->ways[0].to = pair->ways[1].from = far;
	g_ptr_array_add(relay->pairs, pair);
}

/* False: the connection has ended. */
static bool move(struct way *way)
{
	ssize_t n;

	if (way->begin == way->end) {
		way->begin = way->end = 0;
		n = recv(way->from, way->octets, BUFFER, MSG_DONTWAIT);
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		way->end = (size_t)n;
	}
	n = send(way->to, way->octets + way->begin, way->end - way->begin,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	way->begin += (size_t)MAX(n, 0);
	return n >= 0 || errno == EAGAIN;
}

static void move_all(struct relay *relay)
{
	for (guint i = relay->pairs->len; i-- > 0;) {
		struct pair *pair = relay->pairs->pdata[i];

		if (!move(&pair->ways[0]) || !move(&pair->ways[1]))
			g_ptr_array_remove_index_fast(relay->pairs, i);
	}
}

static void add(GArray *polls, int fd, short events)
{
	struct pollfd poll = {fd, events, 0};

	g_array_append_val(polls, poll);
}

static void await(struct relay *relay)
{
	g_autoptr(GArray) polls = g_array_new(FALSE, FALSE, sizeof(struct pollfd));

	add(polls, relay->listener, POLLIN);
	for (guint i = 0; i < relay->pairs->len; i++) {
		const struct pair *pair = relay->pairs->pdata[i];

		for (unsigned int j = 0; j < 2; j++) {
			bool full = pair->ways[j].begin != pair->ways[j].end;

			add(polls, full ? pair->ways[j].to : pair->ways[j].from,
			    full ? POLLOUT : POLLIN);
		}
	}
	if (poll((struct pollfd *)(void *)polls->data, polls->len, LOOK_MS) > 0 &&
	    g_array_index(polls, struct pollfd, 0).revents)
		take_connection(relay);
}

static void *run(void *arg)
{
	struct relay *relay = arg;

	while (!atomic_load(&relay->stop)) {
		if (atomic_load(&relay->cut)) {
			g_usleep(LOOK_MS * 1000);
			continue;
		}
		await(relay);
		move_all(relay);
	}
	return NULL;
}

struct relay *relay_start(uint16_t to)
{
	struct relay *relay = g_new0(struct relay, 1);
	struct sockaddr_in address = address_of(0);
	socklen_t length = sizeof(address);

	relay->to = to;
	relay->pairs = g_ptr_array_new_with_free_func(pair_free);
	relay->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(relay->listener, 0);
	ck_assert_int_eq(bind(relay->listener, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(relay->listener, SOMAXCONN), 0);
	ck_assert_int_eq(getsockname(relay->listener, (struct sockaddr *)&address, &length), 0);
	relay->port = ntohs(address.sin_port);
	ck_assert_int_eq(pthread_create(&relay->thread, NULL, run, relay), 0);
	return relay;
}

uint16_t relay_port(const struct relay *relay)
{
	return relay->port;
}

void relay_cut(struct relay *relay, bool cut)
{
	atomic_store(&relay->cut, cut);
}

void relay_stop(struct relay *relay)
{
	atomic_store(&relay->stop, true);
	pthread_join(relay->thread, NULL);
	close(relay->listener);
	g_ptr_array_unref(relay->pairs);
	g_free(relay);
}
