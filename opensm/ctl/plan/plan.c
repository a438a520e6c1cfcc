// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/plan/plan.h"

#include "core/options.h"
#include "mad/mad.h"
#include "sm/sm.h"
#include "sm/smp/dry_run.h"
#include "subnet/trees.h"

struct plan {
	struct context context;
	struct log *log; /* discards lines: the report has all that matters */
	struct options *options;
	struct vendor *vendor; /* its own, or NULL */
	struct mad *mad, *own_mad;
	struct actor *own_main; /* NULL: uses that of a daemon */
	struct sm *sm;
	GMainContext *loop;
	char *cache_dir;
	bool stopped;
	plan_done_fn *done;
	void *arg;
};

void plan_note(struct plan *plan, const char *text)
{
	dry_run_note(sm_dry_run(plan->sm), text);
}

const struct dry_run *plan_result(const struct plan *plan)
{
	return sm_dry_run(plan->sm);
}

/* Notes what the log of a daemon would say about its routes. */
static void note_routes(struct plan *plan)
{
	struct subnet *subnet = slot_take(&plan->context.subnet);
	g_autoptr(GString) text = g_string_new(NULL);

	if (!subnet)
		return;
	if (subnet->routing)
		g_string_printf(text, "routing engine %s%s%s", subnet->routing->engine->name,
				subnet->routing->note ? ": " : "",
				subnet->routing->note ? subnet->routing->note : "");
	if (subnet->fallback)
		g_string_append_printf(text, ", not %s", subnet->fallback);
	if (subnet->credit_loop)
		g_string_append_printf(text, ", with a credit loop: %s", subnet->credit_loop);
	if (text->len)
		plan_note(plan, text->str);
	if (subnet->exposed)
		plan_note(plan, subnet->exposed);
	for (unsigned int i = 0; subnet->small_tables && subnet->small_tables[i]; i++)
		plan_note(plan, subnet->small_tables[i]);
	if (subnet->held)
		plan_note(plan, subnet->held);
	subnet_unref(subnet);
}

static void on_finished(void *arg, uint64_t value)
{
	struct plan *plan = arg;

	(void)value;
	if (!plan->sm)
		return;
	sm_stop(plan->sm); /* it adds nothing more */
	note_routes(plan);
	plan->done(plan->arg, plan);
}

static bool make_mad(struct plan *plan, const struct plan_config *config, GError **error)
{
	plan->mad = config->mad;
	if (plan->mad)
		return true;
	plan->vendor = config->base.vendor;
	plan->own_mad = plan->mad = mad_new(&plan->context, plan->vendor, error);
	return plan->mad != NULL;
}

/* As in a daemon that starts with these options. */
static bool load_files(struct plan *plan, struct site_policy *loaded, GError **error)
{
	struct site_policy *own = loaded ? NULL : site_policy_load(plan->options, plan->cache_dir,
								  error);

	if (loaded || own)
		site_policy_publish(loaded ? loaded : own, &plan->context);
	site_policy_free(own);
	return loaded || own;
}

static void make_sm(struct plan *plan, const struct plan_config *config)
{
	struct actor *main = config->main;
	struct route_files *files = slot_take(&plan->context.route_files);
	const GPtrArray *warnings = route_files_warnings(files);

	if (!main)
		main = plan->own_main = actor_new(config->base.rt, "main");
	plan->sm = sm_new_dry(&plan->context, plan->mad, config->base.vendor, config->running);
	event_subscribe(&plan->context.bus, EVENT_FINISHED, main, on_finished, plan);
	for (guint i = 0; i < warnings->len; i++)
		plan_note(plan, warnings->pdata[i]);
	route_files_unref(files);
}

struct plan *plan_new(const struct plan_config *config, GError **error)
{
	struct plan *plan = g_new0(struct plan, 1);
	struct daemon_config base = config->base;

	plan->log = base.log = log_new_null();
	plan->options = options_ref(base.options);
	plan->loop = base.loop;
	plan->cache_dir = g_strdup(base.cache_dir);
	plan->done = config->done;
	plan->arg = config->arg;
	daemon_context_init(&plan->context, &base, plan->cache_dir);
	plan->context.gets_only = true;
	if (config->groups)
		slot_publish(&plan->context.groups, mc_groups_ref(config->groups));
	if (config->trees)
		slot_publish(&plan->context.trees, mc_trees_ref(config->trees));
	if (!make_mad(plan, config, error) || !load_files(plan, config->policy, error)) {
		plan_free(plan);
		return NULL;
	}
	make_sm(plan, config);
	return plan;
}

void plan_start(struct plan *plan)
{
	bool single = plan->options->single_thread;

	if (plan->own_main)
		actor_attach(plan->own_main, plan->loop);
	if (plan->own_mad && single)
		mad_attach(plan->own_mad, plan->loop);
	else if (plan->own_mad)
		mad_start(plan->own_mad);
	if (single)
		sm_attach(plan->sm, plan->loop);
	else
		sm_start(plan->sm);
}

void plan_stop(struct plan *plan)
{
	if (plan->stopped)
		return;
	plan->stopped = true;
	if (plan->sm)
		sm_stop(plan->sm);
	if (plan->own_mad)
		mad_stop(plan->own_mad);
	g_clear_pointer(&plan->vendor, vendor_close);
	daemon_context_join(&plan->context);
	if (plan->own_main)
		actor_stop(plan->own_main);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	plan_stop(plan);
	if (plan->own_mad)
		mad_free(plan->own_mad);
	if (plan->sm)
		sm_free(plan->sm);
	if (plan->own_main)
		actor_free(plan->own_main);
	daemon_context_clear(&plan->context);
	options_unref(plan->options);
	log_free(plan->log);
	g_free(plan->cache_dir);
	g_free(plan);
}
