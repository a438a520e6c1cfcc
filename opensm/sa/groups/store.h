// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registry of multicast groups. Owned by the sa actor; what others need of it is published. */
#ifndef SA_GROUPS_STORE_H
#define SA_GROUPS_STORE_H

#include <glib.h>

#include "policy/partition/groups.h"
#include "sa/groups/mlids.h"
#include "subnet/aliases.h"
#include "subnet/subnet.h"

struct sa_store;

struct sa_member {
	uint64_t guid;	    /* of its PortGID: the port's, or an alias of it */
	uint64_t maker;	    /* GUID of the port that asked for it; 0: not known, or privileged */
	uint8_t join_state; /* bits of IBA_JOIN_* */
	bool proxy;	    /* joined by another port on its behalf */
	bool lapsing;	    /* not joined again since the port was gone */
};

struct sa_group {
	struct iba_mc_member_record record; /* without port_gid, join_state and proxy_join */
	bool well_known;		    /* lives without members, as partitions want it */
	bool is_told;			    /* the watch was told of it before */
	uint32_t n_full;		    /* members that keep it alive */
	GArray *members;		    /* struct sa_member by guid */
	uint64_t creator;		    /* GUID of the port that asked for it; 0: this SM */
	struct sa_mlid *mlid;
	struct mc_group *published; /* as it is; NULL: it changed since */
};

/*
 * Who is told of each change. A member without JoinState has left. The client of a port is to be
 * asked to join again: it left groups for lack of a P_Key that it has again, or what it was told of
 * its group is no longer so. An IPoIB group whose parameter, named, was not that of its broadcast
 * group is put right, or goes. Groups of that many MLIDs have others now, which they share, as
 * groups of partitions found none.
 */
struct sa_store_watch {
	void (*group)(void *arg, const struct sa_group *group, bool gone);
	void (*member)(void *arg, const struct sa_group *group, const struct sa_member *member);
	void (*ask_again)(void *arg, uint64_t port_guid);
	void (*repaired)(void *arg, const struct sa_group *group, const char *what);
	void (*merged)(void *arg, uint32_t n);
};

/* first_mgid: number of the first MGID that is made here, another after each start. */
struct sa_store *sa_store_new(uint32_t first_mgid);
void sa_store_watch(struct sa_store *store, const struct sa_store_watch *watch, void *arg);
/*
 * By which from now on GUIDs of members are found to be aliases; NULL: none is. They are the
 * caller's, who keeps them until he gives others.
 */
void sa_store_set_aliases(struct sa_store *store, const struct alias_guids *aliases);
void sa_store_free(struct sa_store *store);
/* Forgets all groups; which MLIDs switches still forward is for another master to know. */
void sa_store_clear(struct sa_store *store);

struct sa_group *sa_store_find(const struct sa_store *store, struct iba_gid mgid);
/*
 * Whether an SA of this subnet may have made the MGID (IBA 4.1.1), perhaps before a restart, and
 * did so in the last two years. Any other with the signature of an SA is somebody's invention.
 */
bool sa_store_made(const struct sa_store *store, struct iba_gid mgid, uint64_t subnet_prefix);
/* One of those that share the MLID. */
struct sa_group *sa_store_find_mlid(const struct sa_store *store, uint16_t mlid);
/* Good until somebody joins or leaves. */
struct sa_member *sa_group_member(const struct sa_group *group, uint64_t guid);
/* How many it is a member of. */
unsigned int sa_store_groups_of(const struct sa_store *store, uint64_t guid);
/* Calls visit for each group by MLID and MGID until it returns false. */
void sa_store_each(const struct sa_store *store,
		   bool (*visit)(const struct sa_group *group, void *arg), void *arg);
/* The same for those of one MLID. */
void sa_store_each_of(const struct sa_store *store, uint16_t mlid,
		      bool (*visit)(const struct sa_group *group, void *arg), void *arg);

/*
 * Makes a group of these parameters, under an MLID as of sa_mlids_take(). A zero MGID is replaced
 * by one of the record's scope. NULL if no MLID is left, or if the creator, a port's GUID, has made
 * as many as one may; 0 is this SM, which has no quota.
 */
struct sa_group *sa_store_create(struct sa_store *store, const struct iba_mc_member_record *record,
				 uint64_t subnet_prefix, uint64_t creator);
/* The same for one that was there before: under the MLID that it had, if its groups agree. */
struct sa_group *sa_store_restore(struct sa_store *store, const struct iba_mc_member_record *record,
				  uint64_t creator);
/* Whether it lives without members. */
void sa_store_keep(struct sa_store *store, struct sa_group *group, bool well_known);
/* Whether the port may make one more membership, its own or another's; 0: of a privileged one. */
bool sa_store_may_join(const struct sa_store *store, uint64_t maker);
/*
 * Adds JoinState bits; the member as it is now. A port that was joined by another and joins by
 * itself is its own from then on.
 */
const struct sa_member *sa_store_join_by(struct sa_store *store, struct sa_group *group,
					 uint64_t guid, uint8_t join_state, bool proxy,
					 uint64_t maker);
/* The same of a port by its own GUID, or of another by who knows whom. */
static inline const struct sa_member *sa_store_join(struct sa_store *store, struct sa_group *group,
						    uint64_t guid, uint8_t join_state, bool proxy)
{
	return sa_store_join_by(store, group, guid, join_state, proxy, proxy ? 0 : guid);
}
/* Removes JoinState bits: with the last one the member, with the last full member the group. */
void sa_store_leave(struct sa_store *store, struct sa_group *group, uint64_t guid,
		    uint8_t join_state);

/*
 * The GUID is another port's from now on: memberships that the port maker had by it go; 0: all
 * that there are.
 */
void sa_store_disown(struct sa_store *store, uint64_t guid, uint64_t maker);
/*
 * Follows a newly published subnet: ports that lost their P_Key leave their groups, the groups of
 * partitions appear and disappear. Ports that are gone stay in theirs for membership_grace, and
 * so long again, when they are back, in those that they do not join again. What a port made of
 * other ports' memberships goes when it has been gone for that time, or lost the P_Key, too.
 */
void sa_store_follow(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns);
/* How much one port may make. */
void sa_store_bound(struct sa_store *store, const struct subnet *subnet);
/* Of this only which MLIDs there are, and who shares them. */
void sa_store_follow_mlids(struct sa_store *store, const struct subnet *subnet);
/*
 * What an IPoIB group of that MGID is to be like: its broadcast group; that itself is to be as the
 * rules of the partition say, for its scope or for another one. False: nothing tells.
 */
bool sa_store_broadcast(const struct sa_store *store, const struct subnet *subnet,
			struct iba_gid mgid, struct iba_mc_member_record *broadcast);
/* Makes the groups that partitions want; for how many there was no MLID the last time. */
void sa_store_wish(struct sa_store *store, const struct subnet *subnet);
uint32_t sa_store_unmet(const struct sa_store *store);
/* Members whose time is over leave. When to look again; 0: nobody is to leave. */
uint64_t sa_store_expire(struct sa_store *store, uint64_t now_ns);
/* That with which all that changed so far is published. */
uint64_t sa_store_serial(const struct sa_store *store);
/* Switches hold what was published with that serial: MLIDs given back before are free. */
void sa_store_programmed(struct sa_store *store, uint64_t serial);

bool sa_store_changed(const struct sa_store *store); /* since the last publication */
/* The groups as they are for the sweep, or NULL if nothing changed since the last call. */
struct mc_groups *sa_store_publish(struct sa_store *store);

#endif
