// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The report as dictionaries; keys are explained in osmroute(1). */
#include <json-glib/json-glib.h>

#include "osmroute/outage.h"
#include "osmroute/report.h"
#include "osmroute/report_measured.h"

static void add_bool(GVariantDict *dict, const char *key, bool value)
{
	g_variant_dict_insert(dict, key, "b", value);
}

static void add_number(GVariantDict *dict, const char *key, uint64_t value)
{
	g_variant_dict_insert(dict, key, "t", value);
}

static void add_real(GVariantDict *dict, const char *key, double value)
{
	g_variant_dict_insert(dict, key, "d", value);
}

static void add_text(GVariantDict *dict, const char *key, const char *value)
{
	g_autofree char *valid = g_utf8_make_valid(value, -1);

	g_variant_dict_insert(dict, key, "s", valid);
}

static void add_cost(GVariantDict *dict, const char *key, const struct cost *cost)
{
	GVariantDict inner;

	g_variant_dict_init(&inner, NULL);
	add_real(&inner, "seconds", cost->seconds);
	add_real(&inner, "seconds_least", cost->least);
	add_real(&inner, "seconds_caller", cost->caller);
	add_real(&inner, "seconds_all", cost->all);
	if (cost->memory >= 0)
		add_number(&inner, "memory_bytes", cost->memory);
	g_variant_dict_insert_value(dict, key, g_variant_dict_end(&inner));
}

static void add_verdict(GVariantDict *dict, const struct judgement *judgement)
{
	const struct route_verdict *verdict = &judgement->verdict;

	add_bool(dict, "right", judgement->good);
	add_bool(dict, "complete", verdict->complete);
	add_bool(dict, "loop_free", verdict->loop_free);
	add_bool(dict, "credit_loops", !verdict->acyclic);
	add_number(dict, "paths", verdict->paths);
	add_number(dict, "discarded", verdict->discarded);
	if (verdict->witness)
		add_text(dict, "witness", verdict->witness);
}

static void add_quality(GVariantDict *dict, const struct quality *quality)
{
	add_number(dict, "hosts", quality->n_hosts);
	add_number(dict, "channels", quality->n_channels);
	add_number(dict, "pairs", quality->pairs);
	add_number(dict, "pairs_routed", quality->routed);
	add_real(dict, "hops_mean", quality->mean_hops);
	add_number(dict, "hops_max", quality->max_hops);
	add_number(dict, "load_max", quality->most_load);
	add_real(dict, "load_mean", quality->mean_load);
	add_real(dict, "load_ratio", quality->load_ratio);
	add_number(dict, "shifts", quality->shifts);
	add_number(dict, "shift_load_max", quality->worst_shift);
	add_number(dict, "shift_worst", quality->worst_s);
	add_number(dict, "matchings", quality->matchings);
	add_real(dict, "bisection", quality->bisection);
}

static void add_lanes(GVariantDict *dict, const struct quality *quality)
{
	GVariantBuilder loads;

	g_variant_builder_init(&loads, G_VARIANT_TYPE("at"));
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		g_variant_builder_add(&loads, "t", quality->lane_load[vl]);
	g_variant_dict_insert_value(dict, "lane_load_max", g_variant_builder_end(&loads));
}

static void add_judgement(GVariantDict *dict, const struct judgement *judgement)
{
	if (judgement->refusal) {
		add_text(dict, "refused", judgement->refusal);
		return;
	}
	add_cost(dict, "engine_cost", &judgement->engine);
	add_cost(dict, "verify_cost", &judgement->verify);
	add_verdict(dict, judgement);
	add_quality(dict, &judgement->quality);
	add_number(dict, "lanes", judgement->lanes);
	add_lanes(dict, &judgement->quality);
	add_number(dict, "blocks", judgement->blocks);
	add_text(dict, "digest", judgement->digest);
	if (judgement->note)
		add_text(dict, "note", judgement->note);
}

static void add_way(GVariantDict *dict, enum route_way way)
{
	static const char *const ways[] = {
		[ROUTE_SAME] = "same",
		[ROUTE_REPAIRED] = "repaired",
		[ROUTE_STICKY] = "kept",
		[ROUTE_ANEW] = "anew",
	};

	add_text(dict, "computed", ways[way]);
}

static GVariant *trial_value(const struct judge_trial *trial)
{
	GVariantDict dict;

	g_variant_dict_init(&dict, NULL);
	add_number(&dict, "cables_lost", trial->lost);
	add_judgement(&dict, &trial->after);
	if (!trial->after.refusal) {
		add_number(&dict, "hosts_cut_off", trial->n_hosts);
		add_way(&dict, trial->after.way);
		add_number(&dict, "blocks_changed", trial->changed);
	}
	return g_variant_dict_end(&dict);
}

static GVariant *step_value(const struct outage_step *step)
{
	GVariantDict dict;

	g_variant_dict_init(&dict, NULL);
	add_judgement(&dict, &step->after);
	if (!step->after.refusal) {
		add_way(&dict, step->after.way);
		add_number(&dict, "blocks_changed", step->changes.blocks);
		add_number(&dict, "blocks_own", step->changes.own);
		add_real(&dict, "load_ratio_anew", step->anew);
	}
	return g_variant_dict_end(&dict);
}

