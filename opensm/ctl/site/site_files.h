// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of a site while the daemon runs: read again when somebody asks, or when they changed
 * and a heavy sweep begins; what was refused, and why. All calls on the actor "main", which never
 * waits for a disk: reading goes on beside it, and what comes late is taken when it comes.
 */
#ifndef CTL_SITE_SITE_FILES_H
#define CTL_SITE_SITE_FILES_H

#include "ctl/site/site_policy.h"

struct aside;
struct site_files;

/* What was not taken, and whose earlier contents stay. */
struct refusal {
	char *why;   /* file, line and what is wrong, a mistake a line; NULL: nothing was refused */
	char *since; /* local time */
};

/*
 * Reads all of a start, and publishes it in the context, whose options are there. NULL and error:
 * one is wrong.
 */
struct site_files *site_files_new(struct context *context, struct actor *main, GError **error);
void site_files_stop(struct site_files *site); /* before main is stopped */
void site_files_free(struct site_files *site); /* after the pools of the context; NULL is fine */

/* Asked for: true if they say something else now, or may do so. */
bool site_files_reread(struct site_files *site, enum daemon_files files);
/*
 * opensm.conf, with what hangs on it; false and error (NULL: not wanted): the old options stay, or
 * it is not read yet.
 */
bool site_files_reread_options(struct site_files *site, GError **error);
/* The same; what is wrong goes to the log, a mistake a line. */
bool site_files_reread_options_logged(struct site_files *site);
/* The same if it changed and was not refused as it is; what is wrong goes to the log. */
void site_files_follow_options(struct site_files *site);

/* For who reads files himself. */
struct aside *site_files_aside(struct site_files *site);
const struct refusal *site_files_refusal(const struct site_files *site, enum daemon_files files);
/* Of who reads files himself, or has taken what they say; why NULL: nothing is wrong. */
void site_files_refuse(struct site_files *site, enum daemon_files files, const char *why);
/* Lets other SMs see what this one has of what all must have alike, if it replicates. */
void site_files_publish_agreed(struct context *context);
/* Keeps the partitions in force for the next start. */
void site_files_remember(struct site_files *site);

#endif
