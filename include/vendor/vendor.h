// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The vendor layer: one local InfiniBand port through which MADs are sent and received.
 *
 * Two back ends: umad (libibumad on a real HCA, or on any simulator that preloads libibumad) and
 * sim (a fabric simulated in the process, see sim.h). Callers cannot tell them apart.
 *
 * Contract, which is that of the kernel's user MAD interface:
 * - MADs travel as wire bytes. SMPs and GMPs of classes without RMPP are 256 octets. A class with
 *   RMPP (class 0x03) sends and receives whole messages of any length: they are segmented and
 *   reassembled below. Such a buffer is the MAD header, RMPP header, class header and all the data;
 *   the RMPP Active flag marks a message to be segmented. A manager of the class sends such
 *   messages with vendor_send_message(), which reports the end of the transfer.
 * - A request is sent with a timeout; if no response arrives in time, the back end returns the
 *   request with status VENDOR_TIMED_OUT. It never retries by itself. Some simulators never report
 *   timeouts: callers need a deadline of their own, somewhat later.
 * - The back end may refuse a request (VENDOR_FAILED) with the TransactionID and class of one that
 *   it still holds, and it may hold a request, and report its timeout, long after it is due.
 * - Segments are sent again if an acknowledgement is missing.
 * - The back end may use the high 32 bits of a request's TransactionID for itself; callers match
 *   responses by the low 32 bits.
 * - Everything received is posted to the actor named at bind time, or to that of vendor_serve().
 */
#ifndef VENDOR_VENDOR_H
#define VENDOR_VENDOR_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "complib/actor.h"
#include "complib/log.h"
#include "iba/iba.h"

struct vendor;

/* Replication between SMs: a vendor class with OUI, that of OpenIB (IBA 16.5). */
#define VENDOR_REPLICATION_CLASS 0x4E
#define VENDOR_REPLICATION_OUI 0x001405
#define VENDOR_REPLICATION_ATTRIBUTE 0x0010

/* The remote end of a MAD. Fields in host order. */
struct vendor_address {
	uint16_t lid; /* IBA_LID_PERMISSIVE for directed routes that begin here */
	uint8_t sl;
	uint8_t path_bits;
	uint32_t qpn;  /* 0 for SMPs, 1 for GMPs, or the requester's */
	uint32_t qkey; /* IBA_QP1_Q_KEY for GMPs, 0 for SMPs */
	uint16_t p_key_index;
	bool has_grh;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint32_t flow_label;
	struct iba_gid gid; /* with a GRH: the remote GID */
};

enum vendor_status {
	VENDOR_RECEIVED,
	VENDOR_TIMED_OUT, /* data begins with the MAD header of the request; TID as in a response */
	VENDOR_FAILED,	  /* the device refused to send it; data as above */
};

struct vendor_mad;
struct admission;

struct vendor_client {
	struct actor *actor;
	void *arg;
	void (*receive)(void *arg, struct vendor_mad *mad); /* on actor; owns mad */
	struct actor *segments; /* runs its RMPP transfers; NULL: actor does */
	bool brief; /* all that runs on the thread of segments may run on the receiver's thread */
};

/* A MAD handed to the client, which frees it with vendor_mad_free. */
struct vendor_mad {
	struct message message;
	struct vendor_client client; /* receiver: a copy, as it may outlive vendor_close */
	struct vendor *vendor;
	struct admission *admission; /* it uses part of its source's share there; or NULL */
	uint64_t admitted_ns;	     /* since this runtime_now() */
	enum vendor_status status;
	struct vendor_address remote;
	uint32_t length; /* octets in data: of a returned request, at least its MAD header */
	uint8_t data[];
};

/* A local port, as listed for the user. */
struct vendor_port {
	char device[64];
	uint8_t port_num;
	uint64_t guid;
	uint16_t lid;
	uint8_t state;	 /* IBA_PORT_DOWN .. IBA_PORT_ACTIVE */
	bool infiniband; /* false: Ethernet or iWARP, cannot be used */
};

enum vendor_error {
	VENDOR_ERROR_NO_DEVICE,
	VENDOR_ERROR_NO_SUCH_PORT,
	VENDOR_ERROR_PERMISSION,
	VENDOR_ERROR_BUSY, /* another SM or agent holds the class */
	VENDOR_ERROR_SYSTEM,
};
#define VENDOR_ERROR vendor_error_quark()
GQuark vendor_error_quark(void);

/* Local ports of the umad back end: GArray of struct vendor_port, in device order. */
GArray *vendor_umad_ports(GError **error);

/*
 * Opens the port with this GUID; 0: the first active InfiniBand port, else the first that is not
 * down, else the first.
 */
struct vendor *vendor_umad_open(struct runtime *rt, struct log *log, uint64_t port_guid,
				GError **error);

/*
 * Registers for a management class: as manager (receives the unsolicited requests and traps that
 * a manager of that class serves) or only for the responses to its own requests. Classes 0x01 and
 * 0x81 are bound by two calls.
 */
bool vendor_bind(struct vendor *vendor, uint8_t mgmt_class, bool manager,
		 const struct vendor_client *client, GError **error);

enum vendor_dropped {
	VENDOR_DROPPED_STRAY,  /* an RMPP packet that belongs to no transfer */
	VENDOR_DROPPED_REPEAT, /* a request whose answer is being sent in segments */
};

