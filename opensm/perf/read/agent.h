// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A performance agent (PMA): that of a switch tells of all its ports, that of a CA or router port
 * of this port. What to ask it next, and what its answers mean:
 *
 *	ClassPortInfo --> PortSamplesControl (for its Tick) --> counters of each port that is wanted
 *	                                                        and what follows from them
 *
 * The first two are asked once, until the agent has another LID or its device restarts.
 */
#ifndef PERF_AGENT_H
#define PERF_AGENT_H

#include "core/options.h"
#include "iba/iba.h"
#include "perf/read/account.h"

#define PERF_AT_ONCE 2 /* requests to one agent */

/* What an agent is asked. */
enum perf_question {
	PERF_ASK_NOTHING,
	PERF_ASK_CLASS_PORT_INFO,
	PERF_ASK_SAMPLES,
	PERF_ASK_NARROW, /* PortCounters */
	PERF_ASK_WIDE,	 /* PortCountersExtended */
	PERF_ASK_CLEAR,
	PERF_ASK_DETAILS, /* + enum perf_attribute */
	PERF_QUESTIONS = PERF_ASK_DETAILS + PERF_ATTRIBUTES
};

struct perf_step {
	enum perf_question question;
	uint32_t row;
	uint32_t counters; /* to be cleared */
	bool began_at_0;   /* PERF_ASK_DETAILS: as perf_account_details() takes it */
};

struct perf_agent {
	uint64_t guid; /* of the node */
	uint8_t port;  /* of a CA or router; 0: of a switch */
	/* In the present layout: */
	uint32_t first_row, n_rows;
	uint16_t lid; /* 0: it has none, and is not asked */
	/* Known of it: */
	bool knows_class, knows_tick;
	uint16_t capability;
	uint32_t capability2;
	uint32_t lacks; /* bits of enum perf_question: it does not have these */
	uint8_t tick;
	uint64_t life; /* fabric_node.life when it was last looked at */
	bool suspect;  /* it may have restarted since it was last read */
	struct {
		uint16_t lid; /* 0: it does not redirect */
		uint8_t sl;
		uint32_t qpn, qkey;
		uint16_t p_key, p_key_index;
	} redirect;
	unsigned int silent_for; /* sweeps without an answer */
	/* In this sweep: */
	uint32_t cursor; /* rows up to this have been looked at */
	GArray *steps;	 /* struct perf_step: what answers have led to, last first */
	unsigned int in_flight, lost, redirections;
	bool queued, answered, given_up, refused;
};

struct perf_agent *perf_agent_new(uint64_t guid, uint8_t port);
void perf_agent_free(struct perf_agent *agent);
void perf_agent_forget(struct perf_agent *agent); /* what is known of it: it may be another now */
void perf_agent_live(struct perf_agent *agent, uint64_t life); /* fabric_node.life of its node */

/* What a sweep is to do, and with what. */
struct perf_plan {
	struct perf_accounts *accounts;
	const struct options *options;
	bool query_cpi;
	uint64_t sweep; /* its number */
	uint64_t now_ns;
};

void perf_agent_begin(struct perf_agent *agent, const struct perf_plan *plan);
/* The next step, which is then in flight; PERF_ASK_NOTHING: none now. */
struct perf_step perf_agent_next(struct perf_agent *agent, const struct perf_plan *plan);
/* Method, attribute and data (of 192 octets, all zeros) of that step. */
void perf_agent_request(const struct perf_agent *agent, const struct perf_plan *plan,
			const struct perf_step *step, uint8_t *method, uint16_t *attribute,
			uint8_t *data);

/* An answer with status 0. */
void perf_agent_answer(struct perf_agent *agent, const struct perf_plan *plan,
		       const struct perf_step *step, const uint8_t *data);
/* An answer with another status, or to another question. */
void perf_agent_refusal(struct perf_agent *agent, const struct perf_plan *plan,
			const struct perf_step *step, uint16_t status);
void perf_agent_silence(struct perf_agent *agent, const struct perf_plan *plan,
			const struct perf_step *step);
/* The agent is elsewhere: asks there. False: it redirects again and again. */
bool perf_agent_moved(struct perf_agent *agent, const struct perf_step *step);
void perf_agent_end(struct perf_agent *agent, const struct perf_plan *plan);

#endif
