// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stands in for osmsim: speaks its protocol from a thread of the test, and handles MADs as their
 * LID asks, including ways that a server must never act.
 */
#ifndef TESTS_UNIT_OSMSIM_DOUBLE_H
#define TESTS_UNIT_OSMSIM_DOUBLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DOUBLE_PORTS 2	    /* of the CA: the first is ACTIVE, the second LinkUp and INIT */
#define DOUBLE_LONG 100000  /* octets of the answer of DOUBLE_LONG_LID */
#define DOUBLE_BURST 100    /* answers of DOUBLE_BURST_LID */
#define DOUBLE_REFUSED 0x7f /* a class that no agent gets */
#define DOUBLE_GUID UINT64_C(0x0002c90300001234)

enum double_lid {
	DOUBLE_ECHO_LID = 1, /* answers at once */
	DOUBLE_SILENT_LID,   /* the request comes back when its time is up */
	DOUBLE_LONG_LID,     /* answers with DOUBLE_LONG octets */
	DOUBLE_TRICKLE_LID,  /* answers octet by octet */
	DOUBLE_BURST_LID,    /* answers many times */
	DOUBLE_NONSENSE_LID, /* answers with a malformed frame */
	DOUBLE_HALF_LID,     /* closes the connection in the middle of the answer */
	DOUBLE_DEAF_LID,     /* reads nothing for a second */
};

struct osmsim_double {
	char dir[64], path[96];
	_Atomic int listener;
	_Atomic uint32_t handles;
	_Atomic uint32_t agents[256]; /* by handle: bit n, agent n is registered */
	_Atomic int connections;
	_Atomic int fds[256];
	/* Values of the last registration. */
	_Atomic uint32_t qpn, oui, rmpp_version;
	_Atomic uint64_t method_mask[2];
};

/* Listens, and makes the environment of this process point to it. */
void osmsim_double_start(struct osmsim_double *server);

/* Closes all connections, and stops listening. */
void osmsim_double_die(struct osmsim_double *server);

/* Listens again, as a server that was restarted. */
void osmsim_double_restart(struct osmsim_double *server);

#endif
