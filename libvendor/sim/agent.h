// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Agents: the receivers of MADs on a port. All calls on the sim's actor.
 *
 * An agent has a number, which replaces the high half of the TransactionID of MADs that it sends,
 * except responses, and filters, which say which unsolicited MADs it takes. A client of the
 * kernel's user MAD interface has one filter per agent; a vendor port is one agent with a filter
 * for each bound class.
 */
#ifndef SIM_AGENT_H
#define SIM_AGENT_H

#include "libvendor/rmpp.h"
#include "libvendor/sim/sim_private.h"

#define AGENT_ANY_VERSION 0xFF
#define AGENT_METHODS 128 /* without the R bit */

struct agent_filter {
	uint8_t qpn;	    /* 0 or 1 */
	uint8_t mgmt_class; /* 0: any of that QP, only responses */
	uint8_t class_version;
	uint8_t rmpp_version; /* 1: whole messages in classes with RMPP; 0: single MADs */
	uint32_t oui;	      /* of classes 0x30..0x4F */
	uint64_t methods[2];  /* bit n: unsolicited MADs of method n */
};

/*
 * Receives a MAD or, with another status, a returned request with at least its MAD header. Must
 * neither send nor free agents.
 */
typedef void agent_receive_fn(void *arg, enum vendor_status status,
			      const struct vendor_address *remote, const uint8_t *data,
			      size_t length);

struct agent {
	struct sim *sim;
	struct sim_port *port;
	uint32_t number;       /* in the high half of TransactionIDs */
	GArray *filters;       /* struct agent_filter */
	GHashTable *pending;   /* struct sim_pending by its key */
	GHashTable *transfers; /* struct transfer, by itself */
	agent_receive_fn *receive;
	void *arg;
};

struct agent_send {
	struct vendor_address to;
	unsigned int timeout_ms; /* 0: no response is expected */
	unsigned int retries;	 /* after the first timeout; for a message: after a missing ACK */
	uint8_t *data;		 /* its TransactionID may be changed */
	size_t length;
};

/* ---- agent.c ---- */
struct agent *agent_new(struct sim *sim, struct sim_port *port, agent_receive_fn *receive,
			void *arg);
void agent_free(struct agent *agent);
/*
 * 0; -EINVAL if ib_register_mad_agent() would refuse: a method that another agent of the port has,
 * an impossible class, version, OUI or QP, RMPP in a class without it.
 */
int agent_register(struct agent *agent, const struct agent_filter *filter);
/* The agent's registration for this class, or for any; NULL: none. */
const struct agent_filter *agent_filter(const struct agent *agent, uint8_t mgmt_class);
/*
 * 0; -EINVAL: nothing was sent, because the request's TransactionID is in use, or the MAD is
 * shorter than its header or too long for a single MAD.
 */
int agent_send(struct agent *agent, const struct agent_send *send);
/* Sets or clears IsSM of a port. */
void agent_set_is_sm(struct sim *sim, struct sim_port *port, bool on);

/* ---- between agent.c and port_rmpp.c ---- */

/* A request without a response yet. */
struct sim_pending {
	struct timer timer;
	uint64_t key;
	struct agent *agent;
	struct sim_pending *next; /* in the list of free ones */
	uint64_t serial;
	struct vendor_address to;
	unsigned int timeout_ms, retries;
	size_t length;	  /* of message */
	uint8_t *message; /* kept to be sent again in segments; NULL: data is all */
	uint8_t data[IBA_MAD_BYTES];
};

/* The agent's request that a MAD answers; NULL: none. */
struct sim_pending *agent_pending(const struct agent *agent, const uint8_t *mad);
void agent_pending_end(struct sim_pending *pending);
/* Starts the timeout for the response. */
void agent_pending_wait(struct sim_pending *pending);
void agent_hand_over(struct agent *agent, const struct vendor_address *remote, const uint8_t *data,
		     size_t length);
struct vendor_address agent_remote(const struct sim_packet *packet);
/* Makes a packet of one MAD, padded with zeros, and sends it. */
void agent_send_packet(struct agent *agent, const struct vendor_address *to, const uint8_t *data,
		       size_t length);

void agent_rmpp_init(struct agent *agent);
void agent_rmpp_clear(struct agent *agent);
/* Begins to send a message in segments; -EINVAL: an equal one is in progress. */
int agent_rmpp_send(struct agent *agent, const struct agent_send *send);
/* Handles a packet of an RMPP transfer. False if it belongs to none. */
bool agent_rmpp_packet(struct agent *agent, const struct sim_packet *packet);

#endif
