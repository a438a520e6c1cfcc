// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An image of the fabric from a daemon that cannot be trusted: what is accepted can be read, and
 * all answers that are made of it are JSON.
 */
#define _GNU_SOURCE /* memfd_create */
#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/image_bed.h"
#include "web/fabric/fabric.h"

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
	return g_new0(uint64_t, 1); /* a sum of all that was read */
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

/* ---- answers ---- */

/* One argument, and for a node also its first port. */
struct question {
	const char *value;
	const char *name; /* NULL: no argument */
};

static const char *argument(const void *from, const char *name)
{
	const struct question *question = from;

	if (!strcmp(name, "port") && question->name && !strcmp(question->name, "node"))
		return "1";
	return question->name && !strcmp(name, question->name) ? question->value : NULL;
}

static void ask(const struct fabric_view *view, fabric_answer_fn *answer, const char *name,
		const char *value)
{
	const struct question question = {value, name};
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) error = NULL;

	if (!answer(view, argument, &question, out, &error)) {
		fuzz_expect(error && g_utf8_validate(error->message, -1, NULL));
		return;
	}
	if (!json_parser_load_from_data(parser, out->str, (gssize)out->len, &error))
		g_error("%s: %s", error->message, out->str);
}

static void ask_all(const struct image *image, const struct fabric_view *view)
{
	uint64_t first = image->header->n_nodes ? image->nodes[0].guid : 0;
	g_autofree char *guid = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", first);

	ask(view, fabric_summary, NULL, NULL);
	ask(view, fabric_links, "group", guid);
	ask(view, fabric_links, "set", guid);
	ask(view, fabric_links, "groups", guid);
	ask(view, fabric_nodes, "switch", guid);
	ask(view, fabric_nodes, NULL, NULL);
	ask(view, fabric_ports, "sort", "errors");
	ask(view, fabric_ports, NULL, NULL);
	ask(view, fabric_cable, "node", guid);
}

static void answer_all(const struct image *image)
{
	int file = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ssize_t n = (ssize_t)image->header->octets;
	struct fabric_view *view;

	fuzz_expect(file >= 0 && write(file, image->header, image->header->octets) == n);
	fuzz_expect(!fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
	view = fabric_view_new(file, NULL);
	close(file);
	fuzz_expect(view);
	ask_all(image, view);
	fabric_view_free(view);
}

/* ---- a run ---- */

/* The size in the header is made right, or nearly no input would get further. */
static void run(void *state, const uint8_t *data, size_t size)
{
	uint64_t *copy = g_malloc0(size + sizeof(struct image_header));
	struct image_header *header = (struct image_header *)copy;
	g_autoptr(GError) error = NULL;
	struct image image;

	memcpy(copy, data, size);
	if (size >= sizeof(*header) && size % 2)
		header->octets = size;
	if (image_check(&image, copy, size, &error)) {
		*(uint64_t *)state += read_all(&image);
		answer_all(&image);
	} else {
		fuzz_expect(error);
	}
	g_free(copy);
}

static void teardown(void *state)
{
	g_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "image",
	.max_size = 16384,
	.runs = 8000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
