// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Images of the fabric: what the daemon writes, and what the reader accepts of it. */
#define _GNU_SOURCE /* memfd_create */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "complib/random.h"
#include "ctl/image/image_store.h"
#include "iba/constants.h"
#include "tests/run_suite.h"
#include "tests/unit/image_bed.h"

static struct image_bed *bed;
static struct image image;

static void begin(const char *spec)
{
	bed = image_bed_new(spec);
	image_bed_map(bed, &image);
}

static void end(void)
{
	image_unmap(&image);
	image_bed_free(bed);
}

static void again(void)
{
	image_unmap(&image);
	image_bed_map(bed, &image);
}

static const struct image_port *port_of(const char *node, unsigned int num)
{
	return &image.ports[image.nodes[image_bed_node(&image, node)].first_port + num - 1];
}

/* ---- what is written ---- */

static void check_port(const struct fabric *fabric, const struct image_port *port, uint32_t at)
{
	const struct fabric_port *from = &fabric->ports[at];

	ck_assert_uint_eq(port->num, from->num);
	ck_assert_uint_eq(port->guid, from->guid);
	ck_assert_uint_eq(port->lid, from->lid);
	ck_assert_uint_eq(port->state, from->info.port_state);
	if (from->peer == FABRIC_NONE) {
		ck_assert_uint_eq(port->peer, IMAGE_NONE);
		ck_assert_uint_eq(port->rate, 0);
		return;
	}
	ck_assert_uint_eq(image_node_of(&image, port->peer)->guid,
			  fabric->nodes[fabric->ports[from->peer].node].guid);
	ck_assert_uint_eq(image.ports[port->peer].num, fabric->ports[from->peer].num);
	ck_assert_uint_gt(port->rate, 0);
}

START_TEST(image_has_all)
{
	const struct fabric *fabric;
	uint32_t ports = 0;

	begin("fattree:4");
	fabric = bed->subnet.fabric;
	ck_assert_uint_eq(image.header->n_nodes, fabric->n_nodes);
	ck_assert_uint_eq(image.header->generation, 7);
	ck_assert_uint_eq(image.header->counters, 2);
	ck_assert_uint_eq(image.header->window_us, IMAGE_BED_SECONDS * 1000000);
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct fabric_node *from = &fabric->nodes[i];
		uint32_t at = image_find(&image, from->guid);

		ck_assert_uint_ne(at, IMAGE_NONE);
		ck_assert_str_eq(image_name(&image, image.nodes[at].name), from->description);
		ck_assert_uint_eq(image.nodes[at].n_ports, from->num_ports);
		ck_assert_uint_eq(image.nodes[at].type, from->type);
		ck_assert_int_eq(image.nodes[at].level != 0, from->type == IBA_NODE_SWITCH);
		for (unsigned int num = 1; num <= from->num_ports; num++)
			check_port(fabric, &image.ports[image.nodes[at].first_port + num - 1],
				   from->first_port + num);
		ports += from->num_ports;
	}
	ck_assert_uint_eq(image.header->n_ports, ports);
	ck_assert_uint_eq(image_find(&image, 1), IMAGE_NONE);
	end();
}
END_TEST

START_TEST(image_levels)
{
	begin("fattree:4");
	ck_assert_uint_eq(image.header->levels, 4);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "host-0")].level, 0);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "leaf-0-0")].level, 1);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "spine-0-0")].level, 2);
	end();
	begin("torus:4x4");
	ck_assert_uint_eq(image.header->levels, 2);
	end();
}
END_TEST

/* A leaf that has lost its hosts is not above the others. */
START_TEST(image_level_of_an_empty_leaf)
{
	begin("fattree:4");
	for (unsigned int num = 1; num <= 4; num++) {
		uint32_t port = image_bed_port(bed, "leaf-1-0", (uint8_t)num);
		const struct fabric *fabric = bed->subnet.fabric;

		if (!fabric_is_switch(fabric, fabric->ports[fabric->ports[port].peer].node))
			image_bed_cut(bed, port);
	}
	again();
	ck_assert_uint_eq(image.header->levels, 4);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "leaf-1-0")].level, 1);
	end();
}
END_TEST

enum { LINES = 12, SPINES = 6, OUTSIDE = 4, HOSTS = 8 };

