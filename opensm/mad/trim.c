// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a flood made the heap grow by is given back to the system. The allocator keeps what is
 * free in the middle of its heaps; TRIM_DELAY after requests were refused it is told not to, and
 * again as long as there are some.
 */
#include <malloc.h>

#include "mad/mad_private.h"

#define TRIM_DELAY (4 * NS_PER_S)

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
	atomic_store(&mad->trim.wanted, false);
	pool_post(mad->context->files, message);
}

static void run_start(struct message *message)
{
	struct mad *mad = (struct mad *)((char *)message - offsetof(struct mad, trim.message));

	timer_start(&mad->trim.timer, TRIM_DELAY);
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

void trim_want(struct mad *mad)
{
	if (!atomic_exchange(&mad->trim.wanted, true))
		actor_post(mad->actor, &mad->trim.message);
}
