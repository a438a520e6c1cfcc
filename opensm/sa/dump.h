// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The data base of the SA as a file: opensm-sa.dump in dump_files_dir, and sa_db_file. */
#ifndef SA_DUMP_H
#define SA_DUMP_H

#include "core/context.h"
#include "sa/registries.h"

/* Has the file written in the background, as a whole or not at all. */
void sa_dump_write(struct context *context, const struct sa_registries *registries);
/* Loads sa_db_file, if the option says so, into empty registries; what is wrong goes to the log. */
void sa_dump_load(struct context *context, const struct sa_registries *registries);

#endif
