// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports that misbehave: conditions of ports are reported here, unhealthy.c judges them by the
 * policy, and this file carries out the actions.
 *
 *	report		a line of the log, status, the command unhealthy
 *	no_discover	discovery does not continue behind the port
 *	isolate		also, in the step ARM a link that is up is taken down: it comes up
 *			again in INIT and stays there
 *	disable		also, in ARM the port is switched off, and after its time on again
 *
 * Counts and actions apply to the switch port before the device; so a replaced device has to wait
 * as well. For a link between switches it is the end nearer to the SM.
 *
 * The SM's own cable is exempt. So are cables to switches and whole switches, if some node could be
 * reached only through them, unless the rule says cut_off; and when a switch disappears, actions on
 * cables between switches are revoked, as any of these may now be the last one.
 */
#include <inttypes.h>
#include <string.h>

#include "sm/health/health_private.h"
#include "sm/health/unhealthy.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "core/state/state_file.h"
#include "core/state/state_writer.h"
#include "sm/write/write.h"
#include "subnet/perf_alarms.h"

#define SAVE_NS NS_PER_S	      /* after a change */
#define SAVE_LATER_NS (10 * NS_PER_S) /* if only the remaining time changed */

struct port_health {
	struct sm *sm;
	struct unhealthy *unhealthy;
	char *file;	    /* NULL: nothing is stored */
	struct timer timer; /* for the next release, or to store and publish changes */
	bool changed;
	struct log_limit verdicts; /* lines that devices cause */
	uint64_t alarms_met;	   /* last_serial of the context->perf_alarms that were taken up */
	unsigned int links;	   /* of the subnet, when alarms are taken up */
};

static struct unhealthy_port *find(const struct sm *sm, const struct builder_port *port)
{
	return unhealthy_find(sm->faults->ports->unhealthy, port->node->guid, port->num);
}

/* "port 3 of 'leaf-0' (0x..), which leads to node 0x..", or "switch 'leaf-0' (0x..)" */
static char *name_of(const struct sm *sm, const struct unhealthy_port *port)
{
	const struct builder_node *node = builder_find(sm->builder, port->guid);
	g_autoptr(GString) text = g_string_new(port->num ? NULL : "switch ");
	char name[SM_NAME_SIZE];

	if (port->num)
		g_string_append_printf(text, "port %u of ", port->num);
	if (node)
		g_string_append(text, sm_node_name(node, name, sizeof(name)));
	else
		g_string_append_printf(text, "0x%016" PRIx64, port->guid);
	node = port->num ? builder_find(sm->builder, port->blamed) : NULL;
	if (node)
		g_string_append_printf(text, ", which leads to %s",
				       sm_node_name(node, name, sizeof(name)));
	return g_strdup(text->str);
}

/* ---- storing and publishing ---- */

static void soon(struct sm *sm, uint64_t delay)
{
	struct port_health *health = sm->faults->ports;
	uint64_t now = actor_now(sm->actor), next = unhealthy_next(health->unhealthy);

	if (health->changed)
		next = MIN(next, now + delay);
	if (next == UINT64_MAX || (timer_running(&health->timer) && health->timer.when <= next))
		return;
	timer_start(&health->timer, next - MIN(next, now));
}

static void publish(struct sm *sm)
{
	slot_publish(&sm->context->unhealthy_ports,
		     unhealthy_ports_new(sm->faults->ports->unhealthy));
	event_emit(&sm->context->bus, EVENT_UNHEALTHY_PORTS, 0);
}

static void save(struct sm *sm)
{
	struct port_health *health = sm->faults->ports;

	if (!health->changed)
		return;
	health->changed = false;
	if (!health->file || sm->dry)
		return;
	state_writer_put(sm->store.writer, health->file, "unhealthy ports",
			 unhealthy_format(health->unhealthy, actor_now(sm->actor)),
			 sm->options->fsync_high_avail_files, NULL, NULL);
}

static void changed(struct sm *sm)
{
	sm->faults->ports->changed = true;
	publish(sm);
	soon(sm, SAVE_NS);
}

/*
 * Whether a cable to a switch can be spared was decided in a fabric that may have changed: it is
 * only reported until that is decided again.
 */
