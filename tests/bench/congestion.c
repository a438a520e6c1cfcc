// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What settings of congestion control do, in the simulator of packets (tests/unit/congest.h):
 *
 *	congestion [PART...]
 *
 * Without arguments all parts. Rates are in packets per tick (1 is the rate of a link), those of
 * victims in parts of their fair shares; times in ticks, 0.164 us at EDR.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/congest_runs.h"

#define PUBLISHED 3 /* sets */
#define PROFILES 3  /* from CC_GENTLE on */
#define SETS (1 + PUBLISHED + PROFILES)

/* Those with which results were published differ in their tables; 0: nothing is marked. */
static void put_set(struct congest_set *set, unsigned int i, uint32_t hosts, unsigned int gbps)
{
	static const char *const names[] = {"none", "7i^2/95", "7i^2/106 >> 3", "linear"};

	if (i > PUBLISHED) {
		congest_set_init(set, CC_GENTLE + i - PUBLISHED - 1, hosts, gbps);
		return;
	}
	*set = (struct congest_set){
		.name = names[i],
		.threshold = i ? 15 : 0,
		.packet_size = 8,
		.increase = 1,
		.timer = 150,
	};
	if (i == 1)
		congest_put_square(set, 0, 95);
	else if (i == 2)
		congest_put_square(set, 3, 106);
	else
		for (unsigned int entry = 0; entry < 2 * CONGEST_BLOCK; entry++)
			congest_put_delay(set, entry, entry);
}

static void show_time(uint64_t ticks)
{
	if (ticks == CONGEST_FOREVER)
		printf(" %8s", "-");
	else
		printf(" %8" PRIu64, ticks);
}

/* A line for one hot spot with these contributors, and eight victims. */
static void show_hot(const struct congest_net *net, const struct congest_set *set,
		     struct congest_load *load, uint32_t contributors, uint64_t warm, bool times)
{
	struct congest_settings settings;
	struct congest_times when;
	struct congest_result result;
	struct congest_hot hot;

	congest_settings_init(&settings, net, set);
	load->switches = settings.switches;
	load->cas = settings.cas;
	congest_hot_init(&hot, net, contributors, 8, 3);
	congest_hot_run(&hot, load, warm, 50000, &result);
	printf("%-14s %4u  %5.3f  %5.3f %5.3f  %5.3f  %5.3f %4u ", set->name, hot.n_contributors,
	       result.hot, result.victims, result.worst, result.jain, result.marked, result.ccti);
	if (times) {
		congest_hot_times(&hot, load, warm + 50000, &when);
		show_time(when.onset);
		show_time(when.recovery);
		show_time(when.idle);
	}
	printf("\n");
	fflush(stdout);
	g_free(hot.flows);
	congest_settings_clear(&settings);
}

static void show_head(const char *title)
{
	printf("\n%s\n%-14s %4s  %5s  %5s %5s  %5s  %5s %4s  %8s %8s %8s\n", title, "set", "from",
	       "hot", "mean", "worst", "jain", "FECN", "CCTI", "onset", "recovery", "idle");
}

/* ---- parts ---- */

static void show_incast(void)
{
	static const struct {
		const char *title;
		unsigned int gbps, becn_ticks, credits;
	} links[] = {
		{"fattree:8, QDR", 32, 6, 32},
		{"fattree:8, EDR", 100, 18, 32},
		{"fattree:8, HDR", 200, 36, 32},
		{"fattree:8, NDR, 64 packets a buffer", 400, 60, 64},
	};
	static const uint32_t degrees[] = {2, 8, 32, 127};
	struct congest_net net;

	congest_net_init(&net, "fattree:8", "ftree");
	for (size_t l = 0; l < G_N_ELEMENTS(links); l++) {
		show_head(links[l].title);
		for (unsigned int i = 0; i < SETS; i++)
			for (size_t d = 0; d < G_N_ELEMENTS(degrees); d++) {
				struct congest_load load = congest_load_of(&net, NULL);
				struct congest_set set;

				load.gbps = links[l].gbps;
				load.becn_ticks = links[l].becn_ticks;
				load.credits = links[l].credits;
				put_set(&set, i, net.n_hosts, load.gbps);
				show_hot(&net, &set, &load, degrees[d], 150000, true);
			}
	}
	congest_net_clear(&net);
}

