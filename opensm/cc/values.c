// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "cc/values.h"

#include <stdlib.h>
#include <string.h>

#include "iba/codes.h"

#define ALL_OF_A_SWITCH 0x1F /* ControlMap */
#define ALL_SLS 0xFFFF
#define MULTIPLIER_MAX 0x3FFF
#define GBPS_UNKNOWN 100
#define MASK_OCTETS 32

enum { MAP_VICTIM = 1, MAP_CREDIT = 2, MAP_THRESHOLD = 4, MAP_STARVATION = 8, MAP_MARKING = 16 };

/* ---- profiles ---- */

/* Masks are kept with bit n in octet n / 8; on the wire port 0 is the last bit (A10.4.3.6). */
static void mask_to_wire(const uint8_t mask[MASK_OCTETS], uint8_t wire[MASK_OCTETS])
{
	for (unsigned int i = 0; i < MASK_OCTETS; i++)
		wire[MASK_OCTETS - 1 - i] = mask[i];
}

static void set_port(uint8_t wire[MASK_OCTETS], unsigned int port)
{
	wire[MASK_OCTETS - 1 - port / 8] |= (uint8_t)(1u << port % 8);
}


static uint16_t delay_to_wire(struct option_cct_entry entry)
{
	return (uint16_t)(entry.shift << 14 | (entry.multiplier & MULTIPLIER_MAX));
}

static void take_table(const char *text, struct cc_values *values)
{
	g_auto(GStrv) entries = g_strsplit(text ? text : "", ",", -1);

	for (unsigned int i = 0; entries[i] && values->n_table < CC_TABLE_MAX; i++) {
		char *at;
		unsigned long shift = strtoul(entries[i], &at, 0);

		if (*at != ':')
			continue;
		values->table[values->n_table++] = (struct iba_congestion_control_entry){
			.cct_shift = (uint8_t)shift,
			.cct_multiplier = (uint16_t)strtoul(at + 1, NULL, 0),
		};
	}
}

/* The options of the classic daemon as they are. */
static void make_classic(const struct options *o, struct cc_values *values)
{
	struct iba_switch_congestion_setting *sw = &values->of_switch;
	struct iba_ca_congestion_setting *ca = &values->of_ca;

	sw->control_map = o->cc_sw_cong_setting_control_map;
	mask_to_wire(o->cc_sw_cong_setting_victim_mask, sw->victim_mask);
	mask_to_wire(o->cc_sw_cong_setting_credit_mask, sw->credit_mask);
	sw->threshold = o->cc_sw_cong_setting_threshold;
	sw->packet_size = (uint8_t)o->cc_sw_cong_setting_packet_size;
	sw->cs_threshold = o->cc_sw_cong_setting_credit_starvation_threshold;
	sw->cs_return_delay =
		delay_to_wire(o->cc_sw_cong_setting_credit_starvation_return_delay);
	sw->marking_rate = o->cc_sw_cong_setting_marking_rate;
	ca->port_control = o->cc_ca_cong_setting_port_control;
	ca->control_map = o->cc_ca_cong_setting_control_map;
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(ca->sl); sl++)
		ca->sl[sl] = (struct iba_ca_congestion_entry){
			.ccti_timer = o->cc_ca_cong_setting_ccti_timer[sl],
			.ccti_increase = (uint8_t)o->cc_ca_cong_setting_ccti_increase[sl],
			.trigger_threshold = (uint8_t)o->cc_ca_cong_setting_trigger_threshold[sl],
			.ccti_min = (uint8_t)o->cc_ca_cong_setting_ccti_min[sl],
		};
	take_table(o->cc_cct, values);
}

static void make_profile(enum cc_profile profile, struct cc_values *values)
{
	struct cc_profile_values p = cc_profile_make(profile, values->hosts, values->gbps);

	values->of_switch = (struct iba_switch_congestion_setting){
		.control_map = MAP_VICTIM | MAP_THRESHOLD | MAP_MARKING,
		.threshold = p.threshold,
		.packet_size = p.packet_size,
		.marking_rate = p.marking_rate,
	};
	values->masks_by_topology = true;
	values->of_ca.control_map = ALL_SLS;
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(values->of_ca.sl); sl++)
		values->of_ca.sl[sl] = (struct iba_ca_congestion_entry){
			.ccti_timer = p.timer,
			.ccti_increase = p.increase,
		};
	values->n_table = CC_TABLE_MAX;
	cc_profile_table(MIN(values->hosts, CC_PROFILE_HOSTS_MAX), CC_TABLE_MAX - 1,
			 values->table);
	values->has_short = true;
	cc_profile_table(MIN(values->hosts, CC_PROFILE_HOSTS_MAX), CC_BLOCK - 1,
			 values->short_table);
}

