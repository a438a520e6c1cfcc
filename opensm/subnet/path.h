// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What two ports may use between them: P_Key, SL, MTU, rate, packet life time and hop limit, and
 * which rule each of these comes from. For all answers about paths, and for the operator. Pure.
 */
#ifndef SUBNET_PATH_H
#define SUBNET_PATH_H

#include "subnet/subnet.h"

/* What is asked of a path. What is not asked for is the policy's to choose. */
struct policy_wanted {
	bool has_p_key, has_sl, has_class, has_service;
	uint16_t p_key, qos_class;
	uint64_t service_id;
	uint8_t sl;
	bool leaves_subnet; /* its destination is behind a router */
};

enum policy_reason {
	POLICY_ASKED,	  /* it was asked for */
	POLICY_LEVEL,	  /* a level of qos-policy.conf */
	POLICY_PARTITION, /* partitions.conf */
	POLICY_OPTION,	  /* an option of opensm.conf */
	POLICY_LINK,	  /* what the links on the way can do */
	POLICY_ENDS,	  /* what the ports at its ends know */
	POLICY_INSIDE,	  /* the path does not leave the port, or the subnet */
	POLICY_ROUTES,	  /* the routing engine needs it */
};

struct policy_path {
	uint16_t p_key; /* as the source holds it, if it was not asked for */
	uint8_t sl;
	/* The most, and of the life time the least, that the policy knows of. */
	uint8_t mtu, rate, life;
	uint8_t hop_limit;
	enum policy_reason p_key_by, sl_by, mtu_by, rate_by, life_by;
	const struct qos_level *level; /* NULL: there is no QoS */
	const struct qos_rule *rule;   /* that led to the level; NULL: none did */
	const char *refused;	       /* why there is no such path */
	uint32_t dropped_at;	       /* the port, if that is by SL2VL tables; FABRIC_NONE */
};

/*
 * All but MTU and rate of the path between two endports, or false and refused; loopback, if they
 * are one port.
 */
bool policy_path(const struct subnet *subnet, const struct policy_wanted *wanted, uint32_t from,
		 uint32_t to, struct policy_path *path);

/* One of the ways that a path may take: there may be as many as there are LIDs. */
struct policy_way {
	uint32_t from; /* endport */
	uint16_t dlid;
	uint8_t mtu, rate; /* that the links on it can do */
};
/* MTU and rate on that way, or false and refused, as SL2VL tables drop its packets there. */
bool policy_path_on(const struct subnet *subnet, const struct policy_way *way,
		    struct policy_path *path);
/*
 * The port at which SL2VL tables drop packets of that SL on their way from an endport to a LID;
 * FABRIC_NONE: none does. Such an SL is not handed out for that way.
 */
uint32_t policy_drops(const struct subnet *subnet, uint8_t sl, uint32_t from, uint16_t dlid);
/* Whether no multicast packet of that SL gets from an endport past the first switch. */
bool policy_drops_multicast(const struct subnet *subnet, uint8_t sl, uint32_t from);
/* The fastest rate not above that one which old clients know: max_rate_enum and its like. */
uint8_t policy_known_rate(const struct options *options, uint8_t rate);
/* Whether it may end at the n-th LID (from 0) of its destination, which has so many. */
bool policy_path_ends_at(const struct policy_path *path, unsigned int n, unsigned int lids);

/* Where a value comes from, for people; option: what POLICY_OPTION means. To be freed. */
char *policy_path_tell(const struct subnet *subnet, const struct policy_path *path,
		       enum policy_reason reason, const char *option);

#endif
