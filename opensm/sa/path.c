// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PathRecord (IBA 15.2.5.16): which LIDs, P_Key, SL, MTU, rate and life time two ports may use.
 *
 * Each end of a query is a GID, a LID, both, or left open. An open end means every endport. For a
 * pair of endports the pairs of LIDs (LMC) are tried in a fixed order: first the n-th LID of one
 * with the n-th of the other (Preference 0), then all others (Preference 2). For a pair of LIDs
 * the forwarding tables are walked hop by hop; a path that breaks is no record. MTU and rate are
 * the least on the way.
 *
 * A path may be used with a smaller MTU or rate than it could carry, and its life time may be
 * stated longer than needed: that is how a value asked for by a selector is met. TClass,
 * FlowLabel, HopLimit and RawTraffic do not select among paths inside a subnet, so the answer
 * repeats what was asked for; QoSClass and ServiceID choose a level of qos-policy.conf, which has a
 * say in SL, P_Key, MTU, rate and life time.
 *
 * A multicast DGID is answered from the group, whose values are fixed.
 */
#include "sa/limit.h"
#include "sa/sa_private.h"
#include "sa/store.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define BOTH_SERVICE_IDS (C(service_id) | C(service_id_low))
/*
 * Most paths one query looks at: more would not fit into an answer, and who asks for less than it
 * looks at must not keep a worker busy for minutes.
 */
#define PATHS_MAX (SA_MAX_REPLY / iba_path_record_bytes)
#define LAST_OLD_RATE IBA_RATE_300 /* the last of the first extension of the codes */

/* One end of a query. */
struct path_end {
	uint32_t first, end; /* endports in question: [first, end) */
	uint64_t prefix;     /* of the GID in the answer */
	uint16_t lid;	     /* the one asked for, or 0: any of the port */
};

/* What a query asks of every path, worked out once. */
struct path_query {
	struct sa_query *query;
	const struct iba_path_record *wanted;
	uint64_t mask;
	struct path_end from, to;
	struct sa_limit mtu, rate, life;
	uint32_t looked_at;
	uint32_t per_pair; /* paths wanted for each pair of ports */
	const struct qos_level *level; /* that the pair at hand is held to; NULL: there is no QoS */
};

/* ---- selectors ---- */

/* Old clients do not know all codes (max_rate_enum). */
static uint8_t known_rate(const struct options *options, uint8_t rate)
{
	uint8_t max = options->max_rate_enum;

	if (options->use_original_extended_sa_rates_only)
		max = MIN(max, LAST_OLD_RATE);
	return rate > max ? iba_rate_limit(rate, max) : rate;
}

static bool fit_limits(const struct path_query *path, const struct sa_way *way, bool loopback,
		       struct iba_path_record *record)
{
	const struct options *options = path->query->subnet->options;
	const struct qos_level *level = path->level;

	record->mtu_selector = IBA_SELECTOR_EXACTLY;
	record->mtu = way->mtu;
	record->rate_selector = IBA_SELECTOR_EXACTLY;
	record->rate = known_rate(options, way->rate);
	record->packet_life_time_selector = IBA_SELECTOR_EXACTLY;
	record->packet_life_time = loopback ? 0 : options->subnet_timeout;
	if (level && level->has_mtu)
		record->mtu = MIN(record->mtu, level->mtu);
	if (level && level->has_rate && iba_rate_compare(record->rate, level->rate) > 0)
		record->rate = level->rate;
	if (level && level->has_life)
		record->packet_life_time = level->life;
	return sa_fit_mtu(&record->mtu, &path->mtu) && sa_fit_rate(&record->rate, &path->rate) &&
	       sa_fit_life(&record->packet_life_time, &path->life);
}

/* ---- a pair of ports ---- */

/* The rules of qos-policy.conf go by what the query says and by the ports. */
static const struct qos_level *level_of(const struct path_query *path, uint32_t from, uint32_t to)
{
	const struct qos_paths *qos = path->query->subnet->qos;
	struct qos_query query = {
		.has_class = path->mask & C(qos_class),
		.qos_class = path->wanted->qos_class,
		.has_service = !(~path->mask & BOTH_SERVICE_IDS),
		.service_id = path->wanted->service_id,
		.has_p_key = path->mask & C(p_key),
		.p_key = path->wanted->p_key,
	};

	return qos ? qos_paths_level(qos, &query, from, to) : NULL;
}

