// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command line of osmroute. */
#ifndef OSMROUTE_ARGUMENTS_H
#define OSMROUTE_ARGUMENTS_H

#include "core/options.h"
#include "osmroute/quality.h"

struct hosted;
struct route_engine;

struct arguments {
	char *topology; /* file or generator spec */
	struct options *options; /* given options of the daemon, others at their default */
	struct hosted *hosted;	 /* the plug-ins, whose engines end with them */
	GPtrArray *engines;	 /* const struct route_engine, without repetition */
	bool named;		 /* by the operator */
	bool json, version;
	unsigned int threads, repeats, trials;
	uint32_t lose;
	double lose_percent;
	unsigned int outages; /* 1 << enum outage_kind */
	uint64_t seed;
	struct quality_effort effort;
	char *dot, *lfts, *svg; /* files to write, or NULL */
	char *transition;	/* file of the tables that switches hold, or NULL */
	char *sls;		/* file of the SLs that hosts hold, or NULL */
	char *policy;		/* partitions.conf, or NULL */
	char **loads; /* images of the performance manager, or NULL */
};

/*
 * Reads the command line, which is not changed; clear the arguments in any case. False and error if
 * something is wrong. --help is printed here and ends the program.
 */
bool arguments_parse(struct arguments *arguments, char **argv, GError **error);
void arguments_clear(struct arguments *arguments);

#endif
