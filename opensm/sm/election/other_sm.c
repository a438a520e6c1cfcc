// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/election/other_sm.h"

#include "sm/discover/discover.h"
#include "sm/election/mastership_private.h"
#include "sm/keys/keys.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define ASK_TRIES 6  /* a lost SMP must not make a second master */
#define POLL_TRIES 3 /* within a second */
#define CONTROL_TRIES 3
/* An SM that was given up, and reports its rank, gets another try no sooner than this. */
#define AGAIN_NS (10 * NS_PER_S)
#define CONTESTED_NS (60 * NS_PER_S)
#define ACTS_PER_S 1000000 /* no SM sends more SMPs per second */

struct election_sm other_sm_told(const struct sm_told *told)
{
	return (struct election_sm){told->info.guid, told->info.priority, told->info.sm_state,
				    told->ability};
}

const char *other_sm_name(const struct other_sm *other, char *buffer, size_t size)
{
	g_snprintf(buffer, size, "SM 0x%016" G_GINT64_MODIFIER "x (LID 0x%04x, priority %u, %s)",
		   other->sm.guid, other->lid, other->sm.priority,
		   iba_name(IBA_SET_SM_STATE, other->sm.state));
	return buffer;
}

static struct other_sm *find(GArray *others, uint64_t guid)
{
	for (guint i = 0; i < others->len; i++) {
		struct other_sm *other = &g_array_index(others, struct other_sm, i);

		if (other->sm.guid == guid)
			return other;
	}
	return NULL;
}

static struct other_sm *find_or_add(GArray *others, uint64_t guid)
{
	struct other_sm *other = find(others, guid);

	if (other)
		return other;
	g_array_set_size(others, others->len + 1);
	other = &g_array_index(others, struct other_sm, others->len - 1);
	other->sm.guid = guid;
	return other;
}

struct other_sm *other_sm_find(struct sm *sm, uint64_t guid)
{
	return find(sm->mastership->others->known, guid);
}

struct election_sm other_sm_judged(struct sm *sm, const struct other_sm *other)
{
	struct election_sm judged = other->sm;
	bool lacks_key = !judged.ability.known && sm_is_master(sm) && keys_protect(sm) &&
			 !keys_shown(sm, other->shown);

	judged.ability.unable |= other->useless || lacks_key;
	return judged;
}

/*
 * An SM that was given up while it dealt with a third one reports its rank from then on. One that
 * does nothing but report gets another try only after a while.
 */
void other_sm_reported_rank(struct sm *sm, const struct builder_port *port)
{
	struct other_sm *other = find(sm->mastership->others->known, port->guid);

	if (other && actor_now(sm->actor) - other->stubborn_ns >= AGAIN_NS)
		other->stubborn = false;
}

void other_sm_showed(struct sm *sm, const struct builder_port *port, uint64_t m_key)
{
	struct other_sm *other = find(sm->mastership->others->known, port->guid);

	if (!other || other->shown == m_key)
		return;
	other->shown = m_key;
	other->stubborn = false;
}

const char *other_sm_why_ignored(const struct sm *sm, const struct iba_sm_info *info)
{
	const char *allowed = sm->options->allowed_sm_guids;

	if (!info->guid)
		return "has no GUID";
	if (allowed && !option_guids_have(allowed, info->guid))
		return "is not listed in allowed_sm_guids";
	if (info->sm_key != sm->options->sm_key)
		return "has a different SM_Key, or hides it because it does not know the M_Key";
	return NULL;
}

void other_sm_contests(struct sm *sm)
{
	atomic_store(&sm->context->contested_until, actor_now(sm->actor) + CONTESTED_NS);
}

bool other_sms_have_foreign_master(const struct sm *sm)
{
	const GArray *ignored = sm->mastership->others->ignored;
	bool any = false;

	for (guint i = 0; i < ignored->len; i++)
		any |= g_array_index(ignored, struct other_sm, i).sm.state == IBA_SM_MASTER;
	return any;
}

