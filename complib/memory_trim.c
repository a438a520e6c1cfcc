// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "complib/memory.h"

#include "config.h"

#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif

void memory_trim(void)
{
#ifdef HAVE_MALLOC_TRIM
	malloc_trim(0);
#endif
}
