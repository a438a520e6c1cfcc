// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The other subnet managers: identity, location, what each last reported, and how SMs are queried
 * and notified. mastership.c decides what follows.
 */
#ifndef SM_ELECTION_OTHER_SM_H
#define SM_ELECTION_OTHER_SM_H

#include <glib.h>

#include "iba/iba.h"
#include "sm/election/election.h"

struct builder_port;
struct sm;
struct sm_request;
struct sm_told;

/* An SM, and where it was found. */
struct other_sm {
	struct election_sm sm;
	uint16_t lid;	    /* 0: not known */
	uint64_t node_guid; /* 0: it was queried by LID only */
	uint8_t port_num;
	uint64_t asked; /* serial of the sweep that last queried it */
	struct election_sm last; /* its last report, by any request; sm is of that sweep */
	uint32_t acts;	/* its last reported ActCount, */
	uint64_t heard; /* and when; 0: never */
	/*
	 * It failed to do its part in its present state and with this SM's: this one goes on
	 * without it.
	 */
	bool stubborn;
	uint8_t stubborn_to;  /* this SM's priority at that time */
	uint64_t stubborn_ns; /* when that was found */
	uint64_t shown;	  /* M_Key of its last Get(SMInfo) to this MASTER; 0: none */
	bool useless;	  /* this SM, its standby, found that it serves far too few ports */
	bool told_master; /* logged that it is also MASTER */
	uint64_t behind_ns;  /* since when a handover to it waits for its replica to be complete */
};

struct other_sms {
	GArray *known;	 /* of struct other_sm */
	GArray *ignored; /* struct other_sm of other administrators, while they report so */
	uint32_t trap_tid;
	uint64_t ignored_gone_ns; /* when the last ignored one disappeared */
};

struct other_sms *other_sms_new(void);
void other_sms_free(struct other_sms *others);

/* ---- single SMs ---- */

struct election_sm other_sm_told(const struct sm_told *told);
const char *other_sm_name(const struct other_sm *other, char *buffer, size_t size);
/*
 * What it reported, and what this SM found out: as MASTER of ports with M_Keys, it assumes that an
 * SM that does not report its ability, and requested SMInfo without the M_Key, cannot set them.
 */
struct election_sm other_sm_judged(struct sm *sm, const struct other_sm *other);
/* The SM at that port reported its priority by trap 144: it waits for a handover. */
void other_sm_reported_rank(struct sm *sm, const struct builder_port *port);
/* The SM at that port asked for SMInfo with this M_Key. */
void other_sm_showed(struct sm *sm, const struct builder_port *port, uint64_t m_key);
/* Among those known; valid until another one is found. */
struct other_sm *other_sm_find(struct sm *sm, uint64_t guid);
/* Why an SM belongs to another administrator (14.4.1.1); NULL: it does not. */
const char *other_sm_why_ignored(const struct sm *sm, const struct iba_sm_info *info);
/* Neither this SM nor that of another administrator, which is logged once. */
bool other_sm_is_ours(struct sm *sm, const struct sm_told *told);
/* Another MASTER does not resolve the conflict: health reports an error for a while. */
void other_sm_contests(struct sm *sm);
/* Whether an ignored SM reported that it is MASTER. */
bool other_sms_have_foreign_master(const struct sm *sm);
/* An SM answered: NULL if it must be ignored, or is a different one now. */
struct other_sm *other_sm_answered(struct sm *sm, const struct sm_told *told);
void other_sm_heard(struct sm *sm, struct other_sm *other, const struct sm_told *told);
/* Publishes the other SMs for readers (peers.h): one, its master; NULL: all that are known. */
void other_sms_show(struct sm *sm, const struct other_sm *only);
/* An SM that was there a moment ago has gone. */
void other_sm_is_gone(struct sm *sm);
/* Finds the port of an SM known by its LID only, if discovery has found it. */
void other_sm_locate(const struct sm *sm, struct other_sm *other);

/* ---- outside the sweep: done is called on the sm actor ---- */

/* Get(SMInfo); false: the location of that SM is unknown. */
bool other_sm_ask(struct sm *sm, const struct other_sm *other, bool by_lid,
		  void (*done)(struct sm_request *request));
/* Whether there are any SMs to query. */
bool other_sms_are_there(const struct sm *sm);
/* Get(SMInfo) to all that are known or ignored; returns how many. */
unsigned int other_sms_ask(struct sm *sm, void (*done)(struct sm_request *request));
/* Set(SMInfo) with an AttributeModifier IBA_SM_INFO_.. */
void other_sm_control(struct sm *sm, const struct other_sm *to, unsigned int control,
		      void (*done)(struct sm_request *request));
/* Trap 144 with SMPriority: asks the master to read this SM's SMInfo, as it has the higher rank. */
void other_sm_tell_rank(struct sm *sm, const struct other_sm *master);

/* ---- all SMs, in the step ELECT ---- */

/*
 * Get(SMInfo) to every port with IsSM after discovery (heavy), to those that changed (partial), or
 * to those known or ignored (light sweep).
 */
void other_sms_meet(struct sm *sm);
/* SMs that did not answer are removed; those that were not queried stay as they were. */
void other_sms_drop_silent(struct sm *sm);
/* What they report of themselves; without the stubborn ones, if own is not NULL. g_free() it. */
struct election_sm *other_sms_list(struct sm *sm, const struct election_sm *own, unsigned int *n);
/* The SMs that the replicator may find as standby. */
void other_sms_tell_replicator(struct sm *sm);

#endif
