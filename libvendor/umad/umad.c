// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The umad back end: a port of a real HCA through libibumad, or of a simulator that preloads a
 * library under it.
 *
 * A device is a port, opened (link.c), whose file descriptor is shared by
 *  - the actors that bind and send: sending is one write(), without a lock;
 *  - a receiver thread (receiver.c), started by the first bind, which does nothing but read and
 *    post to the actor of the MAD's class, and opens the port again when its HCA is back.
 * Agents are published by one atomic pointer per class and live until close, which first joins the
 * receiver. Another thread waits for local events (events.c).
 *
 * The kernel matches responses to requests by TransactionID and agent, and times requests out. It
 * drops a response whose request was sent without a timeout; it rejects a request equal to one
 * still outstanding.
 *
 * For a manager, libvendor handles RMPP of class 0x03 (IBA 13.6) in transfers.c, because the kernel
 * keeps a copy of each message and reports failed transfers, but not acknowledged ones. Its agent
 * is registered with RMPP version 0, for which the kernel (drivers/infiniband/core: user_mad.c,
 * mad.c, mad_rmpp.c) does this:
 *  - written data are sent as one MAD; more than 256 octets are refused with EINVAL;
 *  - a MAD with the R bit keeps its TransactionID, and needs no request: this is how the DATA
 *    packets of an answer are sent, without a timeout. A MAD equal to one that is still queued for
 *    sending is refused with EINVAL, unless it is RMPP Active;
 *  - a MAD without the R bit goes to the agent that registered its class, version and method, RMPP
 *    Active or not. ACK, STOP and ABORT of a requester arrive this way, with the method of the DATA
 *    packets without the R bit: GetTable; GetMulti for both GetMulti and GetTraceTable;
 *  - a MAD with the R bit goes to the agent given by the high half of its TransactionID, if that
 *    agent has such a request outstanding, or if the MAD is RMPP Active.
 * Kernels do this since 2014 (Linux 3.17 or 3.18); older ones refuse RMPP Active MADs of such an
 * agent with EINVAL. This was not tested on a real HCA. vendor_use_kernel_rmpp() returns to the
 * kernel's RMPP: version 1, whole messages both ways.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "umad_private.h"

#define MAD_BYTES 256
#define MAD_HEADER_BYTES 24
#define SEND_MANY 16 /* MADs a system call */

/*
 * SMPs in flight. The kernel posts 512 receive buffers to QP0 (ib_mad's recv_queue_size): using at
 * most half of them for responses leaves room for traps and for the responses that we send
 * ourselves. ibsim and its clients write to each other over blocking datagram sockets, and hang for
 * ever when both are full, which was observed from about 128 requests on.
 */
#define OUTSTANDING_HARDWARE 256
#define OUTSTANDING_IBSIM 100

#define BIT(method) (UINT64_C(1) << (method))

/* Requests that a manager of each class receives. The kernel gives each method to one agent. */
static const struct class_row {
	uint8_t mgmt_class;
	uint8_t version;
	uint8_t rmpp_version;
	uint64_t methods;
} class_rows[] = {
	{IBA_CLASS_SUBN_LID, 1, 0,
	 BIT(IBA_METHOD_GET) | BIT(IBA_METHOD_SET) | BIT(IBA_METHOD_TRAP) |
		 BIT(IBA_METHOD_TRAP_REPRESS)},
	{IBA_CLASS_SUBN_DIRECTED, 1, 0,
	 BIT(IBA_METHOD_GET) | BIT(IBA_METHOD_SET) | BIT(IBA_METHOD_TRAP) |
		 BIT(IBA_METHOD_TRAP_REPRESS)},
	/* Not Report: it belongs to subscribers on this host, such as srp_daemon. */
	{IBA_CLASS_SUBN_ADM, 2, 1,
	 BIT(IBA_METHOD_GET) | BIT(IBA_METHOD_SET) | BIT(IBA_METHOD_GET_TABLE) |
		 BIT(IBA_METHOD_GET_TRACE_TABLE) | BIT(IBA_METHOD_GET_MULTI) |
		 BIT(IBA_METHOD_DELETE)},
	{IBA_CLASS_PERF, 1, 0, 0},
	{IBA_CLASS_CC, 2, 0, 0},
	{VENDOR_REPLICATION_CLASS, 1, 0, BIT(IBA_METHOD_SET)},
};

static struct umad_device *device_of(struct vendor *vendor)
{
	return (struct umad_device *)vendor;
}

static const struct class_row *find_class(uint8_t mgmt_class)
{
	for (size_t i = 0; i < G_N_ELEMENTS(class_rows); i++)
		if (class_rows[i].mgmt_class == mgmt_class)
			return &class_rows[i];
	return NULL;
}

