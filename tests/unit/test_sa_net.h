// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A subnet manager with its SA and a client, on the two ends of a simulated fabric. */
#ifndef TESTS_UNIT_TEST_SA_NET_H
#define TESTS_UNIT_TEST_SA_NET_H

#include "core/traps.h"
#include "mad/mad.h"
#include "policy/partition/groups.h"
#include "sa/sa.h"
#include "sa/sa_private.h"
#include "sm/health/unhealthy.h"
#include "sm/sm.h"
#include "subnet/inventory.h"
#include "vendor/sim.h"

struct net {
	struct runtime *rt;
	struct log *log;
	struct sim *sim;
	struct context context;
	struct vendor *sm_port, *client_port;
	struct mad *mad;
	struct sm *sm;
	struct sa *sa;
	struct actor *client;
	void (*question)(struct net *net, unsigned int number); /* of net_pump */
	unsigned int goal;
	atomic_uint n_done, n_lost; /* of net_pump */
	uint64_t client_guid;
	struct vendor_mad *answer; /* the last one */
	unsigned int n_answers, n_asked;
	uint16_t sm_lid; /* set by net_wait_up */
	unsigned int timeout_ms; /* of the client; 0: enough for a busy machine */
	GMainContext *sa_loop;	 /* that runs the SA, in real time; NULL: it has a thread */
};

void net_start(struct net *net, enum runtime_mode mode, const char *spec);
void net_run_daemon(struct net *net);
void net_stop(struct net *net);

/* Waits for the first published subnet, in virtual or real time. False after a minute of it. */
bool net_wait_up(struct net *net);

/* Sends a request from the client; on its actor, or in virtual time. */
void net_ask(struct net *net, uint8_t method, uint16_t attribute, uint64_t mask,
	     const struct wire_type *type, const void *record);

/*
 * Real time only: makes the client send count questions with at most some outstanding. False if not
 * all have been answered or lost after a minute.
 */
bool net_pump(struct net *net, unsigned int count, unsigned int outstanding,
	      void (*question)(struct net *net, unsigned int number));

/* One PathRecord between the client and the SM's port. */
void net_ask_path(struct net *net);

#endif
