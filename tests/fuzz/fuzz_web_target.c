// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The target of an HTTP request: text in UTF-8 without control characters, or a message. */
#include "tests/fuzz/fuzz.h"
#include "web/base/address.h"
#include "web/base/target.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "/api/v1/path?from=host-0&to=a+b%20c&x");
	fuzz_add_text(seeds, "/%c3%a4?collect[]=switch&collect%5B%5D=hca#end");
	fuzz_add_text(seeds, "/metrics/ports?guid=0x1&guid=0x2&shard=1/4");
	return NULL;
}

static void expect_text(const char *text)
{
	fuzz_expect(g_utf8_validate(text, -1, NULL));
	for (const char *c = text; *c; c++)
		fuzz_expect(!g_ascii_iscntrl(*c));
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *why = NULL;
	struct request *request = target_request("GET", text, &why);
	const char *const *values;

	(void)state;
	address_host_is_trusted(text, names);
	fuzz_expect(!request == (why != NULL));
	if (!request)
		return;
	fuzz_expect(*request->path == '/');
	expect_text(request->path);
	for (values = request_arguments(request, "guid"); *values; values++)
		expect_text(*values);
	request_unref(request);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "web_target",
	.max_size = 1 << 10,
	.runs = 50000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
