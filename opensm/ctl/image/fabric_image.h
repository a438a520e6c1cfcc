// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes an image of the fabric (client/image.h) from published objects. Pure but for the file. It
 * takes about a second for 40,000 hosts: for a pool.
 */
#ifndef CTL_IMAGE_FABRIC_IMAGE_H
#define CTL_IMAGE_FABRIC_IMAGE_H

#include <glib.h>
#include <stdint.h>

struct subnet;
struct perf_images;
struct perf_alarms;
struct unhealthy_ports;

/* What is in it; each pointer may be NULL. */
struct fabric_image_source {
	uint64_t run, serial; /* as in the image */
	const struct subnet *subnet;
	const struct perf_images *images;
	const struct perf_alarms *alarms;
	const struct unhealthy_ports *unhealthy;
};

/* The descriptor of a sealed file in memory; -1 and error if memory does not suffice. */
int fabric_image_make(const struct fabric_image_source *source, GError **error);

#endif
