// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMPs in flight.
 *
 *	queue of the target --> first try --> overdue: further tries --> given up
 *	                           |              |
 *	                           +--- answer ---+
 *
 * The first tries wait as long as answers usually take, the last ones the full transaction timeout;
 * where packets get lost there are as many more quick tries as it takes to tell loss from a dead
 * node. A request whose first try got no answer in time is presumed lost and gives up its place in
 * the window; of the requests of one target only the first continues, to test whether it lives, and
 * the others go back to its queue. So dead targets do not hold up live ones. The window shrinks
 * only if a request was answered at a later try: that is loss, by a live target.
 *
 * A try of a request that takes long waits for long_transaction_timeout, and gives up its place in
 * the window when an answer to another one would be due.
 *
 * A slow target (target.c) gets few tries, each with the time that its answers take to come. A try
 * that was given up may still be answered; late.c receives that.
 */
#include "mad/mad_private.h"

#define DEVICE_BUSY_PAUSE NS_PER_MS
#define REFUSALS_MAX 8	/* refusals of a request by the device; each costs a transaction timeout */
#define EARLY_TRIES 4	/* approximately: 20, 40, 80 and 160 ms */
#define LOSSY_ROUNDS 12 /* at most this many times the usual tries */
#define SLOW_TRIES 2	/* minimum for a target known to be slow */

/* ---- the end of a transaction ---- */

static void leave_window(struct transaction *transaction)
{
	if (transaction->overdue)
		return;
	transaction->overdue = true;
	transaction->slot.mad->on_wire--;
}

/*
 * The slot is free; the target still knows the transaction. n is the answered try, from 1, or 0 for
 * none; the tries after it may still be answered.
 */
static struct mad_request *leave_slot(struct transaction *transaction, unsigned int n)
{
	struct mad *mad = transaction->slot.mad;
	struct mad_request *request = transaction->request;

	leave_window(transaction);
	late_keep(mad, transaction, n);
	tid_release(&mad->tids, &mad->free_slots, &transaction->slot);
	counter_add(&mad->context->counters, smp_on_wire, -1);
	transaction->request = NULL;
	return request;
}

/* Whether silence is evidence about the target: not if only a route was tested. */
static bool is_evidence(const struct mad_request *request)
{
	return !request->probe && !request->lid_only;
}

/* This many tries (0: the configured number) failed: is that enough for this request? */
static bool is_judged(const struct mad *mad, const struct mad_request *request, const void *tries)
{
	unsigned int limit = *(const uint8_t *)tries;

	(void)mad;
	return !limit || (request->tries && request->tries <= limit);
}

static void target_is_dead(struct mad *mad, struct target *target, uint8_t tries)
{
	for (unsigned int i = 0; i < target->in_flight; i++) {
		struct transaction *other = target->flight[i];

		if (!other->request || !is_judged(mad, other->request, &tries))
			continue;
		other->last = true;
		other->request->dead = !tries;
	}
	target_flush(mad, target, MAD_TIMEOUT, !tries, is_judged, &tries);
}

static void give_up(struct transaction *transaction)
{
	struct mad *mad = transaction->slot.mad;
	struct mad_request *request = transaction->request;
	struct target *target = transaction->target;
	bool cancelled = mad_is_cancelled(mad, request);
	bool sent = transaction->slot.n_tries > transaction->refusals;
	bool dead = !cancelled && sent && is_evidence(request) &&
		    target->answers == transaction->answers_before;
	uint8_t tries = request->tries;

	if (!request->probe && !cancelled)
		counter_inc(&mad->context->counters, smp_timeouts);
	request->result = cancelled ? MAD_CANCELLED : MAD_TIMEOUT;
	mad_hand_back(leave_slot(transaction, 0));
	if (dead)
		target_is_dead(mad, target, tries);
	target_release(mad, target, transaction);
}

/* ---- tries ---- */

/* Number of tries after which silence is not just loss. */
static unsigned int tries_needed(const struct transaction *transaction)
{
	const struct mad *mad = transaction->slot.mad;

	if (transaction->request->tries)
		return 1;
	return loss_tries(&mad->loss, LOSSY_ROUNDS * (EARLY_TRIES + mad->retries + 1));
}