static GVariant *outage_value(const struct outage_report *outage)
{
	GVariantBuilder trials;
	GVariantDict dict;

	g_variant_dict_init(&dict, NULL);
	add_text(&dict, "class", outage->name);
	add_number(&dict, "candidates", outage->n_things);
	g_variant_builder_init(&trials, G_VARIANT_TYPE("aa{sv}"));
	for (guint i = 0; i < outage->trials->len; i++) {
		const struct outage_trial *trial =
			&g_array_index(outage->trials, struct outage_trial, i);
		GVariantDict inner;

		g_variant_dict_init(&inner, NULL);
		add_text(&inner, "what", trial->what);
		add_number(&inner, "hosts_cut_off", trial->n_hosts);
		g_variant_dict_insert_value(&inner, "lost", step_value(&trial->lost));
		g_variant_dict_insert_value(&inner, "back", step_value(&trial->back));
		g_variant_builder_add_value(&trials, g_variant_dict_end(&inner));
	}
	g_variant_dict_insert_value(&dict, "trials", g_variant_builder_end(&trials));
	return g_variant_dict_end(&dict);
}

static GVariant *promises_value(unsigned int promises)
{
	GVariantBuilder list;

	g_variant_builder_init(&list, G_VARIANT_TYPE("as"));
	if (promises & ROUTE_DEADLOCK_FREE)
		g_variant_builder_add(&list, "s", "deadlock_free");
	if (promises & ROUTE_SHORTEST)
		g_variant_builder_add(&list, "s", "shortest");
	return g_variant_builder_end(&list);
}

static GVariant *passage_value(const struct passage *passage)
{
	GVariantDict dict;

	g_variant_dict_init(&dict, NULL);
	add_number(&dict, "stages", passage->stages);
	add_number(&dict, "blocks_written", passage->blocks);
	add_number(&dict, "lids_in_order", passage->ordered);
	add_number(&dict, "lids_discarded_first", passage->discarded);
	if (passage->exposed)
		add_text(&dict, "may_deadlock", passage->exposed);
	return g_variant_dict_end(&dict);
}

static GVariant *report_value(const struct judge_report *report)
{
	GVariantBuilder trials, outages;
	GVariantDict dict;

	g_variant_dict_init(&dict, NULL);
	add_text(&dict, "engine", report->engine->name);
	add_judgement(&dict, &report->before);
	if (report->routing)
		g_variant_dict_insert_value(&dict, "promises",
					    promises_value(report->routing->promises));
	if (report->passage.stages)
		g_variant_dict_insert_value(&dict, "transition", passage_value(&report->passage));
	g_variant_builder_init(&trials, G_VARIANT_TYPE("aa{sv}"));
	for (uint32_t i = 0; i < report->trials->len; i++)
		g_variant_builder_add_value(
			&trials,
			trial_value(&g_array_index(report->trials, struct judge_trial, i)));
	g_variant_dict_insert_value(&dict, "losses", g_variant_builder_end(&trials));
	g_variant_builder_init(&outages, G_VARIANT_TYPE("aa{sv}"));
	for (guint i = 0; i < report->outages->len; i++)
		g_variant_builder_add_value(&outages, outage_value(report->outages->pdata[i]));
	g_variant_dict_insert_value(&dict, "outages", g_variant_builder_end(&outages));
	return g_variant_dict_end(&dict);
}

static GVariant *subject_value(const struct report_subject *subject)
{
	g_autofree char *name = g_filename_display_name(subject->topology);
	GVariantBuilder reports;
	GVariantDict dict;

	g_variant_dict_init(&dict, NULL);
	add_text(&dict, "topology", name);
	add_number(&dict, "switches", subject->fabric->n_switches);
	add_number(&dict, "cables", subject->n_cables);
	add_number(&dict, "nodes_left_out", subject->n_left_out);
	add_number(&dict, "lmc", subject->lmc);
	add_number(&dict, "threads", subject->threads);
	add_number(&dict, "seed", subject->seed);
	g_variant_builder_init(&reports, G_VARIANT_TYPE("aa{sv}"));
	for (guint i = 0; i < subject->reports->len; i++)
		g_variant_builder_add_value(&reports, report_value(subject->reports->pdata[i]));
	g_variant_dict_insert_value(&dict, "engines", g_variant_builder_end(&reports));
	if (subject->measured)
		g_variant_dict_insert_value(
			&dict, "load",
			report_measured_value(subject->fabric, subject->measured));
	return g_variant_dict_end(&dict);
}

char *report_json(const struct report_subject *subject)
{
	g_autoptr(GVariant) value = g_variant_ref_sink(subject_value(subject));
	JsonNode *node = json_gvariant_serialize(value);
	g_autofree char *text = json_to_string(node, TRUE);

	json_node_unref(node);
	return g_strconcat(text, "\n", NULL);
}
