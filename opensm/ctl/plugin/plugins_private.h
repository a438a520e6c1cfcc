// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files that run plug-ins. */
#ifndef CTL_PLUGIN_PLUGINS_PRIVATE_H
#define CTL_PLUGIN_PLUGINS_PRIVATE_H

#include <sys/types.h>

#include "ctl/command/command.h"
#include "ctl/feed/events.h"
#include "ctl/feed/feed.h"
#include "ctl/plugin/link_end.h"
#include "ctl/plugin/plugins.h"
#include "ctl/plugin/requests.h"

struct plugin_engine;

struct plugins {
	struct plugins_face face;
	struct plugins_config config;
	struct context *context;
	struct command_env env;
	struct plugin_events *events;
	struct snapshot_store *snapshots;
	GPtrArray *list;      /* struct plugin, in the order in which they are loaded */
	char *options;	      /* event_plugin_options */
	bool in_process;      /* of its own, by event_plugin_process */
	GSource *soon, *tick; /* NULL: none */
	unsigned int tick_ms;
	void (*drained)(void *arg); /* NULL: nothing waits for it */
	void *drained_arg;
	int64_t drain_until_us;
};

enum plugin_state {
	PLUGIN_LOADING,
	PLUGIN_RUNNING,
	PLUGIN_STUCK,
	PLUGIN_STOPPING,
	PLUGIN_STOPPED,
	PLUGIN_ENDED,
	PLUGIN_FAILED,
};

/* Times are those of g_get_monotonic_time(). */
struct plugin {
	struct plugins *all;
	char *name, *own_options;
	enum plugin_state state;
	int64_t since_us;     /* in this state */
	struct link_end *end; /* NULL: no host runs */
	bool in_process;
	bool is_created;    /* LOADED came from this host, */
	bool is_ending;	    /* ENDING, */
	bool has_ended;	    /* and STOPPED */
	bool starts;	    /* with the daemon, which waits for it */
	bool to_be_stopped; /* by command, maybe its own: not before that is answered */
	bool is_left;	    /* in the daemon: its threads have not come back */
	bool stays;	    /* and never will, as its host has ended without them */
	bool is_going;	    /* STOPPED came, or the link has ended: the process should end, too */
	pid_t process;	    /* 0: none */
	unsigned int kills; /* signals that were sent to it */
	int64_t kill_us;    /* when the next one is due */
	struct link_loaded loaded;
	const char *engines[G_N_ELEMENTS(((struct link_loaded *)0)->engines) + 1];
	/* Those in the daemon's registry, where they stay. */
	struct known_engine {
		char name[sizeof(((struct link_engine *)0)->name)];
		struct plugin_engine *engine;
	} known[G_N_ELEMENTS(((struct link_loaded *)0)->engines)];
	unsigned int n_known;
	char *error;
	struct log_limit lines; /* that it logs */
	struct requests *requests;
	uint64_t requests_before; /* of hosts that have ended */
	struct feed *feed;
	uint64_t delivered_before, lost_before; /* of feeds that were dropped */
	uint32_t ahead;	  /* events that were sent and not taken */
	int64_t taken_us; /* the last sign that it takes events */
	bool has_run;
	uint64_t restarts;
	int64_t restart_us;	/* in states ENDED and FAILED: when; 0: not at all */
	unsigned int restart_s; /* the pause before the next restart */
};

#define plugin_log_error(plugin, ...) plugin_say((plugin), LOG_SYS | LOG_ERROR, __VA_ARGS__)
#define plugin_log(plugin, ...) plugin_say((plugin), LOG_INFO, __VA_ARGS__)
G_GNUC_PRINTF(3, 4)
void plugin_say(struct plugin *plugin, unsigned int level, const char *format, ...);

/* ---- plugins.c ---- */

/* Looks at all of them soon, from the loop. */
void plugins_soon(struct plugins *plugins);

/* ---- plugin.c: one of them ---- */

struct plugin *plugin_new(struct plugins *all, const char *name, char *const *names);
void plugin_free(struct plugin *plugin);
void plugin_start(struct plugin *plugin);
void plugin_stop(struct plugin *plugin);
/* What is due by now. */
void plugin_look(struct plugin *plugin, int64_t now_us);
/* Whether it will change by itself soon, so that it should be looked at often. */
bool plugin_is_changing(const struct plugin *plugin);
bool plugin_is_up(const struct plugin *plugin);
/* Whether no event waits for it. */
bool plugin_is_drained(const struct plugin *plugin);
const char *plugin_state_name(const struct plugin *plugin);

/* ---- plugin_engines.c ---- */

/* Its routing engines, as it has just been loaded. */
void plugin_engines_attach(struct plugin *plugin);
/*
 * They are there again: has routes computed, if routing_engine names one of them and the routes in
 * use are not those of an engine that stands before it.
 */
void plugin_engines_reroute(struct plugin *plugin);
/* They compute nothing until they are attached again. */
void plugin_engines_detach(struct plugin *plugin, const char *why);

#endif
