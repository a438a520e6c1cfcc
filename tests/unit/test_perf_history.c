// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Images on disk: contents, parts, damage, and how files come and go. */
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "complib/file.h"
#include "core/options.h"
#include "iba/constants.h"
#include "iba/iba.h"
#include "perf/disk/columns.h"
#include "perf/disk/history.h"
#include "perf/disk/image_file.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

#define RUN 77

static char *directory, *file;
static struct context context;
static struct actor *actor;
static struct perf_history *history;
static struct perf_layout *layout;
static struct perf_image *last;
static unsigned int number;

static void options_get(void *object)
{
	options_ref(object);
}

static void options_put(void *object)
{
	options_unref(object);
}

static void set_option(enum option_id id, const char *value)
{
	struct options *old = slot_take(&context.options);
	struct options *new = options_copy_with(old, id, value, NULL);

	ck_assert_ptr_nonnull(new);
	options_unref(old);
	slot_publish(&context.options, new);
}

static void run(void)
{
	runtime_run(context.rt, NULL, NULL, runtime_now(context.rt) + 1);
}

static void begin(void)
{
	history = perf_history_new(&context, actor, directory);
	run();
}

static void setup(void)
{
	directory = g_dir_make_tmp("opensm-history-XXXXXX", NULL);
	file = g_build_filename(directory, "file", NULL);
	context = (struct context){.rt = runtime_new(RUNTIME_VIRTUAL), .log = log_new_null()};
	slot_init(&context.options, options_get, options_put);
	slot_publish(&context.options, options_new());
	context.files = pool_new_background(context.rt, "files", 1);
	actor = actor_new(context.rt, "owner");
	layout = fixture_large_layout(3);
	last = NULL;
	number = 0;
	begin();
}

static void teardown(void)
{
	pool_free(context.files);
	actor_stop(actor);
	perf_history_free(history);
	actor_free(actor);
	slot_clear(&context.options);
	log_free(context.log);
	runtime_free(context.rt);
	perf_layout_unref(layout);
	perf_image_unref(last);
	directory_remove(directory);
	g_free(file);
	g_free(directory);
}

/* ---- contents ---- */

static struct perf_image *full_image(void)
{
	struct perf_image *image = fixture_image(layout, 42, 100, 2);

	fixture_count(image, 1, true, 100);
	image->flags[5] = PERF_EVER | PERF_SILENT;
	image->missed[6] = 1u << PERF_RCV_ERRORS;
	image->at_least[7] = (1u << PERF_COUNTERS) - 1;
	image->read_ns[8] = 0;
	layout->places[9].peer = PERF_NONE;
	layout->nodes[1].active = false;
	for (unsigned int i = 0; i < 2; i++) {
		image->details[i].row = 10 + 70 * i;
		image->details[i].have = (1u << PERF_DETAILS) - 1;
		image->details[i].at_least = 4;
		image->details[i].read_ns = 12345 + i;
		for (unsigned int j = 0; j < PERF_DETAILS; j++)
			image->details[i].total[j] = UINT64_MAX - i - j;
	}
	return image;
}

static void save(GByteArray *octets)
{
	fixture_file(file, octets->data, octets->len);
	g_byte_array_unref(octets);
}

static void save_image(const struct perf_image *image)
{
	save(perf_image_encode(image, RUN, 3, NULL, NULL, PERF_FILE_LEVEL));
}

static void check_node(const struct perf_node *is, const struct perf_node *was, bool names)
{
	ck_assert_uint_eq(is->guid, was->guid);
	ck_assert_uint_eq(is->type, was->type);
	ck_assert_uint_eq(is->active, was->active);
	ck_assert_int_eq(is->since_us, was->since_us);
	ck_assert_str_eq(is->name, names ? was->name : "");
	ck_assert_str_eq(is->description, names ? was->description : "");
}

static void check_place(const struct perf_place *is, const struct perf_place *was)
{
	ck_assert_uint_eq(is->lid, was->lid);
	ck_assert_uint_eq(is->port, was->port);
	ck_assert_uint_eq(is->rate, was->rate);
	ck_assert_uint_eq(is->lanes, was->lanes);
	ck_assert_uint_eq(is->tick, was->tick);
	ck_assert_uint_eq(is->fec, was->fec);
	ck_assert_uint_eq(is->extended, was->extended);
	ck_assert_uint_eq(is->to_switch, was->to_switch);
}

