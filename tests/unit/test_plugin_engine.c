// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routing engines of plug-ins. The test is the host of those of tests/plugin, each on a thread of
 * its own: every lie is refused by the engine or by the verifier, and named; one
 * that does not return is given up on and comes back later; and good tables are as good as our own.
 */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "plugin/base/link.h"
#include "plugin/base/route_sections.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/serve.h"
#include "route/graph/watch.h"
#include "route/registry.h"
#include "route/renew/renew.h"
#include "route/value/lanes.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_checker.h"

#define MS 1000

struct bed {
	void *object;
	const struct osm_plugin *plugin;
	void *context;
	const char *options;
	int end;
	pthread_t thread;
	struct plugin_engine *engine;
	const struct route_engine *route;
};

static void *serve(void *arg)
{
	struct bed *bed = arg;

	engine_serve(bed->end, bed->plugin->engines[0], bed->context, bed->options);
	close(bed->end);
	return NULL;
}

static int start_host(struct bed *bed)
{
	int ends[2];

	ck_assert(link_pair(ends, NULL));
	bed->end = ends[1];
	ck_assert_int_eq(pthread_create(&bed->thread, NULL, serve, bed), 0);
	return ends[0];
}

static void bed_init(struct bed *bed, const char *name, const char *options)
{
	g_autofree char *file = g_strdup_printf("%s/%s.so", PLUGINS_DIR, name);
	const struct osm_plugin *(*entry)(void);

	*bed = (struct bed){.object = dlopen(file, RTLD_NOW | RTLD_LOCAL), .options = options};
	ck_assert_msg(bed->object, "%s", dlerror());
	*(void **)&entry = dlsym(bed->object, "osm_plugin_v1");
	bed->plugin = entry();
	bed->context = bed->plugin->create(NULL);
	bed->engine = plugin_engine_new(bed->plugin->engines[0]->name,
					bed->plugin->engines[0]->summary, name, start_host(bed));
	bed->route = plugin_engine_route(bed->engine);
}

static void bed_clear(struct bed *bed)
{
	plugin_engine_free(bed->engine);
	pthread_join(bed->thread, NULL);
	bed->plugin->destroy(bed->context);
	dlclose(bed->object);
}

static const struct route_input plain = {.threads = 1};

/* ---- lies ---- */

static const struct {
	const char *lie, *error, *witness;
} lies[] = {
	{"liar honest", NULL, NULL},
	{"liar keep", "plug-in liar: there are no old tables", NULL},
	{"liar loop", NULL, "loop"},
	{"liar hole", NULL, "LID"},
	{"liar promise", NULL, "credit loop: "},
	{"liar detour", "it promises shortest paths, but that from switch-", NULL},
	{"liar port", "is port 7, but it has 6 ports", NULL},
	{"liar sls", "have SL 0, and those back SL 1", NULL},
	{"liar sl", "SL 16 between switch-", NULL},
	{"liar mute", NULL, "hosts without an SL: "},
	{"liar vl", "SL 0 is on VL 15, but there are only 8 VLs", NULL},
	{"liar turn", "on VL 15, but there are only 8 VLs", NULL},
	{"liar order", "in the order, 0, is taken", NULL},
	{"liar far", "in the order is 4294967295, expected 0..24", NULL},
	{"liar fails", "plug-in liar: this is no torus", NULL},
	{"liar silent", "plug-in liar: it fails with -2, and does not say why", NULL},
	{"liar noisy", NULL, NULL},
	{"liar cut", NULL, NULL},
	{"liar x", "plug-in liar: there is no such lie: liar x", NULL},
};

START_TEST(test_lies)
{
	struct fabric *fabric = make_fabric("torus:5x5:2", 0);
	g_autoptr(GError) error = NULL;
	struct route_verdict verdict;
	struct routing *routing;
	struct bed bed;

	bed_init(&bed, "liar", lies[_i].lie);
	routing = route_compute(bed.route, fabric, &plain, &error);
	ck_assert_msg(!routing == !!lies[_i].error, "%s: %s", lies[_i].lie,
		      error ? error->message : "is not refused");
	if (routing) {
		bool good = route_verify(fabric, routing, &verdict);

		ck_assert_msg(good == !lies[_i].witness, "%s: %s", lies[_i].lie, verdict.witness);
		ck_assert_msg(good || strstr(verdict.witness, lies[_i].witness), "%s: %s",
			      lies[_i].lie, verdict.witness);
		ck_assert_ptr_eq(routing->engine, bed.route);
		route_verdict_clear(&verdict);
	} else {
		ck_assert_msg(strstr(error->message, lies[_i].error), "%s: %s", lies[_i].lie,
			      error->message);
	}
	if (!strcmp(lies[_i].lie, "liar cut"))
		ck_assert_str_eq(routing->note, "cut: Operation not permitted");
	if (!strcmp(lies[_i].lie, "liar noisy"))
		ck_assert(g_utf8_validate(routing->note, -1, NULL));
	routing_unref(routing);
	bed_clear(&bed);
	fabric_unref(fabric);
}
END_TEST

