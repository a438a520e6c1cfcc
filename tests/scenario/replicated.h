// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMs that replicate, and clients that are registered with them: what the tests of both share. */
#ifndef TESTS_REPLICATED_H
#define TESTS_REPLICATED_H

#include "client.h"
#include "managers.h"

#define KEY "a key that all SMs of the subnet share\n"

extern struct managers *m;
extern struct client **clients;
extern unsigned int n_clients;

void begin(const char *spec, uint64_t seed);
void end(void);

/* opensm.conf with a key file of this content. */
const char *conf(const char *key, const char *more);
void up_with_standby(const char *conf1, const char *conf2);
/* sm1 and sm2 sit on host-1 and host-9, the clients on the others. */
void add_clients(unsigned int n);
/* Joins a group of that number, and creates it if there is none. Returns its MLID. */
uint16_t join(struct client *client, unsigned int number);

/* Nothing of what m->sets counts was sent yet. */
void zero_sets(void);
struct mc_groups *groups_of(unsigned int i); /* to be unreferenced */
void check_same_groups(const struct mc_groups *a, const struct mc_groups *b);
/* sm1 dies, or hands over; what sm2 then has is what sm1 had. Returns the milliseconds it took. */
uint64_t take_over(bool retire);

#endif
