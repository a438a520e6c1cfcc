// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reports: notices of the SM and traps that it received, to those who subscribed (IBA 13.4.9,
 * 15.2.4.1). Owned by the sa actor.
 */
#ifndef SA_REPORT_REPORT_H
#define SA_REPORT_REPORT_H

#include "core/context.h"
#include "mad/ask.h"
#include "sa/registries.h"

#define SA_REPORTS_UNANSWERED 3		     /* in a row: then one try of one a time */
#define SA_REPORT_REST (60 * NS_PER_S)	     /* that is, for a host may stand still for a while; */
#define SA_REPORTS_IN_VAIN 30		     /* in a row: the subscription ends */
#define SA_REPORT_ASK_AGAIN (600 * NS_PER_S) /* until a client is asked to register once more */

struct sa_reporter;

/* The registries must outlive it. */
struct sa_reporter *sa_reporter_new(struct context *context, struct actor *actor, struct mad *mad,
				    const struct sa_registries *registries);
void sa_reporter_free(struct sa_reporter *reporter);
/* From now on it is this subnet; NULL: there is none, and what is not told yet never is. */
void sa_reporter_follow(struct sa_reporter *reporter, struct subnet *subnet);

/* Trap 64 or 65 of each port that is in one of the subnets only. */
void sa_report_ports(struct sa_reporter *reporter, const struct subnet *before);
/* Trap 66 or 67, told to those who have the group's P_Key. creator: GUID of the port; 0: the SM. */
void sa_report_group(struct sa_reporter *reporter, bool created, struct iba_gid mgid,
		     uint16_t p_key, uint64_t creator);
/*
 * A trap that came from that LID, told to those who share a partition with its issuer: not if that
 * is said to be another port, nor one that only this SA sends.
 */
void sa_report_trap(struct sa_reporter *reporter, const struct iba_notice *notice, uint16_t from);

/* What only trusted subscribers are told of, whatever they subscribed to: violations of keys. */
bool sa_is_secret(bool is_generic, uint16_t type, uint16_t trap_number);

#endif
