// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* In place of redis.c where hiredis is missing. */
#include "ssa/store/store_private.h"

static struct ssa_store *no_redis(const char *uri, const struct ssa_store_options *options,
				  GError **error)
{
	(void)options;
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI,
		    "%s: this program was built without Redis", ssa_store_shown(uri));
	return NULL;
}

const struct ssa_store_kind ssa_store_redis = {
	.schemes = {"redis", "rediss"},
	.open = no_redis,
};
