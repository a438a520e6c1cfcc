// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Several subnet managers on one simulated fabric, and a story of what they send each other:
 *
 *	[   0.012] sm1 is DISCOVERING
 *	[   2.110] sm2 > sm1 Set(SMInfo) HANDOVER: MASTER, priority 3
 *
 * Times are virtual seconds, and are not in its terse form. The story has only what concerns the
 * election: SMInfo, trap 144 with SMPriority, and states.
 */
#ifndef TESTS_MANAGERS_H
#define TESTS_MANAGERS_H

#include <limits.h>

#include "scenario.h"
#include "tale.h"

#define MANAGERS_MAX 4

struct manager {
	struct managers *all;
	char name[8];	 /* "sm1" */
	char *directory; /* its own cache */
	char *conf;
	uint64_t guid;	       /* of its port */
	unsigned int port;     /* number of the port: 0 in a switch */
	struct daemon *daemon; /* NULL while it does not run */
	bool retired;
	uint64_t sent;	  /* packets, answers included */
	uint64_t dies_at; /* dies after this many packets; 0: never */
};

struct managers {
	struct scenario *s; /* its daemon is the master's, or NULL */
	struct manager sm[MANAGERS_MAX];
	unsigned int n;
	struct tale *tale;
	GString *story; /* its full form */
	/* The nth packet (from 1) whose line in the story has this text is lost; NULL: none. */
	const char *lose;
	unsigned int lose_nth;
	bool lose_all; /* and all later ones */
	bool losing;
	struct iba_trap_local_change told; /* as reported by the last trap 144 with SMPriority */
	struct vendor *stranger; /* sends for managers_set and managers_ask */
	unsigned int asked;
	struct actor *stranger_actor;
	/* Sets that SMs sent, of all SMs together; the caller zeroes them before it counts. */
	struct {
		unsigned int all, port_info, sm_info;
		unsigned int reregister;    /* Sets of PortInfo with ClientReregister */
		uint64_t first_ns, last_ns; /* when these were sent */
		GHashTable *reregistered;   /* LIDs of their ports */
	} sets;
	bool mute;		 /* MADs of replication are lost */
	unsigned int replicated; /* MADs of replication sent */
};

struct managers *managers_new(const char *spec, uint64_t seed);
void managers_free(struct managers *m);
/*
 * Adds an SM on that host, or in that switch, with these lines of opensm.conf; it does not run yet.
 * Returns its index.
 */
unsigned int managers_add(struct managers *m, const char *host, const char *conf);
void managers_start(struct managers *m, unsigned int i);
/* sm1 on host-1 is master of a subnet that is up, sm2 on host-9 has just been started. */
void managers_up_with_standby(struct managers *m, const char *conf1, const char *conf2);
/* A line of opensm.conf: replicates with SMs that have the same key. To be freed with g_free. */
char *managers_replication(struct managers *m, const char *key);
#define MANAGERS_POLLS "sminfo_polling_timeout 1000\npolling_retry_number 2\n"
void managers_kill(struct managers *m, unsigned int i);	  /* it sends nothing more */
/* Runs until it has sent this many more packets, and kills it; false: not within these seconds. */
bool managers_kill_at(struct managers *m, unsigned int i, uint64_t packets, unsigned int seconds);
/* A program on that host, always the same, sends a Set of an attribute to the SM's port. */
void managers_set(struct managers *m, unsigned int i, const char *host, uint16_t attribute,
		  uint32_t modifier, const struct wire_type *type, const void *value);
void managers_ask(struct managers *m, unsigned int i, const char *host); /* Get(SMInfo) */
/* A program that says it is MASTER sends Set(SMInfo). */
void managers_control(struct managers *m, unsigned int i, const char *host, unsigned int control);
void managers_retire(struct managers *m, unsigned int i); /* as SIGTERM does; waits for its end */
/* As the console or SIGHUP does: other lines in its opensm.conf. */
void managers_configure(struct managers *m, unsigned int i, const char *conf);
unsigned int managers_state(const struct managers *m, unsigned int i); /* IBA_SM_.. */
/*
 * Runs until this SM is the only MASTER and the fabric is as it should be for a second, at most the
 * given number of seconds. Returns the milliseconds until it was so.
 */
uint64_t managers_settle(struct managers *m, unsigned int master, unsigned int seconds);
#define MANAGERS_ANY UINT_MAX /* any SM, as long as it is the only MASTER */
unsigned int managers_running(const struct managers *m);
/* Number of SMs that run and are MASTER. */
unsigned int managers_masters(const struct managers *m);

#endif
