// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of a site, a row of a table each kind: how they are read and compared, and what of the
 * daemon goes by them. Reading is pure: any thread may do it.
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
	DAEMON_CONSOLE, /* read by the console */
	DAEMON_FILES
};

/* What files are read by. */
struct site_source {
	const struct options *options;
	const void *old;       /* what they said before; NULL: this is a start */
	const char *cache_dir; /* of what is remembered for a start; NULL: nothing */
	/* Out, to be freed with g_free(): */
	char *instead; /* why what was remembered counts in place of them; else NULL */
	char *note;    /* what is odd about a file that counts; else NULL */
};

/* Objects are those of the slot. All 0: nothing is read by this table. */
struct site_kind {
	const char *what;     /* to say that they changed; NULL: the name of the first */
	const char *stays;    /* of a refusal: "the partitions stay as they were" */
	unsigned int reasons; /* bits of enum sweep_reason: to be done if they say something else */
	size_t slot;	      /* offset in struct context */
	/* Adds all names (char *), NULL where none is given; now: what is in force, or NULL. */
	void (*names)(const struct options *options, const void *now, GPtrArray *names);
	void *(*load)(struct site_source *source, GError **error);
	void (*put)(void *object);
	bool (*same)(const void *a, const void *b);	  /* NULL: nobody can tell */
	const GPtrArray *(*warnings)(const void *object); /* NULL: there never are any */
	/* Of one file with a default name; NULL: load sees to it. */
	enum option_id option;
	bool (*is_missing)(const void *object);
	bool (*says_nothing)(const void *object);
};

const struct site_kind *site_kind(enum daemon_files files);
struct slot *site_slot(struct context *context, enum daemon_files files);
/* As the row says; what is named, or had something to say, must not lose it. */
void *site_load(enum daemon_files files, struct site_source *source, GError **error);
/* The first name; "" if there is none. */
const char *site_first_name(const GPtrArray *names);
/* All names, with a comma between. */
char *site_all_names(const GPtrArray *names);

/* Which files count with these options; NULL: none. */
const char *daemon_partition_file(const struct options *options);
const char *daemon_qos_file(const struct options *options);
const char *daemon_prefix_routes_file(const struct options *options);

/* All of a start. */
struct site_policy {
	void *objects[DAEMON_FILES];
	char *instead[DAEMON_FILES], *notes[DAEMON_FILES];
};
/* NULL and error: one is wrong. */
struct site_policy *site_policy_load(const struct options *options, const char *cache_dir,
				     GError **error);
/* Into the slots of the context, from which they are taken. */
void site_policy_publish(struct site_policy *policy, struct context *context);
void site_policy_free(struct site_policy *policy); /* NULL is fine */

#endif
