// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The link between the daemon and the host of a plug-in (plugin/host), which runs on threads of the
 * daemon or in a process of its own: a socket that keeps messages apart (SOCK_SEQPACKET). Both ends
 * are one program, so structs are sent as they are; but a plug-in can write over anything in
 * its process, so the daemon trusts nothing that it receives.
 *
 *	daemon				host
 *	  HELLO ---------------------------> loads the plug-in, calls create()
 *	  <--------------------- LOADED or FAILED
 *	  ENGINE, a number, a file --------> the thread of that routing engine begins
 *	  READY ---------------------------> requests are served from now on
 *	  EVENTS, at most LINK_EVENTS_AHEAD -> on_event()
 *	  <------------------------- TAKEN, how many events were taken
 *	  <----------- REQUEST, id, kind; at most LINK_REQUESTS at once
 *	  ANSWER, id -----------------------> to the thread that waits
 *	  <----------------------------- LOG
 *	  <--------------------------- LEAVE
 *	  STOP ----------------------------> what still runs comes to its end
 *	  <----------------------- ENDING, then destroy() is called
 *	  <-------------------------- STOPPED, then the host closes its end
 */
#ifndef PLUGIN_BASE_LINK_H
#define PLUGIN_BASE_LINK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define LINK_MESSAGE_MAX 60000u	 /* octets after the head */
#define LINK_EVENTS_AHEAD 256u	 /* events that were sent and not taken */
#define LINK_REQUESTS 16u	 /* of a plug-in, that are not answered */
#define LINK_MADS 64u		 /* in one request */
#define LINK_FILES 2u		 /* that a message may carry */

enum link_type {
	LINK_HELLO,  /* text: name, options, own options, version, each with its NUL */
	LINK_LOADED, /* struct link_loaded */
	LINK_FAILED, /* text: why */
	LINK_ENGINE, /* value: which one of struct link_loaded; its end of a socket of its own */
	LINK_READY,
	LINK_EVENTS,  /* struct event_record (base/event_record.h), one after the other */
	LINK_TAKEN,   /* value: number of events */
	LINK_REQUEST, /* value: enum link_request */
	LINK_ANSWER,  /* value: enum osm_result */
	LINK_LOG,     /* value: enum osm_log_level; text */
	LINK_LEAVE,
	LINK_STOP,
	LINK_ENDING,
	LINK_STOPPED, /* value: 1 if a thread of the plug-in still runs, so that it stays loaded */
};

enum link_request {
	LINK_SNAPSHOT, /* uint32_t parts; the answer has the file of a block */
	LINK_COMMAND,  /* text; the answer: text, or a file if that is longer than a message */
	LINK_OPTION,   /* text; the answer: text */
	LINK_SWEEP,    /* uint32_t kind */
	LINK_MAD,      /* at most LINK_MADS struct osm_mad; the answer: as many */
};

struct link_head {
	uint32_t type; /* enum link_type */
	uint32_t value;
	uint64_t id;	 /* of a request and its answer; else 0 */
	uint32_t length; /* octets that follow */
	uint32_t n_files;
};

struct link_loaded {
	uint64_t events; /* bits: which ids are wanted */
	char name[64], version[64]; /* as the plug-in says */
	uint32_t n_engines;
	struct link_engine {
		char name[32];
		char summary[160];
	} engines[16];
};

/* The texts of HELLO; they may be more than a message can carry. */
GByteArray *link_hello(const char *name, const char *options, const char *own_options,
		       const char *version);

/* A socket pair; both ends are closed by exec() and do not block. False and error. */
bool link_pair(int ends[2], GError **error);

enum link_outcome {
	LINK_DONE,
	LINK_AGAIN, /* the socket is full, or empty */
	LINK_ENDED, /* the other end is closed, or what came is not a message */
};

/* Sends a message; head->length octets, head->n_files files, which remain the caller's. */
enum link_outcome link_send(int end, const struct link_head *head, const void *octets,
			    const int *files);
/*
 * Receives a message into LINK_MESSAGE_MAX octets. Files belong to the caller; the others of
 * files[] are -1. They all are, whatever head->n_files, if this process had no descriptor left.
 */
enum link_outcome link_receive(int end, struct link_head *head, void *octets,
			       int files[LINK_FILES]);
/* Waits until the end can be written to, or read; false: timeout_ms (-1: none) have passed. */
bool link_wait(int end, bool writes, int timeout_ms);

#endif
