// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of sm/ share. Everything here belongs to the actor "sm". */
#ifndef SM_SM_PRIVATE_H
#define SM_SM_PRIVATE_H

#include "complib/bucket.h"
#include "core/milestones.h"
#include "core/options.h"
#include "fabric/builder.h"
#include "ha/replicator.h"
#include "policy/files/ports_policy.h"
#include "policy/partition/groups.h"
#include "policy/partition/partition.h"
#include "route/engine.h"
#include "sm/election/ability.h"
#include "sm/election/peers.h"
#include "sm/keys/key_ring.h"
#include "sm/schedule/plan.h"
#include "sm/sm.h"
#include "sm/store/disk.h"
#include "sm/store/guid2lid.h"
#include "sm/store/neighbors.h"
#include "sm/store/path_sls.h"
#include "subnet/subnet.h"

enum step_result {
	/* All of these but the last three when the walks that the step began are through. */
	STEP_NEXT,  /* go on when every SMP of the step was answered or given up */
	STEP_AGAIN, /* the same step again when no more than the slow SMPs are out */
	STEP_LATER, /* the same step again whenever an SMP came back, or something was marked */
	STEP_HEAVY, /* what is known of the subnet is not to be built on: a heavy sweep instead */
	STEP_ABORT, /* end the sweep with an error */
	STEP_END,   /* end the sweep: it is for another SM to go on */
};

/* The sweep that runs. */
struct sweep {
	uint64_t serial;      /* from 1; its SMPs and jobs bear it */
	enum sweep_kind kind; /* SWEEP_KIND_NONE: no sweep runs */
	unsigned int reasons; /* that it was begun for */
	unsigned int step;
	unsigned int layers; /* of marked nodes that it has read */
	unsigned int round; /* how often the step ran before, also for its walks */
	bool again;	    /* the step has run */
	uint32_t part;	    /* of the walk that goes on: the one that visit is called for */
	bool gave_way;	    /* a message to go on waits behind those of others */
	enum step_result result; /* of the step function when it was called last */
	bool at_step;	    /* inside a step function: completions do not go on by themselves */
	unsigned int pending; /* SMPs and jobs of this sweep that are out */
	unsigned int slow;    /* of these: to nodes that did not answer at first (silence.c) */
	unsigned int errors;
	unsigned int problems; /* of these: of no node */
	bool duplicate_guid; /* a port was met at two places */
	uint64_t unread; /* a switch that fell silent before anything of its LFT was read */
	bool switch_moved;   /* a switch was met at another place than it was known to be */
	bool qos_set;	     /* tables of qos.c were written */
	bool start_over;     /* the SM's own cable was moved: what was read is of other devices */
	bool port_was_down;  /* schedule.port_down, when it began */
	bool published;
	uint64_t started_ns, step_started_ns;
};

/* When and why the next sweep begins: sweep.c. */
struct schedule {
	unsigned int reasons; /* enum sweep_reason */
	unsigned int lights;  /* light sweeps so far */
	bool inhibited;	      /* none may begin */
	bool looks;	      /* sweep_look(): the one that begins or runs is of a standby */
	bool discovered; /* a heavy discovery was completed: changes can be followed from there */
	bool succeeded;	 /* a sweep has ended without errors */
	bool up;	 /* the last one did, and no node is sick */
	unsigned int failures;	/* sweeps with errors in a row */
	unsigned int cancelled; /* sweeps in a row */
	uint64_t unread;	/* as of the sweep before: it answered since, but to that */
	unsigned int anew;	/* sweeps in a row that began anew for such a switch */
	bool port_down;		/* the SM's own, when a sweep looked last; said once */
	bool traps_lost; /* a cable was met that was down, since the last light sweep */
	struct timer interval;
	struct timer settle;   /* gathers traps that come together */
	struct timer files;    /* how long a heavy sweep waits yet for files to be read */
	bool files_read;       /* and that they were: by the one that begins now */
	struct bucket provoked; /* sweeps that traps and the like may still cause */
	struct options *settled_for; /* options by which the fabric was last all as it should be */
	uint16_t settled_lid;	     /* and the LID of the SM then */
};

/* How LIDs were assigned last: lid.c. */
struct lid_state {
	uint64_t arrivals; /* of the builder then */
	uint16_t last;	   /* what the switches could forward */
	bool short_of;	   /* not every endport got LIDs of its own */
	bool assigned;	   /* they were assigned since the start: reassign_lids is done */
	bool duplicate_guids; /* two endports with one GUID were met then */
	bool changing;	      /* some endport carries a LID that is not its own any more */
};

struct routes;	     /* routing.c */
struct program;	     /* program.c */
struct aliases;	     /* aliases.c */
struct held;	     /* held.h */
struct route_stages; /* route/transition/transition.h */
struct multicast;    /* multicast.c */
struct table_reader; /* table_reader.c */
struct audit;	     /* audit.c */
struct mastership;   /* mastership.c */
struct other_sms;    /* other_sm.h */
struct state_writer; /* state_writer.h */
struct keys;	     /* keys.h */
struct dry;	     /* dry_send.c */
struct port_health;  /* port_health.c */
struct p_key_indexes; /* pkey_indexes.c */
struct reregister;   /* reregister.c */

