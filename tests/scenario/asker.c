// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A request that changes a registry is repeated with the same TransactionID until it is answered:
 * the SA must not do it twice meanwhile. Other requests are sent once.
 */
#include "asker.h"

#include <string.h>

#include "sa/admit/hold.h"

#define TIMEOUT_MS 500
#define GONE_NS (1500 * NS_PER_MS)

struct iba_gid asker_gid(const struct asker *asker)
{
	return (struct iba_gid){IBA_DEFAULT_GID_PREFIX,
				sim_port_guid(asker->s->sim, asker->node, 1)};
}

/* All askers share the groups. */
struct iba_gid asker_mgid(const struct thing *thing)
{
	return (struct iba_gid){UINT64_C(0xFF125A5A00000000), thing->number};
}

uint64_t asker_service_id(const struct asker *asker, const struct thing *thing)
{
	return UINT64_C(0x1000000) * asker->number + thing->number + 1;
}

uint16_t asker_trap(const struct thing *thing)
{
	static const uint16_t traps[] = {64, 65, 66, 67, 128, 144};

	return traps[thing->number % G_N_ELEMENTS(traps)];
}

/* ---- requests ---- */

static void send(struct asker *asker, struct asker_request *request)
{
	const struct vendor_address to = scenario_sa(asker->s, asker->node);

	request->out =
		vendor_send(asker->vendor, &to, request->wire, sizeof(request->wire), TIMEOUT_MS);
}

/* After BUSY, or no answer. The SA remembers a finished request for this time. */
static void send_again(struct asker *asker, struct asker_request *request)
{
	if (runtime_now(asker->s->rt) >= request->first_ns + SA_HOLD_NS)
		request->thing->state = THING_UNKNOWN;
	send(asker, request);
}

static void ask(struct asker *asker, struct asker_request *request, uint8_t method,
		uint16_t attribute, uint64_t mask, const struct wire_type *type, const void *record)
{
	struct iba_sa_mad mad = {
		.header =
			{
				.base_version = IBA_BASE_VERSION,
				.mgmt_class = IBA_CLASS_SUBN_ADM,
				.class_version = IBA_SA_CLASS_VERSION,
				.method = method,
				.attribute_id = attribute,
				.transaction_id = ++asker->tid,
			},
		.rmpp.rmpp_version = 1,
		.sa.component_mask = mask,
	};

	wire_encode(type, record, mad.data);
	wire_encode(&iba_sa_mad_type, &mad, request->wire);
	request->tid = asker->tid;
	request->first_ns = runtime_now(asker->s->rt);
	send(asker, request);
}

#define P(name) IBA_COMPONENT(path_record, name)

static void ask_path(struct asker *asker, struct asker_request *request, bool all)
{
	struct scenario *s = asker->s;
	const struct iba_path_record path = {
		.sgid = asker_gid(asker),
		.dgid = {IBA_DEFAULT_GID_PREFIX, sim_port_guid(s->sim, scenario_random_host(s), 1)},
		.numb_path = 1,
	};

	ask(asker, request, all ? IBA_METHOD_GET_TABLE : IBA_METHOD_GET, IBA_ATTR_PATH_RECORD,
	    P(sgid) | P(numb_path) | (all ? 0 : P(dgid)), &iba_path_record_type, &path);
}

static void ask_anything(struct asker *asker, struct asker_request *request)
{
	const struct iba_node_record any = {0};
	unsigned int what = scenario_random(asker->s, asker->subscribes ? 1 : 3);

	request->thing = NULL;
	if (what == 2)
		ask(asker, request, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0,
		    &iba_node_record_type, &any);
	else
		ask_path(asker, request, what);
}

#define M(name) IBA_COMPONENT(mc_member_record, name)

static void ask_member(struct asker *asker, struct asker_request *request)
{
	const struct iba_mc_member_record member = {
		.mgid = asker_mgid(request->thing),
		.port_gid = asker_gid(asker),
		.q_key = 1,
		.p_key = 0xFFFF,
		.join_state = 1,
	};
	uint64_t mask = M(mgid) | M(port_gid) | M(join_state);

	if (request->adds) /* the first to join makes the group */
		mask |= M(q_key) | M(p_key) | M(t_class) | M(sl) | M(flow_label);
	ask(asker, request, request->adds ? IBA_METHOD_SET : IBA_METHOD_DELETE,
	    IBA_ATTR_MC_MEMBER_RECORD, mask, &iba_mc_member_record_type, &member);
}

#define S(name) IBA_COMPONENT(service_record, name)

static void ask_service(struct asker *asker, struct asker_request *request)
{
	const struct iba_service_record service = {
		.service_id = asker_service_id(asker, request->thing),
		.service_gid = asker_gid(asker),
		.service_p_key = 0xFFFF,
		.service_lease = UINT32_MAX,
		.service_name = "storm",
	};

	ask(asker, request, request->adds ? IBA_METHOD_SET : IBA_METHOD_DELETE,
	    IBA_ATTR_SERVICE_RECORD,
	    S(service_id) | S(service_gid) | S(service_p_key) | S(service_lease) | S(service_name),
	    &iba_service_record_type, &service);
}

static void ask_subscription(struct asker *asker, struct asker_request *request)
{
	const struct iba_inform_info info = {
		.lid_range_begin = 0xFFFF,
		.is_generic = 1,
		.subscribe = request->adds,
		.type = 0xFFFF,
		.trap_number = asker_trap(request->thing),
		.producer_type = 0xFFFFFF,
	};

	ask(asker, request, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type, &info);
}

