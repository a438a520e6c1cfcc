// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of cc/. All of it belongs to the actor "cc". */
#ifndef CC_CC_PRIVATE_H
#define CC_CC_PRIVATE_H

#include "cc/agent.h"
#include "cc/cc.h"
#include "cc/report.h"
#include "complib/bucket.h"
#include "mad/ask.h"
#include "subnet/subnet.h"

/*
 * A round asks all agents what it does not know of them, saves what they had, and changes what
 * differs: first the senders, then the switches, which begin to mark when all senders know what to
 * do; the other way round when it is switched off.
 */
enum cc_pass { CC_PASS_ASK, CC_PASS_SAVE, CC_PASS_FIRST, CC_PASS_BOTH, CC_PASSES };

struct cc_round {
	bool runs, wanted; /* wanted: another one follows */
	uint64_t number;
	enum cc_pass pass;
	struct subnet *subnet;
	struct options *options;
	GQueue ready; /* struct cc_agent */
	unsigned int in_flight, in_flight_max;
	uint64_t began_ns, mads;
};

struct cc {
	struct context *context;
	struct mad *mad;
	struct actor *actor;
	struct options *options; /* as last seen */
	GHashTable *agents;	 /* struct cc_agent by GUID of its port */
	GPtrArray *order; /* all agents in the order of the fabric, then those that are gone */
	struct cc_plan plan;
	struct cc_round round;
	struct timer check;  /* agents are to be looked at again */
	uint64_t audited_ns; /* when pieces were last read again */
	struct timer retry;  /* a pause of some agent ends */
	struct timer rotate; /* new CC_Keys */
	uint64_t generation; /* of per-port keys */
	bool warned;	     /* about these options */
	struct cc_finish *finish; /* NULL: no one waits for the end of a round */
	uint64_t told;	     /* digest of the last line about how it goes */
	uint64_t log_events[2]; /* of CAs and switches, also those that are gone: report.c */

	/* watch.c */
	struct timer poll;
	GArray *events; /* struct cc_event */
	uint64_t traps;
	uint16_t trap_from;
	struct bucket trap_lines; /* of the log */
	struct bucket trap_turns; /* all others are only repressed */

	/* memory.c */
	char *file; /* NULL: nothing is kept */
	struct state_writer *writer;
	bool changed;	  /* since it was last written */
	bool save_failed; /* the last time */
};

/* ---- round.c ---- */
void cc_round_want(struct cc *cc); /* one begins now, or after the one that runs */
void cc_round_cancel(struct cc *cc);
void cc_round_saved(struct cc *cc, bool good);

/* ---- memory.c ---- */
void cc_memory_init(struct cc *cc, const char *directory);
void cc_memory_clear(struct cc *cc);
/* Writes what has changed; true: cc_round_saved() will be called. */
bool cc_memory_save(struct cc *cc);
/* The contents of the file; NULL: nothing is to be remembered. g_free() it. */
char *cc_memory_text(const struct cc *cc);
/* What another SM has done: of ports that are unknown here, and later generations. */
void cc_memory_adopt(struct cc *cc, const char *text);

/* ---- watch.c ---- */
void cc_watch_init(struct cc *cc); /* before mad_start() */
void cc_watch_options(struct cc *cc);
void cc_watch_clear(struct cc *cc);
/* data: of a CongestionLog. */
void cc_take_log(struct cc *cc, struct cc_agent *agent, const uint8_t *data);

/* ---- report.c ---- */
void cc_publish(struct cc *cc);

/* ---- cc.c ---- */
void cc_round_ended(struct cc *cc); /* and none follows */
struct cc_agent *cc_agent_of(struct cc *cc, uint64_t guid); /* made if it is new */
/* Another SM with this seed has gone on to later keys, which ports have shown. */
void cc_follow_generation(struct cc *cc);

#endif