/* What the SM before left: replicate.c. */
struct takeover {
	bool due;	      /* this SM became MASTER and has not asked for it */
	bool reconcile;	      /* multicast tables may hold members that the replica lacks */
	uint64_t of;	      /* GUID of the SM whose replica was taken over; 0: none */
	uint16_t vouched_lid; /* of the SM before, whose clients need not register again; 0: none */
	uint64_t lids_told;   /* guid2lid_changes() when the replicator was told; 0: never */
	uint64_t sls_told;    /* path_sls_changes() then; 0: never */
	uint64_t partitions_told;   /* serial of the partition changes told; 0: none */
};

struct sm {
	struct context *context;
	struct log *log;
	struct mad *mad;
	struct vendor *vendor;
	struct actor *actor;
	struct options *options; /* of this sweep */

	/* what is: the subnet as far as it is known */
	struct builder *builder;
	struct builder_node *local; /* stands for the SM's own node until that is known: no hops */
	struct guid2lid *guid2lid;
	struct path_sls *path_sls;
	struct keys *keys; /* M_Keys of ports: keys.c */

	/* what should be: values of this sweep, kept for the next */
	struct fabric *fabric;
	struct routing *routing;
	struct partitions *partitions;
	uint64_t partitions_shape; /* of the fabric that they were made for */
	bool p_keys_settled;	   /* all tables were set by the rules of these */
	bool p_keys_looked, p_keys_held; /* pkey_guard.c: at the tables of another SM; which stay */
	unsigned int index0_kept;  /* ports in use with another key at index 0 than indx0 asks */
	struct qos_paths *qos;	   /* NULL: QoS is off, and no table is to be set */
	bool vl_tables_known;	   /* an SM has written those of qos.c in some node */
	uint16_t told_sls; /* qos.c: bits of the SLs that hosts are told while QoS is off */
	unsigned int vl_resets;	   /* nodes of which they are reset since that was told */
	bool had_lanes;		   /* SL2VL tables were set for lanes of routes */
	bool lanes_left;	   /* those that can be reached may have lanes of other routes */
	GPtrArray *lane_conflicts; /* texts: where it meets lanes of routes, as told; NULL */
	struct p_key_changes *p_key_changes; /* pkey.c: of the sweep that runs */
	struct p_key_indexes *p_key_indexes;
	struct mc_groups *groups;  /* whose trees are programmed */
	bool mft_used[IBA_MFT_BLOCKS]; /* blocks that may hold something in some switch */
	uint16_t mlid_top;	       /* highest MLID in them; 0: there are none */

	struct sweep sweep;
	GQueue walks; /* walk.c: of the step that runs */
	struct schedule schedule;
	struct lid_state lids;
	struct routes *routes;
	struct program *program;
	struct multicast *multicast;
	struct aliases *aliases;
	struct table_reader *table_reader;
	struct audit *audit;
	struct mastership *mastership;
	struct other_sms *others;
	uint64_t outlook_since; /* outlook.c: the heavy sweep, of the builder, that looked last */
	struct state_writer *writer;
	struct disk *disk;
	GArray *held_up; /* of struct held_up: held_up.c */
	struct dry *dry;   /* of a dry run: no Set leaves; NULL: it is none */
	struct port_health *port_health;
	struct takeover takeover;
	struct reregister *reregister;
	bool names_wanted; /* again, since a sweep looked which are missing */

	/* health.c, silence.c */
	GPtrArray *sick;      /* nodes */
	struct timer retry;   /* of the first of them */
	struct timer watch;   /* own_port.c */
	uint32_t first_act;   /* of ActCount: another one in each life of the daemon */
	bool port_lost;	      /* own_port.c: the device of the SM's port is gone */
	struct timer lease;   /* lease.c: looks at M_Keys before their leases end */
	unsigned int fatal_sweeps; /* in a row that met what fatal.c tells of */
	GPtrArray *suspects;  /* struct suspect */
	GPtrArray *cables_asked; /* struct sm_request that waits for what its near end says */
	struct log_limit error_log;
	struct log_limit groups_log; /* sweep.c: lines of sweeps that clients' joins provoke */

	GPtrArray *askers; /* struct asker: sm_asker.c */
	_Atomic bool asked; /* by somebody of whom the actor "sm" has yet to look who that is */

	/* trap.c */
	struct log_limit trap_log;
	GHashTable *trap_sources; /* LID -> struct source */

	sm_progress_fn *show;
	void *show_arg;
};

