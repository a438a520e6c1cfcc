// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A query on its way through the pipeline, and the helpers that records are built with. */
#ifndef SA_SA_PRIVATE_H
#define SA_SA_PRIVATE_H

#include "iba/codes.h"
#include "iba/iba.h"
#include "sa/admit/hold.h"
#include "subnet/view.h"
#include "sa/registries.h"
#include "subnet/inventory.h"
#include "vendor/vendor.h"

#define SA_MAX_REPLY (64u << 20) /* octets of one answer; more is ERR_NO_RESOURCES */
#define SA_MAX_IN_POOL 4096	 /* queries waiting for the pool; more are answered BUSY */

struct sa_held;
struct sa_query;

/* Every type that a request or a record can have, decoded. */
union sa_any {
	struct iba_class_port_info class_port_info;
	struct iba_inform_info inform_info;
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
	struct iba_multi_path_record multi_path;
	struct iba_trace_record trace;
	struct iba_mc_member_record member;
	struct iba_service_record service;
	struct iba_inform_info_record subscription;
};

enum sa_flags {
	SA_ANYBODY = 1 << 0,	 /* answered to requesters not (yet) in the published subnet */
	SA_TRUSTED = 1 << 1,	 /* only with the SA key: ERR_REQ_DENIED without */
	SA_NOT_REDUCED = 1 << 2, /* needs the SA key while sa_enhanced_trust_model is on */
};

/* Where a query runs. */
enum sa_place {
	SA_IN_POOL,	  /* may take long: off the sa actor, without the registries */
	SA_SLOWLY,	  /* may take a second: as SA_IN_POOL, on a thread for slow queries */
	SA_AT_ONCE,	  /* about a microsecond, without the registries: not worth the pool */
	SA_AT_REGISTRIES, /* on the sa actor, which owns them */
};

/*
 * One attribute with one method. run passes records to sa_offer or sa_put and returns
 * IBA_STATUS_OK, or the status of the whole answer.
 */
struct sa_row {
	uint16_t attribute;
	uint8_t method;
	uint8_t flags;		       /* enum sa_flags */
	const char *name;	       /* of the attribute */
	const struct wire_type *asks;  /* the fixed part of the request's data */
	const struct wire_type *tells; /* the type of each record in the answer */
	enum sa_place (*place)(const struct sa_query *query);
	uint16_t (*run)(struct sa_query *query);
	uint16_t told;	      /* attribute of the answer; 0: that of the request */
	uint32_t caps, caps2; /* bits of ClassPortInfo that this row implies */
};

/* The sender of a request. */
struct sa_requester {
	const struct vendor_address *address; /* outlives the query */
	uint32_t port;			      /* endport, or FABRIC_NONE */
	bool trusted;	 /* came with the SA key */
	bool vouched;	 /* with a non-default SA key, or came from the SM's node */
	bool privileged; /* with a non-default SA key: may see and change everything */
	bool reduced;	 /* not trusted, with sa_enhanced_trust_model on: sees only itself */
};

/* The answer while it is built; the first IBA_SA_DATA_OFFSET octets are for the headers. */
struct sa_reply {
	uint8_t *data;
	size_t length, room;
	size_t held; /* octets of it counted in query->held */
	uint32_t n_records;
};

#define SA_WHY_SIZE 200
struct sa_query {
	/* What the query reads. Both are NULL while no subnet is published. */
	const struct subnet_view *view;
	const struct subnet *subnet; /* of the view */
	/* NULL unless the query runs on the sa actor. */
	const struct sa_registries *registries;
	struct sa_store *store; /* the groups in registries */
	/* Set by the code that runs the query, after sa_query_begin; all may be NULL or 0. */
	const struct inventory *inventory;
	uint64_t now;	      /* ns, for records that expire */
	struct sa_held *held; /* octets of all tables being built or sent */

	/* The request, which must outlive the query. */
	const uint8_t *data;
	size_t length;

	/* Results of the stages. */
	struct iba_mad_header header; /* method is that of the request until sa_query_finish */
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;
	struct sa_requester from;
	const struct sa_row *row;
	union sa_any wanted;
	uint64_t mask;	  /* components sa_offer compares; run() removes what it settled */
	uint32_t n_found; /* records that matched */
	bool wrong_key;	  /* neither 0 nor sa_key: no answer is sent */
	bool early;	  /* BUSY: no subnet with the requester has been published yet */
	bool waits;	  /* it needs tables that the inventory lacks: */
	uint64_t want;	  /* inventory_want() */
	uint64_t until[SA_HOLD_TOPICS]; /* serials to be reached before the answer leaves: hold.h */
	uint64_t until_ns;		/* the answer leaves at this time anyway; 0: never */
	uint16_t status;
	char why[SA_WHY_SIZE]; /* why a join is refused, for the log; "": nothing to say */
	uint8_t n_refused; /* refused parts of a request that succeeded */
	bool over_quota;   /* refused because of a quota */
	const char *reason; /* why it is refused, for the log; NULL: the status says all */
	bool hides;	   /* the answer omits something, as the requester is reduced */
	struct sa_reply reply;
};

