// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PathRecord against a slow reference that knows only what the IBA says: it enumerates ends, LID
 * pairs and usable values, and picks the best allowed one.
 */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define C(name) IBA_COMPONENT(path_record, name)

struct world {
	struct subnet *subnet;
	struct sa_store *store;
	uint32_t from;
	bool trusted;
};

/* ---- the reference ---- */

static bool ref_walk(const struct subnet *subnet, uint32_t src, uint32_t dst, uint16_t dlid,
		     unsigned int *tenths, unsigned int *mtu)
{
	const struct fabric *f = subnet->fabric;
	uint32_t at = src;
	bool enter = fabric_is_switch(f, f->ports[src].node);

	*tenths = 1000000;
	*mtu = MIN(f->ports[src].mtu, f->ports[dst].mtu);
	if (f->ports[src].rate)
		*tenths = iba_rate_tenths(f->ports[src].rate);
	if (f->ports[dst].rate)
		*tenths = MIN(*tenths, iba_rate_tenths(f->ports[dst].rate));
	if (src == dst) {
		if (!f->ports[src].rate)
			*tenths = 25;
		return true;
	}
	for (unsigned int hop = 0; hop < 64; hop++) {
		uint32_t out = at;

		if (enter) {
			uint32_t node = f->ports[at].node;
			uint8_t exit = subnet->routing->lft[f->nodes[node].sw][dlid];

			if (exit == 0)
				return f->nodes[node].first_port == dst;
			if (exit > f->nodes[node].num_ports)
				return false;
			out = f->nodes[node].first_port + exit;
		}
		if (f->ports[out].peer == FABRIC_NONE || f->ports[out].rate == 0)
			return false;
		*tenths = MIN(*tenths, iba_rate_tenths(f->ports[out].rate));
		*mtu = MIN(*mtu, f->ports[out].mtu);
		at = f->ports[out].peer;
		if (at == dst)
			return true;
		enter = fabric_is_switch(f, f->ports[at].node);
		if (!enter)
			return false;
	}
	return false;
}

static bool allowed(unsigned int selector, long value, long asked)
{
	return selector == 0 ? value > asked : selector == 1 ? value < asked :
	       selector == 2 ? value == asked :
				true;
}

static bool ref_mtu(const struct iba_path_record *w, uint64_t mask, unsigned int can, uint8_t *out)
{
	bool given = (mask & C(mtu)) && (mask & C(mtu_selector));

	for (unsigned int mtu = can; mtu >= 1; mtu--)
		if (!given || allowed(w->mtu_selector, mtu, w->mtu)) {
			*out = mtu;
			return true;
		}
	return false;
}

static bool ref_rate(const struct iba_path_record *w, uint64_t mask, unsigned int can,
		     uint8_t *out)
{
	bool given = (mask & C(rate)) && (mask & C(rate_selector));
	unsigned int asked = iba_rate_tenths(w->rate), best = 0;

	if (given && w->rate_selector != 3 && !asked && !(w->rate_selector == 0 && w->rate == 0))
		return false;
	for (unsigned int code = 2; code <= 24; code++) {
		unsigned int tenths = iba_rate_tenths(code);

		if (tenths > can || tenths <= best ||
		    (given && !allowed(w->rate_selector, tenths, asked)))
			continue;
		best = tenths;
		*out = code;
	}
	return best > 0;
}

static bool ref_life(const struct iba_path_record *w, uint64_t mask, unsigned int least,
		     uint8_t *out)
{
	bool given = (mask & C(packet_life_time)) && (mask & C(packet_life_time_selector));

	for (unsigned int life = least; life <= 63; life++)
		if (!given || allowed(w->packet_life_time_selector, life, w->packet_life_time)) {
			*out = life;
			return true;
		}
	return false;
}

static uint16_t held(const struct partitions *p, uint32_t port, uint16_t base, bool *full)
{
	bool any = false;
	uint32_t n;
	const uint16_t *keys = partitions_of(p, port, &n);

	*full = false;
	for (uint32_t i = 0; i < n; i++)
		if ((keys[i] & 0x7FFF) == base) {
			any = true;
			*full |= (keys[i] & 0x8000) != 0;
		}
	return any;
}

static bool can_talk(const struct partitions *p, uint32_t a, uint32_t b, uint16_t base)
{
	bool full_a, full_b;

	return held(p, a, base, &full_a) && held(p, b, base, &full_b) && (full_a || full_b);
}

