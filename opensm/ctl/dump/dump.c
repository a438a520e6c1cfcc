// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dumps: files that show the results of the last sweep, for operators and scripts.
 *
 * Each publication starts a job of the pool for files, which holds the published subnet and writes
 * the files of the table below, or, if only multicast trees were published, those about them.
 * Nothing waits for it, and when the daemon ends, a job that takes too long is abandoned. There is
 * one job at a time; publications while it runs cause one more. A job owns what it changes and
 * returns as the same message.
 *
 * Files appear whole, by renaming. A file that cannot be written is logged once, until writing
 * works again. Files about routes are large: as in the classic daemon, they need the routing flag
 * of the log.
 */
#include "ctl/dump/dump.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/dump/dump_private.h"
#include "route/fill/shortest.h"

enum dump_when { WHEN_GOOD, WHEN_ROUTING, WHEN_ANY };

static const struct dump_file {
	const char *name;
	dump_fn *write;
	enum dump_when when;
	const struct route_engine *engine; /* only for its routes; NULL: for all */
	bool of_trees;			   /* it shows multicast trees */
} dump_files[] = {
	{"opensm-subnet.lst", dump_subnet_lst, WHEN_GOOD, NULL, false},
	{"opensm-lid-matrix.dump", dump_lid_matrix, WHEN_ROUTING, NULL, false},
	{"opensm-lfts.dump", dump_lfts, WHEN_ROUTING, NULL, false},
	{"opensm.fdbs", dump_fdbs, WHEN_ROUTING, NULL, false},
	{"opensm.mcfdbs", dump_mcfdbs, WHEN_ROUTING, NULL, true},
	{"opensm-updn-roots.dump", dump_updn_roots, WHEN_ROUTING, &route_engine_updn, false},
	{"opensm-ftree-ca-order.dump", dump_ca_order, WHEN_ANY, &route_engine_ftree, false},
};

struct dumps {
	struct daemon *daemon;
	struct context *context;
	char *directory;
	bool running;				/* a job is in progress */
	bool up;				/* a subnet was published */
	bool subnet, trees;			/* published since the last job began */
	bool failed[G_N_ELEMENTS(dump_files)]; /* owned by the job while it runs */
};

struct job {
	struct message message; /* to the pool, then to main */
	struct dumps *dumps;
	struct subnet *subnet;
	struct mc_trees *trees;		   /* may be NULL */
	bool only_trees;		   /* the subnet is that of the previous job */
	void (*work)(struct message *msg); /* its work in the pool */
};

/* ---- what is dumped ---- */

static gint compare_guids(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct fabric *fabric = data;
	uint64_t x = fabric->nodes[*(const uint32_t *)a].guid;
	uint64_t y = fabric->nodes[*(const uint32_t *)b].guid;

	return x < y ? -1 : x > y;
}

static void view_open(struct dump_view *view)
{
	const struct fabric *fabric = view->fabric = view->subnet->fabric;
	uint32_t n = 0;

	view->nodes = g_new(uint32_t, fabric->n_nodes + 1);
	view->switches = g_new(uint32_t, fabric->n_switches + 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		view->nodes[i] = i;
	g_qsort_with_data(view->nodes, fabric->n_nodes, sizeof(*view->nodes), compare_guids,
			  (gpointer)fabric);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric_is_switch(fabric, view->nodes[i]))
			view->switches[n++] = fabric->nodes[view->nodes[i]].sw;
}

static void view_close(struct dump_view *view)
{
	route_plan_clear(&view->plan);
	g_free(view->hops);
	g_free(view->nodes);
	g_free(view->switches);
}

bool dump_view_route(struct dump_view *view)
{
	const struct route_engine *engine = view->subnet->routing->engine;

	if (view->plan.graph)
		return view->hops != NULL;
	route_plan_init(&view->plan, view->fabric);
	view->hops = engine && engine->hops
			     ? engine->hops(&view->plan, view->fabric, view->input, NULL, NULL)
			     : route_hops_all(&view->plan.order, NULL);
	return view->hops != NULL;
}

bool dump_goes_on(const struct dump_view *view, FILE *out)
{
	gint64 until = view->context ? atomic_load(&view->context->files_until) : 0;

	return !ferror(out) && (!until || g_get_monotonic_time() < until);
}

static bool fits(const struct dump_file *file, const struct subnet *subnet)
{
	return !file->engine || file->engine == subnet->routing->engine;
}

static bool is_due(const struct dump_file *file, bool good, bool routing)
{
	return file->when == WHEN_ANY || (file->when == WHEN_GOOD ? good : routing);
}

bool dump_write(const char *name, const struct subnet *subnet, const struct mc_trees *trees,
		const struct route_input *input, FILE *out)
{
	struct dump_view view = {.subnet = subnet, .trees = trees, .input = input};
	const struct dump_file *file = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(dump_files); i++)
		if (!strcmp(dump_files[i].name, name) && fits(&dump_files[i], subnet))
			file = &dump_files[i];
	if (!file)
		return false;
	view_open(&view);
	file->write(&view, out);
	view_close(&view);
	return true;
}

