// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Hot spots and their victims: loads for congest.h, and sets of settings to try on them. */
#ifndef TESTS_UNIT_CONGEST_RUNS_H
#define TESTS_UNIT_CONGEST_RUNS_H

#include "cc/profile.h"
#include "tests/unit/congest.h"

/* The ports of a switch that mark packets even if they lack credits: bits of its VictimMask. */
enum congest_mask {
	CONGEST_MASK_HOSTS, /* ports that face hosts */
	CONGEST_MASK_NONE,
	CONGEST_MASK_ALL,
};

/* The settings of all nodes of a fabric. */
struct congest_set {
	const char *name;
	uint8_t threshold; /* 0: no congestion control at all */
	uint16_t marking_rate;
	uint8_t packet_size;
	enum congest_mask mask;
	uint8_t increase, min;
	uint16_t timer;
	bool per_sl;
	uint16_t limit; /* the last index of the table */
	struct iba_congestion_control_table blocks[2];
};

/* Entry i of the table of a set, as delay in packets, as exactly as an entry can. */
void congest_put_delay(struct congest_set *set, unsigned int i, double packets);
/* A table that was used in published experiments: entry i is shift:int(7 i^2 / scale^2 / 0.218). */
void congest_put_square(struct congest_set *set, uint8_t shift, unsigned int scale);
/* cc_profile_table(). */
void congest_put_table(struct congest_set *set, uint32_t hosts, unsigned int limit);
/* The set of a profile for this number of hosts, on links of this data rate in Gb/s. */
void congest_set_init(struct congest_set *set, enum cc_profile profile, uint32_t hosts,
		      unsigned int gbps);

/* A routed fabric. */
struct congest_net {
	struct fabric *fabric;
	struct routing *routing;
	uint32_t *hosts; /* endports, leaf by leaf */
	uint32_t n_hosts;
};

void congest_net_init(struct congest_net *net, const char *spec, const char *engine);
void congest_net_clear(struct congest_net *net);

/* A set as the nodes of a net get it, each switch with a mask of its own. */
struct congest_settings {
	struct iba_ca_congestion_setting ca;
	struct iba_switch_congestion_setting *set;
	const struct iba_switch_congestion_setting **switches;
	struct congest_ca *cas;
};

void congest_settings_init(struct congest_settings *settings, const struct congest_net *net,
			   const struct congest_set *set);
void congest_settings_clear(struct congest_settings *settings);

/* A hot spot: flows of contributors to one host, then those of victims. */
struct congest_hot {
	uint32_t target; /* endport */
	struct congest_flow *flows;
	uint32_t n_contributors, n_flows;
};

/*
 * Contributors are chosen at random among all other hosts. The victims are beside contributors, on
 * hosts that are idle as long as there are such, and each sends to another host than the target, on
 * a path that has much in common with that of the contributor.
 */
void congest_hot_init(struct congest_hot *hot, const struct congest_net *net,
		      uint32_t n_contributors, uint32_t n_victims, uint64_t seed);

/*
 * Traffic without a hot spot: every host sends bursts to all others at random times, so that its
 * link is busy for this part of the time; or each host sends to one other, as much as it can. Array
 * of struct congest_flow, flow by flow of each host.
 */
GArray *congest_uniform(const struct congest_net *net, double load, uint32_t burst, uint64_t seed);
GArray *congest_permutation(const struct congest_net *net, uint64_t seed);
/* Appends hot spots with this number of contributors each; no host is part of two of them. */
void congest_add_spots(GArray *flows, const struct congest_net *net, uint32_t n_spots,
		       uint32_t contributors, uint64_t seed);

/* How well many flows fare together. */
struct congest_crowd {
	double rate; /* packets per host and tick that are delivered */
	double wait; /* mean ticks from when a packet of a burst is ready until it is delivered */
	double jain; /* of the flows */
};

/* Runs all flows for warm ticks, and then counts those from first to before end. */
void congest_crowd_run(const GArray *flows, uint32_t first, uint32_t end,
		       const struct congest_load *load, uint64_t warm, uint64_t counted,
		       struct congest_crowd *result);

/* How well a hot spot and its victims fare. */
struct congest_result {
	double hot;	   /* packets per tick that the target gets */
	double shares[8];  /* packets per tick of the first contributors */
	double victims;	   /* mean over the victims, of their fair shares */
	double worst;	   /* the least of these */
	double jain;	   /* of the contributors */
	double marked;	   /* part of the packets of contributors with FECN */
	unsigned int ccti; /* mean of the contributors, at the end */
};

/* A load without flows: EDR, packets of 2 KB, 32 of them in a buffer, and BECN after 3 us. */
struct congest_load congest_load_of(const struct congest_net *net,
				    const struct congest_settings *settings);

/* Runs for warm ticks, and then counts. */
void congest_hot_run(const struct congest_hot *hot, const struct congest_load *load, uint64_t warm,
		     uint64_t counted, struct congest_result *result);

/* Ticks until something is well again; CONGEST_FOREVER: it was not, while it was watched. */
struct congest_times {
	uint64_t onset;	   /* from the start until victims have 80 % of their fair shares */
	uint64_t recovery; /* from the end of the hot spot until they have 90 % of the new ones */
	uint64_t idle;	   /* from the end until the one contributor that goes on has 90 % */
};

/* All contributors except the first stop then; the rest is watched for the same number of ticks. */
void congest_hot_times(const struct congest_hot *hot, const struct congest_load *load,
		       uint64_t ticks, struct congest_times *times);

/* Jain's index of fairness: 1 if all are equal, 1/n if one has everything. */
double congest_jain(const double *shares, uint32_t n);

#endif