static void check_columns(const struct perf_image *is, uint32_t i, const struct perf_image *was,
			  uint32_t j)
{
	for (unsigned int c = 0; c < PERF_COUNTERS; c++)
		ck_assert_uint_eq(is->total[c][i], was->total[c][j]);
	ck_assert_uint_eq(is->read_ns[i], was->read_ns[j]);
	ck_assert_uint_eq(is->at_least[i], was->at_least[j]);
	ck_assert_uint_eq(is->missed[i], was->missed[j]);
	ck_assert_uint_eq(is->flags[i], was->flags[j]);
	ck_assert_uint_eq(is->have[i], was->have[j]);
}

START_TEST(whole)
{
	struct perf_image *image = full_image(), *read;
	struct perf_image_head head;

	g_free(layout->nodes[2].name);
	layout->nodes[2].name = g_strdup("a\tname\x7f with \xC3\xA4");
	save_image(image);
	ck_assert(perf_image_peek(file, &head, NULL));
	ck_assert_uint_eq(head.id, 42);
	ck_assert_uint_eq(head.run, RUN);
	ck_assert_int_eq(head.ended_us, image->ended_us);
	ck_assert_uint_eq(head.n_rows, layout->n_rows);
	read = perf_image_load(file, RUN, PERF_ALL_COLUMNS | PERF_WITH_NAMES, NULL);
	ck_assert_ptr_nonnull(read);
	ck_assert_uint_eq(read->run, 0);
	ck_assert_uint_eq(read->after, 3);
	ck_assert_uint_eq(read->ended_ns, image->ended_ns);
	ck_assert_uint_eq(read->began_ns, image->began_ns);
	g_free(layout->nodes[2].name);
	layout->nodes[2].name = g_strdup("a?name? with \xC3\xA4"); /* fit for a terminal */
	for (uint32_t i = 0; i < layout->n_nodes; i++)
		check_node(&read->layout->nodes[i], &layout->nodes[i], true);
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		check_place(&read->layout->places[row], &layout->places[row]);
		ck_assert_uint_eq(read->layout->places[row].peer, layout->places[row].peer);
		ck_assert_uint_eq(read->layout->places[row].node, layout->places[row].node);
		check_columns(read, row, image, row);
	}
	ck_assert_uint_eq(read->n_details, 2);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_mem_eq(&read->details[i], &image->details[i], sizeof(image->details[i]));
	perf_image_unref(read);
	read = perf_image_load(file, 1, 0, NULL);
	ck_assert_uint_eq(read->run, RUN);
	ck_assert_uint_eq(read->n_details, 0);
	check_node(&read->layout->nodes[0], &layout->nodes[0], false);
	perf_image_unref(read);
	perf_image_unref(image);
}
END_TEST

/* As a part of the whole. */
START_TEST(one_port)
{
	struct perf_image *image = full_image();
	g_autoptr(GError) error = NULL;

	save_image(image);
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		const struct perf_node *node = perf_layout_node_of(layout, row);
		struct perf_image *slice = perf_image_slice(image, row), *read;

		read = perf_image_load_port(file, RUN, node->guid, layout->places[row].port,
					    PERF_ALL_COLUMNS, NULL);
		ck_assert_ptr_nonnull(read);
		ck_assert_uint_eq(read->layout->n_rows, 1);
		ck_assert_uint_eq(
			perf_layout_row(read->layout, node->guid, layout->places[row].port), 0);
		check_node(read->layout->nodes, node, false);
		check_place(read->layout->places, slice->layout->places);
		check_columns(read, 0, slice, 0);
		ck_assert_uint_eq(read->n_details, slice->n_details);
		if (read->n_details)
			ck_assert_mem_eq(read->details, slice->details, sizeof(*read->details));
		perf_image_unref(read);
		perf_image_unref(slice);
	}
	ck_assert_ptr_null(perf_image_load_port(file, RUN, 1, 1, PERF_ALL_COLUMNS, &error));
	ck_assert_ptr_null(perf_image_load_port(file, RUN, layout->nodes[0].guid, 33, 1, &error));
	ck_assert_ptr_null(error);
	perf_image_unref(image);
}
END_TEST

static void read_all(void)
{
	struct perf_image_head head;

	perf_image_peek(file, &head, NULL);
	perf_image_unref(perf_image_load(file, RUN, PERF_ALL_COLUMNS | PERF_WITH_NAMES, NULL));
	perf_image_unref(
		perf_image_load_port(file, RUN, layout->nodes[1].guid, 3, PERF_ALL_COLUMNS, NULL));
}

