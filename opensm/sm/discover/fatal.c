// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What ends the daemon at its start, with exit_on_fatal: duplicate GUIDs, of nodes or of endports.
 * No sweep can repair that, and one of the two is unreachable.
 *
 * A cable that moves during a sweep, or a host that is replaced, looks the same for a moment; so it
 * counts only if several sweeps in a row found it. And once the subnet has been up, the SM does not
 * end for this: then it is an error like others.
 */
#include "sm/discover/discover.h"
#include "sm/sm_private.h"

#define FATAL_SWEEPS 3

bool fatal_error_found(struct sm *sm)
{
	bool met = sm->sweep.duplicate_guid || sm->lids.duplicate_guids;

	if (sm->schedule.succeeded || !sm->options->exit_on_fatal)
		return false;
	sm->schedule.fatal_sweeps = met ? sm->schedule.fatal_sweeps + 1 : 0;
	if (sm->schedule.fatal_sweeps < FATAL_SWEEPS)
		return false;
	if (sm->schedule.fatal_sweeps == FATAL_SWEEPS) {
		log_milestone_error(sm->log, FATAL,
				    "fatal: there are duplicate GUIDs, see the lines above; with "
				    "exit_on_fatal FALSE (-y) the SM continues");
		event_emit(&sm->context->bus, EVENT_FINISHED, 1);
	}
	return true;
}
