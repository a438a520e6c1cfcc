// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file of node_name_map_name, in the format of ib-node-name-map(5) of infiniband-diags: a GUID
 * and a name on each line, '#' begins a comment, quotes may enclose the name. A wrong line costs
 * only itself.
 */
#ifndef POLICY_NAMES_NODE_NAME_MAP_H
#define POLICY_NAMES_NODE_NAME_MAP_H

#include "fabric/node_names.h"

/* Reads length octets of a file of that name; what is wrong is in the warnings. */
struct node_names *node_name_map_parse(const char *file, const char *text, size_t length);
/*
 * Reads a file; NULL or "": no names. NULL and error if it cannot be read; but if it is missing and
 * must_start is set, an empty map with a warning.
 */
struct node_names *node_name_map_load(const char *file, bool must_start, GError **error);

#endif
