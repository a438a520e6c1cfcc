// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The actions of a scenario's daemon, as a text for people:
 *
 *	== host-5 is pulled
 *	1.204 ms, 9 packets, digest 5c1f06aa
 *	packets: Get(NodeInfo) Get(PortInfo)*7 Get(SwitchInfo) Set(SwitchInfo) sw-c:Trap(Notice)
 *	Set(SwitchInfo) port_state_change=1: sw-c
 *	counters: smp_sent+9 smp_received+9 traps_received+1 sweeps_partial+1
 *	published: subnet (3 switches, 6 other nodes, 10 links, LIDs to 11, minhop) 0c5e11d7
 *	log: 0x02 -> partial sweep: 0.4 ms, 0 errors
 *
 * That is the full form. The terse one (tale.h) leaves out the first line, digests, counters of
 * what the line of packets says, and how often unanswered requests were sent again: of
 * "Get(NodeInfo)*2+3" it has two requests, but not the three tries that followed. In its log "_"
 * stands for each TransactionID and duration.
 *
 * The time is that of the last packet since the event, in virtual time. Equal Sets at several
 * places are one line. For PortInfo and SwitchInfo the text has the fields that differ from the
 * present ones at that moment, for tables their contents. The digest is of all packets of the SM in
 * their order, with their times, routes, keys and contents, also of what the lines omit. What the
 * daemon publishes to its other parts (published.h) is shown where it has changed.
 */
#ifndef TESTS_TRANSCRIPT_H
#define TESTS_TRANSCRIPT_H

#include "scenario.h"
#include "tale.h"

struct transcript;

/* It sees everything on the wire: sim_set_trace(). */
struct transcript *transcript_new(struct scenario *s);
void transcript_free(struct transcript *t);

/* The daemon of the scenario starts, with new counters. */
void transcript_starts(struct transcript *t);
/* What follows is caused by this; until transcript_tell(), which ends it. */
void transcript_event(struct transcript *t, const char *what);
void transcript_tell(struct transcript *t);
/* Without the Sets and the log, of which there are only digests. */
void transcript_tell_digest(struct transcript *t);
void transcript_say(struct transcript *t, const char *text);
void transcript_detail(struct transcript *t, const char *text); /* a line of its own */
/* What the daemon has written to disk. */
void transcript_tell_files(struct transcript *t);
/* All such packets between the SM and that node are lost: "Get(NodeInfo)"; NULL: none. */
void transcript_lose(struct transcript *t, const char *packet, unsigned int node);
const char *transcript_text(const struct transcript *t, enum tale_form form);
/* In hex; equal octets at the end are one with "*". */
void transcript_octets(GString *out, const uint8_t *data, size_t length);

#endif
