// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each request that is taken makes rules from the newest ones, with a serial of its own. The newest
 * are written as soon as the disk is free, and published when they are on it, so that what takes
 * effect survives a restart. If the disk refuses, all requests since the last publication fail.
 */
#include "ctl/site/partition_requests.h"

#include <complib/bucket.h>
#include <inttypes.h>

#include "ctl/site/members_file.h"
#include "policy/partition/partition.h"
#include "policy/partition/partition_sources.h"
#include "subnet/subnet.h"

#define SWEEPS_A_SECOND 10 /* for changes that keep coming */
#define SWEEPS_AT_ONCE 10  /* for those that come after a while */
#define SWEEP_REST 9	   /* times that a sweep took, until the next one */
#define SWEEP_REST_MAX_NS (5 * NS_PER_S)
#define FAILURES_KEPT 64

/* Requests that failed: serials. */
struct failure {
	uint64_t from, to;
	char *why;
};

struct partition_requests {
	struct context *context;
	struct actor *main;
	struct site_files *site;
	struct members_file *file;
	struct partition_rules *newest;	 /* with all requests; NULL: all are published */
	struct partition_rules *written; /* being written; NULL: none */
	uint64_t base;	    /* of the changes in effect, on which the requests are based */
	uint64_t last;	    /* serial of the last request */
	uint64_t decided;   /* requests up to this serial are published, or have failed */
	GArray *failures;   /* struct failure */
	bool taking;	    /* the requester hears of a failure at once */
	struct bucket pace; /* of sweeps */
	struct timer sweep; /* runs while one is held back */
	/*
	 * Serials: of the changes the replicator has; last asked about; last kept; kept when
	 * another SM was master, or 0.
	 */
	uint64_t told, keep_asked, kept, not_kept;
};

static bool is_for_master(struct partition_requests *requests, GError **error)
{
	if (atomic_load(&requests->context->sm_state) == IBA_SM_MASTER)
		return true;
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_NOT_MASTER,
		    "only the MASTER SM changes partitions, and this SM is not MASTER");
	return false;
}

/* ---- sweeps ---- */

static void want_sweep(struct partition_requests *requests)
{
	uint64_t now = actor_now(requests->main);

	if (timer_running(&requests->sweep))
		return;
	if (bucket_take(&requests->pace, now))
		event_emit(&requests->context->bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
	else
		timer_start(&requests->sweep, bucket_wait(&requests->pace, now));
}

/* Sweeps for changes that keep coming take a tenth of the time, as far as none waits for long. */
static void on_sweep_done(void *arg, uint64_t value)
{
	const struct sweep_done done = sweep_done_unpack(value);
	struct partition_requests *requests = arg;
	struct bucket *pace = &requests->pace;

	if (done.reasons & SWEEP_POLICY)
		pace->full_ns = MAX(pace->full_ns, actor_now(requests->main)) +
				MIN(SWEEP_REST * done.took_us * NS_PER_US, SWEEP_REST_MAX_NS);
}

static void on_sweep(struct timer *timer)
{
	want_sweep(container_of(timer, struct partition_requests, sweep));
}

bool partition_requests_are_held(const struct partition_requests *requests)
{
	return timer_running(&requests->sweep);
}

/* ---- failures ---- */

static void clear_failure(gpointer data)
{
	g_free(((struct failure *)data)->why);
}

static const struct failure *find_failure(const struct partition_requests *requests,
					  uint64_t serial)
{
	for (guint i = 0; i < requests->failures->len; i++) {
		const struct failure *failure = &g_array_index(requests->failures, struct failure,
							       i);

		if (serial >= failure->from && serial <= failure->to)
			return failure;
	}
	return NULL;
}

const char *partition_requests_failure(const struct partition_requests *requests, uint64_t serial)
{
	const struct failure *failure = find_failure(requests, serial);

	return failure ? failure->why : NULL;
}

static void forget_newest(struct partition_requests *requests)
{
	partition_rules_unref(g_steal_pointer(&requests->newest));
	partition_rules_unref(g_steal_pointer(&requests->written));
}

/* All that is not published. */
static void fail(struct partition_requests *requests, const char *why)
{
	const struct failure failure = {requests->decided + 1, requests->last, g_strdup(why)};

	forget_newest(requests);
	if (failure.from > failure.to) {
		g_free(failure.why);
		return;
	}
	if (!requests->taking)
		log_error(requests->context->log,
			  "partition members: policy %" PRIu64 " is not in effect: %s", failure.to,
			  why);
	if (requests->failures->len == FAILURES_KEPT)
		g_array_remove_index(requests->failures, 0);
	g_array_append_val(requests->failures, failure);
	requests->decided = requests->last;
}

void partition_requests_save(struct partition_requests *requests)
{
	struct partition_rules *rules = slot_take(&requests->context->partition_rules);

	if (requests->newest || requests->written)
		fail(requests, "another SM has changed partitions in the meantime");
	if (rules->changes)
		members_file_put(requests->file, site_files_aside(requests->site), rules->changes,
				 NULL, NULL);
	partition_rules_unref(rules);
}

/* ---- publication ---- */

static void write_newest(struct partition_requests *requests);

/* The files of the site may have been read again since the request. */
static struct partition_rules *rules_to_publish(const struct partition_rules *old,
						struct partition_rules *written, GError **error)
{
	if (partition_sources_same(old->sources, written->sources))
		return partition_rules_ref(written);
	return partition_rules_remake(old->files->pdata[0], old->sources, written->changes, error);
}

static void publish(struct partition_requests *requests, struct partition_rules *new,
		    uint64_t serial)
{
	uint64_t changes = new->changes->serial;

	requests->base = changes;
	requests->decided = serial;
	slot_publish(&requests->context->partition_rules, new);
	event_emit(&requests->context->bus, EVENT_PARTITIONS_CHANGED, changes);
	want_sweep(requests);
}

static struct partition_rules *accepted(struct partition_requests *requests,
					struct partition_rules *written, const GError *wrong,
					GError **error)
{
	struct partition_rules *old = slot_take(&requests->context->partition_rules), *new = NULL;

	if (wrong)
		g_propagate_error(error, g_error_copy(wrong));
	else if (old->changes->serial != requests->base)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_LIMIT,
			    "another SM has changed partitions in the meantime");
	else if (is_for_master(requests, error))
		new = rules_to_publish(old, written, error);
	if (new)
		new->serial = MAX(written->serial, old->serial + 1);
	partition_rules_unref(old);
	return new;
}