/* ---- requests ---- */
struct sm_request {
	struct mad_request mad;
	struct sm *sm;
	struct builder_node *node; /* held */
	struct builder_port *port; /* what it is about; NULL: the node */
	const struct builder_port *by; /* switch port before the CA asked; NULL: of others */
	uint64_t lid_route; /* reach_route() by which it goes to the node's LID; 0: it does not */
	uint32_t block;
	uint32_t epoch;	 /* of the node's tables when it was made */
	uint32_t reading; /* the node's, of a Get(PortInfo) */
	uint64_t serial; /* of the last sweep when it was sent: of audit.c, own_port.c */
	void *owned;	 /* freed with the request */
	uint64_t sent;	 /* digest of what a Set carries: the answer overwrites it */
	uint8_t state;	 /* PortState that a Set asks for */
	bool speeds;	 /* it changes width or speeds */
	bool by_likely_lid; /* by LID if nothing speaks against it, though tables are not known */
	bool beyond;	 /* asks whoever is at the other end of the port's cable */
	bool aside;	 /* of no sweep */
	bool inquiry;	 /* of silence.c */
	bool belief;	 /* done tells what the hardware holds: called however late it is */
	bool slow;	 /* counted in sweep.slow */
	bool in_earnest; /* silence.c has no objection: all tries */
	bool skipped;	 /* it was not sent, as its node is silent: kept.c */
	bool unreachable; /* there was no way when it was to be sent */
	uint64_t key_changes; /* of the port asked, when its M_Key was chosen */
	bool other_key;	 /* it was sent again with another M_Key */
	uint32_t strays; /* M_Keys that it had, of endports that are missed, */
	uint32_t strays_from; /* from that one on */
	bool gives_key;	 /* it sets another: others to the port wait for it */
	uint8_t tries_max;  /* as mad.tries, of the tries in earnest */
	uint8_t ways;	    /* how often it was handed to mad/ again */
	unsigned int tries; /* that left this node */
	void (*done)(struct sm_request *request); /* whatever became of it */
};

struct sm_request *sm_request_new(struct sm *sm, struct builder_node *node, uint8_t method,
				  uint16_t attribute, uint32_t modifier);
/* The same to one port, by way of that port if it is one of a CA. */
struct sm_request *sm_request_port(struct sm *sm, struct builder_port *port, uint8_t method,
				   uint16_t attribute, uint32_t modifier);
/* Get(NodeInfo) of whoever is at the other end of the port's cable. */
struct sm_request *sm_request_beyond(struct sm *sm, struct builder_port *port);
void sm_request_send(struct sm_request *request);
/* A Get whose answer goes to done. */
void sm_get(struct sm *sm, struct builder_node *node, uint16_t attribute, uint32_t modifier,
	    void (*done)(struct sm_request *request));
/* "NAME (0xGUID): Set(PortInfo) 3: no answer to 9 tries", a fault of the node. */
void sm_request_failed(const struct sm_request *request);
static inline bool sm_request_ok(const struct sm_request *request)
{
	return request->mad.result == MAD_OK;
}
/* The answer to a Set has what was sent. */
bool sm_request_echoed(const struct sm_request *request);
/* Of a sweep that is over: what it finds out is no business of the one that runs. */
bool sm_request_is_late(const struct sm_request *request);
/* AttributeModifier of a block of a MulticastForwardingTable, by its index in builder_node.mft. */
static inline uint32_t sm_mft_modifier(uint32_t index)
{
	return index / IBA_MFT_POSITIONS | index % IBA_MFT_POSITIONS << IBA_MFT_MOD_POSITION_SHIFT;
}

/* Tables that are read and written in blocks, by their attribute: LFT, MFT, or P_Keys of a port. */
const struct wire_type *sm_table_type(uint16_t attribute);
struct trust_table *sm_table(struct builder_node *node, unsigned int port, uint16_t attribute);
/* Keeps the block that answered a Get; false if there was no good answer. */
bool sm_block_read(struct sm_request *request);
/* Sends a Set of a block, of which nothing is known until the answer is there. */
void sm_block_send(struct sm_request *request);

