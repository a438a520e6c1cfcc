// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A client of the SA of any subnet manager, over libibumad: asks as fast as it is answered.
 *
 *	sa_client KIND SECONDS OUTSTANDING
 *
 * paths, paths-lid: Get(PathRecord) between two random endports, by GIDs or by LIDs; nodes:
 * GetTable(NodeRecord) of all; node: of the own LID; all-paths: GetTable(PathRecord) from this port
 * to every other; members: each outstanding request joins a group of its own, which that makes, and
 * leaves it again. Ends after SECONDS, or at SIGTERM, and prints one line of JSON: answers, errors
 * (a status other than 0), the last of these, lost (no answer within 5 s), seconds, records, and
 * microseconds of latency. The endports are asked for first, LID by LID, as the simulator without
 * RMPP can answer that. The tables need RMPP.
 */
#include <infiniband/umad.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <glib.h>
#include <iba/iba.h>

#define C(name) IBA_COMPONENT(path_record, name)
#define SA_HEADER_OFFSET 36
#define REPLY_BYTES (64 << 20)
#define LOST_MS 5000
#define LOST_NS (LOST_MS * (uint64_t)1000000)
#define LIDS_UNUSED 64 /* this many in a row end the search for endports */
#define OUTSTANDING_MAX 1024

struct client;

struct kind {
	const char *name;
	uint8_t method;
	uint16_t attribute;
	bool (*ask)(struct client *client, uint32_t tid);
};

struct endport {
	uint64_t guid;
	uint16_t lid;
};

struct slot {
	uint64_t asked_ns;
	uint16_t serial;
};

struct client {
	const struct kind *kind;
	int port, agent;
	uint16_t sm_lid, own_lid;
	uint64_t prefix, guid;
	GArray *endports; /* struct endport */
	struct slot slots[OUTSTANDING_MAX];
	unsigned int outstanding;
	void *request, *reply;
	uint64_t random, started_ns;
	uint64_t answers, errors, lost, records;
	uint16_t status;   /* of the last error */
	GArray *latencies; /* uint32_t: microseconds */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int complain(const char *what)
{
	fprintf(stderr, "sa_client: %s\n", what);
	return 1;
}

/* ---- the port ---- */

static bool open_port(struct client *client)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return false;
	client->sm_lid = port.sm_lid;
	client->own_lid = port.base_lid;
	client->prefix = be64toh(port.gid_prefix);
	client->guid = be64toh(port.port_guid);
	client->port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	if (client->port < 0)
		return false;
	client->agent = umad_register(client->port, IBA_CLASS_SUBN_ADM, 2, 1, NULL);
	return client->agent >= 0;
}

static bool send_request(struct client *client, uint8_t method, uint16_t attribute, uint32_t tid,
			 uint64_t mask, const struct wire_type *type, const void *record)
{
	uint8_t *mad = umad_get_mad(client->request);
	const struct iba_mad_header header = {
		.base_version = 1,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = 2,
		.method = method,
		.transaction_id = tid,
		.attribute_id = attribute,
	};
	const struct iba_sa_header sa = {.component_mask = mask};

	memset(client->request, 0, umad_size() + IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, mad);
	wire_encode(&iba_sa_header_type, &sa, mad + SA_HEADER_OFFSET);
	if (record)
		wire_encode(type, record, mad + IBA_SA_DATA_OFFSET);
	umad_set_addr(client->request, client->sm_lid, 1, 0, IBA_QP1_Q_KEY);
	return umad_send(client->port, client->agent, client->request, IBA_MAD_BYTES, LOST_MS,
			 0) == 0;
}

/* Octets of the next answer, 0 if there is none within the time. */
static int receive(struct client *client, int timeout_ms, struct iba_mad_header *header)
{
	int length = REPLY_BYTES;

	if (umad_recv(client->port, client->reply, &length, timeout_ms) < 0 ||
	    umad_status(client->reply) != 0)
		return 0;
	wire_decode(&iba_mad_header_type, umad_get_mad(client->reply), header);
	return header->method & IBA_METHOD_GET_RESP ? length : 0;
}

/* ---- endports ---- */

