// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The M_Keys that requests carry: what key_ring.c says of the port asked, and what answers say
 * back to it. A wrong key gets no answer, so a request that is out of retries is sent again with
 * the next key, if there is one.
 */
#include "sm/sm_private.h"

/* The SMA that a request is for, as far as that is known before it answers. */
struct sma {
	uint64_t guid;
	uint8_t port;
};

static struct sma sma_of(const struct builder_port *port)
{
	bool entry = builder_is_switch(port->node) || port == port->node->entry;

	return (struct sma){port->node->guid, entry ? 0 : port->num};
}

static struct sma asked(const struct sm_request *request)
{
	const struct sm *sm = request->sm;
	const struct fabric *fabric = sm->fabric;

	if (request->beyond && request->port->peer) /* most likely who was there before */
		return sma_of(request->port->peer);
	if (request->node == sm->local && !request->mad.lid_only && fabric)
		return (struct sma){fabric->nodes[fabric->ports[fabric->sm_port].node].guid, 0};
	return (struct sma){request->mad.target, request->mad.target_port};
}

uint64_t keys_of_port(const struct sm *sm, const struct builder_port *port)
{
	struct sma sma = sma_of(port);

	return key_ring_for(sm->keys, sma.guid, sma.port);
}

static void choose_key(struct sm_request *request, struct sma sma)
{
	const struct key_ring *keys = request->sm->keys;

	request->mad.m_key = key_ring_for(keys, sma.guid, sma.port);
	request->key_changes = key_ring_changes(keys, sma.guid, sma.port);
}

void keys_use(struct sm_request *request)
{
	struct sm *sm = request->sm;

	if (!sm->dry) /* there, ports have the key of before */
		key_ring_set(sm->keys, sm->options->m_key);
	choose_key(request, asked(request));
}

bool keys_try_another(struct sm_request *request)
{
	struct key_ring *keys = request->sm->keys;
	struct sma sma = asked(request);

	if (request->unreachable || request->mad.lid_only ||
	    !key_ring_failed(keys, sma.guid, sma.port, request->mad.m_key))
		return false;
	request->other_key = true;
	choose_key(request, sma);
	return true;
}

/* PortInfo of an endport has the M_Key, of other ports of a switch it does not. */
static bool has_key(const struct sm_request *request)
{
	return request->mad.attribute == IBA_ATTR_PORT_INFO && request->mad.result == MAD_OK &&
	       request->port && (!builder_is_switch(request->node) || request->port->num == 0);
}

/* It was asked before the port got another key, and is answered after that. */
static bool is_outdated(const struct sm_request *request, struct sma sma)
{
	bool gave_key = request->mad.method == IBA_METHOD_SET && has_key(request);

	return !gave_key &&
	       request->key_changes != key_ring_changes(request->sm->keys, sma.guid, sma.port);
}

void keys_answered(const struct sm_request *request)
{
	const struct mad_request *mad = &request->mad;
	bool is_set = mad->method == IBA_METHOD_SET;
	struct iba_port_info info = {.m_key = mad->m_key};
	struct sma sma = asked(request);

	if ((mad->result != MAD_OK && mad->result != MAD_STATUS) || is_outdated(request, sma))
		return;
	if (has_key(request))
		wire_decode(&iba_port_info_type, mad->data, &info);
	if (is_set || (has_key(request) && info.m_key))
		key_ring_worked(request->sm->keys, sma.guid, sma.port, info.m_key);
	else if (request->other_key)
		key_ring_likely(request->sm->keys, sma.guid, sma.port, mad->m_key);
}

static bool is_there(void *arg, uint64_t guid)
{
	const struct sm *sm = arg;

	return builder_find(sm->builder, guid) != NULL;
}

static void on_sweep_done(void *arg, uint64_t value)
{
	struct sm *sm = arg;

	key_ring_again(sm->keys);
	if (sweep_done_unpack(value).kind == SWEEP_KIND_HEAVY)
		key_ring_keep(sm->keys, is_there, sm);
}

void keys_init(struct sm *sm)
{
	sm->keys = key_ring_new(sm->options->m_key);
	event_subscribe(&sm->context->bus, EVENT_SWEEP_DONE, sm->actor, on_sweep_done, sm);
}
