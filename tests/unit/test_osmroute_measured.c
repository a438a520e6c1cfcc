// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Measured beside computed load. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "osmroute/measured.h"
#include "osmroute/quality.h"
#include "osmroute/report_measured.h"
#include "perf/disk/image_file.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/perf_fixture.h"

static char *directory, *files[4];
static struct fabric *fabric;
static struct routing *routing;
static struct perf_layout *layout;
static uint64_t *flows;

static int by_guid(const void *a, const void *b)
{
	const struct fixture_node *x = a, *y = b;

	return x->guid < y->guid ? -1 : 1;
}

static void setup(void)
{
	const struct route_input input = {.threads = 1};
	g_autofree struct fixture_node *nodes = NULL;

	directory = g_dir_make_tmp("opensm-measured-XXXXXX", NULL);
	files[0] = g_build_filename(directory, "one", NULL);
	files[1] = g_build_filename(directory, "two", NULL);
	files[2] = files[3] = NULL;
	fabric = make_fabric("fattree:4", 0);
	routing = route_compute(route_find("updn"), fabric, &input, NULL);
	flows = quality_load(fabric, routing);
	nodes = g_new(struct fixture_node, fabric->n_nodes);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		nodes[i] = (struct fixture_node){fabric->nodes[i].guid, fabric->nodes[i].type,
						 fabric->nodes[i].num_ports};
	qsort(nodes, fabric->n_nodes, sizeof(*nodes), by_guid);
	layout = fixture_layout(nodes, fabric->n_nodes);
}

static void teardown(void)
{
	g_free(flows);
	routing_unref(routing);
	fabric_unref(fabric);
	perf_layout_unref(layout);
	directory_remove(directory);
	for (unsigned int i = 0; i < 4; i++)
		g_clear_pointer(&files[i], g_free);
	g_free(directory);
}

static uint64_t *data_of(const struct perf_image *image, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];

	return &image->total[PERF_XMIT_DATA]
			    [fixture_row(layout, fabric->nodes[p->node].guid, p->num)];
}

/* Counters that are those flows times factor, and a little that was there before. */
static struct perf_image *image_of(unsigned int id, uint64_t factor, uint64_t before)
{
	struct perf_image *image = fixture_image(layout, id, id, 0);

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (fabric->ports[port].num)
			*data_of(image, port) = flows[port] * factor + before * (port + 1);
	return image;
}

static void save(const char *file, struct perf_image *image)
{
	g_autoptr(GByteArray) octets = perf_image_encode(image, 1, 0, NULL, NULL, 1);

	fixture_file(file, octets->data, octets->len);
	perf_image_unref(image);
}

static void compare(struct measured *measured)
{
	struct measured_load load;

	ck_assert(measured_read(&load, files, NULL));
	measured_compare(measured, &load, fabric, routing, "updn");
	measured_clear(&load);
}

static const struct measured_channel *channel_at(const struct measured *measured, unsigned int i)
{
	return &g_array_index(measured->channels, struct measured_channel, i);
}

/* As the table would have it; with one image or two, in either order. */
START_TEST(alike)
{
	struct measured measured;

	save(files[0], image_of(1, _i ? 0 : 1000, _i ? 3 : 0));
	if (_i) {
		save(files[1], image_of(2, 1000, 3));
		if (_i == 2) {
			char *other = files[0];

			files[0] = files[1];
			files[1] = other;
		}
	} else {
		g_clear_pointer(&files[1], g_free);
	}
	compare(&measured);
	ck_assert_uint_eq(measured.channels->len, 64);
	ck_assert_uint_eq(measured.unknown, 0);
	for (unsigned int i = 0; i < 64; i++) {
		const struct measured_channel *channel = channel_at(&measured, i);

		ck_assert_uint_eq(channel->octets, 4000 * channel->flows);
		ck_assert_double_eq_tol(channel->difference, 0, 1e-12);
		ck_assert(!channel->at_least);
	}
	measured_compare_clear(&measured);
}
END_TEST

/* A hot spot comes first; what was not read is left out. */
START_TEST(hot_spot)
{
	struct perf_image *image = image_of(1, 1000, 0);
	GString *text = g_string_new(NULL);
	uint32_t hot = FABRIC_NONE, silent = FABRIC_NONE;
	struct measured measured;
	double shares = 0;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (flows[port]) {
			silent = hot;
			hot = port;
		}
	*data_of(image, hot) *= 5;
	image->at_least[data_of(image, hot) - image->total[PERF_XMIT_DATA]] = UINT32_MAX;
	image->flags[data_of(image, silent) - image->total[PERF_XMIT_DATA]] = PERF_SILENT;
	save(files[0], image);
	g_clear_pointer(&files[1], g_free);
	compare(&measured);
	ck_assert_uint_eq(measured.channels->len, 63);
	ck_assert_uint_eq(measured.unknown, 1);
	ck_assert_uint_eq(channel_at(&measured, 0)->port, hot);
	ck_assert(channel_at(&measured, 0)->at_least);
	for (unsigned int i = 0; i < 63; i++) {
		shares += channel_at(&measured, i)->measured_share;
		ck_assert(!i || fabs(channel_at(&measured, i)->difference) <=
					fabs(channel_at(&measured, i - 1)->difference));
	}
	ck_assert_double_eq_tol(shares, 1, 1e-9);
	report_measured(text, fabric, &measured);
	ck_assert_ptr_nonnull(strstr(text->str, "63 channels, 1 not measured; the 20 worst"));
	g_string_free(text, TRUE);
	measured_compare_clear(&measured);
}
END_TEST

START_TEST(too_many)
{
	struct measured_load load;
	g_autoptr(GError) error = NULL;

	files[2] = g_strdup(files[0]);
	save(files[0], image_of(1, 1, 0));
	ck_assert(!measured_read(&load, files, &error));
	ck_assert_str_eq(error->message, "--load: expected one or two files");
	measured_clear(&load);
	g_clear_error(&error);
	g_clear_pointer(&files[2], g_free);
	ck_assert(!measured_read(&load, files, &error)); /* the second does not exist */
	ck_assert(g_str_has_prefix(error->message, files[1]));
	measured_clear(&load);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("osmroute_measured");
	TCase *tcase = tcase_create("measured");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, alike, 0, 3);
	tcase_add_test(tcase, hot_spot);
	tcase_add_test(tcase, too_many);
	suite_add_tcase(suite, tcase);
	return suite;
}