/* The number of hosts for which a table is made is that of the net. */
static void show_nets(void)
{
	static const struct {
		const char *spec, *engine;
		uint64_t warm;
	} nets[] = {
		{"fattree:16", "ftree", 400000},
		{"dragonfly:4:2:2", "dfsssp", 150000},
		{"torus:4x4x4:2", "dfsssp", 150000},
	};
	static const uint32_t degrees[] = {2, 8, 32, 71, 127};

	for (size_t n = 0; n < G_N_ELEMENTS(nets); n++) {
		struct congest_net net;

		congest_net_init(&net, nets[n].spec, nets[n].engine);
		show_head(nets[n].spec);
		for (unsigned int i = 0; i < SETS; i++)
			for (size_t d = 0; d < G_N_ELEMENTS(degrees); d++) {
				struct congest_load load = congest_load_of(&net, NULL);
				struct congest_set set;

				if (degrees[d] >= net.n_hosts || (i && i <= PUBLISHED))
					continue;
				put_set(&set, i, net.n_hosts, load.gbps);
				show_hot(&net, &set, &load, degrees[d], nets[n].warm, false);
			}
		congest_net_clear(&net);
	}
}

static void show_thresholds(void)
{
	static const unsigned int credits[] = {16, 32, 64};
	static const uint8_t thresholds[] = {15, 14, 12, 8, 4, 1};
	struct congest_net net;

	congest_net_init(&net, "fattree:8", "ftree");
	for (size_t c = 0; c < G_N_ELEMENTS(credits); c++)
		for (size_t t = 0; t < G_N_ELEMENTS(thresholds); t++) {
			struct congest_load load = congest_load_of(&net, NULL);
			g_autofree char *title =
				g_strdup_printf("fattree:8, EDR, %u packets a buffer, Threshold %u",
						credits[c], thresholds[t]);
			struct congest_set set;

			load.credits = credits[c];
			congest_set_init(&set, CC_STANDARD, net.n_hosts, load.gbps);
			set.threshold = thresholds[t];
			show_head(title);
			show_hot(&net, &set, &load, 8, 150000, false);
			show_hot(&net, &set, &load, 127, 150000, false);
		}
	congest_net_clear(&net);
}

/* A line of switches with a host each, which all send to the host at its end. */
static void show_parking_lot(void)
{
	struct congest_net net;

	congest_net_init(&net, "mesh:8:1", "minhop");
	printf("\nparking lot: a line of 8 switches, 7 hosts to the one at the end, nearest "
	       "first\n");
	for (unsigned int i = 0; i < SETS; i++) {
		struct congest_settings settings;
		struct congest_hot hot = {.n_contributors = 7, .n_flows = 7};
		struct congest_flow flows[7];
		struct congest_result result;
		struct congest_load load;
		struct congest_set set;

		for (uint32_t f = 0; f < 7; f++)
			flows[f] = (struct congest_flow){
				.from = net.hosts[f + 1],
				.lid = net.fabric->ports[net.hosts[0]].lid,
				.stop = CONGEST_FOREVER,
			};
		hot.flows = flows;
		put_set(&set, i, net.n_hosts, 100);
		congest_settings_init(&settings, &net, &set);
		load = congest_load_of(&net, &settings);
		congest_hot_run(&hot, &load, 150000, 50000, &result);
		printf("%-14s hot %.3f jain %.3f:", set.name, result.hot, result.jain);
		for (uint32_t f = 0; f < 7; f++)
			printf(" %.3f", result.shares[f]);
		printf("\n");
		congest_settings_clear(&settings);
	}
	congest_net_clear(&net);
}

static void show_crowd(const struct congest_net *net, const struct congest_set *set,
		       const GArray *flows, uint32_t background)
{
	struct congest_settings settings;
	struct congest_crowd crowd;
	struct congest_load load;

	congest_settings_init(&settings, net, set);
	load = congest_load_of(net, &settings);
	congest_crowd_run(flows, 0, background, &load, 15000, 15000, &crowd);
	printf("  %5.3f %6.0f", crowd.rate, crowd.wait);
	fflush(stdout);
	congest_settings_clear(&settings);
}

