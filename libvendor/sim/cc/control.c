// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What tests and the console do to congestion control agents, and see of them. */
#include <inttypes.h>
#include <string.h>

#include "libvendor/sim/cc/cc.h"

/* ---- what an agent is ---- */

uint32_t sim_cc_kinds(const struct sim *sim, unsigned int index)
{
	const struct sim_node *node = sim_node_at(sim, index);

	return node->cca ? node->cca->kinds : SIM_CC_DEFAULT;
}

static void tables_clear(struct sim_node *node)
{
	for (unsigned int i = 0; i <= node->num_ports; i++) {
		struct sim_cc *cc = node->ports[i].cc;

		if (!cc)
			continue;
		g_clear_pointer(&cc->table, g_free);
		cc->ccti_limit = 0;
		cc->filled = 0;
	}
}

void sim_cc_set(struct sim *sim, unsigned int index, uint32_t kinds)
{
	struct sim_node *node = sim_node_at(sim, index);
	unsigned int cap = cc_cap(node);

	cc_agent(sim, node)->kinds = kinds;
	if (cc_cap(node) != cap)
		tables_clear(node);
}

bool sim_cc_answer(struct sim *sim, unsigned int node, const struct sim_cc_rule *rule)
{
	struct sim_cca *cca = cc_agent(sim, sim_node_at(sim, node));
	unsigned int kept = 0;

	for (unsigned int i = 0; i < cca->n_rules; i++)
		if (cca->rules[i].attribute != rule->attribute ||
		    cca->rules[i].method != rule->method)
			cca->rules[kept++] = cca->rules[i];
	cca->n_rules = kept;
	if (rule->answer == SIM_CC_SERVE)
		return true;
	if (kept == SIM_CC_RULES_MAX)
		return false;
	cca->rules[cca->n_rules++] = *rule;
	return true;
}

void sim_cc_silence(struct sim *sim, unsigned int node, uint64_t ns)
{
	struct sim_cca *cca = cc_agent(sim, sim_node_at(sim, node));

	if (ns)
		timer_start(&cca->silence, ns);
	else
		timer_stop(&cca->silence);
}

bool sim_cc_set_info(struct sim *sim, unsigned int index, uint16_t congestion_info, uint8_t cap)
{
	struct sim_node *node = sim_node_at(sim, index);
	struct sim_cca *cca = cc_agent(sim, node);

	if (cap > SIM_CC_BLOCKS_MAX)
		return false;
	tables_clear(node);
	cca->has_info = true;
	cca->congestion_info = congestion_info;
	cca->cap = cap;
	return true;
}

void sim_cc_set_default(struct sim *sim, unsigned int index)
{
	struct sim_node *node = sim_node_at(sim, index);
	struct sim_cca *cca = cc_agent(sim, node);
	unsigned int cap = cc_cap(node);

	cca->kinds = SIM_CC_DEFAULT;
	cca->n_rules = 0;
	timer_stop(&cca->silence);
	cca->has_info = false;
	if (cc_cap(node) != cap)
		tables_clear(node);
}

void sim_cc_restart(struct sim *sim, unsigned int index)
{
	struct sim_node *node = sim_node_at(sim, index);

	sim_trap_clear_class(node, IBA_CLASS_CC);
	sim_cc_clear(node);
	node->cc_zero = actor_now(sim->actor);
}

/* ---- what it holds ---- */

void sim_cc_view(const struct sim *sim, unsigned int index, unsigned int number,
		 struct sim_cc_view *view)
{
	const struct sim_port *asked = sim_port_at(sim, index, number);
	const struct sim_node *node = asked->node;
	const struct sim_cc *cc = node->sw ? node->ports[0].cc : asked->cc;

	memset(view, 0, sizeof(*view));
	if (!cc)
		return;
	view->key = cc->key;
	view->lease_runs = timer_running(&cc->lease);
	view->class_port_info = cc->traps;
	view->switch_setting = cc->switch_setting;
	if (cc->ports)
		memcpy(view->port, cc->ports, (node->num_ports + 1U) * sizeof(view->port[0]));
	view->ca_setting = cc->ca_setting;
	view->ccti_limit = cc->ccti_limit;
	if (cc->table)
		memcpy(view->entry, cc->table,
		       cc_cap(node) * SIM_CC_ENTRIES_A_BLOCK * sizeof(view->entry[0]));
}

