// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registry of alias GUIDs. Owned by the sa actor; other actors read what is published. */
#ifndef SA_CLIENTS_ALIASES_H
#define SA_CLIENTS_ALIASES_H

#include "subnet/aliases.h"
#include "subnet/subnet.h"

#define SA_ALIASES_MAX (1u << 18) /* of all ports together; one has at most its GUIDCap */

struct sa_aliases;

/* first_made: number of the first alias GUID that is made up here; differs after each start. */
struct sa_aliases *sa_aliases_new(uint32_t first_made);
void sa_aliases_free(struct sa_aliases *aliases);
void sa_aliases_clear(struct sa_aliases *aliases);
/* Sets a callback for each change, for a removal (guid 0), and for the end of a removed entry. */
void sa_aliases_watch(struct sa_aliases *aliases,
		      void (*changed)(void *arg, const struct alias_guid *alias, bool forgotten),
		      void *arg);

/* The current alias GUIDs; valid until the next change. */
const struct alias_guids *sa_aliases_now(const struct sa_aliases *aliases);
uint64_t sa_aliases_get(const struct sa_aliases *aliases, uint64_t port, uint8_t index);
/*
 * Why the port may not have that GUID; NULL: it may. Either another port has it, or had it and the
 * SM keeps its LID reserved; or it is the NodeGUID or SystemImageGUID of another node; or it is not
 * a valid port GUID. A privileged request may take one that belonged to another port.
 */
const char *sa_aliases_refusal(struct sa_aliases *aliases, const struct subnet *subnet,
			       uint64_t port, uint64_t guid, bool privileged);
/* Makes up a GUID that contains that byte; 0: no free one was found in many tries. */
uint64_t sa_aliases_make(struct sa_aliases *aliases, const struct subnet *subnet, uint64_t port,
			 uint8_t byte);
/* guid 0 removes the entry. False: another port has the GUID, or there are too many. */
bool sa_aliases_set(struct sa_aliases *aliases, uint64_t port, uint8_t index, uint64_t guid);

/*
 * Restores an entry from before a restart. With guid 0 the port is still to be told of a removal.
 */
bool sa_aliases_restore(struct sa_aliases *aliases, uint64_t port, uint8_t index, uint64_t guid);

/* Ports keep their alias GUIDs until they have been gone for SA_ABSENCE_NS. */
void sa_aliases_follow(struct sa_aliases *aliases, const struct subnet *subnet, uint64_t now_ns);
/*
 * Removes alias GUIDs that a port may no longer have, because they are GUIDs of ports or nodes that
 * came later, or come from another SM's file. Before each removal lost() is called with the reason.
 */
void sa_aliases_yield(struct sa_aliases *aliases, const struct subnet *subnet,
		      void (*lost)(void *arg, const struct alias_guid *alias, const char *why),
		      void *arg);
/* Serial of the publication that will contain all changes so far. */
uint64_t sa_aliases_serial(const struct sa_aliases *aliases);
bool sa_aliases_changed(const struct sa_aliases *aliases); /* since the last publication */
/* A reference for the sweep; NULL: nothing changed since the last call. */
struct alias_guids *sa_aliases_publish(struct sa_aliases *aliases);
/* Ports hold what was published under that serial. */
void sa_aliases_programmed(struct sa_aliases *aliases, uint64_t serial);

#endif
