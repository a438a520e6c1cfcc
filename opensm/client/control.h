// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The protocol between opensmctl and the daemon. A console session switches to it if its first
 * line, even before a key, is CONTROL_HELLO. From then on each line, including the first, is
 * answered by a record: the octet CONTROL_RECORD, a JSON object on one line, and a line end (as in
 * RFC 7464). Anything before the first record is text for people.
 *
 *	"status"	enum control_status
 *	"output"	what people are shown, or the answer as JSON
 *	"more"		true: the command goes on, until an empty line ends it
 *	"file"		true: the answer is a file, whose descriptor is sent with the first octet of
 *			the record; for commands that ask for it, on a Unix socket
 *	"key"		in the answer to CONTROL_HELLO: true if the next line has to be the key
 *	"version"	in that answer too: version of the daemon
 */
#ifndef CLIENT_CONTROL_H
#define CLIENT_CONTROL_H

#include <glib.h>
#include <stdbool.h>

#define CONTROL_HELLO "opensmctl 1"
#define CONTROL_RECORD '\x1e'
#define CONTROL_SUFFIX ".sock" /* of sockets in the run directory */

/* Also the exit codes of opensmctl: scripts know them by number. */
enum control_status {
	CONTROL_DONE = 0,
	CONTROL_FAILED = 1,	 /* the command could not do it */
	CONTROL_USAGE = 2,	 /* there is no such command, or it takes other arguments */
	CONTROL_UNREACHABLE = 3, /* no daemon, or it does not answer */
	CONTROL_REFUSED = 4,	 /* not for this user, not with this key or certificate */
	/* of health: the worst problem found */
	CONTROL_NO_SM = 10, /* neither MASTER nor STANDBY */
	/*
	 * No subnet yet, errors in the last sweep, or hosts without paths as tables are too small.
	 */
	CONTROL_SUBNET_BAD = 11,
	CONTROL_DEVICES_BAD = 12, /* devices do not answer */
	/* The settings in effect differ from those in the files, or were not saved there. */
	CONTROL_FILES_BAD = 13,
	CONTROL_SMS_DIFFER = 14,   /* another SM has other options or files in effect */
	CONTROL_NODES_LOST = 15,   /* there are fewer switches or hosts than a while ago */
	CONTROL_LINKS_SLOW = 16,   /* cables run at half of what both ends can do, or less */
	CONTROL_CABLES_LOST = 17,  /* there are fewer cables than a while ago */
	CONTROL_SWEEPS_OFF = 18,   /* the operator has switched sweeps off */
	CONTROL_INSECURE = 19,	   /* health security: options leave the subnet open to its hosts */
	CONTROL_COUNTERS_BAD = 21, /* the rules of the performance manager raise alarms */
	/* of plan */
	CONTROL_CHANGES = 20, /* something would change */
};

/* A record, newly allocated. */
char *control_record(enum control_status status, const char *output, bool more);
/* That of an answer in a file. */
char *control_record_of_file(void);
char *control_welcome(bool key);

#endif
