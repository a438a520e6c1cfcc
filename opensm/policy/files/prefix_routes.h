// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file prefix-routes.conf: which router ports lead to which other subnets. A line is a GID
 * prefix and the GUID of a router port, both hex, with or without 0x, or * for any; '#' begins a
 * comment. Immutable and reference counted.
 */
#ifndef POLICY_FILES_PREFIX_ROUTES_H
#define POLICY_FILES_PREFIX_ROUTES_H

#include "fabric/fabric.h"

struct prefix_route {
	uint64_t prefix; /* 0: any */
	uint64_t guid;	 /* of a router port; 0: any */
};

struct prefix_routes {
	struct ref ref;
	GArray *routes; /* struct prefix_route, in order of precedence */
	bool has_file;	/* they were read from a file */
};

#define PREFIX_ROUTES_ERROR prefix_routes_error_quark()
GQuark prefix_routes_error_quark(void);

/*
 * Parses length octets of a file of that name; NULL and an error with file and line if any is
 * wrong.
 */
struct prefix_routes *prefix_routes_parse(const char *file, const char *text, size_t length,
					  GError **error);
/* Loads a file; no file, or NULL, means no routes. */
struct prefix_routes *prefix_routes_load(const char *file, GError **error);
struct prefix_routes *prefix_routes_ref(struct prefix_routes *routes);
void prefix_routes_unref(struct prefix_routes *routes); /* NULL is fine */

/* The router port with the lowest GUID in the subnet, or FABRIC_NONE. */
uint32_t prefix_routes_first_router(const struct fabric *fabric);
/*
 * The router port of the first line for the prefix whose router is in the subnet, or FABRIC_NONE;
 * first is prefix_routes_first_router(). routes may be NULL.
 */
uint32_t prefix_routes_find(const struct prefix_routes *routes, const struct fabric *fabric,
			    uint32_t first, uint64_t prefix);

#endif
