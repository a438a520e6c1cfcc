// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MultiPathRecord (IBA 15.2.5.20): paths from any of several GIDs to any of several others.
 *
 * The candidates are the paths that GetTable(PathRecord) returns for each pair, sources first. If
 * NumbPath asks for fewer, those are chosen that share the fewest ports, cables and switches, so
 * that a failure of one breaks few others: starting with the first candidate, the next is always
 * the one that shares least with those chosen before; among equals the shortest, then the first.
 * While there are few candidates, each is tried as the first one, which finds disjoint pairs if
 * there are any, as automatic path migration wants them. The selector of independence asks for no
 * more than that. The same request on the same subnet has the same answer.
 */
#include "sa/record/paths.h"

#define M(name) IBA_COMPONENT(multi_path_record, name)
#define NUMB_PATH_MAX 127
#define CANDIDATES_MAX 2048
#define STARTS_MAX 64 /* at most that many candidates are each tried as the first one */
#define GIDS_MAX 255  /* per end: the count fields are 8 bits */
#define ELEMENTS_MAX (2 * (IBA_MAX_HOPS + 2))
#define NONE UINT_MAX

struct candidate {
	struct iba_path_record record;
	unsigned int n; /* elements: switches by their port 0, cables by one of their ports */
	uint32_t elements[ELEMENTS_MAX];
	uint32_t shared; /* elements shared with those chosen */
	bool chosen;
};

struct multi {
	struct paths paths;
	struct iba_path_record wanted;
	GArray *candidates; /* struct candidate */
	uint32_t wants;
	uint8_t *marks;	       /* per port: whether it is an element of the current path */
	GArray *chosen, *best; /* guint: indexes of candidates */
};

/* ---- the request ---- */

/* The components that PathRecord has too, converted to a query of that. */
static uint64_t to_path_record(const struct sa_query *query, struct iba_path_record *to)
{
	const struct iba_multi_path_record *w = &query->wanted.multi_path;
	uint64_t mask = 0;

#define COPY(name)                                                                                 \
	do {                                                                                       \
		to->name = w->name;                                                                \
		if (query->mask & M(name))                                                         \
			mask |= IBA_COMPONENT(path_record, name);                                  \
	} while (0)
	COPY(raw_traffic);
	COPY(flow_label);
	COPY(hop_limit);
	COPY(t_class);
	COPY(reversible);
	COPY(p_key);
	COPY(qos_class);
	COPY(sl);
	COPY(mtu_selector);
	COPY(mtu);
	COPY(rate_selector);
	COPY(rate);
	COPY(packet_life_time_selector);
	COPY(packet_life_time);
#undef COPY
	to->service_id = (uint64_t)w->service_id_msb << 56 | w->service_id_lsb;
	if (query->mask & M(service_id_msb))
		mask |= IBA_COMPONENT(path_record, service_id);
	if (query->mask & M(service_id_lsb))
		mask |= IBA_COMPONENT(path_record, service_id_low);
	return mask;
}

static struct iba_gid gid_at(const struct sa_query *query, unsigned int index)
{
	struct iba_gid gid;

	wire_decode(&iba_gid_type,
		    query->data + IBA_SA_DATA_OFFSET + iba_multi_path_record_bytes +
			    (size_t)index * iba_gid_bytes,
		    &gid);
	return gid;
}

static uint16_t check_counts(const struct sa_query *query)
{
	const struct iba_multi_path_record *w = &query->wanted.multi_path;
	size_t gids = (size_t)w->sgid_count + w->dgid_count;

	if (!sa_wants(query, M(sgid_count)) || !sa_wants(query, M(dgid_count)))
		return IBA_SA_INSUFFICIENT_COMPONENTS;
	if (!w->sgid_count || !w->dgid_count ||
	    query->length < IBA_SA_DATA_OFFSET + iba_multi_path_record_bytes + gids * iba_gid_bytes)
		return IBA_SA_REQ_INVALID;
	return IBA_STATUS_OK;
}

