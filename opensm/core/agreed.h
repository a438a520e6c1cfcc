// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What this SM has in effect of what all SMs of a subnet must have alike (agreed.def). Immutable
 * and counted; ha/ compares it with what other SMs have.
 */
#ifndef CORE_AGREED_H
#define CORE_AGREED_H

#include "core/options.h"

enum agreed_how {
	AGREED_SHOWN,  /* the value is told */
	AGREED_SECRET, /* nothing is told but whether it differs */
	AGREED_FILE,   /* the value is a digest of what a file says */
};

struct agreed_row {
	const char *name; /* of the option */
	enum agreed_how how;
	char *value;
};

struct agreed {
	struct ref ref;
	unsigned int n;
	struct agreed_row rows[];
};

/* What the file says that this option names, newly allocated; the same for the same meaning. */
typedef char *agreed_file_fn(const void *arg, enum option_id id);

struct agreed *agreed_new(const struct options *options, agreed_file_fn *file, const void *arg);
struct agreed *agreed_ref(struct agreed *agreed);
void agreed_unref(struct agreed *agreed); /* NULL is fine */
void agreed_slot_init(struct slot *slot); /* a slot for these, empty */

/* Whether agreed.def has decided about an option. */
bool agreed_knows(enum option_id id);

#endif
