// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An image of the fabric from a daemon that cannot be trusted: what is accepted can be read. */
#include "client/image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/image_bed.h"

static void *setup(GPtrArray *seeds)
{
	static const char *const specs[] = {"mesh:2", "fattree:2"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct image_bed *bed = image_bed_new(specs[i]);

		g_ptr_array_add(seeds, image_bed_octets(bed));
		bed->source.images = NULL;
		g_ptr_array_add(seeds, image_bed_octets(bed));
		image_bed_free(bed);
	}
	return NULL;
}

/* Touches all that the inline functions may be asked for. */
static uint64_t read_all(const struct image *image)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < image->header->n_columns; i++)
		sum += strlen(image_name(image, image->columns[i].name));
	for (uint32_t i = 0; i < image->header->n_nodes; i++) {
		sum += strlen(image_name(image, image->nodes[i].name));
		fuzz_expect(image_find(image, image->nodes[i].guid) == i);
	}
	for (uint32_t i = 0; i < image->header->n_ports; i++) {
		const struct image_port *port = &image->ports[i];

		sum += image_node_of(image, i)->guid;
		sum += strlen(image_name(image, port->condition));
		if (port->peer != IMAGE_NONE)
			fuzz_expect(image->ports[port->peer].peer == i);
		for (uint32_t column = 0; column < image->header->n_columns; column++)
			sum += image_counter(image, i, column);
	}
	return sum;
}

/* The size in the header is made right, or nearly no input would get further. */
static void run(void *state, const uint8_t *data, size_t size)
{
	uint64_t *copy = g_malloc0(size + sizeof(struct image_header));
	struct image_header *header = (struct image_header *)copy;
	g_autoptr(GError) error = NULL;
	volatile uint64_t sum = 0;
	struct image image;

	(void)state;
	memcpy(copy, data, size);
	if (size >= sizeof(*header) && size % 2)
		header->octets = size;
	if (image_check(&image, copy, size, &error))
		sum += read_all(&image);
	else
		fuzz_expect(error);
	g_free(copy);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "image",
	.max_size = 16384,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
