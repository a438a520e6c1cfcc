// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The receiver thread: reads MADs from the one descriptor of a port and posts them to clients.
 *
 * It polls only that descriptor, through libibumad: simulators that preload a library under
 * libibumad intercept exactly that. So the thread cannot be woken by a second descriptor; it checks
 * the stop flag after each poll, which takes at most POLL_MS.
 *
 * When the device is gone it closes the port, and opens it again when the device is back (link.c).
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "complib/thread.h"
#include "umad_private.h"

#define POLL_MS 100
#define LOOK_TURNS 10 /* of POLL_MS: between checks whether the device is back */
#define HASTE_MS 1000 /* a device that fails again this soon is checked less often, */
#define HASTE_MAX 6   /* in the end every LOOK_TURNS << HASTE_MAX turns */
#define PART 512      /* MADs read before the stop flag is checked again */
#define AHEAD 16      /* MADs read before they are posted */
#define VISIT_MAX 2   /* of them: the receiver thread runs what they cause itself */
#define LINGER_MS 20
#define LINGER_TURNS 50
#define MAD_BYTES 256

static void address_from_umad(struct vendor_address *to, const struct ib_mad_addr *from,
			      uint8_t mgmt_class)
{
	to->lid = be16toh(from->lid);
	to->sl = from->sl;
	to->path_bits = from->path_bits;
	to->qpn = be32toh(from->qpn);
	/* The kernel reports no Q_Key: SMPs have none, other MADs use that of QP1. */
	to->qkey = iba_class_is_smp(mgmt_class) ? 0 : IBA_QP1_Q_KEY;
	to->p_key_index = from->pkey_index;
	to->has_grh = from->grh_present;
	if (!to->has_grh)
		return;
	to->hop_limit = from->hop_limit;
	to->traffic_class = from->traffic_class;
	to->flow_label = be32toh(from->flow_label);
	to->gid.prefix = be64toh(from->ib_gid.global.subnet_prefix);
	to->gid.guid = be64toh(from->ib_gid.global.interface_id);
}

static const struct umad_agent *agent_of(struct umad_device *device, const uint8_t *data,
					 size_t length)
{
	return length > 1 ? atomic_load(&device->agents[data[1]]) : NULL;
}

static struct vendor_mad *make_mad(struct umad_device *device, const struct ib_user_mad *umad,
				   size_t length, enum vendor_status status)
{
	struct vendor_mad *mad;

	if (!agent_of(device, umad->data, length))
		return NULL; /* a simulator's bug: the kernel delivers by registered class */
	mad = vendor_mad_new(&device->vendor, umad->data, length);
	mad->status = status;
	address_from_umad(&mad->remote, &umad->addr, umad->data[1]);
	return mad;
}

static void post(struct umad_device *device, struct vendor_mad *mad)
{
	vendor_mad_post(mad, &agent_of(device, mad->data, mad->length)->client);
}

void umad_deliver(struct umad_device *device, const struct ib_user_mad *umad, size_t length,
		  enum vendor_status status)
{
	struct vendor_mad *mad = make_mad(device, umad, length, status);

	if (mad)
		post(device, mad);
}

static bool is_response(const struct ib_user_mad *umad, int length)
{
	return length > 3 && (umad->data[3] & IBA_METHOD_RESPONSE);
}

/*
 * MADs read and not posted yet. A receiving actor that is faster than reading would go to sleep
 * after each MAD, and waking it costs more than the MAD.
 */
struct batch {
	struct vendor_mad *mads[AHEAD];
	unsigned int n;
};

static void post_batch(struct umad_device *device, struct batch *batch)
{
	for (unsigned int i = 0; i < batch->n; i++)
		post(device, batch->mads[i]);
	batch->n = 0;
}

/*
 * As post_batch(), when there is nothing more to read. Few MADs mean that others wait for their
 * answers before they send more, so a thread that would have to be woken costs more than it helps.
 */
static void post_last(struct umad_device *device, struct batch *batch)
{
	const struct vendor_mad *first = batch->mads[0];
	struct loop *visited = NULL;

	if (batch->n && batch->n <= VISIT_MAX) {
		const struct vendor_client *client =
			&agent_of(device, first->data, first->length)->client;

		visited = client->brief ? actor_visit_begin(client->segments) : NULL;
	}
	post_batch(device, batch);
	actor_visit(visited);
}

static void receive_one(struct umad_device *device, const struct ib_user_mad *umad, int length,
			struct batch *batch)
{
	enum vendor_status status = VENDOR_RECEIVED;

	/* A returned request or a response: not a response of ours without an ACK. */
	if (!umad->status == is_response(umad, length))
		atomic_fetch_sub(&device->in_flight, 1);
	if (atomic_load(&device->stop))
		return;
	if (umad->status == ETIMEDOUT)
		status = VENDOR_TIMED_OUT;
	else if (umad->status)
		status = VENDOR_FAILED;
	batch->mads[batch->n] = make_mad(device, umad, length, status);
	batch->n += batch->mads[batch->n] != NULL;
	if (batch->n == AHEAD)
		post_batch(device, batch);
}

/* Sets whether there is always more to read: admission then takes less from each source. */
static void tell_pressed(struct umad_device *device, bool pressed)
{
	atomic_store_explicit(&device->vendor.pressed, pressed, memory_order_relaxed);
}

