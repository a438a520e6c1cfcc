// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The published subnet: one immutable, reference-counted object with all results of a sweep.
 * Readers take it from context->subnet and keep it as long as they like.
 */
#ifndef SUBNET_SUBNET_H
#define SUBNET_SUBNET_H

#include "core/options.h"
#include "fabric/fabric.h"
#include "policy/files/prefix_routes.h"
#include "policy/files/route_files.h"
#include "policy/partition/partition.h"
#include "policy/qos/qos_paths.h"
#include "route/engine.h"

struct subnet {
	struct ref ref;
	uint64_t generation;
	struct fabric *fabric;
	struct routing *routing;
	struct partitions *partitions;
	struct options *options; /* that this sweep used */
	struct route_files *route_files; /* used by routing; NULL: none */
	struct qos_paths *qos;		 /* NULL: no QoS */
	struct prefix_routes *prefix_routes; /* NULL: none */
	bool roots_found; /* with other roots than these files name */
	uint64_t sm_guid;	 /* port GUID of the SM */
	uint16_t sm_lid;
	GArray *lid_guids; /* uint64_t by value: ports that have LIDs, or for which LIDs are
			      reserved; NULL: unknown */
	GArray *sm_p_keys; /* uint16_t: the P_KeyTable of that port; NULL: unknown */
	bool errors;	   /* the sweep ended with errors */
	char *credit_loop; /* the channels on which its routes can deadlock, as the engine in use
			      gives no guarantee; NULL: none */
	bool only_switches; /* packets between hosts cannot deadlock */
	char *exposed;	    /* what may deadlock after the last change of SLs or SL2VL until hosts
			       have queried their paths again; NULL: nothing */
	char *fallback;	   /* why earlier engines in the list are not in use; NULL: first one */
	char **sick;	   /* nodes that cause errors, a line each: the last error */
	bool silent_errors; /* silent nodes cause errors too; the fabric names them */
	bool lone_errors;  /* the sweep had other errors, not of a node */
	char **unknown_keys; /* ports excluded because of their M_Key, a line each */
	char **without_p_keys; /* ports that lack P_Keys for want of an index */
	char **p_key_reuse; /* ports with indexes that had another P_Key before */
	char **small_tables; /* result of small_tables_tell() */
	uint32_t n_harmful;  /* its n_harmful: number of harmful lines */
	char *held;	   /* why the files of the routing options are not used as they are now,
			      but as they were before; NULL: they are current */
};

/* Takes its own references. */
struct subnet *subnet_new(struct fabric *fabric, struct routing *routing,
			  struct partitions *partitions, struct options *options);
struct subnet *subnet_ref(struct subnet *subnet);
void subnet_unref(struct subnet *subnet);

/* What its routing engine reads; it points into the subnet. */
void subnet_route_input(const struct subnet *subnet, struct route_input *input);

#endif
