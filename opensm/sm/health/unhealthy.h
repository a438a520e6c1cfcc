// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which ports misbehave: input are events with their time, output are verdicts. No SMPs, no clock,
 * no policy: each event comes with its rule.
 *
 *	         count events within the window             no event for release seconds, or
 *	  counted -----------------------------> unhealthy --------------------------------> counted
 *	                                           ^    |           the operator releases it
 *	                                           +----+
 *	                    any event counted: its time begins again
 *
 * A port that is unhealthy again soon after its release stays so twice as long, up to 16 times. A
 * port that was disabled must be enabled before it is dropped: unhealthy_drop().
 *
 * A port is identified by the switch before the blamed device, and the switch's port that leads to
 * it; port 0 stands for the switch itself. The number of counted ports is always bounded.
 */
#ifndef SM_HEALTH_UNHEALTHY_H
#define SM_HEALTH_UNHEALTHY_H

#include "complib/log.h"
#include "fabric/node_names.h"
#include "policy/files/ports_policy.h"

#define UNHEALTHY_PORTS_MAX 4096 /* that are counted, including unhealthy ones */

/* An unhealthy port. */
struct unhealthy_port {
	uint64_t guid;	   /* of the switch */
	uint8_t num;	   /* of its port; 0: the switch */
	uint8_t type;	   /* of the blamed node: IBA_NODE_CA .. */
	uint8_t condition; /* enum port_condition */
	uint8_t action;	   /* enum port_action; PORT_IGNORE: it is healthy */
	bool cut_off;	   /* as in the rule */
	uint8_t again;	   /* how often its time has been doubled */
	uint32_t release;  /* as in the rule */
	uint64_t blamed;   /* GUID of the blamed node; 0: unknown */
	char name[NODE_NAME_MAX + 1]; /* what it was called when it became so; "": unknown */
	uint32_t id;	   /* from 1, unique since the start */
	uint64_t until_ns; /* UINT64_MAX: until the operator releases it */
};

struct unhealthy;

struct unhealthy *unhealthy_new(void);
void unhealthy_free(struct unhealthy *unhealthy);

/* A snapshot for readers: immutable and reference-counted. */
struct unhealthy_ports {
	struct ref ref;
	unsigned int n;
	struct unhealthy_port ports[];
};

/*
 * An event at a port, which guid, num, type and blamed of `who` identify; if blamed is 0, type and
 * blamed stay as they were. Returns the port if this made it unhealthy, or increased its action;
 * else NULL. The caller may reduce its action.
 */
struct unhealthy_port *unhealthy_event(struct unhealthy *unhealthy,
				       const struct unhealthy_port *who, unsigned int condition,
				       const struct port_rule *rule, uint64_t now_ns);
/* The type of the node last blamed there; that of a CA if none was. */
uint8_t unhealthy_last_type(const struct unhealthy *unhealthy, uint64_t guid, uint8_t num);
/* The unhealthy port with that guid and num, or NULL. */
struct unhealthy_port *unhealthy_find(const struct unhealthy *unhealthy, uint64_t guid,
				      uint8_t num);
/*
 * Applies the same action to another port too, one that leads to the switch `from`, until that is
 * released; NULL if there is no room or it already has an action as strong.
 */
struct unhealthy_port *unhealthy_copy(struct unhealthy *unhealthy,
				      const struct unhealthy_port *from, uint64_t guid,
				      uint8_t num);
/* It was unhealthy before a restart; NULL as above. */
struct unhealthy_port *unhealthy_restore(struct unhealthy *unhealthy,
					 const struct unhealthy_port *port);
/*
 * Its time is over, or the operator releases it: its action becomes PORT_ENABLE if it was disabled,
 * and PORT_IGNORE otherwise. After the operator, it gets the usual time if it is unhealthy again.
 */
void unhealthy_release(struct unhealthy *unhealthy, struct unhealthy_port *port, bool by_operator,
		       uint64_t now_ns);
void unhealthy_drop(struct unhealthy *unhealthy, struct unhealthy_port *port);

/* The unhealthy ports, ordered by GUID and port; to be unreferenced. */
GPtrArray *unhealthy_list(const struct unhealthy *unhealthy);
unsigned int unhealthy_count(const struct unhealthy *unhealthy);
/* When the time of the first of them ends; UINT64_MAX: never. */
uint64_t unhealthy_next(const struct unhealthy *unhealthy);
unsigned int unhealthy_counted(const struct unhealthy *unhealthy); /* at most _PORTS_MAX */

struct unhealthy_ports *unhealthy_ports_new(const struct unhealthy *unhealthy);
struct unhealthy_ports *unhealthy_ports_ref(struct unhealthy_ports *ports);
void unhealthy_ports_unref(struct unhealthy_ports *ports); /* NULL is fine */

/*
 * ---- unhealthy_file.c: state kept over a restart, one line per port. It stores remaining seconds,
 * not times, so it does not depend on the clocks. ----
 */
char *unhealthy_format(const struct unhealthy *unhealthy, uint64_t now_ns);
/*
 * Reads such a text, called file in messages; an invalid line is logged and skipped. Returns the
 * number of these.
 */
unsigned int unhealthy_parse(struct unhealthy *unhealthy, const char *file, const char *text,
			     struct log *log, uint64_t now_ns);
/* unhealthy_parse() of a file, if it exists; it is set aside if some lines are invalid. */
void unhealthy_load(struct unhealthy *unhealthy, const char *file, struct log *log,
		    uint64_t now_ns);

#endif
