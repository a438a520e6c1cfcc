// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of election/ keep and share. */
#ifndef SM_ELECTION_MASTERSHIP_PRIVATE_H
#define SM_ELECTION_MASTERSHIP_PRIVATE_H

#include "sm/election/mastership.h"
#include "sm/election/other_sm.h"
#include "sm/election/outlook.h"

#define SOON_NS (10 * NS_PER_MS)

struct askers; /* sm_asker.c */

struct mastership {
	struct sm *sm;
	struct other_sms *others;
	struct askers *askers; /* which of those that asked for SMInfo are SMs */
	uint32_t first_act; /* of ActCount: different each time the daemon starts; any thread */
	struct other_sm partner; /* SM that STANDBY polls, or MASTER deals with */
	unsigned int polls;
	uint16_t master_lid;   /* MasterSMLID of the own port at the last poll */
	unsigned int misses;   /* polls in a row without a master that answers */
	unsigned int in_vain;  /* failed dealings in a row with that partner */
	unsigned int asked;    /* SMs queried for being standby, in order to retire */
	bool was_missed;       /* the previous master did not answer polls */
	uint64_t beyond_ns;    /* when it last searched beyond the known subnet; 0: never */
	uint64_t learns_ns;    /* since when it follows its successor; 0: it does not */
	bool was_cut_off;      /* as MASTER: it has not searched for another one since */
	unsigned int refusals; /* HANDOVERs in a row that the partner refused as MASTER */
	unsigned int abstentions; /* in a row */
	unsigned int looks;	  /* discoveries in a row as the master may see or set less */
	uint64_t looked_ns;	  /* when it last discovered, as STANDBY */
	bool told_more;		  /* logged that this STANDBY sees more than its master serves */
	unsigned int more;	  /* polls in a row that showed that */
	uint64_t outlook_since;	  /* outlook.c: number of the last heavy sweep checked */
	struct timer timer;    /* the next poll, or the end of a wait */
	unsigned int contests; /* heavy sweeps in a row since another SM configured the own port */
	uint64_t contested_ns; /* when the last of these began */
};

/* ---- mastership.c ---- */
void mastership_set_state(struct sm *sm, unsigned int state);
/* What a master knows is no longer reliable once another one may write. */
void mastership_forget_tables(struct sm *sm);
/*
 * This function drops all state of a master when this SM stops being one; the SA drops its own when
 * it is notified of the new state.
 */
void mastership_forget_mastery(struct sm *sm);
struct election_sm mastership_own_sm(const struct sm *sm);
uint64_t mastership_poll_ns(const struct sm *sm);
struct ability mastership_own_ability(const struct sm *sm);
void mastership_set_ability(struct sm *sm, const struct ability *ability);

/* ---- sm_asker.c ---- */
struct askers *askers_new(void);
void askers_free(struct askers *askers);

/* ---- standby.c ---- */
void standby_wait(struct sm *sm, uint64_t ns);
void standby_follow(struct sm *sm, const struct other_sm *other);
/* Resets the patience with the partner: each SM may do its part now. */
void standby_reset_patience(struct sm *sm);
/* This SM must discover the subnet, in the given state. */
void standby_start_discovery(struct sm *sm, unsigned int state);
void standby_give_up(const struct sm *sm, struct other_sm *other);
void standby_poll(struct sm *sm);

/* ---- dealing.c ---- */
void dealing_finish_retiring(struct sm *sm);
bool dealing_hands_over(const struct sm *sm);
void dealing_taken_over(struct sm *sm, const struct other_sm *by);
void dealing_begin(struct sm *sm, enum dealing dealing, const struct other_sm *other);
void dealing_on_timer(struct timer *timer);

/* ---- elect.c ---- */
/*
 * Whether another MASTER knows more than this one: a standby with a complete replica, which took
 * over while this SM was stopped, or its port down. Only it has what clients have told it since.
 */
bool elect_knows_more(const struct sm *sm, uint64_t guid);
void elect_follow_successor(struct sm *sm, const struct other_sm *successor);
/* Whether this STANDBY does not have everything yet of the successor that it follows. */
bool elect_still_learns(const struct sm *sm, uint64_t guid);
/*
 * Two SMs that began separately both gave their first LIDs to themselves: MasterSMLID may be equal.
 */
bool elect_is_configured_by_another(const struct sm *sm, const struct iba_port_info *info);
/* Whether it now searches for the SM that configured the own port. */
bool elect_contests(struct sm *sm);

#endif
