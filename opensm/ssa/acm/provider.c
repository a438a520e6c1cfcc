// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What ibacm calls: provider_query() once, when it has read its options, then the functions of the
 * table for each device, port, endpoint and address as they come and go.
 *
 * The interface gives a provider no handle of its own, so this file has the only static object.
 */
#include "ssa/acm/acm_private.h"

static struct {
	struct acm_options options;
	struct sources *sources;
} ssa;

/* ---- endpoints ---- */

void endpoint_unref(struct endpoint *endpoint)
{
	if (ref_put(&endpoint->ref))
		g_free(endpoint);
}

void endpoint_count(struct endpoint *endpoint, int counter)
{
	atomic_fetch_add(&endpoint->counters[counter], 1);
}

void endpoint_count_all(struct endpoint *endpoint, int counter)
{
	endpoint_count(endpoint, counter);
	acm_increment_counter(counter);
}

/* ---- devices and ports: all that is needed of them is in an endpoint ---- */

static int open_device(const struct acm_device *device, void **context)
{
	*context = (void *)device;
	return 0;
}

static void close_device(void *context)
{
	(void)context;
}

static int open_port(const struct acm_port *port, void *device, void **context)
{
	(void)device;
	*context = (void *)port;
	return 0;
}

static void close_port(void *context)
{
	(void)context;
}

static int handle_event(void *port, enum ibv_event_type type)
{
	(void)port;
	(void)type; /* a request to register again: nothing of ours is registered */
	return 0;
}

static int open_endpoint(const struct acm_endpoint *acm, void *port, void **context)
{
	struct endpoint *endpoint = g_new0(struct endpoint, 1);

	(void)port;
	ref_init(&endpoint->ref);
	endpoint->sources = ssa.sources;
	endpoint->endpoint = acm;
	if (acm_get_gid(acm->port, 0, &endpoint->gid) != 0) {
		acm_write(0, "ssa: port %u has no GID\n", acm->port->port_num);
		endpoint_unref(endpoint);
		return -1;
	}
	*context = endpoint;
	return 0;
}

static void close_endpoint(void *context)
{
	endpoint_unref(context);
}

/* ---- addresses: an address is its endpoint, as ibacm itself knows which is whose ---- */

static int add_address(const struct acm_address *address, void *endpoint, void **context)
{
	(void)address;
	*context = endpoint;
	return 0;
}

static void remove_address(void *context)
{
	(void)context;
}

/* ---- requests ---- */

static int resolve(void *address, struct acm_msg *msg, uint64_t id)
{
	answer_resolve(address, msg, id);
	return 0;
}

static int query(void *address, struct acm_msg *msg, uint64_t id)
{
	answer_query(address, msg, id);
	return 0;
}

static void query_perf(void *context, uint64_t *values, uint8_t *n)
{
	struct endpoint *endpoint = context;

	for (int i = 0; i < ACM_MAX_COUNTER; i++)
		values[i] = htobe64(atomic_load(&endpoint->counters[i]));
	*n = ACM_MAX_COUNTER;
}

/* ---- the beginning and the end ---- */

static struct acm_provider provider = {
	.size = sizeof(provider),
	.version = ACM_PROV_VERSION,
	.name = "ibacmssa",
	.open_device = open_device,
	.close_device = close_device,
	.open_port = open_port,
	.close_port = close_port,
	.open_endpoint = open_endpoint,
	.close_endpoint = close_endpoint,
	.add_address = add_address,
	.remove_address = remove_address,
	.resolve = resolve,
	.query = query,
	.handle_event = handle_event,
	.query_perf = query_perf,
};

__attribute__((visibility("default"))) int provider_query(struct acm_provider **info,
							  uint32_t *version)
{
	*info = &provider;
	*version = ACM_PROV_VERSION;
	if (ssa.sources)
		return 0;
	acm_options_read(&ssa.options, acm_get_opts_file());
	ssa.sources = sources_start(&ssa.options);
	return 0;
}

/* When ibacm unloads us, or ends by exit(). */
__attribute__((destructor)) static void end(void)
{
	if (!ssa.sources)
		return;
	g_clear_pointer(&ssa.sources, sources_stop);
	acm_options_clear(&ssa.options);
}
