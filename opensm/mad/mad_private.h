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
	struct rtt gets, sets; /* its own, since an answer came later than was waited for */
	uint64_t heard_ns;     /* when it last answered, since then */
	uint64_t answered_ns;  /* when it last answered */
	uint64_t shortest_ns;  /* that an answer took, since it is slow */
	bool far; /* its answers take long, but come together: the way does, not the SMA */
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
	uint64_t delay; /* to the next trim after a flood; 0: there was none lately */
	atomic_uint mads;    /* received and sent since the last look */
	struct message many; /* these became many; posted once between two looks */
	bool once_more;	     /* the allocator was told at the last look */
};

struct mad {
	struct context *context;
	struct vendor *vendor;
	struct actor *actor;
	GHashTable *targets; /* struct target by its key */
	struct target *ring_first, *ring_last;
	struct tid_table tids;
	struct asks *asks;
	struct late *late;
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
/*
 * An answer of it took so long. That counts once one has come later than was waited for (late), as
 * long as it is slow: it is then asked one thing at a time, and waited for as long as it needs.
 */
void target_took(struct mad *mad, struct target *target, uint8_t method, uint64_t took_ns,
		 bool late);
/*
 * One that was asked who it is, by the cable that leads to it, has answered: it is known by its
 * GUID from now on, and what is known of its time is so, too. late: the answer was given up.
 */
void target_named(struct mad *mad, const struct target *target, const struct mad_request *answered,
		  bool late);
bool target_is_slow(const struct mad *mad, const struct target *target);
/* How long try n, from 0, of a slow one is waited for. */
unsigned int target_wait_ms(const struct target *target, uint8_t method, unsigned int n);
/* An answer to something that is no more in flight came from it: it is made if it is new. */
struct target *target_get(struct mad *mad, const struct target_key *key);
/* Takes the first for which pick() says so from its queue; NULL: none. */
struct mad_request *target_take(struct mad *mad, struct target *target,
				bool (*pick)(const struct mad_request *request, const void *arg),
				const void *arg);
/* Frees it if nothing is to be sent or remembered. */
void target_let_go(struct mad *mad, struct target *target);
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
/* The last try went by the shortest one, and that is not the directed one. */
bool form_is_shortest(const struct transaction *transaction);
/* While the form that suits a request is unproven: asks the same node for its NodeInfo that way. */
void form_probe(struct mad *mad, const struct mad_request *like);

/* ---- transaction.c ---- */
void transaction_init(struct mad *mad, unsigned int n);
void transaction_clear(struct mad *mad);
/* Sends what the window, the targets and the device take. */
void transaction_pump(struct mad *mad);
/* mad->cancelled was raised. */
void transaction_cancel(struct mad *mad);

/*
 * Ends the transaction of this target, or takes from its queue the request, that asks the same.
 * True if it was a transaction: the target may be gone.
 */
bool transaction_late(struct mad *mad, struct target *target, const struct mad_request *like,
		      const struct vendor_mad *received);
bool mad_asks_same(const struct mad_request *request, const struct mad_request *like);

/* ---- late.c ---- */
void late_init(struct mad *mad);
void late_clear(struct mad *mad);
/* A transaction ends without an answer to its tries after n, which may come yet. */
void late_keep(struct mad *mad, const struct transaction *transaction, unsigned int n);
/* False if it is no answer to any of them. */
bool late_answer(struct mad *mad, const struct vendor_mad *received);

/* ---- ask.c ---- */
void ask_init(struct mad *mad);
void ask_clear(struct mad *mad);

/* ---- trim.c ---- */
void trim_init(struct mad *mad);
void trim_count(struct mad *mad); /* a MAD was received or sent; any thread */

#endif
