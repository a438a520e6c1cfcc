// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The images in memory, and what each sweep found. */
#include <inttypes.h>

#include "ctl/perfmgr/figures.h"

struct tally {
	uint16_t flag;
	const char *key;
};
static const struct tally tallies[] = {
	{PERF_READ, "read"},	   {PERF_BASELINE, "first"}, {PERF_SILENT, "silent"},
	{PERF_REFUSED, "refused"}, {PERF_RESET, "reset"},    {PERF_DOWN, "down"},
};

static void add_image(GVariantBuilder *list, const struct perf_image *image)
{
	uint32_t n[G_N_ELEMENTS(tallies)] = {0};
	GVariantBuilder row;

	for (uint32_t i = 0; i < image->layout->n_rows; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(tallies); k++)
			n[k] += (image->flags[i] & tallies[k].flag) != 0;
	answer_begin(&row);
	answer_number(&row, "id", image->id);
	answer_number(&row, "time_us", (uint64_t)image->ended_us);
	answer_number(&row, "took_us", (image->ended_ns - image->began_ns) / 1000);
	answer_number(&row, "ports", image->layout->n_rows);
	for (size_t k = 0; k < G_N_ELEMENTS(tallies); k++)
		answer_number(&row, tallies[k].key, n[k]);
	answer_number(&row, "octets", perf_image_bytes(image));
	answer_append(list, &row);
}

bool perfmgr_images(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	GVariantBuilder list;

	(void)error;
	answer_begin_list(&list);
	for (unsigned int i = 0; call->images && i < call->images->n; i++)
		add_image(&list, call->images->images[i]);
	answer_member(answer, "images", &list);
	return true;
}

static void print_image(GVariant *row, GString *out)
{
	g_autofree char *when = figures_time(answer_get_number(row, "time_us"));

	g_string_append_printf(
		out, "%8" PRIu64 "  %-19s %9.3f s %8" PRIu64, answer_get_number(row, "id"), when,
		(double)answer_get_number(row, "took_us") / 1e6, answer_get_number(row, "ports"));
	for (size_t k = 0; k < G_N_ELEMENTS(tallies); k++)
		g_string_append_printf(out, " %8" PRIu64, answer_get_number(row, tallies[k].key));
	g_string_append_c(out, '\n');
}

void perfmgr_print_images(GVariant *answer, GString *out)
{
	g_string_append_printf(out, "%8s  %-19s %11s %8s %8s %8s %8s %8s %8s %8s\n", "IMAGE",
			       "TIME", "TOOK", "PORTS", "READ", "FIRST", "SILENT", "REFUSED",
			       "RESET", "DOWN");
	answer_each(answer, "images", print_image, out);
}
