// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One file is opened at a time:
 *
 *	ask -> [thread: open] -> the log goes on in it
 *	        ^           |
 *	        +-- asked --+  meanwhile: the file may have been moved since it was opened
 */
#include "ctl/process/log_rotation.h"

#include <inttypes.h>

#include "complib/aside.h"

#define PATIENCE_NS (250 * NS_PER_MS)
#define OVERDUE_NS (2 * NS_PER_S)

struct opening {
	struct aside_job job;		/* first */
	struct log_rotation *rotation; /* for done only: it may be freed while the work goes on */
	struct log_file *file;
};

struct log_rotation {
	struct log *log;
	struct aside *aside;
	bool opens, again; /* a file is being opened; open it again afterwards */
	struct timer overdue;
};

static void drop(struct aside_job *job)
{
	struct opening *opening = (struct opening *)job;

	log_file_free(opening->file);
	g_free(opening);
}

static void work(struct aside_job *job)
{
	log_file_open(((struct opening *)job)->file);
}

static void begin(struct log_rotation *rotation, uint64_t patience_ns);

static void done(struct aside_job *job)
{
	struct opening *opening = (struct opening *)job;
	struct log_rotation *rotation = opening->rotation;

	timer_stop(&rotation->overdue);
	rotation->opens = false;
	log_go_on(rotation->log, opening->file);
	g_free(opening);
	if (rotation->again)
		begin(rotation, 0);
}

static void begin(struct log_rotation *rotation, uint64_t patience_ns)
{
	struct log_file *file = log_file_new(rotation->log);
	struct opening *opening;

	if (!file)
		return;
	opening = g_new0(struct opening, 1);
	opening->job = (struct aside_job){.work = work, .done = done, .drop = drop};
	opening->rotation = rotation;
	opening->file = file;
	rotation->opens = true;
	rotation->again = false;
	timer_start(&rotation->overdue, OVERDUE_NS);
	aside_run(rotation->aside, &opening->job, patience_ns);
}

void log_rotation_ask(struct log_rotation *rotation)
{
	if (rotation->opens)
		rotation->again = true;
	else
		begin(rotation, PATIENCE_NS);
}

static void on_overdue(struct timer *timer)
{
	struct log_rotation *rotation = container_of(timer, struct log_rotation, overdue);
	g_autofree char *why =
		g_strdup_printf("waited %" PRIu64 " s", (uint64_t)(OVERDUE_NS / NS_PER_S));

	log_stay(rotation->log, why);
}

struct log_rotation *log_rotation_new(struct log *log, struct actor *main)
{
	struct log_rotation *rotation = g_new0(struct log_rotation, 1);

	rotation->log = log;
	rotation->aside = aside_new(main);
	timer_init(&rotation->overdue, main, on_overdue);
	return rotation;
}

void log_rotation_free(struct log_rotation *rotation)
{
	if (!rotation)
		return;
	timer_stop(&rotation->overdue);
	aside_free(rotation->aside);
	g_free(rotation);
}
