// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the kinds of stores have in common. */
#ifndef SSA_STORE_STORE_PRIVATE_H
#define SSA_STORE_STORE_PRIVATE_H

#include "ssa/store/store.h"

#define SSA_STORE_TERM_LENGTH 41 /* "TERM EPOCH", two numbers of 64 bits */

/* An epoch that is to be published; names have been checked. */
struct ssa_publication {
	GBytes *manifest;
	uint64_t term, epoch;
	const char *const *names;
	unsigned int n;
};

/* The functions are those of store.h; names and sizes have been checked, statistics are kept. */
struct ssa_store_kind {
	const char *schemes[3]; /* "redis", ...; NULL ends them */
	struct ssa_store *(*open)(const char *uri, const struct ssa_store_options *options,
				  GError **error);
	void (*close)(struct ssa_store *store); /* frees it */
	bool (*has)(struct ssa_store *store, const char *const *names, unsigned int n, bool *has,
		    GError **error);
	bool (*put)(struct ssa_store *store, const char *name, GBytes *frame, GError **error);
	bool (*publish)(struct ssa_store *store, const struct ssa_publication *publication,
			GError **error);
	GBytes *(*manifest)(struct ssa_store *store, GError **error);
	bool (*get_many)(struct ssa_store *store, const char *const *names, unsigned int n,
			 GBytes **frames, GError **error);
	bool (*set_pulse)(struct ssa_store *store, GBytes *text, GError **error);
	GBytes *(*pulse)(struct ssa_store *store, GError **error);
	bool (*wait)(struct ssa_store *store, unsigned int timeout_ms, GError **error);
	/* NULL: there is nothing to connect to. */
	bool (*keep)(struct ssa_store *store, unsigned int timeout_ms, GError **error);
};

struct ssa_store { /* first member of those of each kind */
	const struct ssa_store_kind *kind;
	char *uri;
	uint64_t prefix;
	unsigned int timeout_ms, keep_s;
	bool writes;
	int cancel_fd; /* an eventfd: readable from ssa_store_cancel() to the end of a wait */
	struct ssa_store_stats stats;
};

extern const struct ssa_store_kind ssa_store_files;

/* For an error: the URI, unless it might have a password in it, where none belongs. */
const char *ssa_store_shown(const char *uri);
/* At the end of a wait: whether it was cancelled, which is forgotten then. */
bool ssa_store_forget_cancel(struct ssa_store *store);
/* Sets an error that begins with the URI. */
void ssa_store_error(const struct ssa_store *store, GError **error, enum ssa_store_error code,
		     const char *format, ...) G_GNUC_PRINTF(4, 5);

/* "TERM EPOCH" as a store keeps it; false: the text is something else. */
void ssa_store_write_term(char text[SSA_STORE_TERM_LENGTH + 1], uint64_t term, uint64_t epoch);
bool ssa_store_read_term(const char *text, uint64_t *term, uint64_t *epoch);
/*
 * Whether an epoch may follow the one in the text (NULL: none is there; anything else than a term
 * and an epoch: that is replaced). Else SSA_STORE_ERROR_OLDER. *again: it is that same epoch, whose
 * publishing has failed, or seemed to.
 */
bool ssa_store_may_follow(const struct ssa_store *store, const char *text,
			  const struct ssa_publication *publication, bool *again, GError **error);

#endif
