// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A query on its way through the pipeline, and what records are made of. */
#ifndef SA_SA_PRIVATE_H
#define SA_SA_PRIVATE_H

#include "iba/codes.h"
#include "iba/iba.h"
#include "sa/view.h"
#include "vendor/vendor.h"

#define SA_MAX_REPLY (64u << 20) /* octets of one answer; more is ERR_NO_RESOURCES */
#define SA_MAX_IN_POOL 4096	 /* queries waiting for the pool; more are answered BUSY */

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
	uint32_t n_records;
};

struct sa_query {
	/* What it is asked of. Both are NULL while there is no subnet to tell about. */
	const struct sa_view *view;
	const struct subnet *subnet; /* of the view */
	struct sa_store *store; /* NULL off the sa actor */

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
/* The encoded answer, to be freed with g_free. */
uint8_t *sa_query_finish(struct sa_query *query, size_t *length);

/* ---- for records ---- */
/*
 * Offers a candidate: in the answer if it agrees with the query's components and the requester may
 * know of the endport it tells about (FABRIC_NONE: anybody may). False: no need to go on.
 */
bool sa_offer(struct sa_query *query, const void *candidate, uint32_t endport);
/* Puts a record into the answer unseen: what Set and Delete return. */
void sa_put(struct sa_query *query, const void *record);
/* True if the requester shares a partition with the endport, or is trusted. */
bool sa_may_see(const struct sa_query *query, uint32_t endport);

static inline bool sa_wants(const struct sa_query *query, uint64_t component)
{
	return (query->mask & component) != 0;
}

/* The subnet's own prefix, or the default one that stands for it (IBA 4.1.1). */
bool sa_prefix_is_local(const struct sa_query *query, uint64_t prefix);

/* The endport that owns LIDs: the port itself, or port 0 of its switch. */
uint32_t sa_endport_of(const struct fabric *fabric, uint32_t port);

uint16_t sa_class_port_info_each(struct sa_query *query);
uint16_t sa_node_each(struct sa_query *query);
uint16_t sa_port_info_each(struct sa_query *query);
uint16_t sa_switch_info_each(struct sa_query *query);
uint16_t sa_link_each(struct sa_query *query);
uint16_t sa_lft_each(struct sa_query *query);
uint16_t sa_p_key_table_each(struct sa_query *query);
uint16_t sa_path_each(struct sa_query *query);
bool sa_path_needs_store(const struct sa_query *query);
bool sa_path_is_quick(const struct sa_query *query);
uint16_t sa_member_each(struct sa_query *query);
uint16_t sa_member_set(struct sa_query *query);
uint16_t sa_member_remove(struct sa_query *query);

#endif
