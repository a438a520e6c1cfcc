// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of the host. */
#ifndef PLUGIN_HOST_HOST_PRIVATE_H
#define PLUGIN_HOST_HOST_PRIVATE_H

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>

#include "opensm/plugin.h"
#include "plugin/base/link.h"
#include "plugin/host/load.h"

/*
 * The reader is the thread of plugin_host_run(). The event thread loads the plug-in, and calls
 * create(), on_event() and destroy(). Each routing engine has a thread as well. The plug-in may
 * call the functions of struct osm_host from any thread.
 */
struct host {
	struct osm_host face; /* what the plug-in sees */
	int end;
	char *texts; /* of HELLO, to which name and face point */
	const char *name;
	pthread_t event_thread;
	pthread_mutex_t send_lock; /* held while a message is sent */

	/* By the event thread. */
	const struct osm_plugin *plugin;
	void *object, *context;
	bool failed, left_loaded;

	/* Set before LOADED is sent, for the reader. */
	unsigned int n_engines;

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t changed;
	bool is_created; /* create() has returned, so that engines may be called */
	bool is_ready;	 /* the daemon serves requests */
	bool is_over;	 /* STOP came, or the daemon has gone */
	bool is_known;	 /* LOADED was sent, so that LEAVE may be */
	bool is_leaving; /* leave() was called */
	GQueue events;	 /* GBytes: struct event_record */
	GList *calls;	 /* struct call that wait for an answer */
	unsigned int n_calls;
	unsigned int n_inside; /* threads in functions of struct osm_host */
	uint64_t last_id;
	struct host_engine {
		struct host *host;
		pthread_t thread;
		int end;
		bool runs;
	} engines[LOAD_ENGINES];
};

/* Sends a message, and waits as long as the socket is full. False: the daemon has gone. */
bool host_send(struct host *host, const struct link_head *head, const void *octets);
bool host_send_text(struct host *host, enum link_type type, uint32_t value, const char *text);

/* ---- call.c ---- */
void host_fill_face(struct host *host);
/* An answer came; its files are taken over. Reader. */
void host_take_answer(struct host *host, const struct link_head *head, const void *octets,
		      int files[LINK_FILES]);

#endif