/* An end that the request names by n GIDs; duplicates count once. */
struct side {
	unsigned int n;
	struct iba_gid gids[GIDS_MAX];
	struct path_end ends[GIDS_MAX];
};

/* A GID of this subnet must belong to a port that the requester may see. */
static bool may_name(const struct sa_query *query, const struct path_end *end)
{
	return end->leaves_subnet || (end->first != end->end && sa_may_reach(query, end->first));
}

static uint16_t read_side(const struct sa_query *query, unsigned int first, unsigned int n,
			  struct side *side)
{
	side->n = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct path_end_asked asked = {
			.has_gid = true,
			.gid = gid_at(query, first + i),
			.source = first == 0,
		};
		struct path_end *end = &side->ends[side->n];
		uint16_t status = paths_resolve(query, &asked, end);
		unsigned int k = 0;

		if (status != IBA_STATUS_OK)
			return status;
		while (k < side->n &&
		       (side->gids[k].guid != asked.gid.guid ||
			side->ends[k].leaves_subnet != end->leaves_subnet ||
			(end->leaves_subnet && side->gids[k].prefix != asked.gid.prefix)))
			k++;
		if (!may_name(query, end))
			return IBA_SA_INVALID_GID;
		if (k < side->n || end->first == end->end ||
		    (asked.source && !sa_may_see(query, end->first)) ||
		    !query->subnet->fabric->ports[end->first].lid)
			continue;
		side->gids[side->n++] = asked.gid;
	}
	return IBA_STATUS_OK;
}

/* ---- candidates ---- */

static void add_element(struct candidate *candidate, uint32_t port)
{
	candidate->elements[candidate->n++] = port;
}

/* A host's port needs no element of its own: its cable is one. */
static void find_elements(const struct fabric *fabric, const struct sa_trace *trace, uint32_t to,
			  struct candidate *candidate)
{
	for (unsigned int i = 0; i < trace->n; i++) {
		uint32_t out = trace->out[i];

		add_element(candidate, MAX(out, fabric->ports[out].peer));
		if (fabric_is_switch(fabric, fabric->ports[out].node))
			add_element(candidate, fabric_endport_of(fabric, out));
	}
	if (fabric_is_switch(fabric, fabric->ports[to].node))
		add_element(candidate, to);
}

static bool take(struct paths *paths, uint32_t from, uint32_t to,
		 const struct iba_path_record *record)
{
	const struct subnet *subnet = paths->query->subnet;
	struct multi *multi = paths->arg;
	struct candidate candidate = {.record = *record};
	struct sa_trace trace;

	if (sa_trace(subnet, from, to, record->dlid, &trace)) {
		find_elements(subnet->fabric, &trace, to, &candidate);
		g_array_append_val(multi->candidates, candidate);
	}
	return multi->candidates->len < CANDIDATES_MAX;
}

static void find_candidates(struct multi *multi, const struct side *from, const struct side *to)
{
	multi->paths.per_pair = MAX(1, CANDIDATES_MAX / MAX(1, from->n * to->n));
	for (unsigned int i = 0; i < from->n; i++)
		for (unsigned int k = 0; k < to->n; k++) {
			multi->paths.from = from->ends[i];
			multi->paths.to = to->ends[k];
			multi->paths.asked.leaves_subnet = to->ends[k].leaves_subnet;
			multi->wanted.dgid = to->gids[k];
			if (!paths_of_pair(&multi->paths, from->ends[i].first, to->ends[k].first))
				return;
		}
}

/* ---- choice ---- */

static struct candidate *candidate_at(const struct multi *multi, guint i)
{
	return &g_array_index(multi->candidates, struct candidate, i);
}

static void set_marks(struct multi *multi, const struct candidate *candidate, uint8_t mark)
{
	for (unsigned int i = 0; i < candidate->n; i++)
		multi->marks[candidate->elements[i]] = mark;
}

