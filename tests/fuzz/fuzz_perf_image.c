// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files with counters: an image, read as a whole and for a port, and what a restart needs. Once as
 * the input is, and once with right checksums: an image that is read is written and read again.
 */
#include <string.h>
#include <unistd.h>

#include "perf/disk/columns.h"
#include "perf/disk/image_file.h"
#include "perf/disk/resume.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/perf_fixture.h"

#define RUN 7

struct state {
	int fd;
};

static void add(GPtrArray *seeds, GByteArray *octets)
{
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(octets));
}

/* Uncompressed ones are altered to something that is still a file. */
static void *setup(GPtrArray *seeds)
{
	struct state *state = g_new0(struct state, 1);

	for (uint32_t n = 0; n < 3; n++) {
		struct perf_layout *layout = fixture_large_layout(n);
		struct perf_image *image = fixture_image(layout, n, 10, n);
		struct perf_resume *resume = perf_resume_new(layout, n);

		fixture_count(image, n, n > 1, 10);
		for (uint32_t i = 0; i < n; i++) {
			image->details[i].row = resume->details[i].row = 3 * i;
			image->details[i].have = resume->details[i].have = i;
		}
		add(seeds, perf_image_encode(image, RUN, 0, NULL, NULL, 0));
		add(seeds, perf_image_encode(image, RUN, 0, NULL, NULL, 1));
		add(seeds, perf_resume_encode(resume, 0));
		perf_resume_free(resume);
		perf_image_unref(image);
		perf_layout_unref(layout);
	}
	state->fd = -1;
	return state;
}

static void use(const struct perf_image *image)
{
	struct perf_fold *fold = perf_fold_new(PERF_ALL_COLUMNS);
	struct perf_cable cable;
	struct perf_top top[3];
	struct perf_sum sum;

	perf_fold_add(fold, image);
	perf_fold_add(fold, image);
	perf_fold_top(fold, (struct perf_value){PERF_UTILIZATION, PERF_XMIT_DATA}, PERF_HOST_LINKS,
		      NULL, top, 3);
	perf_fold_sum(fold, NULL, &sum);
	for (uint32_t row = 0; row < image->layout->n_rows; row++)
		perf_fold_cable(fold, row, image->layout->places[row].peer, &cable);
	perf_fold_free(fold);
}

static void check_again(struct state *state, const struct perf_image *image)
{
	g_autoptr(GByteArray) octets = perf_image_encode(image, RUN, image->after, NULL, NULL, 1);
	g_autofree char *file = fuzz_file(&state->fd, octets->data, octets->len);
	struct perf_image *again =
		perf_image_load(file, RUN, PERF_ALL_COLUMNS | PERF_WITH_NAMES, NULL);

	fuzz_expect(again);
	fuzz_expect(again->layout->n_rows == image->layout->n_rows);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		fuzz_expect(!image->layout->n_rows ||
			    memcmp(again->total[i], image->total[i],
				   image->layout->n_rows * sizeof(uint64_t)) == 0);
	perf_image_unref(again);
}

static void read_all(struct state *state, const uint8_t *data, size_t size)
{
	g_autofree char *file = fuzz_file(&state->fd, data, size);
	struct perf_image *image, *port;

	perf_resume_free(perf_resume_load(file, NULL));
	port = perf_image_load_port(file, RUN, UINT64_C(0x0002C90300000030), 2, PERF_ALL_COLUMNS,
				    NULL);
	if (port)
		use(port);
	image = perf_image_load(file, RUN, PERF_ALL_COLUMNS | PERF_WITH_NAMES, NULL);
	if (image) {
		use(image);
		check_again(state, image);
	}
	perf_image_unref(port);
	perf_image_unref(image);
}

static void run(void *arg, const uint8_t *data, size_t size)
{
	g_autofree uint8_t *copy = g_malloc(size + 1);

	read_all(arg, data, size);
	if (size)
		memcpy(copy, data, size);
	if (columns_seal(copy, size))
		read_all(arg, copy, size);
}

static void teardown(void *arg)
{
	struct state *state = arg;

	if (state->fd >= 0)
		close(state->fd);
	g_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "perf_image",
	.max_size = 1 << 15,
	.runs = 3000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