/* The first entry of a's table that, as it is, reaches b. */
static uint16_t first_shared(const struct partitions *p, uint32_t a, uint32_t b)
{
	bool full;
	uint32_t n;
	const uint16_t *keys = partitions_of(p, a, &n);

	for (uint32_t i = 0; i < n; i++)
		if (held(p, b, keys[i] & 0x7FFF, &full) && (full || (keys[i] & 0x8000)))
			return keys[i];
	return 0;
}

static bool visible(const struct world *world, uint32_t port)
{
	return world->trusted || port == world->from ||
	       first_shared(world->subnet->partitions, world->from, port);
}

static bool end_may_be(const struct subnet *s, uint32_t port, bool has_gid, struct iba_gid gid,
		       bool has_lid, uint16_t lid)
{
	const struct fabric_port *p = &s->fabric->ports[port];

	if (p->guid == 0 || p->lid == 0 || (has_gid && p->guid != gid.guid))
		return false;
	return !has_lid || (lid >= p->lid && lid < p->lid + (1u << p->lmc));
}

/* Fills in everything except the LIDs; false if the two have no path at all. */
static bool ref_pair(const struct world *world, const struct iba_path_record *w, uint64_t mask,
		     uint32_t src, uint32_t dst, struct iba_path_record *r)
{
	const struct subnet *s = world->subnet;
	const struct partitions *p = s->partitions;
	uint64_t prefix = s->options->subnet_prefix;
	uint64_t both = C(service_id) | C(service_id_low);

	*r = (struct iba_path_record){0};
	r->p_key = first_shared(p, src, dst);
	if (mask & C(p_key))
		r->p_key = can_talk(p, src, dst, w->p_key & 0x7FFF) ? w->p_key : 0;
	if (!r->p_key)
		return false;
	r->sl = s->options->sm_sl;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->all[i].p_key == (r->p_key & 0x7FFF))
			r->sl = p->all[i].sl;
	if (mask & C(sl))
		r->sl = w->sl;
	r->sgid = (struct iba_gid){mask & C(sgid) ? w->sgid.prefix : prefix,
				   s->fabric->ports[src].guid};
	r->dgid = (struct iba_gid){mask & C(dgid) ? w->dgid.prefix : prefix,
				   s->fabric->ports[dst].guid};
	r->service_id = (mask & both) == both ? w->service_id : 0;
	r->raw_traffic = mask & C(raw_traffic) ? w->raw_traffic : 0;
	r->flow_label = mask & C(flow_label) ? w->flow_label : 0;
	r->hop_limit = mask & C(hop_limit) ? w->hop_limit : 0;
	r->t_class = mask & C(t_class) ? w->t_class : 0;
	r->qos_class = mask & C(qos_class) ? w->qos_class : 0;
	return true;
}

static bool ref_path(const struct world *world, const struct iba_path_record *w, uint64_t mask,
		     uint32_t src, uint32_t dst, struct iba_path_record *r)
{
	const struct subnet *s = world->subnet;
	unsigned int tenths, mtu, unused;

	if (!ref_walk(s, src, dst, r->dlid, &tenths, &mtu))
		return false;
	r->reversible = ref_walk(s, dst, src, r->slid, &unused, &unused);
	if ((mask & C(reversible)) && w->reversible && !r->reversible)
		return false;
	r->mtu_selector = r->rate_selector = r->packet_life_time_selector = 2;
	return ref_mtu(w, mask, mtu, &r->mtu) && ref_rate(w, mask, tenths, &r->rate) &&
	       ref_life(w, mask, src == dst ? 0 : s->options->subnet_timeout,
			&r->packet_life_time);
}

static void ref_lids(const struct world *world, const struct iba_path_record *w, uint64_t mask,
		     uint32_t src, uint32_t dst, unsigned int wanted, GArray *out)
{
	const struct fabric_port *a = &world->subnet->fabric->ports[src];
	const struct fabric_port *b = &world->subnet->fabric->ports[dst];
	unsigned int na = mask & C(slid) ? 1 : 1u << a->lmc, nb = mask & C(dlid) ? 1 : 1u << b->lmc;
	uint16_t sbase = mask & C(slid) ? w->slid : a->lid;
	uint16_t dbase = mask & C(dlid) ? w->dlid : b->lid;
	struct iba_path_record r;
	unsigned int n = 0;

	if (!ref_pair(world, w, mask, src, dst, &r))
		return;
	for (unsigned int pass = 0; pass < 2; pass++)
		for (unsigned int i = 0; i < na; i++)
			for (unsigned int j = 0; j < nb; j++) {
				if ((i == j) != (pass == 0) || n == wanted)
					continue;
				r.slid = sbase + i;
				r.dlid = dbase + j;
				r.preference = pass == 0 ? 0 : 2;
				if (ref_path(world, w, mask, src, dst, &r)) {
					g_array_append_val(out, r);
					n++;
				}
			}
}

