// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SA registries as text, in the format of the classic daemon's opensm-sa.dump: each daemon
 * reads what the other writes (sa_db_dump, sa_db_file).
 */
#ifndef SA_DATABASE_H
#define SA_DATABASE_H

#include "sa/registries.h"

/*
 * One moment by two clocks. Leases are measured by the first, which starts again with the process.
 */
struct sa_moment {
	uint64_t now; /* of the runtime, ns */
	int64_t time; /* CLOCK_REALTIME, s */
};

/* The result is freed with g_free. */
char *sa_database_write(const struct sa_registries *registries, uint64_t subnet_prefix,
			struct sa_moment moment);

/*
 * Reads a text into empty registries, up to the first line that is malformed or truncated; then
 * returns false and sets an error of G_FILE_ERROR that names file, line and what was expected.
 * Entries beyond the limits of the registries are skipped; *n_left_out is set to the number of
 * groups skipped because no MLID was free.
 */
bool sa_database_read(const struct sa_registries *registries, const char *file, const char *text,
		      uint64_t subnet_prefix, struct sa_moment moment, unsigned int *n_left_out,
		      GError **error);

#endif
