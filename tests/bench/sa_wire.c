// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PathRecords a second over the simulated fabric, threads and all: client, two MAD layers, SA.
 *
 *	sa_wire [TOPOLOGY [COUNT [OUTSTANDING]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/unit/test_sa_net.h"

static void question(struct net *net, unsigned int number)
{
	(void)number;
	net_ask_path(net);
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6 + usage.ru_stime.tv_sec +
	       usage.ru_stime.tv_usec / 1e6;
}

int main(int argc, char *argv[])
{
	const char *spec = argc > 1 ? argv[1] : "fattree:8";
	unsigned int count = argc > 2 ? atoi(argv[2]) : 200000;
	unsigned int outstanding = argc > 3 ? atoi(argv[3]) : 64;
	double cpu, took;
	uint64_t start;
	struct net net;
	bool done;

	net_start(&net, RUNTIME_REAL, spec);
	net_run_daemon(&net);
	if (!net_wait_up(&net)) {
		fprintf(stderr, "sa_wire: the subnet did not come up\n");
		return 1;
	}
	cpu = cpu_seconds();
	start = runtime_now(net.rt);
	done = net_pump(&net, count, outstanding, question);
	took = (runtime_now(net.rt) - start) / 1e9;
	cpu = cpu_seconds() - cpu;
	printf("%s: %u PathRecords with %u outstanding, %u lost, %.0f a second,"
	       " %.2f us of CPU each with client and simulation\n",
	       spec, count, outstanding, atomic_load(&net.n_lost), count / took, cpu / count * 1e6);
	net_stop(&net);
	return done ? 0 : 1;
}