static uint16_t ref_answer(const struct world *world, const struct iba_path_record *w,
			   uint64_t mask, bool get, GArray *out)
{
	const struct subnet *s = world->subnet;
	uint64_t own = s->options->subnet_prefix, def = UINT64_C(0xFE80000000000000);
	unsigned int per_pair = get ? 1 : mask & C(numb_path) ? w->numb_path : 1000000;

	if (!(mask & C(service_id)) != !(mask & C(service_id_low)))
		return IBA_SA_INSUFFICIENT_COMPONENTS;
	if ((mask & C(sgid)) && w->sgid.prefix != own && w->sgid.prefix != def)
		return IBA_SA_INVALID_GID;
	if ((mask & C(dgid)) && w->dgid.prefix != own && w->dgid.prefix != def)
		return get ? IBA_SA_NO_RECORDS : IBA_STATUS_OK; /* no router leads there */
	for (uint32_t src = 0; src < s->fabric->n_ports; src++)
		for (uint32_t dst = 0; dst < s->fabric->n_ports; dst++)
			if (end_may_be(s, src, mask & C(sgid), w->sgid, mask & C(slid), w->slid) &&
			    end_may_be(s, dst, mask & C(dgid), w->dgid, mask & C(dlid), w->dlid) &&
			    visible(world, src) && visible(world, dst))
				ref_lids(world, w, mask, src, dst, per_pair, out);
	if (!get)
		return IBA_STATUS_OK;
	g_array_set_size(out, MIN(out->len, 1));
	return out->len ? IBA_STATUS_OK : IBA_SA_NO_RECORDS;
}

/* ---- comparing ---- */

static struct told ask_path(const struct world *world, const struct iba_path_record *w,
			    uint64_t mask, uint8_t method)
{
	struct ask ask = {
		.subnet = world->subnet,
		.store = world->store,
		.from = world->from,
		.sm_key = world->trusted ? TEST_SA_KEY : 0,
		.method = method,
		.attribute = IBA_ATTR_PATH_RECORD,
		.mask = mask,
		.type = &iba_path_record_type,
		.record = w,
	};

	return tell(&ask);
}

static bool same(const struct iba_path_record *a, const struct iba_path_record *b)
{
	uint8_t x[64], y[64];

	wire_encode(&iba_path_record_type, a, x);
	wire_encode(&iba_path_record_type, b, y);
	return memcmp(x, y, sizeof(x)) == 0;
}

static void compare(const struct world *world, const struct iba_path_record *w, uint64_t mask,
		    uint8_t method)
{
	GArray *expected = g_array_new(FALSE, FALSE, sizeof(struct iba_path_record));
	uint16_t status = ref_answer(world, w, mask, method == IBA_METHOD_GET, expected);
	struct told told = ask_path(world, w, mask, method);

	ck_assert_msg(told.header.status == status,
		      "mask 0x%" G_GINT64_MODIFIER "x: status 0x%x, expected 0x%x", mask,
		      told.header.status, status);
	if (status == IBA_STATUS_OK) {
		ck_assert_msg(told.n == expected->len, "%u paths, expected %u", told.n,
			      expected->len);
		for (unsigned int i = 0; i < told.n; i++) {
			struct iba_path_record got, *want;

			want = &g_array_index(expected, struct iba_path_record, i);
			told_record(&told, &iba_path_record_type, i, &got);
			ck_assert_msg(same(&got, want),
				      "mask 0x%" G_GINT64_MODIFIER "x: path %u differs", mask, i);
		}
	}
	told_clear(&told);
	g_array_unref(expected);
}

/* ---- random questions ---- */

static struct iba_gid random_gid(const struct subnet *subnet, uint64_t *state)
{
	const struct fabric *f = subnet->fabric;
	uint32_t port = endport(subnet, make_number(state, n_endports(subnet)), false);
	struct iba_gid gid = {subnet->options->subnet_prefix, f->ports[port].guid};

