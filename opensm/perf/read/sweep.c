// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A sweep of counters: agents that have something to ask are in a queue and are served in turn, at
 * most PERF_AT_ONCE requests to each and perfmgr_max_outstanding_queries to all, and never
 * so few free that other clients of mad_ask() would have to wait.
 */
#include <inttypes.h>
#include <string.h>

#include "core/options.h"
#include "perf/image/layout.h"
#include "perf/perf_private.h"

#define IN_FLIGHT_MAX 128 /* half of the window of mad_ask() */
#define TRIES_DEAF 0	  /* retries to an agent that has not answered for a sweep */

/* ---- agents ---- */

static guint hash_agent(const void *key)
{
	const struct perf_agent *agent = key;

	return g_int64_hash(&agent->guid) ^ agent->port;
}

static gboolean same_agent(const void *a, const void *b)
{
	const struct perf_agent *x = a, *y = b;

	return x->guid == y->guid && x->port == y->port;
}

static void free_agent(void *agent)
{
	perf_agent_free(agent);
}

static struct perf_agent *get_agent(struct perf *perf, uint64_t guid, uint8_t port)
{
	const struct perf_agent key = {.guid = guid, .port = port};
	struct perf_agent *agent;

	agent = g_hash_table_lookup(perf->agents, &key);
	if (agent)
		return agent;
	agent = perf_agent_new(guid, port);
	g_hash_table_add(perf->agents, agent);
	return agent;
}

static void place_agent(struct perf *perf, const struct perf_node *node, uint8_t port, uint32_t row,
			uint32_t n_rows)
{
	struct perf_agent *agent = get_agent(perf, node->guid, port);
	const struct fabric *fabric = perf->sweep.fabric;
	uint32_t in_fabric = fabric_node_by_guid(fabric, node->guid);
	uint16_t lid = node->active ? perf->accounts->now->layout->places[row].lid : 0;

	agent->first_row = row;
	agent->n_rows = n_rows;
	if (agent->lid && agent->lid != lid)
		perf_agent_forget(agent);
	agent->lid = lid;
	agent->suspect |= perf->resumed;
	if (in_fabric != FABRIC_NONE)
		perf_agent_live(agent, fabric->nodes[in_fabric].life);
}

static gboolean is_gone(void *key, void *value, void *arg)
{
	const struct perf_agent *agent = key;

	(void)value;
	return perf_layout_node(arg, agent->guid) == PERF_NONE;
}

/* An agent for each switch, and for each port of the others. */
static void place_agents(struct perf *perf)
{
	const struct perf_layout *layout = perf->accounts->now->layout;

	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		const struct perf_node *node = &layout->nodes[i];
		uint32_t n_rows = node->num_ports - node->first_port + 1u;

		if (node->type == IBA_NODE_SWITCH) {
			place_agent(perf, node, 0, node->first_row, n_rows);
			continue;
		}
		for (uint32_t port = 0; port < n_rows; port++)
			place_agent(perf, node, node->first_port + port, node->first_row + port, 1);
	}
	g_hash_table_foreach_remove(perf->agents, is_gone, (void *)layout);
}

/* ---- requests ---- */

static void update_status(struct perf *perf)
{
	struct perf_sweep *sweep = &perf->sweep;
	unsigned int in_flight = atomic_load(&perf->in_flight);
	enum perf_sweep_state state = PERF_SLEEPING;

	if (sweep->runs && g_queue_is_empty(&sweep->ready))
		state = PERF_POST_PROCESSING;
	else if (sweep->runs)
		state = in_flight >= sweep->in_flight_max ? PERF_SUSPENDED : PERF_ACTIVE;
	atomic_store(&perf->sweep_state, state);
}

static void queue(struct perf_sweep *sweep, struct perf_agent *agent)
{
	if (agent->queued)
		return;
	agent->queued = true;
	g_queue_push_tail(&sweep->ready, agent);
}

static void on_done(struct mad_ask *ask);