static bool tries_used_up(const struct transaction *transaction)
{
	unsigned int made = transaction->early + transaction->tries;
	unsigned int limit = transaction->request->tries;
	bool slow = target_is_slow(transaction->slot.mad, transaction->target);

	if (transaction->last)
		return true;
	if (limit) /* half of these already give a slow target far more time than others */
		return made >= (slow || transaction->request->takes_long ? (limit + 1) / 2 : limit);
	if (slow)
		return made >= MAX(tries_needed(transaction), SLOW_TRIES);
	return transaction->tries > transaction->slot.mad->retries &&
	       made >= tries_needed(transaction);
}

/* The first waits are short; tries added because of loss wait as briefly as the first. */
static unsigned int wait_for_try(const struct transaction *transaction)
{
	const struct mad *mad = transaction->slot.mad;
	unsigned int quick;

	if (target_is_slow(mad, transaction->target))
		return target_wait_ms(transaction->target, transaction->request->method,
				      transaction->early + transaction->tries);
	if (transaction->tries)
		return mad->timeout_ms;
	quick = transaction->early ? tries_needed(transaction) - 1 : 0;
	return rtt_wait_ms(&mad->rtt, transaction->early - MIN(quick, transaction->early),
			   mad->timeout_ms);
}

static void count_sent(struct mad *mad, const struct transaction *transaction)
{
	struct counters *counters = &mad->context->counters;
	const struct mad_route *route = &transaction->request->route;

	counter_inc(counters, smp_sent);
	if (transaction->early + transaction->tries)
		counter_inc(counters, smp_retries);
	if (transaction->form == SMP_LID)
		return;
	counter_inc(counters, smp_directed);
	counter_add(counters, smp_directed_hops,
		    transaction->form == SMP_MIXED ? route->via_hops : route->hops);
}

static void note_sent(struct transaction *transaction)
{
	struct mad_request *request = transaction->request;

	transaction->sent_ns = actor_now(transaction->slot.mad->actor);
	tid_tried(&transaction->slot, transaction->sent_ns);
	transaction->answers_at_try = transaction->target->answers;
	if (!(transaction->early + transaction->tries))
		transaction->answers_before = transaction->answers_at_try;
	if (request->sent < UINT8_MAX)
		request->sent++;
}

/* Sends it, or has the timer try again soon if the device is full. */
static void transmit(struct transaction *transaction)
{
	struct mad *mad = transaction->slot.mad;
	struct vendor_address to;
	uint8_t wire[IBA_MAD_BYTES];

	transaction->form = form_choose(transaction);
	smp_encode(transaction->request, transaction->form,
		   tid_next(&mad->tids, &transaction->slot), mad->own_lid, mad->sm_sl, wire, &to);
	transaction->wait_ms = wait_for_try(transaction);
	transaction->waiting =
		!vendor_send(mad->vendor, &to, wire, sizeof(wire),
			     MAX(LATE_MS, MAX(mad->timeout_ms, mad->long_timeout_ms)));
	if (transaction->waiting) {
		timer_start(&transaction->slot.timer, DEVICE_BUSY_PAUSE);
		return;
	}
	count_sent(mad, transaction);
	note_sent(transaction);
	timer_start(&transaction->slot.timer, transaction->wait_ms * NS_PER_MS);
	if (target_is_slow(mad, transaction->target))
		leave_window(transaction); /* only its own request waits for it */
}

/* A request with all its tries, which shows whether the target lives. */
static bool is_test(const struct transaction *transaction)
{
	const struct mad_request *request = transaction->request;

	return request && transaction->overdue && !transaction->last && !request->tries &&
	       is_evidence(request) && !mad_is_cancelled(transaction->slot.mad, request);
}

/* Does another request already test the silent target? */
static bool can_wait(const struct transaction *transaction)
{
	const struct target *target = transaction->target;

	if (!target->silent || !is_test(transaction))
		return false;
	for (unsigned int i = 0; i < target->in_flight; i++)
		if (target->flight[i] != transaction && is_test(target->flight[i]))
			return true;
	return false;
}

static void requeue(struct transaction *transaction)
{
	struct mad *mad = transaction->slot.mad;

	target_requeue(mad, transaction->target, leave_slot(transaction, 0));
	target_release(mad, transaction->target, transaction);
}

/* Makes another try by the other route, or ends the transaction. */
static void try_lost(struct transaction *transaction)
{
	struct mad *mad = transaction->slot.mad;
	struct target *target = transaction->target;
	unsigned int *count = &transaction->tries;

	if (form_is_shortest(transaction))
		transaction->preferred_failed = true;
	if (transaction->wait_ms < mad->timeout_ms && !transaction->request->takes_long)
		count = &transaction->early;
	++*count;
	leave_window(transaction);
	if (is_evidence(transaction->request) && target->answers == transaction->answers_at_try)
		target->silent = true;
	if (mad_is_cancelled(mad, transaction->request) || tries_used_up(transaction))
		give_up(transaction);
	else if (can_wait(transaction))
		requeue(transaction);
	else
		transmit(transaction);
}