	switch (make_number(state, 16)) {
	case 0:
		gid.prefix = UINT64_C(0xFE80000000000000);
		break;
	case 1:
		gid.prefix++;
		break;
	case 2:
		gid.guid ^= UINT64_C(1) << 60;
		break;
	}
	return gid;
}

static uint16_t random_lid(const struct subnet *subnet, struct iba_gid gid, uint64_t *state)
{
	const struct fabric *f = subnet->fabric;
	uint32_t port = fabric_port_by_guid(f, gid.guid);

	if (port == FABRIC_NONE || make_number(state, 8) == 0)
		return make_number(state, f->max_lid + 2);
	return f->ports[port].lid + make_number(state, 1u << f->ports[port].lmc);
}

static struct iba_path_record random_record(const struct subnet *subnet, uint64_t *state)
{
	static const uint16_t p_keys[] = {0xFFFF, 0x7FFF, 0x8001, 0x0001, 0x8002, 0x0002, 0x8009};
	struct iba_path_record w = {0};

	w.service_id = make_number(state, 1000) * UINT64_C(0x100000001);
	w.sgid = random_gid(subnet, state);
	w.dgid = random_gid(subnet, state);
	w.raw_traffic = make_number(state, 2);
	w.flow_label = make_number(state, 1 << 20);
	w.hop_limit = make_number(state, 256);
	w.t_class = make_number(state, 256);
	w.reversible = make_number(state, 2);
	w.numb_path = make_number(state, 6);
	w.p_key = p_keys[make_number(state, G_N_ELEMENTS(p_keys))];
	w.qos_class = make_number(state, 1 << 12);
	w.sl = make_number(state, 16);
	w.mtu_selector = make_number(state, 4);
	w.mtu = make_number(state, 8);
	w.rate_selector = make_number(state, 4);
	w.rate = make_number(state, 12) ? make_number(state, 26) : 63;
	w.packet_life_time_selector = make_number(state, 4);
	w.packet_life_time =
		make_number(state, 3) ? 16 + make_number(state, 5) : make_number(state, 64);
	w.preference = make_number(state, 256);
	w.slid = random_lid(subnet, w.sgid, state);
	w.dlid = random_lid(subnet, w.dgid, state);
	return w;
}

/* Most questions name both ends and little else; all combinations occur. */
static uint64_t random_mask(uint64_t *state)
{
	uint64_t mask = 0;
	unsigned int rarity = 1 + make_number(state, 6);

	for (unsigned int bit = 0; bit < 24; bit++)
		if (make_number(state, rarity + 1) == 0)
			mask |= UINT64_C(1) << bit;
	if (make_number(state, 4))
		mask |= make_number(state, 3) ? C(sgid) : C(slid);
	if (make_number(state, 4))
		mask |= make_number(state, 3) ? C(dgid) : C(dlid);
	return mask;
}

static const uint16_t rows[][4] = {
	{0xFFFF},	  {0x7FFF, 0x8001}, {0x0001, 0xFFFF},	      {0x7FFF},
	{0x8002, 0x7FFF}, {0x0002},	    {0x0001, 0x7FFF, 0x8002}, {0x7FFF, 0xFFFF},
};

static const struct partition with_sl[] = {
	{.p_key = 0x7FFF, .name = "Default", .sl = 3},
	{.p_key = 0x0002, .name = "two", .sl = 5},
};

static struct world world_new(const char *spec, uint8_t lmc, uint64_t variety, bool partitions)
{
	struct world world = {.subnet = make_subnet(spec, lmc, variety), .store = sa_store_new(0)};

	if (partitions)
		world.subnet = with_partitions(world.subnet, rows, G_N_ELEMENTS(rows), with_sl,
					       G_N_ELEMENTS(with_sl));
	world.from = endport(world.subnet, 0, true);
	return world;
}

static void world_clear(struct world *world)
{
	subnet_unref(world->subnet);
	sa_store_free(world->store);
}

