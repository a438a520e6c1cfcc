// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which M_Key opens which port (IBA 14.2.4). Pure: no time, no SMPs. A port is named as its SMA is:
 * by the GUID of its node, and by its number where each port of a node has an SMA, else 0.
 */
#ifndef SM_KEY_RING_H
#define SM_KEY_RING_H

#include <stdbool.h>
#include <stdint.h>

/* Values that the option had before, tried where the one of today does not work. */
#define KEY_RING_PREVIOUS 4

struct key_ring;

struct key_ring *key_ring_new(uint64_t m_key);
void key_ring_free(struct key_ring *ring); /* NULL is fine */

/* The option m_key has this value now; what it was before is kept as a previous one. */
void key_ring_set(struct key_ring *ring, uint64_t m_key);

/* A new round, at the beginning of a sweep: what failed before may be tried again. */
void key_ring_again(struct key_ring *ring);

/*
 * The key to send: the one that worked last, else the option's, else a previous value of it; those
 * that failed in this round are passed over. If all did, it is the first of them.
 */
uint64_t key_ring_for(const struct key_ring *ring, uint64_t guid, uint8_t port);

/*
 * No answer came to a request with this key, all retries made. True: another one is left, so the
 * request is worth sending again with key_ring_for(). Of several requests that were out with the
 * same key each is told the same. It ends: each key is tried once a round.
 */
bool key_ring_failed(struct key_ring *ring, uint64_t guid, uint8_t port, uint64_t key);

/*
 * The port has this key: it answered a Set with it, took it by Set(PortInfo), or told it in
 * PortInfo. Older ones are not tried there any more.
 */
void key_ring_worked(struct key_ring *ring, uint64_t guid, uint8_t port, uint64_t key);

/*
 * The port may have this key, try it first: it answered a Get, for which below protection level 2
 * it needs none.
 */
void key_ring_likely(struct key_ring *ring, uint64_t guid, uint8_t port, uint64_t key);

/* How often what is known of its key has changed: an answer to a question of before is old. */
uint64_t key_ring_changes(const struct key_ring *ring, uint64_t guid, uint8_t port);

/* Forgets the ports of all nodes that is_there does not know: they are tried like new ones. */
void key_ring_keep(struct key_ring *ring, bool (*is_there)(void *arg, uint64_t guid), void *arg);

/* Ports of which something is known. */
unsigned int key_ring_size(const struct key_ring *ring);

#endif
