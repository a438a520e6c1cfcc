// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reports: notices of the SM and traps that it received, forwarded to subscribers (IBA 13.4.9,
 * 15.2.4.1). Owned by the sa actor.
 */
#ifndef SA_REPORT_REPORT_H
#define SA_REPORT_REPORT_H

#include "core/context.h"
#include "mad/ask.h"
#include "sa/registries.h"

#define SA_REPORTS_UNANSWERED 3		     /* in a row; after that, one try at a time */
#define SA_REPORT_REST (60 * NS_PER_S)	     /* between these: a host may hang for a while */
#define SA_REPORTS_IN_VAIN 30		     /* in a row; then the subscription ends */
#define SA_REPORT_ASK_AGAIN (600 * NS_PER_S) /* until a client is asked again to register */

struct sa_reporter;

/* The registries must outlive the reporter. */
struct sa_reporter *sa_reporter_new(struct context *context, struct actor *actor, struct mad *mad,
				    const struct sa_registries *registries);
void sa_reporter_free(struct sa_reporter *reporter);
/* From now on reports are about this subnet. NULL: none; notices not yet reported are dropped. */
void sa_reporter_follow(struct sa_reporter *reporter, struct subnet *subnet);

/* Sends trap 64 or 65 for each port that is in only one of the two subnets. */
void sa_report_ports(struct sa_reporter *reporter, const struct subnet *before);
/* Trap 66 or 67, to subscribers with the group's P_Key. creator: GUID of the port; 0: the SM. */
void sa_report_group(struct sa_reporter *reporter, bool created, struct iba_gid mgid,
		     uint16_t p_key, uint64_t creator);
/*
 * Forwards a trap that came from that LID to subscribers that share a partition with its issuer.
 * Not forwarded: a trap whose issuer claims to be another port, and traps that only this SA sends.
 */
void sa_report_trap(struct sa_reporter *reporter, const struct iba_notice *notice, uint16_t from);

/* Whether the notice is for trusted subscribers only, as are those of key violations. */
bool sa_is_secret(bool is_generic, uint16_t type, uint16_t trap_number);

#endif
