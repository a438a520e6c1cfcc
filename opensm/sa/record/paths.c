// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The paths between the ends of a query, one after the other: what PathRecord, MultiPathRecord and
 * TraceRecord have in common.
 *
 * Each end of a query is a GID, a LID, both, or left open. An open end means every endport. For a
 * pair of endports policy_path() says what the two may use; then the pairs of LIDs (LMC) are tried
 * in a fixed order: first the n-th LID of one with the n-th of the other (Preference 0), then all
 * others (Preference 2). For a pair of LIDs the forwarding tables are walked hop by hop; a path
 * that breaks makes no record.
 *
 * A path may be used with a smaller MTU or rate than it can carry, and its life time may be
 * reported longer than needed: that is how it matches a value requested by a selector. TClass,
 * FlowLabel and RawTraffic do not select among paths, nor does HopLimit inside a subnet, so the
 * answer repeats the requested values. A destination outside the subnet is reached through the
 * router that prefix-routes.conf names.
 */
#include "sa/record/paths.h"

#define C(name) IBA_COMPONENT(path_record, name)

static bool fit_limits(const struct paths *paths, const struct policy_path *policy,
		       struct iba_path_record *record)
{
	record->mtu_selector = IBA_SELECTOR_EXACTLY;
	record->mtu = policy->mtu;
	record->rate_selector = IBA_SELECTOR_EXACTLY;
	record->rate = policy->rate;
	record->packet_life_time_selector = IBA_SELECTOR_EXACTLY;
	record->packet_life_time = policy->life;
	return iba_fit_mtu(&record->mtu, &paths->mtu) &&
	       iba_fit_rate(&record->rate, &paths->rate) &&
	       iba_fit_life(&record->packet_life_time, &paths->life);
}

/* The GID as it was requested: a port with alias GUIDs has several. */
static struct iba_gid gid_of(const struct path_end *end, const struct fabric_port *port)
{
	return (struct iba_gid){end->prefix, end->guid ? end->guid : port->guid};
}

/* Fills the fields that do not depend on the LIDs. */
static void fill_ends(const struct paths *paths, uint32_t from, uint32_t to,
		      const struct policy_path *policy, struct iba_path_record *record)
{
	const struct fabric *fabric = paths->query->subnet->fabric;
	const struct iba_path_record *wanted = paths->wanted;
	uint64_t mask = paths->mask;

	*record = (struct iba_path_record){
		.service_id = paths->asked.service_id,
		.sgid = gid_of(&paths->from, &fabric->ports[from]),
		.dgid = gid_of(&paths->to, &fabric->ports[to]),
		.raw_traffic = mask & C(raw_traffic) ? wanted->raw_traffic : 0,
		.flow_label = mask & C(flow_label) ? wanted->flow_label : 0,
		.hop_limit = mask & C(hop_limit) ? wanted->hop_limit : 0,
		.t_class = mask & C(t_class) ? wanted->t_class : 0,
		.qos_class = paths->asked.qos_class,
		.p_key = policy->p_key,
		.sl = policy->sl,
	};
	if (paths->asked.leaves_subnet) {
		record->dgid = wanted->dgid;
		record->hop_limit = policy->hop_limit;
	}
}

/* Counts one more path; false: the query asks for too much. */
static bool look_at_one(struct paths *paths)
{
	if (paths->looked_at++ < PATHS_MAX)
		return true;
	paths->query->status = IBA_SA_NO_RESOURCES;
	return false;
}

/* Takes the path between two LIDs. *n counts the paths taken; false: stop. */
static bool offer_lids(struct paths *paths, uint32_t from, uint32_t to, struct policy_path *policy,
		       struct iba_path_record *record, uint32_t *n)
{
	const struct sa_query *query = paths->query;
	const struct subnet *subnet = query->subnet;
	const struct fabric_port *port = &subnet->fabric->ports[to];
	struct subnet_way way;

