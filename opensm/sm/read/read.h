// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables that are read back: for routes, for the SA, and to check that they still hold. */
#ifndef SM_READ_READ_H
#define SM_READ_READ_H

#include "sm/sm_private.h"

/* ---- lft_read.c ---- */
/*
 * A switch was found and fell silent before anything of its LFT was read, so the sweep must begin
 * again and treat it as silent from the start. Not repeated for a switch that then was not silent.
 */
bool lfts_are_unread(struct sm *sm);

/* ---- table_reader.c ---- */
/* Tables that the SA requests, read between sweeps. */
struct table_reader *table_reader_new(struct sm *sm);
void table_reader_free(struct table_reader *reader);
void table_reader_want(struct sm *sm, uint64_t want); /* inventory_want */
void table_reader_advance(struct sm *sm); /* a table arrived, or SMPs may be sent again */
/* Tables of these nodes (uint64_t GUIDs) were written: what is known of them is outdated. */
void table_reader_written(struct sm *sm, GHashTable *nodes);
void table_reader_sweep_ended(struct sm *sm, enum sweep_kind kind);

/* ---- audit.c ---- */
/* Between sweeps, blocks are read back and compared with what is known of them. */
struct audit *audit_new(struct sm *sm);
void audit_free(struct audit *audit);
/* A Set is over: if one of its tries got no answer, it may still arrive. */
void audit_set(const struct sm_request *request);
void audit_sweep_ended(struct sm *sm); /* before it is left */
void audit_want(struct sm *sm, uint32_t nodes); /* all that is known of this many; 0: of all */

#endif