static void send(struct perf *perf, struct perf_agent *agent, const struct perf_step *step)
{
	struct perf_request *request = g_new0(struct perf_request, 1);
	struct mad_ask *ask = &request->ask;
	const struct options *options = perf->sweep.options;
	bool redirected = agent->redirect.lid != 0;

	request->perf = perf;
	request->agent = agent;
	request->step = *step;
	ask->to = (struct vendor_address){
		.lid = redirected ? agent->redirect.lid : agent->lid,
		.sl = redirected ? agent->redirect.sl : options->sm_sl,
		.qpn = redirected ? agent->redirect.qpn : IBA_QP1,
		.qkey = redirected ? agent->redirect.qkey : IBA_QP1_Q_KEY,
		.p_key_index = redirected ? agent->redirect.p_key_index : 0,
	};
	ask->mgmt_class = IBA_CLASS_PERF;
	ask->class_version = IBA_PERF_CLASS_VERSION;
	perf_agent_request(agent, &perf->sweep.plan, step, &ask->method, &ask->attribute,
			   ask->data + IBA_PM_DATA_OFFSET - iba_mad_header_bytes);
	ask->retries = agent->silent_for ? TRIES_DEAF : options->transaction_retries;
	ask->hurry = true;
	ask->timeout_ms = options->transaction_timeout;
	ask->client = perf;
	ask->serial = perf->sweep.number;
	ask->owner = perf->actor;
	ask->done = on_done;
	atomic_fetch_add(&perf->in_flight, 1);
	mad_ask(perf->mad, ask);
}

static void finish(struct perf *perf);

/* Asks as much as may be in flight. */
static void pump(struct perf *perf)
{
	struct perf_sweep *sweep = &perf->sweep;
	struct perf_agent *agent;

	while (atomic_load(&perf->in_flight) < sweep->in_flight_max &&
	       (agent = g_queue_pop_head(&sweep->ready))) {
		struct perf_step step = perf_agent_next(agent, &sweep->plan);

		agent->queued = false;
		if (step.question == PERF_ASK_NOTHING)
			continue;
		send(perf, agent, &step);
		if (agent->in_flight < PERF_AT_ONCE)
			queue(sweep, agent);
	}
	update_status(perf);
	if (sweep->runs && g_queue_is_empty(&sweep->ready) && !atomic_load(&perf->in_flight))
		finish(perf);
}

/* ---- redirection ---- */

/*
 * The index of a P_Key in the table of the SM's port; -1: it is not there. Of an unknown table, the
 * first entry is taken to be that of the default partition.
 */
static int p_key_index(const GArray *p_keys, uint16_t p_key)
{
	if (!p_keys)
		return (p_key & 0x7FFF) == 0x7FFF ? 0 : -1;
	for (guint i = 0; i < p_keys->len; i++)
		if ((g_array_index(p_keys, uint16_t, i) & 0x7FFF) == (p_key & 0x7FFF) &&
		    p_key & 0x7FFF)
			return (int)i;
	return -1;
}

/* Where a redirection leads, by LID or by GID; 0: to no port of this subnet. */
static uint16_t redirected_lid(const struct fabric *fabric, const struct iba_class_port_info *info)
{
	uint32_t port = info->redirect_lid ? fabric_port_by_lid(fabric, info->redirect_lid)
					   : fabric_port_by_guid(fabric, info->redirect_gid.guid);

	if (port == FABRIC_NONE)
		return 0;
	return info->redirect_lid ? info->redirect_lid : fabric->ports[port].lid;
}

static bool redirect(struct perf *perf, struct perf_agent *agent, const struct perf_step *step,
		     const uint8_t *data)
{
	struct iba_class_port_info info;
	uint16_t lid;
	int index;

	wire_decode(&iba_class_port_info_type, data, &info);
	lid = redirected_lid(perf->sweep.fabric, &info);
	index = p_key_index(perf->sweep.p_keys, info.redirect_p_key);
	if (!perf->sweep.options->perfmgr_redir || !lid || !info.redirect_qp || index < 0)
		return false;
	if (!perf_agent_moved(agent, step))
		return false;
	agent->redirect.lid = lid;
	agent->redirect.sl = info.redirect_sl;
	agent->redirect.qpn = info.redirect_qp;
	agent->redirect.qkey = info.redirect_q_key;
	agent->redirect.p_key = info.redirect_p_key;
	agent->redirect.p_key_index = (uint16_t)index;
	log_verbose(perf->context->log,
		    "Redirection to LID %u GID 0x%016" PRIx64 ",0x%016" PRIx64 " QP 0x%x received",
		    info.redirect_lid, info.redirect_gid.prefix, info.redirect_gid.guid,
		    info.redirect_qp);
	return true;
}

