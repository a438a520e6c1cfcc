// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * mad/ over a port that is a list: tests look at what was sent, and make up what comes back, in
 * virtual time.
 */
#ifndef TESTS_MAD_PORT_H
#define TESTS_MAD_PORT_H

#include "core/options.h"
#include "mad/mad.h"
#include "vendor/vendor_private.h"

#define TIMEOUT_MS 200

struct sent {
	struct vendor_address to;
	uint64_t when;
	unsigned int timeout_ms;
	uint8_t data[IBA_MAD_BYTES];
};

struct port {
	struct vendor base;
	struct vendor_client clients[256];
	GArray *sent;	   /* struct sent */
	unsigned int busy; /* sends refused from now on */
};

struct tracked {
	struct mad_request mad;
	unsigned int number;
	GArray *order; /* numbers, in the order in which they were done */
};

extern struct runtime *rt;
extern struct context context;
extern struct port port;
extern struct options *options;
extern struct mad *mad;
extern struct actor *owner;
extern unsigned int done_ok, done_status, done_timeout, done_cancelled;
extern unsigned int never_sent; /* of requests that were not answered */
extern unsigned int done_dead;	/* found dead through another request */
extern unsigned int done_fell_back;

#define count(name) counter_get(&context.counters, name)

/* Sets up everything except mad, which start() makes: options may be changed before. */
void setup(void);
void start(void);
void teardown(void);

/* A Get to the SMA of a target by directed route; its end is counted in one of the above. */
struct tracked *make(uint64_t target, uint8_t hops);
void send_one(uint64_t target, uint8_t hops);

/* Lets time pass. */
void run_ms(uint64_t ms);

/* Nothing may be on its way, waiting or left over from earlier. */
void expect_nothing_left(void);

const struct sent *sent_at(unsigned int i);
uint32_t tid_of(const struct sent *sent); /* its low half */

/* The answer to what was sent; with one octet changed. */
void answer(const struct sent *sent);
void answer_from(const struct sent *sent, uint16_t lid, unsigned int at, uint8_t value);
void answer_changed(const struct sent *sent, unsigned int at, uint8_t value);
/* What was sent comes back with that status. */
void report(const struct sent *sent, enum vendor_status status);
void deliver(struct vendor_mad *received);

#endif
