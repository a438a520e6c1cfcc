// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rows of the tables, out of facts. */
#include "snmp/facts.h"

/* ---- scalars ---- */

static void scalar_index(const void *data, uint32_t row, struct oid *index)
{
	(void)data, (void)row;
	oid_add(index, 0);
}

static void set_gauge(struct mib_value *value, uint64_t number)
{
	mib_set_number(value, MIN(number, UINT32_MAX));
}

/* What only a daemon that answers has. */
static bool status_value(const struct facts *facts, enum mib_object object, struct mib_value *value)
{
	bool subnet = facts->has_subnet && facts->state == FACTS_MASTER;

	switch (object) {
	case MIB_GUID:
		mib_set_guid(value, facts->guid);
		return true;
	case MIB_PRIORITY:
		mib_set_number(value, MIN(facts->priority, 15));
		return true;
	case MIB_GENERATION:
		mib_set_number(value, facts->generation);
		return subnet;
	case MIB_SWITCHES:
		set_gauge(value, facts->switches);
		return subnet;
	case MIB_HOSTS:
		set_gauge(value, facts->hosts);
		return subnet;
	case MIB_LINKS:
		set_gauge(value, facts->links);
		return subnet;
	case MIB_UNHEALTHY_PORTS:
		set_gauge(value, facts->unhealthy->len);
		return true;
	case MIB_STANDBYS:
		set_gauge(value, facts->standbys->len);
		return true;
	default:
		mib_set_text(value, facts->version);
		return object == MIB_VERSION;
	}
}

static bool health_value(const struct facts *facts, enum mib_object object, struct mib_value *value)
{
	switch (object) {
	case MIB_MASTER_GUID:
		mib_set_guid(value, facts->master);
		return true;
	case MIB_HEALTHY:
		mib_set_flag(value, facts->healthy);
		return true;
	case MIB_PROBLEMS:
		mib_set_text(value, facts->problems);
		return true;
	case MIB_PARTITION_PROBLEMS:
		mib_set_text(value, facts->partition_problems);
		return true;
	case MIB_LAST_SWEEP_KIND:
		mib_set_text(value, facts->sweep_kind);
		return facts->swept;
	case MIB_LAST_SWEEP_ERRORS:
		mib_set_flag(value, facts->sweep_errors);
		return facts->swept;
	case MIB_LAST_SWEEP_MILLIS:
		set_gauge(value, facts->sweep_us / 1000);
		return facts->swept;
	default:
		set_gauge(value, facts->sweep_age_s);
		return object == MIB_LAST_SWEEP_AGE && facts->swept;
	}
}

static bool scalar_value(const void *data, uint32_t row, enum mib_object object,
			 struct mib_value *value)
{
	const struct facts *facts = data;

	(void)row;
	switch (object) {
	case MIB_STATE:
		mib_set_number(value, facts->state);
		return true;
	case MIB_SUBNET_UP:
		mib_set_flag(value, facts_subnet_up(facts));
		return true;
	case MIB_MASTER_GUID:
	case MIB_HEALTHY:
	case MIB_PROBLEMS:
	case MIB_PARTITION_PROBLEMS:
	case MIB_LAST_SWEEP_KIND:
	case MIB_LAST_SWEEP_ERRORS:
	case MIB_LAST_SWEEP_MILLIS:
	case MIB_LAST_SWEEP_AGE:
		return facts->health_known && health_value(facts, object, value);
	default:
		return facts->state != FACTS_UNREACHABLE && status_value(facts, object, value);
	}
}

/* ---- counters ---- */

static void counter_index(const void *data, uint32_t row, struct oid *index)
{
	(void)data;
	oid_add(index, row + 1);
}

static bool counter_value(const void *data, uint32_t row, enum mib_object object,
			  struct mib_value *value)
{
	const struct facts_counter *counter =
		&g_array_index((GArray *)data, struct facts_counter, row);

	if (object == MIB_COUNTER_NAME)
		mib_set_text(value, counter->name);
	else
		mib_set_number(value, counter->value);
	return true;
}

/* ---- partitions and members ---- */

static void partition_index(const void *data, uint32_t row, struct oid *index)
{
	oid_add(index, g_array_index((GArray *)data, struct facts_partition, row).p_key);
}

static bool partition_value(const void *data, uint32_t row, enum mib_object object,
			    struct mib_value *value)
{
	const struct facts_partition *partition =
		&g_array_index((GArray *)data, struct facts_partition, row);

