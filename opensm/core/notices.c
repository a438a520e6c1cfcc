// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "core/notices.h"

static GArray *new_list(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct told_notice));
}

void notices_init(struct notices *notices)
{
	atomic_init(&notices->wanted, false);
	pthread_mutex_init(&notices->lock, NULL);
	notices->waiting = new_list();
	notices->dropped = 0;
}

void notices_clear(struct notices *notices)
{
	g_array_unref(notices->waiting);
	pthread_mutex_destroy(&notices->lock);
}

bool notices_tell(struct notices *notices, const struct told_notice *told)
{
	bool is_first;

	pthread_mutex_lock(&notices->lock);
	is_first = !notices->waiting->len;
	if (notices->waiting->len < NOTICES_WAITING)
		g_array_append_vals(notices->waiting, told, 1);
	else
		notices->dropped++;
	pthread_mutex_unlock(&notices->lock);
	return is_first;
}

GArray *notices_take(struct notices *notices, uint64_t *dropped)
{
	GArray *list, *empty = new_list();

	pthread_mutex_lock(&notices->lock);
	list = notices->waiting;
	*dropped = notices->dropped;
	notices->waiting = empty;
	notices->dropped = 0;
	pthread_mutex_unlock(&notices->lock);
	return list;
}