uint64_t sim_cc_requests(const struct sim *sim, unsigned int node, uint16_t attribute,
			 uint8_t method)
{
	const struct sim_cca *cca = sim_node_at(sim, node)->cca;
	unsigned int i = cc_attribute_index(attribute);

	if (!cca)
		return 0;
	return method == IBA_METHOD_SET ? cca->sets[i] : cca->gets[i];
}

/* ---- as text ---- */

static void append_mask(GString *text, const char *name, const uint8_t mask[32])
{
	unsigned int i = 0;

	while (i < 31 && !mask[i])
		i++;
	g_string_append_printf(text, " %s 0x", name);
	for (; i < 32; i++)
		g_string_append_printf(text, "%02X", mask[i]);
}

static void append_switch(GString *text, const struct sim_cc_view *view)
{
	const struct iba_switch_congestion_setting *setting = &view->switch_setting;

	g_string_append_printf(text, "switch: ControlMap 0x%X", setting->control_map);
	append_mask(text, "VictimMask", setting->victim_mask);
	append_mask(text, "CreditMask", setting->credit_mask);
	g_string_append_printf(
		text,
		" Threshold %u PacketSize %u CSThreshold %u CSReturnDelay %u:%u MarkingRate %u\n",
		setting->threshold, setting->packet_size, setting->cs_threshold,
		setting->cs_return_delay >> 14, setting->cs_return_delay & 0x3FFF,
		setting->marking_rate);
	for (unsigned int i = 0; i < G_N_ELEMENTS(view->port); i++) {
		const struct iba_switch_port_congestion_element *port = &view->port[i];

		if (port->valid)
			g_string_append_printf(
				text,
				"switch port %u: ControlType %u Threshold %u PacketSize %u "
				"CongParm %u\n",
				i, port->control_type, port->threshold, port->packet_size,
				port->cong_parm_marking_rate);
	}
}

static void append_ca(GString *text, const struct sim_cc_view *view)
{
	g_string_append_printf(text, "CA: PortControl 0x%04X ControlMap 0x%04X\n",
			       view->ca_setting.port_control, view->ca_setting.control_map);
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(view->ca_setting.sl); sl++) {
		const struct iba_ca_congestion_entry *entry = &view->ca_setting.sl[sl];

		if (entry->ccti_timer || entry->ccti_increase || entry->trigger_threshold ||
		    entry->ccti_min)
			g_string_append_printf(text,
					       "CA SL %u: CCTI_Timer %u CCTI_Increase %u "
					       "TriggerThreshold %u CCTI_Min %u\n",
					       sl, entry->ccti_timer, entry->ccti_increase,
					       entry->trigger_threshold, entry->ccti_min);
	}
	g_string_append_printf(text, "table: CCTI_Limit %u", view->ccti_limit);
	for (unsigned int i = 0; view->ccti_limit && i <= view->ccti_limit; i++)
		g_string_append_printf(text, "%c%u:%u", i ? ',' : ' ', view->entry[i].cct_shift,
				       view->entry[i].cct_multiplier);
	g_string_append_c(text, '\n');
}

static void append_traps(GString *text, const struct iba_class_port_info *info)
{
	if (info->trap_lid)
		g_string_append_printf(text,
				       "traps: LID %u QP 0x%x SL %u P_Key 0x%04x Q_Key 0x%08x\n",
				       info->trap_lid, info->trap_qp, info->trap_sl,
				       info->trap_p_key, info->trap_q_key);
}

void sim_cc_append_text(const struct sim *sim, unsigned int index, unsigned int port, GString *text)
{
	const struct sim_node *node = sim_node_at(sim, index);
	struct sim_cc_view view;

	sim_cc_view(sim, index, port, &view);
	g_string_append_printf(text, "key: %s ProtectBit %u LeasePeriod %u\n",
			       view.key.cc_key ? "set" : "none", view.key.cc_key_protect_bit,
			       view.key.cc_key_lease_period);
	append_traps(text, &view.class_port_info);
	if (node->sw)
		append_switch(text, &view);
	if (!node->sw || cc_is(node, SIM_CC_PORT0))
		append_ca(text, &view);
}
