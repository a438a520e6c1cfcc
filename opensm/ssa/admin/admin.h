// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin: each command prints its answer, for people or as one JSON value. */
#ifndef SSA_ADMIN_ADMIN_H
#define SSA_ADMIN_ADMIN_H

#include <json-glib/json-glib.h>

#include "ssa/node/settings.h"
#include "ssa/look/look.h"

enum admin_status { /* the exit status */
		    ADMIN_DONE = 0,
		    ADMIN_NO = 1,    /* no path; snapshots or answers differ; nodes do not answer */
		    ADMIN_USAGE = 2, /* wrong words, or a configuration with mistakes */
		    ADMIN_UNREACHABLE = 3, /* nothing could be read or asked */
		    ADMIN_ASK = 4,	   /* path: only the SA knows */
};

struct admin {
	const struct ssa_settings *settings; /* NULL: none */
	const char *snapshot;		     /* file */
	const char *store;		     /* URI; NULL: the snapshot's file is used */
	const char *core;		     /* URI; NULL: that of the configuration */
	bool json;
	char direction;	     /* of recursion: 'd', 'u'; 0: none */
	unsigned int filter; /* enum ssa_role; 0: all */
	const char *format;  /* of nodeinfo */
	uint32_t count;	     /* of verify: ports */
};

/* Prints "ssadmin: ..." and returns the status. Takes over the error. */
enum admin_status admin_fail(enum admin_status status, GError *error);

/* From the store, whole, or else from the file. NULL and error. */
struct ssa_snapshot *admin_snapshot(const struct admin *admin, GError **error);

/* Prints what the builder has, as JSON. */
void admin_print(JsonBuilder *builder);
/* A number in hex, as a string. */
void admin_add_hex(JsonBuilder *builder, const char *name, uint64_t value, int digits);
void admin_add_number(JsonBuilder *builder, const char *name, uint64_t value);
void admin_add_text(JsonBuilder *builder, const char *name, const char *text);

/*
 * A port by GUID or alias (0x...), LID, GID, NodeDescription, or administered name; SSA_NONE: there
 * is none.
 */
uint32_t admin_find_port(const struct ssa_snapshot *snapshot, const char *text);

/* guid NULL: the cores, and with direction what is below or above. */
enum admin_status admin_ping(const struct admin *admin, const char *guid);
enum admin_status admin_stats(const struct admin *admin, const char *guid);
enum admin_status admin_nodeinfo(const struct admin *admin, const char *guid);
enum admin_status admin_tree(const struct admin *admin);
enum admin_status admin_verify(const struct admin *admin);
/* What ibacm asks, one reversible path between two GIDs: the query, and what is answered. */
enum ssa_look admin_look_up(const struct ssa_snapshot *snapshot, uint32_t from, uint32_t to,
			    struct iba_path_record *wanted, uint64_t *mask,
			    struct iba_path_record *record, const char **why);
enum admin_status admin_path(const struct admin *admin, const char *from, const char *to);
/* other NULL: what is in the snapshot; else how the other file differs from it. */
enum admin_status admin_show_snapshot(const struct admin *admin, const char *other);

#endif
