// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/election/peers.h"

#include <glib.h>

struct peers *peers_new(unsigned int n)
{
	struct peers *peers = g_malloc0(sizeof(*peers) + n * sizeof(peers->peers[0]));

	ref_init(&peers->ref);
	peers->n = n;
	return peers;
}

struct peers *peers_ref(struct peers *peers)
{
	ref_get(&peers->ref);
	return peers;
}

void peers_unref(struct peers *peers)
{
	if (peers && ref_put(&peers->ref))
		g_free(peers);
}
