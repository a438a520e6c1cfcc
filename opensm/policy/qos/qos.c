// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Converts the qos options to tables, and these to the tables of a port with its lanes and entries.
 */
#include "policy/qos/qos.h"

#include <stdlib.h>
#include <string.h>

#include "iba/constants.h"

#define VLS_MAX 15

/* The five options with one prefix. */
struct settings {
	uint32_t max_vls;
	int32_t high_limit;
	const char *vlarb_high, *vlarb_low, *sl2vl;
};

#define SETTINGS(options, prefix)                                                                  \
	{                                                                                          \
		(options)->prefix##_max_vls, (options)->prefix##_high_limit,                       \
			(options)->prefix##_vlarb_high, (options)->prefix##_vlarb_low,             \
			(options)->prefix##_sl2vl                                                  \
	}

static const struct settings built_in = {
	.max_vls = VLS_MAX,
	.high_limit = 0,
	.vlarb_high = "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0",
	.vlarb_low = "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4",
	.sl2vl = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7",
};

static void fall_back(struct settings *settings, const struct settings *to)
{
	if (!settings->max_vls)
		settings->max_vls = to->max_vls;
	if (settings->high_limit < 0)
		settings->high_limit = to->high_limit;
	if (!settings->vlarb_high)
		settings->vlarb_high = to->vlarb_high;
	if (!settings->vlarb_low)
		settings->vlarb_low = to->vlarb_low;
	if (!settings->sl2vl)
		settings->sl2vl = to->sl2vl;
}

/* The next number of a list that the options code has checked. */
static uint8_t next_number(const char **text)
{
	char *end;
	unsigned long number;

	*text += strspn(*text, " \t,:");
	number = strtoul(*text, &end, 0);
	*text = end;
	return (uint8_t)number;
}

static bool is_at_end(const char *text)
{
	return !text[strspn(text, " \t")];
}

static void read_entries(const char *text, struct iba_vl_arbitration_entry *entries)
{
	for (unsigned int i = 0; i < QOS_ARB_ENTRIES && !is_at_end(text); i++) {
		entries[i].vl = next_number(&text);
		entries[i].weight = next_number(&text);
	}
}

static void make_role(const struct settings *settings, struct qos_tables *tables)
{
	const char *sl2vl = settings->sl2vl;

	memset(tables, 0, sizeof(*tables));
	tables->vls = (uint8_t)MIN(settings->max_vls, VLS_MAX);
	tables->high_limit = (uint8_t)settings->high_limit;
	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		tables->vl[sl] = next_number(&sl2vl);
	read_entries(settings->vlarb_low, tables->low);
	read_entries(settings->vlarb_high, tables->high);
}

void qos_make(const struct options *options, struct qos *qos)
{
	struct settings all = SETTINGS(options, qos),
			roles[QOS_ROLES] = {
				[QOS_CA] = SETTINGS(options, qos_ca),
				[QOS_SWITCH_PORT_0] = SETTINGS(options, qos_sw0),
				[QOS_SWITCH] = SETTINGS(options, qos_swe),
				[QOS_ROUTER] = SETTINGS(options, qos_rtr),
			};

	fall_back(&all, &built_in);
	for (unsigned int role = 0; role < QOS_ROLES; role++) {
		fall_back(&roles[role], &all);
		make_role(&roles[role], &qos->of[role]);
	}
}

void qos_make_built_in(struct qos *qos)
{
	for (unsigned int role = 0; role < QOS_ROLES; role++)
		make_role(&built_in, &qos->of[role]);
}

bool qos_has_sl_to_vl(const struct iba_port_info *port, const struct iba_port_info *endport)
{
	return port->vl_cap > 1 || endport->capability_mask & IBA_PORT_CAP_SL_MAPPING;
}

unsigned int qos_vls(const struct qos_tables *tables, uint8_t operational_vls)
{
	static const uint8_t vls[] = {1, 1, 2, 4, 8, VLS_MAX}; /* code 0: unknown */

	return MIN(vls[MIN(operational_vls, G_N_ELEMENTS(vls) - 1)], tables->vls);
}

void qos_sl_to_vl(const uint8_t vl[QOS_SLS], unsigned int vls, struct iba_sl_to_vl_table *table)
{
	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		table->vl[sl] = vl[sl] == QOS_DROP ? QOS_DROP : (uint8_t)(vl[sl] % vls);
}

uint16_t qos_merge(struct iba_sl_to_vl_table *row, uint16_t sls, const uint8_t vl[QOS_SLS])
{
	uint16_t others = 0;

	for (unsigned int sl = 0; sl < QOS_SLS; sl++) {
		if (!(sls >> sl & 1) || row->vl[sl] == vl[sl])
			continue;
		others |= 1u << sl;
		row->vl[sl] = vl[sl];
	}
	return others;
}

void qos_arbitration(const struct qos_tables *tables, unsigned int vls, unsigned int block,
		     unsigned int cap, struct iba_vl_arbitration_table *table)
{
	const struct iba_vl_arbitration_entry *entries = block < 2 ? tables->low : tables->high;
	unsigned int first = block % 2 * QOS_PER_BLOCK;

	memset(table, 0, sizeof(*table));
	for (unsigned int i = 0; i < QOS_PER_BLOCK && first + i < MIN(cap, QOS_ARB_ENTRIES); i++) {
		table->entry[i] = entries[first + i];
		table->entry[i].vl %= vls;
	}
}
