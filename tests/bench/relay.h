// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A port of the loopback that stands for another one, until it is cut: then connections stay open,
 * and no octet comes through, as in a network that is broken.
 */
#ifndef TESTS_BENCH_RELAY_H
#define TESTS_BENCH_RELAY_H

#include <stdbool.h>
#include <stdint.h>

struct relay;

struct relay *relay_start(uint16_t to);
uint16_t relay_port(const struct relay *relay);
void relay_cut(struct relay *relay, bool cut);
void relay_stop(struct relay *relay);

#endif