/* Counts what the others share with the chosen one; returns the best of them, which is next. */
static guint choose(struct multi *multi, guint index)
{
	guint best = NONE;

	candidate_at(multi, index)->chosen = true;
	g_array_append_val(multi->chosen, index);
	set_marks(multi, candidate_at(multi, index), 1);
	for (guint i = 0; i < multi->candidates->len; i++) {
		struct candidate *c = candidate_at(multi, i), *b;

		for (unsigned int k = 0; k < c->n && !c->chosen; k++)
			c->shared += multi->marks[c->elements[k]];
		b = best == NONE ? NULL : candidate_at(multi, best);
		if (!c->chosen &&
		    (!b || c->shared < b->shared || (c->shared == b->shared && c->n < b->n)))
			best = i;
	}
	set_marks(multi, candidate_at(multi, index), 0);
	return best;
}

/* Elements that the chosen paths share, and their length in the lower half. */
static uint64_t choose_from(struct multi *multi, guint first)
{
	uint64_t shared = 0, length = 0;

	g_array_set_size(multi->chosen, 0);
	for (guint i = 0; i < multi->candidates->len; i++) {
		candidate_at(multi, i)->shared = 0;
		candidate_at(multi, i)->chosen = false;
	}
	for (guint next = first; multi->chosen->len < multi->wants;) {
		shared += candidate_at(multi, next)->shared;
		length += candidate_at(multi, next)->n;
		next = choose(multi, next);
	}
	return shared << 32 | length;
}

static void choose_best(struct multi *multi)
{
	guint n = multi->candidates->len, starts = n <= STARTS_MAX && multi->wants > 1 ? n : 1;
	uint64_t least = UINT64_MAX;

	for (guint first = 0; first < starts; first++) {
		uint64_t cost = choose_from(multi, first);
		GArray *chosen = multi->chosen;

		if (cost >= least)
			continue;
		least = cost;
		multi->chosen = multi->best;
		multi->best = chosen;
	}
}

/* ---- the query ---- */

static void offer_all(struct multi *multi)
{
	struct sa_query *query = multi->paths.query;

	for (guint i = 0; i < multi->candidates->len && i < multi->wants; i++) {
		guint index = multi->best->len ? g_array_index(multi->best, guint, i) : i;

		if (!sa_offer(query, &candidate_at(multi, index)->record, FABRIC_NONE))
			return;
	}
}

static void answer(struct multi *multi, const struct side *from, const struct side *to)
{
	multi->candidates = g_array_new(FALSE, FALSE, sizeof(struct candidate));
	multi->chosen = g_array_new(FALSE, FALSE, sizeof(guint));
	multi->best = g_array_new(FALSE, FALSE, sizeof(guint));
	find_candidates(multi, from, to);
	if (multi->wants && multi->candidates->len > multi->wants) {
		multi->marks = g_malloc0(multi->paths.query->subnet->fabric->n_ports);
		choose_best(multi);
		g_free(multi->marks);
	}
	offer_all(multi);
	g_array_unref(multi->candidates);
	g_array_unref(multi->chosen);
	g_array_unref(multi->best);
}

uint16_t sa_multi_path_each(struct sa_query *query)
{
	const struct iba_multi_path_record *w = &query->wanted.multi_path;
	struct multi multi = {0};
	uint64_t mask = to_path_record(query, &multi.wanted);
	struct side from, to;
	uint16_t status = check_counts(query);

	multi.wants = sa_wants(query, M(numb_path)) ? w->numb_path : NUMB_PATH_MAX;
	if (status == IBA_STATUS_OK)
		status = paths_begin(&multi.paths, query, &multi.wanted, mask);
	if (status == IBA_STATUS_OK)
		status = read_side(query, 0, w->sgid_count, &from);
	if (status == IBA_STATUS_OK)
		status = read_side(query, w->sgid_count, w->dgid_count, &to);
	if (status != IBA_STATUS_OK)
		return status;
	multi.paths.take = take;
	multi.paths.arg = &multi;
	answer(&multi, &from, &to);
	return IBA_STATUS_OK;
}