static void ask_at_random(struct world *world, uint64_t seed, unsigned int times)
{
	uint64_t state = seed;

	for (unsigned int i = 0; i < times; i++) {
		struct iba_path_record w = random_record(world->subnet, &state);
		uint64_t mask = random_mask(&state);

		world->trusted = make_number(&state, 2);
		world->from = endport(world->subnet,
				      make_number(&state, n_endports(world->subnet)), false);
		compare(world, &w, mask,
			make_number(&state, 2) ? IBA_METHOD_GET : IBA_METHOD_GET_TABLE);
	}
}

/* Breaks some LFT entries: paths end, loop, or arrive at the wrong place. */
static void spoil_routes(struct subnet *subnet, uint64_t seed)
{
	struct routing *routing = subnet->routing;

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		for (unsigned int lid = 1; lid <= routing->top; lid++)
			if (make_number(&seed, 12) == 0)
				routing->lft[sw][lid] = make_number(&seed, 12) ?
								make_number(&seed, 7) : 0xFF;
}

static const char *const specs[] = {"fattree:4", "torus:3x3x1:1", "random:6:3:2:7"};

START_TEST(test_random_questions)
{
	struct world world = world_new(specs[_i % 3], _i / 3, _i + 1, false);

	ask_at_random(&world, 100 + _i, 400);
	world_clear(&world);
}
END_TEST

START_TEST(test_random_partitions)
{
	struct world world = world_new(specs[_i % 3], _i / 3, _i + 1, true);

	ask_at_random(&world, 200 + _i, 400);
	world_clear(&world);
}
END_TEST

START_TEST(test_broken_routes)
{
	struct world world = world_new(specs[_i % 3], _i / 3, _i + 1, false);

	spoil_routes(world.subnet, 77 + _i);
	ask_at_random(&world, 300 + _i, 400);
	world_clear(&world);
}
END_TEST

/* ---- each selector of each value, in full ---- */

START_TEST(test_selectors)
{
	struct world world = world_new("fattree:4", 0, 9, false);
	const struct fabric *f = world.subnet->fabric;
	struct iba_path_record w = {
		.slid = f->ports[endport(world.subnet, 1, true)].lid,
		.dlid = f->ports[endport(world.subnet, 9, true)].lid,
	};
	uint64_t ends = C(slid) | C(dlid);

	for (unsigned int selector = 0; selector < 4; selector++)
		for (unsigned int value = 0; value < 64; value++) {
			w.mtu_selector = w.rate_selector = w.packet_life_time_selector = selector;
			w.mtu = w.rate = w.packet_life_time = value;
			compare(&world, &w, ends | C(mtu) | C(mtu_selector), IBA_METHOD_GET);
			compare(&world, &w, ends | C(rate) | C(rate_selector), IBA_METHOD_GET);
			compare(&world, &w,
				ends | C(packet_life_time) | C(packet_life_time_selector),
				IBA_METHOD_GET);
			/* one without the other is ignored */
			compare(&world, &w, ends | C(mtu), IBA_METHOD_GET);
			compare(&world, &w, ends | C(rate_selector), IBA_METHOD_GET);
		}
	world_clear(&world);
}
END_TEST

START_TEST(test_old_clients_see_old_rates)
{
	struct world world = world_new("fattree:4", 0, 0, false);
	const struct fabric *f = world.subnet->fabric;
	struct iba_path_record got, w = {
		.slid = f->ports[endport(world.subnet, 1, true)].lid,
		.dlid = f->ports[endport(world.subnet, 9, true)].lid,
	};
	struct told told;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		f->ports[i].rate = f->ports[i].rate ? IBA_RATE_400 : 0;
		f->ports[i].info.capability_mask |= IBA_PORT_CAP_CAPABILITY_MASK2;
		f->ports[i].info.capability_mask2 |= IBA_PORT_CAP2_LINK_SPEED_HDR;
	}
	told = ask_path(&world, &w, C(slid) | C(dlid), IBA_METHOD_GET);
	told_record(&told, &iba_path_record_type, 0, &got);
	ck_assert_uint_eq(got.rate, IBA_RATE_400);
	told_clear(&told);
	world.subnet->options->use_original_extended_sa_rates_only = true;
	told = ask_path(&world, &w, C(slid) | C(dlid), IBA_METHOD_GET);
	told_record(&told, &iba_path_record_type, 0, &got);
	ck_assert_uint_eq(got.rate, IBA_RATE_300);
	told_clear(&told);
	world_clear(&world);
}
END_TEST

/* ---- whole tables ---- */

