// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MultiPathRecord compared with GetTable(PathRecord), and TraceRecord with a separate walk. */
#include <check.h>
#include <string.h>

#include "sa/record/paths.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define M(name) IBA_COMPONENT(multi_path_record, name)
#define P(name) IBA_COMPONENT(path_record, name)
#define COUNTS (M(sgid_count) | M(dgid_count))
#define NODES_MAX 66

/* A MultiPathRecord and the endports that its GIDs name. */
struct request {
	struct iba_multi_path_record record;
	uint64_t mask;
	uint32_t from[255], to[255];
	struct iba_gid first;	     /* in place of the first SGID, unless 0 */
	const struct iba_gid *dgids; /* in place of all DGIDs, unless NULL */
	uint64_t without;	     /* components of the counts */
};

static struct subnet *subnet;

static struct iba_gid gid_of(uint32_t port)
{
	return (struct iba_gid){subnet->options->subnet_prefix, subnet->fabric->ports[port].guid};
}

static uint32_t host(unsigned int n)
{
	return endport(subnet, n, true);
}

static GByteArray *encode(const struct request *r)
{
	struct ask ask = {
		.method = IBA_METHOD_GET_MULTI,
		.attribute = IBA_ATTR_MULTI_PATH_RECORD,
		.mask = (r->mask | COUNTS) & ~r->without,
		.type = &iba_multi_path_record_type,
		.record = &r->record,
	};
	unsigned int n = r->record.sgid_count + r->record.dgid_count;
	GByteArray *octets = g_byte_array_new();
	uint8_t *at;

	g_byte_array_set_size(octets, MAX(IBA_MAD_BYTES, 80 + 16 * n));
	memset(octets->data, 0, octets->len);
	ask_encode(&ask, octets->data);
	at = octets->data + 80;
	for (unsigned int i = 0; i < n; i++, at += 16) {
		struct iba_gid gid = gid_of(
			i < r->record.sgid_count ? r->from[i] : r->to[i - r->record.sgid_count]);

		if (i == 0 && r->first.guid)
			gid = r->first;
		else if (i >= r->record.sgid_count && r->dgids)
			gid = r->dgids[i - r->record.sgid_count];
		wire_encode(&iba_gid_type, &gid, at);
	}
	return octets;
}

static struct told ask_multi(const struct request *r)
{
	struct ask ask = {.subnet = subnet, .from = endport(subnet, 0, false)};
	g_autoptr(GByteArray) octets = encode(r);
	struct told told = tell_octets(&ask, octets->data, octets->len);

	ck_assert_uint_eq(told.header.method, IBA_METHOD_GET_MULTI_RESP);
	ck_assert_uint_eq(told.header.attribute_id, IBA_ATTR_PATH_RECORD);
	return told;
}

/* sources hosts from 0, destinations from 8 on. */
static struct request make_request(unsigned int sources, unsigned int destinations)
{
	struct request r = {.record = {.sgid_count = sources, .dgid_count = destinations}};

	for (unsigned int i = 0; i < sources; i++)
		r.from[i] = host(i);
	for (unsigned int i = 0; i < destinations; i++)
		r.to[i] = host(8 + i);
	return r;
}

static void check_status(const struct request *r, uint16_t status)
{
	struct told told = ask_multi(r);

	ck_assert_msg(told.header.status == status, "status 0x%x, expected 0x%x",
		      told.header.status, status);
	told_clear(&told);
}

/* ---- the reference ---- */

/* Adds the answer of GetTable(PathRecord) for a pair. */
static void add_paths(const struct iba_path_record *w, uint64_t mask, GArray *paths)
{
	struct ask ask = {
		.subnet = subnet,
		.from = endport(subnet, 0, false),
		.method = IBA_METHOD_GET_TABLE,
		.attribute = IBA_ATTR_PATH_RECORD,
		.mask = mask | P(sgid) | P(dgid),
		.type = &iba_path_record_type,
		.record = w,
	};
	struct told told = tell(&ask);

	ck_assert_uint_eq(told.header.status, IBA_STATUS_OK);
	for (unsigned int i = 0; i < told.n; i++) {
		struct iba_path_record path;

		told_record(&told, &iba_path_record_type, i, &path);
		g_array_append_val(paths, path);
	}
	told_clear(&told);
}

