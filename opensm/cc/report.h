// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How congestion control stands: published in context->cc at the end of each round. */
#ifndef CC_REPORT_H
#define CC_REPORT_H

#include "cc/agent.h"
#include "complib/handoff.h"

struct cc_row {
	uint64_t guid; /* of the port */
	uint64_t node_guid;
	uint16_t lid;
	uint8_t port; /* 0: a switch */
	bool is_switch;
	enum cc_state state;
	uint64_t since_us;  /* UNIX time */
	uint16_t attribute; /* of CC_REFUSED, CC_UNSUPPORTED and CC_SILENT */
	uint16_t status;
	bool cut;	   /* its table is too small */
	bool has_key;	   /* a CC_Key that this SM gave */
	bool has_other_key; /* one that this SM knows, and did not give */
	bool lacks_key;	   /* it does not know CongestionKeyInfo */
	uint16_t violations, key_lease;
	uint16_t capability, info;
	uint8_t table_cap;
	bool changed;	  /* what it had before is remembered */
	uint8_t n_has, n_wanted; /* pieces */
	uint8_t known;	  /* bits: that piece of has was read */
	GBytes *has, *wanted; /* NULL: not known, nothing */
	uint64_t log_events;
	uint8_t n_marked; /* ports of a switch that have marked packets */
};

/* An event of a CongestionLog. Of a switch: it marked a packet; of a CA: a flow was slowed down. */
struct cc_event {
	int64_t time_us; /* UNIX time, by the clock of the device */
	uint64_t guid;	 /* of the agent */
	uint16_t slid, dlid;
	uint8_t sl;
	bool is_switch;
	uint8_t service_type; /* of a CA: 0 RC, 1 UC, 2 RD, 3 UD */
	uint32_t local_qp, remote_qp;
};

struct cc_report {
	struct ref ref;
	bool on;
	enum cc_profile profile;
	enum cc_key_mode key_mode;
	struct cc_values values;
	uint64_t round;	 /* its number */
	uint64_t took_us, mads;
	int64_t ended_us; /* UNIX time */
	/*
	 * The last change of what options determine: the round that carried it out. runtime_now(),
	 * except for changed_us, UNIX time.
	 */
	uint64_t change_began_ns, changed_ns;
	int64_t changed_us;
	bool is_first; /* that was the first round of this process */
	uint32_t n[2][CC_STATES]; /* CA ports, switches */
	uint64_t log_events[2];	  /* of these, since the start; they do not fall when one leaves */
	uint64_t traps;	    /* 0: of wrong CC_Keys, since the start */
	uint16_t trap_from; /* LID that sent the last of these keys */
	GArray *events;	    /* struct cc_event, latest last */
	uint32_t n_rows;
	struct cc_row *rows; /* in the order of the fabric */
};

/* In one word: "locked". */
const char *cc_state_word(enum cc_state state);
/* CC_STATES: the word is unknown. */
enum cc_state cc_state_find(const char *word);

struct cc_report *cc_report_ref(struct cc_report *report);
void cc_report_unref(struct cc_report *report); /* NULL is fine */

#endif
