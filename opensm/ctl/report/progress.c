// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Progress on a terminal. The sm actor reports the end of each step; the report crosses to the
 * daemon's actor "main" as a message, and everything is displayed there. Two timers redraw the live
 * lines: the fast one during the first sweep, the slow one once a second after it. Below the
 * permanent lines stand the status and the end of the journal; the cursor waits at the end of the
 * last line.
 */
#include "ctl/report/progress.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/report/hints.h"
#include "ctl/report/journal.h"
#include "ctl/report/status.h"
#include "iba/constants.h"
#include "sm/schedule/plan.h"
#include "sm/sm.h"

#define DRAW_FAST_NS (100 * NS_PER_MS)
#define DRAW_NS NS_PER_S
#define BAR_CELLS 20
#define DEFAULT_COLUMNS 80
#define DEFAULT_ROWS 24
#define EVENTS_SHOWN 5
#define MIN_COLUMNS 20 /* less means that the terminal does not know its width */

/* The steps of a heavy sweep, which takes long, to show how far it has come. */
struct step {
	const char *name, *text;
	bool heavy;
};

static const struct step steps[] = {
#define STEP(name, function, kinds, text) {#name, text, ((kinds)&SWEEP_KIND_HEAVY) != 0},
#include "sm/steps.def"
};

/* Counters at one moment. */
struct sample {
	uint64_t when, smps, queries;
};

struct progress {
	struct daemon *daemon;
	struct context *context;
	const struct journal *journal;
	struct actor *actor;
	FILE *out;
	bool terminal, utf8;
	struct timer draw;
	uint64_t started_ns, sweep_ns;	/* start of the daemon, of this sweep */
	uint64_t step_smps, sweep_smps; /* sent before this step, before this sweep */
	const struct step *step;	/* last one done in this sweep; NULL: none yet */
	bool light;
	bool up;	    /* the first sweep without errors has ended */
	unsigned int below; /* live lines after the first */
	struct sm_progress last;
	struct sample sample;
	char *shown; /* the last status line, if lines are not rewritten */
};

/* A report in transit. step is the name of a step, which is never freed. */
struct report {
	struct message message;
	struct progress *progress;
	struct sm_progress what;
};

static uint64_t smps(const struct progress *progress)
{
	return counter_get(&progress->context->counters, smp_sent);
}

static double ms(uint64_t ns)
{
	return (double)ns / (double)NS_PER_MS;
}

/* ---- lines ---- */

static struct winsize terminal_size(const struct progress *progress)
{
	struct winsize size;

	if (ioctl(fileno(progress->out), TIOCGWINSZ, &size) != 0 || size.ws_col < MIN_COLUMNS)
		size = (struct winsize){.ws_col = DEFAULT_COLUMNS, .ws_row = DEFAULT_ROWS};
	return size;
}

/* Usable columns of a line; the last one stays free, since some terminals wrap after it. */
static size_t width(const struct progress *progress)
{
	return progress->terminal ? terminal_size(progress).ws_col - 1u : SIZE_MAX;
}

/* Adds a part to a line, or skips it if there is no room. */
G_GNUC_PRINTF(4, 5)
static void add_part(GString *line, const char *separator, size_t room, const char *format, ...)
{
	g_autofree char *part = NULL;
	va_list args;

	va_start(args, format);
	part = g_strdup_vprintf(format, args);
	va_end(args);
	if (line->len + strlen(separator) + strlen(part) <= room)
		g_string_append_printf(line, "%s%s", line->len ? separator : "", part);
}

/* The next output replaces the live lines. */
static void erase(struct progress *progress)
{
	if (progress->terminal && progress->below)
		fprintf(progress->out, "\r\033[%uA\033[J", progress->below);
	else if (progress->terminal)
		fputs("\r\033[K", progress->out);
	progress->below = 0;
}

/* The step of that name, NULL if there is none. */
static const struct step *step_find(const char *name)
{
	for (unsigned int i = 0; name && i < G_N_ELEMENTS(steps); i++)
		if (!strcmp(steps[i].name, name))
			return &steps[i];
	return NULL;
}

/* The number of steps of a heavy sweep up to last, or of all; *next is the one after it. */
static unsigned int steps_until(const struct step *last, const struct step **next)
{
	unsigned int n = 0;

	*next = NULL;
	for (unsigned int i = 0; i < G_N_ELEMENTS(steps); i++) {
		if (!steps[i].heavy)
			continue;
		if (!last || &steps[i] > last) {
			*next = &steps[i];
			break;
		}
		n++;
	}
	return n;
}

/* "[######..............]  30 %" for n of all. */
static void add_bar(GString *line, unsigned int n, unsigned int all)
{
	unsigned int full = n * BAR_CELLS / all;

	g_string_append_c(line, '[');
	for (unsigned int i = 0; i < BAR_CELLS; i++)
		g_string_append_c(line, i < full ? '#' : '.');
	g_string_append_printf(line, "] %3u %%", n * 100 / all);
}

