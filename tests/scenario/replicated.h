// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMs that replicate, and clients that are registered with them: shared by two test programs. */
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
/* sm1 and sm2 run on host-1 and host-9, the clients on other hosts. */
void add_clients(unsigned int n);
/* Joins the group of that number, and creates it if there is none. Returns its MLID. */
uint16_t join(struct client *client, unsigned int number);

/* Zeroes the counts of m->sets. */
void zero_sets(void);
struct mc_groups *groups_of(unsigned int i); /* to be unreferenced */
void check_same_groups(const struct mc_groups *a, const struct mc_groups *b);
/* sm1 dies, or hands over; then sm2 must have what sm1 had. Returns the milliseconds it took. */
uint64_t take_over(bool retire);

#endif
