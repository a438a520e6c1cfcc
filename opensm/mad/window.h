// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The adaptive window of SMPs in flight: it grows by one for each response until the first loss,
 * then by one for each window of responses. A loss halves it, at most once per timeout, down to
 * WINDOW_MIN: the limit per target is what protects an SMA.
 *
 * It may have a second limit. While it is full and nothing is answered, one SMP more is let out at
 * intervals, up to that limit; the first response takes that back.
 */
#ifndef MAD_WINDOW_H
#define MAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_MIN 16 /* most losses are due to cables and SMAs, not to congestion */

struct window {
	double size;
	unsigned int max, second; /* limits; the second one counts only if it is the greater */
	unsigned int more;	  /* let out above size */
	bool lost; /* a loss was seen: grow slowly */
	uint64_t cut_ns;
};

static inline void window_init(struct window *window, unsigned int max)
{
	window->max = max;
	window->second = window->more = 0;
	window->size = max < 16 ? max : 16;
	window->lost = false;
	window->cut_ns = 0;
}

static inline void window_resize(struct window *window, unsigned int max)
{
	window->max = max;
	if (window->size > max)
		window->size = max;
}

/* How many may be in flight. */
static inline unsigned int window_room(const struct window *window)
{
	return (unsigned int)window->size + window->more;
}

static inline bool window_has_second(const struct window *window)
{
	return window->second > window->max;
}

/* It has been full without a response for the interval. */
static inline void window_stalled(struct window *window)
{
	if (window_has_second(window) && window_room(window) < window->second)
		window->more++;
}

static inline void window_response(struct window *window)
{
	window->size += window->lost ? 1 / window->size : 1;
	if (window->size > window->max)
		window->size = window->max;
}

static inline void window_loss(struct window *window, uint64_t now_ns, uint64_t timeout_ns)
{
	unsigned int floor = window->max < WINDOW_MIN ? window->max : WINDOW_MIN;

	if (window->lost && now_ns - window->cut_ns < timeout_ns)
		return;
	window->lost = true;
	window->cut_ns = now_ns;
	window->size = window->size / 2 < floor ? floor : window->size / 2;
}

#endif
