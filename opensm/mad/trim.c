// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Returns memory by which the heap grew to the system. The allocator keeps what is free in the
 * middle of its heaps (each thread has its own) until it is told to trim them.
 *
 * After a flood it is told soon: TRIM_DELAY after requests were refused, and again as long as some
 * are. What the last ones used is freed as the transfers of their answers end, so it is told a few
 * times more, after delays that double up to TRIM_DELAY_MAX.
 *
 * Sweeps and answers free little memory each time, and scattered. While many MADs come the
 * allocator is told every LOOK_DELAY, and once more after the last of these.
 */
#include "complib/memory.h"
#include "mad/mad_private.h"

#define TRIM_DELAY (4 * NS_PER_S)
#define TRIM_DELAY_MAX (64 * NS_PER_S)
#define LOOK_DELAY (32 * NS_PER_S)
#define MANY_MADS 4096 /* fewer do not free enough to be worth it */

/* In the pool, as it may take long. */
static void run_trim(struct message *message)
{
	g_free(message);
	memory_trim();
}

static void drop_trim(struct message *message)
{
	g_free(message);
}

static void start_trim(struct mad *mad)
{
	struct message *message;

	if (!mad->context->files) /* a part of the daemon, in a test */
		return;
	message = g_new0(struct message, 1);
	message->run = run_trim;
	message->drop = drop_trim;
	pool_post(mad->context->files, message);
}

static void look(struct mad *mad)
{
	struct trim *trim = &mad->trim;
	bool many = atomic_exchange(&trim->mads, 0) >= MANY_MADS;

	if (many || trim->once_more)
		start_trim(mad);
	if (many)
		timer_start(&trim->timer, LOOK_DELAY);
	trim->once_more = many;
}

static void trim_due(struct timer *timer)
{
	struct mad *mad = container_of(timer, struct mad, trim.timer);
	struct trim *trim = &mad->trim;

	if (!trim->delay) {
		look(mad);
		return;
	}
	if (trim->delay == TRIM_DELAY) /* otherwise the message may be in flight */
		atomic_store(&trim->wanted, false);
	start_trim(mad);
	trim->delay *= 2;
	if (trim->delay <= TRIM_DELAY_MAX)
		timer_start(&trim->timer, trim->delay);
	else
		trim->delay = 0;
}

static void run_look(struct message *message)
{
	struct mad *mad = container_of(message, struct mad, trim.many);

	if (!timer_running(&mad->trim.timer))
		timer_start(&mad->trim.timer, LOOK_DELAY);
}

void trim_count(struct mad *mad)
{
	if (atomic_fetch_add(&mad->trim.mads, 1) + 1 == MANY_MADS)
		actor_post(mad->actor, &mad->trim.many);
}

static void run_start(struct message *message)
{
	struct mad *mad = container_of(message, struct mad, trim.message);

	mad->trim.delay = TRIM_DELAY;
	timer_start(&mad->trim.timer, mad->trim.delay);
}

static void drop_start(struct message *message)
{
	(void)message; /* it is a member of struct mad */
}

void trim_init(struct mad *mad)
{
	timer_init(&mad->trim.timer, mad->actor, trim_due);
	atomic_init(&mad->trim.wanted, false);
	mad->trim.message.run = run_start;
	mad->trim.message.drop = drop_start;
	atomic_init(&mad->trim.mads, 0);
	mad->trim.many.run = run_look;
	mad->trim.many.drop = drop_start;
}

void mad_want_trim(struct mad *mad)
{
	if (!atomic_exchange(&mad->trim.wanted, true))
		actor_post(mad->actor, &mad->trim.message);
}
