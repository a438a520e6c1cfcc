// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which M_Key opens which port (IBA 14.2.4): of each port the one that it has, as far as is known,
 * and the one before. Pure: no time, no SMPs.
 */
#ifndef SM_KEYS_KEY_RING_H
#define SM_KEYS_KEY_RING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Rules that were in force before, tried where the one of today does not work. */
#define KEY_RING_PREVIOUS 4
/* Generations of per-port keys beyond the own that another SM may have gone on to. */
#define KEY_RING_AHEAD 3

/* What the options say of the keys of all ports. */
struct key_rule {
	uint64_t m_key;	     /* of all ports; with a seed only of those that are not identified */
	GBytes *seed;	     /* NULL: ports have no keys of their own */
	uint64_t generation; /* of the keys that are made of the seed */
};

/* Whose key: an endport, or whoever is behind a port, if nobody knows who that is. */
struct key_port {
	uint64_t guid;	 /* of the endport; 0: nothing is known */
	uint16_t behind; /* 0: it is the endport itself, else number + 1 of the port before it */
};

/*
 * The key of a port: the first 64 bits of HMAC-SHA256 over its GUID and the generation, of 8 octets
 * each, most significant first, that are not 0.
 */
uint64_t key_derive(GBytes *seed, uint64_t guid, uint64_t generation);

struct key_ring;

struct key_ring *key_ring_new(const struct key_rule *rule);
void key_ring_free(struct key_ring *ring); /* NULL is fine */

/* This rule is in force now; the one before is kept as a previous one. */
void key_ring_set(struct key_ring *ring, const struct key_rule *rule);
/* Whether generations ahead of the rule are tried, last of all. */
void key_ring_look_ahead(struct key_ring *ring, bool on);
/* The newest generation that a port was found to have, or that of the rule. */
uint64_t key_ring_generation(const struct key_ring *ring);

/* The key that a port should have. */
uint64_t key_ring_wanted(struct key_ring *ring, struct key_port port);

/* A new round, at the beginning of a sweep: what failed before may be tried again. */
void key_ring_again(struct key_ring *ring);

/*
 * The key to send: the one that worked last, else the one before, the rule's, those of previous
 * rules; those that failed in this round are passed over. If all did, it is the first of them.
 */
uint64_t key_ring_for(const struct key_ring *ring, struct key_port port);

/*
 * The same for a request that was not sent yet: what is proven is not passed over, since of two
 * tries that failed both may have been lost.
 */
uint64_t key_ring_first(const struct key_ring *ring, struct key_port port);

/*
 * No answer came to a request with this key, all retries made. True: another one is left, so the
 * request is worth sending again with key_ring_for(). Of several requests that were out with the
 * same key each is told the same. It ends: each key is tried once a round.
 */
bool key_ring_failed(struct key_ring *ring, struct key_port port, uint64_t key);

/*
 * A Set with this key was answered: the port has it, or none at all. Older ones are not tried there
 * any more.
 */
void key_ring_worked(struct key_ring *ring, struct key_port port, uint64_t key);

/*
 * The same, and the port has this key, as it told in PortInfo; if that is one of a generation ahead
 * another SM of the subnet, with the same seed, has gone on to it.
 */
void key_ring_told(struct key_ring *ring, struct key_port port, uint64_t key);

/* It has another one, whatever was proven: the Set may have been answered by another device. */
void key_ring_doubt(struct key_ring *ring, struct key_port port);

/*
 * The port may have this key, try it first: it answered a Get, for which below protection level 2
 * it needs none.
 */
void key_ring_likely(struct key_ring *ring, struct key_port port, uint64_t key);

/*
 * The port may have got the key that was meant for the other one. It is tried last of all. False:
 * that was known.
 */
bool key_ring_astray(struct key_ring *ring, struct key_port port, struct key_port other);

/* How often what is known of its key has changed: an answer to a question of before is old. */
uint64_t key_ring_changes(const struct key_ring *ring, struct key_port port);

/* Forgets all that is known of ports that is_there does not know: they are tried like new ones. */
void key_ring_keep(struct key_ring *ring, bool (*is_there)(void *arg, uint64_t guid), void *arg);

/* Endports of which something is known: the key that each has, 0 if none, and that of before. */
void key_ring_each(const struct key_ring *ring,
		   void (*each)(void *arg, uint64_t guid, uint64_t key), void *arg);

/* Ports of which something is known. */
unsigned int key_ring_size(const struct key_ring *ring);

/* ---- the file guid2mkey: "0xGUID 0xMKEY" a port ---- */

/* A state_line_fn; arg is the ring. A key that is remembered is a likely one. */
const char *key_ring_take_line(void *arg, const char *line);
/* What the file would hold, to be freed with g_free. */
char *key_ring_format(const struct key_ring *ring);
/* Counts up whenever that is something else. */
uint64_t key_ring_edition(const struct key_ring *ring);

#endif
