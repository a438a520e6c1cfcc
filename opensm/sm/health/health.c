// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Errors belong to the node that caused them: number in a row, text, time of the next retry. A sick
 * node costs only its own retries: when its time has come it is marked, and a partial sweep reads
 * only that node. It is well again when a sweep that read it found no error. A node that accepts
 * values, and then repeatedly holds other ones, is corrected at growing intervals.
 *
 * A device that cannot be helped (no answer behind a port, a NodeInfo that makes no sense) keeps
 * the subnet from being up for a few sweeps only; after that it is logged and excluded.
 */
#include <stdarg.h>

#include "fabric/node_table.h"
#include "sm/health/health_private.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define RETRY_FIRST_NS (100 * NS_PER_MS)
#define RETRY_MAX_NS (10 * NS_PER_S)
#define EXCLUDED_MAX_NS (60 * NS_PER_S)
#define RELAPSES_MAX 3		   /* differences that are corrected at once */
#define RELAPSE_NS (60 * NS_PER_S) /* a later difference is not a relapse */
#define STRIKES_MAX 3		   /* of a device that can be excluded */
#define SICK_TOLD 10

/* Of a sick node. */
struct errors {
	uint64_t sweep; /* that found the last error */
	uint64_t retry_ns;
	unsigned int strikes; /* sweeps in a row with errors */
	bool excluded;	      /* cannot be helped: no longer an error */
	uint8_t behind;	      /* its port behind which no device answered, if that was last; or 0 */
	char *line;	      /* the last error; NULL: none was logged */
};

/* About each node. */
struct note {
	struct errors *errors;	 /* NULL: it has no recorded ones */
	uint64_t differed_ns;	 /* when its hardware was last found to differ from what is known */
	uint64_t differed_sweep; /* serial of the sweep before that */
	uint8_t relapses;	 /* further differences since then, each soon after the last */
};

struct health {
	struct sm *sm;
	struct node_table *notes;
	GPtrArray *sick;    /* nodes with errors */
	struct timer retry; /* for the first of them */
	struct log_limit error_log;
};

static struct note *note_of(const struct sm *sm, const struct builder_node *node)
{
	return node_table_of(sm->faults->nodes->notes, node);
}

/* NULL: it is not sick. */
static struct errors *errors_of(const struct sm *sm, const struct builder_node *node)
{
	return note_of(sm, node)->errors;
}

static void log_fault(struct sm *sm, const char *text)
{
	unsigned int held_back;

	dry_problem(sm, text);
	if (!log_limit_pass(&sm->faults->nodes->error_log, actor_now(sm->actor), 50, NS_PER_S,
			    &held_back))
		return;
	if (held_back)
		log_error(sm->log, "%s (%u similar lines suppressed)", text, held_back);
	else
		log_error(sm->log, "%s", text);
}

void sm_problem(struct sm *sm, const char *format, ...)
{
	va_list args;
	g_autofree char *text = NULL;

	sm->sweep.errors++;
	sm->sweep.problems++;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	log_fault(sm, text);
}

void sm_log_new_lines(const struct sm *sm, char **before, char **lines)
{
	for (unsigned int i = 0; lines && lines[i]; i++)
		if (!before || !g_strv_contains((const char *const *)before, lines[i]))
			log_error(sm->log, "%s", lines[i]);
}

static struct errors *patient(struct sm *sm, struct builder_node *node)
{
	struct note *note = note_of(sm, node);

	if (!note->errors) {
		note->errors = g_new0(struct errors, 1);
		g_ptr_array_add(sm->faults->nodes->sick, node);
		builder_hold(node);
	}
	return note->errors;
}

static struct errors *strike(struct sm *sm, struct builder_node *node, uint64_t max_ns)
{
	struct errors *errors = patient(sm, node);
	bool is_first = !errors->strikes || errors->sweep != sm->sweep.serial;
	uint64_t retry_ns;

	errors->strikes += is_first;
	errors->sweep = sm->sweep.serial;
	retry_ns =
		actor_now(sm->actor) + MIN(RETRY_FIRST_NS << MIN(errors->strikes - 1, 16u), max_ns);
	errors->retry_ns = is_first ? retry_ns : MIN(errors->retry_ns, retry_ns);
	return errors;
}

static void keep_line(struct errors *errors, const char *line)
{
	errors->behind = 0;
	g_free(errors->line);
	errors->line = g_strdup(line);
}

/* "NAME (0xGUID): TEXT" */
static char *line_of(const struct builder_node *node, const char *format, va_list args)
{
	g_autofree char *text = g_strdup_vprintf(format, args);
	char name[SM_NAME_SIZE];

	return g_strdup_printf("%s: %s", sm_node_name(node, name, sizeof(name)), text);
}