/* Reads the available MADs, or a large part of them. False if the device fails. */
static bool read_mads(struct umad_device *device, struct ib_user_mad **umad, size_t *room,
		      struct batch *batch)
{
	const struct umad_link *link = atomic_load(&device->link);

	for (int i = 0; i < PART; i++) {
		int length = *room;
		int id;

		errno = 0;
		(*umad)->addr.pkey_index = 0; /* ibsim does not set it */
		id = umad_recv(link->port_id, *umad, &length, 0);
		if (id >= 0) {
			receive_one(device, *umad, length, batch);
			continue;
		}
		if (errno == ENOSPC && length > (int)*room) {
			/*
			 * A reassembled message: the kernel keeps it and has reported its length.
			 */
			*room = length;
			*umad = g_realloc(*umad, umad_size() + *room);
			continue;
		}
		tell_pressed(device, false);
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
	}
	tell_pressed(device, true);
	return true;
}

static bool drain(struct umad_device *device, struct ib_user_mad **umad, size_t *room)
{
	struct batch batch = {.n = 0};
	bool ok = read_mads(device, umad, room, &batch);
	int reason = errno;

	post_last(device, &batch);
	errno = reason;
	return ok;
}

enum readiness {
	READABLE,
	IDLE,
	BROKEN,
};

static enum readiness wait_readable(struct umad_device *device, int timeout_ms)
{
	const struct umad_link *link = atomic_load(&device->link);
	int rc;

	errno = 0;
	rc = umad_poll(link->port_id, timeout_ms);
	if (rc == 0)
		return READABLE;
	/* -EIO without errno: a preloaded poll() that woke up for nothing. */
	return rc == -ETIMEDOUT || errno == 0 || errno == EINTR ? IDLE : BROKEN;
}

static void pause_turn(void)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * NS_PER_MS};

	nanosleep(&pause, NULL);
}

/* A failure that persists: log it once, and do not spin. */
static void note_failure(struct umad_device *device, bool known)
{
	if (!known)
		log_error(device->log, "%s: receiving from the device failed: %s",
			  vendor_name(&device->vendor), g_strerror(errno));
	pause_turn();
}

uint64_t umad_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / NS_PER_MS;
}

/*
 * Before the agents are removed, reads and drops the answers to requests in flight, for at most a
 * second: ibsim's preloaded library crashes on a response to an agent that no longer exists. It
 * never reports a lost request, so one that is overdue counts as lost.
 */
static void linger(struct umad_device *device, struct ib_user_mad **umad, size_t *room)
{
	if (!atomic_load(&device->link))
		return;
	for (int i = 0; i < LINGER_TURNS && atomic_load(&device->in_flight) > 0 &&
			umad_now_ms() < atomic_load(&device->due_ms);
	     i++)
		if (wait_readable(device, LINGER_MS) == READABLE)
			drain(device, umad, room); /* ignore the result: only in_flight matters */
}

/* Waits until the device is back, or the thread must stop. */
static void wait_for_device(struct umad_device *device, unsigned int turns)
{
	for (unsigned int turn = 1; !atomic_load(&device->stop); turn++) {
		pause_turn();
		if (turn % turns == 0 && umad_rebind(device))
			return;
	}
}

/* Reads while the device exists. Returns the errno with which it failed; 0: the thread stops. */
static int receive(struct umad_device *device, struct ib_user_mad **umad, size_t *room)
{
	bool failed = false;

	while (!atomic_load(&device->stop)) {
		enum readiness ready = wait_readable(device, POLL_MS);
		bool ok = ready == READABLE ? drain(device, umad, room) : ready == IDLE;
		int reason = ok ? 0 : errno;

		if (!umad_is_gone(reason))
			reason = atomic_load(&device->broken);
		if (reason)
			return reason;
		if (!ok)
			note_failure(device, failed);
		failed = !ok || (failed && ready == IDLE);
	}
	return 0;
}

static void *receiver_main(void *arg)
{
	struct umad_device *device = arg;
	size_t room = MAD_BYTES;
	struct ib_user_mad *umad = g_malloc0(umad_size() + room);
	uint64_t since = umad_now_ms();
	unsigned int haste = 0;
	int reason;

	pthread_setname_np(pthread_self(), "umad");
	while ((reason = receive(device, &umad, &room))) {
		haste = umad_now_ms() - since < HASTE_MS ? MIN(haste + 1, HASTE_MAX) : 0;
		umad_lose(device, reason);
		tell_pressed(device, false);
		wait_for_device(device, LOOK_TURNS << haste);
		since = umad_now_ms();
	}
	linger(device, &umad, &room);
	g_free(umad);
	return NULL;
}

bool umad_receiver_start(struct umad_device *device, GError **error)
{
	int rc;

	if (device->receiving)
		return true;
	rc = thread_try(&device->receiver, NULL, receiver_main, device);
	if (rc) {
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_SYSTEM,
			    "no thread for receiving from %s: %s", vendor_name(&device->vendor),
			    g_strerror(rc));
		return false;
	}
	device->receiving = true;
	return true;
}

void umad_receiver_stop(struct umad_device *device)
{
	if (!device->receiving)
		return;
	atomic_store(&device->stop, true);
	pthread_join(device->receiver, NULL);
	device->receiving = false;
}
