// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of mad/ share. All of it belongs to the actor "mad". */
#ifndef MAD_PRIVATE_H
#define MAD_PRIVATE_H

#include "complib/bucket.h"
#include "mad/loss.h"
#include "mad/mad.h"
#include "mad/rtt.h"
#include "mad/tid.h"
#include "mad/smp.h"
#include "mad/window.h"

#define TARGET_WINDOW 4
#define SMP_SLOTS 4096 /* at most */

struct asks; /* of ask.c */
struct transaction;

/* An SMA: the requests for it that wait, and those in flight. */
struct target {
	struct target_key {
		uint64_t guid;
		uint64_t port;
	} key;
	struct mad_request *first, *last;
	struct target *next; /* in the ring */
	struct transaction *flight[TARGET_WINDOW];
	unsigned int in_flight;
	uint64_t answers; /* of it since it was made */
	bool silent;	  /* a try got no answer, nor did another one since: nothing new is sent */
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
	uint64_t first_ns, sent_ns;		 /* when the first and the latest try left */
	uint64_t answers_before, answers_at_try; /* target->answers at these times */
	bool preferred_failed;
	bool waiting; /* for its next try, which the device did not take */
	bool overdue; /* its first try got no answer in time: it does not count in the window */
	bool last;    /* no further try */
	enum smp_form form;
};

struct server {
	struct vendor_client client;
	bool present;
};

/* Whether a form of routing works here. */
struct form_state {
	const char *name;
	bool proven, probing;
	uint64_t probe_after, pause;
};

struct trim {
	struct timer timer;
	struct message message;
	atomic_bool wanted;
	uint64_t delay; /* for which the timer runs, or ran */
};

struct mad {
	struct context *context;
	struct vendor *vendor;
	struct actor *actor;
	GHashTable *targets; /* struct target by its key */
	struct target *ring_first, *ring_last;
	struct tid_table tids;
	struct asks *asks;
	bool bound[256]; /* by class */
	atomic_bool busy_response;  /* an option */
	struct bucket busy_answers; /* of the thread that receives */
	struct trim trim;
	struct transaction *transactions;
	unsigned int n_transactions; /* as many as the device can have in flight */
	struct tid_slot *free_slots; /* of transactions */
	struct window window;
	struct rtt rtt;
	struct loss loss;
	unsigned int on_wire; /* transactions that count in the window */
	unsigned int timeout_ms, retries;
	uint64_t cancelled; /* requests up to this serial are given up */
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
/* So that responses of a class reach us; as manager, all of it does. True if it was done before. */
bool mad_bind(struct mad *mad, uint8_t mgmt_class, bool manager, GError **error);
/* At the end: nobody is there to have it back. */
void mad_drop(struct mad_request *request);

/* ---- target.c ---- */
void target_init(struct mad *mad);
void target_clear(struct mad *mad);
/* Appends to the queue of the request's target, which is made if it is new. */
void target_enqueue(struct mad *mad, struct mad_request *request);
/* The next in turn that may be sent something; NULL: none. */
struct target *target_next(struct mad *mad);
/* Moves the first request of its queue into flight. */
void target_dequeue(struct mad *mad, struct target *target, struct transaction *transaction);
/* One that was in flight waits again, before those that were never sent. */
void target_requeue(struct mad *mad, struct target *target, struct mad_request *request);
/* A transaction is over. Frees the target if nothing is left of it. */
void target_release(struct mad *mad, struct target *target, const struct transaction *transaction);
/* It answered something: it may be sent more. */
void target_answered(struct mad *mad, struct target *target);
/* Hands back those that wait and for which pick() says so, with that result. */
void target_flush(struct mad *mad, struct target *target, enum mad_result result, bool dead,
		  bool (*pick)(const struct mad *mad, const struct mad_request *request,
			       const void *arg),
		  const void *arg);
/* Hands back all that wait and are cancelled. */
void target_cancel(struct mad *mad);

/* ---- form.c ---- */
void form_init(struct mad *mad);
/* For the next try of a transaction. */
enum smp_form form_choose(const struct transaction *transaction);
/* While the form that suits a request is unproven: asks the same node for its NodeInfo that way. */
void form_probe(struct mad *mad, const struct mad_request *like);

/* ---- transaction.c ---- */
void transaction_init(struct mad *mad, unsigned int n);
void transaction_clear(struct mad *mad);
/* Sends what the window, the targets and the device take. */
void transaction_pump(struct mad *mad);
/* mad->cancelled was raised. */
void transaction_cancel(struct mad *mad);

/* ---- ask.c ---- */
void ask_init(struct mad *mad);
void ask_clear(struct mad *mad);

/* ---- trim.c ---- */
void trim_init(struct mad *mad);

#endif
