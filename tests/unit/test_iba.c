// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Every wire type of iba/all.def: the table is sound, and both directions of the codec agree. */
#include <check.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sa_mcm.h>
#include <infiniband/umad_sm.h>
#include <string.h>

#include <iba/attributes.h>

#include "tests/run_suite.h"

#define ROUNDS 200
#define ROOM 2048

static void fill_random(GRand *rand, uint8_t *octets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		octets[i] = (uint8_t)g_rand_int(rand);
}

/* Sets the bits of mask that belong to some field. */
static void known_bits(const struct wire_type *type, unsigned int start, uint8_t *mask)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		for (unsigned int j = 0; j < field->count; j++) {
			unsigned int bit = start + field->bit + j * field->width;

			if (field->kind == WIRE_NEST) {
				known_bits(field->nested, bit, mask);
				continue;
			}
			for (unsigned int k = bit; k < bit + field->width; k++)
				mask[k / 8] |= 0x80 >> (k % 8);
		}
	}
}

/* Puts a fitting value into each field; bits between the fields stay. */
static void fill_host(const struct wire_type *type, GRand *rand, uint8_t *host)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		for (unsigned int j = 0; j < field->count; j++) {
			uint64_t value = (uint64_t)g_rand_int(rand) << 32;

			value |= g_rand_int(rand);
			if (field->kind == WIRE_NEST)
				fill_host(field->nested, rand,
					  host + field->offset + j * field->size);
			else
				wire_set_value(field, host, j, value >> (64 - field->width));
		}
	}
}

START_TEST(test_tables_are_sound)
{
	g_autofree char *why = NULL;

	ck_assert_msg(wire_check(iba_types[_i], &why), "%s", why);
}
END_TEST

START_TEST(test_wire_round_trip)
{
	const struct wire_type *type = iba_types[_i];
	uint8_t wire[ROOM], again[ROOM], known[ROOM] = {0};
	_Alignas(8) uint8_t host[2 * ROOM];
	g_autoptr(GRand) rand = g_rand_new_with_seed(_i);
	unsigned int bad = 0;

	known_bits(type, 0, known);
	for (int round = 0; round < ROUNDS; round++) {
		fill_random(rand, wire, wire_bytes(type));
		fill_random(rand, again, sizeof(again));
		wire_decode(type, wire, host);
		wire_encode(type, host, again);
		for (size_t i = 0; i < wire_bytes(type); i++)
			bad += again[i] != (wire[i] & known[i]);
	}
	ck_assert_msg(bad == 0, "%s: %u octets differ", type->name, bad);
}
END_TEST

START_TEST(test_host_round_trip)
{
	const struct wire_type *type = iba_types[_i];
	_Alignas(8) uint8_t host[2 * ROOM], again[2 * ROOM];
	g_autoptr(GRand) rand = g_rand_new_with_seed(_i);
	unsigned int bad = 0;

	for (int round = 0; round < ROUNDS; round++) {
		uint8_t wire[ROOM];

		/* equal filling in both, so that a byte that decode wrongly touches shows */
		memset(host, round, sizeof(host));
		memset(again, round, sizeof(again));
		fill_host(type, rand, host);
		wire_encode(type, host, wire);
		wire_decode(type, wire, again);
		bad += memcmp(host, again, sizeof(host)) != 0;
	}
	ck_assert_msg(bad == 0, "%s: %u rounds differ", type->name, bad);
}
END_TEST

/* Straight-line code against the walk over the rows, also of values wider than their fields. */
START_TEST(test_code_agrees_with_rows)
{
	const struct wire_type *type = iba_types[_i];
	struct wire_type rows = *type;
	GRand *rand = g_rand_new_with_seed(4 + _i);
	uint8_t wire[ROOM], host[ROOM], by_code[ROOM], by_rows[ROOM];

	ck_assert(type->encode && type->decode);
	ck_assert(type->size <= ROOM && wire_bytes(type) <= ROOM);
	rows.encode = NULL;
	rows.decode = NULL;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		fill_random(rand, wire, sizeof(wire));
		fill_random(rand, host, sizeof(host));
		memset(by_code, 0xA5, sizeof(by_code));
		memset(by_rows, 0xA5, sizeof(by_rows));
		wire_decode(type, wire, by_code);
		wire_decode(&rows, wire, by_rows);
		ck_assert_msg(!memcmp(by_code, by_rows, sizeof(by_code)), "%s: decode", type->name);
		memset(by_code, 0xA5, sizeof(by_code));
		memset(by_rows, 0xA5, sizeof(by_rows));
		wire_encode(type, host, by_code);
		wire_encode(&rows, host, by_rows);
		ck_assert_msg(!memcmp(by_code, by_rows, sizeof(by_code)), "%s: encode", type->name);
	}
	g_rand_free(rand);
}
END_TEST

