// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which ports the arguments of a command mean. */
#ifndef CTL_PERFMGR_TARGET_H
#define CTL_PERFMGR_TARGET_H

#include <glib.h>

#include "perf/image/image.h"

struct perfmgr_target {
	GArray *rows;  /* of uint32_t, ascending */
	GArray *nodes; /* of uint32_t, ascending */
	int port;      /* -1: all */
	char *warning; /* as the classic daemon prints it, or NULL */
};

/*
 * NAME, GUID, NAME:PORT or GUID:PORT; a name may contain blanks and colons, and be that of several
 * nodes. Without words: everything. An invalid port means all ports, with a warning. False and the
 * classic daemon's text, newly allocated, if no node matches. The target is to be cleared in
 * both cases.
 */
bool perfmgr_target_find(struct perfmgr_target *target, const struct perf_layout *layout,
			 char *const *words, char **why);
void perfmgr_target_clear(struct perfmgr_target *target);

#endif