static GArray *all_paths(const struct request *r, const struct iba_path_record *like, uint64_t mask)
{
	GArray *paths = g_array_new(FALSE, FALSE, sizeof(struct iba_path_record));

	for (unsigned int i = 0; i < r->record.sgid_count; i++)
		for (unsigned int k = 0; k < r->record.dgid_count; k++) {
			struct iba_path_record w = *like;

			w.sgid = gid_of(r->from[i]);
			w.dgid = gid_of(r->to[k]);
			add_paths(&w, mask, paths);
		}
	return paths;
}

static bool same(const struct iba_path_record *a, const struct iba_path_record *b)
{
	uint8_t x[64], y[64];

	wire_encode(&iba_path_record_type, a, x);
	wire_encode(&iba_path_record_type, b, y);
	return memcmp(x, y, sizeof(x)) == 0;
}

/* The answer has these, in their order. */
static void check_paths(const struct request *r, const GArray *paths)
{
	struct told told = ask_multi(r);

	ck_assert_uint_eq(told.n, paths->len);
	for (unsigned int i = 0; i < told.n; i++) {
		struct iba_path_record got;

		told_record(&told, &iba_path_record_type, i, &got);
		ck_assert(same(&got, &g_array_index(paths, struct iba_path_record, i)));
	}
	told_clear(&told);
}

/* The ports through which a packet leaves its nodes, the source's first. */
static unsigned int walk(uint32_t from, uint16_t dlid, uint32_t outs[NODES_MAX])
{
	const struct fabric *f = subnet->fabric;
	uint32_t at = from;
	unsigned int n = 0;

	if (fabric_port_by_lid(f, dlid) == from)
		return 0;
	while (at != FABRIC_NONE && n < NODES_MAX - 1) {
		uint32_t node = f->ports[at].node, out = at;

		if (fabric_is_switch(f, node)) {
			out = f->nodes[node].first_port +
			      subnet->routing->lft[f->nodes[node].sw][dlid];
			if (f->ports[out].num == 0)
				return n;
		} else if (n) {
			return n;
		}
		outs[n++] = out;
		at = f->ports[out].peer;
	}
	return n;
}

/* The elements of a path: its cables, by one of their ports, and its switches, by their port 0. */
static unsigned int elements_of(const struct iba_path_record *path,
				uint32_t elements[2 * NODES_MAX])
{
	const struct fabric *f = subnet->fabric;
	uint32_t outs[NODES_MAX], to = fabric_port_by_lid(f, path->dlid);
	unsigned int hops = walk(fabric_port_by_lid(f, path->slid), path->dlid, outs), n = 0;

	for (unsigned int i = 0; i < hops; i++) {
		elements[n++] = MAX(outs[i], f->ports[outs[i]].peer);
		if (fabric_is_switch(f, f->ports[outs[i]].node))
			elements[n++] = fabric_endport_of(f, outs[i]);
	}
	if (fabric_is_switch(f, f->ports[to].node))
		elements[n++] = to;
	return n;
}

/* What two paths have in common, and, where that is equal, their lengths. */
static uint64_t cost_of(const struct iba_path_record *x, const struct iba_path_record *y)
{
	uint32_t a[2 * NODES_MAX], b[2 * NODES_MAX];
	unsigned int n = elements_of(x, a), m = elements_of(y, b);
	uint64_t common = 0;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < m; k++)
			common += a[i] == b[k];
	return common << 32 | (n + m);
}

/* ---- tests ---- */

static void teardown(void)
{
	g_clear_pointer(&subnet, subnet_unref);
}

START_TEST(all)
{
	struct request r;
	struct iba_path_record like = {0};
	g_autoptr(GArray) paths = NULL;
	struct told told;

	subnet = make_subnet("fattree:4", _i, 3 + _i);
	r = make_request(3, 4);
	r.record.t_class = like.t_class = 7;
	r.record.qos_class = like.qos_class = 0x123;
	r.record.service_id_msb = 0x12;
	r.record.service_id_lsb = UINT64_C(0x3456789ABCDEF0);
	like.service_id = UINT64_C(0x123456789ABCDEF0);
	r.record.mtu_selector = like.mtu_selector = 1;
	r.record.mtu = like.mtu = 4;
	r.mask = M(t_class) | M(qos_class) | M(service_id_msb) | M(service_id_lsb) |
		 M(mtu_selector) | M(mtu);
	paths = all_paths(&r, &like,
			  P(t_class) | P(qos_class) | P(service_id) | P(service_id_low) |
				  P(mtu_selector) | P(mtu));
	if (paths->len <= 127)
		check_paths(&r, paths);
	told = ask_multi(&r);
	ck_assert_uint_eq(told.n, MIN(paths->len, 127));
	told_clear(&told);
}
END_TEST