static void soften(struct sm *sm)
{
	g_autoptr(GPtrArray) list = unhealthy_list(sm->faults->ports->unhealthy);

	for (guint i = 0; i < list->len; i++) {
		struct unhealthy_port *port = list->pdata[i];

		if (port->type != IBA_NODE_SWITCH || port->cut_off)
			continue;
		if (port->action == PORT_DISABLE)
			port->action = PORT_ENABLE;
		else if (port->action != PORT_ENABLE)
			port->action = PORT_REPORT;
	}
}

/* ---- verdicts ---- */

/* Discovery may continue behind it again, or no longer. */
static void look_at(struct sm *sm, const struct unhealthy_port *port)
{
	struct builder_node *node = builder_find(sm->builder, port->guid);

	if (!node)
		return;
	sweep_look_at(sm, node);
	for (unsigned int num = 1; !port->num && num <= node->info.num_ports; num++)
		if (node->ports[num].peer)
			sweep_look_at(sm, node->ports[num].peer->node);
}

/* The SM's own cable, either end of it, or a switch to which it is connected. */
static bool is_own(const struct sm *sm, const struct unhealthy_port *port)
{
	const struct builder_port *own = sm->builder->sm_port;
	const struct builder_port *ends[] = {own, own ? own->peer : NULL};

	for (unsigned int i = 0; i < G_N_ELEMENTS(ends); i++)
		if (ends[i] && ends[i]->node->guid == port->guid &&
		    (!port->num || ends[i]->num == port->num))
			return true;
	return false;
}

static bool is_part_of(const struct builder_port *port, const struct unhealthy_port *what)
{
	return port->node->guid == what->guid && (!what->num || what->num == port->num);
}

/* Whether nodes other than an excluded switch would be unreachable without it. */
static bool cuts_off(const struct sm *sm, const struct unhealthy_port *without)
{
	g_autoptr(GHashTable) met = g_hash_table_new(NULL, NULL);
	g_autoptr(GPtrArray) queue = g_ptr_array_new();
	const struct builder_port *own = sm->builder->sm_port;

	if (!own)
		return true;
	g_hash_table_add(met, own->node);
	g_ptr_array_add(queue, own->node);
	for (guint i = 0; i < queue->len; i++) {
		const struct builder_node *node = queue->pdata[i];
		bool forwards = builder_is_switch(node) || node == own->node;

		for (unsigned int num = 1; forwards && num <= node->info.num_ports; num++) {
			const struct builder_port *port = &node->ports[num], *peer = port->peer;

			if (peer && !is_part_of(port, without) && !is_part_of(peer, without) &&
			    g_hash_table_add(met, peer->node))
				g_ptr_array_add(queue, peer->node);
		}
	}
	return queue->len + !without->num < g_hash_table_size(sm->builder->nodes);
}

/* How many ports other than this one are excluded for a condition. */
static unsigned int count_excluded(const struct sm *sm, unsigned int condition,
				   const struct unhealthy_port *but)
{
	g_autoptr(GPtrArray) list = unhealthy_list(sm->faults->ports->unhealthy);
	unsigned int n = 0;

	for (guint i = 0; i < list->len; i++) {
		const struct unhealthy_port *port = list->pdata[i];

		n += port != but && port->condition == condition && port->action > PORT_REPORT &&
		     port->action <= PORT_DISABLE;
	}
	return n;
}

/* Whether the share of links is used up that may be excluded for their counters. */
static bool is_over_share(const struct sm *sm, const struct unhealthy_port *port)
{
	unsigned int others = count_excluded(sm, PORT_COUNTERS, port);

	return (others + 1) * 100ull >
	       (uint64_t)sm->faults->ports->links * sm->options->hm_unhealthy_ports_share;
}

/* Why only a report is allowed; NULL: other actions are too. */
static const char *objection(const struct sm *sm, const struct unhealthy_port *port)
{
	if (is_own(sm, port))
		return "it is the cable of the SM's own port";
	if (port->condition == PORT_COUNTERS && is_over_share(sm, port))
		return "no more links may be excluded at once (hm_unhealthy_ports_share)";
	if (port->type == IBA_NODE_SWITCH && !port->cut_off && cuts_off(sm, port))
		return "other nodes would be cut off, and its rule does not say cut_off";
	return NULL;
}

