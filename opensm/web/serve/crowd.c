// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* POLLRDHUP */
#include "web/serve/crowd.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define LEAVE_US (2 * G_USEC_PER_SEC) /* a client may end its side and still want its answer */
#define LARGE (1u << 20)	      /* octets of an answer */
#define RATE (64u << 10)	      /* octets a second that its client takes at least */
#define RATE_S 10		      /* after this many seconds */

struct member {
	char *address;
	char **names;
	int socket;
	enum member_state state;
	gint64 since_us; /* of the state */
	uint64_t taken;	 /* octets on the socket before a large answer */
	bool large;	 /* the answer */
	bool leaves;	 /* was shut down or gives way, and counts no longer */
};

struct crowd {
	uint32_t max, max_per_address;
	GPtrArray *members;
};

/* A client that needs longer than this to send a request, or to take its answer, is shut down. */
static const unsigned int patience_s[MEMBER_STATES] = {
	[MEMBER_IS_NEW] = 15, [MEMBER_IS_IDLE] = 60,  [MEMBER_SENDS] = 60,
	[MEMBER_WAITS] = 0,   [MEMBER_IS_SENT] = 600,
};

struct crowd *crowd_new(uint32_t max, uint32_t max_per_address)
{
	struct crowd *crowd = g_new0(struct crowd, 1);

	crowd->max = max;
	crowd->max_per_address = max_per_address;
	crowd->members = g_ptr_array_new();
	return crowd;
}

void crowd_free(struct crowd *crowd)
{
	if (!crowd)
		return;
	g_ptr_array_unref(crowd->members);
	g_free(crowd);
}

unsigned int crowd_size(const struct crowd *crowd)
{
	unsigned int n = 0;

	for (guint i = 0; i < crowd->members->len; i++)
		n += !((const struct member *)crowd->members->pdata[i])->leaves;
	return n;
}

/* Its server sees the end of the connection, as if the client had closed it. */
static void shut_down(struct member *member)
{
	member->leaves = true;
	shutdown(member->socket, SHUT_RDWR);
}

static bool may_be_shut(const struct member *member)
{
	return member->state <= MEMBER_SENDS && !member->leaves;
}

/* One of this address, or of any if it is NULL, that has been in its state for longest. */
static struct member *slowest(const struct crowd *crowd, const char *address)
{
	struct member *found = NULL;

	for (guint i = 0; i < crowd->members->len; i++) {
		struct member *member = crowd->members->pdata[i];

		if (may_be_shut(member) && (!address || !strcmp(member->address, address)) &&
		    (!found || member->since_us < found->since_us))
			found = member;
	}
	return found;
}

static unsigned int count(const struct crowd *crowd, const char *address)
{
	unsigned int n = 0;

	for (guint i = 0; i < crowd->members->len; i++) {
		const struct member *member = crowd->members->pdata[i];

		n += !member->leaves && !strcmp(member->address, address);
	}
	return n;
}

bool crowd_is_full_of(const struct crowd *crowd, const char *address)
{
	return count(crowd, address) >= crowd->max_per_address;
}

bool crowd_makes_room(struct crowd *crowd, const char *address)
{
	bool many = crowd_is_full_of(crowd, address);
	struct member *slow;

	if (!many && crowd_size(crowd) < crowd->max)
		return true;
	slow = slowest(crowd, many ? address : NULL);
	if (slow)
		shut_down(slow);
	return slow != NULL;
}

/* Octets that its client has confirmed so far; UINT64_MAX: not known, as on a Unix socket. */
static uint64_t octets_taken(const struct member *member)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	if (getsockopt(member->socket, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
	    size < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked))
		return UINT64_MAX;
	return info.tcpi_bytes_acked;
}

/* More could not be sent now: it is the client that is slow, not this host. */
static bool is_full(const struct member *member)
{
	struct pollfd about = {.fd = member->socket, .events = POLLOUT};

	return poll(&about, 1, 0) == 0;
}

static bool trickles(const struct member *member, gint64 lasts_us)
{
	uint64_t seconds = (uint64_t)MAX(lasts_us, 0) / G_USEC_PER_SEC;

	return member->state == MEMBER_IS_SENT && member->large && seconds >= RATE_S &&
	       is_full(member) && octets_taken(member) - member->taken < seconds * RATE;
}

static bool is_late(const struct member *member, gint64 now_us)
{
	gint64 lasts_us = now_us - member->since_us;
	gint64 patience_us = (gint64)patience_s[member->state] * G_USEC_PER_SEC;

	return (patience_us && lasts_us > patience_us) || trickles(member, lasts_us);
}

void crowd_look(struct crowd *crowd, gint64 now_us)
{
	for (guint i = 0; i < crowd->members->len; i++) {
		struct member *member = crowd->members->pdata[i];

		if (is_late(member, now_us))
			shut_down(member);
	}
}

struct member *crowd_enter(struct crowd *crowd, const char *address, int socket)
{
	struct member *member = g_new0(struct member, 1);

	member->address = g_strdup(address);
	member->socket = socket;
	member->since_us = g_get_monotonic_time();
	g_ptr_array_add(crowd->members, member);
	return member;
}

void crowd_leave(struct crowd *crowd, struct member *member)
{
	if (!member)
		return;
	g_ptr_array_remove_fast(crowd->members, member);
	g_strfreev(member->names);
	g_free(member->address);
	g_free(member);
}

void member_set_state(struct member *member, enum member_state state)
{
	member->state = state;
	member->since_us = g_get_monotonic_time();
}

void member_set_answer(struct member *member, uint64_t octets)
{
	member_set_state(member, MEMBER_IS_SENT);
	member->taken = octets_taken(member);
	member->large = octets > LARGE && member->taken != UINT64_MAX;
}

bool member_has_left(const struct member *member, gint64 now_us)
{
	struct pollfd about = {.fd = member->socket, .events = POLLRDHUP};

	return now_us - member->since_us > LEAVE_US && poll(&about, 1, 0) == 1 &&
	       about.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

void member_give_way(struct member *member)
{
	member->leaves = true;
}

bool member_gives_way(const struct member *member)
{
	return member->leaves;
}

gint64 member_since_us(const struct member *member)
{
	return member->since_us;
}

const char *member_address(const struct member *member)
{
	return member->address;
}

const char *const *member_names(const struct member *member)
{
	return (const char *const *)member->names;
}

void member_set_names(struct member *member, char **names)
{
	g_strfreev(member->names);
	member->names = names ? names : g_new0(char *, 1);
}
