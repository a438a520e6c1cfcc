// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/base/held.h"

#include <sys/stat.h>
#include <unistd.h>

struct held {
	unsigned int references;
	int file;
	uint64_t size, counts, *octets;
};

struct held *held_new(int file, uint64_t *octets)
{
	struct stat about = {0};
	bool known = fstat(file, &about) == 0;
	uint64_t size = (uint64_t)about.st_size, counts = MAX(size, HELD_LEAST);
	struct held *held;

	if (!known || (*octets && *octets + counts > HELD_MAX)) {
		close(file);
		return NULL;
	}
	held = g_new(struct held, 1);
	*held = (struct held){1, file, size, counts, octets};
	*octets += counts;
	return held;
}

struct held *held_ref(struct held *held)
{
	held->references++;
	return held;
}

void held_unref(struct held *held)
{
	if (!held || --held->references)
		return;
	*held->octets -= held->counts;
	close(held->file);
	g_free(held);
}

uint64_t held_size(const struct held *held)
{
	return held->size;
}

ssize_t held_read(const struct held *held, void *into, size_t max, uint64_t at)
{
	return pread(held->file, into, max, (off_t)at);
}