/* Limits of a server: requests from other nodes at a time, waiting or being served. */
struct vendor_shares {
	unsigned int source; /* from one LID, but no more than is left for others */
	unsigned int total;
	/* A request was refused; it is freed afterwards. On the receiving thread. */
	void (*refused)(void *arg, const struct vendor_mad *mad);
	/* A MAD was dropped. On the receiving thread; may be NULL. */
	void (*dropped)(void *arg, enum vendor_dropped what);
	void *arg;
};

/*
 * Unsolicited MADs of a bound class, requests and traps, go to this client from now on: sources
 * take turns, each with no more than its share. Only responses and returned requests still go to
 * the client that bound the class; client NULL: all MADs go there again. Only the first call may be
 * made while MADs arrive.
 */
void vendor_serve(struct vendor *vendor, uint8_t mgmt_class, const struct vendor_client *client,
		  const struct vendor_shares *shares);

/* Whether data, of at least a MAD header, is a message sent in segments, or one of its segments. */
#define VENDOR_RMPP_FLAGS_AT 26
static inline bool vendor_is_message(const uint8_t *data, size_t length)
{
	return data[1] == IBA_CLASS_SUBN_ADM && length > VENDOR_RMPP_FLAGS_AT &&
	       data[VENDOR_RMPP_FLAGS_AT] & IBA_RMPP_ACTIVE;
}

/*
 * Sends length octets. timeout_ms > 0 marks a request that expects a response. False if the device
 * takes no more now (EAGAIN, ENOBUFS): try again later. Any thread, until vendor_close.
 */
bool vendor_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		 size_t length, unsigned int timeout_ms);

enum vendor_end {
	VENDOR_DELIVERED, /* all acknowledged or, if that cannot be known, no longer kept */
	VENDOR_STOPPED,	  /* the receiver ended the transfer */
	VENDOR_SILENT,	  /* the receiver acknowledged nothing, or not all of it in its time */
	VENDOR_REPEATED,  /* not sent: that TransactionID and LID are in use by a transfer */
	VENDOR_DROPPED,	  /* not sent completely: the device took no more, or the port was closed */
};

/* A message to be sent in segments; may be the first member of a struct of the sender's. */
struct vendor_message {
	struct vendor_address to;
	/* data and request are taken over, and freed before done is called. */
	uint8_t *data;
	struct vendor_mad *request; /* that it answers; keeps its place in admission; or NULL */
	size_t length;
	/* Called once, on the actor that bound or from vendor_close(); owns the message again. */
	void (*done)(struct vendor_message *message, enum vendor_end end);
};

/*
 * Sends a message of class 0x03 with the RMPP Active flag; the class must be bound as manager.
 * Thread: the actor that bound. done may be called before this function returns.
 */
void vendor_send_message(struct vendor *vendor, struct vendor_message *message);

/*
 * Logs all MADs that the port sends and receives, while log wants LOG_FRAMES. Call before the first
 * bind; the log must outlive the port.
 */
void vendor_log_frames(struct vendor *vendor, struct log *log);

/*
 * Leaves segmentation to the kernel, which keeps a copy of each message and does not report the end
 * of its transfer: it counts as in progress for the longest possible time. Call before anything is
 * bound; no effect on a port without segmentation.
 */
void vendor_use_kernel_rmpp(struct vendor *vendor);

/* Events at the local port: bits. */
enum vendor_event {
	VENDOR_PORT_UP = 1 << 0, /* it became ACTIVE */
	VENDOR_PORT_DOWN = 1 << 1,
	VENDOR_LID_CHANGED = 1 << 2,
	VENDOR_SM_CHANGED = 1 << 3, /* MasterSMLID or SM SL */
	VENDOR_REREGISTER = 1 << 4, /* an SM asks for reregistration */
	VENDOR_P_KEYS_CHANGED = 1 << 5,
	VENDOR_LOST = 1 << 6, /* the device is gone */
	VENDOR_BACK = 1 << 7, /* the device is back, maybe under another name */
};

/*
 * The events since the last call, in no order. From VENDOR_LOST to VENDOR_BACK requests are
 * returned with VENDOR_FAILED and answers are dropped; requests in flight are lost. At VENDOR_BACK
 * all bindings and IsSM have been restored. If both are set, vendor_is_lost() says which came last.
 */
typedef void vendor_event_fn(void *arg, unsigned int events);
/* Events go to this actor from now on. Call at most once; not every port has events. */
void vendor_watch(struct vendor *vendor, struct actor *actor, vendor_event_fn *on_event, void *arg);
bool vendor_is_lost(const struct vendor *vendor); /* any thread */

/* Sets or clears IsSM in the port's CapabilityMask (through the issm device on hardware). */
bool vendor_set_is_sm(struct vendor *vendor, bool on, GError **error);

uint64_t vendor_port_guid(const struct vendor *vendor);
/* "mlx5_0 port 1", "sim node desc": may change at VENDOR_BACK; never freed. Any thread. */
const char *vendor_name(const struct vendor *vendor);
unsigned int vendor_max_outstanding(const struct vendor *vendor); /* SMPs it can have in flight */
/*
 * Nothing is posted to the client afterwards. A port with transfers in progress must be closed by
 * the actor that bound, or after that actor has stopped.
 */
void vendor_close(struct vendor *vendor);
void vendor_mad_free(struct vendor_mad *mad);
/* Passes mad on to another client, on that client's actor. */
void vendor_mad_post(struct vendor_mad *mad, const struct vendor_client *client);

#endif