/* That P_Key, as the source holds it if the query leaves it open; 0: the two may not use it. */
static uint16_t usable_p_key(const struct path_query *path, uint16_t p_key, uint32_t from,
			     uint32_t to)
{
	const struct partitions *partitions = path->query->subnet->partitions;
	uint16_t a = partitions_member(partitions, from, p_key);
	uint16_t b = partitions_member(partitions, to, p_key);

	if (!a || !b || !((a | b) & P_KEY_FULL))
		return 0;
	return path->mask & C(p_key) ? path->wanted->p_key : a;
}

/* The P_Key of the path, 0 if the two may not talk over the one asked for, or over any. */
static uint16_t choose_p_key(const struct path_query *path, uint32_t from, uint32_t to)
{
	const struct qos_level *level = path->level;
	bool asked = path->mask & C(p_key);

	if (level && level->has_p_key)
		return asked && P_KEY_BASE(path->wanted->p_key) != level->p_key
			       ? 0
			       : usable_p_key(path, level->p_key, from, to);
	if (asked)
		return usable_p_key(path, path->wanted->p_key, from, to);
	return partitions_shared(path->query->subnet->partitions, from, to);
}

/* False if the SL asked for is not the one of the level, or packets of it would be dropped. */
static bool choose_sl(const struct path_query *path, uint16_t p_key, uint8_t *sl)
{
	const struct subnet *subnet = path->query->subnet;
	const struct partition *partition = partitions_find(subnet->partitions, p_key);
	bool asked = path->mask & C(sl);

	if (path->level && path->level->has_sl)
		*sl = path->level->sl;
	else if (asked)
		*sl = path->wanted->sl;
	else
		*sl = partition ? partition->sl : subnet->options->sm_sl;
	return !(asked && *sl != path->wanted->sl) &&
	       !(subnet->qos && subnet->qos->dropped >> *sl & 1);
}

/* Whether the level lets paths end at that LID. */
static bool may_end_at(const struct path_query *path, uint32_t to, uint16_t dlid)
{
	const struct fabric_port *port = &path->query->subnet->fabric->ports[to];

	return !path->level || !path->level->path_bits->len ||
	       qos_ranges_have(path->level->path_bits, dlid - port->lid);
}

/* What does not depend on the LIDs. */
static void fill_ends(const struct path_query *path, uint32_t from, uint32_t to,
		      struct iba_path_record *record)
{
	const struct fabric *fabric = path->query->subnet->fabric;
	const struct iba_path_record *wanted = path->wanted;
	uint64_t mask = path->mask;

	*record = (struct iba_path_record){
		.service_id = (~mask & BOTH_SERVICE_IDS) ? 0 : wanted->service_id,
		.sgid = {path->from.prefix, fabric->ports[from].guid},
		.dgid = {path->to.prefix, fabric->ports[to].guid},
		.raw_traffic = mask & C(raw_traffic) ? wanted->raw_traffic : 0,
		.flow_label = mask & C(flow_label) ? wanted->flow_label : 0,
		.hop_limit = mask & C(hop_limit) ? wanted->hop_limit : 0,
		.t_class = mask & C(t_class) ? wanted->t_class : 0,
		.qos_class = mask & C(qos_class) ? wanted->qos_class : 0,
	};
}

/* Offers the path between two LIDs. *n counts those offered; false: no need to go on. */
static bool offer_lids(struct path_query *path, uint32_t from, uint32_t to,
		       struct iba_path_record *record, uint32_t *n)
{
	struct sa_query *query = path->query;
	struct sa_way way;

	if (path->looked_at++ == PATHS_MAX) {
		query->status = IBA_SA_NO_RESOURCES;
		return false;
	}
	if (!may_end_at(path, to, record->dlid) ||
	    !sa_view_walk(query->view, from, to, record->slid, record->dlid, &way))
		return true;
	record->reversible = way.reversible;
	if ((path->mask & C(reversible)) && path->wanted->reversible && !record->reversible)
		return true;
	if (!fit_limits(path, &way, from == to, record))
		return true;
	++*n;
	return sa_offer(query, record, FABRIC_NONE);
}

/* The LIDs of an end that a query may mean. */
static uint16_t lids_of(const struct path_end *end, const struct fabric_port *port, uint32_t *n)
{
	*n = end->lid ? 1 : 1u << port->lmc;
	return end->lid ? end->lid : port->lid;
}