/* Wrong values with right checksums: whatever is read is used without a fault. */
START_TEST(hostile)
{
	struct perf_image *image = full_image();
	g_autoptr(GByteArray) octets = perf_image_encode(image, RUN, 0, NULL, NULL, 0);

	for (size_t at = 0; at < octets->len; at += at < 800 ? 3 : 41) {
		g_autofree uint8_t *changed = g_memdup2(octets->data, octets->len);

		changed[at] ^= (uint8_t)(1 + at % 255);
		columns_seal(changed, octets->len);
		fixture_file(file, changed, octets->len);
		read_all();
	}
	perf_image_unref(image);
}
END_TEST

/* Octets of a port on disk. */
START_TEST(sizes)
{
	for (unsigned int busy = 0; busy < 2; busy++) {
		struct perf_layout *large = fixture_large_layout(100);
		struct perf_image *image = fixture_image(large, 1, 3600, 0);
		GByteArray *octets;

		fixture_count(image, 1, busy, 3600);
		octets = perf_image_encode(image, RUN, 0, NULL, NULL, PERF_FILE_LEVEL);
		ck_assert_uint_lt(octets->len / large->n_rows, busy ? 60 : 16);
		g_byte_array_unref(octets);
		perf_image_unref(image);
		perf_layout_unref(large);
	}
}
END_TEST

/* ---- files that come and go ---- */

