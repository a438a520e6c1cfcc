// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/report/peer_changes.h"

#include <glib.h>
#include <inttypes.h>

#include "iba/iba.h"

static const struct election_sm *find(const struct peers *peers, uint64_t guid)
{
	for (unsigned int i = 0; peers && i < peers->n; i++)
		if (peers->peers[i].sm.guid == guid)
			return &peers->peers[i].sm;
	return NULL;
}

static char *text_of(const struct election_sm *sm, const struct election_sm *old)
{
	const struct ability *ability = &sm->ability;
	const char *state = iba_name(IBA_SET_SM_STATE, sm->state);
	g_autofree char *sees = NULL, *role = NULL;

	role = g_strdup_printf("%s, priority %u", state ? state : "?", sm->priority);
	if (ability->known)
		sees = g_strdup_printf(", sees %u switches and %u ports, can configure %u of these",
				       ability->switches, ability->endports, ability->settable);
	return g_strdup_printf("%sSM 0x%016" PRIx64 ": %s%s", old ? "" : "found another ", sm->guid,
			       role, sees ? sees : "");
}

static bool is_same_role(const struct election_sm *a, const struct election_sm *b)
{
	return a->state == b->state && a->priority == b->priority &&
	       a->ability.unable == b->ability.unable;
}

void peer_changes_tell(const struct peers *old, const struct peers *now,
		       void (*tell)(void *arg, const struct peer_change *change), void *arg)
{
	for (unsigned int i = 0; old && i < old->n; i++) {
		uint64_t guid = old->peers[i].sm.guid;
		g_autofree char *text = NULL;

		if (find(now, guid))
			continue;
		text = g_strdup_printf("SM 0x%016" PRIx64 " is not there, or not heard of", guid);
		tell(arg, &(struct peer_change){guid, "sm_gone", true, text});
	}
	for (unsigned int i = 0; now && i < now->n; i++) {
		const struct election_sm *sm = &now->peers[i].sm, *was = find(old, sm->guid);
		g_autofree char *text = NULL;

		if (was && is_same_role(was, sm) &&
		    ability_pack(&was->ability) == ability_pack(&sm->ability))
			continue;
		text = text_of(sm, was);
		tell(arg, &(struct peer_change){sm->guid, was ? "sm_changed" : "sm_found",
						!was || !is_same_role(was, sm), text});
	}
}
