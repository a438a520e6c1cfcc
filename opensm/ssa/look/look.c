// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SA's own order of work (sa/record/paths.c), on tables: each end is a GID, a LID, or both; the
 * policy says what the two may use; then the pairs of LIDs are tried, the n-th with the n-th first.
 * A mapped snapshot can change under the reader if its file is written in place, so the few
 * indexes that come from rows checked at opening are trusted, as the agent only renames files.
 */
#include "ssa/look/look.h"

#include <string.h>

#include "iba/codes.h"
#include "iba/constants.h"
#include "iba/limit.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define DEFAULT_PREFIX UINT64_C(0xFE80000000000000)
#define P_KEY_BASE_BITS 0x7FFF
#define LANE_NONE 0xFF

/* ---- finding ports ---- */

/* The first row with a GUID, at the start of the row, that is not below that one. */
static uint32_t lower_bound(const struct ssa_table *table, uint64_t guid)
{
	uint32_t low = 0, high = (uint32_t)table->rows;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t at;

		memcpy(&at, table->data + (size_t)middle * table->row_size, sizeof(at));
		if (ssa_64(at) < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t ssa_look_guid(const struct ssa_snapshot *snapshot, uint64_t guid)
{
	const struct ssa_table *table = &snapshot->tables[SSA_ALIASES];
	const struct ssa_alias *aliases = (const void *)table->data;
	uint32_t i = lower_bound(&snapshot->tables[SSA_ENDPORTS], guid);

	if (i < snapshot->n_endports && ssa_64(snapshot->endports[i].guid) == guid)
		return i;
	i = lower_bound(table, guid);
	return i < table->rows && ssa_64(aliases[i].guid) == guid ? ssa_32(aliases[i].endport)
								  : SSA_NONE;
}

uint32_t ssa_look_lid(const struct ssa_snapshot *snapshot, uint16_t lid)
{
	return lid < SSA_LIDS ? snapshot->lid_endport[lid] : SSA_NONE;
}

const char *ssa_look_name(const struct ssa_snapshot *snapshot, uint32_t endport)
{
	const struct ssa_table *table = &snapshot->tables[SSA_DESCRIPTIONS];

	return (const char *)table->data + (size_t)endport * table->row_size;
}

/* ---- a query ---- */

struct end {
	uint32_t port;	       /* SSA_NONE: no port, or none that is meant by GID and LID alike */
	uint64_t prefix, guid; /* of the GID in the answer; guid 0: that of the port */
	uint16_t lid;	       /* 0: any of the port */
	bool leaves;	       /* it is a router, and the GID is beyond it */
};

struct look {
	const struct ssa_snapshot *snapshot;
	const struct iba_path_record *wanted;
	uint64_t mask;
	struct end from, to;
	struct iba_limit mtu, rate, life;
	uint32_t max; /* paths */
	ssa_look_take take;
	void *arg;
	uint32_t found;
	const char *why;
};

static enum ssa_look none(struct look *look, const char *why)
{
	look->why = why;
	return SSA_LOOK_NONE;
}

static enum ssa_look ask(struct look *look, const char *why)
{
	look->why = why;
	return SSA_LOOK_ASK;
}

static uint32_t router_of(const struct ssa_snapshot *snapshot, uint64_t prefix)
{
	const struct ssa_table *table = &snapshot->tables[SSA_PREFIXES];
	const struct ssa_prefix *prefixes = (const void *)table->data;

	for (uint32_t i = 0; i < table->rows; i++)
		if (!prefixes[i].prefix || ssa_64(prefixes[i].prefix) == prefix)
			return ssa_32(prefixes[i].endport);
	return SSA_NONE;
}

/* False: no end can have that GID. */
static bool find_gid(const struct ssa_snapshot *snapshot, struct iba_gid gid, bool source,
		     struct end *end)
{
	if (gid.prefix == snapshot->prefix || gid.prefix == DEFAULT_PREFIX) {
		end->port = ssa_look_guid(snapshot, gid.guid);
		end->prefix = gid.prefix;
		end->guid = gid.guid;
		return true;
	}
	end->port = router_of(snapshot, gid.prefix);
	end->leaves = true;
	return !source;
}

static bool find_end(const struct look *look, bool has_gid, struct iba_gid gid, uint16_t lid,
		     bool source, struct end *end)
{
	uint32_t owner = lid ? ssa_look_lid(look->snapshot, lid) : SSA_NONE;

	*end = (struct end){.port = owner, .prefix = look->snapshot->prefix, .lid = lid};
	if (!has_gid)
		return true;
	if (!find_gid(look->snapshot, gid, source, end))
		return false;
	if (lid && owner != end->port)
		end->port = SSA_NONE;
	return true;
}

static bool has_lid(const struct ssa_snapshot *snapshot, uint32_t port)
{
	return port != SSA_NONE && snapshot->endports[port].lid != 0;
}

/* What only the SA can tell, by the form of the query. */
static enum ssa_look check_form(struct look *look)
{
	const struct iba_path_record *wanted = look->wanted;
	uint32_t flags = ssa_32(look->snapshot->subnet->flags);
	uint64_t mask = look->mask;

	if (!(mask & (C(sgid) | C(slid))) || !(mask & (C(dgid) | C(dlid))))
		return ask(look, "an end is left open");
	if ((mask & C(dgid) && iba_gid_is_multicast(wanted->dgid)) ||
	    (mask & C(dlid) && iba_lid_is_multicast(wanted->dlid)))
		return ask(look, "the destination is a multicast group");
	if (flags & SSA_NO_VERDICTS)
		return ask(look, "the snapshot has no verdicts of the policy");
	if (mask & (C(service_id) | C(service_id_low)) && flags & SSA_RULES_BY_SERVICE)
		return ask(look, "QoS rules look at ServiceIDs");
	if (mask & C(qos_class) && flags & SSA_RULES_BY_CLASS)
		return ask(look, "QoS rules look at QoS classes");
	if (!(mask & C(service_id)) != !(mask & C(service_id_low)))
		return none(look, "half a ServiceID");
	if ((mask & C(slid) && !wanted->slid) || (mask & C(dlid) && !wanted->dlid))
		return none(look, "LID 0 belongs to no port");
	return SSA_LOOK_FOUND;
}

static enum ssa_look find_ends(struct look *look)
{
	const struct iba_path_record *wanted = look->wanted;
	uint64_t mask = look->mask;

	if (!find_end(look, mask & C(sgid), wanted->sgid, mask & C(slid) ? wanted->slid : 0, true,
		      &look->from) ||
	    !find_end(look, mask & C(dgid), wanted->dgid, mask & C(dlid) ? wanted->dlid : 0, false,
		      &look->to))
		return none(look, "the GID is not one of this subnet");
	if (!has_lid(look->snapshot, look->from.port) || !has_lid(look->snapshot, look->to.port))
		return none(look, "no port has these identifiers");
	return SSA_LOOK_FOUND;
}

/* ---- the policy ---- */

static const struct ssa_verdict *find_verdict(const struct ssa_snapshot *snapshot, uint32_t from,
					      uint32_t to, uint16_t p_key)
{
	const uint32_t *pairs = (const void *)snapshot->tables[SSA_PAIRS].data;
	const struct ssa_verdict *verdict = (const void *)snapshot->tables[SSA_VERDICTS].data;
	uint64_t n = ssa_32(snapshot->subnet->n_classes);

	verdict += ssa_32(pairs[ssa_32(snapshot->endports[from].class) * n +
				ssa_32(snapshot->endports[to].class)]);
	while (ssa_16(verdict->asked) != p_key) {
		if (verdict->flags & SSA_VERDICT_LAST)
			return NULL;
		verdict++;
	}
	return verdict;
}

/* The SL, as lanes of routes need it. */
static enum ssa_look fit_lane(struct look *look, const struct ssa_endport *from,
			      const struct ssa_endport *to, uint8_t *sl)
{
	const struct ssa_subnet *subnet = look->snapshot->subnet;
	uint8_t lane = subnet->lane;

	if (subnet->lanes == SSA_LANES_FREE || from->sw == SSA_NONE || to->sw == SSA_NONE)
		return SSA_LOOK_FOUND;
	if (subnet->lanes == SSA_LANES_PAIRS) {
		uint32_t row = ssa_32(look->snapshot->switches[ssa_32(from->sw)].row);
		const uint8_t *lanes = ssa_snapshot_row(look->snapshot, SSA_LANES, row);

		if (!lanes)
			return ask(look, "the lanes of that source are not here");
		lane = lanes[ssa_32(to->sw)];
	}
	if (lane == LANE_NONE)
		return none(look, "the routing engine has no lane for it");
	if (look->mask & C(sl) && (*sl & ~subnet->lane_levels) != lane)
		return none(look, "the routing engine requires another SL");
	*sl = lane | (*sl & subnet->lane_levels);
	return SSA_LOOK_FOUND;
}

/* Sets what does not depend on LIDs. */
static enum ssa_look judge(struct look *look, const struct ssa_verdict **verdict,
			   struct iba_path_record *record)
{
	const struct ssa_snapshot *snapshot = look->snapshot;
	const struct ssa_endport *from = &snapshot->endports[look->from.port];
	const struct ssa_endport *to = &snapshot->endports[look->to.port];
	const struct iba_path_record *wanted = look->wanted;
	bool has_p_key = look->mask & C(p_key);
	enum ssa_look result;

	if (has_p_key && !(wanted->p_key & P_KEY_BASE_BITS))
		return none(look, "P_Key 0 is of no partition");
	*verdict = find_verdict(snapshot, look->from.port, look->to.port,
				has_p_key ? wanted->p_key & P_KEY_BASE_BITS : 0);
	if (!*verdict || (*verdict)->flags & SSA_VERDICT_REFUSED)
		return none(look, "the two share no such partition, or QoS refuses it");
	record->p_key = has_p_key ? wanted->p_key : ssa_16((*verdict)->p_key);
	record->sl = (*verdict)->sl;
	if (look->mask & C(sl)) {
		if ((*verdict)->flags & SSA_VERDICT_SL_FIXED && wanted->sl != record->sl)
			return none(look, "the QoS level has another SL");
		record->sl = wanted->sl;
	}
	result = fit_lane(look, from, to, &record->sl);
	if (result == SSA_LOOK_FOUND && ssa_16(snapshot->subnet->dropped_sls) >> record->sl & 1)
		return ask(look, "SL2VL tables drop packets of its SL somewhere");
	return result;
}

/* If that leaves the port no LID, any will do. */
static bool may_end_at(const struct ssa_snapshot *snapshot, const struct ssa_verdict *verdict,
		       unsigned int n, unsigned int lids)
{
	unsigned int index = ssa_16(verdict->path_bits);
	const uint8_t *bits;

	if (!index)
		return true;
	bits = snapshot->tables[SSA_PATH_BITS].data + (index - 1) * 16u;
	if (bits[n / 8] >> n % 8 & 1)
		return true;
	for (unsigned int i = 0; i < lids; i++)
		if (bits[i / 8] >> i % 8 & 1)
			return false;
	return true;
}

/* ---- ways ---- */

static uint8_t narrower(uint8_t a, uint8_t b)
{
	return ssa_way(MIN(ssa_way_mtu(a), ssa_way_mtu(b)), MIN(ssa_way_rank(a), ssa_way_rank(b)));
}

static bool reaches(const struct ssa_snapshot *snapshot, uint16_t lid, uint32_t sw, bool *known)
{
	const uint8_t *bits = ssa_snapshot_row(snapshot, SSA_REACH, lid);

	*known = bits != NULL;
	return bits && bits[sw / 8] >> sw % 8 & 1;
}

/* The way between two LIDs, and whether packets come back. */
static enum ssa_look find_way(struct look *look, uint16_t slid, uint16_t dlid, uint8_t *way,
			      bool *reversible)
{
	const struct ssa_snapshot *snapshot = look->snapshot;
	const struct ssa_endport *from = &snapshot->endports[look->from.port];
	const struct ssa_endport *to = &snapshot->endports[look->to.port];
	const uint8_t *row;
	bool known = true;

	*reversible = true;
	if (look->from.port == look->to.port) {
		*way = from->inside;
		return SSA_LOOK_FOUND;
	}
	*way = from->own;
	if (from->sw == SSA_NONE)
		return ssa_32(from->peer) == look->to.port && *way != SSA_WAY_NONE
			       ? SSA_LOOK_FOUND
			       : none(look, "no cable leads there");
	row = ssa_snapshot_row(snapshot, SSA_PATHS,
			       ssa_32(snapshot->switches[ssa_32(from->sw)].row));
	if (!row)
		return ask(look, "the ways from that source are not here");
	if (row[dlid] == SSA_WAY_NONE)
		return none(look, "the forwarding tables do not lead there");
	*way = narrower(*way, row[dlid]);
	*reversible = to->sw != SSA_NONE && reaches(snapshot, slid, ssa_32(to->sw), &known);
	return known ? SSA_LOOK_FOUND : ask(look, "the ways back are not here");
}

static uint8_t tell_rate(const struct ssa_snapshot *snapshot, unsigned int row, uint8_t rate)
{
	return snapshot->tables[SSA_RATES].data[row * 64 + rate];
}

static void fit_way(const struct look *look, const struct ssa_verdict *verdict, uint8_t way,
		    bool keeps_mtu, struct iba_path_record *record)
{
	const struct ssa_snapshot *snapshot = look->snapshot;
	uint8_t rate = snapshot->subnet->rank_rate[ssa_way_rank(way)];

	record->mtu = ssa_way_mtu(way);
	if (verdict->mtu)
		record->mtu = MIN(record->mtu, verdict->mtu);
	if (verdict->mtu_best && !keeps_mtu)
		record->mtu = MIN(record->mtu, verdict->mtu_best);
	rate = tell_rate(snapshot, 0, rate);
	rate = tell_rate(snapshot, snapshot->endports[look->from.port].rates, rate);
	rate = tell_rate(snapshot, snapshot->endports[look->to.port].rates, rate);
	if (verdict->rate && iba_rate_compare(rate, verdict->rate) > 0)
		rate = verdict->rate;
	record->rate = rate;
	record->packet_life_time = look->from.port == look->to.port ? 0 : verdict->life;
}

static bool fit_limits(const struct look *look, struct iba_path_record *record)
{
	return iba_fit_mtu(&record->mtu, &look->mtu) && iba_fit_rate(&record->rate, &look->rate) &&
	       iba_fit_life(&record->packet_life_time, &look->life);
}

/* Whether the devices' best MTU does not fulfil the query, which may ask for the greatest. */
static bool needs_mtu(const struct look *look, const struct ssa_verdict *verdict)
{
	uint8_t best = verdict->mtu_best;

	return look->mtu.given && best &&
	       (look->mtu.selector == IBA_SELECTOR_BEST || !iba_fit_mtu(&best, &look->mtu));
}

/* *go: whether more are wanted. */
static enum ssa_look offer(struct look *look, const struct ssa_verdict *verdict,
			   struct iba_path_record *record, bool *go)
{
	const struct ssa_endport *to = &look->snapshot->endports[look->to.port];
	bool reversible;
	enum ssa_look result;
	uint8_t way;

	if (!may_end_at(look->snapshot, verdict, record->dlid - ssa_16(to->lid), 1u << to->lmc))
		return SSA_LOOK_NONE;
	result = find_way(look, record->slid, record->dlid, &way, &reversible);
	if (result != SSA_LOOK_FOUND)
		return result;
	record->reversible = reversible;
	if (look->mask & C(reversible) && look->wanted->reversible && !reversible)
		return none(look, "the way is not reversible");
	fit_way(look, verdict, way, needs_mtu(look, verdict), record);
	if (!fit_limits(look, record))
		return none(look, "MTU, rate or life time do not fit");
	look->found++;
	*go = look->take(look->arg, record);
	return SSA_LOOK_FOUND;
}

static uint16_t lids_of(const struct end *end, const struct ssa_endport *port, uint32_t *n)
{
	*n = end->lid ? 1 : 1u << port->lmc;
	return end->lid ? end->lid : ssa_16(port->lid);
}

static enum ssa_look offer_lids(struct look *look, const struct ssa_verdict *verdict,
				struct iba_path_record *record)
{
	const struct ssa_endport *endports = look->snapshot->endports;
	uint32_t n_from, n_to;
	uint16_t from = lids_of(&look->from, &endports[look->from.port], &n_from);
	uint16_t to = lids_of(&look->to, &endports[look->to.port], &n_to);
	bool go = true;

	for (uint32_t i = 0; i < n_from * n_to + MIN(n_from, n_to) && go; i++) {
		uint32_t k = i - MIN(n_from, n_to);
		bool first = i < MIN(n_from, n_to);

		if (look->found == look->max)
			break;
		if (!first && k / n_to == k % n_to)
			continue; /* was among the first */
		record->slid = from + (first ? i : k / n_to);
		record->dlid = to + (first ? i : k % n_to);
		record->preference = first ? 0 : 2;
		if (offer(look, verdict, record, &go) == SSA_LOOK_ASK)
			return SSA_LOOK_ASK;
	}
	if (look->found)
		return SSA_LOOK_FOUND;
	return none(look, look->why ? look->why : "no path is wanted, or none to these LIDs");
}

static uint64_t guid_of(const struct end *end, const struct ssa_endport *port)
{
	return end->guid ? end->guid : ssa_64(port->guid);
}

static void fill_ends(const struct look *look, struct iba_path_record *record)
{
	const struct ssa_endport *endports = look->snapshot->endports;
	const struct iba_path_record *wanted = look->wanted;
	uint64_t mask = look->mask;

	record->service_id = mask & C(service_id) ? wanted->service_id : 0;
	record->sgid = (struct iba_gid){look->from.prefix,
					guid_of(&look->from, &endports[look->from.port])};
	record->dgid =
		(struct iba_gid){look->to.prefix, guid_of(&look->to, &endports[look->to.port])};
	record->raw_traffic = mask & C(raw_traffic) ? wanted->raw_traffic : 0;
	record->flow_label = mask & C(flow_label) ? wanted->flow_label : 0;
	record->hop_limit = mask & C(hop_limit) ? wanted->hop_limit : 0;
	record->t_class = mask & C(t_class) ? wanted->t_class : 0;
	record->qos_class = mask & C(qos_class) ? wanted->qos_class : 0;
	record->mtu_selector = IBA_SELECTOR_EXACTLY;
	record->rate_selector = IBA_SELECTOR_EXACTLY;
	record->packet_life_time_selector = IBA_SELECTOR_EXACTLY;
	if (look->to.leaves) {
		record->dgid = wanted->dgid;
		record->hop_limit = look->snapshot->subnet->hop_limit;
	}
}

/* A requester is not told of a port with which it shares no partition. */
static bool may_know(const struct ssa_snapshot *snapshot, uint32_t requester, uint32_t port)
{
	const struct ssa_verdict *verdict;

	if (requester == port)
		return true;
	verdict = find_verdict(snapshot, requester, port, 0);
	return verdict && verdict->flags & SSA_VERDICT_KNOWN;
}

static enum ssa_look run(struct look *look, uint32_t requester)
{
	struct iba_path_record record = {0};
	const struct ssa_verdict *verdict;
	enum ssa_look result = check_form(look);

	if (result == SSA_LOOK_FOUND)
		result = find_ends(look);
	if (result != SSA_LOOK_FOUND)
		return result;
	if (!may_know(look->snapshot, requester, look->from.port) ||
	    !may_know(look->snapshot, requester, look->to.port))
		return none(look, "the requester shares no partition with it");
	result = judge(look, &verdict, &record);
	if (result != SSA_LOOK_FOUND)
		return result;
	fill_ends(look, &record);
	return offer_lids(look, verdict, &record);
}

enum ssa_look ssa_look_paths(const struct ssa_snapshot *snapshot, uint32_t requester,
			     const struct iba_path_record *wanted, uint64_t mask,
			     ssa_look_take take, void *arg, const char **why)
{
	struct look look = {
		.snapshot = snapshot,
		.wanted = wanted,
		.mask = mask,
		.mtu = IBA_LIMIT(path_record, mask, wanted, mtu),
		.rate = IBA_LIMIT(path_record, mask, wanted, rate),
		.life = IBA_LIMIT(path_record, mask, wanted, packet_life_time),
		.max = mask & C(numb_path) ? wanted->numb_path : UINT32_MAX,
		.take = take,
		.arg = arg,
	};
	enum ssa_look result = requester < snapshot->n_endports
				       ? run(&look, requester)
				       : ask(&look, "the requester is not in the snapshot");

	if (why)
		*why = result == SSA_LOOK_FOUND ? NULL : look.why;
	return result;
}

static bool take_first(void *arg, const struct iba_path_record *record)
{
	*(struct iba_path_record *)arg = *record;
	return false;
}

enum ssa_look ssa_look_path(const struct ssa_snapshot *snapshot, uint32_t requester,
			    const struct iba_path_record *wanted, uint64_t mask,
			    struct iba_path_record *record, const char **why)
{
	return ssa_look_paths(snapshot, requester, wanted, mask & ~C(numb_path), take_first, record,
			      why);
}

/* ---- addresses ---- */

/* The first row with that key; NULL: none. */
static const void *find_address(const struct ssa_snapshot *snapshot, enum ssa_table_id id,
				const void *key, size_t size, uint32_t *n)
{
	const struct ssa_table *table = &snapshot->tables[id];
	uint32_t low = 0, high = (uint32_t)table->rows;
	const uint8_t *row;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		row = table->data + (size_t)middle * table->row_size;
		if (memcmp(row, key, size) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	row = table->data + (size_t)low * table->row_size;
	for (*n = 0; low + *n < table->rows; ++*n)
		if (memcmp(row + (size_t)*n * table->row_size, key, size) != 0)
			break;
	return *n ? row : NULL;
}

const struct ssa_name *ssa_look_named(const struct ssa_snapshot *snapshot, const char *name,
				      uint32_t *n)
{
	char key[sizeof(((struct ssa_name *)NULL)->name)] = {0};

	*n = 0;
	if (strlen(name) >= sizeof(key))
		return NULL;
	memcpy(key, name, strlen(name));
	return find_address(snapshot, SSA_NAMES, key, sizeof(key), n);
}

const struct ssa_ipv4 *ssa_look_ipv4(const struct ssa_snapshot *snapshot, const uint8_t address[4],
				     uint32_t *n)
{
	return find_address(snapshot, SSA_IPV4, address, 4, n);
}

const struct ssa_ipv6 *ssa_look_ipv6(const struct ssa_snapshot *snapshot, const uint8_t address[16],
				     uint32_t *n)
{
	return find_address(snapshot, SSA_IPV6, address, 16, n);
}