	switch (object) {
	case MIB_PARTITION_NAME:
		mib_set_text(value, partition->name);
		return true;
	case MIB_PARTITION_IPOIB:
		mib_set_flag(value, partition->ipoib);
		return true;
	case MIB_PARTITION_MTU:
		mib_set_number(value, partition->mtu);
		return true;
	case MIB_PARTITION_RATE:
		mib_set_number(value, partition->rate);
		return true;
	case MIB_PARTITION_SL:
		mib_set_number(value, partition->sl);
		return true;
	case MIB_PARTITION_ALL:
		mib_set_number(value, partition->all);
		return true;
	case MIB_PARTITION_FULL:
		mib_set_number(value, partition->full);
		return true;
	case MIB_PARTITION_LIMITED:
		mib_set_number(value, partition->limited);
		return true;
	case MIB_PARTITION_ORIGIN:
		mib_set_number(value, partition->own ? 2 : 1);
		return true;
	default:
		mib_set_number(value, MIB_ACTIVE);
		return object == MIB_PARTITION_ROW_STATUS;
	}
}

static void member_index(const void *data, uint32_t row, struct oid *index)
{
	const struct facts_member *member =
		&g_array_index((GArray *)data, struct facts_member, row);

	oid_add(index, member->p_key);
	oid_add_guid(index, member->guid);
}

static bool member_value(const void *data, uint32_t row, enum mib_object object,
			 struct mib_value *value)
{
	const struct facts_member *member =
		&g_array_index((GArray *)data, struct facts_member, row);

	switch (object) {
	case MIB_MEMBERSHIP:
		mib_set_number(value, member->membership);
		return member->membership != FACTS_NONE;
	case MIB_MEMBER_ABSENT:
		mib_set_flag(value, member->absent);
		return true;
	default:
		mib_set_number(value, MIB_ACTIVE);
		return object == MIB_MEMBER_ROW_STATUS;
	}
}

/* ---- nodes and ports ---- */

static void node_index(const void *data, uint32_t row, struct oid *index)
{
	oid_add_guid(index, ((const struct image *)data)->nodes[row].guid);
}

static bool node_value(const void *data, uint32_t row, enum mib_object object,
		       struct mib_value *value)
{
	const struct image *image = data;
	const struct image_node *node = &image->nodes[row];

	switch (object) {
	case MIB_NODE_NAME:
		mib_set_text(value, image_name(image, node->name));
		return true;
	case MIB_NODE_TYPE:
		mib_set_number(value, node->type);
		return true;
	case MIB_NODE_LID:
		mib_set_number(value, node->lid);
		return true;
	case MIB_NODE_PORTS:
		mib_set_number(value, node->n_ports);
		return true;
	case MIB_NODE_SILENT:
		mib_set_flag(value, node->flags & IMAGE_NODE_SILENT);
		return true;
	default:
		mib_set_number(value, node->alarm);
		return object == MIB_NODE_ALARM;
	}
}

static void port_index(const void *data, uint32_t row, struct oid *index)
{
	const struct image *image = data;

	oid_add_guid(index, image_node_of(image, row)->guid);
	oid_add(index, image->ports[row].num);
}

static bool port_value(const void *data, uint32_t row, enum mib_object object,
		       struct mib_value *value)
{
	const struct image *image = data;
	const struct image_port *port = &image->ports[row];
	bool peer = port->peer != IMAGE_NONE;

	switch (object) {
	case MIB_PORT_GUID:
		mib_set_guid(value, port->guid);
		return true;
	case MIB_PORT_LID:
		mib_set_number(value, port->lid);
		return true;
	case MIB_PORT_STATE:
		mib_set_number(value, port->state);
		return true;
	case MIB_PORT_RATE:
		mib_set_number(value, port->rate);
		return true;
	case MIB_PORT_BEST_RATE:
		mib_set_number(value, port->best_rate);
		return true;
	case MIB_PORT_PEER_GUID:
		mib_set_guid(value, peer ? image_node_of(image, port->peer)->guid : 0);
		return true;
	case MIB_PORT_PEER_NUM:
		mib_set_number(value, peer ? image->ports[port->peer].num : 0);
		return true;
	case MIB_PORT_CONDITION:
		mib_set_text(value, port->condition ? image_name(image, port->condition) : "");
		return true;
	default:
		mib_set_number(value, port->alarm);
		return object == MIB_PORT_ALARM;
	}
}

/* ---- all ---- */

void facts_rows(const struct facts *facts, struct mib_rows rows[MIB_TABLES])
{
	bool master = facts->state == FACTS_MASTER;
	const struct image *image = &facts->image;
	const struct mib_rows all[MIB_TABLES] = {
		[MIB_SM_TABLE] = {facts, 1, scalar_index, scalar_value},
		[MIB_COUNTERS_TABLE] = {facts->counters, facts->counters->len, counter_index,
					counter_value},
		[MIB_PARTITIONS_TABLE] = {facts->partitions, master ? facts->partitions->len : 0,
					  partition_index, partition_value},
		[MIB_MEMBERS_TABLE] = {facts->members, master ? facts->members->len : 0,
				       member_index, member_value},
		[MIB_NODES_TABLE] = {image, image->header ? image->header->n_nodes : 0, node_index,
				     node_value},
		[MIB_PORTS_TABLE] = {image, image->header ? image->header->n_ports : 0, port_index,
				     port_value},
	};

	for (unsigned int i = 0; i < MIB_TABLES; i++)
		rows[i] = all[i];
}
