// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The daemon sees three pictures: before, after the loss, and after the return, where it continues
 * from the routing of the second. A lost switch comes back rebooted, with empty tables.
 */
#include "osmroute/outage.h"

#include <string.h>

#include "complib/random.h"
#include "osmroute/loss.h"
#include "osmroute/ranks.h"

const char *const outage_kind_names[OUTAGE_N_KINDS] = {
#define X(name, text) text,
	OUTAGE_KINDS(X)
#undef X
};

/* ---- parts that can be lost ---- */

/* State while the fabric is read. */
struct lister {
	const struct fabric *fabric;
	struct ranks ranks;
	uint32_t sm_switch;
	GPtrArray *classes;
};

static void class_free(void *data)
{
	struct outage_class *class = data;

	g_free(class->name);
	g_array_unref(class->things);
	g_free(class);
}

/* Adds a thing to the class with this name; takes over the name. */
static void add_thing(struct lister *lister, enum outage_kind kind, char *name, uint32_t sw,
		      uint8_t num)
{
	const struct fabric *fabric = lister->fabric;
	struct outage_thing thing = {fabric->nodes[fabric->switches[sw].node].guid, num};
	struct outage_class *class = NULL;

	for (guint i = 0; i < lister->classes->len && !class; i++) {
		struct outage_class *old = lister->classes->pdata[i];

		class = strcmp(old->name, name) ? NULL : old;
	}
	if (!class) {
		class = g_new(struct outage_class, 1);
		*class = (struct outage_class){
			kind, g_strdup(name), g_array_new(FALSE, FALSE, sizeof(thing))};
		g_ptr_array_add(lister->classes, class);
	}
	g_array_append_val(class->things, thing);
	g_free(name);
}

/* Each cable is found from both ends and listed from the first. */
static void list_cables(struct lister *lister, uint32_t sw)
{
	const struct fabric *fabric = lister->fabric;
	const struct ranks *ranks = &lister->ranks;

	for (unsigned int num = 1; num <= fabric->nodes[fabric->switches[sw].node].num_ports;
	     num++) {
		uint32_t to = ranks_across(fabric, sw, num), low;

		if (to == FABRIC_NONE || to <= sw)
			continue;
		low = MIN(ranks->of[sw], ranks->of[to]);
		add_thing(lister, OUTAGE_LINK,
			  ranks->layered ? g_strdup_printf("link %u-%u", low, low + 1)
					 : g_strdup("link"),
			  sw, num);
	}
}

static void list_switch(struct lister *lister, uint32_t sw)
{
	const struct ranks *ranks = &lister->ranks;

	if (sw == lister->sm_switch || ranks->hosts[sw])
		return;
	add_thing(lister, OUTAGE_SWITCH,
		  ranks->layered ? g_strdup_printf("switch %u", ranks->of[sw])
				 : g_strdup("switch"),
		  sw, 0);
}

static void list_leaf(struct lister *lister, uint32_t sw)
{
	if (sw != lister->sm_switch && lister->ranks.hosts[sw])
		add_thing(lister, OUTAGE_LEAF, g_strdup("leaf"), sw, 0);
}

static int compare_classes(const void *a, const void *b)
{
	const struct outage_class *x = *(struct outage_class *const *)a;
	const struct outage_class *y = *(struct outage_class *const *)b;

	return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->name, y->name);
}

GPtrArray *outage_classes(const struct fabric *fabric, unsigned int kinds)
{
	static void (*const list[OUTAGE_N_KINDS])(struct lister *lister, uint32_t sw) = {
		[OUTAGE_LINK] = list_cables,
		[OUTAGE_SWITCH] = list_switch,
		[OUTAGE_LEAF] = list_leaf,
	};
	struct lister lister = {fabric, .classes = g_ptr_array_new_with_free_func(class_free)};
	uint8_t exit;

	ranks_init(&lister.ranks, fabric);
	lister.sm_switch = fabric_leaf(fabric, fabric_endport_of(fabric, fabric->sm_port), &exit);
	for (unsigned int kind = 0; kind < OUTAGE_N_KINDS; kind++)
		for (uint32_t sw = 0; kinds & 1u << kind && sw < fabric->n_switches; sw++)
			list[kind](&lister, sw);
	ranks_clear(&lister.ranks);
	g_ptr_array_sort(lister.classes, compare_classes);
	return lister.classes;
}

/* ---- loss and return ---- */