/* What is written after the return may be refused, or is a routing like any other. */
START_TEST(test_writes_after)
{
	struct fabric *fabric = make_fabric("torus:5x5:2", 0);
	struct bed bed;

	bed_init(&bed, "liar", "liar after");
	for (unsigned int i = 0; i < 30; i++) {
		g_autoptr(GError) error = NULL;
		struct routing *routing = route_compute(bed.route, fabric, &plain, &error);
		struct route_verdict verdict;

		ck_assert(!routing == !!error);
		if (!routing)
			continue;
		route_verify(fabric, routing, &verdict);
		route_verdict_clear(&verdict);
		routing_unref(routing);
	}
	bed_clear(&bed);
	fabric_unref(fabric);
}
END_TEST

/* ---- time ---- */

START_TEST(test_late)
{
	const struct route_input input = {.threads = 1, .patience_s = 1};
	struct fabric *fabric = make_fabric("torus:3x3:1", 0);
	g_autoptr(GError) error = NULL;
	struct routing *routing;
	struct bed bed;
	gint64 began;

	bed_init(&bed, "liar", "liar deaf");
	ck_assert_ptr_null(route_compute(bed.route, fabric, &input, &error));
	ck_assert_str_eq(error->message, "plug-in liar: it has not returned for 1 s");
	ck_assert(plugin_engine_is_late(bed.engine));
	g_clear_error(&error);
	began = g_get_monotonic_time();
	ck_assert_ptr_null(route_compute(bed.route, fabric, &input, &error));
	ck_assert_str_eq(error->message, "plug-in liar: it has not returned for 1 s");
	ck_assert_int_lt(g_get_monotonic_time() - began, 250 * MS);
	g_clear_error(&error);
	for (routing = NULL; !routing; usleep(20 * MS))
		routing = route_compute(bed.route, fabric, &input, NULL);
	ck_assert(!plugin_engine_is_late(bed.engine));
	checker_accept(fabric, routing, "in time again");
	routing_unref(routing);
	bed_clear(&bed);
	fabric_unref(fabric);
}
END_TEST

static void *cancel_soon(void *watch)
{
	usleep(20 * MS);
	route_watch_cancel(watch);
	return NULL;
}

/* A cancelled computation is not the engine's fault: the next one waits until it is free. */
START_TEST(test_cancelled)
{
	struct fabric *fabric = make_fabric("torus:3x3:1", 0);
	struct bed bed;

	bed_init(&bed, "liar", "liar never");
	for (unsigned int i = 0; i < 3; i++) {
		struct route_watch *watch = route_watch_new(0);
		const struct route_input input = {.threads = 1, .watch = watch};
		g_autoptr(GError) error = NULL;
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, watch), 0);
		ck_assert_ptr_null(route_compute(bed.route, fabric, &input, &error));
		ck_assert_int_eq(error->code, ROUTE_ERROR_CANCELLED);
		ck_assert(!plugin_engine_is_late(bed.engine));
		pthread_join(thread, NULL);
		route_watch_unref(watch);
	}
	bed_clear(&bed);
	fabric_unref(fabric);
}
END_TEST

static void *detach_soon(void *engine)
{
	usleep(20 * MS);
	plugin_engine_detach(engine, "it was stopped");
	return NULL;
}

START_TEST(test_detached)
{
	struct fabric *fabric = make_fabric("torus:3x3:1", 0);
	g_autoptr(GError) error = NULL;
	struct routing *routing;
	pthread_t thread;
	struct bed bed;

	bed_init(&bed, "liar", "liar never");
	ck_assert_int_eq(pthread_create(&thread, NULL, detach_soon, bed.engine), 0);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_ptr_null(route_compute(bed.route, fabric, &plain, &error));
		ck_assert_str_eq(error->message, "plug-in liar: it was stopped");
		g_clear_error(&error);
	}
	pthread_join(thread, NULL);
	pthread_join(bed.thread, NULL);
	bed.options = "liar honest";
	plugin_engine_attach(bed.engine, start_host(&bed), "2");
	routing = route_compute(bed.route, fabric, &plain, &error);
	checker_accept(fabric, routing, "attached again");
	routing_unref(routing);
	bed_clear(&bed);
	fabric_unref(fabric);
}
END_TEST