/* The other components that both records have, each with an effect. */
START_TEST(components)
{
	const struct iba_multi_path_record multi = {
		.sgid_count = 3,
		.dgid_count = 3,
		.raw_traffic = 1,
		.flow_label = 0x54321,
		.hop_limit = 9,
		.reversible = 1,
		.p_key = 0x7FFF,
		.sl = 5,
		.rate_selector = IBA_SELECTOR_LESS,
		.rate = IBA_RATE_20,
		.packet_life_time_selector = IBA_SELECTOR_EXACTLY,
		.packet_life_time = 30,
	};
	const struct iba_path_record like = {
		.raw_traffic = 1,
		.flow_label = 0x54321,
		.hop_limit = 9,
		.reversible = 1,
		.p_key = 0x7FFF,
		.sl = 5,
		.rate_selector = IBA_SELECTOR_LESS,
		.rate = IBA_RATE_20,
		.packet_life_time_selector = IBA_SELECTOR_EXACTLY,
		.packet_life_time = 30,
	};
	struct request r;
	g_autoptr(GArray) paths = NULL;

	subnet = make_subnet("fattree:4", 0, 0);
	r = make_request(3, 3);
	r.record = multi;
	for (uint32_t sw = 0; sw < subnet->routing->n_switches; sw++) /* nothing comes back to it */
		subnet->routing->lft[sw][subnet->fabric->ports[host(1)].lid] = 0xFF;
	r.mask = M(raw_traffic) | M(flow_label) | M(hop_limit) | M(reversible) | M(p_key) | M(sl) |
		 M(rate_selector) | M(rate) | M(packet_life_time_selector) | M(packet_life_time);
	paths = all_paths(&r, &like,
			  P(raw_traffic) | P(flow_label) | P(hop_limit) | P(reversible) | P(p_key) |
				  P(sl) | P(rate_selector) | P(rate) |
				  P(packet_life_time_selector) | P(packet_life_time));
	ck_assert_uint_eq(paths->len, 6);
	check_paths(&r, paths);
}
END_TEST

/* A GID that is named twice counts once, and the paths are in the order of the GIDs. */
START_TEST(named_twice)
{
	static const unsigned int sources[] = {0, 0, 1, 0, 1};
	struct request r = {.record = {.sgid_count = 5, .dgid_count = 3}}, once;
	const struct iba_path_record like = {0};
	g_autoptr(GArray) paths = NULL;

	subnet = make_subnet("fattree:4", 0, 0);
	for (unsigned int i = 0; i < 5; i++)
		r.from[i] = host(sources[i]);
	for (unsigned int i = 0; i < 3; i++)
		r.to[i] = host(8 + i / 2);
	once = make_request(2, 2);
	paths = all_paths(&once, &like, 0);
	check_paths(&r, paths);
	r.mask = M(numb_path);
	r.record.numb_path = 4; /* exactly as many exist: there is no choice */
	check_paths(&r, paths);
	r.record.numb_path = 1;
	g_array_set_size(paths, 1);
	check_paths(&r, paths);
}
END_TEST

/* Destinations beyond a router, with any GUID, are answered as they were requested. */
START_TEST(beyond)
{
	static const char routes[] = "fec0000000000077 *\nfec0000000000078 *\n";
	struct request r;
	struct iba_gid gids[6];
	struct told told;

	subnet = make_subnet("fattree:4", 0, 0);
	subnet->fabric->nodes[subnet->fabric->ports[host(1)].node].type = IBA_NODE_ROUTER;
	subnet->prefix_routes = prefix_routes_parse("f", routes, strlen(routes), NULL);
	r = make_request(1, 6);
	gids[0] = gids[1] = (struct iba_gid){UINT64_C(0xFEC0000000000077), gid_of(host(9)).guid};
	gids[2] = gid_of(host(9));
	gids[3] = (struct iba_gid){UINT64_C(0xFEC0000000000078), gid_of(host(9)).guid};
	gids[4] = (struct iba_gid){UINT64_C(0xFEC0000000000078), 7};
	gids[5] = (struct iba_gid){UINT64_C(0xFEC0000000000079), 7}; /* no router leads there */
	r.dgids = gids;
	told = ask_multi(&r);
	ck_assert_uint_eq(told.n, 4);
	for (unsigned int i = 0; i < told.n; i++) {
		uint32_t to = i == 1 ? host(9) : host(1);
		struct iba_path_record got;

		told_record(&told, &iba_path_record_type, i, &got);
		ck_assert(iba_gid_equal(got.dgid, gids[i + 1]));
		ck_assert_uint_eq(got.dlid, subnet->fabric->ports[to].lid);
		ck_assert_uint_eq(got.hop_limit, i == 1 ? 0 : 255);
	}
	told_clear(&told);
}
END_TEST

