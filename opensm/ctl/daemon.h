// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One subnet manager, assembled: context, transactions, sweeps and SA on one port. A process may
 * hold any number of them. All functions run on the owner's thread, that of the loop.
 */
#ifndef CTL_DAEMON_H
#define CTL_DAEMON_H

#include "core/context.h"
#include "core/options.h"
#include "ctl/site/site_files.h"
#include "vendor/vendor.h"

struct daemon;
struct sm;

struct daemon_config {
	struct runtime *rt;	 /* outlives the daemon */
	struct options *options; /* as at start; the daemon takes a reference */
	struct log *log;	 /* outlives the daemon */
	struct vendor *vendor;	 /* an open port; the daemon takes it over, also on failure */
	const char *cache_dir;	 /* copied; NULL: nothing is kept over a restart */
	bool cache_refused;	 /* it is NULL, as it cannot be written */
	bool self_check;	 /* for tests: compare what short cuts give with the long way */
	GMainContext *loop;	 /* of the owner; NULL: the default one. Unused in virtual time */
};

/* Binds the port's management classes. NULL and error if the port is not to be had. */
struct daemon *daemon_new(const struct daemon_config *config, GError **error);

/* Who is told, on the loop, that there is nothing left to do (--once, daemon_retire): before
 * daemon_start. */
typedef void daemon_finished_fn(void *arg, int exit_code);
void daemon_on_finished(struct daemon *daemon, daemon_finished_fn *finished, void *arg);

/* Starts the actors: threads, or all on the loop if the options say single_thread. */
void daemon_start(struct daemon *daemon);

/*
 * Reads opensm.conf again, applies what is live; false and error: the old options stay. In any case
 * the files of the routing options and the policy of ports are read again, too; a wrong one is
 * logged, and stays as it was.
 */
bool daemon_reread(struct daemon *daemon, GError **error);
/* The same; what is wrong goes to the log, a mistake a line. */
bool daemon_reread_logged(struct daemon *daemon);
/* What of files was not taken, or cannot be read yet. */
const struct refusal *daemon_refusal(const struct daemon *daemon, enum daemon_files files);
/* Of who reads files himself; why NULL: they were taken. */
void daemon_refuse(struct daemon *daemon, enum daemon_files files, const char *why);
/* The files of the routing options only. */
void daemon_reread_routes(struct daemon *daemon);
/* partitions.conf only: true if it says something new, which counts once a sweep takes it. */
bool daemon_reread_partitions(struct daemon *daemon);
/*
 * Members added and removed at run time (partition_changes.h): a request, or with NULL what
 * is known of a P_Key is forgotten (0: of any). *serial is that of the policy that has it, when it
 * is in effect. False and error: nothing changed.
 */
bool daemon_change_partitions(struct daemon *daemon, const char *request, uint16_t forget,
			      uint64_t *serial, GError **error);
/* Of the policy that the subnet goes by; 0: there is none yet. */
uint64_t daemon_partitions_serial(struct daemon *daemon);
/*
 * Whether that policy is in effect and with each standby that had everything before, or at least a
 * bounded time was given to it; also if this SM is not MASTER any more. To be asked again if not.
 */
bool daemon_partitions_settled(struct daemon *daemon, uint64_t serial);
/* Other SMs that have it now, and those of which that is not known; false: there is another master.
 */
bool daemon_partitions_kept(struct daemon *daemon, uint64_t serial, unsigned int *with,
			    unsigned int *without);
/* The same of qos-policy.conf. */
bool daemon_reread_qos(struct daemon *daemon);

/* Asks for sweeps: bits of enum sweep_reason. A heavy one goes by opensm.conf as it is now. */
void daemon_sweep(struct daemon *daemon, unsigned int reasons);

/* Hands over to a standby, if this SM is master and there is one; then it has finished. */
void daemon_retire(struct daemon *daemon);

/* Takes IsSM back, closes the port and stops the actors; the fabric keeps running as it is. */
void daemon_stop(struct daemon *daemon);
void daemon_free(struct daemon *daemon); /* stops it if it runs; NULL is fine */

/*
 * A plan (plan/plan.h) of this SM by opensm.conf as it is now, or by another file, beside what it
 * does: one at a time. False and error: it cannot be made. When it is done the listener gets its
 * answer, a floating dictionary with details of at most so many nodes.
 */
bool daemon_plan(struct daemon *daemon, const char *file, unsigned int max_nodes, GError **error);
typedef void daemon_plan_fn(void *arg, GVariant *answer);
void daemon_plan_listen(struct daemon *daemon, daemon_plan_fn *done, void *arg); /* NULL: nobody */

/* For plans: a context with empty slots but for the options; its pools are the caller's to free. */
void daemon_context_init(struct context *context, const struct daemon_config *config,
			 const char *cache_dir);
void daemon_context_join(struct context *context); /* the pools: runs what they have */
void daemon_context_clear(struct context *context);

/* For who watches it. Subscribing to the bus is for before daemon_start. */
struct context *daemon_context(struct daemon *daemon);
struct sm *daemon_sm(struct daemon *daemon);
uint64_t daemon_port_guid(const struct daemon *daemon); /* before daemon_stop */
struct actor *daemon_actor(struct daemon *daemon); /* runs on the loop */
/* Those that all depends on. */
#define DAEMON_WATCHED 3
void daemon_watched(const struct daemon *daemon, struct actor *actors[DAEMON_WATCHED]);

#endif