/* Rate of each host, and mean ticks until a packet of a burst is there. */
static void show_harm(void)
{
	static const struct {
		double load;
		uint32_t burst;
	} kinds[] = {{0.5, 1}, {0.8, 1}, {1.2, 1}, {0.5, 16}, {0.5, 64}, {0.5, 256}};
	struct congest_net net;
	GArray *flows[G_N_ELEMENTS(kinds) + 1];

	congest_net_init(&net, "fattree:8", "ftree");
	printf("\nno hot spot, fattree:8: each host to all, at load * burst; permutation\n%-19s",
	       "set");
	for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
		flows[k] = congest_uniform(&net, kinds[k].load, kinds[k].burst, 1);
		printf("  %8.1f * %-3u", kinds[k].load, kinds[k].burst);
	}
	printf("   permutation\n");
	flows[G_N_ELEMENTS(kinds)] = congest_permutation(&net, 5);
	for (unsigned int i = 0; i < SETS + PROFILES; i++) {
		struct congest_set set;

		put_set(&set, i < SETS ? i : i - PROFILES, net.n_hosts, 100);
		set.per_sl = i >= SETS;
		printf("%-14s %-4s", set.name, set.per_sl ? "SL" : "QP");
		for (size_t k = 0; k < G_N_ELEMENTS(flows); k++)
			show_crowd(&net, &set, flows[k], flows[k]->len);
		printf("\n");
	}
	for (size_t k = 0; k < G_N_ELEMENTS(flows); k++)
		g_array_unref(flows[k]);
	congest_net_clear(&net);
}

/* Uniform traffic, and beside it 0 to 8 hot spots of 15 contributors each. */
static void show_collapse(void)
{
	struct congest_net net;

	congest_net_init(&net, "fattree:8", "ftree");
	printf("\nuniform traffic at 0.5 beside 0, 1, 2, 4, 8 hot spots of 15 to 1: its rate per "
	       "host, and ticks that a packet waits\n");
	for (unsigned int i = 0; i < SETS; i++) {
		struct congest_set set;

		put_set(&set, i, net.n_hosts, 100);
		printf("%-14s", set.name);
		for (uint32_t spots = 0; spots <= 8; spots += spots ? spots : 1) {
			GArray *flows = congest_uniform(&net, 0.5, 1, 1);
			uint32_t background = flows->len;

			congest_add_spots(flows, &net, spots, 15, 7);
			show_crowd(&net, &set, flows, background);
			g_array_unref(flows);
		}
		printf("\n");
	}
	congest_net_clear(&net);
}

/* The target takes packets at part of the rate of its link: the port to it lacks credits. */
static void show_masks(void)
{
	static const char *const names[] = {"ports to hosts", "none", "all"};
	static const unsigned int speeds[] = {8, 10, 16}; /* parts of a tick */
	struct congest_net net;

	congest_net_init(&net, "fattree:8", "ftree");
	for (size_t s = 0; s < G_N_ELEMENTS(speeds); s++)
		for (unsigned int mask = 0; mask < G_N_ELEMENTS(names); mask++) {
			g_autofree char *title =
				g_strdup_printf("the target takes %.2f of a link, Victim_Mask: %s",
						(double)CONGEST_PARTS / speeds[s], names[mask]);
			g_autofree uint8_t *parts = g_malloc0(net.fabric->n_ports);
			struct congest_load load = congest_load_of(&net, NULL);
			struct congest_set set;
			struct congest_hot hot;

			congest_hot_init(&hot, &net, 8, 8, 3); /* always the same target */
			parts[hot.target] = speeds[s];
			g_free(hot.flows);
			load.parts = parts;
			congest_set_init(&set, CC_STANDARD, net.n_hosts, load.gbps);
			set.mask = mask;
			show_head(title);
			show_hot(&net, &set, &load, 8, 150000, true);
			show_hot(&net, &set, &load, 32, 150000, true);
		}
	congest_net_clear(&net);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*show)(void);
	} parts[] = {
		{"incast", show_incast},	 {"nets", show_nets}, {"parking", show_parking_lot},
		{"collapse", show_collapse},	 {"harm", show_harm}, {"masks", show_masks},
		{"thresholds", show_thresholds},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		bool wanted = argc == 1;

		for (int arg = 1; arg < argc; arg++)
			wanted |= !strcmp(argv[arg], parts[i].name);
		if (wanted)
			parts[i].show();
	}
	return 0;
}
