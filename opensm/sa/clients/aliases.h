// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registry of alias GUIDs. Owned by the sa actor; what others need of it is published. */
#ifndef SA_CLIENTS_ALIASES_H
#define SA_CLIENTS_ALIASES_H

#include "subnet/aliases.h"
#include "subnet/subnet.h"

#define SA_ALIASES_MAX (1u << 18) /* of all ports together; one has at most its GUIDCap */

struct sa_aliases;

/* first_made: number of the first alias GUID that is made here, another after each start. */
struct sa_aliases *sa_aliases_new(uint32_t first_made);
void sa_aliases_free(struct sa_aliases *aliases);
void sa_aliases_clear(struct sa_aliases *aliases);
/* Who is told of each change: of one removed (guid 0), and when that is forgotten, too. */
void sa_aliases_watch(struct sa_aliases *aliases,
		      void (*changed)(void *arg, const struct alias_guid *alias, bool forgotten),
		      void *arg);

/* As they are now; good until the next change. */
const struct alias_guids *sa_aliases_now(const struct sa_aliases *aliases);
uint64_t sa_aliases_get(const struct sa_aliases *aliases, uint64_t port, uint8_t index);
/*
 * Why the port may not have that GUID; NULL: it may. It is another port's, or was, and the SM keeps
 * its LID for it; it is the NodeGUID or SystemImageGUID of another node; or no port can have it. A
 * privileged request may have one that was a port's.
 */
const char *sa_aliases_refusal(struct sa_aliases *aliases, const struct subnet *subnet,
			       uint64_t port, uint64_t guid, bool privileged);
/* A new one, with that byte in it; 0: none was free among many. */
uint64_t sa_aliases_make(struct sa_aliases *aliases, const struct subnet *subnet, uint64_t port,
			 uint8_t byte);
/* guid 0: the port has none there any more. False: another has it, or there are too many. */
bool sa_aliases_set(struct sa_aliases *aliases, uint64_t port, uint8_t index, uint64_t guid);

/* The same of one that was there before: of one that was removed (guid 0), the port is told. */
bool sa_aliases_restore(struct sa_aliases *aliases, uint64_t port, uint8_t index, uint64_t guid);

/* Ports keep theirs until they have been gone for SA_ABSENCE_NS. */
void sa_aliases_follow(struct sa_aliases *aliases, const struct subnet *subnet, uint64_t now_ns);
/*
 * Takes away those that a port may not have any more, as they are GUIDs of ports or nodes that came
 * later, or are in a file of another SM. lost() is told of each, and why, before.
 */
void sa_aliases_yield(struct sa_aliases *aliases, const struct subnet *subnet,
		      void (*lost)(void *arg, const struct alias_guid *alias, const char *why),
		      void *arg);
/* That with which all that changed so far is published. */
uint64_t sa_aliases_serial(const struct sa_aliases *aliases);
bool sa_aliases_changed(const struct sa_aliases *aliases); /* since the last publication */
/* A reference of them for the sweep; NULL: nothing changed since the last call. */
struct alias_guids *sa_aliases_publish(struct sa_aliases *aliases);
/* Ports hold what was published with that serial. */
void sa_aliases_programmed(struct sa_aliases *aliases, uint64_t serial);

#endif
