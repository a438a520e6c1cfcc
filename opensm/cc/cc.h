// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The congestion manager (IBA annex A10): an actor that gives switches and CAs their settings, and
 * their CC_Keys, by mad_ask(). It goes by the published subnet, and is in the way of neither sweeps
 * nor the SA. Settings stay in devices, so switching it off is work, too: agents get back what they
 * had before.
 */
#ifndef CC_CC_H
#define CC_CC_H

#include "core/context.h"

struct cc;
struct mad;

/* directory: for what is kept over a restart; NULL: nothing is. Before mad_start(). */
struct cc *cc_new(struct context *context, struct mad *mad, const char *directory);
void cc_start(struct cc *cc);
void cc_attach(struct cc *cc, GMainContext *loop); /* instead of cc_start() */
void cc_stop(struct cc *cc); /* before mad */
void cc_free(struct cc *cc); /* after mad, and after the pool for files; NULL is fine */

/* Any thread: all agents are asked again, also those that do not support it, or are waited for. */
void cc_ask_again(struct cc *cc);
/* Any thread: ports get new CC_Keys of their own now, with cc_key_mode per_port. */
void cc_new_keys(struct cc *cc);
/*
 * Any thread, once: calls done(arg) on owner when devices have been set as the subnet that is
 * published now wants it; at once if nothing is to be done.
 */
void cc_finish(struct cc *cc, struct actor *owner, void (*done)(void *arg), void *arg);

#endif