	if (!look_at_one(paths))
		return false;
	if (!policy_path_ends_at(policy, record->dlid - port->lid, 1u << port->lmc) ||
	    !subnet_view_walk(query->view, from, to, record->slid, record->dlid, &way))
		return true;
	if (!policy_path_on(subnet, &(struct policy_way){from, record->dlid, way.mtu, way.rate},
			    policy))
		return true;
	record->reversible =
		way.reversible && policy_drops(subnet, policy->sl, to, record->slid) == FABRIC_NONE;
	if ((paths->mask & C(reversible)) && paths->wanted->reversible && !record->reversible)
		return true;
	if (!fit_limits(paths, policy, record))
		return true;
	++*n;
	return paths->take(paths, from, to, record);
}

/* The LIDs of an end that a query may mean. */
static uint16_t lids_of(const struct path_end *end, const struct fabric_port *port, uint32_t *n)
{
	*n = end->lid ? 1 : 1u << port->lmc;
	return end->lid ? end->lid : port->lid;
}

bool paths_of_pair(struct paths *paths, uint32_t from, uint32_t to)
{
	const struct fabric *fabric = paths->query->subnet->fabric;
	uint32_t n_from, n_to, n = 0;
	uint16_t first_from = lids_of(&paths->from, &fabric->ports[from], &n_from);
	uint16_t first_to = lids_of(&paths->to, &fabric->ports[to], &n_to);
	struct iba_path_record record;
	struct policy_path policy;

	if (!policy_path(paths->query->subnet, &paths->asked, from, to, &policy))
		return look_at_one(paths);
	fill_ends(paths, from, to, &policy, &record);
	for (uint32_t i = 0; i < MIN(n_from, n_to) && n < paths->per_pair; i++) {
		record.slid = first_from + i;
		record.dlid = first_to + i;
		record.preference = 0;
		if (!offer_lids(paths, from, to, &policy, &record, &n))
			return false;
	}
	for (uint32_t i = 0; i < n_from * n_to && n < paths->per_pair; i++) {
		if (i / n_to == i % n_to)
			continue; /* was among the first */
		record.slid = first_from + i / n_to;
		record.dlid = first_to + i % n_to;
		record.preference = 2;
		if (!offer_lids(paths, from, to, &policy, &record, &n))
			return false;
	}
	return true;
}

/* ---- the ends ---- */

static bool is_endport(const struct fabric *fabric, uint32_t port)
{
	return fabric_is_endport(fabric, port) && fabric->ports[port].lid != 0;
}

static uint32_t lids_owner(const struct fabric *fabric, uint16_t lid)
{
	uint32_t port = fabric_port_by_lid(fabric, lid);

	return port != FABRIC_NONE && is_endport(fabric, port) ? port : FABRIC_NONE;
}

/*
 * Sets the port of a GID, or FABRIC_NONE: no port has it, which is answered as if the requester may
 * not see the port. False: no end can have that GID.
 */
static bool find_gid(const struct sa_query *query, struct iba_gid gid, bool source,
		     struct path_end *end, uint32_t *port)
{
	const struct fabric *fabric = query->subnet->fabric;

	if (sa_prefix_is_local(query, gid.prefix)) {
		*port = sa_port_by_guid(query, gid.guid);
		end->prefix = gid.prefix;
		end->guid = gid.guid;
		return true;
	}
	*port = prefix_routes_find(query->subnet->prefix_routes, fabric, query->view->router,
				   gid.prefix);
	end->leaves_subnet = true;
	return !source && !iba_gid_is_multicast(gid);
}

uint16_t paths_resolve(const struct sa_query *query, const struct path_end_asked *asked,
		       struct path_end *end)
{
	const struct fabric *fabric = query->subnet->fabric;
	uint32_t port, owner = asked->has_lid ? lids_owner(fabric, asked->lid) : FABRIC_NONE;

	*end = (struct path_end){
		.end = fabric->n_ports,
		.prefix = query->subnet->options->subnet_prefix,
		.lid = asked->has_lid ? asked->lid : 0,
	};
	if (asked->has_gid) {
		if (!find_gid(query, asked->gid, asked->source, end, &port))
			return IBA_SA_INVALID_GID;
		if (asked->has_lid && owner != port)
			port = FABRIC_NONE;
	} else if (asked->has_lid) {
		port = owner;
	} else {
		return IBA_STATUS_OK;
	}
	end->first = port == FABRIC_NONE ? 0 : port;
	end->end = port == FABRIC_NONE ? 0 : port + 1;
	return IBA_STATUS_OK;
}

