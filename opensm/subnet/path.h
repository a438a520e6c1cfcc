// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What two ports may use between them: P_Key, SL, MTU, rate, packet life time and hop limit, and
 * the rule that each of these comes from. Used by all answers about paths, and to explain paths to
 * the operator. Pure.
 */
#ifndef SUBNET_PATH_H
#define SUBNET_PATH_H

#include "subnet/subnet.h"

/* The requested properties of a path. The policy chooses those that are not requested. */
struct policy_wanted {
	bool has_p_key, has_sl, has_class, has_service;
	uint16_t p_key, qos_class;
	uint64_t service_id;
	uint8_t sl;
	bool leaves_subnet; /* the destination is behind a router */
	bool keeps_mtu;	    /* it would not do with the MTU that suits the devices best */
};

enum policy_reason {
	POLICY_ASKED,	  /* it was requested */
	POLICY_LEVEL,	  /* a level of qos-policy.conf */
	POLICY_PARTITION, /* partitions.conf */
	POLICY_OPTION,	  /* an option of opensm.conf */
	POLICY_LINK,	  /* the capabilities of the links on the path */
	POLICY_ENDS,	  /* the capabilities of the ports at its ends */
	POLICY_INSIDE,	  /* the path does not leave the port, or the subnet */
	POLICY_ROUTES,	  /* the routing engine needs it */
	POLICY_DEVICE,	  /* a device at an end is faster with it */
};

struct policy_path {
	uint16_t p_key; /* as the source holds it, unless requested */
	uint8_t sl;
	/* The maximum, and for life the minimum, that the policy sets. */
	uint8_t mtu, rate, life;
	uint8_t hop_limit;
	enum policy_reason p_key_by, sl_by, mtu_by, rate_by, life_by;
	const struct qos_level *level; /* NULL: no QoS */
	const struct qos_rule *rule;   /* the rule that selected the level; NULL: none */
	uint8_t mtu_best;	       /* for the devices at its ends; 0: the maximum */
	const char *refused;	       /* why there is no such path */
	uint32_t dropped_at;	       /* the port, if SL2VL tables drop it; FABRIC_NONE */
};

/* Of a path that leaves the subnet: the most there is. */
#define POLICY_HOP_LIMIT 255
/* The MTU with which a Tavor, the first kind of HCA, is faster than with any greater one. */
#define POLICY_TAVOR_MTU IBA_MTU_1024

/*
 * Sets everything except MTU and rate of the path between two endports, or returns false and sets
 * refused; loopback, if both are the same port.
 */
bool policy_path(const struct subnet *subnet, const struct policy_wanted *wanted, uint32_t from,
		 uint32_t to, struct policy_path *path);

/*
 * policy_path() but for the SL that the routing engine needs: equal for ports that are in equal
 * partitions and QoS groups, and alike for policy_is_tavor().
 */
bool policy_verdict(const struct subnet *subnet, const struct policy_wanted *wanted, uint32_t from,
		    uint32_t to, struct policy_path *path);
bool policy_is_tavor(const struct iba_node_info *info);

/* One of the routes that a path may take: there may be as many as there are LIDs. */
struct policy_way {
	uint32_t from; /* endport */
	uint16_t dlid;
	uint8_t mtu, rate; /* supported by its links */
};
/* Sets MTU and rate on that route; false and refused if SL2VL tables drop its packets. */
bool policy_path_on(const struct subnet *subnet, const struct policy_way *way,
		    struct policy_path *path);
/*
 * The port at which SL2VL tables drop packets of that SL on the route from an endport to a LID;
 * FABRIC_NONE: none. Such an SL is not used for that route.
 */
uint32_t policy_drops(const struct subnet *subnet, uint8_t sl, uint32_t from, uint16_t dlid);
/* Whether no multicast packet of that SL gets from an endport beyond the first switch. */
bool policy_drops_multicast(const struct subnet *subnet, uint8_t sl, uint32_t from);
/*
 * The fastest rate, at most the given one, that old clients know: max_rate_enum and similar
 * options.
 */
uint8_t policy_known_rate(const struct options *options, uint8_t rate);
/*
 * That rate, or if the device of an endport does not know it, the fastest below that it does:
 * depends on ExtendedSpeeds of the CapabilityMask, and on LinkWidth2x and whether there is any of
 * LinkSpeedHDR, NDR, XDR in CapabilityMask2.
 */
uint8_t policy_rate_of_end(const struct iba_port_info *end, uint8_t rate);
/* Whether the path may end at the n-th LID (from 0) of its destination, which has lids LIDs. */
bool policy_path_ends_at(const struct policy_path *path, unsigned int n, unsigned int lids);

/* The origin of a value, as text; option: what POLICY_OPTION means. The caller frees it. */
char *policy_path_tell(const struct subnet *subnet, const struct policy_path *path,
		       enum policy_reason reason, const char *option);

#endif
