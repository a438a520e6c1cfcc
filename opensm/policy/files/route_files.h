// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The contents of the files named by routing options: read at start and when the options are read
 * again, immutable and reference counted. A wrong file prevents the start; later, it changes
 * nothing: routes that the operator did not intend can deadlock or starve a fabric.
 */
#ifndef POLICY_FILES_ROUTE_FILES_H
#define POLICY_FILES_ROUTE_FILES_H

#include "core/options.h"
#include "route/engine.h"

struct route_files;

/* Appends the names of all files (char *), NULL for those not given, in a fixed order. */
void route_files_names(const struct options *options, GPtrArray *names);
/* If a named file cannot be read, returns NULL and an error that begins with the option. */
struct route_files *route_files_load(const struct options *options, GError **error);
/*
 * Loads the files for a list of engines as in routing_engine; NULL: none. A file that neither these
 * engines nor their possible fall-backs read causes a warning, not an error, and counts as not
 * named. So does a missing torus-2QoS.conf, if the list has another engine.
 */
struct route_files *route_files_load_for(const struct options *options, const char *engines,
					 GError **error);
/* Loads the files again, after old: it is an error if torus-2QoS.conf has disappeared. */
struct route_files *route_files_reload(const struct route_files *old, const struct options *options,
				       const char *engines, GError **error);
/* What was accepted but is questionable: option, file, line (const char *). */
const GPtrArray *route_files_warnings(const struct route_files *files);
/* Cables that partitions are tied to, struct tie_row; NULL or empty: none. files may be NULL. */
const GArray *route_files_ties(const struct route_files *files);
struct route_files *route_files_ref(struct route_files *files);
void route_files_unref(struct route_files *files); /* NULL is fine */

/* Whether both have the same contents. If in doubt, false. */
bool route_files_same(const struct route_files *a, const struct route_files *b);

/* Input of engines except demand and ties; it points into files, which may be NULL. */
void route_files_input(const struct route_files *files, const struct options *options,
		       struct route_input *input);

#endif
