// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The ring of images, and its publication. */
#include "core/options.h"
#include "perf/image/layout.h"
#include "perf/perf_private.h"
#include "perf/read/report.h"

#define VIRTUAL_EPOCH_US (INT64_C(1767225600) * G_USEC_PER_SEC) /* 2026-01-01 */

void perf_see_clock(struct perf *perf)
{
	struct runtime *rt = perf->context->rt;

	if (runtime_mode(rt) == RUNTIME_VIRTUAL)
		perf->epoch_us = VIRTUAL_EPOCH_US;
	else
		perf->epoch_us = g_get_real_time() - (int64_t)(runtime_now(rt) / NS_PER_US);
}

int64_t perf_wall_us(const struct perf *perf)
{
	return perf->epoch_us + (int64_t)(actor_now(perf->actor) / NS_PER_US);
}

static int compare_redirections(const void *a, const void *b)
{
	const struct perf_redirection *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port - y->port;
}

static void list_redirections(struct perf *perf, struct perf_images *images)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(struct perf_redirection));
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, perf->agents);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct perf_agent *agent = key;
		const struct perf_redirection redirection = {
			.guid = agent->guid,
			.port = agent->port,
			.from_lid = agent->lid,
			.lid = agent->redirect.lid,
			.qpn = agent->redirect.qpn,
			.p_key = agent->redirect.p_key,
			.p_key_index = agent->redirect.p_key_index,
		};

		if (agent->redirect.lid)
			g_array_append_val(list, redirection);
	}
	g_array_sort(list, compare_redirections);
	images->n_redirections = list->len;
	images->redirections = (struct perf_redirection *)g_array_free(list, FALSE);
}

/* The last images of the ring, and then this one, which is taken over. */
static void publish(struct perf *perf, struct perf_image *image)
{
	struct perf_images *old = perf->images, *new = g_new0(struct perf_images, 1);
	unsigned int have = old ? old->n : 0, kept = MIN(have, perf->options->perfmgr_images - 1u);

	ref_init(&new->ref);
	new->images = g_new(struct perf_image *, kept + 1);
	for (unsigned int i = 0; i < kept; i++)
		new->images[new->n++] = perf_image_ref(old->images[have - kept + i]);
	new->images[new->n++] = image;
	list_redirections(perf, new);
	perf->images = new;
	slot_publish(&perf->context->perf_images, perf_images_ref(new));
	event_emit(&perf->context->bus, EVENT_PERF_IMAGES, 0);
	perf_images_unref(old);
}

/* A device that has started again is none. */
static unsigned int foreign_resets(const struct perf_image *image)
{
	unsigned int n = 0;

	for (uint32_t row = 0; row < image->layout->n_rows; row++)
		n += (image->flags[row] & (PERF_RESET | PERF_RESTARTED)) == PERF_RESET;
	return n;
}

void images_add(struct perf *perf)
{
	struct perf_image *image = perf_accounts_image(perf->accounts);

	perf_see_clock(perf);
	image->id = ++perf->last_id;
	image->began_ns = perf->sweep.began_ns;
	image->ended_ns = actor_now(perf->actor);
	image->ended_us = perf_wall_us(perf);
	perf_report_sweep(perf->context->log, perf->options, perf->images, image);
	counter_add(&perf->context->counters, perf_foreign_resets, foreign_resets(image));
	publish(perf, image);
}

/* Readers see at once what the next sweep would have shown them. */
void images_add_changed(struct perf *perf)
{
	const struct perf_image *last = perf_images_last(perf->images);
	struct perf_image *image;

	if (!last)
		return;
	image = perf_accounts_image(perf->accounts);
	image->id = ++perf->last_id;
	image->began_ns = last->began_ns;
	image->ended_ns = last->ended_ns;
	image->ended_us = last->ended_us;
	publish(perf, image);
}

static void move(struct perf *perf, struct perf_layout *layout)
{
	perf_accounts_move(perf->accounts, layout);
	perf_layout_unref(layout);
}

void images_forget_gone(struct perf *perf)
{
	if (perf->accounts)
		move(perf, perf_layout_without_gone(perf->accounts->now->layout));
}

void images_zero(struct perf *perf)
{
	if (!perf->accounts)
		return;
	perf_accounts_zero(perf->accounts);
	move(perf, perf_layout_since(perf->accounts->now->layout, perf_wall_us(perf)));
}
