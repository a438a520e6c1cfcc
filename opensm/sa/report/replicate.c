// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a standby gets of the registries:
 *
 *	group	MGID (16) -> MCMemberRecord without a port, GUID of the creator (8), flags (1)
 *	member	MGID (16), port GUID (8) -> JoinState (1), flags (1), GUID of the port that made it
 *		a member (8), 0: unknown
 *	service	ServiceID (8), GID (16), P_Key (2) -> ServiceRecord, GUID of the owner (8), end of
 *		the lease (8), all ones: none, flags (1)
 *	clock	empty -> the time (8) by which leases end, sent at intervals
 *	subscription	sa_subscription_key -> InformInfo with its QPN, LID (2), SL (1), flags (1),
 *		Q_Key (4), GID (16), hop limit (1), traffic class (1), flow label (4)
 *	alias GUID	port GUID (8), index (1) -> GUID (8); 0: removed, the port is still to
 *		be told
 *
 * The P_Key index of a subscriber's address is one of this SM's port: the standby uses 0.
 *
 * A value may be longer than that: fields of later versions are appended.
 */
#include "sa/report/replicate.h"

#include <string.h>

#define RECORD_BYTES (416 / 8)
#define GROUP_BYTES (RECORD_BYTES + 8 + 1)
#define GROUP_KEY_BYTES 16
#define MEMBER_BYTES 2
#define MEMBER_MAKER_BYTES (MEMBER_BYTES + 8) /* of versions that report the maker */
#define MEMBER_KEY_BYTES 24
#define WELL_KNOWN 1 /* flags of a group */
#define PROXY 1	     /* flag of a member */
#define SERVICE_KEY_BYTES 26
#define SERVICE_BYTES (iba_service_record_bytes + 8)
#define SERVICE_LEASE_BYTES (SERVICE_BYTES + 8) /* of versions that report the end of the lease */
#define SERVICE_FLAGS_BYTES (SERVICE_LEASE_BYTES + 1) /* and of those that have flags */
#define BY_GID 1				      /* flag of a service */
#define ADDRESS_BYTES 30
#define SUBSCRIPTION_BYTES (iba_inform_info_bytes + ADDRESS_BYTES)
#define ALIAS_KEY_BYTES 9
#define ALIAS_BYTES 8
#define HAS_GRH 1 /* flag of an address */
#define TRUSTED 2

static void put_guid(uint8_t *octets, uint64_t guid)
{
	guid = GUINT64_TO_BE(guid);
	memcpy(octets, &guid, sizeof(guid));
}

static uint64_t get_guid(const uint8_t *octets)
{
	uint64_t guid;

	memcpy(&guid, octets, sizeof(guid));
	return GUINT64_FROM_BE(guid);
}

static void put_gid(uint8_t *octets, struct iba_gid gid)
{
	put_guid(octets, gid.prefix);
	put_guid(octets + 8, gid.guid);
}

static struct iba_gid get_gid(const uint8_t *octets)
{
	return (struct iba_gid){get_guid(octets), get_guid(octets + 8)};
}

static void put_u32(uint8_t *octets, uint32_t value)
{
	value = GUINT32_TO_BE(value);
	memcpy(octets, &value, sizeof(value));
}

static uint32_t get_u32(const uint8_t *octets)
{
	uint32_t value;

	memcpy(&value, octets, sizeof(value));
	return GUINT32_FROM_BE(value);
}

static void put_address(uint8_t *octets, const struct sa_subscription *subscription)
{
	const struct vendor_address *to = &subscription->to;

	octets[0] = (uint8_t)(to->lid >> 8);
	octets[1] = (uint8_t)to->lid;
	octets[2] = to->sl;
	octets[3] = (to->has_grh ? HAS_GRH : 0) | (subscription->trusted ? TRUSTED : 0);
	put_u32(octets + 4, to->qkey);
	wire_encode(&iba_gid_type, &to->gid, octets + 8);
	octets[24] = to->hop_limit;
	octets[25] = to->traffic_class;
	put_u32(octets + 26, to->flow_label);
}

