// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Asks the SA of the subnet at the first port of this host, over libibumad: one request at a time.
 * Open it for each purpose, since the SM, and with it its LID, may have changed meanwhile.
 */
#ifndef SSA_NODE_SA_H
#define SSA_NODE_SA_H

#include <glib.h>

#include "iba/iba.h"

struct ssa_sa;

struct ssa_sa_request {
	uint8_t method;
	uint16_t attribute;
	uint64_t mask; /* components of the record that count */
	const struct wire_type *type;
	const void *record;
};

/* Valid until the next request. */
struct ssa_sa_answer {
	const uint8_t *data; /* records, one after another; one record for Get and Set */
	size_t length;
	size_t stride; /* from one record of a table to the next; 0: there is none */
};

/* NULL and error: this host has no port, or it cannot be opened. */
struct ssa_sa *ssa_sa_open(GError **error);
void ssa_sa_close(struct ssa_sa *sa); /* NULL is fine */
/* Of the port. */
struct iba_gid ssa_sa_gid(const struct ssa_sa *sa);

/* The status of the answer, 0: success; negative: no answer within some seconds. */
int ssa_sa_ask(struct ssa_sa *sa, const struct ssa_sa_request *request,
	       struct ssa_sa_answer *answer);

#endif