static void show_step(struct progress *progress, const struct sm_progress *what)
{
	const struct step *step = step_find(what->step);
	uint64_t now = smps(progress);
	g_autofree char *line = g_strdup_printf(" %-12s %10.1f ms %9" G_GUINT64_FORMAT " SMPs  %s",
						what->step, ms(what->step_ns),
						now - progress->step_smps, step ? step->text : "");
	size_t room = MIN(width(progress), INT_MAX) - 2; /* for the text after the mark */

	erase(progress);
	fprintf(progress->out, "%s%.*s\n", progress->utf8 ? "\342\234\223" : "ok", (int)room, line);
	progress->step_smps = now;
}

static void show_end(struct progress *progress, const struct sm_progress *what)
{
	uint64_t took = actor_now(progress->actor) - progress->sweep_ns;
	const char *verdict = "SUBNET HAS ERRORS";
	g_autoptr(GString) line = g_string_new(NULL);
	size_t room = width(progress);

	if (!what->errors)
		verdict = progress->up ? "SWEPT AGAIN" : "SUBNET UP";
	g_string_printf(line, "%s: %u switches, %u hosts, %u links", verdict, what->switches,
			what->hosts, what->links);
	add_part(line, ", ", room, "%u active ports", what->active);
	add_part(line, ", ", room, "%.1f ms", ms(took));
	add_part(line, ", ", room, "%" G_GUINT64_FORMAT " MADs",
		 smps(progress) - progress->sweep_smps);
	erase(progress);
	fprintf(progress->out, "%.*s\n", (int)MIN(room, line->len), line->str);
}

/* ---- the live line ---- */

static double rate(uint64_t now, uint64_t before, uint64_t ns)
{
	return ns ? (double)(now - before) * (double)NS_PER_S / (double)ns : 0;
}

static char *status_text(struct progress *progress)
{
	GString *line = g_string_new(NULL);
	size_t room = width(progress);
	g_autofree char *cut_off = status_own_port(progress->context);
	struct counters *counters = &progress->context->counters;
	const struct sample before = progress->sample;
	uint64_t up_s = (actor_now(progress->actor) - progress->started_ns) / NS_PER_S;

	progress->sample = (struct sample){
		.when = actor_now(progress->actor),
		.smps = smps(progress),
		.queries = counter_get(counters, sa_received),
	};
	add_part(line, "  ", room, "%s", cut_off ? cut_off : status_sm_state(progress->context));
	if (!cut_off)
		add_part(line, "  ", room, "%u active ports", progress->last.active);
	add_part(line, "  ", room, "%.0f SMPs/s",
		 rate(progress->sample.smps, before.smps, progress->sample.when - before.when));
	add_part(line, "  ", room, "%.0f SA queries/s",
		 rate(progress->sample.queries, before.queries,
		      progress->sample.when - before.when));
	add_part(line, "  ", room, "up %u:%02u:%02u", (unsigned int)(up_s / 3600),
		 (unsigned int)(up_s / 60 % 60), (unsigned int)(up_s % 60));
	add_part(line, "  ", room,
		 "%" G_GUINT64_FORMAT " heavy, %" G_GUINT64_FORMAT " light sweeps",
		 counter_get(counters, sweeps_heavy), counter_get(counters, sweeps_light));
	return g_string_free(line, FALSE);
}

/* The part of the live line for a log: without numbers that change by themselves. */
static char *steady_text(const struct progress *progress)
{
	char *cut_off = status_own_port(progress->context);

	if (cut_off)
		return cut_off;
	return g_strdup_printf("%s  %u switches  %u hosts  %u active ports",
			       status_sm_state(progress->context), progress->last.switches,
			       progress->last.hosts, progress->last.active);
}

static void draw_sweep(struct progress *progress)
{
	g_autoptr(GString) line = g_string_new(NULL);
	const struct step *running, *none;
	size_t room = width(progress);
	unsigned int all = steps_until(&steps[G_N_ELEMENTS(steps)], &none);
	unsigned int done = steps_until(progress->step, &running);
	g_autofree char *computing = status_computing(progress->context);

	add_bar(line, done, all);
	add_part(line, "  ", room, "%s", running ? running->name : "");
	if (computing)
		add_part(line, "  ", room, "%s", computing);
	add_part(line, "  ", room, "%" G_GUINT64_FORMAT " SMPs",
		 smps(progress) - progress->sweep_smps);
	add_part(line, "  ", room, "%.1f s",
		 ms(actor_now(progress->actor) - progress->sweep_ns) / 1000);
	erase(progress);
	fprintf(progress->out, "%.*s", (int)MIN(room, line->len), line->str);
}

/* Adds a live line, as far as there is room; never cuts a character. */
static void add_below(struct progress *progress, const char *line)
{
	size_t room = width(progress), length = strlen(line);

	if (length > room) {
		length = room;
		while (length && ((unsigned char)line[length] & 0xC0) == 0x80)
			length--;
	}
	fprintf(progress->out, "\n%.*s", (int)length, line);
	progress->below++;
}

