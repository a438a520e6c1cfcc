// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A job starts: all ranks of all hosts want the path to each other host, at the same moment.
 *
 *	ssa_storm RANKS sa         each path is asked for at the SA, with one request of a rank at a
 *	                           time
 *	ssa_storm RANKS STORE      it is looked up in a snapshot of the host, as an agent makes it
 *from that store; what this leaves to the SA is asked there
 *
 * One process a host of osmsim, as named on standard input, a line each, up to an empty one. It
 * prints "ready" when all have opened their port and, if so, made their snapshot, waits for another
 * line, and prints one of JSON when the last rank has all its paths. "digest" is a sum over the
 * octets of all records: of equal answers it is equal.
 */
#include <errno.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "ssa/look/look.h"
#include "ssa/store/store.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define SA_HEADER_OFFSET 36
#define TIMEOUT_MS 5000
#define RANKS_MAX 64u
#define HOSTS_MAX 4096u

/* What one process tells the first. */
struct told {
	uint64_t guid;
	uint64_t paths, queries, errors, lost, digest;
	double done, cpu; /* seconds */
};

struct storm {
	unsigned int n, ranks;
	const char *store; /* URI; NULL: the SA is asked */
	struct told *told; /* by host; shared */
	int ready[2], go[2];
};

struct host {
	const struct storm *storm;
	unsigned int index;
	struct told *told;
	int port, agent;
	uint16_t sm_lid;
	uint64_t prefix;
	void *umad;
	struct ssa_snapshot *snapshot;
	uint32_t own;		       /* row of this port in it */
	unsigned int asked[RANKS_MAX]; /* how many hosts the rank has asked for, or looked up */
};

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "ssa_storm: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	return EXIT_FAILURE;
}

/* ---- a host ---- */

static bool open_port(struct host *host)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return false;
	host->sm_lid = port.sm_lid;
	host->prefix = be64toh(port.gid_prefix);
	host->told->guid = be64toh(port.port_guid);
	host->port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	if (host->port < 0)
		return false;
	host->agent = umad_register(host->port, IBA_CLASS_SUBN_ADM, IBA_SA_CLASS_VERSION, 0, NULL);
	host->umad = g_malloc0(umad_size() + IBA_MAD_BYTES);
	return host->agent >= 0;
}

static GBytes *get(void *store, const char *name, GError **error)
{
	return ssa_store_get(store, name, error);
}

static bool make_snapshot(struct host *host)
{
	const struct ssa_wanted wanted = {.guids = {host->told->guid}};
	g_autoptr(GError) error = NULL;
	struct ssa_store *store = ssa_store_open(host->storm->store, host->prefix, NULL, &error);
	GBytes *bytes = store ? ssa_store_manifest(store, &error) : NULL;
	struct ssa_manifest manifest;

	if (bytes && ssa_manifest_parse(bytes, NULL, &manifest, &error))
		host->snapshot = ssa_wire_join(&manifest, NULL, &wanted, get, store, &error);
	g_clear_pointer(&bytes, g_bytes_unref);
	ssa_store_close(store);
	if (host->snapshot)
		host->own = ssa_look_guid(host->snapshot, host->told->guid);
	else
		complain("no snapshot", error->message);
	return host->snapshot && host->own != SSA_NONE;
}

/* ---- its ranks ---- */

static struct iba_path_record question(const struct host *host, unsigned int rank, uint64_t *mask)
{
	unsigned int n = host->storm->n, to = (host->index + 1 + host->asked[rank]) % n;

	*mask = C(sgid) | C(dgid) | C(reversible) | C(numb_path);
	return (struct iba_path_record){.sgid = {host->prefix, host->told->guid},
					.dgid = {host->prefix, host->storm->told[to].guid},
					.reversible = 1,
					.numb_path = 1};
}

static void take(struct host *host, unsigned int rank, const uint8_t *octets)
{
	host->told->digest += XXH3_64bits(octets, iba_path_record_bytes);
	host->told->paths++;
	host->asked[rank]++;
}

/* Up to the next path that only the SA knows; false: the rank has all. */
static bool look_up(struct host *host, unsigned int rank)
{
	while (host->asked[rank] < host->storm->n - 1) {
		uint8_t octets[iba_path_record_bytes] = {0};
		struct iba_path_record record, wanted;
		uint64_t mask;

		wanted = question(host, rank, &mask);
		if (!host->snapshot || ssa_look_path(host->snapshot, host->own, &wanted, mask,
						     &record, NULL) != SSA_LOOK_FOUND)
			return true;
		wire_encode(&iba_path_record_type, &record, octets);
		take(host, rank, octets);
	}
	return false;
}

static bool send_query(struct host *host, unsigned int rank)
{
	const struct iba_mad_header header = {.base_version = IBA_BASE_VERSION,
					      .mgmt_class = IBA_CLASS_SUBN_ADM,
					      .class_version = IBA_SA_CLASS_VERSION,
					      .method = IBA_METHOD_GET,
					      .transaction_id =
						      host->asked[rank] * RANKS_MAX + rank,
					      .attribute_id = IBA_ATTR_PATH_RECORD};
	struct iba_path_record wanted;
	struct iba_sa_header query = {0};
	uint8_t *mad = umad_get_mad(host->umad);

	wanted = question(host, rank, &query.component_mask);
	memset(host->umad, 0, umad_size() + IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, mad);
	wire_encode(&iba_sa_header_type, &query, mad + SA_HEADER_OFFSET);
	wire_encode(&iba_path_record_type, &wanted, mad + IBA_SA_DATA_OFFSET);
	umad_set_addr(host->umad, host->sm_lid, 1, 0, IBA_QP1_Q_KEY);
	host->told->queries++;
	return umad_send(host->port, host->agent, host->umad, IBA_MAD_BYTES, TIMEOUT_MS, 0) == 0;
}

