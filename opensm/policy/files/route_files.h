// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the files that the routing options name say: read at start and when the options are read
 * again, immutable and counted. A wrong file stops the start, and later changes nothing: routes
 * that the operator did not mean can deadlock or starve a fabric.
 */
#ifndef POLICY_FILES_ROUTE_FILES_H
#define POLICY_FILES_ROUTE_FILES_H

#include "core/options.h"
#include "route/engine.h"

struct route_files;

/* Appends the names of all of them (char *), NULL where none is given, in a fixed order. */
void route_files_names(const struct options *options, GPtrArray *names);
/* NULL and error, which begins with the option, if a file that is named cannot be read. */
struct route_files *route_files_load(const struct options *options, GError **error);
/*
 * The same for a list of engines as routing_engine has it; NULL: none. A file that none of them
 * reads nor what they may fall back to is no error but a warning, and counts as not named. So does
 * a torus-2QoS.conf that is not there, if the list has another engine.
 */
struct route_files *route_files_load_for(const struct options *options, const char *engines,
					 GError **error);
/* The same after old: that torus-2QoS.conf is not there any more is an error. */
struct route_files *route_files_reload(const struct route_files *old, const struct options *options,
				       const char *engines, GError **error);
/* What was taken, but is not as it should be: option, file, line (const char *). */
const GPtrArray *route_files_warnings(const struct route_files *files);
/* Cables that partitions are tied to, struct tie_row; NULL or empty: none. files may be NULL. */
const GArray *route_files_ties(const struct route_files *files);
struct route_files *route_files_ref(struct route_files *files);
void route_files_unref(struct route_files *files); /* NULL is fine */

/* Whether both say the same. If in doubt, they do not. */
bool route_files_same(const struct route_files *a, const struct route_files *b);

/* Input of engines but demand and ties; it points into files, which may be NULL. */
void route_files_input(const struct route_files *files, const struct options *options,
		       struct route_input *input);

#endif
