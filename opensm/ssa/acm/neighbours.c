// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Neighbour entries of IPoIB interfaces for the addresses of a snapshot that have a QPN, so that no
 * ARP is sent for them. The kernel remembers which entries are ours, by their protocol, so those of
 * a process that was killed are found and removed as well; all others are left alone.
 *
 * Entries are permanent. As the QPN of an interface is another one after each restart of it, one
 * can be wrong as long as the snapshot says so: hence only on request.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ssa/acm/acm_private.h"

#define PROTOCOL 0x5A /* of our entries, among those of RTPROT_ that no program uses */
#define LLADDR_BYTES 20
#define GID_AT 4 /* in a link-layer address; before it flags and QPN */
#define P_KEY_BASE 0x7FFF
#define ANSWER_BYTES 65536
#define PATIENCE_S 5

struct neighbours {
	enum neighbours_kind kind;
	char *sysfs; /* where the interfaces are listed */
	int fd;	     /* of rtnetlink */
	uint32_t sequence;
	bool failed;	  /* told that the kernel refuses */
	GHashTable *ours; /* what the kernel has of ours: key_of() to link-layer address, GBytes */
	unsigned int n_refused;
};

/* An IPoIB interface. */
struct interface {
	uint32_t index;
	uint16_t p_key;
	union ibv_gid gid;
};

/* ---- rtnetlink ---- */

struct request {
	struct nlmsghdr header;
	struct ndmsg neighbour;
	uint8_t attributes[128];
};

static void put(struct request *request, uint16_t type, const void *data, size_t length)
{
	struct rtattr attribute = {.rta_type = type, .rta_len = RTA_LENGTH(length)};
	uint8_t *at = (uint8_t *)request + NLMSG_ALIGN(request->header.nlmsg_len);

	memcpy(at, &attribute, sizeof(attribute));
	memcpy(at + RTA_LENGTH(0), data, length);
	request->header.nlmsg_len =
		NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(attribute.rta_len);
}

static struct request request_of(uint16_t type, uint16_t flags, uint8_t family)
{
	return (struct request){
		.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg)),
			   .nlmsg_type = type,
			   .nlmsg_flags = NLM_F_REQUEST | flags},
		.neighbour.ndm_family = family,
	};
}

static bool receive(struct neighbours *neighbours, void *answer, size_t *length)
{
	ssize_t n;

	do
		n = recv(neighbours->fd, answer, ANSWER_BYTES, 0);
	while (n < 0 && errno == EINTR);
	*length = n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* Sends a request, and calls take for each entry of the answer. 0, or an errno. */
static int talk(struct neighbours *neighbours, struct request *request,
		void (*take)(struct neighbours *neighbours, const struct nlmsghdr *message))
{
	g_autofree void *answer = g_malloc(ANSWER_BYTES);
	size_t length;

	request->header.nlmsg_seq = ++neighbours->sequence;
	if (send(neighbours->fd, request, request->header.nlmsg_len, MSG_NOSIGNAL) < 0)
		return errno;
	while (receive(neighbours, answer, &length)) {
		const struct nlmsghdr *at = answer;

		for (; NLMSG_OK(at, length); at = NLMSG_NEXT(at, length)) {
			const struct nlmsgerr *error = NLMSG_DATA(at);

			if (at->nlmsg_seq != neighbours->sequence)
				continue; /* of a request whose time was up */
			if (at->nlmsg_type == NLMSG_DONE)
				return 0;
			if (at->nlmsg_type == NLMSG_ERROR)
				return at->nlmsg_len < NLMSG_LENGTH(sizeof(*error)) ? EPROTO
										    : -error->error;
			if (take)
				take(neighbours, at);
		}
	}
	return ETIMEDOUT;
}

/* ---- what the kernel has ---- */

/* Interface, family and address. */
static GBytes *key_of(uint32_t index, uint8_t family, const void *address)
{
	uint8_t key[sizeof(index) + sizeof(family) + 16] = {0};
	size_t length = family == AF_INET ? 4 : 16;

	memcpy(key, &index, sizeof(index));
	key[sizeof(index)] = family;
	memcpy(key + sizeof(index) + sizeof(family), address, length);
	return g_bytes_new(key, sizeof(index) + sizeof(family) + length);
}

static void take_entry(struct neighbours *neighbours, const struct nlmsghdr *message)
{
	const struct ndmsg *entry = NLMSG_DATA(message);
	const struct rtattr *address = NULL, *lladdr = NULL, *protocol = NULL;
	int length = (int)message->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*entry));
	const struct rtattr *at =
		(const void *)((const uint8_t *)entry + NLMSG_ALIGN(sizeof(*entry)));

	if (message->nlmsg_type != RTM_NEWNEIGH || length < 0)
		return;
	for (; RTA_OK(at, length); at = RTA_NEXT(at, length)) {
		if (at->rta_type == NDA_DST)
			address = at;
		else if (at->rta_type == NDA_LLADDR)
			lladdr = at;
		else if (at->rta_type == NDA_PROTOCOL)
			protocol = at;
	}
	if (!protocol || RTA_PAYLOAD(protocol) < 1 || *(uint8_t *)RTA_DATA(protocol) != PROTOCOL ||
	    !address || RTA_PAYLOAD(address) != (entry->ndm_family == AF_INET ? 4 : 16))
		return;
	g_hash_table_insert(
		neighbours->ours,
		key_of((uint32_t)entry->ndm_ifindex, entry->ndm_family, RTA_DATA(address)),
		lladdr ? g_bytes_new(RTA_DATA(lladdr), RTA_PAYLOAD(lladdr)) : g_bytes_new(NULL, 0));
}

