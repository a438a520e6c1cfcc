// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library to preload between a subnet manager and libibumad: counts what the process sends and
 * when, the same way for every daemon, into the file named by COUNT_MADS_FILE (struct counts, host
 * order, nanoseconds of the wall clock). The reader of the file may set counts back. With
 * COUNT_MADS_CPU in the environment silences are measured in processor time of the process too,
 * which other programs do not lengthen; that costs a system call a MAD.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CLASS_LID_ROUTED 0x01
#define CLASS_DIRECTED 0x81
#define CLASS_PERF 0x04
#define METHOD_GET 1
#define METHOD_SET 2
#define METHOD_TRAP 5
#define METHOD_RESPONSE 0x80
#define ATTRIBUTE_SL2VL 0x0017
#define ATTRIBUTE_VLARB 0x0018
#define ATTRIBUTE_LFT 0x0019

/* The names of lab.py, in its order. */
struct counts {
	_Atomic uint64_t mads, gets, sets; /* requests by SMP */
	_Atomic uint64_t directed, hops;   /* directed ones, and the sum of their HopCount */
	_Atomic uint64_t lft_sets;
	_Atomic uint64_t last_ns;  /* an SMP went out or came in */
	_Atomic uint64_t lft_ns;   /* the last response to an LFT block came in */
	_Atomic uint64_t trap_ns;  /* the first trap came in */
	_Atomic uint64_t pause_ns; /* longest silence that a request ended, up to an LFT block */
	_Atomic uint64_t last_cpu_ns, pause_cpu_ns; /* pause in processor time */
	_Atomic uint64_t sl2vl[2], vlarb[2];	    /* Gets and Sets of these tables */
	_Atomic uint64_t perf;	       /* requests to performance management agents */
	_Atomic uint64_t perf_last_ns; /* one of these went out, or an answer came in */
};

typedef int send_fn(int port_id, int agent_id, void *umad, int length, int timeout_ms, int retries);
typedef int receive_fn(int port_id, void *umad, int *length, int timeout_ms);

static struct counts *counts;
static int with_cpu;
static send_fn *next_send;
static receive_fn *next_receive;

__attribute__((constructor)) static void open_counts(void)
{
	const char *name = getenv("COUNT_MADS_FILE");
	int fd = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;

	with_cpu = getenv("COUNT_MADS_CPU") != NULL;
	next_send = (send_fn *)dlsym(RTLD_NEXT, "umad_send");
	next_receive = (receive_fn *)dlsym(RTLD_NEXT, "umad_recv");
	if (fd >= 0 && ftruncate(fd, sizeof(*counts)) == 0)
		counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		counts = NULL;
	if (fd >= 0)
		close(fd);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

static void lengthen(_Atomic uint64_t *pause, uint64_t last, uint64_t now)
{
	if (last && last < now && !atomic_load(&counts->lft_sets) &&
	    now - last > atomic_load(pause))
		atomic_store(pause, now - last);
}

static int is_smp(const uint8_t *mad)
{
	return mad[1] == CLASS_LID_ROUTED || mad[1] == CLASS_DIRECTED;
}

static int is_of(const uint8_t *mad, unsigned int attribute)
{
	return mad[16] == attribute >> 8 && mad[17] == (attribute & 0xff);
}

static int is_lft(const uint8_t *mad)
{
	return is_of(mad, ATTRIBUTE_LFT);
}

static void count_qos(const uint8_t *mad)
{
	int set = mad[3] == METHOD_SET;

	if (is_of(mad, ATTRIBUTE_SL2VL))
		atomic_fetch_add(&counts->sl2vl[set], 1);
	if (is_of(mad, ATTRIBUTE_VLARB))
		atomic_fetch_add(&counts->vlarb[set], 1);
}

static void count_request(const uint8_t *mad, uint64_t now)
{
	uint64_t cpu = with_cpu ? read_clock(CLOCK_PROCESS_CPUTIME_ID) : 0;

	lengthen(&counts->pause_ns, atomic_exchange(&counts->last_ns, now), now);
	lengthen(&counts->pause_cpu_ns, atomic_exchange(&counts->last_cpu_ns, cpu), cpu);
	atomic_fetch_add(&counts->mads, 1);
	if (mad[3] == METHOD_GET)
		atomic_fetch_add(&counts->gets, 1);
	if (mad[3] == METHOD_SET)
		atomic_fetch_add(&counts->sets, 1);
	if (mad[3] == METHOD_SET && is_lft(mad))
		atomic_fetch_add(&counts->lft_sets, 1);
	count_qos(mad);
	if (mad[1] == CLASS_DIRECTED) {
		atomic_fetch_add(&counts->directed, 1);
		atomic_fetch_add(&counts->hops, mad[7]);
	}
}

static int is_perf(const uint8_t *mad)
{
	return mad[1] == CLASS_PERF;
}

int umad_send(int port_id, int agent_id, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *mad = umad_get_mad(umad);

	if (counts && is_smp(mad) && !(mad[3] & METHOD_RESPONSE))
		count_request(mad, now_ns());
	if (counts && is_perf(mad) && !(mad[3] & METHOD_RESPONSE)) {
		atomic_fetch_add(&counts->perf, 1);
		atomic_store(&counts->perf_last_ns, now_ns());
	}
	return next_send(port_id, agent_id, umad, length, timeout_ms, retries);
}

int umad_recv(int port_id, void *umad, int *length, int timeout_ms)
{
	int rc = next_receive(port_id, umad, length, timeout_ms);
	const uint8_t *mad = umad_get_mad(umad);
	uint64_t now, never = 0;

	if (rc < 0 || !counts || umad_status(umad))
		return rc;
	if (is_perf(mad))
		atomic_store(&counts->perf_last_ns, now_ns());
	if (!is_smp(mad))
		return rc;
	now = now_ns();
	atomic_store(&counts->last_ns, now);
	if (with_cpu)
		atomic_store(&counts->last_cpu_ns, read_clock(CLOCK_PROCESS_CPUTIME_ID));
	if ((mad[3] & METHOD_RESPONSE) && is_lft(mad))
		atomic_store(&counts->lft_ns, now);
	if (mad[3] == METHOD_TRAP)
		atomic_compare_exchange_strong(&counts->trap_ns, &never, now);
	return rc;
}