/* hosts gets lines of their own. */
static void add_hosts(GString *text, GString *hosts, const char *name, unsigned int port,
		      unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		g_string_append_printf(text, "[%u] \"host-%s-%u\"[1]\n", port + i, name, i);
		g_string_append_printf(hosts, "\nHca 1 \"host-%s-%u\"\n", name, i);
	}
}

/*
 * The switches of a director: hosts on its line cards, on switches below these, and an adapter at
 * each spine.
 */
static char *make_director(void)
{
	g_autoptr(GString) text = g_string_new(NULL), hosts = g_string_new(NULL);
	char *file = NULL;

	for (unsigned int i = 0; i < LINES; i++) {
		g_autofree char *name = g_strdup_printf("line-%u", i);

		g_string_append_printf(text, "\nSwitch 15 \"%s\"\n", name);
		for (unsigned int k = 0; k < SPINES; k++)
			g_string_append_printf(text, "[%u] \"spine-%u\"[%u]\n", 1 + k, k, 1 + i);
		add_hosts(text, hosts, name, 7, HOSTS);
		g_string_append_printf(text, "[15] \"outside-%u\"[%u]\n", i / 3, 1 + i % 3);
	}
	for (unsigned int i = 0; i < SPINES + OUTSIDE; i++) {
		bool spine = i < SPINES;
		g_autofree char *name =
			g_strdup_printf(spine ? "spine-%u" : "outside-%u", spine ? i : i - SPINES);

		g_string_append_printf(text, "\nSwitch 13 \"%s\"\n", name);
		add_hosts(text, hosts, name, spine ? 13 : 4, spine ? 1 : HOSTS);
	}
	g_string_append(text, hosts->str);
	close(g_file_open_tmp("director-XXXXXX", &file, NULL));
	ck_assert(g_file_set_contents(file, text->str, -1, NULL));
	return file;
}

/* All its switches have hosts, but the spines are above. */
START_TEST(image_levels_of_a_director)
{
	g_autofree char *file = make_director();

	begin(file);
	unlink(file);
	ck_assert_uint_eq(image.header->levels, 4);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "outside-1")].level, 1);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "line-5")].level, 2);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "spine-3")].level, 3);
	end();
}
END_TEST

START_TEST(image_counters)
{
	uint32_t port;
	const struct image_port *p;

	begin("fattree:4");
	port = image_bed_port(bed, "leaf-0-0", 1);
	image_bed_count(bed, port, PERF_XMIT_DATA, 25000000000);
	image_bed_count(bed, port, PERF_RCV_PKTS, 30);
	image_bed_count(bed, port, PERF_SYMBOL_ERRORS, 2);
	image_bed_count(bed, port, PERF_XMIT_DISCARDS, 3);
	again();
	p = port_of("leaf-0-0", 1);
	ck_assert(p->flags & IMAGE_PORT_RATES && p->flags & IMAGE_PORT_READ);
	ck_assert_float_eq_tol(p->octets_s[0], 1e10f, 1e5f);
	ck_assert_float_eq(p->octets_s[1], 0);
	ck_assert_float_eq_tol(p->packets_s[1], 3, 1e-5f);
	ck_assert_float_eq_tol(p->errors_minute, 30, 1e-4f);
	ck_assert_float_gt(p->load[0], 0);
	ck_assert_uint_eq(image_counter(&image, (uint32_t)(p - image.ports), PERF_XMIT_DATA),
			  100000000000);
	ck_assert_uint_eq(image.columns[PERF_XMIT_DATA].kind, IMAGE_OCTETS);
	ck_assert_str_eq(image_name(&image, image.columns[PERF_XMIT_DATA].name), "PortXmitData");
	ck_assert_uint_eq(p->have, (1u << PERF_COUNTERS) - 1);
	end();
}
END_TEST

/* What was at the other end is known from the counters before. */
START_TEST(image_of_a_lost_cable)
{
	uint32_t port;
	const struct image_port *p;

	begin("fattree:4");
	port = image_bed_port(bed, "leaf-0-0", 3);
	image_bed_cut(bed, port);
	again();
	p = port_of("leaf-0-0", 3);
	ck_assert(p->flags & IMAGE_PORT_LOST);
	ck_assert_uint_eq(p->state, IBA_PORT_DOWN);
	ck_assert_uint_ne(p->peer, IMAGE_NONE);
	ck_assert(image.ports[p->peer].flags & IMAGE_PORT_LOST);
	ck_assert(!(port_of("leaf-0-0", 4)->flags & IMAGE_PORT_LOST));
	end();
}
END_TEST