static struct vendor_address get_address(const uint8_t *octets, uint32_t qpn)
{
	struct vendor_address to = {
		.lid = (uint16_t)(octets[0] << 8 | octets[1]),
		.sl = octets[2] & 0xF,
		.qpn = qpn,
		.qkey = get_u32(octets + 4),
		.has_grh = octets[3] & HAS_GRH,
		.hop_limit = octets[24],
		.traffic_class = octets[25],
		.flow_label = get_u32(octets + 26) & 0xFFFFF,
	};

	wire_decode(&iba_gid_type, octets + 8, &to.gid);
	return to;
}

/* ---- changes ---- */

static void put_group(void *arg, const struct sa_group *group, bool gone)
{
	uint8_t key[GROUP_KEY_BYTES], value[GROUP_BYTES];

	put_gid(key, group->record.mgid);
	wire_encode(&iba_mc_member_record_type, &group->record, value);
	put_guid(value + RECORD_BYTES, group->creator);
	value[RECORD_BYTES + 8] = group->well_known ? WELL_KNOWN : 0;
	replicator_put(arg, replica_entry_new(REPLICA_GROUPS, key, sizeof(key), gone ? NULL : value,
					      gone ? 0 : sizeof(value)));
}

static void put_member(void *arg, const struct sa_group *group, const struct sa_member *member)
{
	uint8_t value[MEMBER_MAKER_BYTES] = {member->join_state, member->proxy ? PROXY : 0};
	bool gone = member->join_state == 0;
	uint8_t key[MEMBER_KEY_BYTES];

	put_gid(key, group->record.mgid);
	put_guid(key + GROUP_KEY_BYTES, member->guid);
	put_guid(value + MEMBER_BYTES, member->maker);
	replicator_put(arg, replica_entry_new(REPLICA_MEMBERS, key, sizeof(key),
					      gone ? NULL : value, gone ? 0 : sizeof(value)));
}

const struct sa_store_watch sa_replicate_watch = {.group = put_group, .member = put_member};

static void service_key(const struct iba_service_record *record, uint8_t key[SERVICE_KEY_BYTES])
{
	uint16_t p_key = P_KEY_BASE(record->service_p_key);

	put_guid(key, record->service_id);
	wire_encode(&iba_gid_type, &record->service_gid, key + 8);
	key[24] = (uint8_t)(p_key >> 8);
	key[25] = (uint8_t)p_key;
}

void sa_replicate_service(void *replicator, const struct sa_service *service, bool gone)
{
	uint8_t key[SERVICE_KEY_BYTES], value[SERVICE_FLAGS_BYTES];

	service_key(&service->record, key);
	wire_encode(&iba_service_record_type, &service->record, value);
	put_guid(value + iba_service_record_bytes, service->owner);
	put_guid(value + SERVICE_BYTES, service->expires_ns);
	value[SERVICE_LEASE_BYTES] = service->by_gid ? BY_GID : 0;
	replicator_put(replicator,
		       replica_entry_new(REPLICA_SERVICES, key, sizeof(key), gone ? NULL : value,
					 gone ? 0 : sizeof(value)));
}

void sa_replicate_alias(void *replicator, const struct alias_guid *alias, bool forgotten)
{
	uint8_t key[ALIAS_KEY_BYTES], value[ALIAS_BYTES];

	put_guid(key, alias->port);
	key[8] = alias->index;
	put_guid(value, alias->guid);
	replicator_put(replicator,
		       replica_entry_new(REPLICA_ALIASES, key, sizeof(key),
					 forgotten ? NULL : value, forgotten ? 0 : sizeof(value)));
}

