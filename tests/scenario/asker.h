// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A client of the SA with several requests outstanding at a time. It keeps account of each: whether
 * it was answered, and what the answers promised. Unlike client.h it never waits.
 */
#ifndef TESTS_SCENARIO_ASKER_H
#define TESTS_SCENARIO_ASKER_H

#include "scenario.h"

#define ASKER_SLOTS 6
#define ASKER_THINGS 6

/* What it registers with the SA. */
enum thing_kind {
	THING_MEMBER,
	THING_SERVICE,
	THING_SUBSCRIPTION,
};

/* As of the last answer; unknown while a request about it is on its way. */
enum thing_state {
	THING_UNKNOWN,
	THING_THERE,
	THING_GONE,
};

struct thing {
	enum thing_kind kind;
	unsigned int number;
	enum thing_state state;
	bool busy; /* a request is outstanding */
};

struct asker_request {
	bool out;
	uint8_t wire[IBA_MAD_BYTES];
	uint32_t tid;
	uint64_t first_ns;   /* when it was sent first */
	struct thing *thing; /* NULL: a query */
	bool adds;
};

struct asker {
	struct scenario *s;
	unsigned int node, number;
	bool subscribes; /* receives Reports; sends no queries for tables */
	struct actor *actor;
	struct vendor *vendor; /* NULL: it is dead */
	uint64_t back_ns;      /* until this time */
	uint32_t tid;
	struct asker_request requests[ASKER_SLOTS];
	struct thing things[ASKER_THINGS];
	/* Requests that ended: with status 0, with another status, without an answer. */
	unsigned int good, refused, silent;
	char *broken; /* the promise that was broken, or NULL */
};

struct asker *asker_new(struct scenario *s, unsigned int node, unsigned int number,
			bool subscribes);
void asker_free(struct asker *asker);
/* Dies silently, with everything on its way to it; some time later it goes on. */
void asker_die(struct asker *asker);
/* Uses the free slots, some to register; with settle only for things of unknown state. */
void asker_go_on(struct asker *asker, bool settle);
bool asker_is_idle(const struct asker *asker);
/* Whether it knows the state of everything that it registers. */
bool asker_knows_all(const struct asker *asker);

struct iba_gid asker_gid(const struct asker *asker);
struct iba_gid asker_mgid(const struct thing *thing);
uint64_t asker_service_id(const struct asker *asker, const struct thing *thing);
uint16_t asker_trap(const struct thing *thing);

#endif