/* ---- answers ---- */

static bool is_redirection(const struct mad_ask *ask)
{
	return ask->status & IBA_STATUS_REDIRECT && ask->answered == IBA_ATTR_CLASS_PORT_INFO;
}

static void take(struct perf *perf, struct perf_agent *agent, const struct perf_step *step,
		 const struct mad_ask *ask)
{
	/* ClassPortInfo is at the same place as counters. */
	const uint8_t *data = ask->data + IBA_PM_DATA_OFFSET - iba_mad_header_bytes;
	struct perf_plan *plan = &perf->sweep.plan;

	plan->now_ns = actor_now(perf->actor);
	if (ask->result == MAD_OK)
		perf_agent_answer(agent, plan, step, data);
	else if (ask->result != MAD_STATUS)
		perf_agent_silence(agent, plan, step);
	else if (!is_redirection(ask) || !redirect(perf, agent, step, data))
		perf_agent_refusal(agent, plan, step, ask->status);
}

static void on_done(struct mad_ask *ask)
{
	struct perf_request *request = (struct perf_request *)ask;
	struct perf *perf = request->perf;

	atomic_fetch_sub(&perf->in_flight, 1);
	perf->sweep.mads += ask->sent;
	atomic_fetch_add(&perf->mads_total, ask->sent);
	take(perf, request->agent, &request->step, ask);
	queue(&perf->sweep, request->agent);
	g_free(request);
	pump(perf);
}

/* ---- the sweep ---- */

static bool may_sweep(const struct perf *perf)
{
	unsigned int state = atomic_load(&perf->context->sm_state);

	return atomic_load(&perf->enabled) &&
	       (state == IBA_SM_MASTER ||
		(perf->options->perfmgr_standby &&
		 (state == IBA_SM_STANDBY || state == IBA_SM_NOT_ACTIVE)));
}

/* That of the published subnet; as STANDBY, what the SM has seen last, if anything. */
static void take_fabric(struct perf *perf)
{
	struct perf_sweep *sweep = &perf->sweep;
	struct subnet *subnet;

	if (atomic_load(&perf->context->sm_state) != IBA_SM_MASTER)
		sweep->fabric = slot_take(&perf->context->seen);
	if (sweep->fabric)
		return;
	subnet = slot_take(&perf->context->subnet);
	if (!subnet)
		return;
	sweep->fabric = fabric_ref(subnet->fabric);
	sweep->p_keys = subnet->sm_p_keys ? g_array_ref(subnet->sm_p_keys) : NULL;
	subnet_unref(subnet);
}

static void take_layout(struct perf *perf, struct perf_layout *layout)
{
	if (!perf->accounts)
		perf->accounts = perf_accounts_new(layout);
	else
		perf_accounts_move(perf->accounts, layout);
	perf_layout_unref(layout);
}

static void take_subnet(struct perf *perf)
{
	const struct perf_layout_wish wish = {
		.keep_gone = !atomic_load(&perf->rm_nodes),
		.ignore_cas = perf->options->perfmgr_ignore_cas,
		.now_us = perf_wall_us(perf),
	};

	if (perf->sweep.number == 1)
		resumed_take(perf);
	take_layout(perf,
		    perf_layout_make(perf->sweep.fabric,
				     perf->accounts ? perf->accounts->now->layout : NULL, &wish));
	place_agents(perf);
}

static void end(struct perf_sweep *sweep)
{
	sweep->runs = false;
	g_clear_pointer(&sweep->options, options_unref);
	g_clear_pointer(&sweep->fabric, fabric_unref);
	g_clear_pointer(&sweep->p_keys, g_array_unref);
}

/* In the order of rows, so that a seed gives the same run. */
static void queue_agents(struct perf *perf)
{
	const struct perf_layout *layout = perf->accounts->now->layout;

	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		const struct perf_node *node = &layout->nodes[i];
		bool is_switch = node->type == IBA_NODE_SWITCH;

		for (unsigned int port = is_switch ? 0 : node->first_port;
		     port <= (is_switch ? 0 : node->num_ports); port++) {
			struct perf_agent *agent = get_agent(perf, node->guid, port);

			perf_agent_begin(agent, &perf->sweep.plan);
			if (agent->lid)
				queue(&perf->sweep, agent);
		}
	}
}

