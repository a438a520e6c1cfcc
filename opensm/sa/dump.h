// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The SA database as a file: opensm-sa.dump in dump_files_dir, and sa_db_file. */
#ifndef SA_DUMP_H
#define SA_DUMP_H

#include "core/context.h"
#include "sa/registries.h"

/* Writes the file in the background; it is replaced as a whole or not at all. */
void sa_dump_write(struct context *context, const struct sa_registries *registries);
/* Loads sa_db_file, if that option is set, into empty registries; errors are logged. */
void sa_dump_load(struct context *context, const struct sa_registries *registries);

#endif