bool other_sm_is_ours(struct sm *sm, const struct sm_told *told)
{
	const struct iba_sm_info *info = &told->info;
	const char *why = other_sm_why_ignored(sm, info);

	if (info->guid == vendor_port_guid(sm->vendor))
		return false;
	if (!why)
		return true;
	if (!find(sm->mastership->others->ignored, info->guid))
		log_sys_error(sm->log, "SM 0x%016" G_GINT64_MODIFIER "x %s: ignored", info->guid,
			      why);
	find_or_add(sm->mastership->others->ignored, info->guid)->sm = other_sm_told(told);
	if (info->sm_state == IBA_SM_MASTER)
		other_sm_contests(sm);
	return false;
}

struct other_sm *other_sm_answered(struct sm *sm, const struct sm_told *told)
{
	const struct iba_sm_info *info = &told->info;
	GArray *ignored = sm->mastership->others->ignored;
	struct other_sm *was, *other;

	if (!other_sm_is_ours(sm, told))
		return NULL;
	was = find(ignored, info->guid);
	if (!was)
		return other_sm_find(sm, info->guid);
	other = find_or_add(sm->mastership->others->known, info->guid);
	*other = *was;
	other->sm = other_sm_told(told);
	g_array_remove_index_fast(ignored, (guint)(was - (struct other_sm *)(void *)ignored->data));
	return other;
}

/*
 * An SM that was there a moment ago has gone. It may have written what this one had already read,
 * and nothing else would show that.
 */
void other_sm_is_gone(struct sm *sm)
{
	audit_all_soon(sm);
	sweep_want(sm, SWEEP_LIGHT);
}

static struct peer peer_of(const struct other_sm *other)
{
	return (struct peer){other->heard ? other->last : other->sm, other->heard};
}

/* Apart from the times at which they were heard. */
static bool show_the_same(const struct peers *a, const struct peers *b)
{
	if (!a || a->n != b->n)
		return false;
	for (unsigned int i = 0; i < a->n; i++) {
		const struct election_sm *x = &a->peers[i].sm, *y = &b->peers[i].sm;

		if (x->guid != y->guid || x->priority != y->priority || x->state != y->state ||
		    ability_pack(&x->ability) != ability_pack(&y->ability))
			return false;
	}
	return true;
}

static void publish_peers(struct sm *sm, struct peers *peers)
{
	struct peers *before = slot_take(&sm->context->peers);
	bool differs = !show_the_same(before, peers) && (before || peers->n);

	peers_unref(before);
	slot_publish(&sm->context->peers, peers);
	if (differs)
		event_emit(&sm->context->bus, EVENT_PEERS_CHANGED, 0);
}

void other_sms_show(struct sm *sm, const struct other_sm *only)
{
	const GArray *known = sm->mastership->others->known;
	struct peers *peers = peers_new(only ? 1 : known->len);

	peers->own = vendor_port_guid(sm->vendor);
	if (only)
		peers->peers[0] = peer_of(only);
	for (guint i = 0; !only && i < known->len; i++)
		peers->peers[i] = peer_of(&g_array_index(known, struct other_sm, i));
	publish_peers(sm, peers);
}

/*
 * ActCount increases at most as fast as one SM can act: if not, another daemon has the port, and
 * one has gone that may have been master between two requests.
 */
void other_sm_heard(struct sm *sm, struct other_sm *other, const struct sm_told *told)
{
	uint32_t acts = told->info.act_count;
	uint64_t now = actor_now(sm->actor);
	uint64_t can = ((now - other->heard) / NS_PER_S + 1) * ACTS_PER_S;

	if (other->heard && (uint32_t)(acts - other->acts) > can)
		other_sm_is_gone(sm);
	other->acts = acts;
	other->heard = now;
	other->last = other_sm_told(told);
}

/* ---- sending ---- */