/* The device would not send it: no try was made, and another at once would also be refused. */
static void try_refused(struct transaction *transaction)
{
	struct mad *mad = transaction->slot.mad;

	transaction->request->sent--;
	transaction->refusals++;
	transaction->waiting = true;
	if (mad_is_cancelled(mad, transaction->request) || transaction->refusals > REFUSALS_MAX)
		give_up(transaction);
	else
		timer_start(&transaction->slot.timer, mad->timeout_ms * NS_PER_MS);
}

/* ---- the window ---- */

static struct transaction *transaction_begin(struct mad *mad, struct target *target)
{
	struct transaction *transaction = (struct transaction *)tid_take(&mad->free_slots);

	transaction->target = target;
	transaction->tries = transaction->early = transaction->refusals = 0;
	transaction->preferred_failed = transaction->overdue = transaction->last = false;
	target_dequeue(mad, target, transaction);
	mad->on_wire++;
	counter_inc(&mad->context->counters, smp_on_wire);
	return transaction;
}

/* Sends while there is room. */
static void fill_window(struct mad *mad)
{
	while (mad->on_wire < window_room(&mad->window) && mad->free_slots) {
		struct target *target = target_next(mad);
		struct transaction *transaction;

		if (!target)
			return;
		transaction = transaction_begin(mad, target);
		transmit(transaction);
		if (transaction->waiting)
			return; /* its timer continues */
		form_probe(mad, transaction->request);
	}
}

static bool is_full(const struct mad *mad)
{
	return window_has_second(&mad->window) && mad->ring_first &&
	       mad->on_wire >= window_room(&mad->window);
}

void transaction_pump(struct mad *mad)
{
	fill_window(mad);
	if (is_full(mad) && !timer_running(&mad->stalled))
		timer_start(&mad->stalled, mad->stalled_ns);
}

/* Dead targets are not to hold the window for as long as their first tries wait. */
static void on_stalled(struct timer *timer)
{
	struct mad *mad = container_of(timer, struct mad, stalled);

	if (is_full(mad))
		window_stalled(&mad->window);
	transaction_pump(mad);
}

static void window_moves(struct mad *mad)
{
	mad->window.more = 0;
	timer_stop(&mad->stalled);
}

/* For how much time since now_ns - *since the answer may still be on its way; 0: no more. */
static uint64_t patience(const struct transaction *transaction, uint64_t now, uint64_t *since)
{
	const struct target *target = transaction->target;
	const struct mad_request *request = transaction->request;
	const struct mad *mad = transaction->slot.mad;
	uint64_t most = request->takes_long ? mad->long_timeout_ms * NS_PER_MS : 0;

	*since = now - transaction->sent_ns;
	if (!target_is_slow(mad, target) || *since < most)
		return most;
	*since = now - MAX(transaction->sent_ns, target->heard_ns);
	return target_wait_ms(target, request->method, 0) * NS_PER_MS;
}

/*
 * It takes long, or its target was found to be slow since the try was sent, or answers one request
 * after the other.
 */
static bool is_waited_for(struct transaction *transaction)
{
	struct mad *mad = transaction->slot.mad;
	uint64_t since, wait = patience(transaction, actor_now(mad->actor), &since);

	if (since >= wait || mad_is_cancelled(mad, transaction->request))
		return false;
	leave_window(transaction);
	timer_start(&transaction->slot.timer, wait - since);
	return true;
}

static void on_due(struct timer *timer)
{
	struct transaction *transaction = (struct transaction *)timer;
	struct mad *mad = transaction->slot.mad;

	if (transaction->waiting)
		transmit(transaction);
	else if (!is_waited_for(transaction))
		try_lost(transaction);
	transaction_pump(mad);
}

void transaction_cancel(struct mad *mad)
{
	target_cancel(mad);
	for (unsigned int i = 0; i < mad->n_transactions; i++) {
		struct transaction *transaction = &mad->transactions[i];

		if (transaction->request && transaction->waiting &&
		    mad_is_cancelled(mad, transaction->request))
			give_up(transaction); /* no try is in flight */
	}
	transaction_pump(mad);
}

/* ---- answers ---- */

