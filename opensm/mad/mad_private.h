// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of mad/ share. All of it belongs to the actor "mad". */
#ifndef MAD_MAD_PRIVATE_H
#define MAD_MAD_PRIVATE_H

#include "complib/bucket.h"
#include "mad/late.h"
#include "mad/loss.h"
#include "mad/mad.h"
#include "mad/rtt.h"
#include "mad/smp.h"
#include "mad/tid.h"
#include "mad/window.h"

#define TARGET_WINDOW 4
#define SMP_SLOTS 4096 /* at most */

struct asks; /* of ask.c */
struct late; /* of late.c */
struct transaction;

/* The SMA of a node or port: requests queued for it, and those in flight. */
struct target {
	struct target_key {
		uint64_t guid;
		uint64_t port;
	} key;
	struct mad_request *first, *last;
	struct target *next; /* in the ring */
	struct transaction *flight[TARGET_WINDOW];
	unsigned int in_flight;
	uint64_t answers; /* received since it was created */
	bool silent;	  /* a try got no answer and none has since: only that request is sent */
	struct rtt gets, sets; /* its own, once an answer came after its wait ended */
	uint64_t heard_ns;     /* when it last answered, since then */
	uint64_t answered_ns;  /* when it last answered */
	uint64_t shortest_ns;  /* shortest time an answer took since it has been slow */
	bool far; /* answers take long but arrive together: the path is slow, not the SMA */
	bool in_ring;
};

/* An SMP in flight. */
struct transaction {
	struct tid_slot slot; /* first */
	struct mad_request *request;
	struct target *target;
	unsigned int early; /* tries that waited less than the transaction timeout */
	unsigned int tries; /* tries that waited that long */
	unsigned int refusals;
	unsigned int wait_ms;
	uint64_t sent_ns;			 /* when the latest try left */
	uint64_t answers_before, answers_at_try; /* target->answers at these times */
	bool preferred_failed;
	bool waiting; /* for its next try, which the device did not accept */
	bool overdue; /* its first try got no answer in time: it does not count in the window */
	bool last;    /* no further try */
	enum smp_form form;
};

struct server {
	struct vendor_client client;
	bool present;
};

/* Whether a form of routing works on this fabric. */
struct form_state {
	const char *name;
	bool proven, probing;
	uint64_t probe_after, pause;
};

struct trim {
	struct timer timer;
	struct message message;
	atomic_bool wanted;
	uint64_t delay; /* until the next trim after a flood; 0: there was none recently */
	atomic_uint mads;    /* received and sent since the last check */
	struct message many; /* mads exceeded the limit; posted at most once between two checks */
	bool once_more;	     /* memory was trimmed at the last check */
};

struct mad {
	struct context *context;
	struct vendor *vendor;
	struct actor *actor;
	struct actor *segments; /* "rmpp": sends and receives messages in segments */
	GHashTable *targets; /* struct target by its key */
	struct target *ring_first, *ring_last;
	struct tid_table tids;
	struct asks *asks;
	struct late *late;
	bool bound[256]; /* by class */
	atomic_bool busy_response;  /* a configuration option */
	struct bucket busy_answers; /* used by the receiving thread */
	struct trim trim;
	struct transaction *transactions;
	unsigned int n_transactions; /* as many as the device can have in flight */
	struct tid_slot *free_slots; /* of transactions */
	struct window window;
	struct timer stalled; /* runs while the window is full, if that has a second limit */
	uint64_t stalled_ns;  /* its interval */
	struct rtt rtt;
	struct loss loss;
	unsigned int on_wire; /* transactions that count in the window */
	unsigned int timeout_ms, retries;
	unsigned int long_timeout_ms; /* of requests that take long; not less than timeout_ms */
	uint64_t cancelled; /* requests up to this serial are cancelled */
	uint16_t own_lid;
	uint8_t sm_sl;
	struct form_state forms[SMP_FORMS];
	struct server servers[256];
};

static inline bool mad_is_cancelled(const struct mad *mad, const struct mad_request *request)
{
	return request->serial && request->serial <= mad->cancelled;
}

/* Hands the request back to its owner. */
void mad_hand_back(struct mad_request *request);
/* Registers for responses of a class; as manager, for all its MADs. True if already done. */
bool mad_bind(struct mad *mad, uint8_t mgmt_class, bool manager, GError **error);
/* Frees a request at shutdown, when its owner no longer exists. */
void mad_drop(struct mad_request *request);