void other_sm_locate(const struct sm *sm, struct other_sm *other)
{
	GHashTableIter iter;
	struct builder_node *node;

	if (other->node_guid)
		return;
	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++)
			if (node->ports[num].guid == other->sm.guid) {
				other->node_guid = node->guid;
				other->port_num = num;
				return;
			}
}

/* By the path to its port, or by its LID; NULL: neither is known. */
static struct sm_request *request_to(struct sm *sm, const struct other_sm *other, uint8_t method,
				     uint32_t modifier, bool by_lid)
{
	struct builder_node *node = builder_find(sm->builder, other->node_guid);
	struct sm_request *request;

	if (node && !(by_lid && other->lid))
		return sm_request_port(sm, &node->ports[other->port_num], method, IBA_ATTR_SM_INFO,
				       modifier);
	if (!other->lid)
		return NULL;
	request = sm_request_new(sm, sm->local, method, IBA_ATTR_SM_INFO, modifier);
	request->mad.route.lid = other->lid;
	request->mad.lid_only = true;
	return request;
}

bool other_sm_ask(struct sm *sm, const struct other_sm *other, bool by_lid,
		  void (*done)(struct sm_request *request))
{
	struct sm_request *request = request_to(sm, other, IBA_METHOD_GET, 0, by_lid);

	if (!request)
		return false;
	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->mad.tries = POLL_TRIES;
	request->done = done;
	sm_request_send(request);
	return true;
}

bool other_sms_are_there(const struct sm *sm)
{
	return sm->mastership->others->known->len || sm->mastership->others->ignored->len;
}

static unsigned int ask_all(struct sm *sm, const GArray *others,
			    void (*done)(struct sm_request *request))
{
	unsigned int n = 0;

	for (guint i = 0; i < others->len; i++)
		n += other_sm_ask(sm, &g_array_index(others, struct other_sm, i), false, done);
	return n;
}

unsigned int other_sms_ask(struct sm *sm, void (*done)(struct sm_request *request))
{
	return ask_all(sm, sm->mastership->others->known, done) +
	       ask_all(sm, sm->mastership->others->ignored, done);
}

void other_sm_control(struct sm *sm, const struct other_sm *to, unsigned int control,
		      void (*done)(struct sm_request *request))
{
	const struct sm_told told = sm_info_own(sm);
	struct sm_request *request = request_to(sm, to, IBA_METHOD_SET, control, false);

	if (!request)
		return;
	sm_info_encode(&told, request->mad.data);
	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->mad.tries = CONTROL_TRIES;
	request->done = done;
	sm_request_send(request);
}

void other_sm_tell_rank(struct sm *sm, const struct other_sm *master)
{
	const struct builder_port *own = sm->builder->sm_port;
	struct vendor_address to = {.lid = master->lid, .sl = sm->options->sm_sl};
	struct iba_trap_local_change change = {
		.lid = own ? own->info.lid : 0,
		.other_local_changes = 1,
		.capability_mask = own ? own->info.capability_mask : 0,
		.change_flags = IBA_TRAP_144_SM_PRIORITY,
	};
	struct iba_notice notice = {
		.is_generic = 1,
		.type = IBA_NOTICE_INFO,
		.producer_type = own ? own->node->info.node_type : IBA_NODE_CA,
		.trap_number = IBA_TRAP_LOCAL_CHANGES,
		.issuer_lid = change.lid,
	};
	struct iba_smp smp = {
		.header = {.base_version = IBA_BASE_VERSION,
			   .mgmt_class = IBA_CLASS_SUBN_LID,
			   .class_version = 1,
			   .method = IBA_METHOD_TRAP,
			   .transaction_id = ++sm->mastership->others->trap_tid,
			   .attribute_id = IBA_ATTR_NOTICE},
	};
	uint8_t *wire;

	if (!to.lid || !change.lid)
		return;
	wire = g_malloc0(IBA_MAD_BYTES);
	wire_encode(&iba_trap_local_change_type, &change, notice.data_details);
	wire_encode(&iba_notice_type, &notice, smp.data);
	wire_encode(&iba_smp_type, &smp, wire);
	mad_post(sm->mad, &to, wire, IBA_MAD_BYTES);
}

