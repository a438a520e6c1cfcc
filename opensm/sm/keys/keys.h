// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* M_Keys: which one a request carries, and which one a port should have. */
#ifndef SM_KEYS_KEYS_H
#define SM_KEYS_KEYS_H

#include "sm/sm_private.h"

/* ---- keys.c ---- */
/* M_Keys of requests. */
void keys_init(struct sm *sm);
void keys_free(struct sm *sm);
/* A dry run: ports have the keys according to these options. */
void keys_go_on_from(struct sm *sm, const struct options *running);
void keys_use(struct sm_request *request);	   /* before it is sent */
/* Whether it is held here; then it is sent again with what keys_settle() returns. */
bool keys_wait(struct sm_request *request);
bool keys_silence(const struct sm *sm); /* ports answer only their own keys */
GPtrArray *keys_settle(const struct sm_request *request); /* request is over; NULL: nothing waits */
/* The sweep is over, or cancelled: drops requests held, and all keys may be tried again. */
void keys_forget(struct sm *sm, bool asides);
bool keys_try_another(struct sm_request *request); /* no answer came: it has another key now */
void keys_try_likeliest(struct sm_request *request); /* none is left: the likeliest, all tries */
/* No answer to that one either: its Set may have given the port the key that it has now. */
bool keys_try_given(struct sm_request *request);
bool keys_read_again(struct sm_request *request);  /* its answer hides the key: try another */
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
void keys_remember(struct sm *sm);		   /* queues changes for the files */
void keys_tell_unkept(struct sm *sm);		   /* logs failed writes, also of LIDs */

/* ---- key_trails.c ---- */
/* It is sent by its route now, and may give its port another key. */
void key_trails_note(const struct sm_request *request);

/* ---- key_unknown.c ---- */
/*
 * A Set was refused by a port that hides its key: it is excluded from now on. And whether the
 * device behind this port, or the one with this PortInfo, should be.
 */
bool keys_refused(const struct sm_request *request);
bool keys_leave_out(struct sm *sm, struct builder_port *port, uint64_t guid);
bool keys_still_unknown(struct sm *sm, struct builder_port *port, const struct iba_port_info *info);
bool keys_were_unknown(const struct sm *sm, uint64_t guid); /* no Set, until it is read */
char **keys_tell_unknown(const struct sm *sm); /* one line each; g_strfreev() it */
/* The endport hides its M_Key, and is not known to accept Sets of this SM anyway. */
bool keys_bar(const struct sm *sm, const struct builder_port *port);
/* Probes that endport by a Set that changes nothing; false: probed recently. */
bool keys_judge(struct sm *sm, struct builder_port *port);
unsigned int keys_count_left_out(const struct sm *sm); /* endports excluded because of M_Keys */

/* ---- lease.c ---- */
void lease_init(struct sm *sm);
void lease_rest(struct sm *sm);				       /* until a sweep has ended */
void lease_violated(struct sm *sm, struct builder_port *port); /* from a trap; NULL is fine */

#endif
