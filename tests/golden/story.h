// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A daemon on a small fabric where one event follows another; what it does about each
 * (tests/scenario/transcript.h) is compared with tests/golden/sweep_NAME.txt at the end, in the
 * terse form. GOLDEN_TELL=DIRECTORY writes the full one there.
 */
#ifndef TESTS_GOLDEN_STORY_H
#define TESTS_GOLDEN_STORY_H

#include "tests/scenario/scenario.h"

#define QUIET "sweep_interval 1000\n" /* sweeps happen only because events asked for them */

/* spec: a generator's, or the name of a file beside this one. One story at a time. */
struct scenario *story_begin(const char *name, const char *spec);
void story_end(void);
/* Begins a story on a scenario of the caller, which is not freed at the end. */
void story_on(const char *name, struct scenario *s);
void story_compare(void);
/* From now on the story is about this daemon. */
void story_watch(struct daemon *daemon, uint64_t port_guid);
char *story_topology(const char *name); /* the path of a file; newly allocated */

/* What follows is caused by this, until one of the next two calls or one of the events below. */
void story_event(const char *what);
void story_event_at(const char *happens, const char *where, unsigned int port);
void story_after_ms(unsigned int ms);
void story_tell(void);
void story_say(const char *text);
void story_detail(const char *text); /* left out of the file that is compared */
/*
 * Makes it a random story instead of a golden one: it is run twice, and the second run is compared
 * with the first, one digest of the full story per event.
 */
void story_briefly(void);
void story_tell_files(void); /* what the daemon has written to disk */

/* In the directory of the scenario, which DIRECTORY stands for in a configuration. */
void story_write(const char *name, const char *text);
char *story_conf(const char *conf); /* as it is written to the file; newly allocated */
void story_starts(const char *conf);
void story_up(const char *conf);       /* recorded as a digest only */
void story_restarts(const char *conf); /* ends the daemon first */
void story_rereads(const char *conf);
void story_sweeps(const char *what, enum sweep_reason reason);

unsigned int story_node(const char *name);
void story_link(const char *where, unsigned int port, bool up);
void story_power(const char *where, bool up);
void story_reboot(const char *where);
void story_restart_node(const char *where); /* in the middle of an event */
void story_move(const char *from, unsigned int port, const char *to, unsigned int to_port);
void story_swap(const char *a, unsigned int port_a, const char *b, unsigned int port_b);
void story_degrade(const char *where, unsigned int port, unsigned int lanes, unsigned int mbps);
void story_mute(const char *where, bool mute);
/* All such packets to this place are lost, until another packet is named, or none (NULL). */
void story_lose(const char *packet, const char *where);
/* Loses this packet during a heavy sweep, a change of cables and a start; then no packet. */
void story_lose_awhile(const char *packet, const char *where, const char *conf);
/* Its first port sends it to the SM. */
void story_trap(const char *from, uint16_t number, const struct wire_type *type,
		const void *details);

#endif