/* A sweep at that second; the wall clock is another by skew_s. */
static void sweep(unsigned int second, int64_t skew_s)
{
	struct perf_image *image = fixture_image(layout, ++number, second, 0);

	image->ended_us += skew_s * 1000000;
	for (uint32_t row = 0; row < layout->n_rows; row++)
		image->total[PERF_XMIT_PKTS][row] = UINT64_C(3) * second + row;
	perf_image_unref(last);
	last = image;
	perf_history_add(history, image);
	if (perf_history_due(history)) {
		struct perf_resume *resume = perf_resume_new(layout, 0);

		resume->id = image->id;
		perf_history_write(history, resume);
	}
	run();
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in the directory that begin with this, sorted. */
static GPtrArray *names(const char *prefix)
{
	GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_prefix(name, prefix))
			g_ptr_array_add(found, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(found, by_name);
	return found;
}

static unsigned int count_names(const char *prefix)
{
	g_autoptr(GPtrArray) found = names(prefix);

	return found->len;
}

static struct perf_history_status status(void)
{
	struct perf_history_status now;

	perf_history_status(history, &now);
	return now;
}

START_TEST(interval)
{
	g_autoptr(GPtrArray) found = NULL;
	g_autofree char *path = NULL;
	struct perf_image *read;

	set_option(OPTION_perfmgr_history_interval, "60");
	for (unsigned int second = 0; second < 200; second += 10)
		sweep(second, 0);
	found = names("image-");
	ck_assert_uint_eq(found->len, 4);
	ck_assert_str_eq(found->pdata[0], "image-20231114T221320.000Z-1");
	ck_assert_str_eq(found->pdata[3], "image-20231114T221620.000Z-19");
	ck_assert_uint_eq(count_names("last"), 1);
	ck_assert_uint_eq(status().files, 4);
	ck_assert_uint_eq(status().written, 4);
	ck_assert_uint_eq(perf_history_last_id(directory), 19);
	path = g_build_filename(directory, found->pdata[1], NULL);
	read = perf_image_load(path, perf_history_run(history), PERF_ALL_COUNTERS, NULL);
	ck_assert_uint_eq(read->id, 7);
	ck_assert_uint_eq(read->after, 1);
	perf_image_unref(read);
}
END_TEST

/* What the sweeps between two files missed is in the second. */
START_TEST(composite)
{
	g_autofree char *path = NULL;
	struct perf_layout *other = fixture_large_layout(4);
	struct perf_image *image, *read;
	g_autoptr(GPtrArray) found = NULL;

	sweep(0, 0);
	image = fixture_image(layout, 2, 1, 0);
	image->missed[40] = 1u << PERF_RCV_ERRORS;
	image->flags[41] |= PERF_RESET;
	perf_history_add(history, image);
	perf_image_unref(image);
	image = fixture_image(other, 3, 400, 0);
	image->missed[100] = 1u << PERF_XMIT_DATA;
	perf_history_add(history, image);
	ck_assert(perf_history_due(history));
	perf_history_write(history, NULL);
	ck_assert(!perf_history_due(history));
	perf_history_write(history, perf_resume_new(layout, 0)); /* one at a time */
	run();
	found = names("image-");
	ck_assert_uint_eq(found->len, 2);
	path = g_build_filename(directory, found->pdata[1], NULL);
	read = perf_image_load(path, RUN, PERF_ALL_COUNTERS, NULL);
	ck_assert_uint_eq(read->missed[40], 1u << PERF_RCV_ERRORS);
	ck_assert_uint_eq(read->missed[100], 1u << PERF_XMIT_DATA);
	ck_assert_uint_eq(read->flags[41], PERF_READ | PERF_EVER | PERF_RESET);
	ck_assert_uint_eq(read->flags[42], PERF_READ | PERF_EVER);
	perf_image_unref(read);
	perf_image_unref(image);
	perf_layout_unref(other);
}
END_TEST

START_TEST(hours)
{
	set_option(OPTION_perfmgr_history_hours, "1");
	for (unsigned int second = 0; second <= 7200; second += 300)
		sweep(second, 0);
	ck_assert_uint_eq(count_names("image-"), 13);
	/* None is wanted any more; the totals are still. */
	set_option(OPTION_perfmgr_history_hours, "0");
	sweep(7500, 0);
	ck_assert_uint_eq(count_names("image-"), 0);
	ck_assert_uint_eq(count_names("last"), 1);
}
END_TEST

START_TEST(max_size)
{
	g_autofree char *big = g_build_filename(directory, "image-20200101T000000.000Z-1", NULL);
	g_autofree char *bad =
		g_build_filename(directory, "image-20200101T000001.000Z-2.bad", NULL);
	g_autofree char *octets = g_malloc0(900000);

	set_option(OPTION_perfmgr_history_max_size, "1");
	set_option(OPTION_perfmgr_history_hours, "8760");
	fixture_file(big, octets, 900000);
	fixture_file(bad, octets, 900000);
	/* The oldest goes. */
	number = 9;
	sweep(0, 0);
	ck_assert(!g_file_test(big, G_FILE_TEST_EXISTS));
	ck_assert_uint_eq(count_names("image-"), 2);
	g_unlink(bad);
	g_free(big);
	big = g_build_filename(directory, "image-20231101T000000.000Z-1", NULL);
	fixture_file(big, octets, 900000);
	for (unsigned int second = 300; status().octets < (1 << 20) - 30000; second += 300)
		sweep(second, 0);
	ck_assert(g_file_test(big, G_FILE_TEST_EXISTS));
	for (unsigned int i = 0; i < 40; i++)
		sweep(200000 + 300 * i, 0);
	ck_assert(!g_file_test(big, G_FILE_TEST_EXISTS));
	ck_assert_uint_le(status().octets, 1 << 20);
	ck_assert_uint_gt(status().files, 10);
}
END_TEST

/* A file has the time that its image has. */
START_TEST(clock_set_back)
{
	sweep(0, 0);
	sweep(300, 0);
	sweep(600, -3000);
	sweep(900, -3000);
	ck_assert_uint_eq(count_names("image-"), 4);
	ck_assert_uint_eq(count_names("image-20231114T221320.000Z-1"), 1);
	ck_assert_uint_eq(count_names("image-20231114T221820.000Z-2"), 1);
	ck_assert_uint_eq(count_names("image-20231114T213320.000Z-3"), 1);
	ck_assert_uint_eq(count_names("image-20231114T213820.000Z-4"), 1);
}
END_TEST

#define YEAR INT64_C(31536000)

/* The packets a second of a port in a window, and how many files tell of it. */
static double packets_a_second(unsigned int since, unsigned int until, unsigned int *files)
{
	const struct perf_value value = {PERF_RATE, PERF_XMIT_PKTS};
	struct perf_fold *fold = perf_fold_new(PERF_BIT(PERF_XMIT_PKTS));
	struct perf_history_read read = {0};
	struct perf_measure measure;

	perf_history_fold(directory, perf_history_run(history),
			  FIXTURE_EPOCH_US + since * INT64_C(1000000),
			  FIXTURE_EPOCH_US + until * INT64_C(1000000), fold, &read);
	perf_fold_measure(fold, 5, value, &measure);
	*files = read.files;
	perf_history_read_clear(&read);
	perf_fold_free(fold);
	return measure.value;
}

/* An image from a clock that was ahead, or behind: it is left out, and the others count. */
static void check_wrong_clock(int64_t skew_s)
{
	unsigned int files;

	set_option(OPTION_perfmgr_history_hours, "1");
	sweep(0, 0);
	sweep(300, 0);
	sweep(600, skew_s);
	sweep(900, skew_s);
	for (unsigned int second = 1200; second <= 3000; second += 300)
		sweep(second, 0);
	ck_assert_uint_eq(count_names("image-"), 11);
	ck_assert_double_eq_tol(packets_a_second(1300, 3000, &files), 3, 1e-9);
	ck_assert_uint_eq(files, 7);
	ck_assert_double_eq_tol(packets_a_second(0, 3000, &files), 3, 1e-9);
	ck_assert_uint_eq(files, 9);
	ck_assert_double_eq_tol(packets_a_second(10, 3000, &files), 3, 1e-9);
	ck_assert_uint_eq(files, 9);
	/* They end as the others do. */
	for (unsigned int second = 3300; second <= 7200; second += 300)
		sweep(second, 0);
	ck_assert_uint_eq(count_names("image-"), 13);
	ck_assert_uint_eq(count_names("image-20231115T001320.000Z-25"), 1);
}

START_TEST(clock_ahead)
{
	check_wrong_clock(76 * YEAR);
}
END_TEST

START_TEST(clock_behind)
{
	check_wrong_clock(-40 * YEAR);
}
END_TEST

/* Within the window. */
START_TEST(clock_little_ahead)
{
	unsigned int files;

	for (unsigned int second = 0; second <= 3000; second += 300)
		sweep(second, second == 900 ? 1000 : 0);
	ck_assert_double_eq_tol(packets_a_second(0, 3000, &files), 3, 1e-9);
	ck_assert_uint_eq(files, 10);
}
END_TEST

START_TEST(clock_little_behind)
{
	unsigned int files;

	for (unsigned int second = 0; second <= 3000; second += 300)
		sweep(second, second == 2100 ? -1000 : 0);
	ck_assert_double_eq_tol(packets_a_second(0, 3000, &files), 3, 1e-9);
	ck_assert_uint_eq(files, 10);
}
END_TEST

/* Names of an older version went on from the last one: the time in the file is the true one. */
START_TEST(name_of_another_time)
{
	g_autofree char *from = NULL, *to = NULL;

	sweep(0, 0);
	from = g_build_filename(directory, "image-20231114T221320.000Z-1", NULL);
	to = g_build_filename(directory, "image-20991231T000000.001Z-1", NULL);
	ck_assert_int_eq(g_rename(from, to), 0);
	perf_history_free(history);
	begin();
	ck_assert(!g_file_test(to, G_FILE_TEST_EXISTS));
	ck_assert(g_file_test(from, G_FILE_TEST_EXISTS));
}
END_TEST

/* One line, not one for each file. */
START_TEST(clock_is_told)
{
	GString *text = g_string_new("");
	struct log *quiet = context.log;
	const char *first;

	context.log = log_new_capture(text);
	sweep(0, YEAR);
	sweep(300, YEAR);
	sweep(600, 0);
	sweep(900, 0);
	log_free(context.log);
	context.log = quiet;
	first = strstr(text->str, "2 images of a later time than now");
	ck_assert_msg(first != NULL, "%s", text->str);
	ck_assert_ptr_nonnull(strstr(first, "image-20241113T221820.000Z-2"));
	ck_assert_msg(!strstr(first + strlen("2 images"), "images of a later"), "%s", text->str);
	g_string_free(text, TRUE);
}
END_TEST

/* A full disk: nothing that was there is lost, and what was missed is told by the next file. */
START_TEST(disk_full)
{
	struct rlimit was, small = {500, RLIM_INFINITY};
	g_autoptr(GPtrArray) found = NULL;
	g_autofree char *path = NULL;
	struct perf_image *read;

	signal(SIGXFSZ, SIG_IGN);
	sweep(0, 0);
	getrlimit(RLIMIT_FSIZE, &was);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (unsigned int second = 300; second <= 900; second += 300)
		sweep(second, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
	ck_assert_uint_eq(status().failed, 3);
	ck_assert(status().failing);
	ck_assert_uint_eq(count_names("image-"), 1);
	ck_assert_uint_eq(count_names("last"), 1);
	sweep(910, 0); /* not before the interval */
	ck_assert(status().failing);
	ck_assert(atomic_load(&context.perf_unkept));
	sweep(1200, 0);
	ck_assert(!status().failing);
	ck_assert(!atomic_load(&context.perf_unkept));
	ck_assert_uint_eq(status().written, 2);
	found = names("image-");
	ck_assert_uint_eq(found->len, 2);
	path = g_build_filename(directory, found->pdata[1], NULL);
	read = perf_image_load(path, RUN, 0, NULL);
	ck_assert_uint_eq(read->after, 1);
	perf_image_unref(read);
}
END_TEST

/* A file is where the directory should be. */
START_TEST(no_directory)
{
	g_rmdir(directory);
	fixture_file(directory, "x", 1);
	sweep(0, 0);
	ck_assert_uint_eq(status().failed, 1);
	g_unlink(directory);
	sweep(300, 0);
	ck_assert_uint_eq(status().written, 1);
	ck_assert_uint_eq(count_names("image-"), 1);
}
END_TEST

static void put(const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);

	fixture_file(path, text, strlen(text));
}

/* At the start. */
START_TEST(left_behind)
{
	g_autoptr(GPtrArray) found = NULL;
	g_autofree char *path = NULL, *octets = NULL;
	gsize length;

	sweep(0, 0);
	sweep(300, 0);
	found = names("image-");
	path = g_build_filename(directory, found->pdata[1], NULL);
	ck_assert(g_file_get_contents(path, &octets, &length, NULL));
	octets[8] = 2; /* a later version of the format */
	fixture_file(path, octets, length);
	put("image-20231114T230000.000Z-9", "garbage");
	put("image-20231114T221320.000Z-1" FILE_TEMPORARY "ABCDEF", "half of a file");
	put("last" FILE_TEMPORARY "XYZ123", "half of a file");
	put("last.backup", "mine");
	put("image-20231114T221320.000Z-1.backup", "mine");
	put("note", "mine");
	put("image-mine", "mine");
	perf_history_free(history);
	/* Its time is that of the wall clock. */
	set_option(OPTION_perfmgr_history_hours, "8760");
	begin();
	ck_assert_uint_eq(count_names("last" FILE_TEMPORARY), 0);
	ck_assert_uint_eq(count_names("last.backup"), 1);
	ck_assert_uint_eq(count_names("note"), 1);
	ck_assert_uint_eq(count_names("image-mine"), 1);
	ck_assert_uint_eq(count_names("image-20231114T221320.000Z-1" FILE_TEMPORARY), 0);
	ck_assert_uint_eq(count_names("image-20231114T221320.000Z-1.backup"), 1);
}
END_TEST

START_TEST(set_aside)
{
	g_autoptr(GDateTime) now = g_date_time_new_now_utc();
	g_autofree char *stamp = g_date_time_format(now, "image-%Y%m%dT%H%M%S.000Z-");
	g_autofree char *bad = g_strconcat(stamp, "5", NULL),
			*newer = g_strconcat(stamp, "6", NULL);
	struct perf_image *image = full_image();
	g_autofree char *path = g_build_filename(directory, newer, NULL);
	GByteArray *octets = perf_image_encode(image, RUN, 0, NULL, NULL, 1);

	octets->data[8]++; /* the version of its format */
	fixture_file(path, octets->data, octets->len);
	put(bad, "garbage");
	perf_history_free(history);
	begin();
	ck_assert_uint_eq(count_names(newer), 1);
	ck_assert_uint_eq(count_names(bad), 1);
	g_free(path);
	path = g_strconcat(directory, "/", bad, ".bad", NULL);
	ck_assert(g_file_test(path, G_FILE_TEST_EXISTS));
	ck_assert_uint_eq(perf_history_last_id(directory), 6);
	g_byte_array_unref(octets);
	perf_image_unref(image);
}
END_TEST

/* The end of the daemon: written at once, although the pool is gone. */
START_TEST(end)
{
	struct perf_resume *resume;

	sweep(0, 0);
	sweep(10, 0);
	ck_assert_uint_eq(count_names("image-"), 1);
	resume = perf_resume_new(layout, 0);
	resume->id = number;
	perf_history_end(history, resume);
	ck_assert_uint_eq(count_names("image-"), 2);
	resume = perf_resume_take(context.log, directory);
	ck_assert_ptr_nonnull(resume);
	ck_assert_uint_eq(resume->id, 2);
	perf_resume_free(resume);
}
END_TEST

/* ---- reading ---- */

START_TEST(windows)
{
	const struct perf_value value = {PERF_RATE, PERF_XMIT_PKTS};
	uint64_t mine = perf_history_run(history);
	struct perf_history_read read = {0};
	struct perf_series series;
	struct perf_fold *fold = perf_fold_new(PERF_BIT(PERF_XMIT_PKTS));
	struct perf_measure measure;

	for (unsigned int second = 0; second <= 3000; second += 300)
		sweep(second, 0);
	put("image-20231114T221321.000Z-1", "garbage");
	perf_history_fold(directory, mine, FIXTURE_EPOCH_US, FIXTURE_EPOCH_US + INT64_C(1500000000),
			  fold, &read);
	ck_assert_uint_eq(read.files, 6);
	ck_assert_uint_eq(read.skipped, 1);
	ck_assert_ptr_nonnull(strstr(read.why, "image-20231114T221321"));
	perf_history_read_clear(&read);
	perf_fold_add(fold, last); /* in memory */
	perf_fold_measure(fold, 5, value, &measure);
	ck_assert_uint_eq(measure.count, 9000);
	ck_assert_uint_eq(measure.ns, UINT64_C(3000000000000));
	ck_assert_double_eq_tol(measure.value, 3, 1e-9);
	ck_assert_str_eq(fold->layout->nodes[0].name, layout->nodes[0].name);
	perf_fold_free(fold);

	read = (struct perf_history_read){0};
	perf_series_init(&series, value);
	perf_history_series(directory, mine, layout->nodes[1].guid, 4,
			    FIXTURE_EPOCH_US + INT64_C(700000000), INT64_MAX, &series, &read);
	ck_assert_uint_eq(read.skipped, 0);
	ck_assert_uint_eq(read.files, 9);
	ck_assert_uint_eq(series.points->len, 8);
	for (unsigned int i = 0; i < 8; i++) {
		const struct perf_point *point =
			&g_array_index(series.points, struct perf_point, i);

		ck_assert_int_eq(point->us, FIXTURE_EPOCH_US + (900 + 300 * (int64_t)i) * 1000000);
		ck_assert_double_eq_tol(point->measure.value, 3, 1e-9);
	}
	perf_series_clear(&series);
	perf_history_read_clear(&read);
}
END_TEST

/* No directory at all, and nothing to keep. */
START_TEST(nothing)
{
	struct perf_history_read read = {0};
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COUNTERS);
	struct perf_history_status none;

	ck_assert_ptr_null(perf_history_new(&context, actor, NULL));
	perf_history_add(NULL, NULL);
	ck_assert(!perf_history_due(NULL));
	perf_history_write(NULL, perf_resume_new(layout, 0));
	perf_history_end(NULL, NULL);
	perf_history_status(NULL, &none);
	ck_assert_uint_eq(none.files, 0);
	perf_history_free(NULL);
	perf_history_fold("/nonexistent", 1, 0, INT64_MAX, fold, &read);
	ck_assert_uint_eq(read.files + read.skipped, 0);
	ck_assert_uint_eq(perf_history_last_id("/nonexistent"), 0);
	perf_fold_free(fold);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_history");
	TCase *contents = tcase_create("contents"), *files = tcase_create("files");

	tcase_add_checked_fixture(contents, setup, teardown);
	tcase_add_test(contents, whole);
	tcase_add_test(contents, one_port);
	tcase_add_test(contents, hostile);
	tcase_add_test(contents, sizes);
	suite_add_tcase(suite, contents);
	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, interval);
	tcase_add_test(files, composite);
	tcase_add_test(files, hours);
	tcase_add_test(files, max_size);
	tcase_add_test(files, clock_set_back);
	tcase_add_test(files, clock_ahead);
	tcase_add_test(files, clock_behind);
	tcase_add_test(files, clock_little_ahead);
	tcase_add_test(files, clock_little_behind);
	tcase_add_test(files, name_of_another_time);
	tcase_add_test(files, clock_is_told);
	tcase_add_test(files, disk_full);
	tcase_add_test(files, no_directory);
	tcase_add_test(files, left_behind);
	tcase_add_test(files, set_aside);
	tcase_add_test(files, end);
	tcase_add_test(files, windows);
	tcase_add_test(files, nothing);
	suite_add_tcase(suite, files);
	return suite;
}
