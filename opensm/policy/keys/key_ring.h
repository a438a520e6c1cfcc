// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which M_Key opens which port (IBA 14.2.4): for each port its current key, as far as known, and
 * the one before. Pure: no time, no SMPs.
 */
#ifndef POLICY_KEYS_KEY_RING_H
#define POLICY_KEYS_KEY_RING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Earlier rules, tried where the current one does not work. */
#define KEY_RING_PREVIOUS 4
/* Generations of per-port keys beyond the own one that another SM may have reached. */
#define KEY_RING_AHEAD 3

/* The options about the keys of all ports. */
struct key_rule {
	uint64_t m_key;	     /* of all ports; with a seed only of unidentified ones */
	GBytes *seed;	     /* NULL: ports do not have their own keys */
	uint64_t generation; /* of the keys derived from the seed */
};

/* The owner of a key: an endport, or the unknown device behind a port. */
struct key_port {
	uint64_t guid;	 /* of the endport; 0: unknown */
	uint16_t behind; /* 0: the endport itself, else number + 1 of the port before it */
};

/*
 * The key of a port: the first 64 bits that are not 0 of HMAC-SHA256 over its GUID and the
 * generation, 8 octets each, most significant first.
 */
uint64_t key_derive(GBytes *seed, uint64_t guid, uint64_t generation);

struct key_ring;

struct key_ring *key_ring_new(const struct key_rule *rule);
void key_ring_free(struct key_ring *ring); /* NULL is fine */

/* This rule applies now; the one before is kept as a previous one. */
void key_ring_set(struct key_ring *ring, const struct key_rule *rule);
/* Whether generations ahead of the rule are also tried, last of all. */
void key_ring_look_ahead(struct key_ring *ring, bool on);
/* The newest generation that was found on a port, or that of the rule. */
uint64_t key_ring_generation(const struct key_ring *ring);

/* The key that a port should have. */
uint64_t key_ring_wanted(struct key_ring *ring, struct key_port port);

/* Starts a new round, at the beginning of a sweep: keys that failed may be tried again. */
void key_ring_again(struct key_ring *ring);

/*
 * The key to send: the one that worked last, else the one before, the rule's, those of previous
 * rules, skipping those that failed in this round. If all did, it is the first of them.
 */
uint64_t key_ring_for(const struct key_ring *ring, struct key_port port);

/*
 * key_ring_for() for a request that was not sent yet: proven keys are not skipped, since both of
 * two failed tries may have been lost.
 */
uint64_t key_ring_first(const struct key_ring *ring, struct key_port port);

/*
 * No answer came to a request with this key, after all retries. True: another key is left, so the
 * request is worth sending again with key_ring_for(). Several requests in flight with the same key
 * get the same result. This ends: each key is tried once a round.
 */
bool key_ring_failed(struct key_ring *ring, struct key_port port, uint64_t key);

/*
 * A Set with this key was answered: the port has it, or none at all. Older ones are not tried there
 * any more.
 */
void key_ring_worked(struct key_ring *ring, struct key_port port, uint64_t key);

/*
 * The port has this key, as PortInfo shows; if its generation is ahead, another SM of the subnet,
 * with the same seed, has moved on to it.
 */
void key_ring_told(struct key_ring *ring, struct key_port port, uint64_t key);

/* It has another key, whatever was proven: another device may have answered the Set. */
void key_ring_doubt(struct key_ring *ring, struct key_port port);

/*
 * The port may have this key, try it first: it answered a Get, which below protection level 2 does
 * not need one.
 */
void key_ring_likely(struct key_ring *ring, struct key_port port, uint64_t key);

/* How often the knowledge of its key has changed: answers to earlier requests are outdated. */
uint64_t key_ring_changes(const struct key_ring *ring, struct key_port port);

/* Drops all ports that is_there does not know: they are treated like new ones. */
void key_ring_keep(struct key_ring *ring, bool (*is_there)(void *arg, uint64_t guid), void *arg);

/* The known endports: the current key of each, 0 if none, and the previous one. */
void key_ring_each(const struct key_ring *ring,
		   void (*each)(void *arg, uint64_t guid, uint64_t key), void *arg);

/* Number of known ports. */
unsigned int key_ring_size(const struct key_ring *ring);

/* ---- the file guid2mkey: a line "0xGUID 0xMKEY" per port ---- */

/* A state_line_fn; arg is the ring. A remembered key is a likely one. */
const char *key_ring_take_line(void *arg, const char *line);
/* The contents of the file; g_free() it. */
char *key_ring_format(const struct key_ring *ring);
/* Incremented whenever that changes. */
uint64_t key_ring_edition(const struct key_ring *ring);

#endif
