// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sa/admit/effect.h"

#include "iba/codes.h"
#include "iba/iba.h"

/* An answer to be checked. */
struct effect {
	const struct sa_registries *registries;
	const struct subnet_view *view;
	const struct vendor_address *requester;
	const uint8_t *data; /* of the record */
};

/* A member that was gone since, and was told to join again, does not count. */
static bool member_stands(const struct effect *effect)
{
	struct iba_mc_member_record told;
	const struct sa_member *member;
	const struct sa_group *group;

	wire_decode(&iba_mc_member_record_type, effect->data, &told);
	group = sa_store_find(effect->registries->groups, told.mgid);
	member = group ? sa_group_member(group, told.port_gid.guid) : NULL;
	return member && !member->lapsing && !(told.join_state & ~member->join_state);
}

static bool service_stands(const struct effect *effect)
{
	struct iba_service_record told;

	wire_decode(&iba_service_record_type, effect->data, &told);
	if (told.service_gid.prefix == IBA_DEFAULT_GID_PREFIX)
		told.service_gid.prefix = effect->view->subnet->options->subnet_prefix;
	return sa_services_find(effect->registries->services, &told) != NULL;
}

static bool subscription_stands(const struct effect *effect)
{
	const struct fabric *fabric = effect->view->subnet->fabric;
	uint32_t port = fabric_port_by_lid(fabric, effect->requester->lid);
	struct sa_subscription_key key;
	struct iba_inform_info told;

	wire_decode(&iba_inform_info_type, effect->data, &told);
	if (!told.subscribe || port == FABRIC_NONE)
		return true;
	key = sa_subscription_key(fabric->ports[port].guid, effect->requester->qpn, &told);
	return sa_subscribers_find(effect->registries->subscribers, &key) != NULL;
}

static bool aliases_stand(const struct effect *effect)
{
	const struct fabric *fabric = effect->view->subnet->fabric;
	struct iba_guid_info_record told;
	uint64_t guids[ALIAS_PER_BLOCK];
	uint32_t port;

	wire_decode(&iba_guid_info_record_type, effect->data, &told);
	port = fabric_port_by_lid(fabric, told.lid);
	if (port == FABRIC_NONE)
		return false;
	alias_guids_block(sa_aliases_now(effect->registries->aliases), fabric->ports[port].guid,
			  told.block_num, guids);
	for (unsigned int i = 0; i < ALIAS_PER_BLOCK; i++)
		if (told.guid_info.guid[i] && told.guid_info.guid[i] != guids[i])
			return false;
	return true;
}

static const struct {
	uint16_t attribute;
	bool (*stands)(const struct effect *effect);
} kinds[] = {
	{IBA_ATTR_MC_MEMBER_RECORD, member_stands},
	{IBA_ATTR_SERVICE_RECORD, service_stands},
	{IBA_ATTR_INFORM_INFO, subscription_stands},
	{IBA_ATTR_GUID_INFO_RECORD, aliases_stand},
};

bool sa_effect_stands(const struct sa_registries *registries, const struct subnet_view *view,
		      const struct vendor_address *requester, const uint8_t *answer)
{
	const struct effect effect = {registries, view, requester, answer + IBA_SA_DATA_OFFSET};
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, answer, &header);
	if (header.method != IBA_METHOD_GET_RESP || header.status != IBA_STATUS_OK)
		return true;
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (kinds[i].attribute == header.attribute_id)
			return kinds[i].stands(&effect);
	return true;
}
