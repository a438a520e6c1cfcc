// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The protocol between osmsim, which simulates a fabric, and its clients: programs that use
 * libibumad with libosmsim-preload.so in front of it, and osmsim itself when it sends commands to a
 * running instance.
 *
 * A SOCK_STREAM Unix socket carries frames: this header, then length octets. Client and server
 * share a machine, so numbers and struct ib_user_mad are in host layout (fields that are big-endian
 * in struct ib_mad_addr stay so). The first frame says which of three kinds a connection is:
 *
 * - control: OSMSIM_HELLO first; each request is answered by one frame of the same type, in order.
 *   A process keeps one, and makes another after fork() and whenever the connection was lost: the
 *   server keeps no state for it, and accepts a handle from any of them.
 * - port: OSMSIM_OPEN first, answered by one frame; afterwards it carries OSMSIM_MAD frames and
 *   nothing else, so that the program may poll its descriptor as it would that of
 *   /dev/infiniband/umadN. Agents are registered through the control connection, by the handle
 *   that the answer to OSMSIM_OPEN gave. The port and its agents go when this connection closes,
 *   which is when the last process that inherited it closes it. The server closes it when the CA
 *   is removed from the node.
 * - events: OSMSIM_WATCH first, answered by one frame; afterwards the server sends an OSMSIM_EVENT
 *   for each event of the node's ports, as the driver of a CA reports them to libibverbs, and the
 *   client sends nothing. The server closes it when the CA is removed from the node.
 *
 * The server closes a connection with invalid frames, after a line in its log. It never trusts a
 * length, a handle or an agent number.
 */
#ifndef OSMSIM_PROTOCOL_H
#define OSMSIM_PROTOCOL_H

#include <infiniband/umad.h>
#include <stdint.h>

#define OSMSIM_VERSION 3
#define OSMSIM_ENV_SOCKET "OSMSIM_SOCKET"     /* path of the socket */
#define OSMSIM_ENV_NODE "OSMSIM_NODE"	      /* name or GUID; unset: the first host */
#define OSMSIM_SOCKET_DEFAULT "osmsim.socket" /* in $XDG_RUNTIME_DIR, else in /tmp/osmsim-UID */
#define OSMSIM_DEVICE                                                                              \
	"osmsim0" /* the only CA that a process sees; its number grows with each return \ */
#define OSMSIM_DEVICE_STEM "osmsim"

#define OSMSIM_MAX_CONTROL 65536	     /* octets of a control frame after its header */
#define OSMSIM_MAX_MAD (UINT32_C(128) << 20) /* octets of a MAD, RMPP reassembled */
#define OSMSIM_MAX_PORTS 255
#define OSMSIM_MAX_P_KEYS 128
#define OSMSIM_MAX_AGENTS 32 /* of one open port, as in the kernel */

enum osmsim_type {
	OSMSIM_HELLO = 1,  /* struct osmsim_hello -> struct osmsim_node */
	OSMSIM_PORT,	   /* struct osmsim_port_request -> struct osmsim_port */
	OSMSIM_OPEN,	   /* struct osmsim_open -> struct osmsim_result: handle */
	OSMSIM_REGISTER,   /* struct osmsim_register -> struct osmsim_result: agent number */
	OSMSIM_UNREGISTER, /* struct osmsim_unregister -> struct osmsim_result */
	OSMSIM_ISSM,	   /* struct osmsim_port_request -> struct osmsim_path */
	OSMSIM_COMMAND,	   /* text of console commands -> struct osmsim_result, then text */
	OSMSIM_MAD,	   /* struct ib_user_mad and the MAD; both ways, no answer */
	OSMSIM_WATCH,	   /* struct osmsim_hello -> struct osmsim_result */
	OSMSIM_EVENT,	   /* struct osmsim_event, from the server; no answer */
};

struct osmsim_header {
	uint32_t length; /* octets after this header */
	uint32_t type;	 /* enum osmsim_type */
};

struct osmsim_hello {
	uint32_t version;
	uint32_t pid;
	char node[128]; /* description or GUID (0x...); empty: the first host */
};

/* The node that a process runs on, as its CA. */
struct osmsim_node {
	int32_t error;	   /* 0, or negative errno: -ENOENT no such node, -EPROTO other version */
	uint8_t type;	   /* IBA_NODE_CA, IBA_NODE_SWITCH .. */
	uint8_t num_ports; /* a switch is managed through port 0 */
	uint16_t reserved;
	uint64_t node_guid, system_image_guid; /* host order, as all below */
	uint32_t vendor_id, device_id;
	char description[65];
	char reserved2[7];
};