void health_fault(struct sm *sm, struct builder_node *node, const char *format, ...)
{
	g_autofree char *line = NULL;
	va_list args;

	va_start(args, format);
	line = line_of(node, format, args);
	va_end(args);
	sm->sweep.errors++;
	if (node->builder) {
		struct errors *errors = strike(sm, node, RETRY_MAX_NS);

		errors->excluded = false;
		keep_line(errors, line);
	}
	log_fault(sm, line);
}

void health_refused(struct sm *sm, const struct builder_port *port, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	port_health_event(sm, port, PORT_SET_ERRORS);
	health_fault(sm, port->node, "%s", text);
}

/* ---- values that a node does not accept ---- */

bool health_is_due(const struct sm *sm, const struct builder_node *node)
{
	const struct errors *errors = errors_of(sm, node);

	return errors && errors->retry_ns <= actor_now(sm->actor);
}

bool health_is_sick(const struct sm *sm, const struct builder_node *node)
{
	return errors_of(sm, node) != NULL;
}

/* Routes must take account of it at once. */
static void reroute(struct sm *sm, struct builder_node *node)
{
	builder_touch(node);
	sweep_want(sm, SWEEP_CHANGE);
}

/*
 * The first time may be chance: it is an error that is tried again soon. From the second time on it
 * is a property of the switch: true if that is new.
 */
static bool is_settled(struct sm *sm, struct builder_node *node, const char *line, bool known)
{
	struct errors *errors = strike(sm, node, EXCLUDED_MAX_NS);

	errors->excluded = known || errors->strikes > 1;
	keep_line(errors, line);
	sm->sweep.errors += !errors->excluded;
	if (!errors->excluded)
		log_fault(sm, line);
	return errors->excluded && !known;
}

void health_block_refused(struct sm *sm, struct builder_node *node, uint16_t attribute,
			  uint32_t block, const char *how)
{
	struct trust_table *table = sm_table(node, 0, attribute);
	uint32_t number = attribute == IBA_ATTR_MULTICAST_FORWARDING_TABLE
				  ? block / IBA_MFT_POSITIONS_OF(node->info.num_ports)
				  : block;
	g_autofree char *line = NULL, *told = NULL;
	char name[SM_NAME_SIZE];

	if (!node->builder)
		return;
	line = g_strdup_printf("%s: it does not accept block %u of its %s (%s)",
			       sm_node_name(node, name, sizeof(name)), number,
			       iba_name(IBA_SET_ATTR, attribute), how);
	if (!is_settled(sm, node, line, trust_refuses(table, block)))
		return;
	trust_refuse(table, block, true);
	told = g_strconcat(line, ": routes avoid it for these LIDs", NULL);
	log_fault(sm, told);
	reroute(sm, node);
}

void health_block_taken(struct sm *sm, struct builder_node *node, uint16_t attribute,
			uint32_t block)
{
	char name[SM_NAME_SIZE];

	if (!node->builder || !trust_refuse(sm_table(node, 0, attribute), block, false))
		return;
	log_info(sm->log, "%s accepts block %u of its %s again",
		 sm_node_name(node, name, sizeof(name)), block, iba_name(IBA_SET_ATTR, attribute));
	reroute(sm, node);
}

void health_top(struct sm *sm, struct builder_node *node)
{
	bool refused = node->switch_info.linear_fdb_top < node->top_sent;
	g_autofree char *line = NULL;
	char name[SM_NAME_SIZE];

	if (!node->builder)
		return;
	if (!refused) {
		if (!node->top_refused || node->switch_info.linear_fdb_top < node->top_refused)
			return;
		node->top_refused = 0;
		reroute(sm, node);
		return;
	}
	line = g_strdup_printf("%s: it does not accept LinearFDBTop 0x%04x and stays at 0x%04x",
			       sm_node_name(node, name, sizeof(name)), node->top_sent,
			       node->switch_info.linear_fdb_top);
	port_health_event(sm, &node->ports[0], PORT_SET_ERRORS);
	if (!is_settled(sm, node, line, node->top_refused))
		return;
	node->top_refused = node->top_sent;
	log_fault(sm, line);
	reroute(sm, node);
}

static bool refuses_any(const struct builder_node *node)
{
	return node->top_refused || trust_next_refused(&node->lft, 0) != TRUST_NONE ||
	       trust_next_refused(&node->mft, 0) != TRUST_NONE;
}

bool health_exclude(struct sm *sm, struct builder_node *node, const char *format, ...)
{
	struct errors *errors = strike(sm, node, EXCLUDED_MAX_NS);
	g_autofree char *line = NULL, *told = NULL;
	va_list args;

	errors->excluded = errors->strikes > STRIKES_MAX;
	if (errors->strikes > STRIKES_MAX + 1)
		return true; /* it was logged */
	va_start(args, format);
	line = line_of(node, format, args);
	va_end(args);
	told = g_strconcat(line, errors->excluded ? ": excluded" : NULL, NULL);
	sm->sweep.errors += !errors->excluded;
	keep_line(errors, line);
	log_fault(sm, told);
	return errors->excluded;
}

