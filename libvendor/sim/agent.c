// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Agents: the rules of the kernel's MAD layer, which clients of a port rely on.
 *
 * - A response goes to the agent whose number is in the high half of its TransactionID, if that
 *   agent waits for it; an agent registered without RMPP that exchanges multi-packet messages by
 *   itself gets all their packets.
 * - Anything else goes to the one agent of the port that registered its class, class version and
 *   method, and for vendor classes 0x30 to 0x4F the OUI.
 * - A request is sent again each time its timeout passes, at most retries times, and then returned.
 */
#include <errno.h>
#include <string.h>

#include "complib/hash.h"
#include "libvendor/sim/agent.h"

#define VERSIONS_MAX 0x83 /* class versions that can be registered: below this */
#define CLASSES_MAX 80	  /* and classes, except 0x81 */
#define OUI_AT 37	  /* three octets after the RMPP header */

static bool is_oui_class(uint8_t mgmt_class)
{
	return mgmt_class >= IBA_CLASS_VENDOR_OUI_FIRST && mgmt_class <= IBA_CLASS_VENDOR_OUI_LAST;
}

static bool is_response(const uint8_t *mad)
{
	return mad[SIM_MAD_METHOD] & IBA_METHOD_RESPONSE ||
	       mad[SIM_MAD_METHOD] == IBA_METHOD_TRAP_REPRESS ||
	       (mad[SIM_MAD_CLASS] == IBA_CLASS_BM && sim_read32(mad + SIM_MAD_MODIFIER) & 1);
}

/* ---- registration ---- */

static bool filter_is_valid(const struct agent_filter *filter)
{
	uint8_t mgmt_class = filter->mgmt_class;

	if (filter->qpn > IBA_QP1 || filter->rmpp_version > IBA_RMPP_VERSION)
		return false;
	if (!mgmt_class)
		return true;
	if (mgmt_class >= CLASSES_MAX && mgmt_class != IBA_CLASS_SUBN_DIRECTED)
		return false;
	if (filter->class_version >= VERSIONS_MAX && filter->class_version != AGENT_ANY_VERSION)
		return false;
	if (is_oui_class(mgmt_class) && (!filter->oui || filter->oui > 0xFFFFFF))
		return false;
	if (filter->rmpp_version && !rmpp_class(mgmt_class))
		return false;
	return iba_class_is_smp(mgmt_class) == (filter->qpn == IBA_QP0);
}

/* Whether both would get the same MAD. */
static bool filters_overlap(const struct agent_filter *a, const struct agent_filter *b)
{
	return a->mgmt_class == b->mgmt_class &&
	       (a->class_version == b->class_version || a->class_version == AGENT_ANY_VERSION ||
		b->class_version == AGENT_ANY_VERSION) &&
	       (!is_oui_class(a->mgmt_class) || a->oui == b->oui) &&
	       (a->methods[0] & b->methods[0] || a->methods[1] & b->methods[1]);
}

static bool filter_is_taken(const struct sim_port *port, const struct agent_filter *filter)
{
	for (GSList *item = port->agents; item; item = item->next) {
		const struct agent *agent = item->data;

		for (unsigned int i = 0; i < agent->filters->len; i++)
			if (filters_overlap(filter,
					    &g_array_index(agent->filters, struct agent_filter, i)))
				return true;
	}
	return false;
}

int agent_register(struct agent *agent, const struct agent_filter *filter)
{
	if (!filter_is_valid(filter) || filter_is_taken(agent->port, filter))
		return -EINVAL;
	g_array_append_val(agent->filters, *filter);
	return 0;
}

const struct agent_filter *agent_filter(const struct agent *agent, uint8_t mgmt_class)
{
	for (unsigned int i = 0; i < agent->filters->len; i++) {
		const struct agent_filter *filter =
			&g_array_index(agent->filters, struct agent_filter, i);

		if (filter->mgmt_class == mgmt_class ||
		    (!filter->mgmt_class &&
		     iba_class_is_smp(mgmt_class) == (filter->qpn == IBA_QP0)))
			return filter;
	}
	return NULL;
}

static bool filter_takes(const struct agent_filter *filter, const uint8_t *mad)
{
	unsigned int method = mad[SIM_MAD_METHOD] & (AGENT_METHODS - 1);

	return filter->mgmt_class == mad[SIM_MAD_CLASS] &&
	       filter->methods[method / 64] >> method % 64 & 1 &&
	       (filter->class_version == mad[SIM_MAD_CLASS_VERSION] ||
		filter->class_version == AGENT_ANY_VERSION) &&
	       (!is_oui_class(filter->mgmt_class) ||
		filter->oui == sim_read32(mad + OUI_AT - 1) % (1U << 24));
}

