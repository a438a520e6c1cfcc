// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * This SM's values of the settings that must be the same on all SMs of a subnet (agreed.def).
 * Immutable and reference counted; ha/ compares them with those of other SMs.
 */
#ifndef CORE_AGREED_H
#define CORE_AGREED_H

#include "core/options.h"

enum agreed_how {
	AGREED_SHOWN,  /* the value is shown */
	AGREED_SECRET, /* only whether it differs is shown */
	AGREED_FILE,   /* the value is a digest of a file's contents */
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

/* A newly allocated digest of the file that this option names; the same for the same meaning. */
typedef char *agreed_file_fn(const void *arg, enum option_id id);

struct agreed *agreed_new(const struct options *options, agreed_file_fn *file, const void *arg);
struct agreed *agreed_ref(struct agreed *agreed);
void agreed_unref(struct agreed *agreed); /* NULL is fine */
void agreed_slot_init(struct slot *slot); /* a slot for these, empty */

/* Whether agreed.def lists an option. */
bool agreed_knows(enum option_id id);

#endif
