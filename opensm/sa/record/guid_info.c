// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Set and Delete of GuidInfoRecord (IBA 15.2.5.18): a port asks for alias GUIDs, or gives them
 * back. GID0 to GID7 in the ComponentMask say which entries of the block are meant.
 *
 * A port may change only its own table; with the SA key, any table. For a requested 0 the SA makes
 * up a GUID, or returns the present one. The answer has each of those entries as it is now, and 0
 * for an entry that was refused, which is unchanged: its GUID is or was another port's
 * (sa_aliases_refusal), or its index is beyond GUIDCap. Entry 0 is the base GUID whatever is
 * requested. A GUID that is a member of a multicast group cannot be removed: ERR_REQ_DENIED.
 */
#include "sa/sa_private.h"

#define C(name) IBA_COMPONENT(guid_info_record, name)
#define NEEDS (C(lid) | C(block_num))
#define GID0 4 /* component; the next ones are GID1 to GID7 */

struct table {
	struct sa_query *query;
	struct sa_aliases *aliases;
	uint64_t guid;	     /* of the port */
	unsigned int first;  /* index of the block's first entry */
	unsigned int cap;    /* of all entries */
	unsigned int picked; /* selected entries of the block, one bit each */
};

static uint16_t find_table(struct sa_query *query, struct table *table)
{
	const struct iba_guid_info_record *wanted = &query->wanted.guid_info;
	const struct fabric *fabric = query->subnet->fabric;
	uint32_t port = fabric_port_by_lid(fabric, wanted->lid);

	if (~query->mask & NEEDS)
		return IBA_SA_INSUFFICIENT_COMPONENTS;
	if (query->from.port != port && !query->from.privileged)
		return IBA_SA_DENIED;
	if (query->from.reduced && !query->subnet->options->sa_etm_allow_untrusted_guidinfo_rec)
		return IBA_SA_DENIED;
	if (port == FABRIC_NONE || !fabric_is_endport(fabric, port))
		return IBA_SA_NO_RECORDS;
	*table = (struct table){
		.query = query,
		.aliases = query->registries->aliases,
		.guid = fabric->ports[port].guid,
		.first = wanted->block_num * ALIAS_PER_BLOCK,
		.cap = fabric->ports[port].info.guid_cap,
		.picked = query->mask >> GID0 & ((1u << ALIAS_PER_BLOCK) - 1),
	};
	if (!table->first)
		table->picked &= ~1u; /* the base GUID */
	return table->first < table->cap ? IBA_STATUS_OK : IBA_SA_REQ_INVALID;
}

static bool is_picked(const struct table *table, unsigned int i)
{
	return table->picked >> i & 1 && table->first + i < table->cap;
}

static uint64_t alias_at(const struct table *table, unsigned int i)
{
	return sa_aliases_get(table->aliases, table->guid, (uint8_t)(table->first + i));
}

/* Whether the request would remove a GUID that is a member of a group. */
static bool is_in_use(const struct table *table, bool is_set)
{
	const uint64_t *wanted = table->query->wanted.guid_info.guid_info.guid;

	for (unsigned int i = 0; i < ALIAS_PER_BLOCK; i++) {
		uint64_t guid = is_picked(table, i) ? alias_at(table, i) : 0;

		if (guid && !(is_set && (!wanted[i] || wanted[i] == guid)) &&
		    sa_store_groups_of(table->query->store, guid))
			return true;
	}
	return false;
}

/* Entry i for the answer. */
static uint64_t set_entry(const struct table *table, unsigned int i, uint64_t wanted)
{
	struct sa_query *query = table->query;
	const struct subnet *subnet = query->subnet;
	uint64_t now = alias_at(table, i);
	const char *why;

	if (!wanted)
		wanted = now ? now
			     : sa_aliases_make(table->aliases, subnet, table->guid,
					       (uint8_t)subnet->options->sm_assigned_guid);
	if (wanted == now)
		return now;
	why = sa_aliases_refusal(table->aliases, subnet, table->guid, wanted,
				 query->from.privileged);
	if (why)
		query->reason = why;
	if (why ||
	    !sa_aliases_set(table->aliases, table->guid, (uint8_t)(table->first + i), wanted))
		return 0;
	sa_store_disown(query->store, wanted, 0); /* memberships that others made with it before */
	return wanted;
}

static void tell(const struct table *table, unsigned int refused)
{
	struct sa_query *query = table->query;
	struct iba_guid_info_record record = query->wanted.guid_info;

	alias_guids_block(sa_aliases_now(table->aliases), table->guid, record.block_num,
			  record.guid_info.guid);
	for (unsigned int i = 0; i < ALIAS_PER_BLOCK; i++)
		if (refused >> i & 1)
			record.guid_info.guid[i] = 0;
	sa_put(query, &record);
	if (query->subnet->options->alias_answer_timeout) {
		query->until[SA_HOLD_ALIASES] = sa_aliases_serial(table->aliases);
		query->until_ns =
			query->now + query->subnet->options->alias_answer_timeout * NS_PER_MS;
	}
}

uint16_t sa_guid_info_set(struct sa_query *query)
{
	const uint64_t *wanted = query->wanted.guid_info.guid_info.guid;
	unsigned int refused = 0;
	struct table table;
	uint16_t status = find_table(query, &table);

	if (status != IBA_STATUS_OK)
		return status;
	if (is_in_use(&table, true))
		return IBA_SA_DENIED;
	for (unsigned int i = 0; i < ALIAS_PER_BLOCK; i++)
		if (is_picked(&table, i) && !set_entry(&table, i, wanted[i]))
			refused |= 1u << i;
	query->n_refused = (uint8_t)__builtin_popcount(refused);
	tell(&table, refused);
	return IBA_STATUS_OK;
}

uint16_t sa_guid_info_remove(struct sa_query *query)
{
	struct table table;
	uint16_t status = find_table(query, &table);

	if (status != IBA_STATUS_OK)
		return status;
	if (is_in_use(&table, false))
		return IBA_SA_DENIED;
	for (unsigned int i = 0; i < ALIAS_PER_BLOCK; i++)
		if (is_picked(&table, i))
			sa_aliases_set(table.aliases, table.guid, (uint8_t)(table.first + i), 0);
	tell(&table, 0);
	return IBA_STATUS_OK;
}
