// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a standby gets of the registry:
 *
 *	group	MGID (16) -> MCMemberRecord of nobody, GUID of the creator (8), flags (1)
 *	member	MGID (16), port GUID (8) -> JoinState (1), flags (1)
 *
 * A value may be longer than that: what later versions add stands behind.
 */
#include "sa/replicate.h"

#include <string.h>

#define RECORD_BYTES (416 / 8)
#define GROUP_BYTES (RECORD_BYTES + 8 + 1)
#define GROUP_KEY_BYTES 16
#define MEMBER_BYTES 2
#define MEMBER_KEY_BYTES 24
#define WELL_KNOWN 1 /* flags of a group */
#define PROXY 1	     /* of a member */

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

/* ---- what changes ---- */

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
	const uint8_t value[MEMBER_BYTES] = {member->join_state, member->proxy ? PROXY : 0};
	bool gone = member->join_state == 0;
	uint8_t key[MEMBER_KEY_BYTES];

	put_gid(key, group->record.mgid);
	put_guid(key + GROUP_KEY_BYTES, member->guid);
	replicator_put(arg, replica_entry_new(REPLICA_MEMBERS, key, sizeof(key),
					      gone ? NULL : value, gone ? 0 : sizeof(value)));
}

const struct sa_store_watch sa_replicate_watch = {.group = put_group, .member = put_member};

/* ---- adopting ---- */

struct adoption {
	struct sa_store *store;
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
	uint64_t guid;

	if (entry->key_length != MEMBER_KEY_BYTES || entry->value_length < MEMBER_BYTES)
		return false;
	group = sa_store_find(adoption->store, get_gid(entry->octets));
	guid = get_guid(entry->octets + GROUP_KEY_BYTES);
	if (!group || !guid || !value[0] || value[0] > 0xF)
		return false;
	sa_store_join(adoption->store, group, guid, value[0], value[1] & PROXY);
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

unsigned int sa_replicate_adopt(struct sa_store *store, const struct replica *replica)
{
	struct adoption adoption = {store, 0};

	replica_each(replica, REPLICA_GROUPS, adopt_group, &adoption);
	replica_each(replica, REPLICA_MEMBERS, adopt_member, &adoption);
	return adoption.bad;
}