/* The agent that takes an unsolicited MAD. */
static struct agent *taker(const struct sim_port *port, const uint8_t *mad)
{
	for (GSList *item = port->agents; item; item = item->next) {
		struct agent *agent = item->data;

		for (unsigned int i = 0; i < agent->filters->len; i++)
			if (filter_takes(&g_array_index(agent->filters, struct agent_filter, i),
					 mad))
				return agent;
	}
	return NULL;
}

bool sim_client_takes(const struct sim_port *port, const struct sim_packet *packet)
{
	return taker(port, packet->data) != NULL;
}

/* ---- to the agent ---- */

struct vendor_address agent_remote(const struct sim_packet *packet)
{
	const struct sim_port *port = sim_end_port(packet->node, packet->port);
	struct vendor_address remote = packet->grh;

	remote.lid = packet->slid;
	/* The port's LID by which it arrived: an answer is sent from that. */
	if (packet->dlid != IBA_LID_PERMISSIVE)
		remote.path_bits = packet->dlid & ((1U << port->info.lmc) - 1);
	remote.sl = packet->sl;
	remote.qpn = packet->src_qp;
	remote.qkey = packet->q_key;
	return remote;
}

void agent_hand_over(struct agent *agent, const struct vendor_address *remote, const uint8_t *data,
		     size_t length)
{
	agent->sim->counters.mads_received++;
	agent->receive(agent->arg, VENDOR_RECEIVED, remote, data, length);
}

static void hand_over(struct agent *agent, const struct sim_packet *packet)
{
	const struct vendor_address remote = agent_remote(packet);

	agent_hand_over(agent, &remote, packet->data, IBA_MAD_BYTES);
}

/* ---- waiting requests ---- */

static uint64_t pending_key(const uint8_t *data)
{
	return (uint64_t)data[SIM_MAD_CLASS] << 32 | sim_read32(data + SIM_MAD_TID + 4);
}

struct sim_pending *agent_pending(const struct agent *agent, const uint8_t *mad)
{
	uint64_t key = pending_key(mad);

	return g_hash_table_lookup(agent->pending, &key);
}

static void pending_release(struct sim_pending *pending)
{
	struct sim *sim = pending->agent->sim;

	timer_stop(&pending->timer);
	g_clear_pointer(&pending->message, g_free);
	pending->next = sim->free_pending;
	sim->free_pending = pending;
}

void agent_pending_end(struct sim_pending *pending)
{
	g_hash_table_remove(pending->agent->pending, &pending->key);
	pending_release(pending);
}

void agent_pending_wait(struct sim_pending *pending)
{
	struct sim *sim = pending->agent->sim;
	uint64_t late = sim->config.timeout_delay_ns;

	if (late)
		late = sim_draw(sim) % (late + 1);
	timer_start(&pending->timer, pending->timeout_ms * NS_PER_MS + late);
}

/* Whether this request still waits: while it was sent, anything may have happened. */
static bool pending_lasts(const struct agent *agent, uint64_t key, uint64_t serial)
{
	const struct sim_pending *pending = g_hash_table_lookup(agent->pending, &key);

	return pending && pending->serial == serial;
}

/* Used for the first sending and for retries: one packet, or the segments of a message. */
static void pending_send(struct sim_pending *pending)
{
	struct agent *agent = pending->agent;
	uint64_t key = pending->key, serial = pending->serial;

	if (pending->message) {
		const struct agent_send send = {
			.to = pending->to,
			.timeout_ms = pending->timeout_ms,
			.retries = pending->retries,
			.data = pending->message,
			.length = pending->length,
		};

		/*
		 * The timeout starts when the message is delivered, or now if an equal one is in
		 * progress.
		 */
		if (agent_rmpp_send(agent, &send) != 0)
			agent_pending_wait(pending);
		return;
	}
	agent_send_packet(agent, &pending->to, pending->data, IBA_MAD_BYTES);
	/* Usually the response is already there, and no timer is needed. */
	if (pending_lasts(agent, key, serial))
		agent_pending_wait(pending);
}