/* ---- the SMs present: requests of the step ELECT ---- */

static void on_sm_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	const struct builder_port *port = request->port;
	struct other_sm *other;
	struct sm_told told;
	const struct iba_sm_info *info = &told.info;
	bool ours;

	if (sm_request_is_late(request))
		return;
	if (!sm_request_ok(request)) {
		other_sm_is_gone(sm);
		return;
	}
	told = sm_info_decode(request->mad.data);
	if (info->guid == vendor_port_guid(sm->vendor))
		return;
	ours = other_sm_is_ours(sm, &told);
	other = find_or_add(ours ? sm->mastership->others->known : sm->mastership->others->ignored,
			    info->guid);
	other->stubborn &= info->sm_state == other->sm.state &&
			   info->priority == other->sm.priority &&
			   ability_pack(&told.ability) == ability_pack(&other->sm.ability);
	other->useless &= told.ability.settable <= other->sm.ability.settable;
	other->sm = other_sm_told(&told);
	if (ours)
		other_sm_heard(sm, other, &told);
	other->asked = sm->sweep.serial;
	if (port) {
		other->lid = port->info.lid;
		other->node_guid = port->node->guid;
		other->port_num = port->num;
	} else if (!other->lid) {
		other->lid = request->mad.route.lid;
	}
}

static void ask(struct sm_request *request)
{
	if (request->mad.lid_only && !request->mad.tries)
		request->mad.tries = ASK_TRIES;
	request->done = on_sm_info;
	sm_request_send(request);
}

static bool has_other_sm(const struct sm *sm, const struct builder_port *port)
{
	return port->guid && port->known && port != sm->builder->sm_port &&
	       port->info.capability_mask & IBA_PORT_CAP_SM;
}

static void ask_node(struct sm *sm, struct builder_node *node)
{
	for (unsigned int num = 0; num <= node->info.num_ports; num++) {
		struct builder_port *port = &node->ports[num];

		if (has_other_sm(sm, port))
			ask(sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0));
	}
}

static bool is_unable(const struct sm *sm)
{
	return ability_unpack(atomic_load(&sm->context->ability)).unable;
}

/* The SMs out of sight: packets may reach them where directed SMPs do not. */
static void ask_by_lid(struct sm *sm)
{
	const GArray *known = sm->mastership->others->known;

	for (guint i = 0; i < known->len; i++) {
		const struct other_sm *other = &g_array_index(known, struct other_sm, i);
		struct sm_request *request;

		if (builder_find(sm->builder, other->node_guid) || !other->lid)
			continue;
		request = request_to(sm, other, IBA_METHOD_GET, 0, true);
		request->mad.tries = POLL_TRIES;
		ask(request);
	}
}

/*
 * The SM that configured the own port, in case its IsSM was not seen. If the port was read and does
 * not have IsSM, it more likely belonged to an SM that died.
 */
static void ask_master_of_own_port(struct sm *sm)
{
	const struct iba_port_info *info = &sm->builder->sm_port->info;
	struct other_sm other = {.lid = info->master_sm_lid};
	uint16_t mask = ~((1u << info->lmc) - 1);
	const struct builder_port *port = builder_port_by_lid(sm->builder, other.lid);
	struct sm_request *request;

	if ((sm_is_master(sm) && !is_unable(sm)) || info->port_state == IBA_PORT_DOWN ||
	    other.lid < IBA_LID_UCAST_FIRST || other.lid > IBA_LID_UCAST_LAST ||
	    (other.lid & mask) == info->lid || (port && has_other_sm(sm, port)))
		return;
	request = request_to(sm, &other, IBA_METHOD_GET, 0, true);
	request->mad.tries = port && port->known ? POLL_TRIES : ASK_TRIES;
	if (mastership_polled_in_vain(sm, other.lid))
		request->mad.tries = MISSED_TRIES;
	ask(request);
}

