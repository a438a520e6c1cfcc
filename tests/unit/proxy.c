// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/proxy.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sm/sm.h"
#include "vendor/vendor_private.h"

struct binding {
	struct proxy *proxy;
	struct vendor_client client;
};

struct proxy {
	struct vendor base;
	struct vendor *inner;
	struct bed *bed;
	struct binding bindings[256];
};

static void receive(void *arg, struct vendor_mad *mad)
{
	const struct binding *binding = arg;
	struct bed *bed = binding->proxy->bed;

	if (bed->falsify && !bed->falsify(bed, mad)) {
		if (mad != bed->held)
			vendor_mad_free(mad);
		return;
	}
	binding->client.receive(binding->client.arg, mad);
}

static bool proxy_bind(struct vendor *vendor, uint8_t mgmt_class, bool manager,
		       const struct vendor_client *client, GError **error)
{
	struct proxy *proxy = (struct proxy *)vendor;
	struct binding *binding = &proxy->bindings[mgmt_class];
	struct vendor_client mine = {.actor = client->actor, .arg = binding, .receive = receive};

	binding->proxy = proxy;
	binding->client = *client;
	return vendor_bind(proxy->inner, mgmt_class, manager, &mine, error);
}

static bool proxy_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		       size_t length, unsigned int timeout_ms)
{
	return vendor_send(((struct proxy *)vendor)->inner, to, data, length, timeout_ms);
}

static bool proxy_set_is_sm(struct vendor *vendor, bool on, GError **error)
{
	return vendor_set_is_sm(((struct proxy *)vendor)->inner, on, error);
}

static void proxy_close(struct vendor *vendor)
{
	vendor_close(((struct proxy *)vendor)->inner);
}

static const struct vendor_ops ops = {
	.bind = proxy_bind,
	.send = proxy_send,
	.set_is_sm = proxy_set_is_sm,
	.close = proxy_close,
};

static struct proxy *proxy_new(struct bed *bed)
{
	struct proxy *proxy = g_new0(struct proxy, 1);
	g_autoptr(GError) error = NULL;

	proxy->bed = bed;
	proxy->inner = sim_open(bed->sim, bed->sm_guid, &error);
	ck_assert_msg(proxy->inner != NULL, "%s", error ? error->message : "?");
	proxy->base = *proxy->inner;
	proxy->base.ops = &ops;
	return proxy;
}

struct bed *bed_new(const char *spec)
{
	struct bed *bed = g_new0(struct bed, 1);
	g_autoptr(GError) error = NULL;
	struct topology *topology = topology_load(spec, &error);
	struct sim_config config;

	ck_assert_msg(topology != NULL, "%s", error ? error->message : "?");
	bed->rt = runtime_new(RUNTIME_VIRTUAL);
	bed->text = g_string_new(NULL);
	bed->log = log_new_capture(bed->text);
	sim_config_default(&config);
	config.hop_ns = 200;
	config.sma_ns = 10 * NS_PER_US;
	bed->sim = sim_new(bed->rt, bed->log, topology, &config);
	topology_free(topology);
	sim_start(bed->sim);
	bed->options = options_new();
	return bed;
}

void bed_start(struct bed *bed)
{
	struct daemon_config config = {.rt = bed->rt, .options = bed->options, .log = bed->log};
	g_autoptr(GError) error = NULL;

	bed->proxy = proxy_new(bed);
	config.vendor = &bed->proxy->base;
	bed->daemon = daemon_new(&config, &error);
	ck_assert_msg(bed->daemon != NULL, "%s", error ? error->message : "?");
	daemon_start(bed->daemon);
}

void bed_free(struct bed *bed)
{
	daemon_free(bed->daemon);
	g_free(bed->held);
	g_free(bed->proxy);
	options_unref(bed->options);
	sim_free(bed->sim);
	log_free(bed->log);
	g_string_free(bed->text, TRUE);
	runtime_free(bed->rt);
	g_free(bed);
}

void bed_run_ms(struct bed *bed, uint64_t ms)
{
	runtime_run(bed->rt, NULL, NULL, runtime_now(bed->rt) + ms * NS_PER_MS);
}

uint64_t bed_counted(const struct bed *bed)
{
	const struct counters *counters = &daemon_context(bed->daemon)->counters;

	return counter_get(counters, sweeps_heavy) + counter_get(counters, sweeps_partial) +
	       counter_get(counters, sweeps_reroute) + counter_get(counters, sweeps_multicast);
}

bool bed_logged(const struct bed *bed, const char *text)
{
	return strstr(bed->text->str, text) != NULL;
}

struct subnet *bed_subnet(struct bed *bed)
{
	return slot_take(&daemon_context(bed->daemon)->subnet);
}

void bed_inject(struct bed *bed, struct vendor_mad *mad)
{
	const struct binding *binding = &bed->proxy->bindings[IBA_CLASS_SUBN_LID];

	mad->vendor = &bed->proxy->base;
	vendor_mad_post(mad, &binding->client);
}

void bed_release(struct bed *bed)
{
	struct vendor_mad *mad = g_steal_pointer(&bed->held);
	const struct binding *binding = &bed->proxy->bindings[mad->data[1]];

	binding->client.receive(binding->client.arg, mad);
}
