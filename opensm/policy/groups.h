// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast groups as the SA publishes them to the sweep: immutable and counted. */
#ifndef POLICY_GROUPS_H
#define POLICY_GROUPS_H

#include "complib/handoff.h"
#include "iba/iba.h"

struct mc_group {
	struct iba_gid mgid;
	uint16_t mlid;
	uint16_t p_key;
	uint8_t mtu, rate, sl;
	uint32_t n_ports;
	uint64_t *port_guids; /* members of any kind, ascending */
};

struct mc_groups {
	struct ref ref;
	uint64_t serial; /* counts up with each change */
	uint32_t n;
	struct mc_group *groups; /* by MLID, then MGID; groups may share an MLID */
};

struct mc_groups *mc_groups_new(uint32_t n, uint64_t serial);
struct mc_groups *mc_groups_ref(struct mc_groups *groups);
void mc_groups_unref(struct mc_groups *groups);

#endif