/* However many paths the first pair has, the others have their share of the choice. */
START_TEST(many_lids)
{
	struct request r;
	struct iba_path_record got[2];
	struct told told;

	subnet = make_subnet("fattree:4", 7, 0);
	r = make_request(2, 2);
	r.mask = M(numb_path);
	r.record.numb_path = 2;
	told = ask_multi(&r);
	ck_assert_uint_eq(told.n, 2);
	told_record(&told, &iba_path_record_type, 0, &got[0]);
	told_record(&told, &iba_path_record_type, 1, &got[1]);
	ck_assert(got[0].sgid.guid != got[1].sgid.guid && got[0].dgid.guid != got[1].dgid.guid);
	told_clear(&told);
}
END_TEST

/* The pair of least cost; of equal ones the first, by its first path, then by its second. */
static GArray *best_pair(const GArray *paths)
{
	GArray *pair = g_array_new(FALSE, FALSE, sizeof(struct iba_path_record));
	uint64_t least = UINT64_MAX;

	for (guint i = 0; i < paths->len; i++)
		for (guint k = 0; k < paths->len; k++) {
			const struct iba_path_record *path = (const void *)paths->data;
			uint64_t cost = cost_of(&path[i], &path[k]);

			if (i == k || cost >= least)
				continue;
			least = cost;
			g_array_set_size(pair, 0);
			g_array_append_val(pair, path[i]);
			g_array_append_val(pair, path[k]);
		}
	return pair;
}

START_TEST(apart)
{
	static const char *const specs[] = {"fattree:4", "torus:3x3x1:1", "random:6:3:2:7"};
	struct request r;
	struct iba_path_record like = {0};
	g_autoptr(GArray) paths = NULL, pair = NULL;

	/* The first port of the last one is a switch's. */
	subnet = make_subnet(_i < 48 ? specs[_i % 3] : "random:8:3:0:7", _i / 3 % 2, 0);
	r = (struct request){.record = {.sgid_count = 2, .dgid_count = 2, .numb_path = 2}};
	for (unsigned int i = 0; i < 2; i++) {
		bool hosts = _i < 24;

		r.from[i] = endport(subnet, (5 * _i + i) % 8, hosts);
		r.to[i] = endport(subnet, (3 * _i + 2 + 3 * i) % 8, hosts);
	}
	r.mask = M(numb_path);
	paths = all_paths(&r, &like, 0);
	pair = best_pair(paths);
	check_paths(&r, pair);
}
END_TEST

/* A single path is the first one, though another is shorter. */
START_TEST(one)
{
	struct request r = {.mask = M(numb_path), .record = {.numb_path = 1}};
	struct iba_path_record got;
	struct told told;

	subnet = make_subnet("fattree:4", 0, 0);
	r.record.sgid_count = 1;
	r.record.dgid_count = 2;
	r.from[0] = host(0);
	r.to[0] = host(15);
	r.to[1] = host(1);
	told = ask_multi(&r);
	ck_assert_uint_eq(told.n, 1);
	told_record(&told, &iba_path_record_type, 0, &got);
	ck_assert_uint_eq(got.dgid.guid, gid_of(host(15)).guid);
	told_clear(&told);
}
END_TEST

