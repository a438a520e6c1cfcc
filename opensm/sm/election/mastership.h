// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* This SM among others: election, handover, SMInfo. */
#ifndef SM_ELECTION_MASTERSHIP_H
#define SM_ELECTION_MASTERSHIP_H

#include "sm/sm_private.h"

/* ---- sm_info.c ---- */
/* What an SM reports of itself in an SMP with SMInfo. */
struct sm_told {
	struct iba_sm_info info;
	struct ability ability;
};
struct sm_told sm_info_own(const struct sm *sm); /* SM_Key included; this actor only */
void sm_info_encode(const struct sm_told *told, uint8_t *data); /* data of the SMP */
struct sm_told sm_info_decode(const uint8_t *data);
/*
 * Starts answering SMInfo; a Set of it goes to mastership_receive(), and other unsolicited SMPs to
 * trap_receive().
 */
void sm_info_serve(struct sm *sm);
/* Answers the Get or Set that smp was decoded from; any thread; takes ownership of mad. */
void sm_info_answer(struct sm *sm, struct vendor_mad *mad, struct iba_smp *smp, uint16_t status,
		    bool tell_key);

/* ---- sm_asker.c ---- */
/* A Get(SMInfo) whose answer has the SM_Key if it came from a port with IsSM. */
void sm_info_receive(void *arg, struct vendor_mad *mad);
void sm_asked(struct sm *sm, const struct vendor_mad *mad); /* on the actor "mad" */

/* ---- mastership.c ---- */
struct mastership *mastership_new(struct sm *sm);
void mastership_free(struct mastership *mastership);
void mastership_asked_from_beyond(struct sm *sm); /* for SMInfo, from undiscovered parts */
void mastership_begin(struct sm *sm); /* the state before the first sweep; any thread */
/* It takes over from the SM at that port (NULL: from none), which did not answer polls. */
bool mastership_was_missed(const struct sm *sm, const struct builder_port *port);
bool mastership_polled_in_vain(const struct sm *sm, uint16_t lid); /* as above, by its LID */
#define MISSED_TRIES 2 /* for SMPs sent there: polls were tried often enough */
void mastership_saw_nothing(struct sm *sm); /* a heavy sweep ended before the step ELECT */
void mastership_receive(void *arg, struct vendor_mad *mad); /* a Set(SMInfo) */
void mastership_options_changed(struct sm *sm);
enum own_port_owner {
	OWN_PORT_OURS,	   /* it is as this SM should make it */
	OWN_PORT_FOREIGN,  /* another SM configured it; that is handled, or should be left so */
	OWN_PORT_DISPUTED, /* another SM configured it, and the port is to be read again soon */
};
enum own_port_owner mastership_own_port_read(struct sm *sm, const struct iba_port_info *info);
void mastership_port_changed(struct sm *sm); /* as STANDBY: polls the master */
void mastership_cut_off(struct sm *sm);	    /* its link is down */
void mastership_port_lost(struct sm *sm);    /* no sweeps, no polls */
void mastership_port_back(struct sm *sm);    /* as after a start, except for the state */
void mastership_activate(struct sm *sm); /* from NOT-ACTIVE */
void mastership_retire(struct sm *sm); /* hands over if it can; EVENT_FINISHED follows */

/* ---- orphans.c ---- */
bool orphans_are_there(const struct sm *sm); /* orphans.c: ports that obey a dead SM */

#endif
