// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of a site, one table row per kind: how they are read and compared, and what in the
 * daemon depends on them. Reading is pure: any thread may do it.
 */
#ifndef CTL_SITE_SITE_POLICY_H
#define CTL_SITE_SITE_POLICY_H

#include "core/context.h"
#include "core/options.h"

enum daemon_files {
	DAEMON_OPENSM_CONF, /* has no row of its own: see site_files.c */
	DAEMON_ROUTE_FILES,
	DAEMON_PARTITIONS,
	DAEMON_QOS,
	DAEMON_PREFIX_ROUTES,
	DAEMON_PORTS_POLICY,
	DAEMON_NODE_NAMES,
	DAEMON_MODULES,
	DAEMON_PERF_RULES,
	DAEMON_CONSOLE, /* read by the console */
	DAEMON_FILES
};

/* Input for reading files. */
struct site_source {
	const struct options *options;
	const void *old;       /* their contents before; NULL: this is a start */
	const char *cache_dir; /* of the copies saved for a start; NULL: none */
	/* Results, to be freed with g_free(): */
	char *instead; /* why a saved copy is used in place of the files; else NULL */
	char *note;    /* what is odd about a file that is used; else NULL */
};

/* Objects are those published in the slot. All 0: this table reads nothing. */
struct site_kind {
	const char *what;     /* name in messages of a change; NULL: that of the first file */
	const char *stays;    /* end of a refusal: "the partitions stay as they were" */
	unsigned int reasons; /* bits of enum sweep_reason: requested if the contents changed */
	size_t slot;	      /* offset in struct context */
	/* Adds all names (char *), NULL where no file is named; now: object in effect or NULL. */
	void (*names)(const struct options *options, const void *now, GPtrArray *names);
	void *(*load)(struct site_source *source, GError **error);
	void (*put)(void *object);
	bool (*same)(const void *a, const void *b);	  /* NULL: unknown */
	const GPtrArray *(*warnings)(const void *object); /* NULL: there never are any */
	void (*use)(struct context *context); /* what was published; NULL: others look at it */
	/* For a kind of one file with a default name; NULL: load handles it. */
	enum option_id option;
	bool (*is_missing)(const void *object);
	bool (*says_nothing)(const void *object);
};

/* What refuses or names them, as the operator knows it: "partitions.conf". */
const char *daemon_files_name(enum daemon_files files);

const struct site_kind *site_kind(enum daemon_files files);
struct slot *site_slot(struct context *context, enum daemon_files files);
/* Loads as the row says; a file that is named, or had contents before, must not lose them. */
void *site_load(enum daemon_files files, struct site_source *source, GError **error);
/* Publishes an object of the kind, and has it used. */
void site_publish(struct context *context, enum daemon_files files, void *object);
/* The first name; "" if there is none. */
const char *site_first_name(const GPtrArray *names);
/* All names, with a comma between. */
char *site_all_names(const GPtrArray *names);

/* The file in use with these options; NULL: none. */
const char *daemon_partition_file(const struct options *options);
const char *daemon_qos_file(const struct options *options);
const char *daemon_prefix_routes_file(const struct options *options);

/* All that a start reads. */
struct site_policy {
	void *objects[DAEMON_FILES];
	char *instead[DAEMON_FILES], *notes[DAEMON_FILES];
};
/* NULL and error: a file is wrong. */
struct site_policy *site_policy_load(const struct options *options, const char *cache_dir,
				     GError **error);
/* Moves the objects into the slots of the context. */
void site_policy_publish(struct site_policy *policy, struct context *context);
void site_policy_free(struct site_policy *policy); /* NULL is fine */

#endif