/* A record equals itself under every mask; bits of no component exclude no record. */
START_TEST(test_match_agrees_with_components)
{
	const struct wire_type *type = iba_types[_i];
	_Alignas(8) uint8_t query[2 * ROOM] = {0}, other[2 * ROOM];
	g_autoptr(GRand) rand = g_rand_new_with_seed(_i);
	uint64_t noticed = 0;

	fill_host(type, rand, query);
	ck_assert(wire_match(type, query, query, UINT64_MAX));
	memset(other, 0xA5, sizeof(other));
	for (unsigned int c = 0; c < 64; c++)
		if (!wire_match(type, query, other, UINT64_C(1) << c))
			noticed |= UINT64_C(1) << c;
	ck_assert_msg((noticed & ~wire_components(type)) == 0, "%s: %#lx", type->name,
		      (unsigned long)(noticed & ~wire_components(type)));
}
END_TEST

START_TEST(test_prints_every_field)
{
	const struct wire_type *type = iba_types[_i];
	_Alignas(8) uint8_t host[2 * ROOM] = {0};
	g_autoptr(GString) out = g_string_new(NULL);

	wire_print(type, host, out);
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];
		g_autofree char *text = g_strdup_printf("%s:.", field->name);

		if (field->kind != WIRE_NEST || field->print == WIRE_GID)
			ck_assert_msg(strstr(out->str, text) != NULL, "%s.%s", type->name,
				      field->name);
	}
}
END_TEST

/* Numbers of the IBA that the system's headers have as well. */
START_TEST(test_numbers_of_umad)
{
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, mgid), UMAD_SA_MCM_COMP_MASK_MGID);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, port_gid),
			  UMAD_SA_MCM_COMP_MASK_PORT_GID);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, q_key), UMAD_SA_MCM_COMP_MASK_QKEY);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, mlid), UMAD_SA_MCM_COMP_MASK_MLID);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, mtu_selector),
			  UMAD_SA_MCM_COMP_MASK_MTU_SEL);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, mtu), UMAD_SA_MCM_COMP_MASK_MTU);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, t_class), UMAD_SA_MCM_COMP_MASK_TCLASS);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, p_key), UMAD_SA_MCM_COMP_MASK_PKEY);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, rate_selector),
			  UMAD_SA_MCM_COMP_MASK_RATE_SEL);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, rate), UMAD_SA_MCM_COMP_MASK_RATE);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, packet_life_time_selector),
			  UMAD_SA_MCM_COMP_MASK_LIFE_TIME_SEL);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, packet_life_time),
			  UMAD_SA_MCM_COMP_MASK_LIFE_TIME);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, sl), UMAD_SA_MCM_COMP_MASK_SL);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, flow_label),
			  UMAD_SA_MCM_COMP_MASK_FLOW_LABEL);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, hop_limit),
			  UMAD_SA_MCM_COMP_MASK_HOP_LIMIT);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, scope), UMAD_SA_MCM_COMP_MASK_SCOPE);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, join_state),
			  UMAD_SA_MCM_COMP_MASK_JOIN_STATE);
	ck_assert_uint_eq(IBA_COMPONENT(mc_member_record, proxy_join),
			  UMAD_SA_MCM_COMP_MASK_PROXY_JOIN);
	ck_assert_int_eq(IBA_SA_NO_RESOURCES, UMAD_SA_STATUS_NO_RESOURCES << 8);
	ck_assert_int_eq(IBA_SA_PRIORITY_SUGGESTED, UMAD_SA_STATUS_PRI_SUGGESTED << 8);
	ck_assert_int_eq(IBA_SA_CAP2_PORT_INFO_EXTENDED_RECORD,
			 UMAD_SA_CAP_MASK2_IS_PORT_INFO_EXT_REC_SUP);
	ck_assert_int_eq(IBA_ATTR_INFORM_INFO_RECORD, UMAD_SA_ATTR_INFORM_INFO_REC);
	ck_assert_int_eq(IBA_ATTR_EXT_PORT_INFO, UMAD_SM_ATTR_MLNX_EXT_PORT_INFO);
	ck_assert_int_eq(IBA_TRAP_SWITCH_BAD_P_KEY, UMAD_SM_BAD_SWITCH_PKEY_TRAP);
}
END_TEST

