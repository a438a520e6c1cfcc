// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The other subnet managers: who they are, where they were met, what they told last, and how they
 * are asked and told. What follows from it is decided in mastership.c.
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

/* An SM, and where it was met. */
struct other_sm {
	struct election_sm sm;
	uint16_t lid;	    /* 0: not known */
	uint64_t node_guid; /* 0: it was asked by LID only */
	uint8_t port_num;
	uint64_t asked; /* serial of the sweep that asked it last */
	struct election_sm last; /* what it told last, of any question: sm is of that sweep */
	uint32_t acts;	/* its ActCount when it told it last, */
	uint64_t heard; /* at this time; 0: never */
	/* It did not do its part as it is, nor as this one was: that goes on without it. */
	bool stubborn;
	uint8_t stubborn_to; /* this one's priority then */
	uint64_t shown;	  /* M_Key of its last Get(SMInfo) that was asked of this MASTER; 0: none */
	bool useless;	  /* this one, its standby, found that it serves far less than there is */
	bool told_master; /* that it is MASTER as well as this one */
	uint64_t behind_ns;  /* since when it should be handed over to, but has not everything */
};

struct other_sms {
	GArray *known;	 /* of struct other_sm */
	GArray *ignored; /* the same: none of this administrator's, as long as they say so */
	uint32_t trap_tid;
	uint64_t ignored_gone_ns; /* when one of those was gone last */
};

struct other_sms *other_sms_new(void);
void other_sms_free(struct other_sms *others);

/* ---- one ---- */

struct election_sm other_sm_told(const struct sm_told *told);
const char *other_sm_name(const struct other_sm *other, char *buffer, size_t size);
/*
 * What it told, and what this one found out: as MASTER of ports with M_Keys it takes one that tells
 * nothing of its ability, and asked for SMInfo without the M_Key, for one that cannot set them.
 */
struct election_sm other_sm_judged(struct sm *sm, const struct other_sm *other);
/* The SM at that port asked for SMInfo with this M_Key. */
void other_sm_showed(struct sm *sm, const struct builder_port *port, uint64_t m_key);
/* Of those known; valid until the next one is met. */
struct other_sm *other_sm_find(struct sm *sm, uint64_t guid);
/* Why an SM is none of this administrator's (14.4.1.1); NULL: it is. */
const char *other_sm_why_ignored(const struct sm *sm, const struct iba_sm_info *info);
/* Not this one, and no other administrator's, which is logged once. */
bool other_sm_is_ours(struct sm *sm, const struct sm_told *told);
/* One that is MASTER too does not come to terms: the verdict of health has it for a while. */
void other_sm_contests(struct sm *sm);
/* Whether one that is ignored said that it is MASTER. */
bool other_sms_have_foreign_master(const struct sm *sm);
/* One of those asked answered: NULL if it is to be ignored, or is not that one any more. */
struct other_sm *other_sm_answered(struct sm *sm, const struct sm_told *told);
void other_sm_heard(struct sm *sm, struct other_sm *other, const struct sm_told *told);
/* What readers are shown of the other SMs (peers.h): one, its master; NULL: all that are known. */
void other_sms_show(struct sm *sm, const struct other_sm *only);
/* An SM that was there a moment ago is no more. */
void other_sm_is_gone(struct sm *sm);
/* Finds the port of one that is known by its LID only, if it was met in discovery. */
void other_sm_locate(const struct sm *sm, struct other_sm *other);

/* ---- beside the sweep: done is called on the sm actor ---- */

/* Get(SMInfo); false: nobody knows where that SM is. */
bool other_sm_ask(struct sm *sm, const struct other_sm *other, bool by_lid,
		  void (*done)(struct sm_request *request));
/* Whether there are any that are asked. */
bool other_sms_are_there(const struct sm *sm);
/* The same of all that are known or ignored; how many are asked. */
unsigned int other_sms_ask(struct sm *sm, void (*done)(struct sm_request *request));
/* Set(SMInfo) with an AttributeModifier IBA_SM_INFO_.. */
void other_sm_control(struct sm *sm, const struct other_sm *to, unsigned int control,
		      void (*done)(struct sm_request *request));
/* Trap 144 with SMPriority: the master is to look at this one, which has the higher rank. */
void other_sm_tell_rank(struct sm *sm, const struct other_sm *master);

/* ---- all, in the step ELECT ---- */

/*
 * Get(SMInfo) of every port with IsSM after discovery (heavy), of those that changed (partial), of
 * those known or ignored (light sweep).
 */
void other_sms_meet(struct sm *sm);
/* Who was asked and did not answer is no SM; who was not asked is what it was. */
void other_sms_drop_silent(struct sm *sm);
/* What they tell of themselves; but the stubborn, if own is not NULL. g_free() it. */
struct election_sm *other_sms_list(struct sm *sm, const struct election_sm *own, unsigned int *n);
/* Whom the replicator may find as standby. */
void other_sms_tell_replicator(struct sm *sm);

#endif
