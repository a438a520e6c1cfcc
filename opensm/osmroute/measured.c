// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "osmroute/measured.h"

#include <math.h>

#include "osmroute/quality.h"
#include "perf/disk/image_file.h"

#define COLUMNS PERF_BIT(PERF_XMIT_DATA)

static bool fail(GError **error, const char *what)
{
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--load: %s", what);
	return false;
}

bool measured_read(struct measured_load *load, char *const *files, GError **error)
{
	*load = (struct measured_load){NULL, NULL};
	if (!files[0] || (files[1] && files[2]))
		return fail(error, "expected one or two files");
	load->until = perf_image_load(files[0], 0, COLUMNS, error);
	if (!load->until || !files[1])
		return load->until;
	load->since = perf_image_load(files[1], 0, COLUMNS, error);
	if (load->since && load->since->ended_us > load->until->ended_us) {
		struct perf_image *later = load->since;

		load->since = load->until;
		load->until = later;
	}
	return load->since;
}

void measured_clear(struct measured_load *load)
{
	perf_image_unref(load->since);
	perf_image_unref(load->until);
	*load = (struct measured_load){NULL, NULL};
}

/* False: the port was not measured. */
static bool measure(const struct measured_load *load, const struct perf_fold *fold, uint64_t guid,
		    struct measured_channel *channel, uint8_t num)
{
	const struct perf_image *image = load->until;
	uint32_t row = perf_layout_row(image->layout, guid, num);
	struct perf_measure measure;

	if (row == PERF_NONE)
		return false;
	if (load->since) {
		perf_fold_measure(fold, row, (struct perf_value){PERF_COUNT, PERF_XMIT_DATA},
				  &measure);
		channel->octets = measure.count * 4;
		channel->at_least = measure.flags & (PERF_AT_LEAST | PERF_SINCE_NEW);
		return !(measure.flags & PERF_UNKNOWN);
	}
	channel->octets = image->total[PERF_XMIT_DATA][row] * 4;
	channel->at_least = image->at_least[row] & COLUMNS;
	return image->flags[row] & PERF_EVER && image->have[row] & COLUMNS;
}

static gint worst_first(gconstpointer a, gconstpointer b)
{
	const struct measured_channel *x = a, *y = b;
	double one = fabs(x->difference), other = fabs(y->difference);

	if (one > other || one < other)
		return one > other ? -1 : 1;
	return x->port < y->port ? -1 : 1;
}

static void set_shares(GArray *channels)
{
	double flows = 0, octets = 0;

	for (guint i = 0; i < channels->len; i++) {
		flows += (double)g_array_index(channels, struct measured_channel, i).flows;
		octets += (double)g_array_index(channels, struct measured_channel, i).octets;
	}
	for (guint i = 0; i < channels->len; i++) {
		struct measured_channel *channel =
			&g_array_index(channels, struct measured_channel, i);

		channel->computed_share = flows > 0 ? (double)channel->flows / flows : 0;
		channel->measured_share = octets > 0 ? (double)channel->octets / octets : 0;
		channel->difference = channel->measured_share - channel->computed_share;
	}
	g_array_sort(channels, worst_first);
}

void measured_compare(struct measured *measured, const struct measured_load *load,
		      const struct fabric *fabric, const struct routing *routing,
		      const char *engine)
{
	g_autofree uint64_t *flows = quality_load(fabric, routing);
	struct perf_fold *fold = perf_fold_new(COLUMNS);

	*measured = (struct measured){engine, 0,
				      g_array_new(FALSE, FALSE, sizeof(struct measured_channel))};
	if (load->since) {
		perf_fold_add(fold, load->since);
		perf_fold_add(fold, load->until);
	}
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		struct measured_channel channel = {.port = port, .flows = flows[port]};
		const struct fabric_port *p = &fabric->ports[port];

		if (p->peer == FABRIC_NONE || !fabric_is_switch(fabric, p->node) ||
		    !fabric_is_switch(fabric, fabric->ports[p->peer].node))
			continue;
		if (measure(load, fold, fabric->nodes[p->node].guid, &channel, p->num))
			g_array_append_val(measured->channels, channel);
		else
			measured->unknown++;
	}
	set_shares(measured->channels);
	perf_fold_free(fold);
}

void measured_compare_clear(struct measured *measured)
{
	g_clear_pointer(&measured->channels, g_array_unref);
}
