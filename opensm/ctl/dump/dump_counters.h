// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file with the counters of all ports, which the operator asks for. */
#ifndef CTL_DUMP_DUMP_COUNTERS_H
#define CTL_DUMP_DUMP_COUNTERS_H

#include <glib.h>

#include "core/context.h"

/*
 * Writes the last image of counters (perf/image/image.h) to event_db_dump_file, or to
 * opensm_port_counters.log in dump_files_dir, in the pool for files; machine: in columns. A file
 * that cannot be written is logged. False and error: no option names a place for it.
 */
bool dump_counters(struct context *context, bool machine, GError **error);

#endif
