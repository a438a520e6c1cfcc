// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A connection to a Redis server, plain or by TLS: commands go out, replies come in, in order. GIO
 * moves the octets, hiredis only forms commands and reads replies.
 *
 * The server is not believed: a reply has at most RESP_REPLY_MAX octets and RESP_ARRAY_MAX elements
 * in an array, arrays are nested once at most, and all ends with the deadline, however slowly
 * octets come.
 */
#ifndef SSA_STORE_RESP_H
#define SSA_STORE_RESP_H

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

#include "ssa/wire/wire.h"

#define RESP_REPLY_MAX (SSA_CHUNK_MAX + 1024)
#define RESP_ARRAY_MAX 16

struct resp_link;

struct resp_server {
	char *host;
	uint16_t port;
	bool tls;
	GTlsDatabase *ca;	      /* NULL: that of the system */
	GTlsCertificate *certificate; /* NULL: none is shown */
};

enum resp_kind {
	RESP_NIL,
	RESP_TEXT,   /* a string of octets */
	RESP_STATUS, /* "OK" */
	RESP_ERROR,
	RESP_NUMBER,
	RESP_ARRAY,
};

struct resp_reply {
	enum resp_kind kind;
	int64_t number;
	char *text; /* with a NUL behind it */
	size_t length;
	unsigned int n;
	struct resp_reply *elements[RESP_ARRAY_MAX]; /* none is NULL */
};

/*
 * Connects by the deadline, a value of g_get_monotonic_time(), as do all functions here. Errors are
 * of GIO and TLS. cancel_fd (-1: none): when it is readable, each function on this link ends with
 * G_IO_ERROR_CANCELLED.
 */
struct resp_link *resp_connect(const struct resp_server *server, int cancel_fd, int64_t deadline_us,
			       GError **error);
void resp_close(struct resp_link *link); /* at once; NULL is fine */

/* Adds a command of n words to those that are to be sent; lengths may be NULL: strings. */
void resp_add(struct resp_link *link, unsigned int n, const char *const *words,
	      const size_t *lengths);
/* Sends all that was added. After false the link is of no use any more. */
bool resp_send(struct resp_link *link, int64_t deadline_us, GError **error);
/* The next reply; NULL: the link is of no use any more. */
struct resp_reply *resp_read(struct resp_link *link, int64_t deadline_us, GError **error);
void resp_reply_free(struct resp_reply *reply); /* NULL is fine */

/* Whether octets are there that resp_read() has not used. */
bool resp_has_more(const struct resp_link *link);
/* Waits for octets; false and no error: none came. */
bool resp_wait(struct resp_link *link, int64_t deadline_us, GError **error);

#endif
