// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The tables of a snapshot: what a host must know to answer its own path queries exactly as the SA
 * would. All integers are little-endian, all rows have a fixed size, all tables are aligned to
 * SSA_PAGE octets, so that a reader maps a snapshot and reads it in place. Read members through
 * ssa_16(), ssa_32(), ssa_64().
 *
 *    header, directory            SSA_PAGE octets
 *    table of the first entry     at its offset
 *    ...
 *
 * A whole snapshot has all rows of all tables. That of a host has, of the tables in which each row
 * is for one switch or one LID (SSA_PATHS, SSA_LANES, SSA_REACH), only the rows that its own ports
 * need: [first, first + here) of rows. Its ports may be cabled to several switches: such a table
 * may have up to SSA_PARTS entries, by ascending first, which do not overlap and differ in nothing
 * else.
 *
 * The way of a path from port a to LID d is, first, the link of a, and then what PATHS has in the
 * row of the switch to which a is cabled, as hosts of one switch go one way. Octets of links
 * and paths ("ways") have the MTU code in the upper 3 bits and the rank of the rate below: ranks
 * order rates, which codes do not. All ones: no packet arrives.
 */
#ifndef SSA_TABLE_LAYOUT_H
#define SSA_TABLE_LAYOUT_H

#include <glib.h>
#include <stdint.h>

#define SSA_PAGE 4096u
#define SSA_MAGIC "OSMSSA\r\n"
#define SSA_MAJOR 1 /* a reader refuses any other */
#define SSA_MINOR 0 /* a reader takes any: later ones add tables and flags */
#define SSA_NONE UINT32_MAX
#define SSA_LIDS 49152u /* unicast LIDs 1 .. 0xBFFF */
#define SSA_PARTS 8u /* entries of a table; ports of a host */

static inline uint16_t ssa_16(uint16_t value)
{
	return GUINT16_FROM_LE(value);
}

static inline uint32_t ssa_32(uint32_t value)
{
	return GUINT32_FROM_LE(value);
}

static inline uint64_t ssa_64(uint64_t value)
{
	return GUINT64_FROM_LE(value);
}

/* id, name, octets a row (0: told by the directory), whether rows are by switch or LID */
#define SSA_TABLES(X)                                                                              \
	X(1, SUBNET, subnet, 128)                                                                  \
	X(2, ENDPORTS, endports, 32)                                                               \
	X(4, ALIASES, aliases, 16)                                                                 \
	X(5, SWITCHES, switches, 16)                                                               \
	X(6, RATES, rates, 64)                                                                     \
	X(7, PATHS, paths, 0)                                                                      \
	X(8, REACH, reach, 0)                                                                      \
	X(9, LANES, lanes, 0)                                                                      \
	X(10, PAIRS, pairs, 4)                                                                     \
	X(11, VERDICTS, verdicts, 16)                                                              \
	X(12, PREFIXES, prefixes, 16)                                                              \
	X(13, NAMES, names, 92)                                                                    \
	X(14, IPV4, ipv4, 36)                                                                      \
	X(15, IPV6, ipv6, 48)                                                                      \
	X(16, DESCRIPTIONS, descriptions, 72)                                                      \
	X(17, PATH_BITS, path_bits, 16)

enum ssa_table_id {
#define SSA_ID(id, NAME, name, size) SSA_##NAME = id,
	SSA_TABLES(SSA_ID)
#undef SSA_ID
		SSA_TABLE_END, /* ids are below this */
};

/* At the start of a snapshot. */
struct ssa_header {
	char magic[8];
	uint16_t major, minor;
	uint32_t n_tables;
	uint64_t prefix; /* of the subnet */
	uint64_t term;	 /* grows with each SM that becomes master: no reader goes back */
	uint64_t epoch;	 /* grows when the octets of any table change, and only then */
	uint64_t time_us; /* UNIX time at which it was made */
	uint64_t sm_guid; /* port GUID of the SM that made it */
	uint64_t length;  /* of the whole snapshot, octets */
	uint8_t reserved[64];
};