static void about_unhealthy(struct sm_about *out, const struct sm *sm,
			    const struct unhealthy_port *port)
{
	sm_about(out, "unhealthy", builder_find(sm->builder, port->guid), port->num);
	out->about.change = port_condition_word(port->condition);
	out->about.guid = port->guid;
	out->about.port = port->num;
}

static void judged(struct sm *sm, struct unhealthy_port *port)
{
	const struct builder_node *node = builder_find(sm->builder, port->blamed);
	const char *why_not = port->action > PORT_REPORT ? objection(sm, port) : NULL;
	g_autofree char *name = name_of(sm, port);
	struct sm_about about;
	unsigned int held_back;

	if (node)
		builder_called(node, port->name);
	about_unhealthy(&about, sm, port);
	if (log_limit_pass(&sm->faults->ports->verdicts, actor_now(sm->actor), 50, NS_PER_S,
			   &held_back))
		log_about(sm->log, LOG_ERROR, &about.about,
			  "unhealthy (%s): %s: %s; action %s%s%s%s",
			  port_condition_word(port->condition), name,
			  port_condition_text(port->condition), port_action_word(port->action),
			  why_not ? ", but only reported: " : "", why_not ? why_not : "",
			  held_back ? "; similar lines were suppressed" : "");
	if (why_not)
		port->action = PORT_REPORT;
	else if (port->action > PORT_REPORT)
		look_at(sm, port);
	changed(sm);
}

static void release_one(struct sm *sm, struct unhealthy_port *port, bool by_operator,
			const char *why)
{
	g_autofree char *name = name_of(sm, port);
	struct sm_about about;

	about_unhealthy(&about, sm, port);
	log_about(sm->log, LOG_INFO, &about.about, "no longer unhealthy: %s: %s", name, why);
	unhealthy_release(sm->faults->ports->unhealthy, port, by_operator, actor_now(sm->actor));
	look_at(sm, port);
	changed(sm);
}

/* With a switch, also the ports that lead to it, to which its action was copied. */
static void release(struct sm *sm, struct unhealthy_port *port, bool by_operator, const char *why)
{
	g_autoptr(GPtrArray) list = unhealthy_list(sm->faults->ports->unhealthy);

	release_one(sm, port, by_operator, why);
	for (guint i = 0; !port->num && i < list->len; i++) {
		struct unhealthy_port *other = list->pdata[i];

		if (other->num && other->blamed == port->guid)
			release_one(sm, other, by_operator, "it leads to that switch");
	}
}

static void on_timer(struct timer *timer)
{
	struct port_health *health = container_of(timer, struct port_health, timer);
	struct sm *sm = health->sm;
	g_autoptr(GPtrArray) list = unhealthy_list(health->unhealthy);
	uint64_t now = actor_now(sm->actor);

	for (guint i = 0; i < list->len; i++) {
		struct unhealthy_port *port = list->pdata[i];

		if (port->until_ns <= now && port->action != PORT_IGNORE)
			release(sm, port, false, "its time passed without another event");
	}
	publish(sm);
	save(sm);
	soon(sm, SAVE_NS);
}

/* ---- reported conditions ---- */

/* The port that stands for the blamed node, see above; NULL: there is none. */
static const struct builder_port *gate_of(const struct builder_port *port)
{
	const struct builder_port *peer = port->peer;

	if (!builder_is_switch(port->node))
		return peer && builder_is_switch(peer->node) ? peer : NULL;
	if (port->num && peer && builder_is_switch(peer->node) &&
	    peer->node->hops < port->node->hops)
		return peer;
	return port;
}

static struct port_rule rule_of(const struct sm *sm, unsigned int condition, uint8_t type)
{
	struct ports_policy *policy = slot_take(&sm->context->ports_policy);
	struct port_rule rule = policy->rules[condition][type];

	ports_policy_unref(policy);
	if (condition == PORT_BABBLING) {
		rule.action = sm->options->babbling_port_policy ? PORT_DISABLE : PORT_IGNORE;
		rule.release = 0;
	} else if (!sm->options->hm_unhealthy_ports_checks) {
		rule.action = PORT_IGNORE;
	}
	return rule;
}

