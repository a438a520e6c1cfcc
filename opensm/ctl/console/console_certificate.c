// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One reading at a time, including the trial handshake:
 *
 *	read -> [thread: files, handshake] -> taken
 *	         ^                       |
 *	         +-- asked for meanwhile-+  as the files may have been written since
 */
#include "ctl/console/console_certificate.h"

#include <inttypes.h>

#include "complib/aside.h"

#define OVERDUE_NS (2 * NS_PER_S)

struct reading {
	struct aside_job job;		 /* first */
	struct certificate *certificate; /* for done only: it may be freed while the work goes on */
	struct options *options;
	struct console_tls *tls;
	GError *error;
};

struct certificate {
	struct daemon *daemon;
	struct aside *aside;
	void (*taken)(void *arg, struct console_tls *tls, const char *why);
	void *arg;
	bool reads, again; /* a reading is in progress; read again afterwards */
	struct timer overdue;
};

static void reading_free(struct reading *reading)
{
	options_unref(reading->options);
	console_tls_free(reading->tls);
	g_clear_error(&reading->error);
	g_free(reading);
}

static void drop(struct aside_job *job)
{
	reading_free((struct reading *)job);
}

static void work(struct aside_job *job)
{
	struct reading *reading = (struct reading *)job;

	reading->tls = console_tls_new(reading->options, &reading->error);
}

static void begin(struct certificate *certificate, uint64_t patience_ns);

static void done(struct aside_job *job)
{
	struct reading *reading = (struct reading *)job;
	struct certificate *certificate = reading->certificate;
	const char *why = reading->error ? reading->error->message : NULL;

	timer_stop(&certificate->overdue);
	certificate->reads = false;
	daemon_refuse(certificate->daemon, DAEMON_CONSOLE, why);
	certificate->taken(certificate->arg, g_steal_pointer(&reading->tls), why);
	reading_free(reading);
	if (certificate->again)
		begin(certificate, 0);
}

static void begin(struct certificate *certificate, uint64_t patience_ns)
{
	struct context *context = daemon_context(certificate->daemon);
	struct reading *reading = g_new0(struct reading, 1);

	reading->job = (struct aside_job){.work = work, .done = done, .drop = drop};
	reading->certificate = certificate;
	reading->options = slot_take(&context->options);
	certificate->reads = true;
	certificate->again = false;
	timer_start(&certificate->overdue, OVERDUE_NS);
	aside_run(certificate->aside, &reading->job, patience_ns);
}

void certificate_read(struct certificate *certificate, uint64_t patience_ns)
{
	if (certificate->reads)
		certificate->again = true;
	else
		begin(certificate, patience_ns);
}

static void on_overdue(struct timer *timer)
{
	struct certificate *certificate = container_of(timer, struct certificate, overdue);
	struct context *context = daemon_context(certificate->daemon);
	struct options *options = slot_take(&context->options);
	g_autofree char *text =
		g_strdup_printf("%s, %s%s%s cannot be read: waited %" PRIu64 " s",
				options->console_tls_cert ? options->console_tls_cert : "",
				options->console_tls_key ? options->console_tls_key : "",
				options->console_tls_ca ? ", " : "",
				options->console_tls_ca ? options->console_tls_ca : "",
				(uint64_t)(OVERDUE_NS / NS_PER_S));

	options_unref(options);
	log_error(context->log, "the old certificate of the console stays in use: %s", text);
	daemon_refuse(certificate->daemon, DAEMON_CONSOLE, text);
}

struct certificate *
certificate_new(struct daemon *daemon,
		void (*taken)(void *arg, struct console_tls *tls, const char *why), void *arg)
{
	struct certificate *certificate = g_new0(struct certificate, 1);

	certificate->daemon = daemon;
	certificate->aside = aside_new(daemon_actor(daemon));
	certificate->taken = taken;
	certificate->arg = arg;
	timer_init(&certificate->overdue, daemon_actor(daemon), on_overdue);
	return certificate;
}

void certificate_free(struct certificate *certificate)
{
	if (!certificate)
		return;
	timer_stop(&certificate->overdue);
	aside_free(certificate->aside);
	g_free(certificate);
}
