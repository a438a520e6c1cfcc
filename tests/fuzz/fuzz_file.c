// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What targets use under any driver. */
#define _GNU_SOURCE /* memfd_create */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

void fuzz_add_text(GPtrArray *seeds, const char *text)
{
	g_ptr_array_add(seeds, g_bytes_new(text, strlen(text)));
}

char *fuzz_file(int *fd, const uint8_t *data, size_t size)
{
	if (*fd < 0)
		*fd = memfd_create("input", MFD_CLOEXEC);
	fuzz_expect(*fd >= 0);
	fuzz_expect(ftruncate(*fd, 0) == 0);
	fuzz_expect(pwrite(*fd, data, size, 0) == (ssize_t)size);
	return g_strdup_printf("/proc/self/fd/%d", *fd);
}