void port_health_event(struct sm *sm, const struct builder_port *port, unsigned int condition)
{
	const struct builder_port *gate = gate_of(port);
	struct unhealthy *unhealthy = sm->faults->ports->unhealthy;
	struct unhealthy_port who = {0}, *verdict;
	const struct builder_node *blamed;
	struct port_rule rule;

	if (!gate || !sm_is_master(sm))
		return;
	who.guid = gate->node->guid;
	who.num = gate->num;
	blamed = !gate->num ? gate->node : gate->peer ? gate->peer->node : NULL;
	who.blamed = blamed ? blamed->guid : 0;
	who.type =
		blamed ? blamed->info.node_type : unhealthy_last_type(unhealthy, who.guid, who.num);
	rule = rule_of(sm, condition, who.type);
	verdict = unhealthy_event(unhealthy, &who, condition, &rule, actor_now(sm->actor));
	if (verdict) {
		judged(sm, verdict);
	} else if (find(sm, gate)) {
		sm->faults->ports->changed = true; /* its time began again */
		soon(sm, SAVE_LATER_NS);
	}
}

void port_health_node(struct sm *sm, const struct builder_node *node, unsigned int condition)
{
	if (builder_is_switch(node))
		port_health_event(sm, &node->ports[0], condition);
	else if (node->entry)
		port_health_event(sm, node->entry, condition);
}

void port_health_fell(struct sm *sm, struct builder_port *port)
{
	struct builder_port *gate = gate_of(port) == port ? port : port->peer;

	if (builder_cable_is(gate, CABLE_FELL))
		return; /* the other end has reported it */
	builder_cable(gate, CABLE_EVENT_FELL);
	port_health_event(sm, gate, PORT_FLAPPING);
}

/*
 * Link changes are counted separately, and the sender of a trap about a wrong key is not to blame.
 */
static bool is_harmless(const struct iba_notice *notice)
{
	switch (notice->is_generic ? notice->trap_number : 0) {
	case IBA_TRAP_LINK_STATE_CHANGE:
	case IBA_TRAP_BAD_M_KEY:
	case IBA_TRAP_BAD_P_KEY:
	case IBA_TRAP_BAD_Q_KEY:
	case IBA_TRAP_SWITCH_BAD_P_KEY:
		return true;
	default:
		return false;
	}
}

void port_health_trap(struct sm *sm, const struct builder_port *from,
		      const struct iba_notice *notice)
{
	bool about_port = notice->is_generic && notice->trap_number >= IBA_TRAP_LINK_INTEGRITY &&
			  notice->trap_number <= IBA_TRAP_WATCHDOG;
	struct iba_trap_port details;

	if (is_harmless(notice))
		return;
	if (about_port && builder_is_switch(from->node)) {
		wire_decode(&iba_trap_port_type, notice->data_details, &details);
		if (details.port_num <= from->node->info.num_ports)
			from = &from->node->ports[details.port_num];
	}
	port_health_event(sm, from, PORT_NOISY_TRAPS);
	if (about_port)
		port_health_event(sm, from, PORT_BABBLING);
}

static unsigned int count_links(const struct sm *sm)
{
	GHashTableIter iter;
	const struct builder_node *node;
	unsigned int ends = 0;

	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			ends += node->ports[num].peer != NULL;
	return ends / 2;
}

/* The worst come first, so they are excluded if not all may be. */
void port_health_counters(struct sm *sm)
{
	struct perf_alarms *alarms = slot_take(&sm->context->perf_alarms);
	uint64_t met = sm->faults->ports->alarms_met;

	if (!alarms || alarms->last_serial == met || !sm_is_master(sm)) {
		perf_alarms_unref(alarms);
		return;
	}
	sm->faults->ports->links = count_links(sm);
	for (uint32_t i = 0; i < alarms->n; i++) {
		const struct perf_alarm *alarm = &alarms->all[i];
		const struct builder_node *node =
			alarm->unhealthy > met ? builder_find(sm->builder, alarm->guid) : NULL;

		if (node && alarm->port <= node->info.num_ports)
			port_health_event(sm, &node->ports[alarm->port], PORT_COUNTERS);
	}
	sm->faults->ports->alarms_met = alarms->last_serial;
	perf_alarms_unref(alarms);
}

/* ---- actions ---- */

