// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * osmroute: parse, build the fabric, judge every engine on it, report. One thread, except for those
 * that an engine may use; nothing is sent to a network.
 *
 * Exit codes: 0; 1 if it cannot start or write; 2 if a named engine refused, or the verifier
 * rejected a table.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "complib/file.h"
#include "ctl/dump/dump.h"
#include "fabric/from_topology.h"
#include "osmroute/arguments.h"
#include "osmroute/draw.h"
#include "osmroute/judge.h"
#include "osmroute/loss.h"
#include "osmroute/measured.h"
#include "osmroute/outage.h"
#include "osmroute/picture.h"
#include "osmroute/report.h"
#include "policy/files/route_files.h"
#include "policy/files/unknown_guids.h"
#include "subnet/subnet.h"

struct program {
	struct arguments arguments;
	struct route_files *files;
	struct route_input input;
	struct builder *builder;
	struct fabric *fabric;
	uint32_t n_nodes; /* in the topology */
	uint32_t n_cables;
	struct partition_rules *rules; /* from the policy; or NULL */
	struct routing *held; /* tables that switches held before; or NULL */
	struct measured_load load; /* until NULL: none was given */
	GPtrArray *reports; /* struct judge_report */
};

static int complain(const char *text)
{
	fprintf(stderr, "osmroute: %s\n", text);
	return 1;
}

static bool fail(GError **error, const char *what)
{
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s", what);
	return false;
}

/* The topology was read, but cannot be routed. */
static bool unfit(const struct program *program, GError **error, const char *why)
{
	g_autofree char *name = g_filename_display_name(program->arguments.topology);
	g_autofree char *what = g_strdup_printf("%s: %s", name, why);

	return fail(error, what);
}

/* The daemon runs without such a file; a file named here must be readable. */
static bool load_policy(struct program *program, GError **error)
{
	const char *file = program->arguments.policy;

	if (!g_file_test(file, G_FILE_TEST_EXISTS)) {
		g_autofree char *name = g_filename_display_name(file);
		g_autofree char *what = g_strdup_printf("%s: there is no such file", name);

		return fail(error, what);
	}
	program->rules = partition_rules_load(file, error);
	return program->rules;
}

static bool build(struct program *program, GError **error)
{
	const struct arguments *arguments = &program->arguments;
	struct topology *topology = topology_load(arguments->topology, error);

	if (!topology)
		return false;
	program->builder = builder_from_topology(topology);
	topology_free(topology);
	program->n_nodes = g_hash_table_size(program->builder->nodes);
	if (!program->builder->sm_port)
		return unfit(program, error, "no node with a cable, and no switch");
	if (!builder_give_lids(program->builder, arguments->options->lmc))
		return unfit(program, error, "with this lmc it needs more LIDs than there are");
	program->fabric = builder_freeze(program->builder);
	if (!program->fabric->n_switches)
		return unfit(program, error, "no switch is connected to the subnet manager");
	program->n_cables = loss_cables(program->builder);
	program->files = route_files_load(arguments->options, error);
	if (!program->files)
		return false;
	route_files_input(program->files, arguments->options, &program->input);
	program->input.threads = arguments->threads;
	if (arguments->policy && !load_policy(program, error))
		return false;
	if (route_files_ties(program->files)->len && !program->rules)
		return fail(error, "partition_links_file: it needs --policy, which lists the "
				   "members of partitions");
	if (arguments->sls && !arguments->transition)
		return fail(error, "--transition-sls: it needs --transition, which has the tables");
	if (arguments->transition)
		program->held = passage_held(program->fabric, arguments->options,
					     arguments->transition, arguments->sls, error);
	if (arguments->transition && !program->held)
		return false;
	return !arguments->loads || measured_read(&program->load, arguments->loads, error);
}

/* For a fraction of the cables at least one, if there are any. */
static uint32_t cables_to_lose(const struct program *program)
{
	double percent = program->arguments.lose_percent;

	return percent > 0 ? (uint32_t)ceil(percent / 100 * program->n_cables)
			   : MIN(program->arguments.lose, program->n_cables);
}

static struct judge_task task_of(const struct program *program)
{
	const struct arguments *arguments = &program->arguments;

	return (struct judge_task){
		.builder = program->builder,
		.input = &program->input,
		.options = arguments->options,
		.rules = program->rules,
		.ties = route_files_ties(program->files),
		.effort = arguments->effort,
		.repeats = arguments->repeats,
		.lose = cables_to_lose(program),
		.outages = arguments->outages,
		.trials = arguments->trials,
		.seed = arguments->seed,
		.held = program->held,
	};
}

static void judge(struct program *program)
{
	const struct judge_task task = task_of(program);
	const GPtrArray *engines = program->arguments.engines;

	program->reports = g_ptr_array_new_with_free_func((GDestroyNotify)judge_report_free);
	for (guint i = 0; i < engines->len; i++)
		g_ptr_array_add(program->reports,
				judge_engine(&task, program->fabric, engines->pdata[i]));
}

