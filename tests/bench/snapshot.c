// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a snapshot for plug-ins costs, in ms and MB, with each of its parts: on fattree:54, which
 * has 39,366 hosts, or the generator spec that is given.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctl/plugin/snapshot.h"
#include "iba/constants.h"
#include "opensm/plugin.h"
#include "perf/image/layout.h"
#include "plugin/host/snapshot_view.h"
#include "tests/unit/test_sa_make.h"

static double cpu_ms(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static struct perf_images *make_images(const struct fabric *fabric)
{
	struct perf_images *images = g_new0(struct perf_images, 1);
	const struct perf_layout_wish wish = {.now_us = 1};
	struct perf_layout *layout = perf_layout_make(fabric, NULL, &wish);

	ref_init(&images->ref);
	images->n = 2;
	images->images = g_new(struct perf_image *, 2);
	for (unsigned int i = 0; i < 2; i++) {
		struct perf_image *image = perf_image_new(layout, 0);

		image->id = i + 1;
		for (uint32_t row = 0; row < layout->n_rows; row++) {
			image->flags[row] = PERF_READ | PERF_EVER;
			image->have[row] = (1u << PERF_COUNTERS) - 1;
			image->read_ns[row] = i + 1;
		}
		images->images[i] = image;
	}
	perf_layout_unref(layout);
	return images;
}

static void measure(const struct snapshot_source *source, const char *what, uint32_t parts)
{
	double before = cpu_ms(), made, mapped;
	const struct osm_snapshot *view;
	struct stat stat;
	int file = snapshot_make(source, parts, NULL);

	made = cpu_ms();
	if (file < 0 || fstat(file, &stat))
		g_error("no snapshot");
	view = snapshot_view_new(file, NULL);
	mapped = cpu_ms();
	printf("%-30s %7.1f ms  %7.1f MB  mapped in %.2f ms\n", what, made - before,
	       (double)stat.st_size / 1e6, mapped - made);
	snapshot_view_free(view);
}

int main(int argc, char **argv)
{
	struct snapshot_source source = {.sm_state = IBA_SM_MASTER};

	source.subnet = make_subnet(argc > 1 ? argv[1] : "fattree:54", 0, 0);
	source.images = make_images(source.subnet->fabric);
	printf("%u nodes, %u switches, %u ports, %u LIDs\n", source.subnet->fabric->n_nodes,
	       source.subnet->fabric->n_switches, source.subnet->fabric->n_ports,
	       source.subnet->fabric->max_lid);
	measure(&source, "nodes, ports, switches", OSM_PART_NODES);
	measure(&source, "with P_Keys and partitions", OSM_PART_P_KEYS);
	measure(&source, "with counters", OSM_PART_COUNTERS);
	measure(&source, "with LFTs", OSM_PART_LFTS);
	measure(&source, "with all", OSM_PART_ALL);
	snapshot_source_clear(&source);
	return 0;
}
