// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The settings of a CA that follows the text of annex A10 before its errata, as TrueScale adapters
 * do under Linux.
 *
 * CACongestionSetting has packed entries. It takes effect with the next block of the table that is
 * set, then for all SLs and always per SL; a Set is answered with what it contained. A block of the
 * table adds (CCTI_Limit mod 64) + 1 entries to it; one with a limit below 64 begins a new table. A
 * block beyond what was set cannot be read. For what the driver refuses, the kernel answers that it
 * does not know the attribute.
 */
#include <string.h>

#include "libvendor/sim/cc/cc.h"

#define PER_SL 1 /* in PortControl */

uint16_t cc_old_setting(struct cc_request *request)
{
	const struct iba_ca_congestion_setting *now = &request->cc->ca_setting;
	struct iba_ca_congestion_setting_packed shown = {
		.port_control = now->port_control,
		.control_map = now->control_map,
	};

	if (request->set) {
		wire_decode(&iba_ca_congestion_setting_packed_type, cc_data(request),
			    &request->cc->waiting);
		return IBA_STATUS_OK;
	}
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(now->sl); sl++)
		shown.sl[sl] = (struct iba_ca_congestion_entry_packed){
			.ccti_increase = now->sl[sl].ccti_increase,
			.ccti_timer = now->sl[sl].ccti_timer,
			.trigger_threshold = now->sl[sl].trigger_threshold,
			.ccti_min = now->sl[sl].ccti_min,
		};
	return cc_answer(request, &iba_ca_congestion_setting_packed_type, &shown);
}

static void take_effect(struct sim_cc *cc)
{
	struct iba_ca_congestion_setting *now = &cc->ca_setting;

	now->port_control = PER_SL;
	now->control_map = cc->waiting.control_map;
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(now->sl); sl++)
		now->sl[sl] = (struct iba_ca_congestion_entry){
			.ccti_increase = cc->waiting.sl[sl].ccti_increase,
			.ccti_timer = cc->waiting.sl[sl].ccti_timer,
			.trigger_threshold = cc->waiting.sl[sl].trigger_threshold,
			.ccti_min = cc->waiting.sl[sl].ccti_min,
		};
}

static uint16_t set_block(struct cc_request *request,
			  const struct iba_congestion_control_table_packed *wanted)
{
	struct sim_cc *cc = request->cc;
	unsigned int n = wanted->ccti_limit % SIM_CC_ENTRIES_A_BLOCK + 1;

	if (wanted->ccti_limit < SIM_CC_ENTRIES_A_BLOCK)
		cc->filled = 0;
	cc->filled += n;
	if (cc->filled > cc_cap(request->node) * SIM_CC_ENTRIES_A_BLOCK)
		return IBA_STATUS_UNSUP_METHOD_ATTR;
	memcpy(cc_table(request->port) + request->modifier * SIM_CC_ENTRIES_A_BLOCK, wanted->entry,
	       n * sizeof(wanted->entry[0]));
	cc->ccti_limit = (uint16_t)(cc->filled - 1);
	take_effect(cc);
	return IBA_STATUS_OK;
}

uint16_t cc_old_table(struct cc_request *request)
{
	struct iba_congestion_control_table_packed table;

	if (request->modifier >= cc_cap(request->node))
		return IBA_STATUS_UNSUP_METHOD_ATTR;
	if (request->set) {
		wire_decode(&iba_congestion_control_table_packed_type, cc_data(request), &table);
		return set_block(request, &table);
	}
	if (request->modifier > MAX((request->cc->ccti_limit + 1U) / SIM_CC_ENTRIES_A_BLOCK, 1) - 1)
		return IBA_STATUS_UNSUP_METHOD_ATTR;
	table.ccti_limit = (uint16_t)((request->modifier + 1) * SIM_CC_ENTRIES_A_BLOCK - 1);
	memcpy(table.entry, cc_table(request->port) + request->modifier * SIM_CC_ENTRIES_A_BLOCK,
	       sizeof(table.entry));
	return cc_answer(request, &iba_congestion_control_table_packed_type, &table);
}