/* As many as requested, none twice, the same ones again. */
START_TEST(numbers)
{
	static const unsigned int wanted[] = {0, 1, 3, 20, 127};
	struct request r;
	struct told told, again;

	subnet = make_subnet("fattree:4", 2, 0);
	r = make_request(4, 4);
	r.mask = M(numb_path);
	r.record.numb_path = wanted[_i];
	told = ask_multi(&r);
	again = ask_multi(&r);
	ck_assert_uint_eq(told.n, wanted[_i]);
	ck_assert_uint_eq(told.length, again.length);
	ck_assert(!memcmp(told.data, again.data, told.length));
	for (unsigned int i = 0; i < told.n; i++)
		for (unsigned int k = 0; k < i; k++) {
			struct iba_path_record a, b;

			told_record(&told, &iba_path_record_type, i, &a);
			told_record(&told, &iba_path_record_type, k, &b);
			ck_assert(!same(&a, &b));
		}
	told_clear(&told);
	told_clear(&again);
}
END_TEST

/* The highest counts: GIDs named again and again are the same ports. */
START_TEST(most)
{
	struct request r = {.record = {.sgid_count = 255, .dgid_count = 255}};
	g_autoptr(GByteArray) octets = NULL;
	struct ask ask = {0};
	struct told told;

	subnet = make_subnet("fattree:4", 7, 0);
	ask = (struct ask){.subnet = subnet, .from = host(0)};
	for (unsigned int i = 0; i < 255; i++) {
		r.from[i] = host(i % 16);
		r.to[i] = host(i % 15);
	}
	told = ask_multi(&r);
	ck_assert_uint_eq(told.n, 127);
	told_clear(&told);
	octets = encode(&r);
	told = tell_octets(&ask, octets->data, octets->len - 1);
	ck_assert_uint_eq(told.header.status, IBA_SA_REQ_INVALID);
	told_clear(&told);
}
END_TEST

START_TEST(refused)
{
	struct request r;

	subnet = make_subnet("fattree:4", 0, 0);
	r = make_request(1, 1);
	check_status(&r, IBA_STATUS_OK);
	r.mask = M(service_id_msb);
	check_status(&r, IBA_SA_INSUFFICIENT_COMPONENTS);
	r.mask = M(service_id_lsb);
	check_status(&r, IBA_SA_INSUFFICIENT_COMPONENTS);
	r.mask = 0;
	r.record.sgid_count = 0;
	check_status(&r, IBA_SA_REQ_INVALID);
	r.record.sgid_count = 1;
	r.record.dgid_count = 0;
	check_status(&r, IBA_SA_REQ_INVALID);
	r.record.dgid_count = 1;
	r.without = M(sgid_count);
	check_status(&r, IBA_SA_INSUFFICIENT_COMPONENTS);
	r.without = M(dgid_count);
	check_status(&r, IBA_SA_INSUFFICIENT_COMPONENTS);
	r.without = 0;
	r.first = (struct iba_gid){subnet->options->subnet_prefix, 0x77};
	check_status(&r, IBA_SA_INVALID_GID);
	r.first = (struct iba_gid){0x77, gid_of(host(0)).guid};
	check_status(&r, IBA_SA_INVALID_GID);
}
END_TEST

/* A port that has no LID yet has no paths. */
START_TEST(without_lid)
{
	struct request r;
	struct told told;

	subnet = make_subnet("fattree:4", 0, 0);
	r = make_request(3, 2);
	subnet->fabric->ports[r.from[1]].lid = 0;
	subnet->fabric->ports[r.to[0]].lid = 0;
	told = ask_multi(&r);
	ck_assert_uint_eq(told.n, 2);
	told_clear(&told);
}
END_TEST

/* With sa_enhanced_trust_model a requester sees only paths from itself to ports that it reaches. */
START_TEST(from_itself)
{
	struct request r;
	struct told told;

	subnet = make_subnet("fattree:4", 0, 0);
	subnet->options->sa_enhanced_trust_model = true;
	r = make_request(3, 2);
	told = ask_multi(&r);
	ck_assert_uint_eq(told.n, 2);
	for (unsigned int i = 0; i < told.n; i++) {
		struct iba_path_record got;

		told_record(&told, &iba_path_record_type, i, &got);
		ck_assert_uint_eq(got.sgid.guid, gid_of(host(0)).guid);
		ck_assert_uint_eq(got.dgid.guid, gid_of(host(8 + i)).guid);
	}
	told_clear(&told);
}
END_TEST

/* ---- TraceRecord ---- */