/* "09:15:02 link    down: leaf-0-0 port 9 to spine-0-0 port 1 (3 times)" */
static char *event_text(const struct journal_entry *entry)
{
	g_autoptr(GDateTime) time =
		g_date_time_new_from_unix_local(entry->last_us / G_USEC_PER_SEC);
	g_autofree char *clock = g_date_time_format(time, "%H:%M:%S");
	GString *text = g_string_new(NULL);

	g_string_printf(text, "%s %-7s %s", clock, entry->kind, entry->text);
	if (entry->times > 1)
		g_string_append_printf(text, " (%u times)", entry->times);
	return g_string_free(text, FALSE);
}

/* Newest last. Sweep entries give the reasons of sweeps. */
static void draw_events(struct progress *progress)
{
	unsigned int length = journal_length(progress->journal);
	unsigned int rows = terminal_size(progress).ws_row;
	unsigned int shown = MIN(length, MIN(EVENTS_SHOWN, rows > 3 ? rows - 3 : 0));

	for (unsigned int i = length - shown; i < length; i++) {
		g_autofree char *text = event_text(journal_at(progress->journal, i));

		add_below(progress, text);
	}
}

/* The last recorded sweep and its reason; it may be long before the last events. */
static void draw_last_sweep(struct progress *progress)
{
	for (unsigned int i = journal_length(progress->journal); i-- > 0;) {
		const struct journal_entry *entry = journal_at(progress->journal, i);

		if (!strcmp(entry->kind, "sweep")) {
			g_autofree char *text = g_strdup_printf("last sweep: %s", entry->text);

			add_below(progress, text);
			return;
		}
	}
}

static void draw_status(struct progress *progress)
{
	g_autofree char *text = progress->terminal ? status_text(progress) : steady_text(progress);

	if (progress->terminal) {
		erase(progress);
		fputs(text, progress->out);
		draw_last_sweep(progress);
		draw_events(progress);
	} else if (g_strcmp0(text, progress->shown)) {
		fprintf(progress->out, "%s\n", text);
		g_free(progress->shown);
		progress->shown = g_steal_pointer(&text);
	}
}

static void draw(struct timer *timer)
{
	struct progress *progress = container_of(timer, struct progress, draw);
	g_autofree char *cut_off = status_own_port(progress->context);

	if (progress->up || cut_off)
		draw_status(progress);
	else if (progress->terminal)
		draw_sweep(progress);
	fflush(progress->out);
	timer_start(&progress->draw, progress->up ? DRAW_NS : DRAW_FAST_NS);
}

/* ---- reports ---- */

static void show_hints(struct progress *progress)
{
	g_autofree char *hints = hints_text(progress->daemon);

	if (hints)
		fputs(hints, progress->out);
}

static void end_of_sweep(struct progress *progress, const struct sm_progress *what)
{
	if (!progress->light)
		show_end(progress, what);
	if (!what->errors && !progress->up) {
		show_hints(progress);
		progress->up = true;
	}
	progress->last = *what;
	progress->last.step = NULL;
	progress->step = NULL;
	progress->light = false;
	timer_start(&progress->draw, progress->up ? DRAW_NS : DRAW_FAST_NS);
}

static void run_report(struct message *message)
{
	struct report *report = (struct report *)message;
	struct progress *progress = report->progress;
	const struct sm_progress *what = &report->what;

	if (what->finished) {
		end_of_sweep(progress, what);
	} else {
		if (!progress->step) {
			progress->sweep_ns = actor_now(progress->actor) - what->step_ns;
			progress->sweep_smps = progress->step_smps;
		}
		progress->step = step_find(what->step);
		progress->light = !strcmp(what->step, "LIGHT");
		if (!progress->up)
			show_step(progress, what);
	}
	if (what->finished)
		progress->step_smps = smps(progress);
	fflush(progress->out);
	g_free(report);
}

/* On the sm actor. */
static void take_report(void *arg, const struct sm_progress *what)
{
	struct progress *progress = arg;
	struct report *report = g_new0(struct report, 1);

	report->message.run = run_report;
	report->progress = progress;
	report->what = *what;
	actor_post(progress->actor, &report->message);
}

/* ---- life ---- */

static bool speaks_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strstr(value, "UTF-8") || strstr(value, "utf8");
	}
	return false;
}

struct progress *progress_new(struct daemon *daemon, const struct journal *journal, FILE *out,
			      bool alone)
{
	struct progress *progress = g_new0(struct progress, 1);
	const char *terminal = getenv("TERM");

	progress->daemon = daemon;
	progress->journal = journal;
	progress->context = daemon_context(daemon);
	progress->actor = daemon_actor(daemon);
	progress->out = out;
	progress->terminal = alone && isatty(fileno(out)) && terminal && strcmp(terminal, "dumb");
	progress->utf8 = speaks_utf8();
	progress->started_ns = progress->sweep_ns = actor_now(progress->actor);
	progress->sample.when = progress->started_ns;
	timer_init(&progress->draw, progress->actor, draw);
	timer_start(&progress->draw, DRAW_FAST_NS);
	sm_set_progress(daemon_sm(daemon), take_report, progress);
	return progress;
}

void progress_free(struct progress *progress)
{
	if (!progress)
		return;
	timer_stop(&progress->draw);
	if (progress->terminal)
		fputc('\n', progress->out);
	fflush(progress->out);
	g_free(progress->shown);
	g_free(progress);
}
