// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/turn_lanes.h"

#include <glib.h>
#include <string.h>

#define NO_LANE 0xFF

/* What comes behind a turn on some path. */
struct follower {
	uint32_t turn, to, next; /* a list, by its number; 0 ends it */
};

struct undo {
	uint32_t turn;
	uint8_t lane;
};

struct turn_lanes {
	const bool *is_free;
	uint8_t *lane;	   /* [turn]: NO_LANE if it is in no path */
	uint32_t *first;   /* [turn]: in followers */
	GArray *followers; /* struct follower; the first is none */
	GArray *undo;	   /* struct undo: lanes before */
	guint n_before;	   /* of followers */
	GArray *queue;	   /* uint32_t: turns that were lifted */
};

struct turn_lanes *turn_lanes_new(uint32_t n_turns, const bool *is_free)
{
	struct turn_lanes *lanes = g_new0(struct turn_lanes, 1);
	struct follower none = {0, 0, 0};

	lanes->is_free = is_free;
	lanes->lane = g_malloc(n_turns + 1);
	memset(lanes->lane, NO_LANE, n_turns + 1);
	lanes->first = g_new0(uint32_t, n_turns + 1);
	lanes->followers = g_array_new(FALSE, FALSE, sizeof(struct follower));
	g_array_append_val(lanes->followers, none);
	lanes->undo = g_array_new(FALSE, FALSE, sizeof(struct undo));
	lanes->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return lanes;
}

void turn_lanes_free(struct turn_lanes *lanes)
{
	g_free(lanes->lane);
	g_free(lanes->first);
	g_array_unref(lanes->followers);
	g_array_unref(lanes->undo);
	g_array_unref(lanes->queue);
	g_free(lanes);
}

uint8_t turn_lanes_lane(const struct turn_lanes *lanes, uint32_t turn)
{
	return lanes->lane[turn] == NO_LANE ? 0 : lanes->lane[turn];
}

static struct follower *follower_of(const struct turn_lanes *lanes, uint32_t i)
{
	return &g_array_index(lanes->followers, struct follower, i);
}

static void lift(struct turn_lanes *lanes, uint32_t turn, unsigned int before)
{
	struct undo undo = {turn, lanes->lane[turn]};
	unsigned int lane = before + !lanes->is_free[turn];

	if (undo.lane != NO_LANE && undo.lane >= lane)
		return;
	g_array_append_val(lanes->undo, undo);
	g_array_append_val(lanes->queue, turn);
	lanes->lane[turn] = lane;
}

/* Lifts those behind. */
static bool spread(struct turn_lanes *lanes, unsigned int most)
{
	bool good = true;

	while (lanes->queue->len && good) {
		uint32_t turn = g_array_index(lanes->queue, uint32_t, lanes->queue->len - 1);

		g_array_set_size(lanes->queue, lanes->queue->len - 1);
		good = lanes->lane[turn] < most;
		for (uint32_t f = lanes->first[turn]; f && good; f = follower_of(lanes, f)->next)
			lift(lanes, follower_of(lanes, f)->to, lanes->lane[turn]);
	}
	g_array_set_size(lanes->queue, 0);
	return good;
}

static void follow(struct turn_lanes *lanes, uint32_t turn, uint32_t to)
{
	struct follower follower = {turn, to, lanes->first[turn]};

	for (uint32_t f = follower.next; f; f = follower_of(lanes, f)->next)
		if (follower_of(lanes, f)->to == to)
			return;
	lanes->first[turn] = lanes->followers->len;
	g_array_append_val(lanes->followers, follower);
}

bool turn_lanes_add(struct turn_lanes *lanes, const uint32_t *turns, uint32_t n, unsigned int most)
{
	unsigned int lane = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (i)
			follow(lanes, turns[i - 1], turns[i]);
		lift(lanes, turns[i], lane);
		lane = lanes->lane[turns[i]];
	}
	return spread(lanes, most);
}

void turn_lanes_begin(struct turn_lanes *lanes)
{
	g_array_set_size(lanes->undo, 0);
	lanes->n_before = lanes->followers->len;
}

void turn_lanes_undo(struct turn_lanes *lanes)
{
	for (guint i = lanes->undo->len; i-- > 0;) {
		const struct undo *undo = &g_array_index(lanes->undo, struct undo, i);

		lanes->lane[undo->turn] = undo->lane;
	}
	for (guint i = lanes->followers->len; i-- > lanes->n_before;)
		lanes->first[follower_of(lanes, i)->turn] = follower_of(lanes, i)->next;
	g_array_set_size(lanes->undo, 0);
	g_array_set_size(lanes->followers, lanes->n_before);
}