static struct told ask_trace(uint16_t attribute, uint32_t from, uint32_t to, uint16_t dlid,
			     uint64_t mask)
{
	const struct iba_path_record w = {
		.sgid = gid_of(from),
		.dgid = gid_of(to),
		.slid = subnet->fabric->ports[from].lid,
		.dlid = dlid,
	};
	uint8_t octets[IBA_MAD_BYTES];
	struct ask ask = {
		.subnet = subnet,
		.from = host(0),
		.method = IBA_METHOD_GET_TRACE_TABLE,
		.attribute = attribute,
		.mask = mask,
		.type = &iba_path_record_type,
		.record = &w,
	};
	struct told told;

	ask_encode(&ask, octets);
	told = tell_octets(&ask, octets, sizeof(octets));
	ck_assert_uint_eq(told.header.method, IBA_METHOD_GET_TABLE_RESP);
	ck_assert_uint_eq(told.header.attribute_id, IBA_ATTR_TRACE_RECORD);
	return told;
}

static void check_trace(const struct told *told, uint32_t from, uint16_t dlid)
{
	const struct fabric *f = subnet->fabric;
	uint32_t outs[NODES_MAX], in = FABRIC_NONE, at = from;
	unsigned int n = walk(from, dlid, outs);

	ck_assert_uint_eq(told->n, n + 1);
	for (unsigned int i = 0; i <= n; i++) {
		const struct fabric_node *node = &f->nodes[f->ports[at].node];
		struct iba_trace_record got;

		told_record(told, &iba_trace_record_type, i, &got);
		ck_assert(got.node_id == node->guid && got.node_type == node->type);
		ck_assert(got.gid_prefix == subnet->options->subnet_prefix);
		ck_assert(got.id_generation == (uint16_t)subnet->generation);
		ck_assert_uint_eq(got.entry_port, i ? f->ports[in].num : 0);
		ck_assert_uint_eq(got.exit_port, i < n ? f->ports[outs[i]].num : 0);
		ck_assert(!got.entry_port_id == !i && !got.exit_port_id == (i == n));
		if (i < n)
			at = in = f->ports[outs[i]].peer;
	}
}

START_TEST(traced)
{
	subnet = make_subnet("fattree:4", 1, 0);
	for (unsigned int i = 0; i < n_endports(subnet); i++) {
		uint32_t from = endport(subnet, i, false), to = endport(subnet, 7 * i % 16, false);
		uint16_t lid = subnet->fabric->ports[to].lid;
		struct told told = ask_trace(IBA_ATTR_TRACE_RECORD, from, to, lid,
					     P(sgid) | P(dgid) | P(dlid));

		check_trace(&told, from, lid);
		told_clear(&told);
		told = ask_trace(IBA_ATTR_PATH_RECORD, from, to, lid, P(slid) | P(dgid));
		check_trace(&told, from, lid);
		told_clear(&told);
	}
}
END_TEST

/* Whether a trace of each pair follows the path of PathRecord, or at least arrives there. */
static void compare_traces(bool exactly)
{
	struct subnet_view *view = subnet_view_new(subnet_ref(subnet));
	unsigned int n = n_endports(subnet), arrived = 0;

	for (unsigned int i = 0; i < n * n; i++) {
		uint32_t from = endport(subnet, i / n, false), to = endport(subnet, i % n, false);
		uint16_t slid = subnet->fabric->ports[from].lid;
		uint16_t dlid = subnet->fabric->ports[to].lid;
		struct sa_trace trace;
		struct subnet_way way;
		bool walks = subnet_view_walk(view, from, to, slid, dlid, &way);

		arrived += walks;
		if (from != to && (walks || exactly))
			ck_assert_int_eq(sa_trace(subnet, from, to, dlid, &trace), walks);
	}
	ck_assert(n < arrived && arrived < n * n);
	subnet_view_unref(view);
}

START_TEST(lost)
{
	static const char *const specs[] = {"fattree:4", "torus:3x3x1:1", "random:6:3:2:7"};
	uint64_t state = 1 + (uint64_t)_i;

	subnet = make_subnet(specs[_i % 3], 0, 0);
	for (uint32_t sw = 0; sw < subnet->routing->n_switches; sw++)
		for (unsigned int lid = 1; lid <= subnet->routing->top; lid++)
			if (make_number(&state, 8) == 0)
				subnet->routing->lft[sw][lid] = make_number(&state, 7);
	compare_traces(true);
}
END_TEST

