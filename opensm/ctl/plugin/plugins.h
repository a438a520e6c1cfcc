// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plug-ins of a daemon (opensm/plugin.h): loaded as the options say, given events, served, and
 * stopped. Each is run by a host (plugin/host), in threads of its own or in a process of its own;
 * a plug-in that hangs or dies delays nothing here. All on the actor "main".
 *
 *	loading > running <> stuck
 *	   |         |
 *	   |         +--> stopping > stopped	by command, or as the plug-in leaves
 *	   |         +--> ended > loading	its process has died
 *	   +--> failed > loading		the same, if it is a process
 */
#ifndef CTL_PLUGIN_PLUGINS_H
#define CTL_PLUGIN_PLUGINS_H

#include "ctl/daemon.h"

struct journal;
struct plugins;
struct sim;

struct plugins_config {
	struct daemon *daemon;
	struct journal *journal;
	struct sim *sim;    /* NULL on hardware */
	GMainContext *loop; /* of the daemon; NULL: the default one */
};

/*
 * Loads those that the options name, and waits until each is loaded; *plugins is NULL if they name
 * none. Between daemon_new and daemon_start. False and error: one of them cannot be loaded, and
 * event_plugin_required is TRUE.
 */
bool plugins_new(struct plugins **plugins, const struct plugins_config *config, GError **error);
/* Whether each has been loaded, so that its routing engines are known. NULL: true. */
bool plugins_are_loaded(const struct plugins *plugins);
/* Calls done(arg) once each has had all events, or after some seconds. */
void plugins_drain(struct plugins *plugins, void (*done)(void *arg), void *arg);
/* Stops them all, and waits for that, for some seconds at most. Before daemon_stop. */
void plugins_stop(struct plugins *plugins);
void plugins_free(struct plugins *plugins); /* after plugins_stop; NULL is fine */

/* ---- for the operator ---- */

/* What is known of one of them. Valid until the loop runs again. */
struct plugin_about {
	const char *name;	     /* as in event_plugin_name */
	const char *title, *version; /* as the plug-in says; "" if it was never loaded */
	const char *
		state; /* "loading", "running", "stuck", "stopping", "stopped", "ended", "failed" */
	bool is_up;    /* "running" or "stuck" */
	bool is_process;
	int64_t process;		   /* its number; 0: none */
	const char *const *engines;	   /* NULL-terminated */
	uint64_t delivered, waiting, lost; /* events */
	uint64_t requests, restarts;
	const char *error; /* the last; "" if there was none */
};

/* What commands and metrics call, which are below plug-ins; daemon_plugins() has it. */
struct plugins_face {
	struct plugins *plugins;
	/* False: number is past the last one. */
	bool (*about)(const struct plugins *plugins, unsigned int number,
		      struct plugin_about *about);
	/* False and error: that plug-in is not known, or it cannot be done. */
	bool (*stop)(struct plugins *plugins, const char *name, GError **error);
	bool (*start)(struct plugins *plugins, const char *name, GError **error);
};

const struct plugins_face *plugins_face(const struct plugins *plugins); /* NULL gives NULL */

#endif
