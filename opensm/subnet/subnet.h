// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The published subnet: one immutable, counted object with all that a sweep decided. Readers take
 * it from context->subnet and keep it as long as they like.
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
	struct options *options; /* as they were for this sweep */
	struct route_files *route_files; /* what routing was made by; NULL: by none */
	struct qos_paths *qos;		 /* NULL: there is no QoS */
	struct prefix_routes *prefix_routes; /* NULL: there are none */
	bool roots_found; /* but by other roots than these name */
	uint64_t sm_guid;	 /* port GUID of the SM */
	uint16_t sm_lid;
	GArray *lid_guids; /* uint64_t by value: ports that have LIDs, or for which they are kept;
			      NULL: not known */
	GArray *sm_p_keys; /* uint16_t: the P_KeyTable of that port; NULL: it is not known */
	bool errors;	   /* the sweep ended with errors */
	char *credit_loop; /* the channels on which its routes can deadlock, as the engine in use
			      makes no promise; NULL: on none */
	bool only_switches; /* packets from hosts to hosts cannot */
	char *exposed;	    /* what of the last change of SLs or SL2VL may deadlock as long as hosts
			       have not asked for their paths again; NULL: nothing */
	char *fallback;	   /* why engines before it in the list are not in use; NULL: it is first */
	char **sick;	   /* nodes that cause errors, a line each: what the last one was */
	bool silent_errors; /* what is silent causes errors, too; the fabric names it */
	bool lone_errors;  /* the sweep had others, of no node */
	char **unknown_keys; /* ports left out because of their M_Key, a line each */
	char **without_p_keys; /* ports that lack P_Keys for want of an index, a line each */
	char **p_key_reuse; /* ports with indexes that had another P_Key before, a line each */
	char **small_tables; /* as of small_tables_tell() */
	uint32_t n_harmful;  /* of these lines, the first ones, as it says */
	char *held;	   /* why the files of the routing options as they are now are not in use,
			      but what they said before; NULL: they are */
};

/* Takes references of its own. */
struct subnet *subnet_new(struct fabric *fabric, struct routing *routing,
			  struct partitions *partitions, struct options *options);
struct subnet *subnet_ref(struct subnet *subnet);
void subnet_unref(struct subnet *subnet);

/* What its routing engine read; it points into the subnet. */
void subnet_route_input(const struct subnet *subnet, struct route_input *input);

#endif