void sa_replicate_clock(struct replicator *replicator, uint64_t now)
{
	const uint8_t key = 0;
	uint8_t value[8];

	put_guid(value, now);
	replicator_put(replicator,
		       replica_entry_new(REPLICA_CLOCK, &key, sizeof(key), value, sizeof(value)));
}

static void put_subscription(void *arg, struct sa_subscription *subscription)
{
	uint8_t value[SUBSCRIPTION_BYTES];

	wire_encode(&iba_inform_info_type, &subscription->info, value);
	put_address(value + iba_inform_info_bytes, subscription);
	replicator_put(arg, replica_entry_new(REPLICA_SUBSCRIPTIONS, &subscription->key,
					      sizeof(subscription->key), value, sizeof(value)));
}

static void remove_subscription(void *arg, struct sa_subscription *subscription)
{
	replicator_put(arg, replica_entry_new(REPLICA_SUBSCRIPTIONS, &subscription->key,
					      sizeof(subscription->key), NULL, 0));
}

const struct sa_subscribers_watch sa_replicate_subscriptions = {.added = put_subscription,
								.removed = remove_subscription};

/* ---- adopting ---- */

struct adoption {
	const struct sa_registries *registries;
	struct sa_store *store; /* the groups of registries */
	uint64_t now;
	uint64_t clock; /* of the previous SM, when it was last heard of; 0: unknown */
	unsigned int bad;
};

static bool make_group(struct adoption *adoption, const struct replica_entry *entry)
{
	const uint8_t *value = replica_value(entry);
	struct iba_mc_member_record record;
	struct sa_group *group;

	if (entry->key_length != GROUP_KEY_BYTES || entry->value_length < GROUP_BYTES)
		return false;
	wire_decode(&iba_mc_member_record_type, value, &record);
	if (!iba_gid_equal(record.mgid, get_gid(entry->octets)) ||
	    !iba_lid_is_multicast(record.mlid) || record.mlid > IBA_LID_MCAST_LAST ||
	    !iba_gid_is_multicast(record.mgid) || sa_store_find(adoption->store, record.mgid))
		return false;
	group = sa_store_restore(adoption->store, &record, get_guid(value + RECORD_BYTES));
	if (group && value[RECORD_BYTES + 8] & WELL_KNOWN)
		sa_store_keep(adoption->store, group, true);
	return group && group->record.mlid == record.mlid;
}

static bool make_member(struct adoption *adoption, const struct replica_entry *entry)
{
	const uint8_t *value = replica_value(entry);
	struct sa_group *group;
	uint64_t guid, maker = 0;

	if (entry->key_length != MEMBER_KEY_BYTES || entry->value_length < MEMBER_BYTES)
		return false;
	group = sa_store_find(adoption->store, get_gid(entry->octets));
	guid = get_guid(entry->octets + GROUP_KEY_BYTES);
	if (!group || !guid || !value[0] || value[0] > 0xF)
		return false;
	if (entry->value_length >= MEMBER_MAKER_BYTES)
		maker = get_guid(value + MEMBER_BYTES);
	else if (!(value[1] & PROXY))
		maker = sa_registries_owner(adoption->registries, guid);
	sa_store_join_by(adoption->store, group, guid, value[0], value[1] & PROXY, maker);
	return true;
}

static void adopt_group(void *arg, const struct replica_entry *entry)
{
	struct adoption *adoption = arg;

	adoption->bad += !make_group(adoption, entry);
}

static void adopt_member(void *arg, const struct replica_entry *entry)
{
	struct adoption *adoption = arg;

	adoption->bad += !make_member(adoption, entry);
}

/* How much of its lease was over when the previous SM was last heard of. */
static uint64_t spent(const struct adoption *adoption, const struct replica_entry *entry,
		      const struct iba_service_record *record)
{
	uint64_t lease = record->service_lease * NS_PER_S, end, left;

	if (!adoption->clock || entry->value_length < SERVICE_LEASE_BYTES ||
	    record->service_lease == SA_LEASE_FOREVER)
		return 0;
	end = get_guid(replica_value(entry) + SERVICE_BYTES);
	left = end > adoption->clock ? end - adoption->clock : 0;
	return left < lease ? lease - left : 0;
}

