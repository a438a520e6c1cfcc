// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A congestion control agent: that of a switch, or that of one port of a CA. What to ask it next,
 * and what its answers mean:
 *
 *	CC_Key --> ClassPortInfo, CongestionInfo --> settings that it has --> settings wanted
 *
 * It is asked first and set afterwards; only pieces that differ are sent. Nothing here waits or
 * sends. What a device does not support, or refuses, is a state, which ends when it restarts, when
 * the operator says so, or after a pause that becomes longer.
 */
#ifndef CC_AGENT_H
#define CC_AGENT_H

#include "cc/values.h"
#include "policy/keys/key_ring.h"

#define CC_READ_MAX (1 + CC_BLOCKS_MAX) /* pieces */

enum cc_question {
	CC_ASK_NOTHING,
	CC_ASK_KEY,   /* Get(CongestionKeyInfo), which needs no key */
	CC_PROVOKE,   /* Get(CongestionInfo) with a key that may be wrong, so the lease begins */
	CC_GIVE_KEY,  /* Set(CongestionKeyInfo) */
	CC_ASK_CLASS, /* Get(ClassPortInfo) */
	CC_SET_TRAPS, /* Set(ClassPortInfo): traps go to this SM */
	CC_ASK_INFO,  /* Get(CongestionInfo) */
	CC_READ,      /* Get of a piece */
	CC_SET,	      /* Set of a piece */
	CC_ASK_LOG,   /* Get(CongestionLog): the answer goes to cc_take_log() */
};

struct cc_step {
	enum cc_question question;
	unsigned int piece;
	uint64_t key; /* of the MAD */
};

enum cc_state {
	CC_UNKNOWN,	/* not asked yet */
	CC_PENDING,	/* asked, and not set yet */
	CC_RIGHT,	/* has what is wanted */
	CC_UNSUPPORTED, /* does not have the class, or an attribute that is needed */
	CC_SILENT,
	CC_REFUSED,	/* answers with an error: refused_status */
	CC_FICKLE,	/* answers, but its settings do not become those that are sent */
	CC_LOCKED,	/* it has a CC_Key that this SM does not know */
	CC_STATES
};
const char *cc_state_text(enum cc_state state);

struct cc_agent {
	uint64_t guid; /* of its port; of a switch, of port 0 */
	/* By the present fabric: */
	uint32_t node, port; /* FABRIC_NONE: gone */
	bool is_switch;
	uint16_t lid;
	uint8_t lmc;
	uint64_t life; /* fabric_node.life */
	/* Known of the device: */
	bool knows_key, knows_class, knows_info, lacks_key;
	bool hides_key; /* none of the keys that this SM knows is its own, as far as it tells */
	uint64_t key;	/* that it has; 0: none */
	uint8_t key_protect;
	uint16_t key_lease, violations;
	uint16_t capability, info;
	uint8_t resp_time, table_cap;
	uint16_t trap_lid; /* to which it sends traps; 0: unknown */
	uint8_t n_read;	   /* pieces that it has */
	uint8_t turn;	   /* the piece that was checked last */
	uint8_t read;	   /* bits: that piece of has is what it has */
	uint8_t again;	   /* bits: that piece is to be sent even if it is as wanted */
	uint8_t sent;	   /* bits: it was sent, and is read back to see whether it is kept */
	GBytes *has;	   /* n_read pieces */
	/* What is wanted: */
	GBytes *wanted;	  /* NULL: nothing is to be changed */
	uint8_t n_wanted; /* pieces */
	bool cut;	  /* it has no room for the whole table */
	bool doubted;	  /* a piece was another one than it had answered to its Set */
	bool left_out;	  /* it does not keep what it is sent: it gets back what it had */
	/* From before the first Set; kept over restarts (memory.h): */
	GBytes *original; /* n_read pieces; NULL: it has never been changed */
	bool gave_key;	  /* it has, or may have, a key from this SM */
	bool saved;	  /* both are on the disk, if there is one */
	/* How it goes: */
	enum cc_state state;
	uint64_t since_ns;  /* in this state */
	uint16_t attribute; /* CC_REFUSED, CC_UNSUPPORTED: of this */
	uint16_t status;
	uint8_t failures;   /* of this round: a key that it tells does not make up for them */
	uint8_t unequal;    /* Sets after which a piece was another one */
	uint8_t pauses;	    /* in a row */
	bool paused;	    /* not asked before */
	uint64_t retry_ns;
	bool queued, in_flight;
	/* Its log: */
	bool wants_log, lacks_log;
	uint64_t log_events; /* that it has counted; of a switch: packets marked */
	uint64_t log_told;   /* of these, those in cc->log_events */
	uint8_t *marked;     /* PortMap of a switch: ports that marked; NULL: none */
};

/* What a round is to do. */
struct cc_plan {
	const struct options *options;
	bool on;		/* false: agents get back what they had */
	struct cc_values values;
	struct key_ring *keys;
	GHashTable *settings;	/* GBytes, each once */
	const struct fabric *fabric;
	bool may_set[2];	/* CAs; switches */
	bool keeps;		/* there is a disk: what is not saved is not set */
	uint16_t own_lid;	/* of the SM */
	struct iba_gid own_gid;
	uint64_t now_ns;
};

/* What it had, or that it may have a key, is to be known by later processes and other SMs. */
static inline bool cc_agent_is_remembered(const struct cc_agent *agent)
{
	return agent->original || agent->gave_key;
}

struct cc_agent *cc_agent_new(uint64_t guid);
void cc_agent_free(struct cc_agent *agent);
/* Where it is now; a device that may have restarted is asked again. */
void cc_agent_place(struct cc_agent *agent, const struct fabric *fabric, uint32_t port);
/* All that was asked may be another: its settings are as after a reset, or someone else's. */
void cc_agent_forget(struct cc_agent *agent);
/* What it had before the first Set, as another process has written it down. */
void cc_agent_remember(struct cc_agent *agent, GBytes *original);
/* One MAD shows whether it is still as it was: its key is asked again; or a piece, in turn. */
void cc_agent_check_key(struct cc_agent *agent);
void cc_agent_check_piece(struct cc_agent *agent);

/* Computes what it should have. */
void cc_agent_want(struct cc_agent *agent, const struct cc_plan *plan);
/* A round begins: errors of the last one do not count any more. */
void cc_agent_begin(struct cc_agent *agent, const struct cc_plan *plan);
/* The next step; CC_ASK_NOTHING: none now. */
struct cc_step cc_agent_next(const struct cc_agent *agent, const struct cc_plan *plan);
/* Whether something is left that a later round may do, as far as known now. */
bool cc_agent_is_done(const struct cc_agent *agent, const struct cc_plan *plan);

/* Method, attribute, modifier and data (192 octets, zeros) of a step. */
void cc_agent_request(const struct cc_agent *agent, const struct cc_plan *plan,
		      const struct cc_step *step, uint8_t *method, uint16_t *attribute,
		      uint32_t *modifier, uint8_t *data);
/* An answer with status 0, one with another status, none. */
void cc_agent_answer(struct cc_agent *agent, const struct cc_plan *plan, const struct cc_step *step,
		     const uint8_t *data);
void cc_agent_refusal(struct cc_agent *agent, const struct cc_plan *plan,
		      const struct cc_step *step, uint16_t status);
void cc_agent_silence(struct cc_agent *agent, const struct cc_plan *plan,
		      const struct cc_step *step);

#endif
