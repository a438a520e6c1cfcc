// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Status from data that any thread may read: the published subnet and the counters. */
#include "ctl/report/status.h"

#include <inttypes.h>

#include "ha/replicator.h"
#include "iba/constants.h"
#include "route/graph/watch.h"
#include "subnet/subnet.h"

const char *status_sm_state(const struct context *context)
{
	const char *name = iba_name(IBA_SET_SM_STATE, atomic_load(&context->sm_state));

	return name ? name : "?";
}

char *status_own_port(const struct context *context)
{
	unsigned int sweep = atomic_load(&context->sweep);

	if (!(sweep & (SWEEP_FLAG_PORT_LOST | SWEEP_FLAG_PORT_DOWN)))
		return NULL;
	return g_strdup_printf("%s, its port is %s", status_sm_state(context),
			       sweep & SWEEP_FLAG_PORT_LOST ? "gone" : "down");
}

char *status_computing(struct context *context)
{
	struct route_watch *watch = slot_take(&context->route_watch);
	char *text = watch ? route_watch_text(watch, runtime_now(context->rt)) : NULL;

	route_watch_unref(watch);
	return text;
}

/* A standby has no subnet, but knows its master: a subnet from its own time as master is old. */
static char *without_subnet(struct context *context)
{
	struct replication_status *replication = slot_take(&context->replication);
	uint64_t master = replication ? replication->followed : 0;
	const char *state = status_sm_state(context);

	replication_status_unref(replication);
	return master ? g_strdup_printf("%s of SM 0x%016" PRIx64, state, master)
		      : g_strdup_printf("%s, no subnet yet", state);
}

/* Appendix to the numbers about what they hide, such as silent nodes, or "". To be freed. */
static char *silent_text(const struct fabric *fabric)
{
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t nodes, links;

	fabric_count_silent(fabric, &nodes, &links);
	if (nodes)
		g_string_append_printf(text, "; %u of these nodes silent", nodes);
	if (links)
		g_string_append_printf(text, "; %u links up without a known device", links);
	return g_strdup(text->str);
}

char *status_line(struct context *context)
{
	g_autofree char *silent = NULL, *cut_off = status_own_port(context);
	struct subnet *subnet = slot_take(&context->subnet);
	const char *state = status_sm_state(context);
	const struct fabric *fabric;
	char *line;

	if (cut_off) {
		subnet_unref(subnet);
		return g_steal_pointer(&cut_off);
	}
	if (!subnet || atomic_load(&context->sm_state) == IBA_SM_STANDBY) {
		subnet_unref(subnet);
		return without_subnet(context);
	}
	fabric = subnet->fabric;
	silent = silent_text(fabric);
	line = g_strdup_printf("%s, subnet %s: %u switches, %u hosts, %u links%s", state,
			       subnet->errors ? "has errors" : "up", fabric->n_switches,
			       fabric->n_nodes - fabric->n_switches, fabric->n_links, silent);
	subnet_unref(subnet);
	return line;
}

void status_log(struct context *context)
{
	g_autofree char *line = status_line(context);

	log_sys(context->log, "Status: %s", line);
#define COUNTER(name, kind, help)                                                                  \
	log_sys(context->log, "Status: %-20s %12" G_GUINT64_FORMAT "  %s", #name,                  \
		counter_get(&context->counters, name), help);
#include "core/counters.def"
#undef COUNTER
}
