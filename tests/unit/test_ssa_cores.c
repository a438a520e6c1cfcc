// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Cores in answers of the SA, which any port of the subnet may have put there. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "ssa/node/cores.h"
#include "tests/run_suite.h"

#define SERVICE_ID UINT64_C(0x026F70656E736D01)
#define DATA_OFFSET 112
#define RECORD iba_service_record_bytes

/* One record at octets. */
static void put(uint8_t *octets, uint64_t guid, uint64_t service_id, const char *name,
		const char *data, size_t length)
{
	struct iba_service_record record = {.service_id = service_id,
					    .service_gid = {UINT64_C(0xFE80000000000000), guid}};

	g_strlcpy(record.service_name, name, sizeof(record.service_name));
	wire_encode(&iba_service_record_type, &record, octets);
	memset(octets + DATA_OFFSET, 0, SSA_CORE_ADDRESS);
	memcpy(octets + DATA_OFFSET, data, length);
}

static void put_address(uint8_t *octets, uint64_t guid, const char *address)
{
	put(octets, guid, SERVICE_ID, "opensm-ssa", address, strlen(address));
}

/* "a b c" */
static char *parse(const uint8_t *octets, size_t length, size_t stride)
{
	const struct ssa_sa_answer answer = {octets, length, stride};
	g_autoptr(GPtrArray) found = ssa_cores_parse(&answer);

	g_ptr_array_add(found, NULL);
	return g_strjoinv(" ", (char **)found->pdata);
}

#define EXPECT(octets, length, stride, text)                                                       \
	do {                                                                                       \
		g_autofree char *found_ = parse(octets, length, stride);                           \
                                                                                                   \
		ck_assert_str_eq(found_, text);                                                    \
	} while (0)

/* By GID, whatever the order of the answer; each once. */
START_TEST(test_order)
{
	uint8_t octets[4 * RECORD];

	put_address(octets, 9, "sm9:6379");
	put_address(octets + RECORD, 2, "[fd00::2]:1");
	put_address(octets + 2 * RECORD, 5, "sm9:6379");
	put_address(octets + 3 * RECORD, 7, "10.0.0.7:65535");
	EXPECT(octets, sizeof(octets), RECORD, "[fd00::2]:1 sm9:6379 10.0.0.7:65535");
}
END_TEST

#define LONG_HOST "h123456789012345678901234567890123456789012345678901234567"

static const struct {
	const char *text;
	bool good;
} addresses[] = {
	{"h:1", true},
	{LONG_HOST ":6379", true},
	{LONG_HOST "x:6379", false},
	{"", false},
	{":1", false},
	{"h", false},
	{"h:", false},
	{"h:0", false},
	{"h:65536", false},
	{"h:-1", false},
	{"h:+1", false},
	{"h: 1", false},
	{"h:1 ", false},
	{"user@h:1", false},
	{"h/x:1", false},
	{"redis://h:1", false},
	{"h\n:1", false},
	{"h%00:1", false},
	{"h?a=b:1", false},
	{"h#:1", false},
	{"h\x80:1", false},
};

START_TEST(test_addresses)
{
	uint8_t octets[2 * RECORD];
	g_autofree char *expected =
		g_strdup_printf("%s%sother:1", addresses[_i].text, addresses[_i].good ? " " : "");

	ck_assert_int_eq(ssa_core_is_address(addresses[_i].text), addresses[_i].good);
	put(octets, 1, SERVICE_ID, "opensm-ssa", addresses[_i].text,
	    MIN(strlen(addresses[_i].text), SSA_CORE_ADDRESS));
	put_address(octets + RECORD, 2, "other:1");
	EXPECT(octets, sizeof(octets), RECORD, addresses[_i].good ? expected : "other:1");
}
END_TEST

/* What is not such a record, or has no end in its data. */
START_TEST(test_other_records)
{
	uint8_t octets[5 * RECORD];
	char full[SSA_CORE_ADDRESS];

	memset(full, '1', sizeof(full));
	full[1] = ':';
	put(octets, 1, SERVICE_ID, "opensm-ssa", full, sizeof(full));
	put(octets + RECORD, 2, SERVICE_ID + 1, "opensm-ssa", "a:1", 3);
	put(octets + 2 * RECORD, 3, SERVICE_ID, "opensm-ssa2", "b:1", 3);
	put(octets + 3 * RECORD, 4, SERVICE_ID, "opensm-ss", "c:1", 3);
	put(octets + 4 * RECORD, 5, SERVICE_ID, "opensm-ssa", "d:1\0e:2", 7);
	EXPECT(octets, sizeof(octets), RECORD, "d:1");
}
END_TEST

/* Tables whose sizes do not fit, which end within a record, or have gaps between records. */
START_TEST(test_sizes)
{
	uint8_t octets[2 * RECORD + 8] = {0};

	put_address(octets, 1, "a:1");
	put_address(octets + RECORD + 8, 2, "b:1");
	EXPECT(octets, sizeof(octets), RECORD + 8, "a:1 b:1");
	EXPECT(octets, sizeof(octets) - 1, RECORD + 8, "a:1");
	EXPECT(octets, RECORD - 1, RECORD, "");
	EXPECT(octets, 0, RECORD, "");
	EXPECT(octets, sizeof(octets), 0, "");
	EXPECT(octets, sizeof(octets), 8, "");
	EXPECT(octets, sizeof(octets), RECORD - 8, "");
}
END_TEST

START_TEST(test_too_many)
{
	g_autofree uint8_t *octets = g_malloc0((size_t)100 * RECORD);
	const struct ssa_sa_answer answer = {octets, (size_t)100 * RECORD, RECORD};
	g_autoptr(GPtrArray) found = NULL;

	for (unsigned int i = 0; i < 100; i++) {
		g_autofree char *address = g_strdup_printf("h:%u", 100 - i);

		put_address(octets + (size_t)i * RECORD, i + 1, address);
	}
	found = ssa_cores_parse(&answer);
	ck_assert_uint_eq(found->len, SSA_CORES_MAX);
	ck_assert_str_eq(found->pdata[0], "h:100");
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_cores");
	TCase *tcase = tcase_create("answers");

	tcase_add_test(tcase, test_order);
	tcase_add_loop_test(tcase, test_addresses, 0, (int)G_N_ELEMENTS(addresses));
	tcase_add_test(tcase, test_other_records);
	tcase_add_test(tcase, test_sizes);
	tcase_add_test(tcase, test_too_many);
	suite_add_tcase(suite, tcase);
	return suite;
}