void perf_sweep_now(struct perf *perf)
{
	struct perf_sweep *sweep = &perf->sweep;

	if (sweep->runs)
		return;
	if (!may_sweep(perf)) {
		perf_verdict_forget(perf->verdict);
		return;
	}
	take_fabric(perf);
	if (!sweep->fabric)
		return;
	sweep->runs = true;
	sweep->number++;
	sweep->mads = 0;
	perf_see_clock(perf);
	sweep->began_ns = actor_now(perf->actor);
	sweep->options = options_ref(perf->options);
	sweep->in_flight_max = MIN(atomic_load(&perf->in_flight_max), IN_FLIGHT_MAX);
	take_subnet(perf);
	perf_accounts_begin(perf->accounts);
	sweep->plan = (struct perf_plan){
		.accounts = perf->accounts,
		.options = sweep->options,
		.query_cpi = atomic_load(&perf->query_cpi),
		.sweep = sweep->number,
		.now_ns = sweep->began_ns,
	};
	queue_agents(perf);
	pump(perf);
}

static void take_ticks(struct perf *perf)
{
	const struct perf_layout *layout = perf->accounts->now->layout;
	g_autofree uint8_t *ticks = g_new(uint8_t, layout->n_rows);
	GHashTableIter iter;
	bool differ = false;
	void *key;

	for (uint32_t row = 0; row < layout->n_rows; row++)
		ticks[row] = layout->places[row].tick;
	g_hash_table_iter_init(&iter, perf->agents);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct perf_agent *agent = key;

		if (!agent->knows_tick || ticks[agent->first_row] == agent->tick)
			continue;
		differ = true;
		memset(ticks + agent->first_row, agent->tick, agent->n_rows);
	}
	if (differ)
		take_layout(perf, perf_layout_with_ticks(layout, ticks));
}

static void end_agents(struct perf *perf)
{
	unsigned int silent = 0, refusing = 0;
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, perf->agents);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		struct perf_agent *agent = key;

		if (!agent->lid)
			continue;
		perf_agent_end(agent, &perf->sweep.plan);
		silent += agent->silent_for != 0;
		refusing += agent->refused;
	}
	atomic_store(&perf->n_agents, g_hash_table_size(perf->agents));
	atomic_store(&perf->n_silent, silent);
	atomic_store(&perf->n_refusing, refusing);
}

/* Adds the image of this sweep, and compares it with the one before. */
static void judge(struct perf *perf)
{
	images_add(perf);
	perf_history_add(perf->history, perf->images->images[perf->images->n - 1]);
	if (perf_history_due(perf->history))
		perf_history_write(perf->history, resumed_save(perf));
	perf_verdict_sweep(perf->verdict, perf->images, actor_now(perf->actor));
	if (!may_sweep(perf)) /* any more */
		perf_verdict_forget(perf->verdict);
}

static void finish(struct perf *perf)
{
	struct perf_sweep *sweep = &perf->sweep;

	perf_accounts_end(perf->accounts);
	end_agents(perf);
	take_ticks(perf);
	judge(perf);
	atomic_store(&perf->took_us, (actor_now(perf->actor) - sweep->began_ns) / NS_PER_US);
	atomic_store(&perf->mads, sweep->mads);
	atomic_fetch_add(&perf->sweeps, 1);
	perf->resumed = false;
	end(sweep);
	update_status(perf);
	perf_obey_late(perf);
}

void perf_sweep_init(struct perf *perf)
{
	g_queue_init(&perf->sweep.ready);
	perf->agents = g_hash_table_new_full(hash_agent, same_agent, free_agent, NULL);
}

void perf_sweep_clear(struct perf *perf)
{
	end(&perf->sweep);
	g_queue_clear(&perf->sweep.ready);
	g_clear_pointer(&perf->agents, g_hash_table_unref);
	g_clear_pointer(&perf->accounts, perf_accounts_free);
}
