// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The codec on small tables of its own: bits anywhere, match rules, printing, proof-reading. */
#include <check.h>
#include <string.h>

#include <complib/wire.h>

#include "tests/run_suite.h"

#define ROW(struct_, name_, kind_, bit_, width_, count_, component_, match_, print_)               \
	{                                                                                          \
		.name = #name_, .bit = bit_, .width = width_, .count = count_,                     \
		.offset = offsetof(struct struct_, name_),                                         \
		.size = sizeof(((struct struct_ *)NULL)->name_) / (count_),                        \
		.component = component_, .kind = kind_, .print = print_, .match = match_           \
	}

#define TYPE(struct_, rows, bits_)                                                                 \
	{                                                                                          \
		.name = #struct_, .fields = rows, .n_fields = G_N_ELEMENTS(rows), .bits = bits_,   \
		.size = sizeof(struct struct_)                                                     \
	}

struct pair {
	uint64_t high, low;
};

static const struct wire_field pair_rows[] = {
	ROW(pair, high, WIRE_UINT, 0, 64, 1, -1, WIRE_MATCH_EQUAL, WIRE_GUID),
	ROW(pair, low, WIRE_UINT, 64, 64, 1, -1, WIRE_MATCH_EQUAL, WIRE_GUID),
};
static const struct wire_type pair_type = TYPE(pair, pair_rows, 128);

struct inner {
	uint8_t a;
	uint16_t b;
};

static const struct wire_field inner_rows[] = {
	ROW(inner, a, WIRE_UINT, 0, 4, 1, 0, WIRE_MATCH_EQUAL, WIRE_DEC),
	ROW(inner, b, WIRE_UINT, 4, 12, 1, 1, WIRE_MATCH_EQUAL, WIRE_HEX),
};
static const struct wire_type inner_type = TYPE(inner, inner_rows, 16);

struct outer {
	uint8_t flag;
	uint64_t wide;
	uint32_t mask;
	uint16_t lid[2];
	struct pair gid;
	struct inner inner;
	char text[8];
	uint64_t key;
};

static const struct wire_field outer_rows[] = {
	ROW(outer, flag, WIRE_UINT, 0, 1, 1, 0, WIRE_MATCH_EQUAL, WIRE_DEC),
	ROW(outer, wide, WIRE_UINT, 3, 64, 1, 1, WIRE_MATCH_EQUAL, WIRE_HEX),
	ROW(outer, mask, WIRE_UINT, 70, 26, 1, 2, WIRE_MATCH_BITS, WIRE_HEX),
	ROW(outer, lid, WIRE_UINT, 96, 16, 2, 3, WIRE_MATCH_EQUAL, WIRE_LID),
	{.name = "gid",
	 .nested = &pair_type,
	 .bit = 128,
	 .width = 128,
	 .count = 1,
	 .offset = offsetof(struct outer, gid),
	 .size = sizeof(struct pair),
	 .component = 5,
	 .kind = WIRE_NEST,
	 .print = WIRE_GID,
	 .match = WIRE_MATCH_EQUAL},
	{.name = "inner",
	 .nested = &inner_type,
	 .bit = 256,
	 .width = 16,
	 .count = 1,
	 .offset = offsetof(struct outer, inner),
	 .size = sizeof(struct inner),
	 .component = 6,
	 .kind = WIRE_NEST,
	 .print = WIRE_DEC,
	 .match = WIRE_MATCH_EQUAL},
	ROW(outer, text, WIRE_BYTES, 272, 8, 8, 8, WIRE_MATCH_EQUAL, WIRE_TEXT),
	ROW(outer, key, WIRE_UINT, 336, 64, 1, 9, WIRE_MATCH_NEVER, WIRE_HIDE),
};
static const struct wire_type outer_type = TYPE(outer, outer_rows, 400);

static const struct outer sample = {
	.flag = 1,
	.wide = UINT64_C(0x8123456789ABCDEF),
	.mask = 0x3ABCDEF,
	.lid = {7, 0xC001},
	.gid = {UINT64_C(0xFE80000000000000), 0x1234},
	.inner = {0xA, 0xBCD},
	.text = "ab\x01\\",
	.key = 1,
};

static const uint8_t sample_wire[] = {
	0x90, 0x24, 0x68, 0xAC, 0xF1, 0x35, 0x79, 0xBD, 0xE3, 0xAB, 0xCD, 0xEF, 0x00,
	0x07, 0xC0, 0x01, 0xFE, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x12, 0x34, 0xAB, 0xCD, 'a',  'b',  0x01, '\\', 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
};

