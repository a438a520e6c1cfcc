// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* M_Keys: which one a request carries, and which one a port should have. */
#ifndef SM_KEYS_KEYS_H
#define SM_KEYS_KEYS_H

#include "sm/sm_private.h"

/* ---- keys.c ---- */
/* The M_Key of a request, and what is remembered of it until the request is over. */
struct key_attempt {
	uint64_t changes; /* key_ring_changes() of the queried port, when the key was chosen */
	uint32_t orphans_tried; /* number of keys of missing ports that were tried, */
	uint32_t orphans_first; /* beginning with this one */
	bool is_second;		/* it was sent before, with another key */
	bool gives_another;	/* it gives the port another key: other requests to it wait */
};

/* M_Keys of requests. */
void keys_init(struct sm *sm);
void keys_free(struct sm *sm);
/* A dry run: ports have the keys according to these options. */
void keys_go_on_from(struct sm *sm, const struct options *running);
void keys_use(struct sm_request *request);	   /* before it is sent */
/* Whether it is held here; then it is sent again with what keys_settle() returns. */
bool keys_wait(struct sm_request *request);
GPtrArray *keys_settle(const struct sm_request *request); /* request is over; NULL: nothing waits */
/*
 * The sweep is over, or cancelled, and all keys may be tried again. Returns the requests that were
 * held, for the caller to drop; outside_too: also those outside sweeps.
 */
GPtrArray *keys_forget(struct sm *sm, bool outside_too);
bool keys_try_another(struct sm_request *request); /* no answer came: it has another key now */
void keys_try_likeliest(struct sm_request *request); /* none is left: the likeliest, all tries */
/* No answer to that one either: its Set may have given the port the key that it has now. */
bool keys_try_given(struct sm_request *request);
bool keys_read_again(struct sm_request *request);  /* its answer hides the key: try another */
/* M_KeyProtectBits: all Gets are answered, but without the key. */
#define KEY_HIDES 1
/* The endport that the request goes to; NULL: unknown. */
struct builder_port *keys_sma(const struct sm_request *request);
/* GUID of the device last found at the other end of the port's cable; 0: none. */
uint64_t keys_neighbour(const struct sm *sm, const struct builder_port *port);
uint64_t keys_generation(const struct sm *sm);			/* of the keys of ports */
void keys_begin_generation(struct sm *sm, uint64_t generation); /* they should have that */
uint64_t keys_of_port(const struct sm *sm, const struct builder_port *port);
uint64_t keys_wanted(const struct sm *sm, const struct builder_port *port);
void keys_answered(const struct sm_request *request);
/* A cable between these two was found. */
void keys_joined(struct sm *sm, const struct builder_port *port, const struct builder_port *far);
/* The requester has shown a key that this SM holds, or its port has none; any thread. */
bool keys_shown(struct sm *sm, uint64_t m_key);
bool keys_protect(const struct sm *sm); /* its port has a key; any thread */
bool keys_are_used(const struct options *options);

/* ---- key_memory.c ---- */
/*
 * Call before a port gets a key of a newer generation. True: done(arg, good) will be called, if it
 * is not NULL and no later call replaces this one; false: nothing is stored.
 */
bool key_memory_save_generation(struct sm *sm, uint64_t generation,
				void (*done)(void *arg, bool good), void *arg);
void keys_remember(struct sm *sm); /* queues changes for the files */

#endif