static bool make_service(struct adoption *adoption, const struct replica_entry *entry)
{
	const uint8_t *value = replica_value(entry);
	struct iba_service_record record;
	uint8_t key[SERVICE_KEY_BYTES];
	bool by_gid;

	if (entry->key_length != sizeof(key) || entry->value_length < SERVICE_BYTES)
		return false;
	wire_decode(&iba_service_record_type, value, &record);
	service_key(&record, key);
	by_gid = entry->value_length >= SERVICE_FLAGS_BYTES && value[SERVICE_LEASE_BYTES] & BY_GID;
	return memcmp(key, entry->octets, sizeof(key)) == 0 &&
	       sa_services_restore(adoption->registries->services, &record,
				   get_guid(value + iba_service_record_bytes), by_gid,
				   adoption->now - spent(adoption, entry, &record));
}

static bool make_subscription(struct adoption *adoption, const struct replica_entry *entry)
{
	const uint8_t *value = replica_value(entry);
	struct sa_subscription_key key;
	struct iba_inform_info info;
	struct vendor_address to;

	if (entry->key_length != sizeof(key) || entry->value_length < SUBSCRIPTION_BYTES)
		return false;
	wire_decode(&iba_inform_info_type, value, &info);
	to = get_address(value + iba_inform_info_bytes, info.qpn);
	key = sa_subscription_key(get_guid(entry->octets), info.qpn, &info);
	return memcmp(&key, entry->octets, sizeof(key)) == 0 && iba_lid_is_unicast(to.lid) &&
	       sa_subscribers_restore(adoption->registries->subscribers, get_guid(entry->octets),
				      &to, &info, value[iba_inform_info_bytes + 3] & TRUSTED);
}

static bool make_alias(struct adoption *adoption, const struct replica_entry *entry)
{
	struct sa_aliases *aliases = adoption->registries->aliases;
	uint64_t port, guid;

	if (entry->key_length != ALIAS_KEY_BYTES || entry->value_length < ALIAS_BYTES)
		return false;
	port = get_guid(entry->octets);
	guid = get_guid(replica_value(entry));
	return port && entry->octets[8] &&
	       sa_aliases_restore(aliases, port, entry->octets[8], guid);
}

static void adopt_alias(void *arg, const struct replica_entry *entry)
{
	struct adoption *adoption = arg;

	adoption->bad += !make_alias(adoption, entry);
}

static void adopt_service(void *arg, const struct replica_entry *entry)
{
	struct adoption *adoption = arg;

	adoption->bad += !make_service(adoption, entry);
}

static void adopt_subscription(void *arg, const struct replica_entry *entry)
{
	struct adoption *adoption = arg;

	adoption->bad += !make_subscription(adoption, entry);
}

static void adopt_clock(void *arg, const struct replica_entry *entry)
{
	if (entry->value_length >= 8)
		((struct adoption *)arg)->clock = get_guid(replica_value(entry));
}

unsigned int sa_replicate_adopt(const struct sa_registries *registries,
				const struct replica *replica, uint64_t now)
{
	struct adoption adoption = {registries, registries->groups, now, 0, 0};

	replica_each(replica, REPLICA_ALIASES, adopt_alias, &adoption);
	replica_each(replica, REPLICA_CLOCK, adopt_clock, &adoption);
	replica_each(replica, REPLICA_GROUPS, adopt_group, &adoption);
	replica_each(replica, REPLICA_MEMBERS, adopt_member, &adoption);
	replica_each(replica, REPLICA_SERVICES, adopt_service, &adoption);
	replica_each(replica, REPLICA_SUBSCRIPTIONS, adopt_subscription, &adoption);
	return adoption.bad;
}
