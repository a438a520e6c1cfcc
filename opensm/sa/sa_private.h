// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A query on its way through the pipeline, and what records are made of. */
#ifndef SA_SA_PRIVATE_H
#define SA_SA_PRIVATE_H

#include "iba/codes.h"
#include "iba/iba.h"
#include "policy/inventory.h"
#include "sa/view.h"
#include "vendor/vendor.h"

#define SA_MAX_REPLY (64u << 20) /* octets of one answer; more is ERR_NO_RESOURCES */
#define SA_MAX_IN_POOL 4096	 /* queries waiting for the pool; more are answered BUSY */

struct sa_held;
struct sa_store;
struct sa_query;

/* Every type a record may have, decoded. */
union sa_any {
	struct iba_class_port_info class_port_info;
	struct iba_node_record node;
	struct iba_port_info_record port_info;
	struct iba_switch_info_record switch_info;
	struct iba_linear_forwarding_table_record lft;
	struct iba_p_key_table_record p_key_table;
	struct iba_sl_to_vl_table_record sl_to_vl;
	struct iba_vl_arbitration_table_record vl_arbitration;
	struct iba_guid_info_record guid_info;
	struct iba_sm_info_record sm_info;
	struct iba_multicast_forwarding_table_record mft;
	struct iba_link_record link;
	struct iba_path_record path;
	struct iba_mc_member_record member;
};

enum sa_record_flags {
	SA_ANYBODY = 1 << 0,   /* answered to requesters not (yet) in the published subnet */
	SA_TRUSTED = 1 << 1,   /* only with the SA key: ERR_REQ_DENIED without */
	SA_QUICK = 1 << 2,     /* a Get is answered at once, without the pool */
	SA_REGISTRY = 1 << 3,  /* uses the store: on the sa actor */
};

/*
 * One attribute. each, set and delete hand records to sa_offer or sa_put and return IBA_STATUS_OK,
 * or the status of the whole answer. A NULL function: the attribute does not have the method.
 */
struct sa_record {
	uint16_t attribute;
	const char *name;
	const struct wire_type *type;
	unsigned int flags; /* enum sa_record_flags */
	bool has_table;	    /* GetTable, besides Get */
	uint16_t (*each)(struct sa_query *query);
	uint16_t (*set)(struct sa_query *query);
	uint16_t (*remove)(struct sa_query *query);
	bool (*needs_store)(const struct sa_query *query); /* besides SA_REGISTRY; may be NULL */
	bool (*is_quick)(const struct sa_query *query);	   /* besides SA_QUICK; may be NULL */
};

/* The answer while it grows; the first IBA_SA_DATA_OFFSET octets are for the headers. */
struct sa_reply {
	uint8_t *data;
	size_t length, room;
	size_t held; /* octets of it that query->held counts */
	uint32_t n_records;
};

struct sa_query {
	/* What it is asked of. Both are NULL while there is no subnet to tell about. */
	const struct sa_view *view;
	const struct subnet *subnet; /* of the view */
	struct sa_store *store; /* NULL off the sa actor */
	/* Set by who runs it, after sa_query_begin; all may be NULL or 0. */
	const struct inventory *inventory;
	uint64_t now;		/* ns, for what goes out of date */
	struct sa_held *held;	/* octets of all tables being made or sent */

	/* The request, which must outlive the query. */
	const struct vendor_address *from;
	const uint8_t *data;
	size_t length;

	/* What the stages found out. */
	struct iba_mad_header header;
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;
	const struct sa_record *record;
	union sa_any wanted;
	uint64_t mask;	  /* components sa_offer compares; each() removes what it settled */
	uint32_t port;	  /* the requester's endport, or FABRIC_NONE */
	uint32_t n_found; /* records that matched */
	bool waits;	  /* it cannot go on before the inventory has: */
	uint64_t want;	  /* inventory_want() */
	bool trusted;	  /* came with the SA key */
	uint16_t status;
	struct sa_reply reply;
};

/* All records the SA serves, by attribute; NULL if it does not. */
const struct sa_record *sa_record_find(uint16_t attribute);
const struct sa_record *sa_records(unsigned int *n);

/*
 * Prepares a query and passes it through the stages up to the decoded components. False if the
 * MAD must not be answered at all. from and data must outlive the query.
 */
bool sa_query_begin(struct sa_query *query, const struct sa_view *view,
		    const struct vendor_address *from, const uint8_t *data, size_t length);
/* True if the query may only run where the store is. */
bool sa_query_needs_store(const struct sa_query *query);
/* True if the query takes so little that it is not worth the pool. */
bool sa_query_is_quick(const struct sa_query *query);
/* Runs what is not already settled; store may be NULL unless the query needs it. */
void sa_query_run(struct sa_query *query, struct sa_store *store);
/* Drops what was put into the answer so far. */
void sa_query_clear(struct sa_query *query);
/* The encoded answer, to be freed with g_free; reply.held of it stay counted in held. */
uint8_t *sa_query_finish(struct sa_query *query, size_t *length);

/* ---- for records ---- */
/*
 * Offers a candidate: in the answer if it agrees with the query's components and the requester may
 * know of the endport it tells about (FABRIC_NONE: anybody may). False: no need to go on.
 */
bool sa_offer(struct sa_query *query, const void *candidate, uint32_t endport);
/* Puts a record into the answer unseen: what Set and Delete return. False: BUSY, no memory. */
bool sa_put(struct sa_query *query, const void *record);
/* True if the requester shares a partition with the endport, or is trusted. */
bool sa_may_see(const struct sa_query *query, uint32_t endport);

static inline bool sa_wants(const struct sa_query *query, uint64_t component)
{
	return (query->mask & component) != 0;
}

/* Whether so many records may be one answer. */
bool sa_room_for(const struct sa_query *query, uint64_t n);

/* Ports still to be looked at: [first, end). */
struct sa_span {
	uint32_t first, end;
};

/*
 * The endports a query may mean: all, or the one that owns the LID if that component is given,
 * which is then settled.
 */
struct sa_span sa_narrow_by_lid(struct sa_query *query, uint64_t component, uint16_t lid);
/* The same for records of every port: a LID of a switch means all its ports. */
struct sa_span sa_narrow_to_ports(struct sa_query *query, uint64_t component, uint16_t lid);
bool sa_is_live_endport(const struct fabric *fabric, uint32_t port);

/* The subnet's own prefix, or the default one that stands for it (IBA 4.1.1). */
bool sa_prefix_is_local(const struct sa_query *query, uint64_t prefix);

uint16_t sa_class_port_info_each(struct sa_query *query);
uint16_t sa_node_each(struct sa_query *query);
uint16_t sa_port_info_each(struct sa_query *query);
uint16_t sa_switch_info_each(struct sa_query *query);
uint16_t sa_link_each(struct sa_query *query);
uint16_t sa_lft_each(struct sa_query *query);
uint16_t sa_sl_to_vl_each(struct sa_query *query);
uint16_t sa_vl_arbitration_each(struct sa_query *query);
uint16_t sa_guid_info_each(struct sa_query *query);
uint16_t sa_sm_info_each(struct sa_query *query);
uint16_t sa_mft_each(struct sa_query *query);
uint16_t sa_p_key_table_each(struct sa_query *query);
uint16_t sa_path_each(struct sa_query *query);
bool sa_path_needs_store(const struct sa_query *query);
bool sa_path_is_quick(const struct sa_query *query);
uint16_t sa_member_each(struct sa_query *query);
uint16_t sa_member_set(struct sa_query *query);
uint16_t sa_member_remove(struct sa_query *query);

#endif
