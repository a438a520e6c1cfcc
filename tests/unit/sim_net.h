// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A simulated fabric in virtual time with one client, driven by hand-made MADs. */
#ifndef TESTS_SIM_NET_H
#define TESTS_SIM_NET_H

#include "vendor/sim.h"

struct net {
	struct runtime *rt;
	struct log *log;
	struct topology *topology;
	struct sim *sim;
	struct actor *actor;
	struct vendor *vendor;
	struct vendor_client client;
	GQueue mads;  /* struct vendor_mad received and not yet taken */
	uint32_t tid; /* of the last request; those of traps are small */
	uint64_t m_key;
	unsigned int self;    /* node of the vendor port */
	uint8_t (*paths)[64]; /* directed route to each node: its ports from index 1 */
	uint8_t *hops;
};

#define NET_TIMEOUT_MS 100

struct net *net_new(const char *spec, const struct sim_config *config);
/* From the text of a topology file. */
struct net *net_new_text(const char *text);
void net_free(struct net *net);

/* Lets everything happen that is due within ms. */
void net_run_ms(struct net *net, uint64_t ms);
/* The next MAD for the client, waiting up to ms; NULL: none. The caller frees it. */
struct vendor_mad *net_take(struct net *net, uint64_t ms);

/* Fills an SMP; returns its TransactionID. */
uint32_t net_smp(struct net *net, uint8_t smp[256], uint8_t mgmt_class, uint8_t method,
		 uint16_t attribute, uint32_t modifier);
/* Makes it a directed one along the route to node. */
void net_direct(struct net *net, uint8_t smp[256], unsigned int node);

/* Sends and waits for what comes back: a response, or the request if it timed out. */
struct vendor_mad *net_ask_at(struct net *net, const struct vendor_address *to,
			      const uint8_t mad[256]);
struct vendor_mad *net_ask(struct net *net, uint16_t lid, const uint8_t mad[256]);
/* Sends a GMP made by net_smp; its answer replaces it. Returns its status, or -1: no answer. */
int net_gmp_ask(struct net *net, uint16_t lid, uint8_t mad[256]);
/* Status of a directed request to a node; -1: no answer. data: 64 octets in and out, or NULL. */
int net_direct_ask(struct net *net, unsigned int node, uint8_t method, uint16_t attribute,
		   uint32_t modifier, uint8_t *data);
/* As net_direct_ask(), LID-routed. */
int net_lid_ask(struct net *net, uint16_t lid, uint8_t method, uint16_t attribute,
		uint32_t modifier, uint8_t *data);

/* Get, change and Set of a PortInfo by directed route. */
void net_port_get(struct net *net, unsigned int node, unsigned int port,
		  struct iba_port_info *info);
int net_port_set(struct net *net, unsigned int node, unsigned int port, struct iba_port_info *info);
int net_port_state(struct net *net, unsigned int node, unsigned int port, uint8_t state);

/* LID of an end port after net_bring_up: one a node. */
static inline uint16_t net_lid(unsigned int node)
{
	return node + 1;
}
/* Gives LIDs, programs shortest paths, activates every link. */
void net_bring_up(struct net *net);

#endif