static bool learn_lid(struct client *client, uint16_t lid)
{
	const struct iba_node_record wanted = {.lid = lid};
	struct iba_mad_header header;
	struct iba_node_record found;
	struct endport endport = {.lid = lid};
	uint64_t deadline = now_ns() + LOST_NS;

	if (!send_request(client, IBA_METHOD_GET, IBA_ATTR_NODE_RECORD, lid,
			  IBA_COMPONENT(node_record, lid), &iba_node_record_type, &wanted))
		return false;
	do {
		if (!receive(client, 100, &header) || (uint32_t)header.transaction_id != lid)
			continue;
		if (header.status != 0)
			return false;
		wire_decode(&iba_node_record_type,
			    (uint8_t *)umad_get_mad(client->reply) + IBA_SA_DATA_OFFSET, &found);
		endport.guid = found.node_info.port_guid;
		g_array_append_val(client->endports, endport);
		return true;
	} while (now_ns() < deadline);
	return false;
}

static void learn_endports(struct client *client)
{
	unsigned int unused = 0;

	for (uint16_t lid = 1; lid <= IBA_LID_UCAST_LAST && unused < LIDS_UNUSED; lid++)
		unused = learn_lid(client, lid) ? 0 : unused + 1;
}

/* ---- questions ---- */

/* The constants are those of Knuth's MMIX. */
static uint32_t pick(struct client *client, uint32_t n)
{
	client->random = client->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((client->random >> 33) % n);
}

static const struct endport *pick_endport(struct client *client)
{
	return &g_array_index(client->endports, struct endport,
			      pick(client, client->endports->len));
}

static bool ask_path(struct client *client, uint32_t tid, uint64_t mask,
		     const struct iba_path_record *path)
{
	return send_request(client, client->kind->method, IBA_ATTR_PATH_RECORD, tid, mask,
			    &iba_path_record_type, path);
}

static bool ask_by_gid(struct client *client, uint32_t tid)
{
	uint64_t from = pick_endport(client)->guid;
	uint64_t to = pick_endport(client)->guid;
	const struct iba_path_record path = {
		.sgid = {client->prefix, from},
		.dgid = {client->prefix, to},
		.numb_path = 1,
		.reversible = 1,
	};

	return ask_path(client, tid, C(sgid) | C(dgid) | C(reversible) | C(numb_path), &path);
}

static bool ask_by_lid(struct client *client, uint32_t tid)
{
	uint16_t from = pick_endport(client)->lid;
	uint16_t to = pick_endport(client)->lid;
	const struct iba_path_record path = {.slid = from, .dlid = to};

	return ask_path(client, tid, C(slid) | C(dlid), &path);
}

static bool ask_all_paths(struct client *client, uint32_t tid)
{
	const struct iba_path_record path = {
		.sgid = {client->prefix, client->guid},
		.numb_path = 1,
	};

	return ask_path(client, tid, C(sgid) | C(numb_path), &path);
}

static bool ask_all_nodes(struct client *client, uint32_t tid)
{
	return send_request(client, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, tid, 0, NULL, NULL);
}

static bool ask_own_node(struct client *client, uint32_t tid)
{
	const struct iba_node_record own = {.lid = client->own_lid};

	return send_request(client, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, tid,
			    IBA_COMPONENT(node_record, lid), &iba_node_record_type, &own);
}

#define MC(name) IBA_COMPONENT(mc_member_record, name)
#define JOIN_MASK                                                                                  \
	(MC(mgid) | MC(port_gid) | MC(q_key) | MC(p_key) | MC(t_class) | MC(sl) | MC(flow_label) | \
	 MC(join_state))

/* Joins if the serial of the slot is odd, leaves if it is even. */
static bool join_or_leave(struct client *client, uint32_t tid)
{
	const struct iba_mc_member_record member = {
		.mgid = {UINT64_C(0xFF125A5A00000000), tid & 0xffff},
		.port_gid = {client->prefix, client->guid},
		.q_key = 1,
		.p_key = 0xffff,
		.join_state = 1,
	};
	bool join = tid >> 16 & 1;

	return send_request(client, join ? IBA_METHOD_SET : IBA_METHOD_DELETE,
			    IBA_ATTR_MC_MEMBER_RECORD, tid,
			    join ? JOIN_MASK : MC(mgid) | MC(port_gid) | MC(join_state),
			    &iba_mc_member_record_type, &member);
}

static const struct kind kinds[] = {
	{"paths", IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, ask_by_gid},
	{"paths-lid", IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, ask_by_lid},
	{"nodes", IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, ask_all_nodes},
	{"node", IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, ask_own_node},
	{"all-paths", IBA_METHOD_GET_TABLE, IBA_ATTR_PATH_RECORD, ask_all_paths},
	{"members", IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD, join_or_leave},
};

static bool ask_again(struct client *client, unsigned int number)
{
	struct slot *slot = &client->slots[number];

	slot->asked_ns = now_ns();
	return client->kind->ask(client, (uint32_t)++slot->serial << 16 | number);
}