/* "NAME (0xGUID) port N", for a switch without the port. */
static char *name_thing(const struct fabric *fabric, const struct outage_thing *thing)
{
	uint32_t node = fabric_node_by_guid(fabric, thing->guid);
	char buffer[512];

	fabric_port_name(fabric, fabric_port_of(fabric, node, thing->num), buffer, sizeof(buffer));
	if (!thing->num)
		*g_strrstr(buffer, " port ") = '\0';
	return g_utf8_make_valid(buffer, -1);
}

static GArray *take(struct builder *builder, const struct outage_thing *thing)
{
	struct builder_node *node = builder_find(builder, thing->guid);

	return thing->num ? loss_take_cable(&node->ports[thing->num]) : loss_take_node(node);
}

/* The load ratio if nothing of the old tables were kept. */
static double ratio_anew(const struct judge_task *task, const struct route_engine *engine,
			 const struct fabric *fabric)
{
	const struct quality_effort none = {0};
	struct quality quality = {0};
	struct judge_traffic traffic;
	struct routing *routing;

	judge_traffic_init(&traffic, task, fabric);
	routing = route_compute(engine, fabric, &traffic.input, NULL);
	if (routing)
		quality_measure(fabric, routing, traffic.demand, &none, &quality);
	routing_unref(routing);
	judge_traffic_clear(&traffic);
	return quality.load_ratio;
}

/* The routing after a step from the latest earlier picture; NULL if refused. */
static struct routing *make_step(const struct judge_task *task, const struct route_engine *engine,
				 const struct fabric *fabric, const struct picture *earlier,
				 unsigned int n, uint64_t rebooted, struct outage_step *step)
{
	struct picture now = {fabric, judgement_repair(task, fabric, engine, earlier[0].routing,
						       &step->after)};

	if (!now.routing)
		return NULL;
	changes_count(&now, earlier, n, rebooted, &step->changes);
	judgement_weigh(task, fabric, now.routing, &step->after);
	step->anew = ratio_anew(task, engine, fabric);
	return (struct routing *)now.routing;
}

/* Restores the lost thing. */
static void come_back(const struct judge_task *task, const struct route_engine *engine,
		      const struct picture *before, const struct picture *meanwhile,
		      uint64_t rebooted, struct outage_trial *trial)
{
	const struct picture earlier[] = {*meanwhile, *before};
	struct fabric *fabric = builder_freeze(task->builder);
	struct routing *routing = make_step(task, engine, fabric, earlier, G_N_ELEMENTS(earlier),
					    rebooted, &trial->back);

	routing_unref(routing);
	fabric_unref(fabric);
}

static void try_thing(const struct judge_task *task, const struct route_engine *engine,
		      const struct picture *before, const struct judgement *judgement,
		      const struct outage_thing *thing, struct outage_trial *trial)
{
	GArray *lost = take(task->builder, thing);
	struct fabric *fabric = builder_freeze(task->builder);
	struct routing *routing = make_step(task, engine, fabric, before, 1, 0, &trial->lost);
	const struct picture meanwhile = {fabric, routing};

	trial->what = name_thing(before->fabric, thing);
	loss_restore(lost);
	if (routing) {
		trial->n_hosts = judgement->quality.n_hosts - trial->lost.after.quality.n_hosts;
		come_back(task, engine, before, &meanwhile, thing->num ? 0 : thing->guid, trial);
	} else {
		trial->back.after.refusal = g_strdup("there were no routes during the loss");
	}
	routing_unref(routing);
	fabric_unref(fabric);
}

static void trial_clear(void *data)
{
	struct outage_trial *trial = data;

	g_free(trial->what);
	judgement_clear(&trial->lost.after);
	judgement_clear(&trial->back.after);
}

struct outage_report *outage_judge(const struct judge_task *task, const struct route_engine *engine,
				   const struct picture *before, const struct judgement *judgement,
				   const struct outage_class *class, uint64_t *state)
{
	struct outage_report *report = g_new(struct outage_report, 1);
	g_autoptr(GArray) things = g_array_copy(class->things);

	*report = (struct outage_report){g_strdup(class->name), things->len,
					 g_array_new(FALSE, FALSE, sizeof(struct outage_trial))};
	g_array_set_clear_func(report->trials, trial_clear);
	for (unsigned int i = 0; i < MIN(task->trials, things->len); i++) {
		uint32_t other = i + random_below(state, things->len - i);
		struct outage_thing thing = g_array_index(things, struct outage_thing, other);
		struct outage_trial trial = {0};

		g_array_index(things, struct outage_thing, other) =
			g_array_index(things, struct outage_thing, i);
		try_thing(task, engine, before, judgement, &thing, &trial);
		g_array_append_val(report->trials, trial);
	}
	return report;
}

void outage_report_free(struct outage_report *report)
{
	g_free(report->name);
	g_array_unref(report->trials);
	g_free(report);
}