void health_no_device_behind(struct sm *sm, const struct builder_port *port)
{
	struct errors *errors = errors_of(sm, port->node);

	if (errors)
		errors->behind = port->num;
}

void health_silent(struct sm *sm, struct builder_node *node, const char *text, bool is_new)
{
	const struct errors *before = errors_of(sm, node);
	bool counted = before && before->sweep == sm->sweep.serial;
	struct errors *errors = strike(sm, node, EXCLUDED_MAX_NS);
	g_autofree char *line = NULL;
	char name[SM_NAME_SIZE];

	line = g_strdup_printf("%s: %s", sm_node_name(node, name, sizeof(name)), text);
	errors->excluded = errors->strikes > STRIKES_MAX;
	sm->sweep.errors += !errors->excluded && !counted;
	if (is_new)
		log_fault(sm, line);
	keep_line(errors, line);
}

void health_too_far(struct sm *sm, const struct builder_port *port)
{
	struct builder_node *node = port->node;
	bool is_new = !health_is_sick(sm, node);
	struct errors *errors = strike(sm, node, EXCLUDED_MAX_NS);
	g_autofree char *text = NULL;
	char name[SM_NAME_SIZE];

	errors->excluded |= is_new;
	if (errors->excluded)
		errors->retry_ns = actor_now(sm->actor) + EXCLUDED_MAX_NS;
	if (!is_new)
		return;
	text = g_strdup_printf("%s: the device behind port %u is more than %u hops away: excluded",
			       sm_node_name(node, name, sizeof(name)), port->num, node->hops);
	log_fault(sm, text);
}

/* It is no longer sick: well, or gone. */
static void discharge(struct sm *sm, guint i)
{
	struct builder_node *node = g_ptr_array_remove_index_fast(sm->faults->nodes->sick, i);
	struct note *note = note_of(sm, node);

	g_free(note->errors->line);
	g_clear_pointer(&note->errors, g_free);
	builder_release(node);
}

/* When errors not caused by a node are tried again. */
static uint64_t back_off(const struct sm *sm)
{
	return actor_now(sm->actor) +
	       MIN(RETRY_FIRST_NS << MIN(sm->schedule.failures, 16u), RETRY_MAX_NS);
}

/* While there is no subnet to read, sweep.c decides when to look for one. */
static void start_retry(struct sm *sm, uint64_t when)
{
	struct timer *retry = &sm->faults->nodes->retry;
	uint64_t now = actor_now(sm->actor);

	if (sm_rests(sm) || !sm->schedule.discovered)
		timer_stop(retry);
	else if (when != UINT64_MAX)
		timer_start(retry, when - MIN(when, now));
	else if (sm->sweep.kind & (SWEEP_KIND_HEAVY | SWEEP_KIND_PARTIAL))
		timer_stop(retry);
}

/* Its correction failed, and it waits for the next one; waiting is not an error. */
static void put_off(struct sm *sm, struct builder_node *node, unsigned int times)
{
	uint64_t pause = MIN(RETRY_FIRST_NS << times, RETRY_MAX_NS);

	if (!errors_of(sm, node)) {
		patient(sm, node)->excluded = true;
		errors_of(sm, node)->retry_ns = actor_now(sm->actor) + pause;
	}
	if (!timer_running(&sm->faults->nodes->retry))
		start_retry(sm, errors_of(sm, node)->retry_ns);
}

bool health_relapses(const struct sm *sm, const struct builder_node *node)
{
	return note_of(sm, node)->relapses > RELAPSES_MAX;
}

bool health_has_differed(const struct sm *sm, const struct builder_node *node)
{
	return note_of(sm, node)->differed_sweep == sm->sweep.serial;
}

void health_differs(struct sm *sm, struct builder_node *node)
{
	struct note *note = note_of(sm, node);
	uint64_t now = actor_now(sm->actor);

	if (!note->differed_ns || now - note->differed_ns > RELAPSE_NS)
		note->relapses = 0;
	else if (note->differed_sweep != sm->sweep.serial)
		note->relapses = MIN(note->relapses + 1, RELAPSES_MAX + 16);
	note->differed_ns = now;
	note->differed_sweep = sm->sweep.serial;
	if (!health_relapses(sm, node))
		sweep_want(sm, SWEEP_CHANGE);
	else
		put_off(sm, node, note->relapses - RELAPSES_MAX);
}

/* Or gone; by a sweep that has read all that it covers. */
static bool is_well(const struct sm *sm, const struct builder_node *node)
{
	return !node->builder ||
	       (node->looked_at == sm->sweep.serial &&
		errors_of(sm, node)->sweep != sm->sweep.serial && !refuses_any(node));
}