static void take_answer(struct client *client, const struct iba_mad_header *header, int length)
{
	unsigned int number = header->transaction_id & 0xffff;
	struct slot *slot = &client->slots[number];
	struct iba_sa_header sa;
	uint32_t took;

	if (number >= client->outstanding ||
	    slot->serial != ((header->transaction_id >> 16) & 0xffff))
		return;
	took = (uint32_t)((now_ns() - slot->asked_ns) / 1000);
	wire_decode(&iba_sa_header_type,
		    (uint8_t *)umad_get_mad(client->reply) + SA_HEADER_OFFSET, &sa);
	client->answers++;
	client->errors += header->status != 0;
	if (header->status)
		client->status = header->status;
	if (client->kind->method != IBA_METHOD_GET_TABLE)
		client->records += header->status == 0;
	else if (sa.attribute_offset && length > IBA_SA_DATA_OFFSET)
		client->records += (unsigned int)(length - IBA_SA_DATA_OFFSET) /
				   (sa.attribute_offset * 8u);
	g_array_append_val(client->latencies, took);
	ask_again(client, number);
}

static void replace_lost(struct client *client)
{
	for (unsigned int i = 0; i < client->outstanding; i++) {
		if (now_ns() - client->slots[i].asked_ns < LOST_NS)
			continue;
		client->lost++;
		ask_again(client, i);
	}
}

static void run(struct client *client, double seconds, const sigset_t *ending)
{
	uint64_t end, look;
	struct iba_mad_header header;
	const struct timespec at_once = {0};

	client->started_ns = look = now_ns();
	end = client->started_ns + (uint64_t)(seconds * 1e9);
	for (unsigned int i = 0; i < client->outstanding; i++)
		ask_again(client, i);
	for (uint64_t now = look; now < end; now = now_ns()) {
		int length = receive(client, 20, &header);

		if (length)
			take_answer(client, &header, length);
		if (now < look)
			continue;
		if (sigtimedwait(ending, NULL, &at_once) > 0)
			break;
		replace_lost(client);
		look = now + 20000000;
	}
}

/* ---- the result ---- */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t percentile(const GArray *sorted, unsigned int percent)
{
	return sorted->len ? g_array_index(sorted, uint32_t, (sorted->len - 1) * percent / 100) : 0;
}

static void print(struct client *client)
{
	g_array_sort(client->latencies, compare);
	printf("{\"answers\": %" PRIu64 ", \"errors\": %" PRIu64
	       ", \"status\": %u, \"lost\": %" PRIu64 ", \"records\": %" PRIu64
	       ", \"endports\": %u, \"seconds\": %.6f,"
	       " \"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u}\n",
	       client->answers, client->errors, client->status, client->lost, client->records,
	       client->endports->len, (double)(now_ns() - client->started_ns) / 1e9,
	       percentile(client->latencies, 50), percentile(client->latencies, 99),
	       percentile(client->latencies, 100));
	fflush(stdout); /* the simulator's exit handlers may never end */
}

static const struct kind *find_kind(const char *name)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (!strcmp(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

/* The caller waits for the line "ready" before it begins to measure. */
static int run_client(struct client *client, double seconds)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	if (!open_port(client))
		return complain("cannot open a port");
	learn_endports(client);
	if (!client->endports->len)
		return complain("the SA knows no endports");
	printf("ready\n");
	fflush(stdout);
	run(client, seconds, &ending);
	print(client);
	umad_close_port(client->port);
	return 0;
}

int main(int argc, char *argv[])
{
	struct client client = {.kind = argc == 4 ? find_kind(argv[1]) : NULL, .random = 1};
	int rc;

	if (!client.kind || atoi(argv[3]) < 1 || atoi(argv[3]) > OUTSTANDING_MAX)
		return complain("usage: sa_client KIND SECONDS OUTSTANDING");
	client.outstanding = (unsigned int)atoi(argv[3]);
	client.endports = g_array_new(FALSE, FALSE, sizeof(struct endport));
	client.latencies = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	/* only the port knows umad_size(), and it is not open yet: at most this many octets */
	client.request = g_malloc0(sizeof(struct ib_user_mad) + IBA_MAD_BYTES);
	client.reply = g_malloc(sizeof(struct ib_user_mad) + REPLY_BYTES);
	rc = run_client(&client, g_ascii_strtod(argv[2], NULL));
	g_free(client.request);
	g_free(client.reply);
	g_array_free(client.endports, TRUE);
	g_array_free(client.latencies, TRUE);
	return rc;
}