static void pending_fire(struct timer *timer)
{
	struct sim_pending *pending = (struct sim_pending *)timer;
	struct agent *agent = pending->agent;

	if (pending->retries) {
		pending->retries--;
		pending_send(pending);
		return;
	}
	agent->receive(agent->arg, VENDOR_TIMED_OUT, &pending->to, pending->data, IBA_MAD_BYTES);
	agent_pending_end(pending);
}

static struct sim_pending *pending_new(struct agent *agent, const struct agent_send *send)
{
	struct sim *sim = agent->sim;
	struct sim_pending *pending = sim->free_pending;
	size_t octets = MIN(send->length, IBA_MAD_BYTES);

	if (pending) {
		sim->free_pending = pending->next;
	} else {
		pending = g_new0(struct sim_pending, 1);
		timer_init(&pending->timer, sim->actor, pending_fire);
	}
	pending->key = pending_key(send->data);
	pending->agent = agent;
	pending->to = send->to;
	pending->timeout_ms = send->timeout_ms;
	pending->retries = send->retries;
	pending->serial = ++sim->pending_serial;
	memcpy(pending->data, send->data, octets);
	memset(pending->data + octets, 0, IBA_MAD_BYTES - octets);
	g_hash_table_insert(agent->pending, &pending->key, pending);
	sim->counters.outstanding_max =
		MAX(sim->counters.outstanding_max, g_hash_table_size(agent->pending));
	return pending;
}

/* ---- from the fabric ---- */

/* The agent given by the TransactionID of a response. */
static struct agent *requester(const struct sim_port *port, const struct sim *sim,
			       const uint8_t *mad)
{
	uint32_t number = sim_read32(mad + SIM_MAD_TID);
	struct agent *agent = g_hash_table_lookup(sim->agents, GUINT_TO_POINTER(number));

	return agent && agent->port == port ? agent : NULL;
}

/* Whether the agent leaves segmentation of this class to the port. */
static bool does_rmpp(const struct agent *agent, uint8_t mgmt_class)
{
	const struct agent_filter *filter = agent_filter(agent, mgmt_class);

	return filter && filter->rmpp_version && rmpp_class(mgmt_class);
}

static bool is_segment(const uint8_t *mad)
{
	return rmpp_class(mad[SIM_MAD_CLASS]) && rmpp_is_active(mad);
}

bool sim_client_response(struct sim_port *port, struct sim_packet *packet)
{
	struct agent *agent = requester(port, packet->sim, packet->data);
	struct sim_pending *pending;

	if (!agent)
		return false;
	if (is_segment(packet->data) && does_rmpp(agent, packet->data[SIM_MAD_CLASS]))
		return agent_rmpp_packet(agent, packet);
	pending = agent_pending(agent, packet->data);
	if (pending)
		agent_pending_end(pending);
	else if (!is_segment(packet->data))
		return false; /* too late */
	hand_over(agent, packet);
	return true;
}

bool sim_client_unsolicited(struct sim_port *port, struct sim_packet *packet)
{
	struct agent *agent = taker(port, packet->data);

	if (!agent)
		return false;
	if (is_segment(packet->data) && does_rmpp(agent, packet->data[SIM_MAD_CLASS]))
		return agent_rmpp_packet(agent, packet);
	hand_over(agent, packet);
	return true;
}

/* ---- sending ---- */

static void set_addresses(struct sim_packet *packet, const struct sim_port *port,
			  const struct vendor_address *to)
{
	unsigned int n;
	const uint16_t *p_keys = sma_p_keys(port, &n);
	bool directed = to->lid == IBA_LID_PERMISSIVE;

	packet->node = port->node;
	packet->port = port->number;
	packet->dlid = to->lid;
	packet->slid = directed ? IBA_LID_PERMISSIVE
				: port->info.lid | (to->path_bits & ((1U << port->info.lmc) - 1));
	packet->sl = to->sl;
	packet->p_key = to->p_key_index < n ? p_keys[to->p_key_index] : 0;
	packet->dest_qp = to->qpn;
	packet->src_qp = to->qpn == IBA_QP0 ? IBA_QP0 : IBA_QP1;
	packet->q_key = to->qkey;
	packet->grh = (struct vendor_address){0};
	if (to->has_grh) {
		packet->grh.has_grh = true;
		packet->grh.hop_limit = to->hop_limit;
		packet->grh.traffic_class = to->traffic_class;
		packet->grh.flow_label = to->flow_label;
		packet->grh.gid.prefix = port->info.gid_prefix;
		packet->grh.gid.guid = port->guid;
	}
}