/* ---- a host that is none ---- */

static void expect_ended(struct plugin_engine *engine, struct fabric *fabric)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(route_compute(plugin_engine_route(engine), fabric, &plain, &error));
	ck_assert_str_eq(error->message, "plug-in odd: it has ended");
	plugin_engine_free(engine);
}

/* It answers what was not asked, sends files, or nothing at all. */
START_TEST(test_odd_host)
{
	static const struct link_head heads[] = {
		{.type = ROUTE_RETURN, .id = 2},
		{.type = ROUTE_CALL, .id = 1},
		{.type = ROUTE_RETURN, .id = 9, .n_files = 2},
		{.type = ROUTE_RETURN, .id = 1, .length = 1},
	};
	struct fabric *fabric = make_fabric("torus:3x3:1", 0);
	const int files[] = {0, 1};
	int ends[2];

	for (unsigned int i = 0; i < G_N_ELEMENTS(heads); i++) {
		ck_assert(link_pair(ends, NULL));
		ck_assert_int_eq(link_send(ends[1], &heads[i], heads[i].length ? "x" : NULL, files),
				 LINK_DONE);
		if (i == 3)
			close(ends[1]);
		expect_ended(plugin_engine_new("odd", "", "odd", ends[0]), fabric);
		if (i < 3)
			close(ends[1]);
	}
	ck_assert(link_pair(ends, NULL));
	close(ends[1]);
	expect_ended(plugin_engine_new("odd", "", "odd", ends[0]), fabric);
	fabric_unref(fabric);
}
END_TEST

/* ---- good tables ---- */

static const struct {
	const char *spec;
	uint8_t lmc;
	bool is_dor; /* no path is as long both ways around, so there is one dimension order */
} tori[] = {
	{"torus:4x4x4:1", 0, false}, {"torus:3x5:1", 0, true},	{"torus:3x5:3", 2, false},
	{"torus:5x3x3:1", 0, true},  {"torus:8x6:2", 0, false}, {"torus:7:2", 1, false},
};

static void check_torus(const char *name, int i)
{
	struct fabric *fabric = make_fabric(tori[i].spec, tori[i].lmc);
	g_autoptr(GError) error = NULL;
	struct route_verdict verdict;
	struct routing *routing, *dor;
	struct bed bed;

	bed_init(&bed, name, "");
	routing = route_compute(bed.route, fabric, &plain, &error);
	ck_assert_msg(routing, "%s: %s", tori[i].spec, error ? error->message : "");
	ck_assert_msg(route_verify(fabric, routing, &verdict), "%s: %s", tori[i].spec,
		      verdict.witness);
	ck_assert(verdict.acyclic && !verdict.discarded);
	ck_assert_uint_eq(routing->promises, ROUTE_DEADLOCK_FREE | ROUTE_SHORTEST);
	ck_assert_uint_eq(routing->max_hops, verdict.max_hops);
	route_verdict_clear(&verdict);
	checker_accept(fabric, routing, tori[i].spec);
	dor = route_compute(route_find("dor"), fabric, &plain, NULL);
	if (tori[i].is_dor)
		checker_same_tables(routing, dor, tori[i].spec);
	routing_unref(dor);
	routing_unref(routing);
	bed_clear(&bed);
	fabric_unref(fabric);
}

/* With a VL for each SL, and with two that change by turns. */
START_TEST(test_torus)
{
	check_torus("torus_dor", _i);
	check_torus("torus_turns", _i);
}
END_TEST

/* It fails where its promise cannot be kept. */
START_TEST(test_no_torus)
{
	struct fabric *fabric = make_fabric("mesh:4x4:1", 0);
	g_autoptr(GError) error = NULL;
	struct bed bed;

	bed_init(&bed, "torus_dor", "");
	ck_assert_ptr_null(route_compute(bed.route, fabric, &plain, &error));
	ck_assert_str_eq(error->message, "plug-in torus_dor: a cable or VL is missing");
	bed_clear(&bed);
	fabric_unref(fabric);
}
END_TEST

/* ---- renewal ---- */

static struct routing *renew(const struct bed *bed, const struct fabric *fabric,
			     const struct routing *old, enum route_way *way)
{
	g_autoptr(GError) error = NULL;
	struct routing *routing = routing_renew(bed->route, fabric, &plain, old, way, &error);

	ck_assert_msg(routing, "%s", error ? error->message : "");
	return routing;
}

