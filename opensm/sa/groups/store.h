// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registry of multicast groups. Owned by the sa actor; other actors read what is published. */
#ifndef SA_GROUPS_STORE_H
#define SA_GROUPS_STORE_H

#include <glib.h>

#include "policy/partition/groups.h"
#include "sa/groups/mlids.h"
#include "subnet/aliases.h"
#include "subnet/subnet.h"

struct sa_store;

struct sa_member {
	uint64_t guid;	    /* in its PortGID: the port's GUID, or an alias */
	uint64_t maker;	    /* GUID of the port that asked for it; 0: unknown, or privileged */
	uint8_t join_state; /* bits of IBA_JOIN_* */
	bool proxy;	    /* joined by another port on its behalf */
	bool lapsing;	    /* has not joined again since its port was gone */
};

struct sa_group {
	struct iba_mc_member_record record; /* without port_gid, join_state and proxy_join */
	bool well_known;		    /* exists without members, as partitions want it */
	bool is_told;			    /* the watch has been told of it */
	uint32_t n_full;		    /* members that keep it alive */
	GArray *members;		    /* struct sa_member by guid */
	uint64_t creator;		    /* GUID of the port that asked for it; 0: this SM */
	struct sa_mlid *mlid;
	struct mc_group *published; /* current value; NULL: changed since */
};

/*
 * Callbacks for each change. member: a member without JoinState has left. ask_again: the client of
 * a port is to be asked to join again, because it left groups for lack of a P_Key that it has
 * again, or because its group has changed since it was told. repaired: an IPoIB group differed from
 * its broadcast group in the named parameter; it is corrected or removed. merged: groups of n MLIDs
 * now share others, as there was no MLID for groups of partitions.
 */
struct sa_store_watch {
	void (*group)(void *arg, const struct sa_group *group, bool gone);
	void (*member)(void *arg, const struct sa_group *group, const struct sa_member *member);
	void (*ask_again)(void *arg, uint64_t port_guid);
	void (*repaired)(void *arg, const struct sa_group *group, const char *what);
	void (*merged)(void *arg, uint32_t n);
};

/* first_mgid: number of the first MGID that is made up here; differs after each start. */
struct sa_store *sa_store_new(uint32_t first_mgid);
void sa_store_watch(struct sa_store *store, const struct sa_store_watch *watch, void *arg);
/*
 * Sets the table by which GUIDs of members are recognized as aliases; NULL: none. The caller owns
 * it and keeps it until it sets another.
 */
void sa_store_set_aliases(struct sa_store *store, const struct alias_guids *aliases);
void sa_store_free(struct sa_store *store);
/* Forgets all groups. MLIDs that switches still forward are the concern of another master. */
void sa_store_clear(struct sa_store *store);

struct sa_group *sa_store_find(const struct sa_store *store, struct iba_gid mgid);
/*
 * Whether an SA of this subnet may have made up the MGID (IBA 4.1.1), perhaps before a restart,
 * within the last two years. Any other MGID with the signature of an SA was invented by a client.
 */
bool sa_store_made(const struct sa_store *store, struct iba_gid mgid, uint64_t subnet_prefix);
/* One of the groups that share the MLID. */
struct sa_group *sa_store_find_mlid(const struct sa_store *store, uint16_t mlid);
/* Valid until a port joins or leaves. */
struct sa_member *sa_group_member(const struct sa_group *group, uint64_t guid);
/* The number of groups it is a member of. */
unsigned int sa_store_groups_of(const struct sa_store *store, uint64_t guid);
/* Calls visit for each group by MLID and MGID until it returns false. */
void sa_store_each(const struct sa_store *store,
		   bool (*visit)(const struct sa_group *group, void *arg), void *arg);
/* Calls visit for each group of one MLID until it returns false. */
void sa_store_each_of(const struct sa_store *store, uint16_t mlid,
		      bool (*visit)(const struct sa_group *group, void *arg), void *arg);

