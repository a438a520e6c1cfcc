// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of a site while the daemon runs: they are read again on request, or if they changed
 * when a heavy sweep begins; refused files are kept with the reason. All calls on the actor "main",
 * which never waits for a disk: files are read on other threads, and what arrives late is applied
 * on arrival.
 */
#ifndef CTL_SITE_SITE_FILES_H
#define CTL_SITE_SITE_FILES_H

#include "ctl/site/site_policy.h"

struct aside;
struct site_files;

/* A refused file, whose earlier contents stay in effect. */
struct refusal {
	char *why;   /* file, line and mistake, one per line; NULL: nothing was refused */
	char *since; /* local time */
};

/*
 * Reads all files needed at a start and publishes them in the context, which already has the
 * options. NULL and error: a file is wrong.
 */
struct site_files *site_files_new(struct context *context, struct actor *main, GError **error);
void site_files_stop(struct site_files *site); /* before main is stopped */
void site_files_free(struct site_files *site); /* after the pools of the context; NULL is fine */

/* Reads them on request; true if their contents are new, or may turn out to be. */
bool site_files_reread(struct site_files *site, enum daemon_files files);
/*
 * Reads opensm.conf and what depends on it; false and error (NULL: not wanted): the old options
 * stay, or the file is not read yet.
 */
bool site_files_reread_options(struct site_files *site, GError **error);
/* As site_files_reread_options(), but logs what is wrong, one line per mistake. */
bool site_files_reread_options_logged(struct site_files *site);
/* As above, only if the file changed since it was last read or refused. */
void site_files_follow_options(struct site_files *site);

/* For code that reads files itself. */
struct aside *site_files_aside(struct site_files *site);
const struct refusal *site_files_refusal(const struct site_files *site, enum daemon_files files);
/* For code that reads files itself or has applied their contents; why NULL: nothing is wrong. */
void site_files_refuse(struct site_files *site, enum daemon_files files, const char *why);
/* If this SM replicates: shows other SMs its values of the settings that all SMs must share. */
void site_files_publish_agreed(struct context *context);
/* Saves the partitions in effect for the next start. */
void site_files_remember(struct site_files *site);

#endif
