// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where the epochs of the Scalable SA are kept and passed on: chunks by name, and one manifest.
 * A store checks nothing of what it keeps: its users do (ssa/wire/wire.h). What it is given from
 * outside (replies of a server, contents of a directory) it does not believe either: sizes are
 * checked before memory is taken.
 *
 *    files:DIR                     a directory of this host, the default
 *    redis://[USER@]HOST[:PORT]    a Redis server, or the nearest of a cascade of replicas
 *    rediss://...                  by TLS
 *
 * ssa_store_open() connects to nothing. Each call tries once, and blocks for at most the timeout of
 * the store; one that finds the store gone says so, and the next call connects again: how often to
 * try is the user's choice. A store belongs to one thread, except for ssa_store_cancel().
 */
#ifndef SSA_STORE_STORE_H
#define SSA_STORE_STORE_H

#include "ssa/wire/wire.h"

struct ssa_store;

/*
 * A kind of store besides files. Programs link only those that they name: the daemon has neither
 * Redis nor TLS in its process. In a build without hiredis, to open a Redis store is an error.
 */
struct ssa_store_kind;
extern const struct ssa_store_kind ssa_store_redis; /* libssaredis.a */

/* What a URI does not say. Strings may be NULL. */
struct ssa_store_options {
	const struct ssa_store_kind *more;	    /* &ssa_store_redis; NULL: only files */
	const char *password_file;		    /* Redis: one line, mode 0600 */
	const char *ca_file, *cert_file, *key_file; /* TLS, in PEM; no ca_file: the system's CAs */
	unsigned int timeout_ms;		    /* of a call; 0: 5,000 */
	unsigned int keep_s;			    /* chunks that are not used any more; 0: 60 */
	bool writes;				    /* false: only reads will be done */
};

struct ssa_store_stats {
	uint64_t gets, puts, publishes, errors;
	uint64_t bytes_in, bytes_out;
	char last_error[256];  /* "": none */
	int64_t last_error_us; /* UNIX time */
};

#define SSA_STORE_ERROR ssa_store_error_quark()
GQuark ssa_store_error_quark(void);
enum ssa_store_error {
	SSA_STORE_ERROR_URI,	 /* not that of a store, or its options are wrong */
	SSA_STORE_ERROR_GONE,	 /* the store cannot be reached, is not ready, or is not a store */
	SSA_STORE_ERROR_REFUSED, /* no permission, no room, read-only, too large */
	SSA_STORE_ERROR_ABSENT,	 /* it has no such chunk, or no manifest yet */
	SSA_STORE_ERROR_OLDER,	 /* another master has published a newer epoch there */
};

/* prefix: of the subnet, part of the names in a Redis server; NULL options: defaults. */
struct ssa_store *ssa_store_open(const char *uri, uint64_t prefix,
				 const struct ssa_store_options *options, GError **error);
void ssa_store_close(struct ssa_store *store); /* NULL is fine */
const char *ssa_store_uri(const struct ssa_store *store);

/* Whether each of n names is there. */
bool ssa_store_has(struct ssa_store *store, const char *const *names, unsigned int n, bool *has,
		   GError **error);
/*
 * A store may send frames on later, together: an error of one is then that of a later call, at the
 * latest of ssa_store_publish(), which publishes nothing in that case.
 */
bool ssa_store_put(struct ssa_store *store, const char *name, GBytes *frame, GError **error);
/*
 * Makes the manifest visible to all readers at once, after all that was put; a crash at any moment
 * leaves the old one or the new one. names (n): all chunks that it uses, lists included. If one is
 * not there (the store has been emptied since) that is SSA_STORE_ERROR_ABSENT; if an epoch is there
 * that is newer by term, then by epoch, SSA_STORE_ERROR_OLDER. Chunks that none of the last three
 * manifests used, and that were last used keep_s ago, are removed on the way.
 */
bool ssa_store_publish(struct ssa_store *store, GBytes *manifest, uint64_t term, uint64_t epoch,
		       const char *const *names, unsigned int n, GError **error);
GBytes *ssa_store_manifest(struct ssa_store *store, GError **error);
/* At most SSA_CHUNK_MAX octets; more is SSA_STORE_ERROR_GONE. */
GBytes *ssa_store_get(struct ssa_store *store, const char *name, GError **error);
/* Of several chunks at once, where a store does that faster. frames[i] NULL: absent. */
bool ssa_store_get_many(struct ssa_store *store, const char *const *names, unsigned int n,
			GBytes **frames, GError **error);

/*
 * The pulse (ssa/wire/alive.h): text of at most SSA_ALIVE_MAX octets beside the manifest. It takes
 * part in no publication, and ends no wait. ssa_store_pulse(): g_free() it; NULL without an error:
 * none yet.
 */
bool ssa_store_set_pulse(struct ssa_store *store, const char *text, GError **error);
char *ssa_store_pulse(struct ssa_store *store, GError **error);

/*
 * Waits until there may be another manifest than the one that was read last, or for that time;
 * false and an error if the store is lost. The first wait, and the first one after an error, may
 * return at once, so read the manifest after each. Returns at once after ssa_store_cancel().
 */
bool ssa_store_wait(struct ssa_store *store, unsigned int timeout_ms, GError **error);
/*
 * For a store in reserve: connects, or sees whether the connections still work, so that the first
 * call that needs it takes one message. For that time at most; false and an error: it is lost.
 */
bool ssa_store_keep(struct ssa_store *store, unsigned int timeout_ms, GError **error);
/* Any thread: ends the wait that runs, or the next one. */
void ssa_store_cancel(struct ssa_store *store);

void ssa_store_stats(const struct ssa_store *store, struct ssa_store_stats *stats);

#endif