static int list(struct neighbours *neighbours)
{
	struct request request = request_of(RTM_GETNEIGH, NLM_F_DUMP, AF_UNSPEC);

	g_hash_table_remove_all(neighbours->ours);
	return talk(neighbours, &request, take_entry);
}

/* ---- changes ---- */

static void count_refused(struct neighbours *neighbours, int error)
{
	if (!error)
		return;
	if (!neighbours->failed)
		acm_write(0, "ssa: the kernel refuses a neighbour entry: %s\n", g_strerror(error));
	neighbours->failed = true;
	neighbours->n_refused++;
}

static void add(struct neighbours *neighbours, uint32_t index, uint8_t family, const void *address,
		const uint8_t lladdr[LLADDR_BYTES])
{
	struct request request =
		request_of(RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, family);
	const uint8_t protocol = PROTOCOL;

	request.neighbour.ndm_ifindex = (int)index;
	request.neighbour.ndm_state = NUD_PERMANENT;
	put(&request, NDA_DST, address, family == AF_INET ? 4 : 16);
	put(&request, NDA_LLADDR, lladdr, LLADDR_BYTES);
	put(&request, NDA_PROTOCOL, &protocol, sizeof(protocol));
	count_refused(neighbours, talk(neighbours, &request, NULL));
}

static void remove_entry(struct neighbours *neighbours, GBytes *key)
{
	const uint8_t *data = g_bytes_get_data(key, NULL);
	uint8_t family = data[sizeof(uint32_t)];
	struct request request = request_of(RTM_DELNEIGH, NLM_F_ACK, family);

	memcpy(&request.neighbour.ndm_ifindex, data, sizeof(uint32_t));
	put(&request, NDA_DST, data + sizeof(uint32_t) + 1, family == AF_INET ? 4 : 16);
	count_refused(neighbours, talk(neighbours, &request, NULL));
}

/* ---- what is wanted ---- */

static void want(struct neighbours *neighbours, const struct interface *interface, uint8_t family,
		 const void *address, const struct ssa_address_rest *rest)
{
	uint16_t p_key = rest->p_key ? ssa_16(rest->p_key) : P_KEY_BASE;
	uint8_t lladdr[LLADDR_BYTES] = {rest->flags, rest->qpn[0], rest->qpn[1], rest->qpn[2]};
	g_autoptr(GBytes) key = key_of(interface->index, family, address);
	g_autoptr(GBytes) wanted = NULL;
	GBytes *now;

	if (!(rest->qpn[0] | rest->qpn[1] | rest->qpn[2]) ||
	    (p_key & P_KEY_BASE) != (interface->p_key & P_KEY_BASE) ||
	    memcmp(rest->gid, &interface->gid, sizeof(rest->gid)) == 0)
		return;
	memcpy(lladdr + GID_AT, rest->gid, sizeof(rest->gid));
	wanted = g_bytes_new(lladdr, sizeof(lladdr));
	now = g_hash_table_lookup(neighbours->ours, key);
	if (!now || !g_bytes_equal(now, wanted))
		add(neighbours, interface->index, family, address, lladdr);
	g_hash_table_remove(neighbours->ours, key); /* what stays there is not wanted */
}