/* An error of the sweep, and of no node: it goes on, but the subnet is not up at its end. */
void sm_problem(struct sm *sm, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Tells, as errors of no sweep, the lines that were not among those before; either may be NULL. */
void sm_tell_new(const struct sm *sm, char **before, char **lines);
/* "NAME (0xGUID)", or "the SM's own port" before that said who it is; returns buffer. */
const char *sm_node_name(const struct builder_node *node, char *buffer, size_t size);
#define SM_NAME_SIZE 128

/* silence.c: a request that got no answer at first is kept and handed on later; false: it is not */
bool silence_take(struct sm_request *request);
/* identity.c: the port of a CA that was asked; NULL of switches, which are asked as paths lead */
struct builder_port *identity_entry(const struct sm_request *request);
/* The switch port before a node, by the way to that entry; NULL: there is none. */
struct builder_port *identity_parent(const struct sm *sm, const struct builder_node *node,
				     const struct builder_port *entry);
/* Whether a NodeInfo that was answered is that of the node; if not, it is looked at again. */
bool identity_is_same(const struct sm_request *request);
/* Finds out whether that is still the node; entry as above. */
void identity_ask(struct sm *sm, struct builder_node *node, struct builder_port *entry);
/* The node was looked into just now, and is silent behind a link that is up. */
bool silence_is_mute(const struct sm *sm, const struct builder_node *node);
void silence_forget(struct sm *sm); /* the sweep is cancelled: what it kept is dropped */
/* What it does with them: with all tries, or on another way with the first ones; or not at all. */
void sm_request_again(struct sm_request *request, bool other_way);
void sm_request_give_up(struct sm_request *request); /* it comes back as unreachable */
void sm_request_drop(struct sm_request *request);

/* ---- dry_send.c: only where sm->dry ---- */
struct dry *dry_new(bool beside_master);
void dry_free(struct dry *dry); /* NULL is fine */
/* Notes a request that is no Get, and answers it: it is to be handed back. Any sm. */
bool dry_keeps(struct sm_request *request);
void dry_send(struct sm_request *request);	   /* to mad/, now or later */
void dry_came_back(struct sm *sm);		   /* one that was sent */
bool dry_has_ended(const struct sm *sm);	   /* nothing leaves any more; any sm */
void dry_problem(struct sm *sm, const char *text); /* any sm */
void dry_end(struct sm *sm, bool complete);	   /* the sweep has ended */

/* ---- reach.c: how SMPs get somewhere. False: there is no way. ---- */
bool reach_node(const struct sm *sm, struct builder_node *node, bool set, struct mad_route *route);
bool reach_port(const struct sm *sm, struct builder_port *port, bool set, struct mad_route *route);
/* A port of a CA or router without a link: it cannot be asked, another one would answer. */
bool reach_is_cut_off(const struct sm *sm, const struct builder_port *port);
bool reach_beyond(const struct sm *sm, struct builder_port *port, struct mad_route *route);
/* A digest of the route to the node's LID and back, as known tables have it; 0: they have none. */
uint64_t reach_route(const struct sm *sm, struct builder_node *node);
/* Directed routes to it may end at a switch before it, which does not answer. */
bool reach_is_blind(const struct builder_node *node);
/* There is such a route, and no SMP has come back by it. */
bool reach_is_unproven(const struct sm *sm, struct builder_node *node);
/*
 * The port of a neighbour from which the last hop may be directed, preferably of one that is
 * reached by LID, the nearer the SM the better; NULL: there is none.
 */
struct builder_port *reach_guide(const struct sm *sm, const struct builder_node *node);
/* The LID of a switch, if all kept theirs and no SMP to it was lost yet; 0: none. */
uint16_t reach_likely_lid(const struct sm *sm, const struct builder_node *node);
/* An SMP by that route to the node's LID was answered by it. */
void reach_answered(struct builder_node *node, uint64_t route);
/* The same failed, or if 0 a mixed route did, and the directed one did not. */
void reach_failed(struct sm *sm, struct builder_node *node, uint64_t route);

/* ---- health.c ---- */
void health_init(struct sm *sm);
void health_free(struct sm *sm);
/* An error of the sweep that this node caused: it is tried again later. */
void health_fault(struct sm *sm, struct builder_node *node, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* The same of a port that does not take what is set. */
void health_refused(struct sm *sm, const struct builder_port *port, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/*
 * A block of its LFT or MFT that a switch does not take (as of sm_table()), and how that shows.
 * From the second time in a row on routes go around it there; it is tried again ever more seldom.
 */
void health_block_refused(struct sm *sm, struct builder_node *node, uint16_t attribute,
			  uint32_t block, const char *how);
/* It has taken it, and holds it. */
void health_block_taken(struct sm *sm, struct builder_node *node, uint16_t attribute,
			uint32_t block);
/* The same of LinearFDBTop, when a Set of it was answered. */
void health_top(struct sm *sm, struct builder_node *node);
/* Whether what a node did not take is to be tried again now. */
bool health_is_due(const struct sm *sm, const struct builder_node *node);
/* The same of what the subnet can do without: true if by now it is no error any more. */
bool health_leave_out(struct sm *sm, struct builder_node *node, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* That was about who is behind this port of its. */
void health_nobody_behind(const struct builder_port *port);
/* It does not answer, and stays: an error for a few sweeps. It is asked again later. */
void health_silent(struct sm *sm, struct builder_node *node, const char *text, bool is_new);
/* No directed route leads beyond this port: that is told, and is no error. */
void health_too_far(struct sm *sm, const struct builder_port *port);
/* A node holds something else than is known, which a sweep is to put right: now or later. */
void health_differs(struct sm *sm, struct builder_node *node);
/* Whether that was so again and again, each soon after. */
bool health_relapses(const struct builder_node *node);
void health_mark_due(struct sm *sm);   /* a partial sweep begins: who is to be tried again? */
void health_sweep_ended(struct sm *sm); /* who is well? */
/* One of them may have been what others were left out for: all of those are tried again. */
void health_nodes_gone(struct sm *sm);
unsigned int health_errors(const struct sm *sm); /* sick nodes, without those left out */
/*
 * Their last errors, a line each, and of many how many more; NULL: none. To g_strfreev(). Those
 * that are silent, or have silent ones behind a port, are none of these lines: whether there are
 * such is in *silent.
 */
char **health_tell(const struct sm *sm, bool *silent);

/* ---- sweep.c ---- */
void sweep_init(struct sm *sm);
void sweep_want(struct sm *sm, unsigned int reasons);
void sweep_want_next(struct sm *sm, unsigned int reasons); /* cancels none that has discovered */
void sweep_look_at(struct sm *sm, struct builder_node *node); /* it may have changed */
void sweep_allow(struct sm *sm, bool allowed); /* false: what is wanted waits for a true */
void sweep_break(struct sm *sm); /* the SM's link fell: the one that runs begins anew */
void sweep_look(struct sm *sm);	 /* a standby reads what there is: a heavy sweep as far as ELECT */
void sweep_rest(struct sm *sm); /* this SM is not master: no sweeps, and nothing is known */
/* "main" has read the files again, for bits of enum sweep_reason. */
void sweep_files_read(struct sm *sm, unsigned int reasons);
void sweep_take_options(struct sm *sm);	       /* those of now, if no sweep runs on the old ones */
void sweep_flag(struct sm *sm, unsigned int flag, bool on);
void sweep_advance(struct sm *sm); /* an SMP or a job of it came back */
static inline bool sweep_runs(const struct sm *sm)
{
	return sm->sweep.kind != SWEEP_KIND_NONE;
}
bool sweep_is_discovering(const struct sm *sm); /* what is marked now it will look at */
/*
 * True if only nodes that were touched, and the ports at the other ends of their cables, can be
 * other than they should be.
 */
bool sweep_is_local(const struct sm *sm);
GPtrArray *sweep_nodes(const struct sm *sm); /* those that it looks at; to be unreferenced */
/* The same of ports; local: of nodes that were touched, and at the other ends of their cables. */
GPtrArray *sweep_ports(const struct sm *sm, bool local);
/* Others have waited since that time for as long as they may; then a message goes on later. */
bool sweep_gives_way(struct sm *sm, uint64_t since);

/* ---- walk.c ---- */
typedef void sweep_visit(struct sm *sm, void *item);
/*
 * The step goes on with this after it has returned, and after the walks begun before: for each part
 * (sweep.part, from 0) visit is called for all items, as there is room for SMPs. Takes items over;
 * NULL: once a part, with NULL.
 */
void sweep_walk(struct sm *sm, GPtrArray *items, uint32_t n_parts, sweep_visit *visit);
/* False if they have to wait, for SMPs that come back or as they gave way to others. */
bool walks_are_through(struct sm *sm, uint64_t since);
void walks_drop(struct sm *sm); /* the sweep is over */

/* ---- the steps, in the order of steps.def ---- */
#define STEP(name, function, kinds, text) enum step_result function(struct sm *sm);
#include "sm/steps.def"

/* description.c */
void description_get(struct sm *sm, struct builder_node *node);
void descriptions_forget(struct sm *sm); /* has a sweep read those of all nodes again */
/*
 * cables.c: the port at the other end of one has answered. True if it counts as that from now on,
 * and false if it does not, or not yet.
 */
bool cable_met(struct sm *sm, struct builder_port *port, struct builder_port *far);
/* All have answered. True if some are asked again. */
bool cables_settle(struct sm *sm);
/* Cables of a switch are lost of which only its own end has told in this sweep. */
void cables_lose_hearsay(struct sm *sm, struct builder_node *node);
/*
 * kept.c: a request that was in vain, of a sweep that looks whether its node is there: true if that
 * is all that is wrong, and it is dealt with.
 */
bool kept_failed(const struct sm_request *request);
/* A node of which enough is known to keep it: of a switch what it forwards, too. */
bool kept_was_read(const struct builder_node *node);
/*
 * lft_read.c: a switch was met and fell silent before anything of its LFT was read, so the sweep is
 * to begin anew, which takes it for one that was silent from the start. Not again for one that then
 * was not.
 */
bool lfts_are_unread(struct sm *sm);
/* It is not to be sent: its node does not answer, and it is not time to ask whether it does. */
bool kept_skips(const struct sm_request *request);
void kept_answered(struct sm *sm, struct builder_node *node);
/* Nobody answers behind a port: true if who is known to be there stays. */
bool kept_behind(struct sm *sm, struct builder_port *port);
/* The SM's own port did not answer to a heavy sweep: true if it goes on all the same. */
bool kept_own(struct sm *sm);
/* discover.c */
/* A node is met through its port entry, at the other end of a cable of parent; and read. */
void node_place(struct sm *sm, struct builder_node *node, struct builder_port *entry,
		const struct builder_node *parent);
void read_node(struct sm *sm, struct builder_node *node, struct builder_port *entry,
	       const struct builder_node *parent);
/* Asks for the NodeInfo of whatever is at the other end of a port. */
void port_probe(struct sm *sm, struct builder_port *port);
/* Nobody is known to be there, and nobody is asked. */
void port_leave_out(struct builder_port *port);
void node_lose_trust(struct sm *sm, struct builder_node *node, const char *why);
/* Whether a SwitchInfo just read says that the switch holds the tables it was given. */
bool switch_kept_tables(const struct builder_node *node, const struct iba_switch_info *now);
/* settle.c: its PortStateChange is clear, so its ports are as they were last set. */
void switch_is_calm(struct builder_node *node);
void port_info_seen(struct sm_request *request); /* a Get(PortInfo) was answered */
bool link_is_up(const struct builder_port *port);
/* It is the port that answered with this NodeInfo. */
static inline bool port_is(const struct builder_port *port, const struct iba_node_info *info)
{
	return info->node_guid == port->node->guid && info->local_port_num == port->num;
}
/* routing.c: the switch with that index in sm->fabric. */
struct builder_node *sm_switch(const struct sm *sm, uint32_t sw);
/*
 * policy.c: partitions on the fabric of the sweep, before names of nodes are read: those that a
 * sweep before read count. NULL if routes are not to mind them, or rules go by names and none was
 * read yet.
 */
struct partitions *policy_partitions_for_routes(struct sm *sm, const struct route_files *files);
/* routing.c: those that the routes in use were made by; NULL: they mind none. */
const struct partitions *routes_minded(const struct sm *sm);
struct routes *routes_new(void);
void routes_free(struct routes *routes);
void routes_compute_anew(struct sm *sm); /* the operator wants it */
void routes_written(struct sm *sm);	 /* to all switches that take them */
struct subnet;
void routes_go_on_from(struct sm *sm, const struct subnet *subnet); /* as another SM made them */
/* port.c: PortInfo as it should be, PortState apart; true if it differs from port->info. */
bool port_wanted(const struct sm *sm, const struct builder_port *port, struct iba_port_info *want);
void port_send(struct sm *sm, struct builder_port *port, const struct iba_port_info *want,
	       uint8_t state);
/* That Set, for who wants to send it himself; and what is done with its answer. */
struct sm_request *port_set(struct sm *sm, struct builder_port *port,
			    const struct iba_port_info *want, uint8_t state);
void port_answered(const struct sm_request *request);
/* Sets a PortState and PortPhysicalState, and else what it has. */
void port_send_states(struct sm *sm, struct builder_port *port, uint8_t state, uint8_t physical);
/* OperationalVLs of that, a code: as the port has them if nobody is known at the other end. */
uint8_t port_operational_vls(const struct sm *sm, const struct builder_port *port);
/* qos.c: AttributeModifier of a block of its tables; VLHighLimit as it should be */
uint32_t qos_modifier(const struct builder_port *port, uint16_t attribute, uint32_t block);
uint8_t qos_high_limit(const struct sm *sm, const struct builder_port *port);
void qos_note_lanes(struct sm *sm); /* before ports are set: they say what lanes they had */
void qos_settled(struct sm *sm); /* all that step_qos() sent is taken */
/* pkey.c: what the port of a switch should enforce, as far as its table is complete. */
void p_keys_enforcement(const struct sm *sm, const struct builder_port *port,
			struct iba_port_info *want);
/* The blocks that are not known; false if all are. */
bool p_keys_read(struct sm *sm, struct builder_port *port);
void p_keys_clear(struct sm *sm); /* no sweep runs */
/* uint16_t: the P_KeyTable of the SM's own port; NULL: it is not known. */
GArray *p_keys_own(const struct sm *sm);
/* AttributeModifier of a block of the P_KeyTable of a port. */
uint32_t p_keys_modifier(const struct builder_port *port, uint32_t block);
/* ---- pkey_guard.c: what another SM kept apart is not opened for want of definitions ---- */
/* Decides sm->p_keys_held, when tables are read that this SM has not written since it leads. */
void p_key_guard_look(struct sm *sm);
void p_key_guard_forget(struct sm *sm); /* it begins to lead */
/* ---- pkey_indexes.c: indexes of P_Key tables of hosts that a P_Key has left ---- */
struct p_key_plan;
struct p_key_left;
struct p_key_indexes *p_key_indexes_new(struct sm *sm);
void p_key_indexes_free(struct p_key_indexes *indexes);
/* Fills in left[room] of the plan for the table of that port, and the rule by which it goes. */
void p_key_indexes_plan(const struct sm *sm, const struct builder_port *port,
			struct p_key_plan *plan, struct p_key_left *left);
/* The table is to become want: what leaves an index is noted. */
void p_key_indexes_leave(struct sm *sm, const struct builder_port *port, const uint16_t *is,
			 const uint16_t *want, uint32_t room);
/* The step of the sweep waits until all that was noted is on the disk and with the standbys. */
void p_key_indexes_keep(struct sm *sm);
bool p_key_indexes_replicate(struct sm *sm); /* true: there was something to tell */
void p_key_indexes_write_again(struct sm *sm); /* what could not be written */
bool p_key_indexes_have_failed(const struct sm *sm);
/* A takeover; NULL: the SM before left nothing. */
void p_key_indexes_adopt(struct sm *sm, const struct replica *replica);
/* By the plan n of its P_Keys have no index. */
void p_key_indexes_note_without(struct sm *sm, const struct builder_port *port,
				const struct p_key_plan *plan, const uint16_t *want, uint32_t n);
/* A client that remembers the index is in another partition now. */
void p_key_indexes_note_reuse(struct sm *sm, const struct builder_port *port, uint32_t index,
			      uint16_t old, uint16_t p_key);
/* Of ports that are there, a line each: those that lack P_Keys; those whose indexes were reused. */
void p_key_indexes_tell(struct sm *sm, char ***without, char ***reused);
/* ---- port_health.c: ports that misbehave ---- */
void port_health_init(struct sm *sm);
void port_health_free(struct sm *sm);
/* Something that counts as such; port 0 of a switch stands for all of it. */
void port_health_event(struct sm *sm, const struct builder_port *port, unsigned int condition);
/* Of a CA or router: by the port that it is reached by. */
void port_health_node(struct sm *sm, const struct builder_node *node, unsigned int condition);
void port_health_fell(struct sm *sm, struct builder_port *port); /* of a switch: its link */
void port_health_trap(struct sm *sm, const struct builder_port *from,
		      const struct iba_notice *notice);
/* Whether discovery is not to go from the port to the one at its other end (NULL: not known). */
bool port_health_leaves_out(struct sm *sm, const struct builder_port *port,
			    const struct builder_port *far);
/* Does with a port what is to be done; true if it is not to be taken up. */
bool port_health_act(struct sm *sm, struct builder_port *port);
void port_health_set(struct sm *sm, const struct builder_port *port); /* a Set was answered */
void port_health_switches_gone(struct sm *sm);
void port_health_operator(struct sm *sm, uint64_t id); /* releases that one; 0: all */
/* What is known of a port of sm->fabric, by its index there (FABRIC_NONE: of none); or NULL. */
struct builder_port *port_published(const struct sm *sm, uint32_t index);
/* It is one of a client that knows how, and the operator does not forbid it. */
bool port_may_reregister(const struct sm *sm, const struct builder_port *port);
/* Set(PortInfo) with ClientReregister, beside the sweep. */
void port_reregister(struct sm *sm, struct builder_port *port);
/* reregister.c: true if the port may be asked now; else it will be when it is its turn. */
struct reregister *reregister_new(struct sm *sm);
void reregister_free(struct reregister *reregister);
bool reregister_now(struct sm *sm, struct builder_port *port);
void reregister_later(struct sm *sm, struct builder_port *port);
void reregister_wanted(struct sm *sm, uint64_t port_guid); /* as the SA says */
void reregister_forget(struct sm *sm);
/* replicate.c */
void replicate_follow(struct sm *sm, uint64_t guid); /* 0: it is neither standby nor master */
void replicate_lids(struct sm *sm);		     /* those that it has given out */
void replicate_keep_lids(struct sm *sm); /* a standby: those that its master has given out */
void replicate_path_sls(struct sm *sm);
/* program.c */
struct program *program_new(void);
void program_free(struct program *program);
/* Rows made of what was read: tables that are known are read there, if they are the first ones. */
void program_see(struct sm *sm, struct routing *held);
struct held *program_held(struct sm *sm); /* what switches hold, as far as it is known; or NULL */
/* By what stages the routing is to be written; takes both, which may be NULL. */
void program_take_stages(struct sm *sm, struct route_stages *stages, struct held *held);
/* aliases.c */
struct aliases *aliases_new(void);
void aliases_free(struct aliases *aliases);
/* multicast.c */
struct multicast *multicast_new(void);
void multicast_free(struct multicast *multicast);
/* Set(SwitchInfo); the answer is kept. */
void switch_info_send(struct sm *sm, struct builder_node *node, const struct iba_switch_info *want);
/* table_reader.c: tables that the SA wants to know, read between sweeps. */
struct table_reader *table_reader_new(struct sm *sm);
void table_reader_free(struct table_reader *reader);
void table_reader_want(struct sm *sm, uint64_t want); /* inventory_want */
void table_reader_advance(struct sm *sm); /* a table came, or SMPs may be sent again */
/* Tables of these nodes (uint64_t GUIDs) were written: nothing of them counts any more. */
void table_reader_written(struct sm *sm, GHashTable *nodes);
void table_reader_sweep_ended(struct sm *sm, enum sweep_kind kind);
/* audit.c: blocks are read back between sweeps and compared with what is known of them. */
struct audit *audit_new(struct sm *sm);
void audit_free(struct audit *audit);
/* A Set is over: if one of its tries got no answer, it may arrive yet. */
void audit_set(const struct sm_request *request);
void audit_sweep_ended(struct sm *sm); /* before it is left */
void audit_want(struct sm *sm, uint32_t nodes); /* all that is known of so many; 0: of all */
void audit_all_soon(struct sm *sm); /* when the sweep has ended: nobody knows who was written */
/* held_up.c: links between switches that do not become ACTIVE, which routes do without. */
void held_up_init(struct sm *sm);
void held_up_free(struct sm *sm);
void held_up_note(struct sm *sm, struct builder_port *port); /* this sweep has tried it in vain */
void held_up_decide(struct sm *sm);	 /* before a picture is taken: which are to be in it */
void held_up_sweep_ended(struct sm *sm); /* has one become ACTIVE? */
/* fatal.c: whether the daemon has to end. */
bool fatal_is_met(struct sm *sm);
/* keys.c: M_Keys of requests. */
void keys_init(struct sm *sm);
void keys_free(struct sm *sm);
void keys_remember(struct sm *sm);		   /* what changed since goes to the files */
void keys_tell_unkept(struct sm *sm);		   /* whether that, LIDs or P_Key indexes failed */
/* A dry run: ports have the keys that these options gave them. */
void keys_go_on_from(struct sm *sm, const struct options *running);
void keys_use(struct sm_request *request);	   /* before it is sent */
/* Whether it is kept here; then it is handed over once more with what keys_settle() returns. */
bool keys_wait(struct sm_request *request);
bool keys_silence(const struct sm *sm); /* all but those with the key of each port */
/* key_trails.c: it goes out by its route now, and may give its port another key. */
void key_trails_note(const struct sm_request *request);
GPtrArray *keys_settle(const struct sm_request *request); /* it is over; NULL: nothing waits */
/* The sweep is over, or cancelled: drops what it kept, and all keys may be tried again. */
void keys_forget(struct sm *sm, bool asides);
bool keys_try_another(struct sm_request *request); /* no answer came: it has another key now */
void keys_try_likeliest(struct sm_request *request); /* none is left: that one in earnest */
/* None came to that one either: its Set may have given the port the key that it has now. */
bool keys_try_given(struct sm_request *request);
bool keys_read_again(struct sm_request *request);  /* its answer hides the key: the same */
uint64_t keys_of_port(const struct sm *sm, const struct builder_port *port);
uint64_t keys_wanted(const struct sm *sm, const struct builder_port *port);
void keys_answered(const struct sm_request *request);
/*
 * key_unknown.c: a Set was refused by a port that hides its key: it is left out from now on. And
 * whether the one behind this port is to be, or the one that this PortInfo is of.
 */
bool keys_refused(const struct sm_request *request);
bool keys_leave_out(struct sm *sm, struct builder_port *port, uint64_t guid);
bool keys_still_unknown(struct sm *sm, struct builder_port *port, const struct iba_port_info *info);
bool keys_were_unknown(const struct sm *sm, uint64_t guid); /* no Set, until it is read */
char **keys_tell_unknown(const struct sm *sm); /* a line each; to be freed with g_strfreev */
/* The endport hides its M_Key, and is not known to take a Set of this SM all the same. */
bool keys_bar(const struct sm *sm, const struct builder_port *port);
/* Asks that endport by a Set that changes nothing; false: it was asked not long ago. */
bool keys_judge(struct sm *sm, struct builder_port *port);
unsigned int keys_count_left_out(const struct sm *sm); /* endports for want of their M_Keys */
/* A cable was met between these two. */
void keys_joined(struct sm *sm, const struct builder_port *port, const struct builder_port *far);
/* This SM is the holder of a key that the requester has shown, or its port has none; any thread. */
bool keys_shown(struct sm *sm, uint64_t m_key);
bool keys_protect(const struct sm *sm); /* its port has a key; any thread */
bool keys_are_used(const struct options *options);
/* own_port.c: asks the SM's own port now and then what became of it. */
void own_port_init(struct sm *sm);
void own_port_event(void *arg, unsigned int events); /* vendor_watch()'s */
void own_port_watch(struct sm *sm); /* from now on */
void own_port_moved(struct sm *sm); /* it leads to another device than before */
void own_port_ask(struct sm *sm, void (*done)(struct sm_request *request)); /* its PortInfo */
/* lease.c */
void lease_init(struct sm *sm);
void lease_violated(struct sm *sm, struct builder_port *port); /* by a trap; NULL is fine */
/* sm_info.c: what an SM tells of itself in an SMP with SMInfo. */
struct sm_told {
	struct iba_sm_info info;
	struct ability ability;
};
struct sm_told sm_info_own(const struct sm *sm); /* SM_Key included; of this actor only */
void sm_info_encode(const struct sm_told *told, uint8_t *data); /* of the SMP */
struct sm_told sm_info_decode(const uint8_t *data);
/*
 * From now on SMInfo is answered; a Set of it goes to mastership_receive, and what else arrives
 * unasked to trap_receive.
 */
void sm_info_serve(struct sm *sm);
/* To the Get or Set that smp was decoded from; any thread; takes mad over. */
void sm_info_answer(struct sm *sm, struct vendor_mad *mad, struct iba_smp *smp, uint16_t status,
		    bool tell_key);
/* sm_asker.c: a Get(SMInfo) that is told the SM_Key if it came from a port with IsSM. */
void sm_info_receive(void *arg, struct vendor_mad *mad);
void sm_asked(struct sm *sm, const struct vendor_mad *mad); /* the same; on the actor "mad" */
void sm_asker_free(void *asker);
/*
 * Where a directed SMP came from that this SM received, by the ports at which each switch says that
 * it came in there: the endport, or the port by which it left the node after back_to hops.
 */
struct builder_port *sm_port_of_path(const struct sm *sm, const struct iba_dr_smp *smp,
				     unsigned int back_to);
/* ---- mastership.c: other SMs ---- */
struct mastership *mastership_new(struct sm *sm);
void mastership_free(struct mastership *mastership);
void mastership_asked_from_beyond(struct sm *sm); /* for SMInfo, from where it has not been */
bool orphans_are_there(const struct sm *sm); /* orphans.c: ports that obey a dead SM */
void mastership_begin(struct sm *sm); /* the state before the first sweep; any thread */
bool mastership_is_master(const struct sm *sm);
/* It takes over from the SM at that port (NULL: of none), which did not answer polls. */
bool mastership_was_missed(const struct sm *sm, const struct builder_port *port);
bool mastership_polled_in_vain(const struct sm *sm, uint16_t lid); /* the same by its LID */
#define MISSED_TRIES 2 /* of what is sent there: polls have been tried often enough */
void mastership_saw_nothing(struct sm *sm); /* a heavy sweep ended before the step ELECT */
/* It is not for this SM to sweep now: it is standby, not active, or in the midst of a handover. */
bool mastership_rests(const struct sm *sm);
void mastership_receive(void *arg, struct vendor_mad *mad); /* a Set(SMInfo) */
void mastership_options_changed(struct sm *sm);
/*
 * The SM's own port was read between sweeps: true if another SM configured it, and what is to be
 * done about that is done, or it is to be left so.
 */
bool mastership_own_port_read(struct sm *sm, const struct iba_port_info *info);
void mastership_port_changed(struct sm *sm); /* as STANDBY: how is the master? */
void mastership_cut_off(struct sm *sm);	    /* its link is down */
void mastership_port_lost(struct sm *sm);    /* no sweeps, no polls */
void mastership_port_back(struct sm *sm);    /* as after a start, but for the state */
void mastership_activate(struct sm *sm); /* out of NOT-ACTIVE */
void mastership_retire(struct sm *sm); /* hands over if it can; EVENT_FINISHED follows */
/* trap.c: of at least IBA_MAD_BYTES. */
void trap_receive(void *arg, struct vendor_mad *mad);

#endif