START_TEST(test_world)
{
	struct world world = world_new("fattree:4", 0, 3, false);
	struct iba_path_record w = {0};

	compare(&world, &w, 0, IBA_METHOD_GET_TABLE);
	compare(&world, &w, 0, IBA_METHOD_GET);
	world_clear(&world);
}
END_TEST

START_TEST(test_numb_path_zero)
{
	struct world world = world_new("fattree:4", 1, 0, false);
	struct iba_path_record w = {.slid = 1};
	struct told told = ask_path(&world, &w, C(slid) | C(numb_path), IBA_METHOD_GET_TABLE);

	ck_assert_uint_eq(told.header.status, IBA_STATUS_OK);
	ck_assert_uint_eq(told.n, 0);
	ck_assert_uint_eq(told.length, IBA_SA_DATA_OFFSET);
	told_clear(&told);
	world_clear(&world);
}
END_TEST

/* ---- beyond the subnet ---- */

/* Endports 1 and 2 become routers. */
static void add_routers(struct world *world, const char *routes)
{
	const struct fabric *f = world->subnet->fabric;

	for (unsigned int i = 1; i <= 2; i++)
		f->nodes[f->ports[endport(world->subnet, i, true)].node].type = IBA_NODE_ROUTER;
	world->subnet->prefix_routes = prefix_routes_parse("f", routes, strlen(routes), NULL);
	ck_assert_ptr_nonnull(world->subnet->prefix_routes);
}

START_TEST(test_off_subnet)
{
	struct world world = world_new("fattree:4", 1, 0, false);
	const struct fabric *f = world.subnet->fabric;
	const struct fabric_port *router = &f->ports[endport(world.subnet, 1, true)];
	struct iba_path_record got, w = {
					    .slid = f->ports[endport(world.subnet, 0, true)].lid,
					    .dgid = {UINT64_C(0xFEC0000000000077), 0x1234},
					    .flow_label = 0x54321,
					    .t_class = 0x42,
					    .hop_limit = 3,
				    };
	uint64_t mask = C(slid) | C(dgid) | C(flow_label) | C(t_class) | C(hop_limit);
	struct told told;

	add_routers(&world, "fec0000000000077 77\nfec0000000000077 *\n");
	told = ask_path(&world, &w, mask, IBA_METHOD_GET);
	told_record(&told, &iba_path_record_type, 0, &got);
	ck_assert(got.dgid.prefix == w.dgid.prefix && got.dgid.guid == 0x1234);
	ck_assert_uint_eq(got.dlid, router->lid);
	ck_assert_uint_eq(got.hop_limit, 255);
	ck_assert_uint_eq(got.flow_label, 0x54321);
	ck_assert_uint_eq(got.t_class, 0x42);
	told_clear(&told);
	/* any LID of the router, but no other */
	w.dlid = router->lid + 1;
	told = ask_path(&world, &w, mask | C(dlid), IBA_METHOD_GET_TABLE);
	ck_assert_uint_eq(told.n, 1);
	told_clear(&told);
	w.dlid = w.slid;
	told = ask_path(&world, &w, mask | C(dlid), IBA_METHOD_GET);
	ck_assert_uint_eq(told.header.status, IBA_SA_NO_RECORDS);
	told_clear(&told);
	/* another prefix; and no path begins beyond the subnet */
	w.dgid.prefix++;
	told = ask_path(&world, &w, mask, IBA_METHOD_GET);
	ck_assert_uint_eq(told.header.status, IBA_SA_NO_RECORDS);
	told_clear(&told);
	w.sgid = (struct iba_gid){UINT64_C(0xFEC0000000000077), 0x1234};
	told = ask_path(&world, &w, C(sgid), IBA_METHOD_GET_TABLE);
	ck_assert_uint_eq(told.header.status, IBA_SA_INVALID_GID);
	told_clear(&told);
	world_clear(&world);
}
END_TEST

/* ---- multicast ---- */

static struct sa_group *add_group(struct world *world)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12A01C00000000), 42},
		.p_key = 0x8002,
		.mtu = IBA_MTU_2048,
		.rate = IBA_RATE_20,
		.packet_life_time = 18,
		.sl = 7,
		.flow_label = 0x12345,
		.t_class = 9,
		.hop_limit = 3,
	};

	return sa_store_create(world->store, &record, 0, 0);
}