static bool offer_pair(struct path_query *path, uint32_t from, uint32_t to)
{
	const struct fabric *fabric = path->query->subnet->fabric;
	uint32_t n_from, n_to, n = 0;
	uint16_t first_from = lids_of(&path->from, &fabric->ports[from], &n_from);
	uint16_t first_to = lids_of(&path->to, &fabric->ports[to], &n_to);
	struct iba_path_record record;

	fill_ends(path, from, to, &record);
	path->level = level_of(path, from, to);
	record.p_key = choose_p_key(path, from, to);
	if (record.p_key == 0 || !choose_sl(path, record.p_key, &record.sl))
		return true;
	for (uint32_t i = 0; i < MIN(n_from, n_to) && n < path->per_pair; i++) {
		record.slid = first_from + i;
		record.dlid = first_to + i;
		record.preference = 0;
		if (!offer_lids(path, from, to, &record, &n))
			return false;
	}
	for (uint32_t i = 0; i < n_from * n_to && n < path->per_pair; i++) {
		if (i / n_to == i % n_to)
			continue; /* was among the first */
		record.slid = first_from + i / n_to;
		record.dlid = first_to + i % n_to;
		record.preference = 2;
		if (!offer_lids(path, from, to, &record, &n))
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

/* Which endports an end means. A GID must be one of this subnet; a LID may be anything. */
static uint16_t resolve_end(const struct sa_query *query, bool has_gid, struct iba_gid gid,
			    bool has_lid, uint16_t lid, struct path_end *end)
{
	const struct fabric *fabric = query->subnet->fabric;
	uint32_t port, owner = has_lid ? lids_owner(fabric, lid) : FABRIC_NONE;

	*end = (struct path_end){
		.end = fabric->n_ports,
		.prefix = query->subnet->options->subnet_prefix,
		.lid = has_lid ? lid : 0,
	};
	if (has_gid) {
		port = fabric_port_by_guid(fabric, gid.guid);
		if (!sa_prefix_is_local(query, gid.prefix) || port == FABRIC_NONE)
			return IBA_SA_INVALID_GID;
		end->prefix = gid.prefix;
		if (has_lid && owner != port)
			port = FABRIC_NONE;
	} else if (has_lid) {
		port = owner;
	} else {
		return IBA_STATUS_OK;
	}
	end->first = port == FABRIC_NONE ? 0 : port;
	end->end = port == FABRIC_NONE ? 0 : port + 1;
	return IBA_STATUS_OK;
}

/* Endports of an end that the requester may know of. */
static uint64_t count_end(const struct sa_query *query, const struct path_end *end)
{
	uint64_t n = 0;

	for (uint32_t i = end->first; i < end->end; i++)
		n += is_endport(query->subnet->fabric, i) && sa_may_see(query, i);
	return n;
}

static bool is_too_much(const struct path_query *path)
{
	const struct sa_query *query = path->query;

	if (query->header.method == IBA_METHOD_GET || path->from.end - path->from.first < 2 ||
	    path->to.end - path->to.first < 2)
		return false;
	return count_end(query, &path->from) * count_end(query, &path->to) > PATHS_MAX;
}

static bool offer_all_to(struct path_query *path, uint32_t from)
{
	const struct sa_query *query = path->query;
	const struct fabric *fabric = query->subnet->fabric;

	if (!is_endport(fabric, from) || !sa_may_see(query, from))
		return true;
	for (uint32_t to = path->to.first; to < path->to.end; to++)
		if (is_endport(fabric, to) && sa_may_see(query, to) && !offer_pair(path, from, to))
			return false;
	return true;
}

/* ---- multicast ---- */

static bool wants_multicast(const struct sa_query *query)
{
	const struct iba_path_record *wanted = &query->wanted.path;

	if (sa_wants(query, C(dgid)))
		return iba_gid_is_multicast(wanted->dgid);
	return sa_wants(query, C(dlid)) && iba_lid_is_multicast(wanted->dlid);
}

/* The path from a port, by default the requester's, to all members of a group. */
static uint16_t offer_group(const struct path_query *path, const struct sa_group *group)
{
	struct sa_query *query = path->query;
	const struct iba_mc_member_record *g = &group->record;
	uint32_t from =
		path->from.end == path->from.first + 1 ? path->from.first : query->from.port;
	const struct fabric_port *source = &query->subnet->fabric->ports[from];
	struct iba_path_record record = {
		.sgid = {path->from.prefix, source->guid},
		.dgid = g->mgid,
		.slid = path->from.lid ? path->from.lid : source->lid,
		.dlid = g->mlid,
		.flow_label = g->flow_label,
		.hop_limit = g->hop_limit,
		.t_class = g->t_class,
		.p_key = path->mask & C(p_key) ? path->wanted->p_key : g->p_key,
		.sl = g->sl,
		.mtu_selector = IBA_SELECTOR_EXACTLY,
		.mtu = g->mtu,
		.rate_selector = IBA_SELECTOR_EXACTLY,
		.rate = g->rate,
		.packet_life_time_selector = IBA_SELECTOR_EXACTLY,
		.packet_life_time = g->packet_life_time,
	};

	if (P_KEY_BASE(record.p_key) != P_KEY_BASE(g->p_key) ||
	    !partitions_member(query->subnet->partitions, from, g->p_key) ||
	    !sa_group_fits(g, &path->mtu, &path->rate, &path->life))
		return IBA_STATUS_OK;
	query->mask &= C(t_class) | C(flow_label) | C(hop_limit) | C(sl) | C(raw_traffic) | C(dlid);
	if (!(path->mask & C(reversible)) || !path->wanted->reversible)
		sa_offer(query, &record, from);
	return IBA_STATUS_OK;
}

static uint16_t each_multicast(struct path_query *path)
{
	const struct sa_query *query = path->query;
	const struct sa_group *group;

	if (query->from.port == FABRIC_NONE || path->from.first == path->from.end)
		return IBA_STATUS_OK;
	group = path->mask & C(dgid) ? sa_store_find(query->store, path->wanted->dgid) :
				       sa_store_find_mlid(query->store, path->wanted->dlid);
	if (!group)
		return IBA_STATUS_OK;
	return offer_group(path, group);
}

/* ---- the query ---- */

enum sa_place sa_path_place(const struct sa_query *query)
{
	if (wants_multicast(query))
		return SA_AT_REGISTRIES;
	return query->header.method == IBA_METHOD_GET && (query->mask & (C(sgid) | C(slid))) &&
			       (query->mask & (C(dgid) | C(dlid)))
		       ? SA_AT_ONCE
		       : SA_IN_POOL;
}

static void prepare(struct path_query *path, struct sa_query *query)
{
	const struct iba_path_record *w = &query->wanted.path;
	uint64_t mask = query->mask;

	*path = (struct path_query){
		.query = query,
		.wanted = w,
		.mask = mask,
		.mtu = SA_LIMIT(path_record, mask, w, mtu),
		.rate = SA_LIMIT(path_record, mask, w, rate),
		.life = SA_LIMIT(path_record, mask, w, packet_life_time),
		.per_pair = query->header.method == IBA_METHOD_GET ? 1 :
			    mask & C(numb_path)			   ? w->numb_path :
								     UINT32_MAX,
	};
}

/* Both ends at once: in a large fabric each is far away in memory. */
static void prefetch_ends(const struct path_query *path)
{
	const struct sa_query *query = path->query;
	const struct fabric *fabric = query->subnet->fabric;

	if (path->mask & C(sgid))
		sa_view_prefetch(query->view, fabric_port_guess(fabric, path->wanted->sgid.guid));
	if (path->mask & C(dgid))
		sa_view_prefetch(query->view, fabric_port_guess(fabric, path->wanted->dgid.guid));
}

uint16_t sa_path_each(struct sa_query *query)
{
	struct path_query path;
	const struct iba_path_record *wanted = &query->wanted.path;
	uint16_t status;

	prepare(&path, query);
	prefetch_ends(&path);
	status = resolve_end(query, path.mask & C(sgid), wanted->sgid, path.mask & C(slid),
			     wanted->slid, &path.from);
	if (status != IBA_STATUS_OK)
		return status;
	if (wants_multicast(query))
		return each_multicast(&path);
	status = resolve_end(query, path.mask & C(dgid), wanted->dgid, path.mask & C(dlid),
			     wanted->dlid, &path.to);
	if (status != IBA_STATUS_OK)
		return status;
	query->mask = 0; /* paths are made to measure */
	if (is_too_much(&path))
		return IBA_SA_NO_RESOURCES;
	for (uint32_t from = path.from.first; from < path.from.end; from++)
		if (!offer_all_to(&path, from))
			break;
	return IBA_STATUS_OK;
}
