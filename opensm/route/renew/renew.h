// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is kept of an old routing. Most changes of a subnet are small: a computation from scratch
 * would rewrite entries everywhere, and give hosts other SLs than those they use.
 */
#ifndef ROUTE_RENEW_RENEW_H
#define ROUTE_RENEW_RENEW_H

#include "route/engine.h"

/* thresholds.def: RENEW_name is n, or one part in n. */
enum renew_threshold {
#define PART(name, n, limits, reason) RENEW_##name = (n),
#define NUMBER(name, n, limits, reason) RENEW_##name = (n),
#include "route/renew/thresholds.def"
};

/* Whether a load exceeds another one by over one part in `part`. */
static inline bool renew_is_busier(uint64_t load, uint64_t other, enum renew_threshold part)
{
	return load > other + other / part;
}

/* How a routing was derived from an old one, from the least work to the most. */
enum route_way {
	ROUTE_SAME,
	ROUTE_REPAIRED,
	ROUTE_STICKY, /* newly computed, but with all entries of the old one that were still good */
	ROUTE_ANEW,
};

/*
 * Follows an old routing of the same engine in the cheapest way that gives good tables: by a
 * repair, or else by a full computation with or without routing_stick_to(); also by a full
 * computation if a repair in a small network, or in one other than a tree, loads a cable more than
 * RENEW_BUSIER allows. Returns a reference to old itself if this function made it, and fabric and
 * input have not changed in anything that matters to routing: *way is ROUTE_SAME. There is no
 * repair if the input is known to have changed. old may be NULL, or of another engine.
 *
 * From routing_new_held() it keeps what routing_stick_to() would, if enough of the entries are
 * as the engine computes them (RENEW_SAME): then they are tables of that engine, which were
 * repaired. Other tables were made by other rules, and are replaced.
 *
 * The result has no entries for LIDs that a switch cannot hold because of its LinearFDBCap; paths
 * to these go around the switch as far as cables allow.
 */
struct routing *routing_renew(const struct route_engine *engine, const struct fabric *fabric,
			      const struct route_input *input, const struct routing *old,
			      enum route_way *way, GError **error);

/* routing_renew() as if every switch could hold all LIDs. */
struct routing *routing_renew_unlimited(const struct route_engine *engine,
					const struct fabric *fabric,
					const struct route_input *input, const struct routing *old,
					enum route_way *way, GError **error);

/* ---- the ways, one by one ---- */

/*
 * The routing of a fabric in which cables, switches or hosts were lost or came back since old was
 * made. An entry changes if it no longer begins a best path, or if the entry that it replaced does
 * so again; parts that come back unchanged get their former entries. Entries of LIDs that are gone
 * stay. In networks other than trees a few more entries are moved to keep the load balanced.
 *
 * NULL if the fabric has a switch, a cable between switches or more LIDs than RENEW_NEW_LIDS
 * allows that were absent, or elsewhere, at the last full computation; if hosts or switches can no
 * longer reach each other by the rules of the engine; if the cables of too many switches have
 * changed (RENEW_CHANGED_SWITCHES); if the engine cannot repair; or if the order of switches is not
 * the given one (NULL: any will do). Then compute the tables from scratch.
 */
struct routing *routing_repair(const struct fabric *fabric, const struct route_input *input,
			       const struct routing *old, const uint32_t *order);

/*
 * Puts entries of an old routing of the same engine back into a newly computed one to which no
 * other reference exists yet, if they still begin a best path to the same endport; returns their
 * number. An entry stays new if its path was not there before, such as by a new cable. Nothing is
 * put back, and 0 returned, if the busiest cable would carry more than RENEW_BUSIER allows; if in a
 * large network as many cables are lost as make this likely (RENEW_LOST_CABLES); or if the
 * engine cannot repair.
 */
uint64_t routing_stick_to(const struct route_input *input, struct routing *routing,
			  const struct routing *old);

/*
 * Moves entries of a repaired routing, to which no other reference exists yet, from cables that
 * carry more than limit to others that begin a best path too. limit 0: what a cable may carry,
 * compared with the loads of the base tables, if these were made by load (balance.c). Sets moved
 * and uneven of its repair state; accepted_peak is kept from before.
 */
void route_rebalance(struct routing *routing, uint64_t limit);

/*
 * The routing of a layered engine that keeps good parts of an old one of the same input: each LID
 * that still leads nearer, and the SL of each pair of switches. Otherwise one lost cable would
 * change all paths, and SLs that hosts have used since they asked for a path; and more lanes might
 * be needed than there are. The result is used unless its busiest channel carries more than
 * RENEW_LAYERS_BUSIER allows over newly computed tables; these are made only if it does so compared
 * with the kept tables, or if there are new cables. If the fabric returns to an earlier state, so
 * do the tables. If the engine finds tables by an order of switches, these are newly computed. NULL
 * and error if it fails.
 */
struct routing *routing_keep_layers(const struct route_engine *engine, const struct fabric *fabric,
				    const struct route_input *input, const struct routing *old,
				    GError **error);

/*
 * A repair of a layered routing in which every two switches keep their SL, and every turn that old
 * paths take keeps its lane, and old and new paths together close no loop on any lane; paths may be
 * longer for that. So do paths on all SLs that hosts were told before (value/told.h), if there are
 * such tables. NULL if it cannot be had.
 */
struct routing *routing_keep_sls(const struct route_engine *engine, const struct fabric *fabric,
				 const struct route_input *input, const struct routing *old);

#endif
