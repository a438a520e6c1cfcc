// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the SA serves: one row for each method of each attribute (IBA 15.2.5). */
#include "sa/sa_private.h"

static enum sa_place in_pool(const struct sa_query *query)
{
	(void)query;
	return SA_IN_POOL;
}

/* Records of one node are few. All records have the node's LID first. */
static enum sa_place by_node(const struct sa_query *query)
{
	return sa_wants(query, 1) ? SA_AT_ONCE : SA_IN_POOL;
}

/* Tables of all nodes can have millions of records. */
static enum sa_place by_table(const struct sa_query *query)
{
	return sa_wants(query, 1) ? SA_IN_POOL : SA_SLOWLY;
}

static enum sa_place at_once(const struct sa_query *query)
{
	(void)query;
	return SA_AT_ONCE;
}

/*
 * Reads run there as well: the pool would need a copy of a registry for each change of it, while
 * the whole table of SA_MAX_SERVICES services takes 12 ms on the actor, and one service
 * microseconds.
 */
static enum sa_place at_registries(const struct sa_query *query)
{
	(void)query;
	return SA_AT_REGISTRIES;
}

#define ROW_AS(attr, verb, asked, told, where, function)                                           \
	.attribute = IBA_ATTR_##attr, .method = IBA_METHOD_##verb, .name = #attr,                  \
	.asks = &iba_##asked##_type, .tells = &iba_##told##_type, .place = where, .run = function

/* Request and records have the same type. */
#define ROW(attr, verb, type, where, function) ROW_AS(attr, verb, type, type, where, function)

/* Get and GetTable, which differ in the number of records they may return. */
#define READ(attr, type, where, function, ...)                                                     \
	{ROW(attr, GET, type, where, function), ##__VA_ARGS__},                                    \
	{                                                                                          \
		ROW(attr, GET_TABLE, type, where, function), ##__VA_ARGS__                         \
	}

static const struct sa_row rows[] = {
	{ROW(CLASS_PORT_INFO, GET, class_port_info, at_once, sa_class_port_info_each),
	 .flags = SA_ANYBODY},
	{ROW(INFORM_INFO, SET, inform_info, at_registries, sa_inform_set)},
	READ(INFORM_INFO_RECORD, inform_info_record, at_registries, sa_inform_each),
	READ(NODE_RECORD, node_record, by_node, sa_node_each),
	READ(PORT_INFO_RECORD, port_info_record, by_node, sa_port_info_each,
	     .caps = IBA_SA_CAP_PORT_INFO_CAP_MASK_MATCH,
	     .caps2 = IBA_SA_CAP2_FULL_PORT_INFO_RECORD | IBA_SA_CAP2_EXTENDED_SPEEDS |
		      IBA_SA_CAP2_CAP_MASK2_MATCH | IBA_SA_CAP2_LINK_WIDTH_2X |
		      IBA_SA_CAP2_LINK_SPEED_HDR),
	READ(SWITCH_INFO_RECORD, switch_info_record, by_node, sa_switch_info_each,
	     .caps2 = IBA_SA_CAP2_MULTICAST_FDB_TOP),
	READ(LINEAR_FORWARDING_TABLE_RECORD, linear_forwarding_table_record, by_node, sa_lft_each),
	READ(MULTICAST_FORWARDING_TABLE_RECORD, multicast_forwarding_table_record, by_table,
	     sa_mft_each),
	READ(SL_TO_VL_TABLE_RECORD, sl_to_vl_table_record, by_table, sa_sl_to_vl_each),
	READ(VL_ARBITRATION_TABLE_RECORD, vl_arbitration_table_record, by_table,
	     sa_vl_arbitration_each),
	READ(GUID_INFO_RECORD, guid_info_record, in_pool, sa_guid_info_each),
	{ROW(GUID_INFO_RECORD, SET, guid_info_record, at_registries, sa_guid_info_set),
	 .caps2 = IBA_SA_CAP2_ADDITIONAL_GUIDS},
	{ROW(GUID_INFO_RECORD, DELETE, guid_info_record, at_registries, sa_guid_info_remove)},
	READ(SM_INFO_RECORD, sm_info_record, in_pool, sa_sm_info_each),
	READ(LINK_RECORD, link_record, by_node, sa_link_each),
	READ(P_KEY_TABLE_RECORD, p_key_table_record, by_table, sa_p_key_table_each,
	     .flags = SA_TRUSTED),
	READ(PATH_RECORD, path_record, sa_path_place, sa_path_each),
	/* Clients use either the attribute of the request or that of the answer. */
	{ROW_AS(PATH_RECORD, GET_TRACE_TABLE, path_record, trace_record, in_pool, sa_trace_each),
	 .flags = SA_NOT_REDUCED, .told = IBA_ATTR_TRACE_RECORD},
	{ROW_AS(TRACE_RECORD, GET_TRACE_TABLE, path_record, trace_record, in_pool, sa_trace_each),
	 .flags = SA_NOT_REDUCED},
	{ROW_AS(MULTI_PATH_RECORD, GET_MULTI, multi_path_record, path_record, in_pool,
		sa_multi_path_each),
	 .told = IBA_ATTR_PATH_RECORD, .caps = IBA_SA_CAP_MULTI_PATH},
	READ(MC_MEMBER_RECORD, mc_member_record, at_registries, sa_member_each),
	{ROW(MC_MEMBER_RECORD, SET, mc_member_record, at_registries, sa_member_set),
	 .caps = IBA_SA_CAP_UD_MULTICAST, .caps2 = IBA_SA_CAP2_SEND_ONLY_FULL_MEMBER},
	{ROW(MC_MEMBER_RECORD, DELETE, mc_member_record, at_registries, sa_member_remove)},
	READ(SERVICE_RECORD, service_record, at_registries, sa_service_each),
	{ROW(SERVICE_RECORD, SET, service_record, at_registries, sa_service_set),
	 .caps2 = IBA_SA_CAP2_MULTICAST_SERVICE_RECORD},
	{ROW(SERVICE_RECORD, DELETE, service_record, at_registries, sa_service_remove)},
};

const struct sa_row *sa_rows(unsigned int *n)
{
	*n = G_N_ELEMENTS(rows);
	return rows;
}

const struct sa_row *sa_row_find(uint16_t attribute, uint8_t method)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].attribute == attribute && rows[i].method == method)
			return &rows[i];
	return NULL;
}