static void on_written(void *arg, struct partition_changes *changes, const GError *wrong)
{
	struct partition_requests *requests = arg;
	struct partition_rules *written = requests->written, *new;
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	if (!written || written->changes != changes)
		return; /* given up in the meantime */
	requests->written = NULL;
	serial = written->serial;
	new = accepted(requests, written, wrong, &error);
	if (requests->newest == written)
		partition_rules_unref(g_steal_pointer(&requests->newest));
	partition_rules_unref(written);
	if (new) {
		publish(requests, new, serial);
		write_newest(requests);
		return;
	}
	fail(requests, error->message);
	if (!wrong) /* the file contains changes that are not in effect */
		partition_requests_save(requests);
}

static void write_newest(struct partition_requests *requests)
{
	if (requests->written || !requests->newest)
		return;
	requests->written = partition_rules_ref(requests->newest);
	members_file_put(requests->file, site_files_aside(requests->site),
			 requests->written->changes, on_written, requests);
}

/* ---- requests ---- */

static bool fits(struct partition_requests *requests, const struct partition_request *request,
		 const struct partition_rules *new, GError **error)
{
	struct subnet *subnet = slot_take(&requests->context->subnet);
	struct partition_rules *asked = NULL;
	g_autofree char *why = NULL;

	if (subnet && request->strict && request->text)
		asked = partition_rules_parse_requests("request", request->text,
						       strlen(request->text), NULL);
	if (asked)
		why = partitions_lack(subnet->partitions, subnet->fabric, asked, new);
	if (why)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_IMPOSSIBLE, "%s", why);
	partition_rules_unref(asked);
	subnet_unref(subnet);
	return !why;
}

/* The rules after the request, from those before; unchanged, those before. */
static struct partition_rules *make(struct partition_requests *requests,
				    struct partition_rules *before,
				    const struct partition_request *request, GError **error)
{
	uint64_t serial = MAX(before->serial, requests->last) + 1;
	struct partition_changes *changes =
		partition_changes_make(before->changes, before, request, serial, error);
	struct partition_rules *new = NULL;

	if (changes == before->changes)
		new = partition_rules_ref(before);
	else if (changes)
		new = partition_rules_remake(before->files->pdata[0], before->sources, changes,
					     error);
	partition_changes_unref(changes);
	if (!new || new == before)
		return new;
	new->serial = serial;
	if (fits(requests, request, new, error))
		return new;
	partition_rules_unref(new);
	return NULL;
}

/* Takes ownership of new. False and error: it has failed already. */
static bool go_on_with(struct partition_requests *requests, struct partition_rules *new,
		       GError **error)
{
	uint64_t serial = new->serial;
	const struct failure *failure;

	partition_rules_unref(requests->newest);
	requests->newest = new;
	requests->last = serial;
	requests->taking = true;
	write_newest(requests);
	requests->taking = false;
	failure = find_failure(requests, serial);
	if (failure)
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE, "%s", failure->why);
	return !failure;
}

bool partition_requests_take(struct partition_requests *requests,
			     const struct partition_request *request, uint64_t *serial,
			     GError **error)
{
	struct partition_rules *before, *new;
	bool good = true;

	if (!is_for_master(requests, error))
		return false;
	before = requests->newest ? partition_rules_ref(requests->newest)
				  : slot_take(&requests->context->partition_rules);
	new = make(requests, before, request, error);
	if (new)
		*serial = new->serial;
	if (new && new != before) {
		if (!requests->newest) {
			requests->base = before->changes->serial;
			requests->decided = MAX(requests->decided, before->serial);
		}
		good = go_on_with(requests, new, error);
	} else {
		good = new != NULL;
		partition_rules_unref(new);
	}
	partition_rules_unref(before);
	return good;
}