START_TEST(test_encode)
{
	uint8_t wire[sizeof(sample_wire) + 1];

	memset(wire, 0xEE, sizeof(wire));
	wire_encode(&outer_type, &sample, wire);
	ck_assert_mem_eq(wire, sample_wire, sizeof(sample_wire));
	ck_assert_uint_eq(wire[sizeof(sample_wire)], 0xEE);
}
END_TEST

START_TEST(test_decode)
{
	struct outer host;

	memset(&host, 0xEE, sizeof(host));
	wire_decode(&outer_type, sample_wire, &host);
	ck_assert_uint_eq(host.flag, sample.flag);
	ck_assert_uint_eq(host.wide, sample.wide);
	ck_assert_uint_eq(host.mask, sample.mask);
	ck_assert_uint_eq(host.lid[0], 7);
	ck_assert_uint_eq(host.lid[1], 0xC001);
	ck_assert_uint_eq(host.gid.high, sample.gid.high);
	ck_assert_uint_eq(host.gid.low, sample.gid.low);
	ck_assert_uint_eq(host.inner.a, 0xA);
	ck_assert_uint_eq(host.inner.b, 0xBCD);
	ck_assert_mem_eq(host.text, sample.text, sizeof(host.text));
	ck_assert_uint_eq(host.key, 1);
}
END_TEST

/* Bits between the fields do not count, and each field does. */
START_TEST(test_equal)
{
	struct outer a, b;

	memset(&a, 0xEE, sizeof(a));
	memset(&b, 0x11, sizeof(b));
	wire_decode(&outer_type, sample_wire, &a);
	wire_decode(&outer_type, sample_wire, &b);
	ck_assert(memcmp(&a, &b, sizeof(a)) != 0);
	ck_assert(wire_equal(&outer_type, &a, &b));
	b.flag = 0;
	ck_assert(!wire_equal(&outer_type, &a, &b));
	b.flag = a.flag;
	b.key++;
	ck_assert(!wire_equal(&outer_type, &a, &b));
	b.key = a.key;
	b.inner.b ^= 1;
	ck_assert(!wire_equal(&outer_type, &a, &b));
}
END_TEST

START_TEST(test_too_wide_value_is_cut)
{
	const struct inner big = {.a = 0xFA, .b = 0xFBCD};
	uint8_t wire[2];

	wire_encode(&inner_type, &big, wire);
	ck_assert_uint_eq(wire[0], 0xAB);
	ck_assert_uint_eq(wire[1], 0xCD);
}
END_TEST

/* Every start bit and width of one integer, against a bit by bit reading. */
START_TEST(test_all_alignments)
{
	uint8_t wire[16], again[16];
	unsigned int bad = 0;

	for (size_t i = 0; i < sizeof(wire); i++)
		wire[i] = (uint8_t)(i * 73 + 41);
	for (unsigned int bit = 0; bit < 64; bit++) {
		for (unsigned int width = 1; width <= 64; width++) {
			const struct wire_field row = {.name = "x",
						       .bit = bit,
						       .width = width,
						       .count = 1,
						       .size = 8,
						       .component = -1};
			const struct wire_type type = {"x", &row, 1, 128, 8};
			uint64_t host = 0, expected = 0;

			for (unsigned int i = bit; i < bit + width; i++)
				expected = expected << 1 | (wire[i / 8] >> (7 - i % 8) & 1);
			wire_decode(&type, wire, &host);
			bad += host != expected;
			host |= width < 64 ? UINT64_MAX << width : 0; /* must be cut */
			wire_encode(&type, &host, again);
			for (unsigned int i = 0; i < 128; i++) {
				unsigned int want = wire[i / 8] >> (7 - i % 8) & 1;

				if (i < bit || i >= bit + width)
					want = 0;
				bad += (again[i / 8] >> (7 - i % 8) & 1u) != want;
			}
		}
	}
	ck_assert_uint_eq(bad, 0);
}
END_TEST

static bool matches(const struct outer *candidate, unsigned int component)
{
	return wire_match(&outer_type, &sample, candidate, UINT64_C(1) << component);
}