/*
 * Findings of an SM elsewhere about a cable that is now this SM's own are not a reason to cut it.
 */
static bool is_excluded(const struct sm *sm, const struct unhealthy_port *port)
{
	return port && port->action >= PORT_NO_DISCOVER && port->action <= PORT_DISABLE &&
	       !is_own(sm, port);
}

bool port_health_excludes(struct sm *sm, const struct builder_port *port,
			  const struct builder_port *far)
{
	struct unhealthy *unhealthy = sm->faults->ports->unhealthy;
	const struct builder_port *own = sm->builder->sm_port;
	struct unhealthy_port *whole;

	if (!unhealthy_count(unhealthy) || port == own || far == own)
		return false;
	if (is_excluded(sm, find(sm, port)) || (far && is_excluded(sm, find(sm, far))))
		return true;
	whole = far && builder_is_switch(far->node) ? find(sm, &far->node->ports[0]) : NULL;
	if (!is_excluded(sm, whole))
		return false;
	if (unhealthy_copy(unhealthy, whole, port->node->guid, port->num))
		changed(sm);
	return true;
}

/* It is on again: nothing is left to do. */
void port_health_set(struct sm *sm, const struct builder_port *port)
{
	struct unhealthy_port *found = find(sm, port);

	if (!found || found->action != PORT_ENABLE ||
	    port->info.port_physical_state == IBA_PHYS_DISABLED)
		return;
	unhealthy_drop(sm->faults->ports->unhealthy, found);
	changed(sm);
}

bool port_health_act(struct sm *sm, struct builder_port *port)
{
	const struct unhealthy_port *found = port->num ? find(sm, port) : NULL;
	bool off = port->info.port_physical_state == IBA_PHYS_DISABLED;
	bool excluded = is_excluded(sm, found);

	if (!found)
		return false;
	if (excluded && found->action == PORT_ISOLATE && port->info.port_state > IBA_PORT_INIT)
		port_send_states(sm, port, IBA_PORT_DOWN, IBA_PHYS_NO_CHANGE);
	else if (excluded && found->action == PORT_DISABLE && !off)
		port_send_states(sm, port, IBA_PORT_NO_CHANGE, IBA_PHYS_DISABLED);
	else if (found->action == PORT_ENABLE && off)
		port_send_states(sm, port, IBA_PORT_NO_CHANGE, IBA_PHYS_POLLING);
	port_health_set(sm, port);
	return excluded;
}

void port_health_switches_gone(struct sm *sm)
{
	g_autoptr(GPtrArray) list = unhealthy_list(sm->faults->ports->unhealthy);

	for (guint i = 0; i < list->len; i++) {
		struct unhealthy_port *port = list->pdata[i];

		if (is_excluded(sm, port) && port->num && port->type == IBA_NODE_SWITCH &&
		    !port->cut_off &&
		    !unhealthy_find(sm->faults->ports->unhealthy, port->blamed, 0))
			release(sm, port, true, "a switch is gone, and this port may lead to it");
	}
}

void port_health_operator(struct sm *sm, uint64_t id)
{
	g_autoptr(GPtrArray) list = unhealthy_list(sm->faults->ports->unhealthy);

	for (guint i = 0; i < list->len; i++) {
		struct unhealthy_port *port = list->pdata[i];

		if ((!id || port->id == id) && port->action != PORT_IGNORE)
			release(sm, port, true, "released by the operator");
	}
}

void port_health_init(struct sm *sm)
{
	struct port_health *health = sm->faults->ports = g_new0(struct port_health, 1);
	const char *directory = sm->context->cache_dir;

	health->sm = sm;
	health->unhealthy = unhealthy_new();
	timer_init(&health->timer, sm->actor, on_timer);
	if (directory) {
		health->file = g_build_filename(directory, "unhealthy-ports", NULL);
		unhealthy_load(health->unhealthy, health->file, sm->log, actor_now(sm->actor));
		soften(sm);
	}
	publish(sm);
	soon(sm, SAVE_NS);
}

void port_health_stop(struct sm *sm)
{
	timer_stop(&sm->faults->ports->timer);
	save(sm);
}

void port_health_free(struct port_health *health)
{
	unhealthy_free(health->unhealthy);
	g_free(health->file);
	g_free(health);
}
