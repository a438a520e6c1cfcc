// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssa.conf(5): what a node of the Scalable SA is, and what it reads from where. */
#ifndef SSA_NODE_SETTINGS_H
#define SSA_NODE_SETTINGS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ssa/store/store.h"
#include "ssa/tree/join.h"

struct ssa_settings {
	unsigned int roles; /* enum ssa_role */
	char *store;	    /* URI of the daemon's store: for a core, and for an agent beside it */
	char *server;	    /* URI of the Redis server of this node */
	char *address;	    /* HOST:PORT at which others reach it; NULL: as in server */
	GPtrArray *cores;   /* URIs of Redis servers of cores (char *) */
	char *core_user;    /* of servers of cores that are found at the SA; NULL: none */
	bool announce;	    /* a core registers itself at the SA */
	GPtrArray *parents; /* URIs of the primary and the backup (char *): instead of the tree's */
	GArray *guids;	    /* uint64_t, of ports of this host; empty: by ssa_host_guids() */
	uint64_t node_guid; /* 0: the first of these */
	uint64_t prefix;    /* of the subnet */
	char *server_password_file; /* for server; NULL: password_file */
	char *key_file, *password_file, *ca_file, *cert_file, *tls_key_file; /* NULL: none */
	char *snapshot;	    /* the file that an agent keeps up to date */
	char *acm_files;    /* directory of files for an ibacm without libibacmssa; NULL: none */
	bool addresses;	    /* names and IP addresses in it */
	uint32_t fanout[3]; /* children of a core, a distribution and an access node */
	uint32_t fake;	    /* agents that there are not, for tests; 0: none */
};

/* NULL and error: a line for each mistake. */
struct ssa_settings *ssa_settings_read(const char *path, GError **error);
struct ssa_settings *ssa_settings_parse(const char *name, const char *text, size_t size,
					GError **error);
void ssa_settings_free(struct ssa_settings *settings); /* NULL is fine */

/* Whether its cores are those that the SA knows. */
bool ssa_settings_finds_cores(const struct ssa_settings *settings);

/* How servers of others are opened, and that of this node; valid as long as the settings. */
struct ssa_store_options ssa_settings_store(const struct ssa_settings *settings, bool writes);
struct ssa_store_options ssa_settings_server(const struct ssa_settings *settings, bool writes);

/* The key by which manifests are signed, from the first line of a file. NULL and error. */
GBytes *ssa_key_read(const char *file, GError **error);

/*
 * The GUIDs of the InfiniBand ports that the kernel knows (uint64_t), from below directory, as
 * /sys/class/infiniband; at most that many as a snapshot can be for.
 */
GArray *ssa_host_guids(const char *directory);

#endif