/* The directory: after the header, n_tables entries by ascending id, then by ascending first. */
struct ssa_entry {
	uint16_t id;
	uint16_t flags;	    /* 0 */
	uint32_t row_size;  /* octets */
	uint64_t rows;	    /* of the whole table */
	uint64_t first, here; /* the rows of this entry */
	uint64_t offset;      /* of them, from the start of the snapshot */
	uint64_t epoch;	      /* in which the octets of the whole table last changed */
	uint64_t hash[2];     /* XXH3-128 of the whole table: low and high half */
	uint8_t reserved[16];
};

#define SSA_MAX_TABLES ((SSA_PAGE - sizeof(struct ssa_header)) / sizeof(struct ssa_entry))
G_STATIC_ASSERT(SSA_TABLE_END + 3 * (SSA_PARTS - 1) <= SSA_MAX_TABLES);

/* ---- rows ---- */

enum ssa_subnet_flags {
	SSA_RULES_BY_SERVICE = 1 << 0, /* QoS rules look at ServiceIDs: ask if the query has one */
	SSA_RULES_BY_CLASS = 1 << 1,   /* and at QoS classes */
	SSA_NO_VERDICTS = 1 << 2,      /* too many kinds of ports: ask for everything */
};

enum ssa_lanes_kind {
	SSA_LANES_FREE,	 /* any SL may be used on any path */
	SSA_LANES_ONE,	 /* all paths have the SL lane */
	SSA_LANES_PAIRS, /* SSA_LANES has the SL for each pair of switches */
};

struct ssa_subnet { /* one row */
	uint64_t prefix;
	uint32_t flags; /* enum ssa_subnet_flags */
	uint32_t n_classes; /* of ports, as in SSA_PAIRS */
	uint16_t max_lid;
	uint16_t dropped_sls; /* bits of SLs that some SL2VL table drops: ask for their paths */
	uint8_t lanes;	      /* enum ssa_lanes_kind */
	uint8_t lane;
	uint8_t lane_levels; /* bits of an SL that the lanes leave to QoS */
	uint8_t hop_limit;   /* of paths that leave the subnet */
	uint8_t rank_rate[32]; /* the rate code of each rank; 0: no such rank */
	uint8_t reserved[72];
};

enum ssa_endport_kind { /* NodeType */
	SSA_CA = 1,
	SSA_SWITCH = 2,
	SSA_ROUTER = 3,
};

struct ssa_endport { /* by guid */
	uint64_t guid;
	uint32_t sw;	/* index in SSA_SWITCHES to which it is cabled, or is; SSA_NONE */
	uint32_t peer;	/* without a switch between: the endport at the other end; SSA_NONE */
	uint32_t class; /* how the policy sees it: index in SSA_PAIRS */
	uint32_t reserved;
	uint16_t lid;
	uint8_t lmc;
	uint8_t kind;	/* enum ssa_endport_kind */
	uint8_t own;	/* way of its link; all ones: it is down */
	uint8_t inside; /* way to itself */
	uint8_t rates;	/* row of SSA_RATES: the rates that its device knows */
	uint8_t port;	/* number of the port in its node */
};

struct ssa_alias { /* by guid */
	uint64_t guid;
	uint32_t endport;
	uint32_t index; /* in the port's GUIDInfo */
};

struct ssa_switch {
	uint64_t guid; /* NodeGUID */
	uint32_t row;  /* of SSA_PATHS and SSA_LANES; SSA_NONE: no host is cabled to it */
	uint16_t lid;
	uint16_t reserved;
};

/*
 * SSA_RATES, by rate code: the code to tell instead. Row 0 is the operator's limit, the others are
 * those of kinds of devices. A path has the rate of row 0, then of its source's row, then of its
 * destination's.
 *
 * SSA_PATHS: a row for each switch with hosts, an octet for each LID up to max_lid: the way.
 * SSA_REACH: a row for each LID up to max_lid, a bit for each switch (bit n % 8 of octet n / 8):
 * whether packets to the LID arrive from there.
 * SSA_LANES: a row for each switch with hosts, an octet for each switch: the SL from one to the
 * other; all ones: none.
 * SSA_PAIRS: [from * n_classes + to]: index in SSA_VERDICTS of the first verdict for the pair.
 */

