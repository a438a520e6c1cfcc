// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library to preload between a subnet manager and libibumad: counts what the process sends, the
 * same way for every daemon, into the file named by COUNT_MADS_FILE (struct counts, host order).
 * It is built by bench.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CLASS_DIRECTED 0x81
#define METHOD_GET 1
#define METHOD_SET 2
#define METHOD_RESPONSE 0x80

struct counts {
	_Atomic uint64_t mads, gets, sets, directed, hops; /* directed requests and their hops */
};

typedef int send_fn(int port_id, int agent_id, void *umad, int length, int timeout_ms, int retries);

static struct counts *counts;
static send_fn *next_send;

__attribute__((constructor)) static void open_counts(void)
{
	const char *name = getenv("COUNT_MADS_FILE");
	int fd = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;

	next_send = (send_fn *)dlsym(RTLD_NEXT, "umad_send");
	if (fd >= 0 && ftruncate(fd, sizeof(*counts)) == 0)
		counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		counts = NULL;
	if (fd >= 0)
		close(fd);
}

int umad_send(int port_id, int agent_id, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *mad = umad_get_mad(umad);
	int rc = next_send(port_id, agent_id, umad, length, timeout_ms, retries);

	if (rc < 0 || !counts)
		return rc;
	atomic_fetch_add(&counts->mads, 1);
	if (mad[3] & METHOD_RESPONSE)
		return rc;
	if (mad[3] == METHOD_GET)
		atomic_fetch_add(&counts->gets, 1);
	if (mad[3] == METHOD_SET)
		atomic_fetch_add(&counts->sets, 1);
	if (mad[1] == CLASS_DIRECTED) {
		atomic_fetch_add(&counts->directed, 1);
		atomic_fetch_add(&counts->hops, mad[7]);
	}
	return rc;
}
