// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subnet administration (IBA chapter 15): answers the SA class of GMPs from the published subnet
 * and keeps the multicast groups.
 */
#ifndef SA_SA_H
#define SA_SA_H

#include "core/context.h"
#include "mad/mad.h"

struct sa;

/*
 * Registers with mad for class 0x03 and subscribes to events; call it before any actor starts. The
 * context must have its pool. Limits are those of sa_private.h.
 */
struct sa *sa_new(struct context *context, struct mad *mad);
void sa_start(struct sa *sa); /* on a thread of its own, where threads are used */
void sa_attach(struct sa *sa, GMainContext *loop); /* instead of sa_start: runs on that loop */
struct actor *sa_actor(const struct sa *sa);
void sa_stop(struct sa *sa);  /* queued requests are dropped */
/* Call it after mad has stopped and the pool was freed: queries in the pool answer through both. */
void sa_free(struct sa *sa);

#endif