/* libibumad takes the mask as longs, method 0 in the lowest bit of the first. */
static int register_row(const struct umad_device *device, const struct umad_link *link,
			const struct class_row *row, bool manager)
{
	bool own = vendor_does_rmpp(&device->vendor, row->mgmt_class, manager);
	uint8_t oui[3] = {VENDOR_REPLICATION_OUI >> 16, VENDOR_REPLICATION_OUI >> 8 & 0xFF,
			  VENDOR_REPLICATION_OUI & 0xFF};
	long mask[16 / sizeof(long)] = {};

	for (int method = 0; method < 64; method++)
		if (row->methods & BIT(method))
			mask[method / (8 * sizeof(long))] |= 1L << (method % (8 * sizeof(long)));
	errno = 0;
	if (row->mgmt_class == VENDOR_REPLICATION_CLASS)
		return umad_register_oui(link->port_id, row->mgmt_class, 0, oui, mask);
	return umad_register(link->port_id, row->mgmt_class, row->version,
			     own ? 0 : row->rmpp_version, manager && row->methods ? mask : NULL);
}

bool umad_register_agent(struct umad_device *device, struct umad_link *link,
			 const struct umad_agent *agent, GError **error)
{
	const struct class_row *row = find_class(agent->mgmt_class);
	int id = -1;

	g_assert(row); /* the classes come from the daemon, not from input */
	errno = ENODEV;
	if (link && atomic_load(&link->ids[agent->mgmt_class]) < 0)
		id = register_row(device, link, row, agent->manager);
	if (id >= 0) {
		atomic_store(&link->ids[agent->mgmt_class], id);
		return true;
	}
	/* libibumad hides the reason; the kernel refuses if another agent has a method. */
	g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_BUSY,
		    "%s: management class 0x%02x is taken: does another subnet manager "
		    "run on this port? (%s)",
		    vendor_name(&device->vendor), row->mgmt_class,
		    errno ? g_strerror(errno) : "registration refused");
	return false;
}

static bool bind_locked(struct umad_device *device, const struct umad_agent *new, GError **error)
{
	if (!umad_register_agent(device, atomic_load(&device->link), new, error))
		return false;
	atomic_store(&device->agents[new->mgmt_class], g_memdup2(new, sizeof(*new)));
	return umad_receiver_start(device, error);
}

static bool device_bind(struct vendor *vendor, uint8_t mgmt_class, bool manager,
			const struct vendor_client *client, GError **error)
{
	struct umad_device *device = device_of(vendor);
	const struct class_row *row = find_class(mgmt_class);
	const struct umad_agent agent = {
		.mgmt_class = mgmt_class,
		.manager = manager,
		.segments =
			row && row->rmpp_version && !vendor_does_rmpp(vendor, mgmt_class, manager),
		.client = *client,
	};
	bool ok;

	pthread_mutex_lock(&device->lock);
	ok = bind_locked(device, &agent, error);
	pthread_mutex_unlock(&device->lock);
	return ok;
}

static void address_to_umad(struct ib_mad_addr *to, const struct vendor_address *from)
{
	to->lid = htobe16(from->lid);
	to->sl = from->sl;
	to->path_bits = from->path_bits;
	to->qpn = htobe32(from->qpn);
	to->qkey = htobe32(from->qkey);
	to->pkey_index = from->p_key_index;
	to->grh_present = from->has_grh;
	if (!from->has_grh)
		return;
	to->hop_limit = from->hop_limit;
	to->traffic_class = from->traffic_class;
	to->flow_label = htobe32(from->flow_label);
	to->ib_gid.global.subnet_prefix = htobe64(from->gid.prefix);
	to->ib_gid.global.interface_id = htobe64(from->gid.guid);
}

/* Whether libvendor sends it as a part of a message. */
static bool is_segment(const struct umad_device *device, const uint8_t *data, size_t length)
{
	return device->vendor.rmpp == VENDOR_RMPP_OWN && vendor_is_message(data, length);
}

/* The device will never take this MAD: a request fails at once, a response is only logged. */
static void refused(struct umad_device *device, struct ib_user_mad *umad, size_t length,
		    unsigned int timeout_ms, int reason)
{
	if (umad_is_gone(reason)) /* the kernel may not report this to the receiver */
		atomic_store(&device->broken, reason);
	log_verbose(device->log, "%s: a MAD of class 0x%02x for LID %u was refused: %s",
		    vendor_name(&device->vendor), umad->data[1], be16toh(umad->addr.lid),
		    g_strerror(reason));
	if (reason == EINVAL && is_segment(device, umad->data, length) && !device->told_einval) {
		device->told_einval = true;
		log_error(device->log,
			  "%s: the kernel refused a segment of an answer of the SA (%s); if this "
			  "continues, long answers need kernel_rmpp TRUE in opensm.conf",
			  vendor_name(&device->vendor), g_strerror(reason));
	}
	if (timeout_ms)
		umad_deliver(device, umad, length, VENDOR_FAILED);
}

