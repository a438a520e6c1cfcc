// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registries as text, in the format of the classic daemon's opensm-sa.dump: what either writes
 * the other reads (sa_db_dump, sa_db_file).
 */
#ifndef SA_DATABASE_H
#define SA_DATABASE_H

#include "sa/registries.h"

/* One moment by two clocks: leases go by the first, which begins anew at each start. */
struct sa_moment {
	uint64_t now; /* of the runtime, ns */
	int64_t time; /* CLOCK_REALTIME, s */
};

/* To be freed with g_free. */
char *sa_database_write(const struct sa_registries *registries, uint64_t subnet_prefix,
			struct sa_moment moment);

/*
 * Takes what a text says into empty registries, up to the first line that is wrong or torn: false
 * and error then, of G_FILE_ERROR, which names file, line and what was expected. Entries beyond
 * what registries hold are passed over; *n_left_out gets how many groups, as no MLID was free.
 */
bool sa_database_read(const struct sa_registries *registries, const char *file, const char *text,
		      uint64_t subnet_prefix, struct sa_moment moment, unsigned int *n_left_out,
		      GError **error);

#endif