static void want_all(struct neighbours *neighbours, const struct interface *interface,
		     const struct ssa_snapshot *snapshot)
{
	const struct ssa_table *ipv4 = &snapshot->tables[SSA_IPV4];
	const struct ssa_table *ipv6 = &snapshot->tables[SSA_IPV6];
	const struct ssa_ipv4 *row4 = (const void *)ipv4->data;
	const struct ssa_ipv6 *row6 = (const void *)ipv6->data;

	if (neighbours->kind != NEIGHBOURS_IPV6)
		for (uint64_t i = 0; i < ipv4->rows; i++)
			want(neighbours, interface, AF_INET, row4[i].address, &row4[i].rest);
	if (neighbours->kind != NEIGHBOURS_IPV4)
		for (uint64_t i = 0; i < ipv6->rows; i++)
			want(neighbours, interface, AF_INET6, row6[i].address, &row6[i].rest);
}

/* ---- interfaces ---- */

static char *read_value(const struct neighbours *neighbours, const char *interface,
			const char *name)
{
	g_autofree char *file = g_build_filename(neighbours->sysfs, interface, name, NULL);
	char *text = NULL;

	return g_file_get_contents(file, &text, NULL, NULL) ? g_strstrip(text) : NULL;
}

static uint64_t read_number(const struct neighbours *neighbours, const char *interface,
			    const char *name)
{
	g_autofree char *text = read_value(neighbours, interface, name);

	return text ? g_ascii_strtoull(text, NULL, 0) : 0;
}

/* The octets of xx:xx:... after the first ones. */
static bool read_gid(const struct neighbours *neighbours, const char *interface, union ibv_gid *gid)
{
	g_autofree char *text = read_value(neighbours, interface, "address");
	uint8_t octets[LLADDR_BYTES];
	char *at = text;

	for (unsigned int i = 0; i < sizeof(octets); i++) {
		if (!at || !g_ascii_isxdigit(*at))
			return false;
		octets[i] = (uint8_t)strtoul(at, &at, 16);
		at += *at == ':';
	}
	memcpy(gid, octets + GID_AT, sizeof(*gid));
	return true;
}

static bool read_interface(const struct neighbours *neighbours, const char *name,
			   struct interface *interface)
{
	if (read_number(neighbours, name, "type") != ARPHRD_INFINIBAND ||
	    !read_gid(neighbours, name, &interface->gid))
		return false;
	interface->index = (uint32_t)read_number(neighbours, name, "ifindex");
	interface->p_key = (uint16_t)read_number(neighbours, name, "pkey");
	return interface->index != 0;
}

/* ---- all together ---- */

static void want_everywhere(struct neighbours *neighbours, struct sources *sources)
{
	g_autoptr(GDir) directory = g_dir_open(neighbours->sysfs, 0, NULL);
	struct interface interface;
	const char *name, *why;
	uint32_t endport;

	while (directory && (name = g_dir_read_name(directory))) {
		struct ssa_snapshot *snapshot = NULL;

		if (read_interface(neighbours, name, &interface))
			snapshot = sources_take(sources, &interface.gid, &endport, &why);
		if (snapshot)
			want_all(neighbours, &interface, snapshot);
		ssa_snapshot_unref(snapshot);
	}
}

void neighbours_update(struct neighbours *neighbours, struct sources *sources)
{
	GHashTableIter iter;
	void *key;
	int error;

	if (!neighbours)
		return;
	error = list(neighbours);
	if (error) {
		count_refused(neighbours, error);
		return;
	}
	if (sources && neighbours->kind != NEIGHBOURS_NONE)
		want_everywhere(neighbours, sources);
	g_hash_table_iter_init(&iter, neighbours->ours);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		remove_entry(neighbours, key);
}

struct neighbours *neighbours_new(enum neighbours_kind kind, const char *sysfs, int fd)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct neighbours *neighbours;

	if (fd < 0)
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0) {
		if (kind != NEIGHBOURS_NONE)
			acm_write(0, "ssa: no neighbour entries: %s\n", g_strerror(errno));
		return NULL;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	neighbours = g_new0(struct neighbours, 1);
	neighbours->kind = kind;
	neighbours->sysfs = g_strdup(sysfs ? sysfs : "/sys/class/net");
	neighbours->fd = fd;
	neighbours->ours =
		g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
				      (GDestroyNotify)g_bytes_unref);
	return neighbours;
}

void neighbours_free(struct neighbours *neighbours)
{
	if (!neighbours)
		return;
	close(neighbours->fd);
	g_hash_table_unref(neighbours->ours);
	g_free(neighbours->sysfs);
	g_free(neighbours);
}