void health_sweep_ended(struct sm *sm)
{
	uint64_t next = UINT64_MAX;

	port_health_counters(sm);
	for (guint i = sm->faults->nodes->sick->len; i-- > 0;) {
		const struct builder_node *node = sm->faults->nodes->sick->pdata[i];

		if (is_well(sm, node)) {
			discharge(sm, i);
			continue;
		}
		/* it was not tried: routes would be the same if it accepted all */
		if (health_is_due(sm, node) && refuses_any(node) &&
		    node->looked_at == sm->sweep.serial)
			errors_of(sm, node)->retry_ns = actor_now(sm->actor) + EXCLUDED_MAX_NS;
		next = MIN(next, errors_of(sm, node)->retry_ns);
	}
	if (sm->sweep.problems)
		next = MIN(next, back_off(sm));
	if (sm->sweep.errors)
		next = MAX(next, actor_now(sm->actor) + RETRY_FIRST_NS);
	start_retry(sm, next);
}

unsigned int health_errors(const struct sm *sm)
{
	unsigned int n = 0;

	for (guint i = 0; i < sm->faults->nodes->sick->len; i++) {
		const struct builder_node *node = sm->faults->nodes->sick->pdata[i];

		n += !errors_of(sm, node)->excluded;
	}
	return n;
}

/* It, or the device behind one of its ports: the frozen fabric shows that. */
static bool is_silent(const struct sm *sm, const struct builder_node *node)
{
	uint8_t num = errors_of(sm, node)->behind;
	const struct builder_port *behind = num ? &node->ports[num] : NULL;

	return node->index != FABRIC_NONE &&
	       (builder_is_silent(node) ||
		(behind && cable_end_is_silent(&behind->cable) && builder_link_is_up(behind)));
}

char **health_tell(const struct sm *sm, bool *silent)
{
	GPtrArray *lines = g_ptr_array_new();
	unsigned int more = 0;

	*silent = false;
	for (guint i = 0; i < sm->faults->nodes->sick->len; i++) {
		const struct builder_node *node = sm->faults->nodes->sick->pdata[i];
		const struct errors *errors = errors_of(sm, node);

		if (is_well(sm, node) || errors->excluded || !errors->line)
			continue;
		if (is_silent(sm, node)) {
			*silent = true;
			continue;
		}
		if (lines->len < SICK_TOLD)
			g_ptr_array_add(lines, g_strdup(errors->line));
		else
			more++;
	}
	if (more)
		g_ptr_array_add(lines,
				g_strdup_printf("%u more nodes have errors; see the log", more));
	if (lines->len)
		g_ptr_array_add(lines, NULL);
	return (char **)g_ptr_array_free(lines, !lines->len);
}

/* Nodes whose time has come are read again. */
static void on_retry(struct timer *timer)
{
	struct health *health = container_of(timer, struct health, retry);

	sweep_want(health->sm, SWEEP_ERRORS);
}

void health_mark_due(struct sm *sm)
{
	uint64_t now = actor_now(sm->actor);

	for (guint i = 0; i < sm->faults->nodes->sick->len; i++) {
		struct builder_node *node = sm->faults->nodes->sick->pdata[i];

		if (node->builder && errors_of(sm, node)->retry_ns <= now)
			builder_mark(node);
	}
}

void health_rest(struct sm *sm)
{
	timer_stop(&sm->faults->nodes->retry);
}

void health_nodes_gone(struct sm *sm)
{
	uint64_t now = actor_now(sm->actor);

	for (guint i = 0; i < sm->faults->nodes->sick->len; i++) {
		struct errors *errors = errors_of(sm, sm->faults->nodes->sick->pdata[i]);

		if (errors->excluded)
			errors->retry_ns = now;
	}
}

static void health_init(struct sm *sm)
{
	struct health *health = sm->faults->nodes = g_new0(struct health, 1);

	health->sm = sm;
	health->notes = node_table_new(sizeof(struct note));
	health->sick = g_ptr_array_new();
	timer_init(&health->retry, sm->actor, on_retry);
}

static void health_free(struct sm *sm)
{
	struct health *health = sm->faults->nodes;

	while (health->sick->len)
		discharge(sm, health->sick->len - 1);
	g_ptr_array_unref(health->sick);
	node_table_free(health->notes);
	g_free(health);
}

void faults_init(struct sm *sm)
{
	sm->faults = g_new0(struct faults, 1);
	health_init(sm);
	held_up_init(sm);
	port_health_init(sm);
}

void faults_free(struct sm *sm)
{
	health_free(sm);
	held_up_free(sm);
	port_health_free(sm->faults->ports);
	g_free(sm->faults);
}
