// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file path_sls: the SL that a layered engine uses between each two switches, for their hosts.
 * Hosts query a path once, and use its SL as long as they live, also under the next SM. The first
 * record names the engine, and has a digest of its options: if these differ, all SLs are computed
 * again. Then there is a record per switch: its GUID, and a hexadecimal digit for each switch of an
 * earlier record, or '-' if the two have no path.
 */
#ifndef SUBNET_PATH_SLS_H
#define SUBNET_PATH_SLS_H

#include "complib/log.h"
#include "route/engine.h"

struct path_sls;
struct state_writer;

/* In that directory; NULL: nothing is stored. */
struct path_sls *path_sls_new(const char *directory, struct log *log);
void path_sls_free(struct path_sls *sls);

/* Assigns the SLs of the last run, if any, to tables read from switches. */
void path_sls_hold(struct path_sls *sls, const struct fabric *fabric, struct routing *held);
/* Takes the SLs of the previous SM from its text. */
void path_sls_parse(struct path_sls *sls, const char *what, const char *text);

/* Before hosts are given them: passes changes to the writer. */
void path_sls_save(struct path_sls *sls, struct routing *routing, struct state_writer *writer,
		   bool fsync_it);
/* The text last saved, and how often it has changed. */
const char *path_sls_text(const struct path_sls *sls);
uint64_t path_sls_changes(const struct path_sls *sls);

#endif
