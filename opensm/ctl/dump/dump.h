// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files in dump_files_dir that show the subnet, in the formats of the classic daemon. */
#ifndef CTL_DUMP_DUMP_H
#define CTL_DUMP_DUMP_H

#include <stdio.h>

#include "ctl/daemon.h"

struct dumps;
struct mc_trees;
struct subnet;

/*
 * Writes the files after each sweep that publishes a subnet. NULL if the options ask for none:
 * files of a simulated subnet go only to a directory that the operator names. Between daemon_new
 * and daemon_start.
 */
struct dumps *dumps_new(struct daemon *daemon);
void dumps_free(struct dumps *dumps); /* after daemon_stop; NULL is fine */

/*
 * The text of the file with this name, from the subnet, its engine input and the trees (NULL:
 * none); false if there is no such file for this subnet. Any thread.
 */
struct route_input;
bool dump_write(const char *name, const struct subnet *subnet, const struct mc_trees *trees,
		const struct route_input *input, FILE *out);

#endif
