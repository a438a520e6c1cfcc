// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a flood made the heap grow by is given back to the system. The allocator keeps what is
 * free in the middle of its heaps; TRIM_DELAY after requests were refused it is told not to, and
 * again as long as there are some. What the last ones left is given back as the transfers of their
 * answers end, so it is told a few times more, after delays that double up to TRIM_DELAY_MAX.
 */
#include <malloc.h>

#include "mad/mad_private.h"

#define TRIM_DELAY (4 * NS_PER_S)
#define TRIM_DELAY_MAX (64 * NS_PER_S)

/* In the pool that may take long. */
static void run_trim(struct message *message)
{
	g_free(message);
	malloc_trim(0);
}

static void drop_trim(struct message *message)
{
	g_free(message);
}

static void trim_due(struct timer *timer)
{
	struct mad *mad = (struct mad *)((char *)timer - offsetof(struct mad, trim.timer));
	struct message *message = g_new0(struct message, 1);

	message->run = run_trim;
	message->drop = drop_trim;
	if (mad->trim.delay == TRIM_DELAY) /* else the message may be on its way */
		atomic_store(&mad->trim.wanted, false);
	pool_post(mad->context->files, message);
	mad->trim.delay *= 2;
	if (mad->trim.delay <= TRIM_DELAY_MAX)
		timer_start(&mad->trim.timer, mad->trim.delay);
}

static void run_start(struct message *message)
{
	struct mad *mad = (struct mad *)((char *)message - offsetof(struct mad, trim.message));

	mad->trim.delay = TRIM_DELAY;
	timer_start(&mad->trim.timer, mad->trim.delay);
}

static void drop_start(struct message *message)
{
	(void)message; /* it is a part of mad */
}

void trim_init(struct mad *mad)
{
	timer_init(&mad->trim.timer, mad->actor, trim_due);
	atomic_init(&mad->trim.wanted, false);
	mad->trim.message.run = run_start;
	mad->trim.message.drop = drop_start;
}

void mad_want_trim(struct mad *mad)
{
	if (!atomic_exchange(&mad->trim.wanted, true))
		actor_post(mad->actor, &mad->trim.message);
}