static void change_thing(struct asker *asker, struct asker_request *request, struct thing *thing)
{
	static void (*const askers[])(struct asker *, struct asker_request *) = {
		[THING_MEMBER] = ask_member,
		[THING_SERVICE] = ask_service,
		[THING_SUBSCRIPTION] = ask_subscription,
	};

	request->thing = thing;
	request->adds = scenario_random(asker->s, 3) != 0;
	thing->busy = true;
	askers[thing->kind](asker, request);
}

static struct asker_request *free_slot(struct asker *asker)
{
	for (unsigned int i = 0; i < ASKER_SLOTS; i++)
		if (!asker->requests[i].out && !asker->requests[i].thing)
			return &asker->requests[i];
	return NULL;
}

bool asker_is_idle(const struct asker *asker)
{
	for (unsigned int i = 0; i < ASKER_SLOTS; i++)
		if (asker->requests[i].out || asker->requests[i].thing)
			return false;
	return true;
}

bool asker_knows_all(const struct asker *asker)
{
	for (unsigned int i = 0; i < ASKER_THINGS; i++)
		if (asker->things[i].state == THING_UNKNOWN)
			return false;
	return true;
}

/* ---- answers ---- */

/* Ending a registration is never refused, except by an SA that does not know of it. */
static void take_change(struct asker *asker, struct asker_request *request, uint16_t status)
{
	struct thing *thing = request->thing;

	if (status && !request->adds && thing->state == THING_THERE && !asker->broken)
		asker->broken = g_strdup_printf("thing %u of kind %u of asker %u was promised; to"
						" end it has status 0x%04x",
						thing->number, thing->kind, asker->number, status);
	if (!status || !request->adds)
		thing->state = request->adds ? THING_THERE : THING_GONE;
	else if (thing->state == THING_UNKNOWN)
		thing->state = THING_GONE;
	thing->busy = false;
	request->thing = NULL;
}

static void take_answer(struct asker *asker, struct asker_request *request,
			const struct vendor_mad *mad)
{
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, mad->data, &header);
	request->out = false;
	if (mad->status != VENDOR_RECEIVED)
		asker->silent++;
	else if (header.status)
		asker->refused++;
	else
		asker->good++;
	if (request->thing && mad->status == VENDOR_RECEIVED && header.status != IBA_STATUS_BUSY)
		take_change(asker, request, header.status);
}

static void answer_report(struct asker *asker, const struct vendor_mad *mad)
{
	uint8_t wire[IBA_MAD_BYTES];

	memcpy(wire, mad->data, sizeof(wire));
	wire[3] = IBA_METHOD_REPORT_RESP;
	vendor_send(asker->vendor, &mad->remote, wire, sizeof(wire), 0);
}

static void receive(void *arg, struct vendor_mad *mad)
{
	struct asker *asker = arg;
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, mad->data, &header);
	if (mad->status == VENDOR_RECEIVED && header.method == IBA_METHOD_REPORT)
		answer_report(asker, mad);
	for (unsigned int i = 0; i < ASKER_SLOTS; i++)
		if (asker->requests[i].out &&
		    asker->requests[i].tid == (uint32_t)header.transaction_id)
			take_answer(asker, &asker->requests[i], mad);
	vendor_mad_free(mad);
}

/* ---- life ---- */

static void open_port(struct asker *asker)
{
	struct vendor_client receiver = {.actor = asker->actor, .arg = asker, .receive = receive};
	g_autoptr(GError) error = NULL;

	asker->vendor =
		sim_open(asker->s->sim, sim_port_guid(asker->s->sim, asker->node, 1), &error);
	if (!asker->vendor ||
	    !vendor_bind(asker->vendor, IBA_CLASS_SUBN_ADM, asker->subscribes, &receiver, &error))
		g_error("%s", error->message);
}

void asker_go_on(struct asker *asker, bool settle)
{
	if (!asker->vendor && runtime_now(asker->s->rt) < asker->back_ns)
		return;
	if (!asker->vendor)
		open_port(asker);
	for (unsigned int i = 0; i < ASKER_SLOTS; i++)
		if (!asker->requests[i].out && asker->requests[i].thing)
			send_again(asker, &asker->requests[i]);
	for (unsigned int i = 0; i < ASKER_THINGS; i++) {
		struct asker_request *request = free_slot(asker);
		struct thing *thing = &asker->things[i];

		if (request && !thing->busy &&
		    (settle ? thing->state == THING_UNKNOWN : !scenario_random(asker->s, 8)))
			change_thing(asker, request, thing);
	}
	for (struct asker_request *request; !settle && (request = free_slot(asker));)
		ask_anything(asker, request);
}

struct asker *asker_new(struct scenario *s, unsigned int node, unsigned int number, bool subscribes)
{
	struct asker *asker = g_new0(struct asker, 1);

	asker->s = s;
	asker->node = node;
	asker->number = number;
	asker->subscribes = subscribes;
	asker->actor = actor_new(s->rt, "asker");
	for (unsigned int i = 0; i < ASKER_THINGS; i++) {
		asker->things[i].kind = i % (subscribes ? 3 : 2);
		asker->things[i].number = i;
		asker->things[i].state = THING_GONE;
	}
	open_port(asker);
	return asker;
}

/*
 * It will repeat a request whose answer it did not hear; to the SA that is a different request, so
 * no earlier one may still be on its way then.
 */
void asker_die(struct asker *asker)
{
	vendor_close(asker->vendor);
	asker->vendor = NULL;
	asker->back_ns = runtime_now(asker->s->rt) + GONE_NS;
	for (unsigned int i = 0; i < ASKER_SLOTS; i++) {
		asker->requests[i].out = false;
		if (asker->requests[i].thing)
			asker->requests[i].thing->state = THING_UNKNOWN;
	}
}

void asker_free(struct asker *asker)
{
	vendor_close(asker->vendor);
	actor_free(asker->actor);
	g_free(asker->broken);
	g_free(asker);
}