/* Changes one field and checks that exactly its component notices. */
#define ONLY(component_, change)                                                                   \
	do {                                                                                       \
		struct outer other = sample;                                                       \
                                                                                                   \
		change;                                                                            \
		for (int c_ = 0; c_ < 12; c_++)                                                    \
			ck_assert_msg(matches(&other, c_) == (c_ != (component_)), "%s: %d",       \
				      #change, c_);                                                \
	} while (0)

START_TEST(test_match)
{
	ONLY(-1, (void)other);
	ONLY(0, other.flag = 0);
	ONLY(1, other.wide ^= 1);
	ONLY(2, other.mask &= ~1u);
	ONLY(3, other.lid[0]++);
	ONLY(4, other.lid[1]++);
	ONLY(5, other.gid.high++);
	ONLY(5, other.gid.low++);
	ONLY(6, other.inner.a++);
	ONLY(7, other.inner.b++);
	ONLY(8, other.text[7] = 'x');
	ONLY(-1, other.key++); /* NEVER */
}
END_TEST

START_TEST(test_match_bits)
{
	struct outer query = {.mask = 0x0F0, .wide = 0x0F0}, other = {.mask = 0xFF0, .wide = 0xFF0};

	ck_assert(wire_match(&outer_type, &query, &other, 1 << 2));
	ck_assert(!wire_match(&outer_type, &other, &query, 1 << 2));
	ck_assert(!wire_match(&outer_type, &query, &other, 1 << 1));
	ck_assert(wire_match_bits(&outer_type, &query, &other, 1 << 1, 1 << 1));
	ck_assert(!wire_match_bits(&outer_type, &other, &query, 1 << 1, 1 << 1));
	ck_assert(wire_match(&outer_type, &query, &sample, 0));
	ck_assert(wire_match(&outer_type, &query, &sample, ~UINT64_C(0xFFF)));
	ck_assert_uint_eq(wire_components(&outer_type), 0x3FF);
}
END_TEST

START_TEST(test_match_needs_all_components)
{
	struct outer other = sample;

	ck_assert(wire_match(&outer_type, &sample, &other, UINT64_MAX));
	other.inner.b++;
	ck_assert(!wire_match(&outer_type, &sample, &other, UINT64_MAX));
	ck_assert(wire_match(&outer_type, &sample, &other, ~(UINT64_C(1) << 7)));
}
END_TEST

START_TEST(test_print)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_auto(GStrv) lines = NULL;
	const char *const values[] = {
		"flag:1",	"wide:0x8123456789abcdef", "mask:0x3abcdef",
		"lid:7 0xc001", "gid:fe80::1234",	   "a:10",
		"b:0xbcd",	"text:ab\\x01\\x5c",	   "key:set",
	};

	wire_print(&outer_type, &sample, out);
	lines = g_strsplit(out->str, "\n", -1);
	ck_assert_uint_eq(g_strv_length(lines), G_N_ELEMENTS(values) + 1);
	for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
		const char *colon = strchr(values[i], ':');
		g_autoptr(GString) line = g_string_new_len(values[i], colon - values[i] + 1);

		while (line->len < 44)
			g_string_append_c(line, '.');
		g_string_append(line, colon + 1);
		ck_assert_str_eq(lines[i], line->str);
	}
}
END_TEST

START_TEST(test_print_hides_keys)
{
	struct outer host = {.key = UINT64_C(0xDEADBEEF)};
	g_autoptr(GString) out = g_string_new(NULL);

	wire_print(&outer_type, &host, out);
	ck_assert_ptr_null(strstr(out->str, "deadbeef"));
	ck_assert_ptr_null(strstr(out->str, "3735928559"));
	ck_assert_ptr_nonnull(strstr(out->str, ".set"));
	g_string_truncate(out, 0);
	host.key = 0;
	wire_print(&outer_type, &host, out);
	ck_assert_ptr_nonnull(strstr(out->str, ".not set"));
}
END_TEST

START_TEST(test_print_words)
{
	struct outer host = sample;
	g_autoptr(GString) out = g_string_new("sent:");

	wire_print_words(&outer_type, &host, out);
	ck_assert_str_eq(out->str, "sent: flag=1 wide=0x8123456789abcdef mask=0x3abcdef "
				   "lid=7 0xc001 gid=fe80::1234 a=10 b=0xbcd text=ab\\x01\\x5c "
				   "key=set");
	memset(&host, 0, sizeof(host));
	host.gid.low = 1;
	g_string_truncate(out, 0);
	wire_print_words(&outer_type, &host, out);
	ck_assert_str_eq(out->str, " gid=::1");
}
END_TEST