enum ssa_verdict_flags {
	SSA_VERDICT_LAST = 1 << 0,    /* of the pair */
	SSA_VERDICT_REFUSED = 1 << 1, /* the two may not use it */
	SSA_VERDICT_SL_FIXED = 1 << 2, /* a query for another SL is refused */
	SSA_VERDICT_KNOWN = 1 << 3,    /* they share a partition, so each may know of the other */
};

/*
 * What two ports may use between them. The first of a pair is for queries without a P_Key, the
 * others, by asked, are for each P_Key that both hold; other P_Keys have no path.
 */
struct ssa_verdict {
	uint16_t asked; /* base of the P_Key of the query; 0: none given */
	uint16_t p_key; /* to use, with the source's membership, if none was given */
	uint16_t path_bits; /* index + 1 in SSA_PATH_BITS; 0: all */
	uint8_t flags;	    /* enum ssa_verdict_flags */
	uint8_t sl;	    /* unless the query has one */
	uint8_t mtu, rate;  /* codes, at most; 0: no limit */
	uint8_t life;	    /* PacketLifeTime; of a path of a port to itself it is 0 */
	uint8_t mtu_best;   /* of the devices, unless the query needs more; 0: no limit */
	uint8_t reserved[4];
};

/* In order: the first with the prefix of the destination, or with 0, which means any. */
struct ssa_prefix {
	uint64_t prefix;
	uint32_t endport; /* of the router */
	uint32_t reserved;
};

/* SSA_DESCRIPTIONS: a row for each endport: the NodeDescription of its node, padded with NUL. */

/*
 * SSA_PATH_BITS: bit n: a path may end at the n-th LID of its destination. If that leaves a port no
 * LID, any will do.
 */

enum ssa_address_flags { /* RFC 4755 */
	SSA_ADDRESS_UC = 0x40,
	SSA_ADDRESS_RC = 0x80,
};

/* GIDs and addresses are in network order. */
struct ssa_address_rest {
	uint8_t gid[16];
	uint16_t p_key;
	uint8_t qpn[3]; /* big-endian; 0: unknown */
	uint8_t flags;	/* enum ssa_address_flags */
} __attribute__((packed));

struct ssa_name { /* by name, padded with NUL */
	char name[64];
	struct ssa_address_rest rest;
	uint8_t reserved[6];
} __attribute__((packed));

struct ssa_ipv4 { /* by address */
	uint8_t address[4];
	struct ssa_address_rest rest;
	uint8_t reserved[10];
} __attribute__((packed));

struct ssa_ipv6 { /* by address */
	uint8_t address[16];
	struct ssa_address_rest rest;
	uint8_t reserved[10];
} __attribute__((packed));

G_STATIC_ASSERT(sizeof(struct ssa_header) == 128);
G_STATIC_ASSERT(sizeof(struct ssa_entry) == 80);
G_STATIC_ASSERT(sizeof(struct ssa_subnet) == 128);
G_STATIC_ASSERT(sizeof(struct ssa_endport) == 32);
G_STATIC_ASSERT(sizeof(struct ssa_alias) == 16);
G_STATIC_ASSERT(sizeof(struct ssa_switch) == 16);
G_STATIC_ASSERT(sizeof(struct ssa_verdict) == 16);
G_STATIC_ASSERT(sizeof(struct ssa_prefix) == 16);
G_STATIC_ASSERT(sizeof(struct ssa_name) == 92);
G_STATIC_ASSERT(sizeof(struct ssa_ipv4) == 36);
G_STATIC_ASSERT(sizeof(struct ssa_ipv6) == 48);

#define SSA_WAY_RANK_BITS 5
#define SSA_WAY_NONE 0xFF /* no MTU has the code 7 */

static inline uint8_t ssa_way(uint8_t mtu, uint8_t rank)
{
	return (uint8_t)(mtu << SSA_WAY_RANK_BITS | rank);
}

static inline uint8_t ssa_way_mtu(uint8_t way)
{
	return way >> SSA_WAY_RANK_BITS;
}

static inline uint8_t ssa_way_rank(uint8_t way)
{
	return way & ((1u << SSA_WAY_RANK_BITS) - 1);
}

#endif