/* A requester that holds P_Key 2, or one that does not. */
static void ask_group(struct world *world, uint32_t from, const struct iba_path_record *w,
		      uint64_t mask, uint16_t status)
{
	struct told told;

	world->from = from;
	told = ask_path(world, w, mask, IBA_METHOD_GET);
	ck_assert_msg(told.header.status == status, "status 0x%x, expected 0x%x",
		      told.header.status, status);
	if (status == IBA_STATUS_OK) {
		struct iba_path_record got;

		told_record(&told, &iba_path_record_type, 0, &got);
		ck_assert_uint_eq(got.dlid, IBA_LID_MCAST_FIRST);
		ck_assert_uint_eq(got.slid, world->subnet->fabric->ports[from].lid);
		ck_assert_uint_eq(got.mtu, IBA_MTU_2048);
		ck_assert_uint_eq(got.rate, IBA_RATE_20);
		ck_assert_uint_eq(got.sl, 7);
		ck_assert_uint_eq(got.t_class, 9);
		ck_assert_uint_eq(got.hop_limit, 3);
		ck_assert_uint_eq(got.flow_label, 0x12345);
		ck_assert_uint_eq(got.packet_life_time, 18);
		ck_assert_uint_eq(got.p_key, mask & C(p_key) ? w->p_key : 0x8002);
		ck_assert(got.dgid.guid == 42);
	}
	told_clear(&told);
}

/* Drops the SL in the SL2VL tables of all ports. */
static void drop_sl(struct subnet *subnet, uint8_t sl)
{
	struct qos_policy *policy = qos_policy_load(NULL, NULL);

	subnet->options->qos = true;
	subnet->qos = qos_paths_make(policy, subnet->options, subnet->fabric, subnet->partitions);
	subnet->qos->dropped |= 1u << sl;
	for (unsigned int role = 0; role < QOS_ROLES; role++)
		subnet->qos->qos.of[role].vl[sl] = QOS_DROP;
	qos_policy_unref(policy);
}

START_TEST(test_multicast)
{
	struct world world = world_new("fattree:4", 0, 0, true);
	const struct sa_group *group = add_group(&world);
	uint32_t in = FABRIC_NONE, out = FABRIC_NONE;
	struct iba_path_record w = {
		.dgid = group->record.mgid,
		.dlid = group->record.mlid,
		.mtu_selector = 2,
		.mtu = IBA_MTU_2048,
		.rate_selector = 0,
		.rate = IBA_RATE_20,
		.p_key = 0x0002,
		.sl = 6,
		.qos_class = 5,
	};

	for (unsigned int i = 0; i < n_endports(world.subnet); i++) {
		uint32_t port = endport(world.subnet, i, false);

		if (partitions_member(world.subnet->partitions, port, 2))
			in = port;
		else
			out = port;
	}
	ask_group(&world, in, &w, C(dgid), IBA_STATUS_OK);
	ask_group(&world, in, &w, C(dlid), IBA_STATUS_OK);
	ask_group(&world, out, &w, C(dgid), IBA_SA_NO_RECORDS);
	ask_group(&world, in, &w, C(dgid) | C(mtu) | C(mtu_selector), IBA_STATUS_OK);
	ask_group(&world, in, &w, C(dgid) | C(rate) | C(rate_selector), IBA_SA_NO_RECORDS);
	ask_group(&world, in, &w, C(dgid) | C(p_key), IBA_STATUS_OK);
	ask_group(&world, in, &w, C(dgid) | C(qos_class), IBA_STATUS_OK); /* it has none */
	ask_group(&world, in, &w, C(dgid) | C(sl), IBA_SA_NO_RECORDS);
	ask_group(&world, in, &w, C(dgid) | C(reversible), IBA_STATUS_OK);
	w.reversible = 1;
	ask_group(&world, in, &w, C(dgid), IBA_STATUS_OK);
	ask_group(&world, in, &w, C(dgid) | C(reversible), IBA_SA_NO_RECORDS);
	w.sgid = (struct iba_gid){world.subnet->options->subnet_prefix,
				  world.subnet->fabric->ports[in].guid};
	ask_group(&world, in, &w, C(dgid) | C(sgid), IBA_STATUS_OK);
	ask_group(&world, out, &w, C(dgid) | C(sgid), IBA_SA_NO_RECORDS);
	ask_group(&world, out, &w, C(dlid) | C(sgid), IBA_SA_NO_RECORDS);
	drop_sl(world.subnet, group->record.sl);
	ask_group(&world, in, &w, C(dgid), IBA_SA_NO_RECORDS);
	w.dgid.guid++;
	ask_group(&world, in, &w, C(dgid), IBA_SA_NO_RECORDS);
	world_clear(&world);
}
END_TEST