void agent_send_packet(struct agent *agent, const struct vendor_address *to, const uint8_t *data,
		       size_t length)
{
	struct sim_packet *packet = sim_packet_new(agent->sim);

	set_addresses(packet, agent->port, to);
	memcpy(packet->data, data, length);
	memset(packet->data + length, 0, IBA_MAD_BYTES - length);
	/* A client may answer with the pointer as received, or already set for the way back. */
	if (sim_is_returning(packet))
		packet->data[SIM_MAD_HOP_POINTER] = packet->data[SIM_MAD_HOP_COUNT] + 1;
	sim_inject(packet);
}

/* A message to be segmented; an ACK, STOP or ABORT is a single packet. */
static bool is_message(const struct agent *agent, const struct agent_send *send)
{
	return is_segment(send->data) && send->length >= rmpp_headers(send->data[SIM_MAD_CLASS]) &&
	       send->data[RMPP_AT_TYPE] <= IBA_RMPP_DATA &&
	       does_rmpp(agent, send->data[SIM_MAD_CLASS]);
}

int agent_send(struct agent *agent, const struct agent_send *send)
{
	bool whole, request = !is_response(send->data);
	struct sim_pending *pending;

	if (send->length < RMPP_AT_VERSION)
		return -EINVAL;
	if (agent->port->node->refuses_sends)
		return -EIO;
	whole = is_message(agent, send);
	if (!whole && send->length > IBA_MAD_BYTES)
		return -EINVAL;
	if (request)
		sim_write32(send->data + SIM_MAD_TID, agent->number);
	if (request && send->timeout_ms && agent_pending(agent, send->data))
		return -EINVAL;
	agent->sim->counters.mads_sent++;
	if (request && send->timeout_ms) {
		pending = pending_new(agent, send);
		if (whole) {
			pending->message = g_memdup2(send->data, send->length);
			pending->length = send->length;
		}
		pending_send(pending);
	} else if (whole) {
		return agent_rmpp_send(agent, send);
	} else {
		agent_send_packet(agent, &send->to, send->data, send->length);
	}
	return 0;
}

/* ---- IsSM, making, freeing ---- */

void agent_set_is_sm(struct sim *sim, struct sim_port *port, bool on)
{
	uint32_t was = port->info.capability_mask;

	if (on)
		port->info.capability_mask |= IBA_PORT_CAP_SM;
	else
		port->info.capability_mask &= ~(uint32_t)IBA_PORT_CAP_SM;
	if (port->info.capability_mask != was)
		sim_trap_local_change(sim, port, 0);
}

struct agent *agent_new(struct sim *sim, struct sim_port *port, agent_receive_fn *receive,
			void *arg)
{
	struct agent *agent = g_new0(struct agent, 1);

	do /* after 2^32 agents numbers are reused */
		agent->number = ++sim->last_agent;
	while (!agent->number ||
	       g_hash_table_contains(sim->agents, GUINT_TO_POINTER(agent->number)));
	agent->sim = sim;
	agent->port = port;
	agent->receive = receive;
	agent->arg = arg;
	agent->filters = g_array_new(FALSE, FALSE, sizeof(struct agent_filter));
	agent->pending = g_hash_table_new(hash_uint64, g_int64_equal);
	agent_rmpp_init(agent);
	g_hash_table_insert(sim->agents, GUINT_TO_POINTER(agent->number), agent);
	port->agents = g_slist_append(port->agents, agent);
	return agent;
}

void agent_free(struct agent *agent)
{
	GHashTableIter iter;
	void *value;

	g_hash_table_iter_init(&iter, agent->pending);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		pending_release(value);
	g_hash_table_destroy(agent->pending);
	agent_rmpp_clear(agent);
	g_array_free(agent->filters, TRUE);
	agent->port->agents = g_slist_remove(agent->port->agents, agent);
	g_hash_table_remove(agent->sim->agents, GUINT_TO_POINTER(agent->number));
	g_free(agent);
}

void sim_agents_init(struct sim *sim)
{
	sim->agents = g_hash_table_new(NULL, NULL);
}

void sim_agents_clear(struct sim *sim)
{
	g_assert(g_hash_table_size(sim->agents) == 0);
	g_hash_table_destroy(sim->agents);
	while (sim->free_pending) {
		struct sim_pending *pending = sim->free_pending;

		sim->free_pending = pending->next;
		g_free(pending);
	}
}
