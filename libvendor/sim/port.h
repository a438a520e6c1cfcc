// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What port.c and port_rmpp.c share of a vendor port. */
#ifndef SIM_PORT_H
#define SIM_PORT_H

#include "libvendor/sim/rmpp.h"
#include "libvendor/sim/sim_private.h"

struct binding {
	uint8_t mgmt_class;
	bool manager;
	struct vendor_client client;
};

struct sim_vendor {
	struct vendor base;
	struct sim *sim;
	struct sim_port *port;
	uint32_t number;       /* in the high half of TransactionIDs */
	GArray *bindings;      /* struct binding */
	GHashTable *pending;   /* struct sim_pending by its key */
	GHashTable *transfers; /* struct transfer, by itself */
	bool is_sm, closed;
};

/* A request without a response yet. */
struct sim_pending {
	struct timer timer;
	uint64_t key;
	struct sim_vendor *vendor;
	struct sim_pending *next; /* free ones */
	uint64_t serial;
	struct vendor_address to;
	uint8_t data[IBA_MAD_BYTES];
};

/* ---- port.c ---- */
const struct binding *port_binding(const struct sim_vendor *vendor, uint8_t mgmt_class);
struct sim_vendor *port_manager(const struct sim_port *port, uint8_t mgmt_class);
/* The client whose request the MAD answers, and the request; NULL if nobody waits for it. */
struct sim_pending *port_pending(const struct sim_port *port, const struct sim *sim,
				 const uint8_t *mad);
void port_pending_end(struct sim_pending *pending);
void port_hand_over(struct sim_vendor *vendor, const struct binding *binding,
		    const struct vendor_address *remote, const uint8_t *data, size_t length);
void port_give_back(struct sim_vendor *vendor, const uint8_t *data, size_t length,
		    const struct vendor_address *to, enum vendor_status status);
struct vendor_address port_remote(const struct sim_packet *packet);
/* Makes a packet of one MAD and sends it. */
void port_send_packet(struct sim_vendor *vendor, const struct vendor_address *to,
		      const uint8_t *data);

/* ---- port_rmpp.c ---- */
void port_rmpp_init(struct sim_vendor *vendor);
void port_rmpp_clear(struct sim_vendor *vendor);
/* Begins to send a message in segments. */
void port_rmpp_send(struct sim_vendor *vendor, const struct vendor_address *to,
		    const uint8_t *message, size_t length);

#endif