/* Counts the endports of an end that the requester may see. */
static uint64_t count_end(const struct sa_query *query, const struct path_end *end,
			  bool (*may)(const struct sa_query *query, uint32_t endport))
{
	uint64_t n = 0;

	for (uint32_t i = end->first; i < end->end; i++)
		n += is_endport(query->subnet->fabric, i) && may(query, i);
	return n;
}

static bool is_too_much(const struct paths *paths)
{
	const struct sa_query *query = paths->query;

	if (!sa_is_table(query) || paths->from.end - paths->from.first < 2 ||
	    paths->to.end - paths->to.first < 2)
		return false;
	return count_end(query, &paths->from, sa_may_see) *
		       count_end(query, &paths->to, sa_may_reach) >
	       PATHS_MAX;
}

static bool offer_all_to(struct paths *paths, uint32_t from)
{
	const struct sa_query *query = paths->query;
	const struct fabric *fabric = query->subnet->fabric;

	if (!is_endport(fabric, from) || !sa_may_see(query, from))
		return true;
	for (uint32_t to = paths->to.first; to < paths->to.end; to++)
		if (is_endport(fabric, to) && sa_may_reach(query, to) &&
		    !paths_of_pair(paths, from, to))
			return false;
	return true;
}

/* ---- a query ---- */

/* Whether the devices' best MTU does not fulfil the request, which may ask for the greatest. */
static bool keeps_mtu(const struct iba_limit *mtu)
{
	uint8_t best = POLICY_TAVOR_MTU;

	return mtu->given && (mtu->selector == IBA_SELECTOR_BEST || !iba_fit_mtu(&best, mtu));
}

static struct policy_wanted policy_asked(const struct iba_path_record *w, uint64_t mask)
{
	const struct iba_limit mtu = IBA_LIMIT(path_record, mask, w, mtu);

	return (struct policy_wanted){
		.has_p_key = mask & C(p_key),
		.p_key = w->p_key,
		.has_sl = mask & C(sl),
		.sl = w->sl,
		.has_class = mask & C(qos_class),
		.qos_class = mask & C(qos_class) ? w->qos_class : 0,
		.has_service = mask & C(service_id),
		.service_id = mask & C(service_id) ? w->service_id : 0,
		.keeps_mtu = keeps_mtu(&mtu),
	};
}

uint16_t paths_begin(struct paths *paths, struct sa_query *query, const struct iba_path_record *w,
		     uint64_t mask)
{
	*paths = (struct paths){
		.query = query,
		.wanted = w,
		.mask = mask,
		.mtu = IBA_LIMIT(path_record, mask, w, mtu),
		.rate = IBA_LIMIT(path_record, mask, w, rate),
		.life = IBA_LIMIT(path_record, mask, w, packet_life_time),
		.per_pair = mask & C(numb_path) ? w->numb_path : UINT32_MAX,
		.asked = policy_asked(w, mask),
	};
	/* Half a ServiceID is not a ServiceID. */
	return !(mask & C(service_id)) == !(mask & C(service_id_low))
		       ? IBA_STATUS_OK
		       : IBA_SA_INSUFFICIENT_COMPONENTS;
}

uint16_t paths_resolve_from(struct paths *paths)
{
	const struct path_end_asked asked = {
		.has_gid = paths->mask & C(sgid),
		.gid = paths->wanted->sgid,
		.has_lid = paths->mask & C(slid),
		.lid = paths->wanted->slid,
		.source = true,
	};

	return paths_resolve(paths->query, &asked, &paths->from);
}

uint16_t paths_resolve_to(struct paths *paths)
{
	const struct path_end_asked asked = {
		.has_gid = paths->mask & C(dgid),
		.gid = paths->wanted->dgid,
		.has_lid = paths->mask & C(dlid),
		.lid = paths->wanted->dlid,
	};
	uint16_t status = paths_resolve(paths->query, &asked, &paths->to);

	paths->asked.leaves_subnet = paths->to.leaves_subnet;
	return status;
}

uint16_t paths_each(struct paths *paths)
{
	if (is_too_much(paths))
		return IBA_SA_NO_RESOURCES;
	for (uint32_t from = paths->from.first; from < paths->from.end; from++)
		if (!offer_all_to(paths, from))
			break;
	return IBA_STATUS_OK;
}