/* ---- standbys ---- */

struct keeping {
	struct replicator_wait wait; /* first */
	struct partition_requests *requests;
	uint64_t serial;
};

static void drop_keeping(struct message *message)
{
	g_free(message);
}

static void on_kept(struct replicator_wait *wait, bool kept)
{
	struct keeping *keeping = (struct keeping *)wait;
	struct partition_requests *requests = keeping->requests;

	requests->kept = MAX(requests->kept, keeping->serial);
	requests->not_kept = kept ? 0 : keeping->serial;
	if (!kept)
		requests->keep_asked = 0; /* in case it is asked again */
	g_free(keeping);
}

static void ask_if_kept(struct partition_requests *requests, struct replicator *replicator,
			uint64_t serial)
{
	struct keeping *keeping = g_new0(struct keeping, 1);

	keeping->wait.message.drop = drop_keeping;
	keeping->wait.owner = requests->main;
	keeping->wait.done = on_kept;
	keeping->requests = requests;
	keeping->serial = requests->keep_asked = serial;
	replicator_wait(replicator, &keeping->wait);
}

/* The SM has given the replicator what is published. */
static bool are_told(struct partition_requests *requests)
{
	struct partition_rules *rules = slot_take(&requests->context->partition_rules);
	bool told = !rules->changes || requests->told >= rules->changes->serial;

	partition_rules_unref(rules);
	return told;
}

static void on_told(void *arg, uint64_t serial)
{
	struct partition_requests *requests = arg;

	requests->told = MAX(requests->told, serial);
}

bool partition_requests_are_kept(const struct partition_requests *requests, uint64_t serial)
{
	return !find_failure(requests, serial) &&
	       (!requests->not_kept || requests->not_kept < serial);
}

uint64_t partition_requests_kept_to(struct partition_requests *requests,
				    struct replicator *replicator)
{
	struct partition_rules *rules = slot_take(&requests->context->partition_rules);
	uint64_t published = MAX(rules->serial, requests->decided);

	partition_rules_unref(rules);
	if (!replicator_is_on(replicator))
		return published;
	if (requests->keep_asked < published && are_told(requests))
		ask_if_kept(requests, replicator, published);
	return requests->kept;
}

bool partition_requests_failed(const struct partition_requests *requests, unsigned int number,
			       uint64_t *from, uint64_t *to, const char **why)
{
	const struct failure *failure;

	if (number >= requests->failures->len)
		return false;
	failure = &g_array_index(requests->failures, struct failure, number);
	*from = failure->from;
	*to = failure->to;
	*why = failure->why;
	return true;
}

static bool is_in_effect(const struct partition_requests *requests, uint64_t serial)
{
	struct subnet *subnet = slot_take(&requests->context->subnet);
	bool is = subnet && subnet->partitions->rules->serial >= serial;

	subnet_unref(subnet);
	return is;
}

enum partition_progress partition_requests_progress(struct partition_requests *requests,
						    struct replicator *replicator, uint64_t serial)
{
	if (atomic_load(&requests->context->sm_state) != IBA_SM_MASTER ||
	    find_failure(requests, serial))
		return PARTITION_SETTLED;
	if (serial > requests->decided && (requests->newest || requests->written))
		return PARTITION_TAKEN;
	if (replicator_is_on(replicator)) {
		if (!are_told(requests))
			return PARTITION_TAKEN;
		if (requests->keep_asked < serial)
			ask_if_kept(requests, replicator, serial);
		if (requests->kept < serial)
			return PARTITION_TAKEN;
	}
	if (is_in_effect(requests, serial))
		return PARTITION_SETTLED;
	return timer_running(&requests->sweep) ? PARTITION_HELD : PARTITION_KEPT;
}

/* ---- life ---- */

struct partition_requests *partition_requests_new(struct context *context, struct actor *main,
						  struct site_files *site)
{
	struct partition_requests *requests = g_new0(struct partition_requests, 1);

	requests->context = context;
	requests->main = main;
	requests->site = site;
	requests->file = members_file_new(context);
	requests->failures = g_array_new(FALSE, FALSE, sizeof(struct failure));
	g_array_set_clear_func(requests->failures, clear_failure);
	bucket_init(&requests->pace, SWEEPS_A_SECOND, SWEEPS_AT_ONCE);
	timer_init(&requests->sweep, main, on_sweep);
	event_subscribe(&context->bus, EVENT_PARTITIONS_TOLD, main, on_told, requests);
	event_subscribe(&context->bus, EVENT_SWEEP_DONE, main, on_sweep_done, requests);
	return requests;
}

void partition_requests_free(struct partition_requests *requests)
{
	if (!requests)
		return;
	forget_newest(requests);
	members_file_free(requests->file);
	g_array_unref(requests->failures);
	g_free(requests);
}
