// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What congestion control should be set to (IBA annex A10): computed from the options and from the
 * fabric, without asking any device.
 *
 * The settings of an agent are octets as on the wire, in pieces of one attribute each: a switch has
 * one (SwitchCongestionSetting), a CA has its CACongestionSetting and then blocks of its
 * CongestionControlTable.
 */
#ifndef CC_VALUES_H
#define CC_VALUES_H

#include "cc/profile.h"
#include "core/options.h"
#include "fabric/fabric.h"
#include "iba/iba.h"

#define CC_BLOCK 64	   /* entries of a block */
#define CC_BLOCKS_MAX 2
#define CC_SWITCH_OCTETS 76
#define CC_CA_OCTETS 132   /* a CACongestionSetting, or a block of the table */
#define CC_OCTETS_MAX (CC_CA_OCTETS * (1 + CC_BLOCKS_MAX))

/* The values of a profile, for all devices of a fabric. */
struct cc_values {
	struct iba_switch_congestion_setting of_switch; /* victim_mask unset if masks_by_topology */
	bool masks_by_topology;
	struct iba_ca_congestion_setting of_ca;
	struct iba_congestion_control_entry table[CC_TABLE_MAX];
	unsigned int n_table; /* 0: senders are not slowed down */
	bool has_short;	      /* for CAs that have room for one block: */
	struct iba_congestion_control_entry short_table[CC_BLOCK];
	uint32_t hosts;	   /* for which they were computed */
	unsigned int gbps; /* data rate of their links */
};

/* The hosts of a fabric: CA ports with a cable. */
struct cc_size {
	uint32_t hosts;
	unsigned int gbps; /* data rate that most of them have, in Gb/s; 0: unknown */
};
struct cc_size cc_size_of(const struct fabric *fabric);

/* The option cc_hosts goes before size->hosts. */
void cc_values_make(const struct options *options, const struct cc_size *size,
		    struct cc_values *values);

/* What is questionable about the options; array of char *, which frees its strings. */
GPtrArray *cc_values_warnings(const struct options *options, const struct cc_values *values);

/* ---- settings of one agent ---- */

/* Writes CC_SWITCH_OCTETS. */
void cc_settings_of_switch(const struct cc_values *values, const struct fabric *fabric,
			   uint32_t node, uint8_t *octets);
/*
 * Blocks of the table that a CA with this ControlTableCap gets, from 1 on. *cut: it has no room for
 * all of it.
 */
unsigned int cc_blocks(const struct cc_values *values, uint8_t table_cap, bool *cut);
/* Writes CC_CA_OCTETS * (1 + blocks). */
void cc_settings_of_ca(const struct cc_values *values, unsigned int blocks, uint8_t *octets);

/*
 * From settings that an agent had (with pieces of them): those to be sent so that it has them
 * again. Returns their number of pieces.
 */
unsigned int cc_settings_again(bool is_switch, const uint8_t *had, unsigned int pieces,
			       uint8_t *octets);

/*
 * Octets (with pieces) that have what is wanted: what the wanted settings cover becomes as after a
 * reset, the rest stays.
 */
void cc_settings_without(bool is_switch, const uint8_t *wanted, unsigned int pieces,
			 uint8_t *octets);

/* Where a piece of the settings is. */
static inline unsigned int cc_piece_at(unsigned int piece)
{
	return piece * CC_CA_OCTETS;
}

/*
 * Whether a piece that an agent has is as wanted, where that counts: ControlMap says which fields
 * do, and of a table the entries up to CCTI_Limit, and the limit of the last block (of n pieces).
 */
bool cc_piece_is(bool is_switch, unsigned int piece, unsigned int n, const uint8_t *wanted,
		 const uint8_t *has);

#endif