/* A simulator on a busy machine may answer just when the time is up. */
static void note_request(struct umad_device *device, unsigned int timeout_ms)
{
	uint64_t due_ms = umad_now_ms() + 2 * timeout_ms, last_ms = atomic_load(&device->due_ms);

	atomic_fetch_add(&device->in_flight, 1);
	while (last_ms < due_ms && !atomic_compare_exchange_weak(&device->due_ms, &last_ms, due_ms))
		;
}

static bool write_mad(struct umad_device *device, const struct umad_link *link,
		      struct ib_user_mad *umad, size_t length, unsigned int timeout_ms)
{
	const struct umad_agent *agent = atomic_load(&device->agents[umad->data[1]]);
	int id = atomic_load(&link->ids[umad->data[1]]);
	bool message = agent->segments && vendor_is_message(umad->data, length);
	int retries = message ? VENDOR_RMPP_RETRIES : 0;

	do {
		errno = 0;
		if (umad_send(link->port_id, id, umad, length, timeout_ms, retries) == 0) {
			if (timeout_ms)
				note_request(device, timeout_ms);
			return true;
		}
	} while (errno == EINTR);
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM)
		return false;
	refused(device, umad, length, timeout_ms, errno);
	return true;
}

/*
 * Sends on the present link. If the port is closed, a request fails, and any other MAD is dropped.
 */
static bool send_now(struct umad_device *device, struct ib_user_mad *umad, size_t length,
		     unsigned int timeout_ms)
{
	const struct umad_link *link;
	bool taken = true;

	atomic_fetch_add(&device->senders, 1);
	link = atomic_load(&device->link);
	if (link)
		taken = write_mad(device, link, umad, length, timeout_ms);
	else if (timeout_ms)
		umad_deliver(device, umad, length, VENDOR_FAILED);
	atomic_fetch_sub(&device->senders, 1);
	return taken;
}

static bool device_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
			size_t length, unsigned int timeout_ms)
{
	struct umad_device *device = device_of(vendor);
	union {
		struct ib_user_mad umad;
		uint8_t room[sizeof(struct ib_user_mad) + MAD_BYTES];
	} small;
	struct ib_user_mad *umad = &small.umad;
	g_autofree struct ib_user_mad *big = NULL;

	g_assert(length >= MAD_HEADER_BYTES);
	g_assert(atomic_load(&device->agents[data[1]])); /* only classes that were bound are used */
	if (length > MAD_BYTES)
		umad = big = g_malloc(sizeof(*umad) + length);
	memset(umad, 0, sizeof(*umad));
	address_to_umad(&umad->addr, to);
	memcpy(umad->data, data, length);
	return send_now(device, umad, length, timeout_ms);
}

/* ---- several MADs in one system call ---- */

struct many {
	union {
		struct ib_user_mad umad;
		uint8_t room[sizeof(struct ib_user_mad) + MAD_BYTES];
	} mads[SEND_MANY];
	struct iovec parts[SEND_MANY];
};

/* As umad_send() fills them in. */
static void many_fill(struct many *many, int id, const struct vendor_address *to,
		      const uint8_t (*data)[IBA_MAD_BYTES], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct ib_user_mad *umad = &many->mads[i].umad;

		memset(umad, 0, sizeof(*umad));
		address_to_umad(&umad->addr, to);
		umad->agent_id = (uint32_t)id;
		memcpy(umad->data, data[i], MAD_BYTES);
		many->parts[i] = (struct iovec){umad, sizeof(many->mads[i])};
	}
}

/*
 * The kernel's umad device has only a write() of one MAD, and so takes the parts of a writev() as
 * that many MADs (fs/read_write.c, do_loop_readv_writev), up to one that it refuses; it returns
 * the octets of those before.
 */
static unsigned int write_many(const struct umad_link *link, const struct vendor_address *to,
			       const uint8_t (*mads)[IBA_MAD_BYTES], unsigned int n)
{
	struct many many;
	ssize_t octets;

	many_fill(&many, atomic_load(&link->ids[mads[0][1]]), to, mads, n);
	do
		octets = writev(umad_get_fd(link->port_id), many.parts, (int)n);
	while (octets < 0 && errno == EINTR);
	return octets < 0 ? 0 : (unsigned int)((size_t)octets / sizeof(many.mads[0]));
}

