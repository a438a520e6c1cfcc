// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Would the daemon start with these files? For opensm --check-config, and for files read again. */
#ifndef CTL_SITE_CHECK_CONFIG_H
#define CTL_SITE_CHECK_CONFIG_H

#include "core/options.h"

struct route_registry;

/*
 * Reads every file that the options name, as a start does, without a port. Returns a newly
 * allocated text for people, one "FILE:LINE: error: TEXT" per line, or JSON: errors, each of which
 * stops a start, and warnings, in the form of ctl/base/problem.h. error says what is wrong with the
 * options themselves (NULL: nothing); warnings are those of the options. options is NULL if the
 * files cannot be known. *good: there was no error.
 */
char *check_config(const struct options *options, const GError *error, const GPtrArray *warnings,
		   bool json, bool *good);

/* After a start that error stopped: one line for each other error that would stop it. */
char *check_config_others(const struct options *options, const GError *error);

/*
 * Whether all engines that routing_engine names exist, and at least one of them may be used.
 * engines NULL: plug-ins are not loaded; if the options name any, unknown engines may be theirs.
 */
bool check_config_engines(const struct options *options, struct route_registry *engines,
			  GError **error);

/*
 * While the daemon runs with the options before: false and error if a start would refuse the values
 * that the file now has for keys that take effect only at a start.
 */
bool check_config_restart(const struct options *options, const struct options *before,
			  GError **error);
/*
 * As check_config_restart() for a file that is read again; also refuses a file that has lost all
 * its keys, or a key that guards the subnet (guarded_options.h), or its end.
 */
bool check_config_again(const struct options *options, const struct options *before,
			GError **error);

#endif