/*
 * Creates a group with these parameters, with an MLID as of sa_mlids_take(). A zero MGID is
 * replaced by one with the record's scope. NULL if no MLID is left, or if the creator, a port's
 * GUID, has reached its limit; creator 0 is this SM, which has no quota.
 */
struct sa_group *sa_store_create(struct sa_store *store, const struct iba_mc_member_record *record,
				 uint64_t subnet_prefix, uint64_t creator);
/* Creates a group from before a restart, with the MLID it had, if that MLID's groups agree. */
struct sa_group *sa_store_restore(struct sa_store *store, const struct iba_mc_member_record *record,
				  uint64_t creator);
/* Sets whether the group is kept without members. */
void sa_store_keep(struct sa_store *store, struct sa_group *group, bool well_known);
/* Whether the port may make one more membership, its own or another's; 0: a privileged request. */
bool sa_store_may_join(const struct sa_store *store, uint64_t maker);
/*
 * Adds JoinState bits; returns the member. A port that another port joined, and that now joins by
 * itself, becomes its own.
 */
const struct sa_member *sa_store_join_by(struct sa_store *store, struct sa_group *group,
					 uint64_t guid, uint8_t join_state, bool proxy,
					 uint64_t maker);
/* Joins a port by its own request, or another port for a requester that is not recorded. */
static inline const struct sa_member *sa_store_join(struct sa_store *store, struct sa_group *group,
						    uint64_t guid, uint8_t join_state, bool proxy)
{
	return sa_store_join_by(store, group, guid, join_state, proxy, proxy ? 0 : guid);
}
/* Removes JoinState bits: with the last one the member, with the last full member the group. */
void sa_store_leave(struct sa_store *store, struct sa_group *group, uint64_t guid,
		    uint8_t join_state);

/*
 * The GUID belongs to another port from now on: removes the memberships that the port maker made
 * with it; 0: all of them.
 */
void sa_store_disown(struct sa_store *store, uint64_t guid, uint64_t maker);
/*
 * Follows a newly published subnet: ports that lost their P_Key leave their groups; groups of
 * partitions appear and disappear. A port that is gone stays in its groups for membership_grace,
 * and after it is back for the same time in those that it does not join again. Memberships that a
 * port made for other ports end when it has been gone for that time, or has lost the P_Key.
 */
void sa_store_follow(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns);
/* Sets how many entries one port may make. */
void sa_store_bound(struct sa_store *store, const struct subnet *subnet);
/* Takes only the MLIDs that exist, and the rules for sharing them, from the subnet. */
void sa_store_follow_mlids(struct sa_store *store, const struct subnet *subnet);
/*
 * The parameters an IPoIB group of that MGID must have: those of its broadcast group; for the
 * broadcast group, those in the rules of the partition, for its scope or another one. False:
 * unknown.
 */
bool sa_store_broadcast(const struct sa_store *store, const struct subnet *subnet,
			struct iba_gid mgid, struct iba_mc_member_record *broadcast);
/* Creates the groups that partitions want. sa_store_unmet(): number that got no MLID last time. */
void sa_store_wish(struct sa_store *store, const struct subnet *subnet);
uint32_t sa_store_unmet(const struct sa_store *store);
/* Removes members whose time is over. Returns when to look again; 0: no member is to leave. */
uint64_t sa_store_expire(struct sa_store *store, uint64_t now_ns);
/* Serial of the publication that will contain all changes so far. */
uint64_t sa_store_serial(const struct sa_store *store);
/* Switches hold what was published under that serial: MLIDs given back before it are free. */
void sa_store_programmed(struct sa_store *store, uint64_t serial);

bool sa_store_changed(const struct sa_store *store); /* since the last publication */
/* The groups as the sweep needs them, or NULL if nothing changed since the last call. */
struct mc_groups *sa_store_publish(struct sa_store *store);

#endif
