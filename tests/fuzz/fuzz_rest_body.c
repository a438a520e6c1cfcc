// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bodies of REST requests: refused with a message, or a change whose line has nothing in it that
 * could be taken for another word or definition. The first octet selects the kind of write.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "web/rest/rest_private.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "0{\"pkey\": \"0x001A\", \"index0\": true, \"ip_over_ib\": true, "
			     "\"membership\": \"full\", \"guids\": [\"0200000000000001\"]}");
	fuzz_add_text(seeds, "1{\"pkey\":26,\"guids\":\"1,0x2,a:b\",\"memberships\":[\"limited\","
			     "\"full\",\"both\"]}");
	fuzz_add_text(seeds, "2{\"pkey\":\"0x1\",\"partition_name\":\"a b;\\u0041\"}");
	fuzz_add_text(seeds, "3{\"pkey\":\"0x1\",\"mtu_limit\":2,\"rate_limit\":2.5,"
			     "\"service_level\":\"3\",\"x\":[[{}]]}");
	fuzz_add_text(seeds, "4{\"pkey\":\"0x1\",\"hosts_names\":\"node1,node2\"}");
	return NULL;
}

/* One definition, and words that were known before. */
static void check_line(const char *line)
{
	unsigned int words = 0, colons = 0;

	fuzz_expect(g_str_has_suffix(line, " json"));
	for (const char *c = line; *c; c++) {
		fuzz_expect(g_ascii_isprint(*c) && !strchr("\"'#;@", *c));
		words += *c == ' ';
		colons += *c == ':';
	}
	fuzz_expect(words <= 10 && colons <= 2); /* that of rest:USER, and of a definition */
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	enum write_kind kind = fuzz_octet(&bytes) % (WRITE_DELETE + 1);
	g_autofree char *mistake = NULL, *line = NULL, *word = NULL, *bad = NULL;
	struct body body;
	uint16_t p_key = 0;

	(void)state;
	body_init(&body);
	mistake = body_parse(&body, (const char *)bytes.at, bytes.left);
	for (const char *c = mistake ? mistake : ""; *c; c++)
		fuzz_expect(g_ascii_isprint(*c) || *c & 0x80 || *c == '\n' || *c == '\t');
	fuzz_expect(body.members->len <= BODY_GUIDS_MAX);
	if (!mistake) {
		line = write_line(&body, kind, "jo", true);
		check_line(line);
	}
	word = g_strndup((const char *)bytes.at, bytes.left);
	bad = body_p_key(word, &p_key);
	fuzz_expect(!bad == (p_key >= 1 && p_key <= 0x7fff));
	g_free(body_guids(&body, word));
	g_free(body_hosts(&body, word));
	body_clear(&body);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "rest_body",
	.max_size = 1 << 12,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