/* What an answer to try n shows about the fabric. */
static void learn(struct mad *mad, const struct transaction *transaction, unsigned int n)
{
	uint64_t now = actor_now(mad->actor);
	uint64_t took = now - tid_sent_ns(&transaction->slot, n);
	struct target *target = transaction->target;
	bool slow = target_is_slow(mad, target);

	if (!transaction->request->takes_long) /* that says nothing about other requests */
		target_took(mad, target, transaction->request->method, took,
			    n < transaction->slot.n_tries);
	target_named(mad, target, transaction->request, false);
	if (slow || transaction->refusals)
		return;
	loss_answer(&mad->loss, n);
	if (n > 1)
		window_loss(&mad->window, now, mad->timeout_ms * NS_PER_MS);
	else if (!transaction->overdue)
		window_response(&mad->window);
}

/* The answer to a LID-routed SMP comes from the LID that it was sent to. */
static bool is_from_target(const struct mad_request *request, const struct vendor_mad *received)
{
	return received->data[1] != IBA_CLASS_SUBN_LID ||
	       received->remote.lid == request->route.lid;
}

static bool on_answer(struct tid_slot *slot, unsigned int n, const struct vendor_mad *received)
{
	struct transaction *transaction = (struct transaction *)slot;
	struct mad *mad = slot->mad;
	struct target *target = transaction->target;

	if (!iba_class_is_smp(received->data[1]) ||
	    !is_from_target(transaction->request, received) ||
	    !smp_decode(transaction->request, received->data))
		return false;
	window_moves(mad);
	counter_inc(&mad->context->counters, smp_received);
	if (transaction->request->result == MAD_STATUS)
		counter_inc(&mad->context->counters, smp_bad_status);
	transaction->request->by_lid = received->data[1] == IBA_CLASS_SUBN_LID;
	timing_add(&mad->context->round_trips[!transaction->request->by_lid],
		   actor_now(mad->actor) - tid_sent_ns(&transaction->slot, n));
	learn(mad, transaction, n);
	transaction->request->fell_back = transaction->preferred_failed && n == slot->n_tries &&
					  !form_is_shortest(transaction);
	mad_hand_back(leave_slot(transaction, n));
	target_answered(mad, target);
	target_release(mad, target, transaction);
	return true;
}

bool mad_asks_same(const struct mad_request *request, const struct mad_request *like)
{
	return !request->probe && !request->lid_only && request->method == like->method &&
	       request->attribute == like->attribute && request->modifier == like->modifier &&
	       request->m_key == like->m_key;
}

static bool picks_same(const struct mad_request *request, const void *like)
{
	return mad_asks_same(request, like);
}

bool transaction_late(struct mad *mad, struct target *target, const struct mad_request *like,
		      const struct vendor_mad *received)
{
	struct mad_request *request;

	for (unsigned int i = 0; i < target->in_flight; i++) {
		struct transaction *transaction = target->flight[i];

		request = transaction->request;
		if (!request || !mad_asks_same(request, like) ||
		    !smp_decode(request, received->data))
			continue;
		mad_hand_back(leave_slot(transaction, 0));
		target_release(mad, target, transaction);
		return true;
	}
	request = target_take(mad, target, picks_same, like);
	if (request && smp_decode(request, received->data)) {
		request->sent = MAX(request->sent, 1);
		mad_hand_back(request);
	}
	return false;
}

static void on_returned(struct tid_slot *slot, const struct vendor_mad *returned)
{
	struct transaction *transaction = (struct transaction *)slot;

	if (transaction->waiting || !iba_class_is_smp(returned->data[1]))
		return;
	if (returned->status == VENDOR_FAILED)
		try_refused(transaction);
	else
		try_lost(transaction);
}

/* ---- all of them ---- */

static const struct tid_user user = {.answer = on_answer, .returned = on_returned};

void transaction_init(struct mad *mad, unsigned int n)
{
	timer_init(&mad->stalled, mad->actor, on_stalled);
	mad->n_transactions = n;
	mad->transactions = g_new0(struct transaction, n);
	for (unsigned int i = 0; i < n; i++)
		tid_add(&mad->transactions[i].slot, mad, mad->actor, &user, on_due);
	for (unsigned int i = n; i-- > 0;)
		tid_release(&mad->tids, &mad->free_slots, &mad->transactions[i].slot);
}

void transaction_clear(struct mad *mad)
{
	for (unsigned int i = 0; i < mad->n_transactions; i++)
		if (mad->transactions[i].request)
			mad_drop(mad->transactions[i].request);
	g_free(mad->transactions);
}