/* ---- files, in the pool ---- */

int dump_file(const char *path, struct dump_view *view, dump_fn *write_to)
{
	g_autofree char *temporary = g_strdup_printf("%s.XXXXXX", path);
	int fd = mkstemp(temporary), err;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		return errno;
	fchmod(fd, 0644);
	errno = 0;
	write_to(view, out);
	err = ferror(out) ? (errno ? errno : EIO) : dump_goes_on(view, out) ? 0 : ECANCELED;
	if (fclose(out) != 0 && !err)
		err = errno;
	if (!err && rename(temporary, path) != 0)
		err = errno;
	if (err)
		unlink(temporary);
	return err;
}

static void write_one(struct dumps *dumps, size_t i, struct dump_view *view)
{
	g_autofree char *path = g_build_filename(dumps->directory, dump_files[i].name, NULL);
	int err = dump_file(path, view, dump_files[i].write);

	if (err && err != ECANCELED && !dumps->failed[i])
		log_error(dumps->context->log, "cannot write %s: %s", path, g_strerror(err));
	dumps->failed[i] = err != 0;
}

static void write_all(struct job *job)
{
	struct dumps *dumps = job->dumps;
	struct dump_view view = {
		.context = dumps->context, .subnet = job->subnet, .trees = job->trees};
	bool routing = log_flags(dumps->context->log) & LOG_ROUTING, failed = false;
	struct route_input input;

	subnet_route_input(job->subnet, &input);
	view.input = &input;
	view_open(&view);
	for (size_t i = 0; i < G_N_ELEMENTS(dump_files); i++) {
		const struct dump_file *file = &dump_files[i];

		if (!is_due(file, !job->subnet->errors, routing) || !fits(file, job->subnet))
			dumps->failed[i] = false;
		else if (file->of_trees || !job->only_trees)
			write_one(dumps, i, &view);
		failed |= dumps->failed[i];
	}
	atomic_store(&dumps->context->undumped, failed);
	view_close(&view);
}

/* ---- on the main actor ---- */

static void job_drop(struct message *msg)
{
	struct job *job = (struct job *)msg;

	subnet_unref(job->subnet);
	mc_trees_unref(job->trees);
	g_free(job);
}

/* Starts a job for what was published meanwhile. */
static void start(struct dumps *dumps, void (*work)(struct message *msg))
{
	struct job *job = g_new(struct job, 1);

	*job = (struct job){
		.message.run = work,
		.message.drop = job_drop,
		.dumps = dumps,
		.work = work,
		.subnet = slot_take(&dumps->context->subnet),
		.trees = slot_take(&dumps->context->trees),
		.only_trees = !dumps->subnet,
	};
	dumps->running = true;
	dumps->subnet = dumps->trees = false;
	pool_post(dumps->context->files, &job->message);
}

static void job_done(struct message *msg)
{
	struct job *job = (struct job *)msg;

	job->dumps->running = false;
	if (job->dumps->subnet || job->dumps->trees)
		start(job->dumps, job->work);
	job_drop(msg);
}

static void job_run(struct message *msg)
{
	struct job *job = (struct job *)msg;

	write_all(job);
	msg->run = job_done;
	actor_post(daemon_actor(job->dumps->daemon), msg);
}

static void on_published(void *arg, uint64_t generation)
{
	struct dumps *dumps = arg;

	(void)generation;
	dumps->up = dumps->subnet = true;
	if (!dumps->running)
		start(dumps, job_run);
}

static void on_trees(void *arg, uint64_t value)
{
	struct dumps *dumps = arg;

	(void)value;
	dumps->trees = true;
	if (dumps->up && !dumps->running)
		start(dumps, job_run);
}

/* ---- life ---- */

static bool wanted(const struct options *options)
{
	return options->dump_files_dir && *options->dump_files_dir;
}

struct dumps *dumps_new(struct daemon *daemon)
{
	struct context *context = daemon_context(daemon);
	struct options *options = slot_take(&context->options);
	struct dumps *dumps = NULL;

	if (wanted(options)) {
		dumps = g_new0(struct dumps, 1);
		dumps->daemon = daemon;
		dumps->context = context;
		dumps->directory = g_strdup(options->dump_files_dir);
		event_subscribe(&context->bus, EVENT_SUBNET_PUBLISHED, daemon_actor(daemon),
				on_published, dumps);
		event_subscribe(&context->bus, EVENT_TREES_PUBLISHED, daemon_actor(daemon),
				on_trees, dumps);
	}
	options_unref(options);
	return dumps;
}

void dumps_free(struct dumps *dumps)
{
	if (!dumps)
		return;
	g_free(dumps->directory);
	g_free(dumps);
}