static bool is_host(const struct fabric *fabric, uint32_t port)
{
	return fabric_is_endport(fabric, port) && fabric->ports[port].peer != FABRIC_NONE &&
	       fabric->nodes[fabric->ports[port].node].type == IBA_NODE_CA;
}

struct cc_size cc_size_of(const struct fabric *fabric)
{
	uint32_t at_rate[256] = {0};
	struct cc_size size = {0};
	uint8_t most = 0;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (is_host(fabric, port)) {
			size.hosts++;
			at_rate[fabric->ports[port].rate]++;
		}
	for (unsigned int rate = 1; rate < G_N_ELEMENTS(at_rate); rate++)
		if (at_rate[rate] > at_rate[most] ||
		    (at_rate[rate] && at_rate[rate] == at_rate[most] &&
		     iba_rate_compare((uint8_t)rate, most) > 0))
			most = (uint8_t)rate;
	size.gbps = iba_rate_tenths(most) / 10;
	return size;
}

void cc_values_make(const struct options *options, const struct cc_size *size,
		    struct cc_values *values)
{
	memset(values, 0, sizeof(*values));
	values->hosts = options->cc_hosts ? options->cc_hosts : MAX(size->hosts, 2);
	values->gbps = size->gbps ? size->gbps : GBPS_UNKNOWN;
	if (options->cc_profile == CC_CLASSIC)
		make_classic(options, values);
	else
		make_profile(options->cc_profile, values);
}

/* ---- what is questionable ---- */

static void warn(GPtrArray *warnings, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void warn(GPtrArray *warnings, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(warnings, g_strdup_vprintf(format, args));
	va_end(args);
}

static void warn_of_switches(const struct cc_values *values, GPtrArray *warnings)
{
	const struct iba_switch_congestion_setting *sw = &values->of_switch;

	if (!sw->control_map)
		warn(warnings, "cc_sw_cong_setting_control_map is 0: switches keep their settings");
	else if (!(sw->control_map & MAP_THRESHOLD) || !sw->threshold)
		warn(warnings, "cc_sw_cong_setting_threshold is 0, or bit 2 of the control map is "
			       "not set: no switch marks any packet");
	if (sw->control_map && !(sw->control_map & MAP_VICTIM))
		warn(warnings, "bit 0 of cc_sw_cong_setting_control_map is not set: switches do "
			       "not mark at ports of hosts that read slowly");
}

static double slowness(const struct iba_congestion_control_entry *entry)
{
	return (double)entry->cct_multiplier / (1u << entry->cct_shift);
}

static void warn_of_table(const struct cc_values *values, GPtrArray *warnings)
{
	if (!values->n_table) {
		warn(warnings, "cc_cct is empty: no host slows down");
		return;
	}
	if (slowness(&values->table[0]) > 0)
		warn(warnings, "the first entry of cc_cct is not 0: hosts are always slowed down");
	for (unsigned int i = 1; i < values->n_table; i++)
		if (slowness(&values->table[i]) < slowness(&values->table[i - 1])) {
			warn(warnings, "entry %u of cc_cct is less than the one before", i);
			break;
		}
	if (slowness(&values->table[values->n_table - 1]) + 1 < values->hosts)
		warn(warnings, "the last entry of cc_cct leaves 1/%.0f of the rate: more hosts "
			       "than that (of %u) that send to one can still congest it",
		     slowness(&values->table[values->n_table - 1]) + 1, values->hosts);
}

static void warn_of_sl(const struct cc_values *values, unsigned int sl, GPtrArray *warnings)
{
	const struct iba_ca_congestion_entry *entry = &values->of_ca.sl[sl];

	if (!(values->of_ca.control_map >> sl & 1)) {
		if (entry->ccti_timer || entry->ccti_increase || entry->trigger_threshold ||
		    entry->ccti_min)
			warn(warnings, "SL %u has values, but bit %u of "
				       "cc_ca_cong_setting_control_map is not set", sl, sl);
		return;
	}
	if (entry->ccti_increase && !entry->ccti_timer)
		warn(warnings, "SL %u: cc_ca_cong_setting_ccti_timer is 0, so a host that was "
			       "slowed down may stay slow", sl);
	if (entry->trigger_threshold && entry->trigger_threshold >= MAX(values->n_table, 1))
		warn(warnings, "SL %u: cc_ca_cong_setting_trigger_threshold %u is beyond the table",
		     sl, entry->trigger_threshold);
	if (entry->ccti_min)
		warn(warnings, "SL %u: cc_ca_cong_setting_ccti_min is %u: hosts are always slowed "
			       "down", sl, entry->ccti_min);
}

GPtrArray *cc_values_warnings(const struct options *options, const struct cc_values *values)
{
	GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);

	if (!options->congestion_control || options->cc_profile != CC_CLASSIC)
		return warnings;
	warn_of_switches(values, warnings);
	warn_of_table(values, warnings);
	if (!values->of_ca.control_map)
		warn(warnings, "cc_ca_cong_setting_control_map is 0: no SL is controlled");
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(values->of_ca.sl); sl++)
		warn_of_sl(values, sl, warnings);
	return warnings;
}

