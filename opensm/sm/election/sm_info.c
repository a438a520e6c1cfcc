// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMInfo: other SMs read it to see that this one lives (IBA 14.4.1). The actor "mad" answers, from
 * published data: an SM that is busy computing must not look like one that died. Other unsolicited
 * SMPs go on to the actor "sm".
 *
 * The SM_Key is for other SMs of the subnet. With an M_Key, these are the ones that show it (14.4).
 * Without one there is no proof; but all other SMs, the classic daemon among them, ignore an SM
 * whose key they do not see, so hiding it would make two masters. So the default key, which is not
 * a secret, is sent to all, and any other to ports with IsSM: the actor "sm" checks whether the
 * request came from one.
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/election/mastership_private.h"
#include "sm/keys/keys.h"
#include "sm/smp/smp.h"

static uint8_t priority(const struct options *options, unsigned int state)
{
	return state == IBA_SM_MASTER ? MAX(options->sm_priority, options->master_sm_priority)
				      : options->sm_priority;
}

/*
 * An SM that cannot lead reports the lowest priority, so that no other kind of SM hands over to it.
 */
static struct sm_told sm_info(const struct sm *sm, const struct options *options)
{
	struct counters *counters = &sm->context->counters;
	/* It increases with all that the SM does: SMPs sent, and requests answered. */
	unsigned int state = atomic_load(&sm->context->sm_state);
	struct ability ability = ability_unpack(atomic_load(&sm->context->ability));
	uint64_t acts = sm->mastership->first_act + counter_get(counters, smp_sent) +
			counter_get(counters, sm_infos_answered);

	return (struct sm_told){
		.info = {.guid = vendor_port_guid(sm->vendor),
			 .sm_key = options->sm_key,
			 .act_count = (uint32_t)acts,
			 .priority = ability.unable ? 0 : priority(options, state),
			 .sm_state = state},
		.ability = ability,
	};
}

struct sm_told sm_info_own(const struct sm *sm)
{
	return sm_info(sm, sm->options);
}

void sm_info_encode(const struct sm_told *told, uint8_t *data)
{
	wire_encode(&iba_sm_info_type, &told->info, data);
	ability_encode(&told->ability, data);
}

struct sm_told sm_info_decode(const uint8_t *data)
{
	struct sm_told told = {.ability = ability_decode(data)};

	wire_decode(&iba_sm_info_type, data, &told.info);
	return told;
}

void sm_info_answer(struct sm *sm, struct vendor_mad *mad, struct iba_smp *smp, uint16_t status,
		    bool tell_key)
{
	struct options *options = slot_take(&sm->context->options);
	struct sm_told told = sm_info(sm, options);

	if (!tell_key)
		told.info.sm_key = 0;
	options_unref(options);
	counter_inc(&sm->context->counters, sm_infos_answered);
	smp->header.status = status;
	smp->header.method = IBA_METHOD_GET_RESP;
	memset(smp->data, 0, sizeof(smp->data));
	sm_info_encode(&told, smp->data);
	mad_reply_smp(sm->mad, mad, smp);
}

static bool has_public_key(const struct sm *sm)
{
	struct options *options = slot_take(&sm->context->options);
	bool is_public = options->sm_key <= 1;

	options_unref(options);
	return is_public;
}

static void receive(void *arg, struct vendor_mad *mad)
{
	struct sm *sm = arg;
	struct vendor_client there = {.actor = sm->actor, .arg = sm, .receive = trap_receive};
	struct iba_mad_header header;
	struct iba_smp smp;

	if (mad->length < IBA_MAD_BYTES) {
		counter_inc(&sm->context->counters, mad_malformed);
		vendor_mad_free(mad);
		return;
	}
	wire_decode(&iba_mad_header_type, mad->data, &header);
	if (header.attribute_id == IBA_ATTR_SM_INFO && header.method == IBA_METHOD_GET) {
		wire_decode(&iba_smp_type, mad->data, &smp);
		sm_asked(sm, mad);
		if (keys_protect(sm) || has_public_key(sm)) {
			sm_info_answer(sm, mad, &smp, 0, keys_shown(sm, smp.m_key));
			return;
		}
		there.receive = sm_info_receive;
	}
	if (header.attribute_id == IBA_ATTR_SM_INFO && header.method == IBA_METHOD_SET)
		there.receive = mastership_receive;
	vendor_mad_post(mad, &there);
}

void sm_info_serve(struct sm *sm)
{
	const struct vendor_client client = {.arg = sm, .receive = receive};

	mad_serve(sm->mad, IBA_CLASS_SUBN_LID, &client);
}
