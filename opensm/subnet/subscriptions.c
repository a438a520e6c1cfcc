// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "subnet/subscriptions.h"

#include <glib.h>

struct subscriptions *subscriptions_new(unsigned int n)
{
	struct subscriptions *subscriptions =
		g_malloc0(sizeof(*subscriptions) + n * sizeof(subscriptions->rows[0]));

	ref_init(&subscriptions->ref);
	subscriptions->n = n;
	return subscriptions;
}

struct subscriptions *subscriptions_ref(struct subscriptions *subscriptions)
{
	ref_get(&subscriptions->ref);
	return subscriptions;
}

void subscriptions_unref(struct subscriptions *subscriptions)
{
	if (subscriptions && ref_put(&subscriptions->ref))
		g_free(subscriptions);
}