/* ---- settings of one agent ---- */

/* Only switches mark. A port to a host that reads slowly lacks credits, but is the root (A10.2). */
static void mark_at_hosts(const struct fabric *fabric, uint32_t node, uint8_t mask[MASK_OCTETS])
{
	memset(mask, 0, MASK_OCTETS);
	for (unsigned int num = 1; num <= MIN(fabric->nodes[node].num_ports, 254); num++) {
		uint32_t peer = fabric->ports[fabric_port_of(fabric, node, (uint8_t)num)].peer;

		if (peer != FABRIC_NONE &&
		    !fabric_is_switch(fabric, fabric->ports[peer].node))
			set_port(mask, num);
	}
}

void cc_settings_of_switch(const struct cc_values *values, const struct fabric *fabric,
			   uint32_t node, uint8_t *octets)
{
	struct iba_switch_congestion_setting setting = values->of_switch;

	if (values->masks_by_topology)
		mark_at_hosts(fabric, node, setting.victim_mask);
	memset(octets, 0, CC_SWITCH_OCTETS);
	wire_encode(&iba_switch_congestion_setting_type, &setting, octets);
}

unsigned int cc_blocks(const struct cc_values *values, uint8_t table_cap, bool *cut)
{
	unsigned int wanted = MAX((values->n_table + CC_BLOCK - 1) / CC_BLOCK, 1);

	*cut = MAX(table_cap, 1) < wanted && !values->has_short;
	return MIN(MAX(table_cap, 1), wanted);
}

/*
 * CCTI_Limit counts from the beginning of the table. Blocks are sent in ascending order, and each
 * has the limit that the table has with it: some devices take it for that of all they have so far,
 * others for that of the whole table.
 */
static void put_block(const struct iba_congestion_control_entry *entries, unsigned int block,
		      unsigned int n, uint8_t *octets)
{
	struct iba_congestion_control_table table = {0};
	unsigned int first = block * CC_BLOCK;
	unsigned int rest = n > first ? MIN(n - first, CC_BLOCK) : 0;

	if (n)
		table.ccti_limit = (uint16_t)(MIN(n, first + CC_BLOCK) - 1);
	for (unsigned int i = 0; i < rest; i++)
		table.entry[i] = entries[first + i];
	memset(octets, 0, CC_CA_OCTETS);
	wire_encode(&iba_congestion_control_table_type, &table, octets);
}

void cc_settings_of_ca(const struct cc_values *values, unsigned int blocks, uint8_t *octets)
{
	bool is_short = values->has_short && blocks == 1;
	unsigned int n = MIN(values->n_table, blocks * CC_BLOCK);

	memset(octets, 0, CC_CA_OCTETS);
	wire_encode(&iba_ca_congestion_setting_type, &values->of_ca, octets);
	for (unsigned int block = 0; block < blocks; block++)
		put_block(is_short ? values->short_table : values->table, block, n,
			  octets + cc_piece_at(1 + block));
}

static void put16(uint8_t *octets, unsigned int number)
{
	octets[0] = (uint8_t)(number >> 8);
	octets[1] = (uint8_t)number;
}

/*
 * Octets go back as they came, also those that are reserved: an older device has something there.
 * ControlMap says that all of it counts, and CCTI_Limit is as in put_block().
 */
unsigned int cc_settings_again(bool is_switch, const uint8_t *had, unsigned int pieces,
			       uint8_t *octets)
{
	struct iba_congestion_control_table table = {0};
	unsigned int n = 0;

	if (is_switch) {
		memcpy(octets, had, CC_SWITCH_OCTETS);
		put16(octets, 0);
		put16(octets + 2, ALL_OF_A_SWITCH);
		return 1;
	}
	memcpy(octets, had, cc_piece_at(pieces));
	put16(octets + 2, ALL_SLS);
	for (unsigned int piece = 1; piece < pieces; piece++) {
		wire_decode(&iba_congestion_control_table_type, had + cc_piece_at(piece), &table);
		n = MAX(n, MIN(table.ccti_limit + 1u, (pieces - 1) * CC_BLOCK));
	}
	pieces = 1 + (n + CC_BLOCK - 1) / CC_BLOCK;
	for (unsigned int piece = 1; piece < pieces; piece++)
		put16(octets + cc_piece_at(piece), MIN(n, piece * CC_BLOCK) - 1);
	return pieces;
}