/* An equal fabric needs no call, until the plug-in has other options. */
START_TEST(test_renew)
{
	struct builder *builder = make_builder_of("torus:4x4:1");
	struct routing *first, *second;
	struct fabric *fabric, *slow;
	enum route_way way;
	struct bed bed;

	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	bed_init(&bed, "liar", "liar honest");
	first = renew(&bed, fabric, NULL, &way);
	ck_assert_int_eq(way, ROUTE_ANEW);
	plugin_engine_detach(bed.engine, "it was stopped");
	pthread_join(bed.thread, NULL);
	second = renew(&bed, fabric, first, &way);
	ck_assert(way == ROUTE_SAME && second == first);
	routing_unref(second);
	plugin_engine_attach(bed.engine, start_host(&bed), "other options");
	second = renew(&bed, fabric, first, &way);
	ck_assert_int_eq(way, ROUTE_ANEW);
	routing_unref(first);
	slow = fabric_copy(fabric);
	slow->ports[fabric_switch_port(slow, 0, 1)].rate = 2;
	first = renew(&bed, slow, second, &way);
	ck_assert_int_eq(way, ROUTE_ANEW);
	routing_unref(first);
	routing_unref(second);
	bed_clear(&bed);
	fabric_unref(slow);
	fabric_unref(fabric);
	builder_free(builder);
}
END_TEST

/* An engine sees what is in use, whichever engine made it. */
START_TEST(test_old)
{
	struct fabric *fabric = make_fabric("torus:4x4:1", 1), *fewer;
	struct routing *old = route_compute(route_find("updn"), fabric, &plain, NULL), *routing;
	struct route_input input = {.threads = 1, .old = old};
	g_autoptr(GError) error = NULL;
	struct bed bed;

	bed_init(&bed, "liar", "liar keep");
	routing = route_compute(bed.route, fabric, &input, &error);
	ck_assert_msg(routing, "%s", error ? error->message : "");
	checker_same_tables(routing, old, "kept");
	routing_unref(routing);
	fewer = make_fabric("torus:4x3:1", 0); /* other switches, LIDs and rows */
	routing = route_compute(bed.route, fewer, &input, &error);
	ck_assert_msg(routing, "%s", error ? error->message : "");
	routing_unref(routing);
	bed_clear(&bed);
	routing_unref(old);
	fabric_unref(fewer);
	fabric_unref(fabric);
}
END_TEST

/* ---- the registry ---- */

START_TEST(test_registry)
{
	struct route_registry *registry = route_registry_new();
	struct plugin_engine *one = plugin_engine_new("ring", "", "one", -1);
	struct plugin_engine *dor = plugin_engine_new("dor", "", "one", -1);
	struct plugin_engine *same = plugin_engine_new("ring", "", "two", -1);
	g_autoptr(GPtrArray) all = NULL;

	ck_assert_ptr_null(route_registry_find(registry, "ring"));
	ck_assert(route_registry_add(registry, plugin_engine_route(one), plugin_engine_free));
	ck_assert(!route_registry_add(registry, plugin_engine_route(dor), plugin_engine_free));
	ck_assert(!route_registry_add(registry, plugin_engine_route(same), plugin_engine_free));
	ck_assert_ptr_eq(route_registry_find(registry, "ring"), plugin_engine_route(one));
	ck_assert_ptr_eq(route_registry_find(registry, "dor"), route_find("dor"));
	ck_assert_ptr_eq(route_registry_find(NULL, "dor"), route_find("dor"));
	ck_assert_ptr_null(route_registry_find(NULL, "ring"));
	all = route_registry_engines(registry);
	ck_assert_ptr_eq(all->pdata[all->len - 1], plugin_engine_route(one));
	plugin_engine_free(dor);
	plugin_engine_free(same);
	route_registry_free(registry);
	route_registry_free(NULL);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("plugin_engine");
	TCase *tcase = tcase_create("plugin_engine");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_lies, 0, G_N_ELEMENTS(lies));
	tcase_add_test(tcase, test_writes_after);
	tcase_add_test(tcase, test_late);
	tcase_add_test(tcase, test_cancelled);
	tcase_add_test(tcase, test_detached);
	tcase_add_test(tcase, test_odd_host);
	tcase_add_loop_test(tcase, test_torus, 0, G_N_ELEMENTS(tori));
	tcase_add_test(tcase, test_no_torus);
	tcase_add_test(tcase, test_renew);
	tcase_add_test(tcase, test_old);
	tcase_add_test(tcase, test_registry);
	suite_add_tcase(suite, tcase);
	return suite;
}