/* The rank of the answer, or of the request that got none. */
static int receive(struct host *host)
{
	const uint8_t *mad = umad_get_mad(host->umad);
	int length = IBA_MAD_BYTES;
	struct iba_mad_header header;
	unsigned int rank;

	if (umad_recv(host->port, host->umad, &length, -1) < 0)
		return -1;
	wire_decode(&iba_mad_header_type, mad, &header);
	rank = (uint32_t)header.transaction_id % RANKS_MAX;
	if ((uint32_t)header.transaction_id / RANKS_MAX != host->asked[rank])
		return (int)rank;
	if (umad_status(host->umad)) {
		host->told->lost++;
	} else if (header.status) {
		host->told->errors++;
		host->asked[rank]++;
	} else {
		take(host, rank, mad + IBA_SA_DATA_OFFSET);
	}
	return (int)rank;
}

static bool run_ranks(struct host *host)
{
	unsigned int waiting = 0;

	for (unsigned int rank = 0; rank < host->storm->ranks; rank++) {
		if (!look_up(host, rank))
			continue;
		if (!send_query(host, rank))
			return false;
		waiting++;
	}
	while (waiting) {
		int rank = receive(host);

		if (rank < 0)
			return false;
		if (!look_up(host, (unsigned int)rank))
			waiting--;
		else if (!send_query(host, (unsigned int)rank))
			return false;
	}
	return true;
}

static int run_host(const struct storm *storm, unsigned int index, const char *name)
{
	struct host host = {.storm = storm, .index = index, .told = &storm->told[index]};
	double cpu;
	char octet = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("OSMSIM_NODE", name, 1);
	close(storm->go[1]);
	if (!open_port(&host) || (storm->store && !make_snapshot(&host)))
		return complain("no port, or no snapshot for it, on host", name);
	if (write(storm->ready[1], &octet, 1) != 1)
		return EXIT_FAILURE;
	close(storm->ready[1]);
	if (read(storm->go[0], &octet, 1) != 0)
		return EXIT_FAILURE;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (!run_ranks(&host))
		return complain("the port is lost on host", name);
	host.told->done = seconds(CLOCK_MONOTONIC);
	host.told->cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	return EXIT_SUCCESS;
}

/* ---- all of them ---- */

static GPtrArray *read_names(void)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	char line[256];

	while (names->len < HOSTS_MAX && fgets(line, sizeof(line), stdin) && *line != '\n')
		g_ptr_array_add(names, g_strndup(line, strcspn(line, "\n")));
	return names;
}

static void fork_hosts(struct storm *storm, const GPtrArray *names)
{
	for (unsigned int i = 0; i < names->len; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(run_host(storm, i, names->pdata[i]));
		if (child < 0)
			exit(complain("fork", strerror(errno)));
	}
	close(storm->ready[1]);
}

static bool wait_ready(const struct storm *storm)
{
	unsigned int ready = 0;
	char octet;

	while (read(storm->ready[0], &octet, 1) == 1)
		ready++;
	return ready == storm->n;
}

static bool wait_done(void)
{
	bool good = true;
	int status;

	while (wait(&status) > 0)
		good &= status == 0;
	return good;
}

static void print(const struct storm *storm, double began)
{
	struct told sum = {.done = began};

	for (unsigned int i = 0; i < storm->n; i++) {
		const struct told *told = &storm->told[i];

		sum.paths += told->paths;
		sum.queries += told->queries;
		sum.errors += told->errors;
		sum.lost += told->lost;
		sum.digest += told->digest;
		sum.cpu += told->cpu;
		sum.done = MAX(sum.done, told->done);
	}
	printf("{\"hosts\": %u, \"ranks\": %u, \"paths\": %" PRIu64 ", \"queries\": %" PRIu64
	       ", \"errors\": %" PRIu64 ", \"lost\": %" PRIu64
	       ", \"seconds\": %.3f, \"hosts_cpu\": %.3f, \"digest\": \"%016" PRIx64 "\"}\n",
	       storm->n, storm->ranks, sum.paths, sum.queries, sum.errors, sum.lost,
	       sum.done - began, sum.cpu, sum.digest);
}

static int run(struct storm *storm, const GPtrArray *names)
{
	double began;

	storm->n = names->len;
	storm->told = mmap(NULL, sizeof(struct told) * storm->n, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm->told == MAP_FAILED || pipe(storm->ready) < 0 || pipe(storm->go) < 0)
		return complain("no memory or pipe", strerror(errno));
	fork_hosts(storm, names);
	if (!wait_ready(storm))
		return complain("some hosts are not ready", NULL);
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return complain("standard input ended before the storm", NULL);
	began = seconds(CLOCK_MONOTONIC);
	close(storm->go[1]);
	if (!wait_done())
		return complain("some hosts have failed", NULL);
	print(storm, began);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct storm storm = {.ranks = argc == 3 ? (unsigned int)atoi(argv[1]) : 0};
	GPtrArray *names = read_names();
	int rc;

	if (!storm.ranks || storm.ranks > RANKS_MAX || names->len < 2)
		return complain("usage: ssa_storm RANKS sa|STORE, and two hosts or more", NULL);
	if (strcmp(argv[2], "sa") != 0)
		storm.store = argv[2];
	rc = run(&storm, names);
	g_ptr_array_unref(names);
	return rc;
}