/* ControlMap bits and the octets that they stand for (A10.4.3.6). */
static const struct {
	uint8_t map, at, n;
} switch_fields[] = {
	{MAP_VICTIM, 4, MASK_OCTETS}, {MAP_CREDIT, 36, MASK_OCTETS}, {MAP_THRESHOLD, 68, 2},
	{MAP_STARVATION, 70, 4},      {MAP_MARKING, 74, 2},
};

void cc_settings_without(bool is_switch, const uint8_t *wanted, unsigned int pieces,
			 uint8_t *octets)
{
	unsigned int map = (unsigned int)wanted[2] << 8 | wanted[3]; /* of both, the low half */

	if (is_switch) {
		for (unsigned int i = 0; i < G_N_ELEMENTS(switch_fields); i++)
			if (map & switch_fields[i].map)
				memset(octets + switch_fields[i].at, 0, switch_fields[i].n);
		return;
	}
	for (unsigned int sl = 0; sl < 16; sl++)
		if (map >> sl & 1)
			memset(octets + 4 + 8 * sl, 0, 8);
	put16(octets, 0);
	memset(octets + cc_piece_at(1), 0, cc_piece_at(pieces) - cc_piece_at(1));
}

/* ---- comparing ---- */

static bool switch_is(const struct iba_switch_congestion_setting *a,
		      const struct iba_switch_congestion_setting *b)
{
	uint32_t map = a->control_map;

	return (!(map & MAP_VICTIM) || !memcmp(a->victim_mask, b->victim_mask, MASK_OCTETS)) &&
	       (!(map & MAP_CREDIT) || !memcmp(a->credit_mask, b->credit_mask, MASK_OCTETS)) &&
	       (!(map & MAP_THRESHOLD) ||
		(a->threshold == b->threshold && a->packet_size == b->packet_size)) &&
	       (!(map & MAP_STARVATION) || (a->cs_threshold == b->cs_threshold &&
					    a->cs_return_delay == b->cs_return_delay)) &&
	       (!(map & MAP_MARKING) || a->marking_rate == b->marking_rate);
}

static bool ca_is(const struct iba_ca_congestion_setting *a,
		  const struct iba_ca_congestion_setting *b)
{
	if (a->port_control != b->port_control)
		return false;
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(a->sl); sl++)
		if (a->control_map >> sl & 1 &&
		    (a->sl[sl].ccti_timer != b->sl[sl].ccti_timer ||
		     a->sl[sl].ccti_increase != b->sl[sl].ccti_increase ||
		     a->sl[sl].trigger_threshold != b->sl[sl].trigger_threshold ||
		     a->sl[sl].ccti_min != b->sl[sl].ccti_min))
			return false;
	return true;
}

static bool block_is(const struct iba_congestion_control_table *a,
		     const struct iba_congestion_control_table *b, unsigned int block, bool is_last)
{
	unsigned int n = a->ccti_limit + 1u - MIN(a->ccti_limit + 1u, block * CC_BLOCK);

	if (is_last && a->ccti_limit != b->ccti_limit)
		return false;
	for (unsigned int i = 0; i < MIN(n, CC_BLOCK); i++)
		if (a->entry[i].cct_shift != b->entry[i].cct_shift ||
		    a->entry[i].cct_multiplier != b->entry[i].cct_multiplier)
			return false;
	return true;
}

bool cc_piece_is(bool is_switch, unsigned int piece, unsigned int n, const uint8_t *wanted,
		 const uint8_t *has)
{
	union {
		struct iba_switch_congestion_setting sw;
		struct iba_ca_congestion_setting ca;
		struct iba_congestion_control_table table;
	} a, b;
	const struct wire_type *type = is_switch ? &iba_switch_congestion_setting_type
				       : piece	 ? &iba_congestion_control_table_type
						 : &iba_ca_congestion_setting_type;

	wire_decode(type, wanted + cc_piece_at(piece), &a);
	wire_decode(type, has + cc_piece_at(piece), &b);
	if (is_switch)
		return switch_is(&a.sw, &b.sw);
	return piece ? block_is(&a.table, &b.table, piece - 1, piece + 1 == n)
		     : ca_is(&a.ca, &b.ca);
}