/* What was not taken is sent one by one, which shows whether it can ever be. */
static unsigned int device_send_many(struct vendor *vendor, const struct vendor_address *to,
				     const uint8_t (*mads)[IBA_MAD_BYTES], unsigned int n)
{
	struct umad_device *device = device_of(vendor);
	const struct umad_link *link;
	unsigned int taken = 0;

	atomic_fetch_add(&device->senders, 1);
	link = atomic_load(&device->link);
	if (link && umad_size() == sizeof(struct ib_user_mad))
		taken = write_many(link, to, mads, MIN(n, SEND_MANY));
	atomic_fetch_sub(&device->senders, 1);
	while (taken < n && device_send(vendor, to, mads[taken], MAD_BYTES, 0))
		taken++;
	return taken;
}

bool umad_open_issm(struct umad_device *device, GError **error)
{
	g_autofree char *file = umad_issm_file(device->device, device->port_num);
	enum vendor_error code = VENDOR_ERROR_SYSTEM;
	const char *hint = "";

	if (!file) {
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_SYSTEM, "%s has no issm device",
			    device->vendor.name);
		return false;
	}
	do {
		device->issm_fd = open(file, O_NONBLOCK);
	} while (device->issm_fd < 0 && errno == EINTR);
	if (device->issm_fd >= 0)
		return true;
	if (errno == EAGAIN || errno == EBUSY) {
		code = VENDOR_ERROR_BUSY;
		hint = " (another subnet manager on this port holds it)";
	} else if (errno == EACCES || errno == EPERM) {
		code = VENDOR_ERROR_PERMISSION;
		hint = " (run as root, or give this user access to it)";
	}
	g_set_error(error, VENDOR_ERROR, code, "cannot open %s: %s%s", file, g_strerror(errno),
		    hint);
	return false;
}

void umad_close_issm(struct umad_device *device)
{
	if (device->issm_fd >= 0)
		close(device->issm_fd); /* the kernel clears the bit */
	device->issm_fd = -1;
}

static bool device_set_is_sm(struct vendor *vendor, bool on, GError **error)
{
	struct umad_device *device = device_of(vendor);
	bool ok = true;

	pthread_mutex_lock(&device->lock);
	if (!on)
		umad_close_issm(device);
	else if (device->issm_fd < 0 && atomic_load(&device->link))
		ok = umad_open_issm(device, error);
	device->is_sm = on && ok;
	pthread_mutex_unlock(&device->lock);
	return ok;
}

static void device_free(struct umad_device *device)
{
	pthread_mutex_destroy(&device->lock);
	g_free(device);
}

static void device_close(struct vendor *vendor)
{
	struct umad_device *device = device_of(vendor);
	struct umad_link *link;

	umad_receiver_stop(device);
	device_set_is_sm(vendor, false, NULL);
	link = atomic_load(&device->link);
	if (link)
		umad_close_link(link);
	for (size_t i = 0; i < G_N_ELEMENTS(device->agents); i++)
		g_free(atomic_load(&device->agents[i]));
	g_free(device->told);
	device_free(device);
}

static const struct vendor_ops umad_ops = {
	.bind = device_bind,
	.send = device_send,
	.send_many = device_send_many,
	.set_is_sm = device_set_is_sm,
	.close = device_close,
};

static bool is_ibsim(const char *name)
{
	struct umad_ca ca;
	bool ibsim;

	if (umad_get_ca(name, &ca) < 0)
		return false;
	ibsim = strcmp(ca.ca_type, "simulator") == 0;
	umad_release_ca(&ca);
	return ibsim;
}

static struct umad_device *device_new(struct log *log, const struct vendor_port *port)
{
	struct umad_device *device = g_new0(struct umad_device, 1);

	bool ibsim = is_ibsim(port->device);

	device->vendor.ops = &umad_ops;
	device->vendor.port_guid = port->guid;
	device->vendor.max_outstanding = ibsim ? OUTSTANDING_IBSIM : OUTSTANDING_HARDWARE;
	/* ibsim carries only the first MAD of a message, and none of its clients sends an ACK. */
	device->vendor.rmpp = ibsim ? VENDOR_RMPP_NONE : VENDOR_RMPP_OWN;
	device->log = log;
	device->issm_fd = -1;
	pthread_mutex_init(&device->lock, NULL);
	return device;
}

struct vendor *vendor_umad_open(struct runtime *rt, struct log *log, uint64_t port_guid,
				GError **error)
{
	g_autoptr(GArray) ports = vendor_umad_ports(error);
	struct umad_device *device;
	struct vendor_port port;
	struct umad_link *link;

	g_assert(runtime_mode(rt) == RUNTIME_REAL); /* hardware has no virtual time */
	if (!ports || !umad_choose_port(ports, port_guid, &port, error))
		return NULL;
	device = device_new(log, &port);
	link = umad_open_link(device, &port, error);
	if (!link) {
		device_free(device);
		return NULL;
	}
	atomic_store(&device->link, link);
	return &device->vendor;
}