struct osmsim_port_request {
	uint32_t port_num;
	uint32_t reserved;
};

struct osmsim_port {
	int32_t error; /* 0, or negative errno: -ENODEV, also while its CA is removed */
	uint32_t port_num;
	uint32_t base_lid, lmc, sm_lid, sm_sl;
	uint32_t state, phys_state; /* codes of PortInfo */
	uint32_t rate;		    /* Gb/s, rounded */
	uint32_t capability_mask;
	uint64_t gid_prefix, port_guid;
	uint32_t n_p_keys;
	uint16_t p_keys[OSMSIM_MAX_P_KEYS];
	uint32_t device; /* number in the name of its CA: times it came back */
	/* Codes of PortInfo. */
	uint32_t mtu_cap, neighbor_mtu, vl_cap, subnet_timeout;
	uint32_t link_width, link_speed, link_speed_ext, link_speed_ext2; /* active */
};

struct osmsim_open {
	struct osmsim_hello hello;
	struct osmsim_port_request port;
};

struct osmsim_register {
	uint32_t handle;
	uint32_t qpn; /* 0 or 1 */
	uint32_t mgmt_class, class_version;
	uint32_t rmpp_version;	 /* 1: the server segments and reassembles; 0: single MADs */
	uint32_t oui;		 /* of vendor classes 0x30..0x4F */
	uint64_t method_mask[2]; /* bit n: unsolicited MADs of method n; 0: only responses */
};

struct osmsim_unregister {
	uint32_t handle;
	uint32_t agent;
};

struct osmsim_result {
	int32_t value; /* 0 or the requested number, or negative errno */
	uint32_t reserved;
};

enum osmsim_event_kind {
	OSMSIM_PORT_DOWN = 1,
	OSMSIM_LID_CHANGED,
	OSMSIM_GID_CHANGED,
	OSMSIM_P_KEYS_CHANGED,
	OSMSIM_SM_CHANGED,
	OSMSIM_REREGISTER,
	OSMSIM_PORT_UP,
};

struct osmsim_event {
	uint32_t port_num;
	uint32_t kind; /* enum osmsim_event_kind */
};

/*
 * A named pipe in place of the issm device: the port has IsSM while any process has it open for
 * reading (with O_NONBLOCK, otherwise open blocks).
 */
struct osmsim_path {
	int32_t error;
	char path[252];
};

/*
 * Semantics of OSMSIM_MAD, as in the kernel's user MAD interface.
 *
 * To the server: agent_id, timeout_ms (0: no response expected), retries and addr count; the MAD
 * follows struct ib_user_mad in the frame, and has at least its header of 24 octets. The server
 * replaces the high half of the TransactionID by the agent's number unless the MAD is a response or
 * TrapRepress. If no response arrives it sends the MAD again retries times, and then returns the
 * request with status ETIMEDOUT. A MAD that cannot be sent is returned at once with status EINVAL
 * (unknown agent, SMP from an agent of QP 1 or GMP from one of QP 0, a TransactionID already in
 * use, too long without RMPP). A returned request is struct ib_user_mad and the MAD header.
 *
 * To the client: status 0 and a MAD, or a returned request; length is set as by the kernel, and the
 * frame is padded to 256 octets of MAD, so that a client reads it at once. An agent with
 * rmpp_version 1 gets and sends whole messages: all headers, then the data of all segments. The
 * server goes on reading even if a client does not, and writes the first 256 octets of a MAD
 * together with what precedes them; a client whose program has no room for a whole MAD leaves it in
 * the socket.
 *
 * OSMSIM_REGISTER fails like the kernel with -EINVAL for a method that another agent of the port
 * has and for impossible values; with -ENOMEM above OSMSIM_MAX_AGENTS; with -EBADF if there is no
 * such handle. OSMSIM_UNREGISTER of another's agent fails with -EPERM: only the connection that
 * registered it may end it or, when that is closed, one that knows the handle, such as that of a
 * child process. Closing a port connection ends all its agents. If a client leaves more than about
 * 64 MB of MADs unread, further ones are dropped, as the kernel does beyond 200,000 MADs.
 */

#endif