START_TEST(test_find_and_values)
{
	const struct wire_field *lid = wire_find_field(&outer_type, "lid");
	struct outer host = sample;

	ck_assert_ptr_eq(lid, &outer_rows[3]);
	ck_assert_ptr_null(wire_find_field(&outer_type, "a"));
	ck_assert_uint_eq(wire_value(lid, &host, 1), 0xC001);
	wire_set_value(lid, &host, 1, 0x12345);
	ck_assert_uint_eq(host.lid[0], 7);
	ck_assert_uint_eq(host.lid[1], 0x2345);
}
END_TEST

/* Mistakes in a copy of the sample table, each with a word of the complaint. */
#define MISTAKES                                                                                   \
	X(rows[1].bit = 0, "belongs to flag too")                                                  \
	X(rows[7].bit = 337, "ends at bit")                                                        \
	X(rows[1].width = 65, "do not fit")                                                        \
	X(rows[1].width = 0, "do not fit")                                                         \
	X(rows[0].size = 3, "3 host bytes")                                                        \
	X(rows[3].count = 0, "no element")                                                         \
	X(rows[1].offset = 0, "host byte 0 belongs to flag")                                       \
	X(rows[7].offset = sizeof(struct outer), "ends at host byte")                              \
	X(rows[1].component = 0, "component of another")                                           \
	X(rows[2].component = 7, "component of another")                                           \
	X(rows[1].component = 64, "expected 0..63")                                                \
	X(rows[3].component = 63, "beyond bit 63")                                                 \
	X(rows[1].component = -2, "expected 0..63")                                                \
	X(rows[4].nested = NULL, "no nested type")                                                 \
	X(rows[5].width = 8, "but inner has")                                                      \
	X(rows[5].nested = &pair_type, "but pair has")                                             \
	X(rows[5].bit = 257, "start at an octet")                                                  \
	X(rows[5].print = WIRE_GID, "128 bits")                                                    \
	X(rows[6].bit = 273, "octets must be")                                                     \
	X(rows[0].print = WIRE_TEXT, "cannot be printed")                                          \
	X(rows[0].print = WIRE_PRINTS, "unknown print")                                            \
	X(rows[0].match = WIRE_MATCHES, "unknown print hint or match")                             \
	X(rows[0].kind = 9, "unknown kind")                                                        \
	X(type.bits = 401, "multiple of 8")

static unsigned int try_mistake(int number, struct wire_field *rows, char **why, const char **word)
{
	struct wire_type type = outer_type;
	int i = 0;

	memcpy(rows, outer_rows, sizeof(outer_rows));
	type.fields = rows;
#define X(mistake, word_)                                                                          \
	if (i++ == number) {                                                                       \
		mistake;                                                                           \
		*word = word_;                                                                     \
	}
	MISTAKES
#undef X
	return wire_check(&type, why);
}

START_TEST(test_check_finds)
{
	struct wire_field rows[G_N_ELEMENTS(outer_rows)];
	g_autofree char *why = NULL;
	const char *word = NULL;

	ck_assert(!try_mistake(_i, rows, &why, &word));
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, word) != NULL, "said \"%s\", expected \"%s\"", why, word);
}
END_TEST

START_TEST(test_check_accepts)
{
	g_autofree char *why = NULL;

	ck_assert_msg(wire_check(&outer_type, &why), "%s", why);
	ck_assert_ptr_null(why);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("wire");
	TCase *tcase = tcase_create("wire");

	tcase_add_test(tcase, test_encode);
	tcase_add_test(tcase, test_decode);
	tcase_add_test(tcase, test_equal);
	tcase_add_test(tcase, test_too_wide_value_is_cut);
	tcase_add_test(tcase, test_all_alignments);
	tcase_add_test(tcase, test_match);
	tcase_add_test(tcase, test_match_bits);
	tcase_add_test(tcase, test_match_needs_all_components);
	tcase_add_test(tcase, test_print);
	tcase_add_test(tcase, test_print_hides_keys);
	tcase_add_test(tcase, test_print_words);
	tcase_add_test(tcase, test_find_and_values);
	tcase_add_test(tcase, test_check_accepts);
#define X(mistake, word) +1
	tcase_add_loop_test(tcase, test_check_finds, 0, 0 MISTAKES);
#undef X
	suite_add_tcase(suite, tcase);
	return suite;
}