/* ---- target.c ---- */
void target_init(struct mad *mad);
void target_clear(struct mad *mad);
/* Appends to the queue of the request's target; creates the target if needed. */
void target_enqueue(struct mad *mad, struct mad_request *request);
/* The next target in turn that may be sent something; NULL: none. */
struct target *target_next(struct mad *mad);
/* Moves the first request of its queue into flight. */
void target_dequeue(struct mad *mad, struct target *target, struct transaction *transaction);
/* Puts a request that was in flight back, before those that were never sent. */
void target_requeue(struct mad *mad, struct target *target, struct mad_request *request);
/* A transaction is over. Frees the target if nothing is left of it. */
void target_release(struct mad *mad, struct target *target, const struct transaction *transaction);
/* The target answered a request: it may be sent more. */
void target_answered(struct mad *mad, struct target *target);
/*
 * An answer took took_ns. This is recorded once an answer has come after its wait ended (late), for
 * as long as the target is slow: it is then sent one request at a time, with waits as long as it
 * needs.
 */
void target_took(struct mad *mad, struct target *target, uint8_t method, uint64_t took_ns,
		 bool late);
/*
 * A node that was asked for its NodeInfo through the cable to it has answered: its target is keyed
 * by its GUID from now on and keeps its answer times. late: the request had already failed.
 */
void target_named(struct mad *mad, const struct target *target, const struct mad_request *answered,
		  bool late);
bool target_is_slow(const struct mad *mad, const struct target *target);
/* How long to wait for try n, from 0, of a slow target. */
unsigned int target_wait_ms(const struct target *target, uint8_t method, unsigned int n);
/* An answer to a request no longer in flight came from it; creates the target if needed. */
struct target *target_get(struct mad *mad, const struct target_key *key);
/* Takes the first request that pick() accepts from its queue; NULL: none. */
struct mad_request *target_take(struct mad *mad, struct target *target,
				bool (*pick)(const struct mad_request *request, const void *arg),
				const void *arg);
/* Frees it if it has nothing to send or remember. */
void target_let_go(struct mad *mad, struct target *target);
/* Hands back, with this result, the queued requests that pick() accepts. */
void target_flush(struct mad *mad, struct target *target, enum mad_result result, bool dead,
		  bool (*pick)(const struct mad *mad, const struct mad_request *request,
			       const void *arg),
		  const void *arg);
/* Hands back all cancelled requests that wait. */
void target_cancel(struct mad *mad);

/* ---- form.c ---- */
void form_init(struct mad *mad);
/* The form of routing for the next try of a transaction. */
enum smp_form form_choose(const struct transaction *transaction);
/* The last try used the shortest form, and that is not the directed one. */
bool form_is_shortest(const struct transaction *transaction);
/* While the form that suits a request is unproven: asks the same node for its NodeInfo that way. */
void form_probe(struct mad *mad, const struct mad_request *like);

/* ---- transaction.c ---- */
void transaction_init(struct mad *mad, unsigned int n);
void transaction_clear(struct mad *mad);
/* Sends as much as the window, the targets and the device allow. */
void transaction_pump(struct mad *mad);
/* Call after raising mad->cancelled. */
void transaction_cancel(struct mad *mad);

/*
 * Ends the transaction of this target that asks the same, or takes such a request from its queue.
 * True if it was a transaction: the target may have been freed.
 */
bool transaction_late(struct mad *mad, struct target *target, const struct mad_request *like,
		      const struct vendor_mad *received);
bool mad_asks_same(const struct mad_request *request, const struct mad_request *like);

/* ---- late.c ---- */
void late_init(struct mad *mad);
void late_clear(struct mad *mad);
/* A transaction ends without an answer to its tries after n; these may still be answered. */
void late_keep(struct mad *mad, const struct transaction *transaction, unsigned int n);
/* False if it does not answer any of them. */
bool late_answer(struct mad *mad, const struct vendor_mad *received);

/* ---- ask.c ---- */
void ask_init(struct mad *mad);
void ask_clear(struct mad *mad);

/* ---- trim.c ---- */
void trim_init(struct mad *mad);
void trim_count(struct mad *mad); /* a MAD was received or sent; any thread */

#endif