START_TEST(image_of_alarms)
{
	const struct fabric *fabric;
	uint32_t port;

	begin("fattree:4");
	fabric = bed->subnet.fabric;
	port = image_bed_port(bed, "leaf-0-0", 3);
	bed->alarms = perf_alarms_new(2);
	for (uint32_t i = 0; i < 2; i++) {
		bed->alarms->all[i].guid = fabric->nodes[fabric->ports[port].node].guid;
		bed->alarms->all[i].port = 3;
		bed->alarms->all[i].level = i ? PERF_INFO : PERF_WARNING;
		bed->alarms->all[i].where = g_strdup("");
	}
	again();
	ck_assert_uint_eq(port_of("leaf-0-0", 3)->alarm, IMAGE_WARNING);
	ck_assert_uint_eq(image.nodes[image_bed_node(&image, "leaf-0-0")].alarm, IMAGE_WARNING);
	ck_assert_uint_eq(port_of("leaf-0-0", 4)->alarm, IMAGE_QUIET);
	end();
}
END_TEST

/* Before the first sweep, and without a performance manager. */
START_TEST(image_of_nothing)
{
	const struct fabric_image_source nothing = {.run = 1, .serial = 2};
	struct image empty;
	int file = fabric_image_make(&nothing, NULL);

	ck_assert_int_ge(file, 0);
	ck_assert(image_map(&empty, file, NULL));
	ck_assert_uint_eq(empty.header->n_nodes, 0);
	ck_assert_uint_eq(empty.header->n_ports, 0);
	ck_assert_uint_eq(image_find(&empty, 1), IMAGE_NONE);
	image_unmap(&empty);
	close(file);
	begin("mesh:2");
	bed->source.images = NULL;
	again();
	ck_assert_uint_eq(image.header->counters, 0);
	ck_assert_uint_eq(port_of("host-0", 1)->have, 0);
	end();
}
END_TEST

/* One that is asked for again is not made again, and the file cannot be changed. */
START_TEST(image_is_shared)
{
	struct image_store *store = image_store_new();
	int file[3];

	begin("mesh:2");
	file[0] = image_store_get(store, &bed->source, NULL);
	file[1] = image_store_get(store, &bed->source, NULL);
	ck_assert_uint_eq(image_store_made(store), 1);
	bed->source.serial++;
	file[2] = image_store_get(store, &bed->source, NULL);
	ck_assert_uint_eq(image_store_made(store), 2);
	image_store_unref(store);
	for (unsigned int i = 0; i < 3; i++) {
		struct image other;

		ck_assert_int_eq(pwrite(file[i], "x", 1, 0), -1);
		ck_assert_int_eq(ftruncate(file[i], 0), -1);
		ck_assert(image_map(&other, file[i], NULL));
		ck_assert_uint_eq(other.header->serial, i < 2 ? 1 : 2);
		image_unmap(&other);
		close(file[i]);
	}
	end();
}
END_TEST

/* ---- what is read ---- */

static bool accepts(const void *octets, size_t n)
{
	g_autoptr(GError) error = NULL;
	struct image other;
	bool good = image_check(&other, octets, n, &error);

	ck_assert_int_eq(good, !error);
	return good;
}

START_TEST(reader_wants_all)
{
	g_autofree char *copy = NULL;
	size_t n;

	begin("mesh:2");
	n = image.header->octets;
	copy = g_memdup2(image.header, n);
	ck_assert(accepts(copy, n));
	for (size_t i = 0; i < n; i++) {
		struct image_header *header = (struct image_header *)copy;

		ck_assert(!accepts(copy, i));
		if (i < sizeof(*header))
			continue;
		header->octets = i; /* even if it says so */
		ck_assert(!accepts(copy, i));
		header->octets = n;
	}
	end();
}
END_TEST

/* One octet is wrong: it is refused, or may be any value. */
START_TEST(reader_of_wrong_octets)
{
	uint64_t state = 5;
	g_autofree char *copy = NULL;
	size_t n;
	unsigned int refused = 0;

	begin("fattree:4");
	n = image.header->names_at; /* names are any text */
	copy = g_memdup2(image.header, image.header->octets);
	for (unsigned int i = 0; i < 3000; i++) {
		size_t at = random_next(&state) % n;
		char was = copy[at];

		copy[at] ^= (char)(1 + random_next(&state) % 255);
		refused += !accepts(copy, image.header->octets);
		copy[at] = was;
	}
	ck_assert_uint_gt(refused, 100);
	ck_assert(accepts(copy, image.header->octets));
	end();
}
END_TEST

