// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file of per_module_logging_file: log flags of single source files. A line is the name of a
 * file of this program or of OpenSM 3.3 (classic_modules.def) and flags in any base, separated by
 * blanks, '=', ':' or ','; '#' begins a comment. A wrong line costs only itself. Immutable and
 * reference counted.
 */
#ifndef CTL_PROCESS_MODULE_FLAGS_H
#define CTL_PROCESS_MODULE_FLAGS_H

#include <glib.h>
#include <stdbool.h>

#include "complib/handoff.h"
#include "complib/log.h"

struct module_flags {
	struct ref ref;
	GHashTable *own;     /* name of a file of this program -> flags: they replace the general */
	GHashTable *classic; /* file of this program -> flags from lines for OpenSM 3.3: added to
				those */
	GPtrArray *warnings; /* of char *: what is wrong with the file */
};

/* Reads length octets of a file of that name. */
struct module_flags *module_flags_parse(const char *file, const char *text, size_t length);
/*
 * Reads a file; NULL or "": no flags. A missing file is a warning if named is set, else nothing;
 * NULL and error if it cannot be read.
 */
struct module_flags *module_flags_load(const char *file, bool named, GError **error);
struct module_flags *module_flags_ref(struct module_flags *flags);
void module_flags_unref(struct module_flags *flags); /* NULL is fine */
bool module_flags_same(const struct module_flags *a, const struct module_flags *b);

/* Replaces the flags of single files that the log had; flags may be NULL: none. */
void module_flags_apply(const struct module_flags *flags, struct log *log);

/* Whether this program has a source file of that name, without directories. */
bool module_is_own(const char *name);

#endif
