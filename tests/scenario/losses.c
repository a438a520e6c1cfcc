// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is lost while the daemon is busy, and how long until the subnet is right without it.
 *
 *	losses				what make check runs: all short cases, a few moments
 *	losses --all			all cases, every millisecond of every sweep
 *	losses --list			names of cases
 *	losses --case NAME [...]	these
 *	losses --moments [--net SPEC] [--kind KIND] [--switches] [--lost N] [--from STEPS]
 *	       [--count N] [--step US] [--bound MS]
 *				one row of moments; --seed chooses what is lost
 *	losses --seeds N		with --all or --moments: N seeds, from --seed on
 *
 * A figure a line, "NAME: value unit (at most bound)"; exit status 0 if none is above its bound.
 * Times are virtual: milliseconds from the loss until hardware, published subnet and belief are
 * right for what can still be reached, and stay so.
 */
#include "losses.h"
#include "tests/some_seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	gboolean all, list, moments, switches;
	char **cases;
	char *net, *kind;
	int lost, from, count, step, bound, seed, seeds;
};

static const struct loss_case *const tables[] = {losses_cases, losses_cases_other,
						losses_cases_options};

/* ---- what all cases use ---- */

struct scenario *losses_net(struct losses *losses, const char *spec, uint64_t sma_ns)
{
	struct sim_config config;
	struct scenario *s;

	scenario_config_default(&config, losses->seed);
	config.sma_ns = sma_ns;
	s = scenario_new_with(spec, &config, RUNTIME_VIRTUAL);
	s->command = "tests/scenario/losses";
	return s;
}

struct scenario *losses_up(struct losses *losses, const char *name, const char *spec,
			   uint64_t sma_ns)
{
	struct scenario *s = losses_net(losses, spec, sma_ns);
	g_autofree char *wrong = NULL;

	scenario_start(s);
	if (repair_wait(s, REPAIR_LIMIT_MS, &wrong) != REPAIR_NEVER) {
		scenario_run_ms(s, 3000);
		return s;
	}
	report_at_most(&losses->report, name, REPAIR_NEVER, "ms until up", REPAIR_LIMIT_MS, wrong);
	scenario_free(s);
	return NULL;
}

void losses_hangup(struct scenario *s, const char *conf)
{
	g_autoptr(GError) error = NULL;

	scenario_conf(s, conf);
	if (!daemon_reread(s->daemon, &error))
		scenario_fail(s, "%s", error->message);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
}

/* ---- cases ---- */

static void list_cases(void)
{
	for (unsigned int t = 0; t < G_N_ELEMENTS(tables); t++)
		for (const struct loss_case *row = tables[t]; row->name; row++)
			printf("%-18s%s%s\n", row->name, row->help, row->is_long ? " (long)" : "");
}

static void run_cases(struct losses *losses)
{
	for (unsigned int t = 0; t < G_N_ELEMENTS(tables); t++)
		for (const struct loss_case *row = tables[t]; row->name; row++)
			if (losses->all || !row->is_long)
				row->run(losses);
}

static bool run_case(struct losses *losses, const char *name)
{
	for (unsigned int t = 0; t < G_N_ELEMENTS(tables); t++)
		for (const struct loss_case *row = tables[t]; row->name; row++)
			if (strcmp(row->name, name) == 0) {
				row->run(losses);
				return true;
			}
	fprintf(stderr, "no case %s: see --list\n", name);
	return false;
}

/* ---- moments ---- */

/*
 * Step from one moment to the next, so that a sweep of that kind has some hundred moments or, in
 * make check, a few: with several seeds where a fabric is made for each moment anyway, or where
 * losses differ most.
 */
static const unsigned int steps_us[LOSS_KINDS][2] = {
	[LOSS_FIRST] = {50000, 1000},	[LOSS_PARTIAL] = {2000, 100},
	[LOSS_LIGHT] = {500, 50},	[LOSS_HEAVY] = {50000, 1000},
	[LOSS_MULTICAST] = {4000, 200}, [LOSS_REROUTE] = {1500, 200},
};
static const unsigned int short_seeds[LOSS_KINDS] = {
	[LOSS_FIRST] = 8, [LOSS_PARTIAL] = 1,	[LOSS_LIGHT] = 1,
	[LOSS_HEAVY] = 3, [LOSS_MULTICAST] = 1, [LOSS_REROUTE] = 1,
};