/* All rows; rows of one attribute are adjacent. */
const struct sa_row *sa_rows(unsigned int *n);
/* NULL: the SA does not serve that attribute, or not with that method. */
const struct sa_row *sa_row_find(uint16_t attribute, uint8_t method);

/*
 * Prepares a query and passes it through the stages up to the decoded components. False if the
 * MAD must not be answered at all. from and data must outlive the query.
 */
bool sa_query_begin(struct sa_query *query, const struct subnet_view *view,
		    const struct vendor_address *from, const uint8_t *data, size_t length);
/* Where the query runs; a query that is already settled runs at once. */
enum sa_place sa_query_place(const struct sa_query *query);
/* Runs a query that is not settled yet. registries may be NULL, except at SA_AT_REGISTRIES. */
void sa_query_run(struct sa_query *query, const struct sa_registries *registries);
/* Removes all records from the answer. */
void sa_query_clear(struct sa_query *query);
/* The encoded answer, freed with g_free; its reply.held octets stay counted in held. */
uint8_t *sa_query_finish(struct sa_query *query, size_t *length);
/* True: many records by RMPP; false: one record in one MAD. */
bool sa_is_table(const struct sa_query *query);

/* ---- for records ---- */
/*
 * Offers a candidate. It goes into the answer if it matches the query's components and the
 * requester may see the endport that it describes (FABRIC_NONE: anyone may). False: stop.
 */
bool sa_offer(struct sa_query *query, const void *candidate, uint32_t endport);
/* Puts a record into the answer without checks, as Set and Delete do. False: BUSY, no memory. */
bool sa_put(struct sa_query *query, const void *record);
/* True if the requester shares a partition with the endport, or sees all. */
bool sa_may_reach(const struct sa_query *query, uint32_t endport);
/*
 * Whether the requester may see that port: as sa_may_reach(), but a reduced one sees only its own.
 */
bool sa_may_see(const struct sa_query *query, uint32_t endport);
/*
 * Whether the requester may see groups and services of that partition: as a member, or it sees all.
 */
bool sa_is_of_partition(const struct sa_query *query, uint16_t p_key);
/* IBA_SA_NO_RESOURCES: the requester, or all ports together, have reached a limit. */
static inline uint16_t sa_refuse_more(struct sa_query *query)
{
	query->over_quota = true;
	query->reason = "the port, or all ports together, have reached their limit";
	return IBA_SA_NO_RESOURCES;
}

/* Whether a requester that has this many entries may have one more, by a sa_etm_max_num option. */
bool sa_has_quota(struct sa_query *query, unsigned int has, unsigned int max);

static inline bool sa_wants(const struct sa_query *query, uint64_t component)
{
	return (query->mask & component) != 0;
}

/* Whether n records fit into one answer. */
bool sa_room_for(const struct sa_query *query, uint64_t n);

/* Ports still to be examined: [first, end). */
struct sa_span {
	uint32_t first, end;
};

/*
 * The endports a query may mean: all, or the owner of the LID if that component is given, which is
 * then settled.
 */
struct sa_span sa_narrow_by_lid(struct sa_query *query, uint64_t component, uint16_t lid);
/* As sa_narrow_by_lid(), for records of every port: a LID of a switch means all its ports. */
struct sa_span sa_narrow_to_ports(struct sa_query *query, uint64_t component, uint16_t lid);
bool sa_is_live_endport(const struct fabric *fabric, uint32_t port);

/* The endport with that GUID or alias GUID; FABRIC_NONE: none. */
uint32_t sa_port_by_guid(const struct sa_query *query, uint64_t guid);

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
uint16_t sa_guid_info_set(struct sa_query *query);
uint16_t sa_guid_info_remove(struct sa_query *query);
uint16_t sa_sm_info_each(struct sa_query *query);
uint16_t sa_mft_each(struct sa_query *query);
uint16_t sa_p_key_table_each(struct sa_query *query);
uint16_t sa_path_each(struct sa_query *query);
uint16_t sa_multi_path_each(struct sa_query *query);
uint16_t sa_trace_each(struct sa_query *query);
enum sa_place sa_path_place(const struct sa_query *query);
uint16_t sa_member_each(struct sa_query *query);
uint16_t sa_member_set(struct sa_query *query);
uint16_t sa_member_remove(struct sa_query *query);
uint16_t sa_inform_set(struct sa_query *query);
uint16_t sa_inform_each(struct sa_query *query);
uint16_t sa_service_each(struct sa_query *query);
uint16_t sa_service_set(struct sa_query *query);
uint16_t sa_service_remove(struct sa_query *query);

#endif
