// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which ports misbehave: events with their time go in, verdicts come out. No SMPs, no clock, no
 * policy: each event comes with the rule for it.
 *
 *	         count events within the window             no event for release seconds, or
 *	  counted -----------------------------> unhealthy --------------------------------> counted
 *	                                           ^    |           the operator releases it
 *	                                           +----+
 *	                    any event counted: it stays so from then on
 *
 * One that is unhealthy again soon after it was released stays so twice as long, up to 16 times.
 * One that was disabled is to be enabled before it is forgotten: unhealthy_drop().
 *
 * A port is named by the switch before the device that is blamed, and the switch's port that leads
 * to it; port 0 stands for the switch itself. What is counted is bounded, whatever happens.
 */
#ifndef SM_HEALTH_UNHEALTHY_H
#define SM_HEALTH_UNHEALTHY_H

#include "complib/log.h"
#include "policy/files/ports_policy.h"

#define UNHEALTHY_PORTS_MAX 4096 /* that are counted, the unhealthy ones included */

/* An unhealthy port. */
struct unhealthy_port {
	uint64_t guid;	   /* of the switch */
	uint8_t num;	   /* of its port; 0: the switch */
	uint8_t type;	   /* of the node that is blamed: IBA_NODE_CA .. */
	uint8_t condition; /* enum port_condition */
	uint8_t action;	   /* enum port_action; PORT_IGNORE: it is not unhealthy */
	bool cut_off;	   /* as in the rule */
	uint8_t again;	   /* how often its time was doubled */
	uint32_t release;  /* as in the rule */
	uint64_t blamed;   /* GUID of the node that is blamed; 0: not known */
	char name[65];	   /* NodeDescription of that, when it became unhealthy; "": not known */
	uint32_t id;	   /* from 1, of no other since the start */
	uint64_t until_ns; /* UINT64_MAX: until the operator releases it */
};

struct unhealthy;

struct unhealthy *unhealthy_new(void);
void unhealthy_free(struct unhealthy *unhealthy);

/* Those of a moment, for others to read: immutable and counted. */
struct unhealthy_ports {
	struct ref ref;
	unsigned int n;
	struct unhealthy_port ports[];
};

/*
 * Something happened to that port: guid, num, type and blamed of `who` tell to which; where blamed
 * is 0, type and blamed stay as they were. Returns it if it has become unhealthy by this, or
 * unhealthy in a graver way; else NULL. It is the caller's to make the action of it milder.
 */
struct unhealthy_port *unhealthy_event(struct unhealthy *unhealthy,
				       const struct unhealthy_port *who, unsigned int condition,
				       const struct port_rule *rule, uint64_t now_ns);
/* The type of the node that was blamed there last; that of a CA if none was. */
uint8_t unhealthy_last_type(const struct unhealthy *unhealthy, uint64_t guid, uint8_t num);
/* The unhealthy port of that name, or NULL. */
struct unhealthy_port *unhealthy_find(const struct unhealthy *unhealthy, uint64_t guid,
				      uint8_t num);
/*
 * The same is done about another port too, which leads to the switch `from`, until that is
 * released; NULL if there is no room or as much is done about it already.
 */
struct unhealthy_port *unhealthy_copy(struct unhealthy *unhealthy,
				      const struct unhealthy_port *from, uint64_t guid,
				      uint8_t num);
/* It was unhealthy in another life; NULL as above. */
struct unhealthy_port *unhealthy_restore(struct unhealthy *unhealthy,
					 const struct unhealthy_port *port);
/*
 * Its time is over, or the operator says so: its action becomes PORT_ENABLE if it was disabled, and
 * PORT_IGNORE else. By the operator, it gets the usual time if it is unhealthy again.
 */
void unhealthy_release(struct unhealthy *unhealthy, struct unhealthy_port *port, bool by_operator,
		       uint64_t now_ns);
void unhealthy_drop(struct unhealthy *unhealthy, struct unhealthy_port *port);

/* Those that are unhealthy, by GUID and port; to be unreferenced. */
GPtrArray *unhealthy_list(const struct unhealthy *unhealthy);
unsigned int unhealthy_count(const struct unhealthy *unhealthy);
/* When the time of the first of them is over; UINT64_MAX: never. */
uint64_t unhealthy_next(const struct unhealthy *unhealthy);
unsigned int unhealthy_counted(const struct unhealthy *unhealthy); /* at most _PORTS_MAX */

struct unhealthy_ports *unhealthy_ports_new(const struct unhealthy *unhealthy);
struct unhealthy_ports *unhealthy_ports_ref(struct unhealthy_ports *ports);
void unhealthy_ports_unref(struct unhealthy_ports *ports); /* NULL is fine */

/*
 * ---- unhealthy_file.c: what is kept over a restart, a port a line. Seconds that are left are
 * kept, not times: what the clocks did meanwhile is no matter. ----
 */
char *unhealthy_format(const struct unhealthy *unhealthy, uint64_t now_ns);
/*
 * Takes in such a text, called file in messages; a line that makes no sense is logged and left out.
 * Returns how many were.
 */
unsigned int unhealthy_parse(struct unhealthy *unhealthy, const char *file, const char *text,
			     struct log *log, uint64_t now_ns);
/* The same of a file, if there is one; it is set aside if not all of it makes sense. */
void unhealthy_load(struct unhealthy *unhealthy, const char *file, struct log *log,
		    uint64_t now_ns);

#endif
