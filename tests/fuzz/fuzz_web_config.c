// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* opensm-web.conf: values within their bounds, or a message. */
#include "tests/fuzz/fuzz.h"
#include "web/base/address.h"
#include "web/base/config.h"
#include "web/base/request.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "listen 127.0.0.1:9315\nlisten [::1]:1 # x\nlisten unix:/a\n"
			     "max_connections 10\ntrusted_hosts a,b.c\n");
	fuzz_add_text(seeds, "rest write\nrest_pkeys 0x1-0x7ffe\ntls_client_role read\n"
			     "metrics traffic\nmetrics_auth none\npage off\ntls_cert /a\n");
	return NULL;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	struct config *config = config_parse("input", (const char *)data, size, &error);
	struct address address;

	(void)state;
	fuzz_expect(config ? !error : error && *error->message);
	if (!config)
		return;
	for (guint i = 0; i < config->listen->len; i++)
		fuzz_expect(address_parse(&address, config->listen->pdata[i]));
	fuzz_expect(config->metrics <= CONFIG_METRICS_ALL && config->rest <= CONFIG_REST_WRITE);
	fuzz_expect(config->tls_client_role <= WEB_WRITER);
	fuzz_expect(config->rest_pkeys[0] >= 1 && config->rest_pkeys[0] <= config->rest_pkeys[1]);
	fuzz_expect(config->rest_pkeys[1] <= 0x7ffe);
	fuzz_expect(config->max_connections >= 1 && config->max_connections <= 10000);
	fuzz_expect(config_check(config, "input", &error) == !error);
	config_free(config);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "web_config",
	.max_size = 1 << 11,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
