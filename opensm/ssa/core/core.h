// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The core of the Scalable SA in the daemon: as long as this SM is MASTER, each change of what the
 * SA would answer becomes an epoch in a store of files, from which opensm-ssa takes it further.
 *
 * An epoch has a number that grows when the octets of a table change, and only then: neither a
 * sweep that changes nothing, nor a restart, nor a takeover is an epoch. A term grows with each SM
 * that becomes MASTER, so that of two SMs that both think they are one, readers follow the later.
 */
#ifndef SSA_CORE_CORE_H
#define SSA_CORE_CORE_H

#include "core/context.h"

struct ssa_core;

/* All are copied. */
struct ssa_core_config {
	const char *directory;	  /* of the store */
	const char *key;	  /* by which manifests are signed; NULL: they are not */
	const char *address_file; /* NULL: none */
};

/* Whether the file of addresses has no mistake. */
bool ssa_core_check(const char *address_file, GError **error);
/* Never NULL: a store that cannot be written is told in the log, and tried with each change. */
struct ssa_core *ssa_core_new(struct context *context, const struct ssa_core_config *config);
void ssa_core_attach(struct ssa_core *core, GMainContext *loop); /* its work is in a pool */
void ssa_core_stop(struct ssa_core *core);
void ssa_core_free(struct ssa_core *core); /* NULL is fine */

#endif