static void ask_again(struct sm *sm, const GArray *others)
{
	for (guint i = 0; i < others->len; i++) {
		struct sm_request *request =
			request_to(sm, &g_array_index(others, struct other_sm, i), IBA_METHOD_GET,
				   0, false);

		if (request)
			ask(request);
	}
}

void other_sms_meet(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = NULL;

	if (sm->sweep.kind == SWEEP_KIND_LIGHT) {
		ask_again(sm, sm->mastership->others->known);
		ask_again(sm, sm->mastership->others->ignored);
		return;
	}
	nodes = sweep_nodes(sm);
	for (guint i = 0; i < nodes->len; i++)
		ask_node(sm, nodes->pdata[i]);
	if (is_unable(sm))
		ask_by_lid(sm);
	ask_master_of_own_port(sm);
}

/* An ignored SM has gone: any node may cause this again and again. */
static bool may_matter(struct sm *sm)
{
	uint64_t now = actor_now(sm->actor), last = sm->mastership->others->ignored_gone_ns;

	if (last && now - last < CONTESTED_NS)
		return false;
	sm->mastership->others->ignored_gone_ns = now;
	return true;
}

/* Those that reported the same in this sweep, or were not queried, stay. */
static void drop_silent(struct sm *sm, GArray *others)
{
	for (guint i = others->len; i-- > 0;) {
		const struct other_sm *other = &g_array_index(others, struct other_sm, i);
		bool all = sm->sweep.kind != SWEEP_KIND_PARTIAL, known;

		if (other->asked == sm->sweep.serial ||
		    (!all && builder_find(sm->builder, other->node_guid)))
			continue;
		known = other_sm_find(sm, other->sm.guid);
		g_array_remove_index_fast(others, i);
		if (others == sm->mastership->others->known || (!known && may_matter(sm)))
			other_sm_is_gone(sm);
	}
}

void other_sms_drop_silent(struct sm *sm)
{
	drop_silent(sm, sm->mastership->others->known);
	drop_silent(sm, sm->mastership->others->ignored);
	other_sms_show(sm, NULL);
}

struct election_sm *other_sms_list(struct sm *sm, const struct election_sm *own, unsigned int *n)
{
	struct election_sm *list = g_new0(struct election_sm, sm->mastership->others->known->len);

	*n = 0;
	for (guint i = 0; i < sm->mastership->others->known->len; i++) {
		const struct other_sm *other =
			&g_array_index(sm->mastership->others->known, struct other_sm, i);

		if (own && other->stubborn && other->stubborn_to == own->priority)
			continue;
		list[(*n)++] = other_sm_judged(sm, other);
	}
	return list;
}

/* All with IsSM: an SM that got a request before it could answer may be standby by now. */
void other_sms_tell_replicator(struct sm *sm)
{
	GArray *peers = g_array_new(FALSE, FALSE, sizeof(struct replicator_peer));
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		for (unsigned int num = 0; num <= node->info.num_ports; num++) {
			const struct builder_port *port = &node->ports[num];
			struct replicator_peer peer = {port->guid, port->lid};

			if (has_other_sm(sm, port))
				g_array_append_val(peers, peer);
		}
	replicator_set_peers(sm->context->replicator, peers);
}

struct other_sms *other_sms_new(void)
{
	struct other_sms *others = g_new0(struct other_sms, 1);

	others->known = g_array_new(FALSE, TRUE, sizeof(struct other_sm));
	others->ignored = g_array_new(FALSE, TRUE, sizeof(struct other_sm));
	return others;
}

void other_sms_free(struct other_sms *others)
{
	g_array_unref(others->known);
	g_array_unref(others->ignored);
	g_free(others);
}
