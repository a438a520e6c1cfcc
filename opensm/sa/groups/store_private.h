// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The registry of groups as its own files see it: store.c, lapse.c, wishes.c, merge.c. */
#ifndef SA_GROUPS_STORE_PRIVATE_H
#define SA_GROUPS_STORE_PRIVATE_H

#include "sa/clients/quota.h"
#include "sa/groups/store.h"

/* A port that is a member of a group, or has made other ports members. */
struct sa_store_port {
	uint64_t guid;
	uint32_t n;	     /* groups it is a member of */
	uint32_t n_made;     /* memberships it made for other GUIDs */
	uint64_t gone_until; /* when it leaves its groups; 0: it is in the subnet */
	uint64_t renew_by;   /* it is back: when it leaves groups not joined again; or 0 */
};

struct sa_store {
	GTree *groups; /* struct sa_group by mgid */
	struct sa_mlids *mlids;
	struct sa_quota made;	 /* existing groups, by the port that made them */
	struct sa_quota joined;	 /* memberships, by the port that made them */
	GHashTable *ports;	 /* struct sa_store_port by guid */
	uint32_t n_due;		 /* ports among these with members that leave soon */
	GHashTable *lost_p_keys; /* port GUID -> GArray of P_Keys whose loss made it leave groups */
	uint32_t last_made;	 /* number in the last MGID made here */
	uint32_t n_unmet;	 /* groups that partitions want and that have no MLID */
	uint64_t serial;
	bool changed;			    /* since the last publication */
	bool block_changed[IBA_MFT_BLOCKS]; /* since the last publication */
	struct mc_groups *published;
	struct partitions *partitions;	    /* that members were checked against; NULL: none yet */
	const struct sa_store_watch *watch; /* NULL: none */
	void *watch_arg;
	const struct alias_guids *aliases; /* NULL: none */
};

static inline bool sa_store_is_due(const struct sa_store_port *port)
{
	return port->gone_until || port->renew_by;
}

/* ---- store.c ---- */

GPtrArray *sa_store_list(const struct sa_store *store); /* all, for callers that remove some */
struct sa_store_port *sa_store_port(const struct sa_store *store, uint64_t guid);
void sa_store_tell(const struct sa_store *store, struct sa_group *group, bool gone);
void sa_store_note_change(struct sa_store *store, struct sa_group *group);
/* Gives the group that MLID; it must have left its previous one. */
void sa_store_enter(struct sa_store *store, struct sa_group *group, struct sa_mlid *mlid);
void sa_store_leave_mlid(struct sa_store *store, struct sa_group *group);
void sa_store_remove(struct sa_store *store, struct sa_group *group);
/* Removes bits of the member at that index. The group stays even if nothing keeps it. */
void sa_store_take_bits(struct sa_store *store, struct sa_group *group, guint place,
			uint8_t join_state);

/* ---- lapse.c ---- */

/* Finds ports that are gone, are back, or have P_Keys again that they had lost. */
void sa_store_follow_ports(struct sa_store *store, const struct subnet *subnet, uint64_t now_ns);
void sa_store_drop_outsiders(struct sa_store *store, struct sa_group *group,
			     const struct subnet *subnet);
/* Whether the SM asks clients of that port to join their groups again when it is back. */
bool sa_store_is_asked(const struct subnet *subnet, uint32_t port);
void sa_store_remove_unkept(struct sa_store *store); /* groups, after members left */

/* ---- wishes.c ---- */

/* Asks the clients of the members to join again, so that they learn the group's new parameters. */
void sa_store_ask_members(const struct sa_store *store, const struct sa_group *group,
			  const struct fabric *fabric);

/* ---- merge.c ---- */

/* Gives back at most n MLIDs of groups that may share others; returns how many. */
uint32_t sa_store_merge(struct sa_store *store, const struct subnet *subnet, uint32_t n);

#endif
