// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file path_sls: the SL that each two switches use, for their hosts, by a layered engine. Hosts
 * ask for a path once, and send on its SL for as long as they live: under the next SM, too. The
 * first record names the engine, and has a digest of what it was told: where options differ since,
 * all is made anew. Then there is one for each switch: its GUID, and a hexadecimal digit for each
 * switch of a record before it, or '-' if the two have no path.
 */
#ifndef SM_STORE_PATH_SLS_H
#define SM_STORE_PATH_SLS_H

#include "complib/log.h"
#include "route/engine.h"

struct path_sls;
struct state_writer;

/* Of that directory; NULL: nothing is kept. */
struct path_sls *path_sls_new(const char *directory, struct log *log);
void path_sls_free(struct path_sls *sls);

/* Tables that switches hold get the SLs of the last run, if it had any. */
void path_sls_hold(struct path_sls *sls, const struct fabric *fabric, struct routing *held);
/* Those of the SM before, whose text it is. */
void path_sls_parse(struct path_sls *sls, const char *what, const char *text);

/* Before hosts are told of them: what is new is put into the writer. */
void path_sls_save(struct path_sls *sls, struct routing *routing, struct state_writer *writer,
		   bool fsync_it);
/* What was saved last, and how often that was something else. */
const char *path_sls_text(const struct path_sls *sls);
uint64_t path_sls_changes(const struct path_sls *sls);

#endif
