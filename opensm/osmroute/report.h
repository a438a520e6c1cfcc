// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Judgements as a table for people, and as JSON. */
#ifndef OSMROUTE_REPORT_H
#define OSMROUTE_REPORT_H

#include "osmroute/judge.h"
#include "osmroute/measured.h"

/* What was judged. */
struct report_subject {
	const char *topology; /* as given */
	const struct fabric *fabric;
	uint32_t n_cables;    /* between switches */
	uint32_t n_left_out;  /* nodes without cables to the rest */
	uint8_t lmc;
	unsigned int threads;
	uint64_t seed;
	const GPtrArray *reports; /* struct judge_report */
	const struct measured *measured; /* NULL: no load was given, or no engine made a table */
};

/* Both return texts to be freed with g_free(). */
char *report_table(const struct report_subject *subject);
char *report_json(const struct report_subject *subject);

#endif
