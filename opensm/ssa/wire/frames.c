// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The frames of the last epoch, for readers that follow one epoch after the other. */
#include "ssa/wire/wire.h"

struct frame {
	GBytes *bytes;
	bool used; /* since the last ssa_frames_turn() */
};

struct ssa_frames {
	GHashTable *by_name; /* struct frame */
	ssa_get get;
	void *arg;
};

static void frame_free(void *data)
{
	struct frame *frame = data;

	g_bytes_unref(frame->bytes);
	g_free(frame);
}

struct ssa_frames *ssa_frames_new(ssa_get get, void *arg)
{
	struct ssa_frames *frames = g_new0(struct ssa_frames, 1);

	frames->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, frame_free);
	frames->get = get;
	frames->arg = arg;
	return frames;
}

void ssa_frames_free(struct ssa_frames *frames)
{
	if (!frames)
		return;
	g_hash_table_unref(frames->by_name);
	g_free(frames);
}

/* A frame with another name than it has is not kept: the store may have a good one next time. */
GBytes *ssa_frames_get(void *arg, const char *name, GError **error)
{
	struct ssa_frames *frames = arg;
	struct frame *frame = g_hash_table_lookup(frames->by_name, name);
	GBytes *bytes;

	if (frame) {
		frame->used = true;
		return g_bytes_ref(frame->bytes);
	}
	bytes = frames->get(frames->arg, name, error);
	if (bytes && ssa_chunk_has_name(bytes, name)) {
		frame = g_new(struct frame, 1);
		*frame = (struct frame){g_bytes_ref(bytes), true};
		g_hash_table_insert(frames->by_name, g_strdup(name), frame);
	}
	return bytes;
}

void ssa_frames_turn(struct ssa_frames *frames)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, frames->by_name);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct frame *frame = value;

		if (!frame->used)
			g_hash_table_iter_remove(&iter);
		else
			frame->used = false;
	}
}
