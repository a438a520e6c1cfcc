// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One subnet manager, assembled: context, transactions, sweeps and SA on one port. A process may
 * hold any number of them. All functions run on the owner's thread, that of the loop.
 */
#ifndef CTL_DAEMON_H
#define CTL_DAEMON_H

#include "core/context.h"
#include "core/options.h"
#include "ctl/site/partition_requests.h"
#include "ctl/site/site_files.h"
#include "vendor/vendor.h"

struct daemon;
struct sm;
struct cc;
struct mad;
struct perf;
struct plugins_face;

struct daemon_config {
	struct runtime *rt;	 /* outlives the daemon */
	struct options *options; /* as at start; the daemon takes a reference */
	struct log *log;	 /* outlives the daemon */
	struct vendor *vendor;	 /* an open port; the daemon takes it over, also on failure */
	const char *cache_dir;	 /* copied; NULL: nothing is kept across a restart */
	bool cache_refused;	 /* cache_dir is NULL because it cannot be written */
	struct route_registry *engines; /* of another daemon; NULL: its own */
	bool self_check;	 /* for tests: check shortcuts against full computations */
	GMainContext *loop;	 /* of the owner; NULL: the default one. Unused in virtual time */
};

/* Binds the port's management classes. NULL and error if the port cannot be used. */
struct daemon *daemon_new(const struct daemon_config *config, GError **error);

/*
 * Called on the loop when nothing is left to do (--once, daemon_retire). Set before daemon_start.
 */
typedef void daemon_finished_fn(void *arg, int exit_code);
void daemon_on_finished(struct daemon *daemon, daemon_finished_fn *finished, void *arg);

/* Starts the actors: threads, or all on the loop if the options say single_thread. */
void daemon_start(struct daemon *daemon);

/*
 * Reads opensm.conf again and applies the options that can change at run time; false and error: the
 * old options stay. In either case reads the files of the routing options and the port policy
 * again, too; a wrong file is logged, and its old contents stay in effect.
 */
bool daemon_reread(struct daemon *daemon, GError **error);
/* As daemon_reread(), but writes what is wrong to the log, one line per mistake. */
bool daemon_reread_logged(struct daemon *daemon);
/* Why these files were refused, or cannot be read yet. */
const struct refusal *daemon_refusal(const struct daemon *daemon, enum daemon_files files);
/* For code that reads files itself: notes why they were refused; why NULL: they were accepted. */
void daemon_refuse(struct daemon *daemon, enum daemon_files files, const char *why);
/* Reads only the files of the routing options again. */
void daemon_reread_routes(struct daemon *daemon);
/* Reads only partitions.conf again; true if its contents are new. A later sweep applies them. */
bool daemon_reread_partitions(struct daemon *daemon);
/*
 * Adds and removes partition members at run time (partition_changes.h) as request says; request
 * NULL: forgets the run-time changes of the P_Key forget (0: of all P_Keys). *serial gets the
 * serial of the policy that contains the change once it is in effect. False and error: nothing
 * changed.
 */
bool daemon_change_partitions(struct daemon *daemon, const char *request, uint16_t forget,
			      uint64_t *serial, GError **error);
bool daemon_request_partitions(struct daemon *daemon, const struct partition_request *request,
			       uint64_t *serial, GError **error);
/* How far a change is; for it and why it failed, see ctl/site/partition_requests.h. */
enum partition_progress daemon_partitions_progress(struct daemon *daemon, uint64_t serial);
bool daemon_partitions_held(struct daemon *daemon);
uint64_t daemon_partitions_kept_to(struct daemon *daemon);
bool daemon_partitions_failed(struct daemon *daemon, unsigned int number, uint64_t *from,
			      uint64_t *to, const char **why);
const char *daemon_partitions_failure(struct daemon *daemon, uint64_t serial);
/* Serial of the policy in effect in the subnet; 0: there is none yet. */
uint64_t daemon_partitions_serial(struct daemon *daemon);
/*
 * Whether that policy is in effect and each standby that held everything before holds it too, or
 * the bounded time allowed for this has passed; also true if this SM is not MASTER any more. If
 * false, ask again later.
 */
bool daemon_partitions_settled(struct daemon *daemon, uint64_t serial);
/*
 * Counts the other SMs that hold it now and those that may not. False: the change failed, or
 * another SM has become master and may not know of it.
 */
bool daemon_partitions_kept(struct daemon *daemon, uint64_t serial, unsigned int *with,
			    unsigned int *without);
/* Reads only qos-policy.conf again; true if its contents are new. */
bool daemon_reread_qos(struct daemon *daemon);

/* Asks for sweeps: bits of enum sweep_reason. A heavy sweep uses opensm.conf as it is now. */
void daemon_sweep(struct daemon *daemon, unsigned int reasons);

/*
 * Hands over to a standby, if this SM is master and there is one; afterwards the daemon has
 * finished.
 */
void daemon_retire(struct daemon *daemon);

/* Clears IsSM, closes the port and stops the actors; the fabric keeps running as it is. */
void daemon_stop(struct daemon *daemon);
void daemon_free(struct daemon *daemon); /* stops it if it runs; NULL is fine */

/*
 * Makes a plan (plan/plan.h) for this SM from opensm.conf as it is now, or from another file, while
 * the daemon goes on; one plan at a time. False and error: it cannot be made. When it is done the
 * listener gets the answer: a floating dictionary with details of at most max_nodes nodes.
 */
bool daemon_plan(struct daemon *daemon, const char *file, unsigned int max_nodes, GError **error);
typedef void daemon_plan_fn(void *arg, GVariant *answer);
void daemon_plan_listen(struct daemon *daemon, daemon_plan_fn *done, void *arg); /* NULL: none */

/* For plans: a context whose slots are empty except for the options; the caller frees its pools. */
void daemon_context_init(struct context *context, const struct daemon_config *config,
			 const char *cache_dir);
void daemon_context_join(struct context *context); /* waits for its pools to finish their work */
void daemon_context_clear(struct context *context);

/* For code that watches the daemon. Subscribe to the bus before daemon_start. */
struct context *daemon_context(struct daemon *daemon);
struct sm *daemon_sm(struct daemon *daemon);
struct perf *daemon_perf(struct daemon *daemon);
struct cc *daemon_cc(struct daemon *daemon);
struct mad *daemon_mad(struct daemon *daemon);
/* Its plug-ins, which the owner keeps; NULL: none. */
void daemon_set_plugins(struct daemon *daemon, const struct plugins_face *plugins);
const struct plugins_face *daemon_plugins(struct daemon *daemon);
uint64_t daemon_port_guid(const struct daemon *daemon); /* before daemon_stop */
struct actor *daemon_actor(struct daemon *daemon); /* runs on the loop */
/* Actors that everything else depends on. */
#define DAEMON_WATCHED 3
void daemon_watched(const struct daemon *daemon, struct actor *actors[DAEMON_WATCHED]);

#endif