static void run_kinds(struct losses *losses)
{
	static const unsigned int numbers[] = {1, 12, 2, 4};
	unsigned int n = losses->all ? G_N_ELEMENTS(numbers) : (unsigned int)some_seeds(2);

	for (unsigned int kind = 0; kind < LOSS_KINDS; kind++)
		for (unsigned int i = 0; i < 2 * n; i++) {
			unsigned int seeds = short_seeds[kind];
			struct moments moments = {
				.spec = "fattree:8",
				.kind = kind,
				.switches = i % 2,
				.n = numbers[i / 2],
				.step_us = steps_us[kind][losses->all] * (losses->all ? 1 : seeds),
				.seeds = losses->all ? losses->seeds : seeds,
				.bound_ms = LOSS_BOUND_MS,
			};

			moments_run(losses, &moments);
		}
}

static bool run_moments(struct losses *losses, const struct arguments *arguments)
{
	struct moments moments = {
		.spec = arguments->net ? arguments->net : "fattree:8",
		.switches = arguments->switches,
		.n = (unsigned int)arguments->lost,
		.first = (unsigned int)arguments->from,
		.count = (unsigned int)arguments->count,
		.step_us = (unsigned int)arguments->step,
		.seeds = losses->seeds,
		.bound_ms = (unsigned int)arguments->bound,
	};
	const char *kind = arguments->kind ? arguments->kind : "partial";

	for (unsigned int i = 0; i < LOSS_KINDS; i++)
		if (strcmp(kind, loss_kind_names[i]) == 0) {
			moments.kind = i;
			moments_run(losses, &moments);
			return true;
		}
	fprintf(stderr, "no kind of sweep %s: first, partial, light, heavy, multicast, reroute\n",
		kind);
	return false;
}

/* ---- the command line ---- */

static bool parse(int argc, char **argv, struct arguments *arguments)
{
	const GOptionEntry entries[] = {
		{"all", 0, 0, G_OPTION_ARG_NONE, &arguments->all, "the long way", NULL},
		{"list", 0, 0, G_OPTION_ARG_NONE, &arguments->list, "names of cases", NULL},
		{"case", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arguments->cases, "one case", "NAME"},
		{"moments", 0, 0, G_OPTION_ARG_NONE, &arguments->moments, "moments only", NULL},
		{"net", 0, 0, G_OPTION_ARG_STRING, &arguments->net, "the fabric", "SPEC"},
		{"kind", 0, 0, G_OPTION_ARG_STRING, &arguments->kind, "of sweep", "KIND"},
		{"switches", 0, 0, G_OPTION_ARG_NONE, &arguments->switches, "not cables", NULL},
		{"lost", 0, 0, G_OPTION_ARG_INT, &arguments->lost, "how many", "N"},
		{"from", 0, 0, G_OPTION_ARG_INT, &arguments->from, "first moment", "STEPS"},
		{"count", 0, 0, G_OPTION_ARG_INT, &arguments->count, "of moments", "N"},
		{"step", 0, 0, G_OPTION_ARG_INT, &arguments->step, "between moments", "US"},
		{"bound", 0, 0, G_OPTION_ARG_INT, &arguments->bound, "what is late", "MS"},
		{"seed", 0, 0, G_OPTION_ARG_INT, &arguments->seed, "what is lost", "N"},
		{"seeds", 0, 0, G_OPTION_ARG_INT, &arguments->seeds, "how many of them", "N"},
		{NULL, 0, 0, 0, NULL, NULL, NULL},
	};
	g_autoptr(GOptionContext) context = g_option_context_new("- what is lost in a sweep");
	g_autoptr(GError) error = NULL;

	g_option_context_add_main_entries(context, entries, NULL);
	if (g_option_context_parse(context, &argc, &argv, &error) && argc == 1 &&
	    arguments->step > 0 && arguments->lost >= 0 && arguments->seeds > 0 &&
	    arguments->bound >= 0)
		return true;
	fprintf(stderr, "losses: %s\n", error ? error->message : "wrong arguments");
	return false;
}

static bool run(struct losses *losses, const struct arguments *arguments)
{
	bool good = true;

	if (arguments->moments)
		return run_moments(losses, arguments);
	for (char **name = arguments->cases; name && *name; name++)
		good = run_case(losses, *name) && good;
	if (arguments->cases)
		return good;
	run_cases(losses);
	run_kinds(losses);
	return true;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {
		.lost = 1,
		.step = 1000,
		.bound = LOSS_BOUND_MS,
		.seed = 1,
		.seeds = 1,
	};
	struct losses losses = {.seed = 1};
	bool good;

	if (!parse(argc, argv, &arguments))
		return EXIT_FAILURE;
	losses.all = arguments.all;
	losses.seed = (uint64_t)arguments.seed;
	losses.seeds = (unsigned int)arguments.seeds;
	if (arguments.list)
		list_cases();
	good = arguments.list || run(&losses, &arguments);
	g_strfreev(arguments.cases);
	g_free(arguments.net);
	g_free(arguments.kind);
	if (arguments.list)
		return EXIT_SUCCESS;
	return report_close(&losses.report) == EXIT_SUCCESS && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
