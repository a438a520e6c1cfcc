// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A plug-in for tests, that does what the words after its name in the options say:
 *
 *	to FILE		writes a line to FILE for each event, and for its beginning and its end
 *	null		create() fails
 *	slow-create MS	create() takes that long
 *	slow-event MS	each event takes that long
 *	slow-end MS	destroy() takes that long
 *	crash ID	dies of the first event with that id
 *	crash-end	dies in destroy()
 *	exit ID		calls exit() at the first event with that id
 *	crash-create	dies in create()
 *	ask LINE	asks for the command LINE (with "_" in place of blanks) at each event,
 *			and writes the first line of the answer
 *	flood N		N threads ask for things without a pause
 *	hammer N	the same, but they never end, not even after destroy()
 *	log N		logs N lines in create()
 *	leave ID	leaves at the first event with that id
 *	leave-create	leaves in create()
 *	events MASK	wants only these events
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opensm/plugin.h"

#define THREADS 32

struct odd {
	const struct osm_host *host;
	FILE *file;
	char command[64];
	bool crash_end;
	long slow_event, slow_end, crash, exit, leave;
	unsigned int n_threads;
	pthread_t threads[THREADS];
	atomic_bool ends;
};

static void pause_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* The word after that one; NULL: it is not there. */
static const char *after(const struct osm_host *host, const char *word)
{
	const char *at = host->own_options;
	size_t n = strlen(word);

	for (; (at = strstr(at, word)); at += n)
		if ((at == host->own_options || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return at + n + strspn(at + n, " ");
	return NULL;
}

static long number(const struct osm_host *host, const char *word, long otherwise)
{
	const char *at = after(host, word);

	return at ? strtol(at, NULL, 0) : otherwise;
}

static void *flood(void *arg)
{
	struct odd *odd = arg;
	const struct osm_host *host = odd->host;
	enum osm_result result = OSM_OK;
	char *answer;

	for (unsigned int i = 0; result != OSM_OVER && !atomic_load(&odd->ends); i++) {
		struct osm_mad mad = {.size = sizeof(mad),
				      .lid = (uint16_t)(i % 20),
				      .mgmt_class = 4,
				      .class_version = 1,
				      .method = 1,
				      .attribute = 1};

		if (i % 5 == 0) {
			host->snapshot_free(host, host->snapshot(host, OSM_PART_ALL, &result));
		} else if (i % 5 == 1) {
			result = host->mads(host, &mad, 1);
		} else if (i % 5 == 2) {
			host->log(host, OSM_LOG_INFO, "flood %u", i);
		} else {
			result = i % 5 == 3 ? host->command(host, "status", &answer)
					    : host->option(host, "lmc", &answer);
			host->text_free(host, answer);
		}
	}
	return NULL;
}

/* It must not see struct odd, which destroy() frees. */
static void *hammer(void *host)
{
	for (;;)
		((const struct osm_host *)host)->command(host, "status", NULL);
	return NULL;
}

static void start_hammers(const struct osm_host *host)
{
	pthread_t thread;

	for (long i = 0; i < number(host, "hammer", 0); i++)
		if (!pthread_create(&thread, NULL, hammer, (void *)host))
			pthread_detach(thread);
}

static void *create(const struct osm_host *host)
{
	struct odd *odd = calloc(1, sizeof(*odd));
	const char *to = after(host, "to"), *ask = after(host, "ask");
	char name[256];

	odd->host = host;
	odd->slow_event = number(host, "slow-event", 0);
	odd->slow_end = number(host, "slow-end", 0);
	odd->crash = number(host, "crash", -1);
	odd->crash_end = after(host, "crash-end");
	odd->exit = number(host, "exit", -1);
	odd->leave = number(host, "leave", -1);
	if (to && sscanf(to, "%255s", name) == 1)
		odd->file = fopen(name, "a");
	if (ask && sscanf(ask, "%63s", odd->command) == 1)
		for (char *at = odd->command; (at = strchr(at, '_'));)
			*at = ' ';
	if (after(host, "crash-create"))
		abort();
	pause_ms(number(host, "slow-create", 0));
	for (long i = 0; i < number(host, "log", 0); i++)
		host->log(host, OSM_LOG_INFO, "line %ld\nsecond", i);
	if (odd->file) {
		char *answer;

		setvbuf(odd->file, NULL, _IOLBF, 0);
		fprintf(odd->file, "create abi %u whole \"%s\" own \"%s\" request %d\n", host->abi,
			host->options, host->own_options,
			(int)host->command(host, "status", &answer));
		host->text_free(host, answer);
	}
	if (after(host, "null")) {
		host->log(host, OSM_LOG_ERROR, "it is told to fail");
		if (odd->file)
			fclose(odd->file);
		free(odd);
		return NULL;
	}
	if (after(host, "leave-create"))
		host->leave(host);
	start_hammers(host);
	odd->n_threads = (unsigned int)number(host, "flood", 0);
	for (unsigned int i = 0; i < odd->n_threads; i++)
		pthread_create(&odd->threads[i], NULL, flood, odd);
	return odd;
}

static void destroy(void *context)
{
	struct odd *odd = context;

	atomic_store(&odd->ends, true);
	for (unsigned int i = 0; i < odd->n_threads; i++)
		pthread_join(odd->threads[i], NULL);
	pause_ms(odd->slow_end);
	if (odd->crash_end)
		abort();
	if (odd->file) {
		fprintf(odd->file, "destroy\n");
		fclose(odd->file);
	}
	free(odd);
}

static void on_event(void *context, const struct osm_event *event)
{
	struct odd *odd = context;
	char *answer = NULL;

	if (odd->file)
		fprintf(odd->file, "event %u serial %llu %s\n", event->id,
			(unsigned long long)event->serial, event->text);
	if (odd->crash == (long)event->id)
		abort();
	if (odd->exit == (long)event->id)
		exit(0);
	pause_ms(odd->slow_event);
	if (*odd->command) {
		int result = (int)odd->host->command(odd->host, odd->command, &answer);

		if (odd->file)
			fprintf(odd->file, "answer %d %.*s\n", result, (int)strcspn(answer, "\n"),
				answer);
		odd->host->text_free(odd->host, answer);
	}
	if (odd->leave == (long)event->id)
		odd->host->leave(odd->host);
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_plugin plugin = {
		.size = sizeof(plugin),
		.abi = OSM_PLUGIN_ABI,
		.name = "odd",
		.version = "1.2",
		.events = OSM_EVENTS_ALL,
		.create = create,
		.destroy = destroy,
		.on_event = on_event,
	};

	return &plugin;
}