/* The first report with a table, or NULL. */
static const struct judge_report *first_report(const struct program *program)
{
	for (guint i = 0; i < program->reports->len; i++) {
		const struct judge_report *report = program->reports->pdata[i];

		if (report->routing)
			return report;
	}
	return NULL;
}

static void tell(const struct program *program)
{
	const struct arguments *arguments = &program->arguments;
	const struct judge_report *first = first_report(program);
	struct measured measured = {0};
	const struct report_subject subject = {
		.topology = arguments->topology,
		.fabric = program->fabric,
		.n_cables = program->n_cables,
		.n_left_out = program->n_nodes - program->fabric->n_nodes,
		.lmc = arguments->options->lmc,
		.threads = arguments->threads,
		.seed = arguments->seed,
		.reports = program->reports,
		.measured = program->load.until && first ? &measured : NULL,
	};
	g_autofree char *text = NULL;

	if (subject.measured)
		measured_compare(&measured, &program->load, program->fabric, first->routing,
				 first->engine->name);
	text = arguments->json ? report_json(&subject) : report_table(&subject);
	fputs(text, stdout);
	measured_compare_clear(&measured);
}

/* In the format of the daemon's dump. */
static char *lfts_text(const struct program *program, struct routing *routing)
{
	const struct subnet subnet = {
		.fabric = program->fabric,
		.routing = routing,
		.options = program->arguments.options,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool known;

	g_assert(out);
	known = dump_write("opensm-lfts.dump", &subnet, NULL, &program->input, out);
	g_assert(known);
	fclose(out);
	return text;
}

static bool write_files(const struct program *program, GError **error)
{
	const struct arguments *arguments = &program->arguments;
	const struct judge_report *first = first_report(program);
	struct routing *routing = first ? first->routing : NULL;
	bool done = true;

	if (!routing)
		return (!arguments->dot && !arguments->svg && !arguments->lfts) ||
		       fail(error, "no engine made a table that could be written");
	if (arguments->dot) {
		g_autofree char *text = draw_fabric(program->fabric, routing);

		done = file_write(arguments->dot, text, 0666, error);
	}
	if (done && arguments->svg) {
		g_autofree char *text = picture_of_fabric(program->fabric, routing);

		done = file_write(arguments->svg, text, 0666, error);
	}
	if (done && arguments->lfts) {
		char *text = lfts_text(program, routing);

		done = file_write(arguments->lfts, text, 0666, error);
		free(text);
	}
	return done;
}

static int exit_code(const struct program *program)
{
	int code = 0;

	for (guint i = 0; i < program->reports->len; i++) {
		const struct judge_report *report = program->reports->pdata[i];

		if ((program->arguments.named && judge_refused(report)) || judge_rejected(report))
			code = 2;
	}
	return code;
}

static void warn_of_files(const struct program *program)
{
	const GPtrArray *warnings = route_files_warnings(program->files);
	const struct judge_task task = task_of(program);
	g_autofree char *strangers = NULL;
	struct judge_traffic traffic;

	judge_traffic_init(&traffic, &task, program->fabric);
	strangers = unknown_guids_tell(program->fabric, &traffic.input);
	judge_traffic_clear(&traffic);
	for (guint i = 0; i < warnings->len; i++)
		fprintf(stderr, "osmroute: %s\n", (const char *)warnings->pdata[i]);
	if (strangers)
		fprintf(stderr, "osmroute: %s\n", strangers);
}

static void warn_nothing_to_lose(const struct program *program)
{
	const struct arguments *arguments = &program->arguments;
	g_autoptr(GPtrArray) classes = outage_classes(program->fabric, arguments->outages);

	if ((arguments->lose || arguments->lose_percent > 0) && !program->n_cables)
		fputs("osmroute: there is no cable between switches to lose\n", stderr);
	if (arguments->outages && !classes->len)
		fputs("osmroute: there is nothing of that kind to lose\n", stderr);
}

static int run(struct program *program)
{
	g_autoptr(GError) error = NULL;

	if (!build(program, &error))
		return complain(error->message);
	warn_of_files(program);
	warn_nothing_to_lose(program);
	judge(program);
	tell(program);
	if (!write_files(program, &error))
		return complain(error->message);
	return exit_code(program);
}

int main(int argc, char **argv)
{
	struct program program = {0};
	g_autoptr(GError) error = NULL;
	int code = 0;

	file_guard_standard();
	(void)argc;
	if (!arguments_parse(&program.arguments, argv, &error))
		code = complain(error->message);
	else if (program.arguments.version)
		puts("osmroute " PACKAGE_VERSION);
	else
		code = run(&program);
	g_clear_pointer(&program.reports, g_ptr_array_unref);
	routing_unref(program.held);
	measured_clear(&program.load);
	partition_rules_unref(program.rules);
	fabric_unref(program.fabric);
	if (program.builder)
		builder_free(program.builder);
	route_files_unref(program.files);
	arguments_clear(&program.arguments);
	return code;
}