/* The longest paths are in a line of more switches than a packet may pass. */
START_TEST(long_ways)
{
	subnet = make_subnet("mesh:70x1", 0, 0);
	compare_traces(false);
}
END_TEST

/* Hosts share a partition, and every other switch is in it. */
static void hide_switches(void)
{
	uint16_t rows[NODES_MAX][4] = {{0}};
	unsigned int n = 0, switches = 0;

	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		if (fabric_is_endport(subnet->fabric, i))
			rows[n++][0] = fabric_is_switch(subnet->fabric,
							subnet->fabric->ports[i].node) &&
						       switches++ % 2
					       ? 0x8002
					       : 0x8001;
	subnet = with_partitions(subnet, rows, n, NULL, 0);
}

/* Of a node that the requester may not know of a trace shows only that it exists, and its type. */
START_TEST(traced_through_others)
{
	unsigned int hidden = 0, seen = 0;

	subnet = make_subnet("fattree:4", 0, 0);
	hide_switches();
	for (unsigned int i = 1; i < 16; i++) {
		uint32_t to = host(i), outs[NODES_MAX], at = host(0);
		uint16_t lid = subnet->fabric->ports[to].lid;
		struct told told =
			ask_trace(IBA_ATTR_TRACE_RECORD, at, to, lid, P(sgid) | P(dgid));
		unsigned int n = walk(at, lid, outs);

		ck_assert_uint_eq(told.n, n + 1);
		for (unsigned int k = 0; k <= n; k++) {
			const struct fabric_node *node =
				&subnet->fabric->nodes[subnet->fabric->ports[at].node];
			bool is_seen = partitions_shared(subnet->partitions, host(0),
							 fabric_endport_of(subnet->fabric, at));
			struct iba_trace_record got;

			told_record(&told, &iba_trace_record_type, k, &got);
			ck_assert_uint_eq(got.node_type, node->type);
			ck_assert(got.node_id == (is_seen ? node->guid : 0));
			ck_assert(is_seen || (!got.chassis_id && !got.entry_port_id &&
					      !got.exit_port_id && !got.entry_port &&
					      !got.exit_port));
			seen += is_seen;
			hidden += !is_seen;
			if (k < n)
				at = subnet->fabric->ports[outs[k]].peer;
		}
		told_clear(&told);
	}
	ck_assert(seen > 30 && hidden > 0);
}
END_TEST

START_TEST(not_traced)
{
	static const uint64_t too_few[] = {0,	    P(sgid), P(slid),
					   P(dgid), P(dlid), P(sgid) | P(dgid) | P(service_id)};
	uint32_t from, to;
	uint16_t lid;
	struct told told;

	subnet = make_subnet("fattree:4", 0, 0);
	from = host(0);
	to = host(9);
	lid = subnet->fabric->ports[to].lid;
	for (unsigned int i = 0; i < G_N_ELEMENTS(too_few); i++) {
		told = ask_trace(IBA_ATTR_TRACE_RECORD, from, to, lid, too_few[i]);
		ck_assert_uint_eq(told.header.status, IBA_SA_INSUFFICIENT_COMPONENTS);
		told_clear(&told);
	}
	for (uint32_t sw = 0; sw < subnet->routing->n_switches; sw++)
		subnet->routing->lft[sw][lid] = 0xFF;
	told = ask_trace(IBA_ATTR_TRACE_RECORD, from, to, lid, P(sgid) | P(dgid));
	ck_assert_uint_eq(told.header.status, IBA_STATUS_OK);
	ck_assert_uint_eq(told.n, 0);
	told_clear(&told);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_multi");
	TCase *tcase = tcase_create("sa_multi");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_loop_test(tcase, all, 0, 3);
	tcase_add_loop_test(tcase, apart, 0, 72);
	tcase_add_test(tcase, one);
	tcase_add_test(tcase, components);
	tcase_add_test(tcase, named_twice);
	tcase_add_test(tcase, beyond);
	tcase_add_test(tcase, many_lids);
	tcase_add_loop_test(tcase, numbers, 0, 5);
	tcase_add_test(tcase, most);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, without_lid);
	tcase_add_test(tcase, from_itself);
	tcase_add_test(tcase, traced);
	tcase_add_loop_test(tcase, lost, 0, 6);
	tcase_add_test(tcase, long_ways);
	tcase_add_test(tcase, traced_through_others);
	tcase_add_test(tcase, not_traced);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