static struct image_header *header;
static struct image_node *nodes;
static struct image_port *ports;

static void wrong(unsigned int number)
{
	switch (number) {
	case 0:
		header->version++;
		break;
	case 1:
		header->order = 0x04030201;
		break;
	case 2:
		header->n_nodes = UINT32_MAX;
		break;
	case 3:
		header->n_ports = UINT32_MAX;
		break;
	case 4:
		header->n_columns = IMAGE_COLUMNS_MAX + 1;
		break;
	case 5:
		header->nodes_at = UINT64_MAX - 7;
		break;
	case 6:
		header->counters_at += 4;
		break;
	case 7:
		header->ports_at = 0;
		break;
	case 8:
		header->names_octets = UINT64_MAX;
		break;
	case 9:
		header->names_octets--;
		break;
	case 10:
		nodes[1].guid = nodes[0].guid;
		break;
	case 11:
		nodes[1].first_port++;
		break;
	case 12:
		nodes[0].n_ports++;
		break;
	case 13:
		nodes[0].name = (uint32_t)header->names_octets;
		break;
	case 14:
		nodes[0].level = 200;
		break;
	case 15:
		ports[0].node = 1;
		break;
	case 16:
		ports[0].num = 9;
		break;
	case 17:
		ports[0].peer = 0;
		break;
	case 18:
		ports[0].peer = header->n_ports;
		break;
	case 19:
		ports[ports[0].peer].peer = IMAGE_NONE;
		break;
	case 20:
		ports[0].octets_s[0] = NAN;
		break;
	case 21:
		ports[0].packets_s[1] = INFINITY;
		break;
	case 22:
		ports[0].wait = -1;
		break;
	case 23:
		ports[0].load[1] = 1.5f;
		break;
	case 24:
		ports[0].have = UINT32_MAX;
		break;
	case 25:
		ports[0].state = 5;
		break;
	case 26:
		ports[0].condition = UINT16_MAX;
		break;
	case 27:
		nodes[0].type = 0;
		break;
	default:
		ports[0].flags = UINT16_MAX;
	}
}
#define N_WRONG 29

START_TEST(reader_of_wrong_rows)
{
	char *copy;

	begin("mesh:2");
	copy = g_memdup2(image.header, image.header->octets);
	header = (struct image_header *)copy;
	nodes = (struct image_node *)(copy + header->nodes_at);
	ports = (struct image_port *)(copy + header->ports_at);
	while (ports->peer == IMAGE_NONE)
		ck_abort_msg("the first port has no cable");
	wrong((unsigned int)_i);
	ck_assert(!accepts(copy, image.header->octets));
	g_free(copy);
	end();
}
END_TEST

START_TEST(reader_wants_seals)
{
	g_autoptr(GError) error = NULL;
	struct image other;
	int file = memfd_create("test", MFD_ALLOW_SEALING);

	begin("mesh:2");
	ck_assert_int_eq(write(file, image.header, image.header->octets), image.header->octets);
	ck_assert(!image_map(&other, file, &error));
	ck_assert_str_eq(error->message, "image: the file is not sealed");
	ck_assert_int_eq(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
	ck_assert(image_map(&other, file, NULL));
	image_unmap(&other);
	close(file);
	ck_assert(!image_map(&other, STDIN_FILENO, NULL));
	end();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("image");
	TCase *write = tcase_create("write"), *read = tcase_create("read");

	tcase_add_test(write, image_has_all);
	tcase_add_test(write, image_levels);
	tcase_add_test(write, image_level_of_an_empty_leaf);
	tcase_add_test(write, image_levels_of_a_director);
	tcase_add_test(write, image_counters);
	tcase_add_test(write, image_of_a_lost_cable);
	tcase_add_test(write, image_of_alarms);
	tcase_add_test(write, image_of_nothing);
	tcase_add_test(write, image_is_shared);
	suite_add_tcase(suite, write);
	tcase_add_test(read, reader_wants_all);
	tcase_add_test(read, reader_of_wrong_octets);
	tcase_add_loop_test(read, reader_of_wrong_rows, 0, N_WRONG);
	tcase_add_test(read, reader_wants_seals);
	suite_add_tcase(suite, read);
	return suite;
}
