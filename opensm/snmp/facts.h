// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the daemon has answered, as rows of OPENSM-MIB. An answer that is missing or not as expected
 * leaves no rows, never wrong ones.
 */
#ifndef SNMP_FACTS_H
#define SNMP_FACTS_H

#include <glib.h>

#include "client/image.h"
#include "client/json.h"
#include "snmp/mib.h"

/* The first four as in IBA's SMInfo. */
enum facts_state {
	FACTS_NOT_ACTIVE,
	FACTS_DISCOVERING,
	FACTS_STANDBY,
	FACTS_MASTER,
	FACTS_UNREACHABLE, /* no daemon answers */
};

enum facts_membership { FACTS_NONE, FACTS_FULL, FACTS_LIMITED, FACTS_BOTH };

struct facts_counter {
	char *name;
	uint64_t value;
};

struct facts_partition {
	uint16_t p_key;
	char *name;
	bool ipoib;
	bool own;	       /* made at run time; else partitions.conf defines it */
	uint8_t mtu, rate, sl; /* codes; 0: not given */
	uint8_t all;	       /* enum facts_membership of all ports together */
	uint32_t full, limited; /* members that are in the subnet; of both kinds count as both */
};

struct facts_member {
	uint64_t guid;
	uint16_t p_key;
	uint8_t membership; /* enum facts_membership, but FACTS_NONE */
	bool absent;	    /* not in the subnet */
};

/* A port that misbehaves, or a standby that has what its master knows. */
struct facts_port {
	uint64_t guid;
	uint64_t port;
	char *text;
};

struct facts {
	/* status */
	enum facts_state state;
	char *version;
	uint64_t guid; /* of the port of the SM; 0: unknown */
	uint64_t priority, generation, switches, hosts, links;
	bool has_subnet, errors;
	GArray *counters; /* of struct facts_counter */
	GArray *standbys; /* of struct facts_port: those that are in step */
	/* health */
	bool health_known, healthy;
	uint64_t master; /* GUID; 0: unknown */
	char *summary;
	char *problems; /* a line each */
	char *partition_problems;
	bool swept;
	char *sweep_kind;
	bool sweep_errors;
	uint64_t sweep_us, sweep_age_s;
	/* unhealthy */
	GArray *unhealthy; /* of struct facts_port */
	/* partitions, and partitions members */
	GArray *partitions; /* of struct facts_partition, by P_Key */
	GArray *members;    /* of struct facts_member, by P_Key and GUID */
	/* image */
	struct image image; /* .header NULL: none */
};

struct facts *facts_new(void);
void facts_free(struct facts *facts);

/* Each replaces what its answer says; text NULL: there is none. */
void facts_take_status(struct facts *facts, const char *text);
void facts_take_health(struct facts *facts, const char *text);
void facts_take_unhealthy(struct facts *facts, const char *text);
/* After the members: of partitions that have all ports, which are not listed one by one. */
void facts_take_counts(struct facts *facts, const char *text);
void facts_take_members(struct facts *facts, const char *text);
/* Of "image descriptor"; 0: none. It remains the caller's. */
void facts_take_image(struct facts *facts, int file);

/* A member of an answer that is the text of a GUID; 0: there is none. */
uint64_t facts_guid(JsonObject *object, const char *name);
const char *facts_state_word(enum facts_state state);
bool facts_subnet_up(const struct facts *facts);
/* NULL: there is none. */
const struct facts_partition *facts_partition(const struct facts *facts, uint16_t p_key);
const struct facts_member *facts_member(const struct facts *facts, uint16_t p_key, uint64_t guid);

/* The rows of all tables, valid until the facts change. */
void facts_rows(const struct facts *facts, struct mib_rows rows[MIB_TABLES]);

#endif
