// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables by name, and the size of their rows. */
#include "ssa/table/snapshot.h"

const char *ssa_table_name(unsigned int id)
{
	switch (id) {
#define SSA_NAME_OF(id, NAME, name, size)                                                          \
	case id:                                                                                   \
		return #NAME;
		SSA_TABLES(SSA_NAME_OF)
#undef SSA_NAME_OF
	default:
		return NULL;
	}
}

uint32_t ssa_table_row_size(unsigned int id)
{
	switch (id) {
#define SSA_SIZE_OF(id, NAME, name, size)                                                          \
	case id:                                                                                   \
		return size;
		SSA_TABLES(SSA_SIZE_OF)
#undef SSA_SIZE_OF
	default:
		return 0;
	}
}
