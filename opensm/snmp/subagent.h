// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The subagent: answers what snmpd asks for, by AgentX. snmpd decides which managers may do what.
 * One in a process, as the library of Net-SNMP has global state; on the default main context.
 */
#ifndef SNMP_SUBAGENT_H
#define SNMP_SUBAGENT_H

#include "snmp/mirror.h"
#include "snmp/notices.h"

#define SUBAGENT_BASE "1.3.6.1.4.1.8072.9999.9999" /* for experiments, by Net-SNMP */

#define SUBAGENT_ERROR subagent_error_quark()
GQuark subagent_error_quark(void);

struct subagent_config {
	const char *base;   /* OID of which OPENSM-MIB is .1 */
	const char *agentx; /* address of snmpd, as in its agentXSocket; NULL: its default */
	bool fabric;	    /* with the tables of nodes and ports */
};

struct subagent;

/* Connects to snmpd, or tries again until it is there. */
struct subagent *subagent_new(const struct subagent_config *config, struct mirror *mirror,
			      GError **error);
void subagent_free(struct subagent *agent); /* NULL is fine */

bool subagent_is_connected(const struct subagent *agent);
/* Sends a notification, if it is connected. */
void subagent_notify(struct subagent *agent, const struct notice *notice);

#endif
