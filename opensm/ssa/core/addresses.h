// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file of addresses: which GID stands behind a name or an IP address, for hosts that resolve
 * them without a query. Lines, '#' begins a comment:
 *
 *	ADDRESS GID [QPN [FLAGS]]
 *	[pkey=0x8001]
 *
 * ADDRESS is an IPv4 or IPv6 address, or else a name. QPN is that of IPoIB, FLAGS those of RFC
 *4755: 0x80 reliable connected (the default where a QPN is given), 0x40 unreliable connected. Lines
 *after a heading in brackets are for that P_Key, which is 0xFFFF at the beginning. An address may
 *have several lines. Immutable and reference counted.
 */
#ifndef SSA_CORE_ADDRESSES_H
#define SSA_CORE_ADDRESSES_H

#include "complib/handoff.h"
#include "ssa/table/layout.h"

struct ssa_addresses {
	struct ref ref;
	GArray *names; /* struct ssa_name, in the order of the table, each once */
	GArray *ipv4;  /* struct ssa_ipv4 */
	GArray *ipv6;  /* struct ssa_ipv6 */
};

#define SSA_ADDRESSES_ERROR ssa_addresses_error_quark()
GQuark ssa_addresses_error_quark(void);

/* As a whole or not at all: NULL and an error with the file and line of each mistake. */
struct ssa_addresses *ssa_addresses_parse(const char *file, const char *text, size_t length,
					  GError **error);
/* A file that does not exist has no addresses. */
struct ssa_addresses *ssa_addresses_load(const char *file, GError **error);
void ssa_addresses_unref(struct ssa_addresses *addresses); /* NULL is fine */

#endif