/* The last component of each record, by hand: a missing number on the way would shift it. */
START_TEST(test_last_components)
{
	ck_assert_int_eq(iba_path_record_c_preference, 22);
	ck_assert_int_eq(iba_service_record_c_service_data64 + 1, 36);
	ck_assert_int_eq(iba_multi_path_record_c_service_id_lsb, 21);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(node_record, node_info, vendor_id), 1 << 13);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(node_record, node_description, node_string),
			  1 << 14);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(port_info_record, port_info, capability_mask),
			  1 << 7);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(port_info_record, port_info, guid_cap),
			  UINT64_C(1) << 42);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(port_info_record, port_info, subnet_timeout),
			  UINT64_C(1) << 45);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(port_info_record, port_info, capability_mask2),
			  UINT64_C(1) << 53);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(port_info_record, port_info, link_speed_ext_enabled),
			  UINT64_C(1) << 57);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(sm_info_record, sm_info, sm_state), 1 << 6);
	ck_assert_uint_eq(IBA_COMPONENT_NESTED(inform_info_record, inform_info, producer_type),
			  1 << 15);
	ck_assert_uint_eq(wire_components(&iba_guid_info_record_type), 0xFF3);
	ck_assert_uint_eq(wire_components(&iba_link_record_type), 0xF);
}
END_TEST

START_TEST(test_names)
{
	ck_assert_str_eq(iba_name(IBA_SET_METHOD, IBA_METHOD_GET_TABLE_RESP), "GetTableResp");
	ck_assert_str_eq(iba_name(IBA_SET_ATTR, 0x15), "PortInfo");
	ck_assert_str_eq(iba_name(IBA_SET_SA_ATTR, 0x15), "LinearForwardingTableRecord");
	ck_assert_str_eq(iba_name(IBA_SET_RATE, IBA_RATE_1200), "1200 Gb/s");
	ck_assert_str_eq(iba_name(IBA_SET_PORT_CAP, IBA_PORT_CAP_HIERARCHY_INFO),
			 "IsHierarchyInfoSupported");
	ck_assert_ptr_null(iba_name(IBA_SET_PORT_STATE, 5));
}
END_TEST

START_TEST(test_attributes)
{
	for (const struct iba_attribute *row = iba_attributes; row->type; row++) {
		ck_assert_ptr_eq(iba_attribute_find(row->mgmt_class, row->attribute), row);
		ck_assert_ptr_nonnull(iba_attribute_name(row->mgmt_class, row->attribute));
		ck_assert_uint_le(iba_attribute_offset(row->mgmt_class, row->attribute) +
					  wire_bytes(row->type),
				  IBA_MAD_BYTES);
	}
	ck_assert_str_eq(iba_attribute_name(IBA_CLASS_SUBN_DIRECTED, 0x15), "PortInfo");
	ck_assert_str_eq(iba_attribute_name(IBA_CLASS_PERF, 0x12), "PortCounters");
	ck_assert_str_eq(iba_attribute_name(IBA_CLASS_CC, 0x12), "CongestionKeyInfo");
	ck_assert_ptr_null(iba_attribute_name(IBA_CLASS_CC, 0x99));
	ck_assert_ptr_null(iba_attribute_find(IBA_CLASS_BM, IBA_ATTR_NOTICE));
}
END_TEST

static unsigned int n_types(void)
{
	unsigned int n = 0;

	while (iba_types[n])
		n++;
	return n;
}

TEST_SUITE
{
	Suite *suite = suite_create("iba");
	TCase *tcase = tcase_create("types");

	tcase_add_loop_test(tcase, test_tables_are_sound, 0, n_types());
	tcase_add_loop_test(tcase, test_wire_round_trip, 0, n_types());
	tcase_add_loop_test(tcase, test_host_round_trip, 0, n_types());
	tcase_add_loop_test(tcase, test_code_agrees_with_rows, 0, n_types());
	tcase_add_loop_test(tcase, test_match_agrees_with_components, 0, n_types());
	tcase_add_loop_test(tcase, test_prints_every_field, 0, n_types());
	tcase_add_test(tcase, test_numbers_of_umad);
	tcase_add_test(tcase, test_last_components);
	tcase_add_test(tcase, test_names);
	tcase_add_test(tcase, test_attributes);
	suite_add_tcase(suite, tcase);
	return suite;
}