/* From a port of the group's partition, which shares another with the requester; trusted or not. */
START_TEST(test_multicast_of_others)
{
	static const uint16_t keys[][4] = {{0xFFFF, 0x8002}, {0xFFFF}};
	struct world world = {.subnet = make_subnet("fattree:4", 0, 0), .store = sa_store_new(0)};
	const struct iba_mc_member_record *group = &add_group(&world)->record;
	struct iba_path_record w = {.dgid = group->mgid, .dlid = group->mlid};

	world.subnet = with_partitions(world.subnet, keys, G_N_ELEMENTS(keys), NULL, 0);
	for (unsigned int i = 0; i < n_endports(world.subnet); i++) {
		uint32_t port = endport(world.subnet, i, false);
		bool is_in = partitions_member(world.subnet->partitions, port, 2);

		if (is_in)
			w.slid = world.subnet->fabric->ports[port].lid;
		else
			world.from = port;
	}
	for (unsigned int i = 0; i < 4; i++) {
		struct told told;

		world.trusted = i % 2;
		told = ask_path(&world, &w, C(slid) | (i / 2 ? C(dgid) : C(dlid)), IBA_METHOD_GET);
		ck_assert_uint_eq(told.header.status,
				  world.trusted ? IBA_STATUS_OK : IBA_SA_NO_RECORDS);
		told_clear(&told);
	}
	world_clear(&world);
}
END_TEST

/* From another port, by any of its LIDs and prefixes: answered as requested. */
START_TEST(test_multicast_source)
{
	struct world world = world_new("fattree:4", 2, 0, false);
	const struct fabric *f = world.subnet->fabric;
	const struct fabric_port *other = &f->ports[endport(world.subnet, 5, true)];
	struct iba_path_record got, w = {
					    .dgid = {UINT64_C(0xFF12A01C00000000), 42},
					    .sgid = {IBA_DEFAULT_GID_PREFIX, other->guid},
					    .slid = other->lid + 3,
				    };
	struct sa_group *group = add_group(&world);
	struct told told;

	group->record.p_key = 0xFFFF;
	told = ask_path(&world, &w, C(dgid) | C(sgid), IBA_METHOD_GET);
	told_record(&told, &iba_path_record_type, 0, &got);
	ck_assert(iba_gid_equal(got.sgid, w.sgid));
	ck_assert_uint_eq(got.slid, other->lid);
	told_clear(&told);
	told = ask_path(&world, &w, C(dgid) | C(slid), IBA_METHOD_GET);
	told_record(&told, &iba_path_record_type, 0, &got);
	ck_assert(got.sgid.prefix == world.subnet->options->subnet_prefix);
	ck_assert(got.sgid.guid == other->guid);
	ck_assert_uint_eq(got.slid, other->lid + 3);
	ck_assert_uint_eq(got.mtu_selector, IBA_SELECTOR_EXACTLY);
	ck_assert_uint_eq(got.rate_selector, IBA_SELECTOR_EXACTLY);
	ck_assert_uint_eq(got.packet_life_time_selector, IBA_SELECTOR_EXACTLY);
	told_clear(&told);
	w.slid = 0xBFFE; /* unassigned */
	told = ask_path(&world, &w, C(dgid) | C(slid), IBA_METHOD_GET);
	ck_assert_uint_eq(told.header.status, IBA_SA_NO_RECORDS);
	told_clear(&told);
	world_clear(&world);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_path");
	TCase *tcase = tcase_create("paths");

	tcase_add_loop_test(tcase, test_random_questions, 0, 9);
	tcase_add_loop_test(tcase, test_random_partitions, 0, 9);
	tcase_add_loop_test(tcase, test_broken_routes, 0, 6);
	tcase_add_test(tcase, test_selectors);
	tcase_add_test(tcase, test_old_clients_see_old_rates);
	tcase_add_test(tcase, test_world);
	tcase_add_test(tcase, test_numb_path_zero);
	tcase_add_test(tcase, test_off_subnet);
	tcase_add_test(tcase, test_multicast);
	tcase_add_test(tcase, test_multicast_of_others);
	tcase_add_test(tcase, test_multicast_source);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
