// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A client of any subnet manager, over libibumad, for tests/bench/faults.py.
 *
 *	fault_client nodes
 *	fault_client sm|leaf|path SECONDS
 *	fault_client flood RATE SECONDS
 *
 * nodes: asks the SA for all NodeRecords 20 times a second, regardless of the answers to earlier
 * questions, and prints a line for each answer: seconds since the epoch, and the number of records.
 * Needs RMPP.
 * sm: Get(SMInfo) of the SM by its LID, again and again, a millisecond after each answer; leaf:
 * Get(NodeInfo) of the switch that this port is cabled to, which involves no SM; path: the SA for
 * the path from here to the SM. Ends after SECONDS with one line of JSON: answers, lost (no answer
 * within 2 s), and microseconds of latency.
 * flood: asks the SA for that path RATE times a second, and reads no answer. Ends with one line of
 * JSON: the numbers sent and not sent.
 */
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <glib.h>
#include <iba/iba.h>

#define SA_HEADER_OFFSET 36
#define REPLY_BYTES (16 << 20)
#define LOST_MS 2000
#define POLL_MS 50
#define PAUSE_US 1000
#define DIRECTION 0x8000 /* in the status of a directed SMP: on its way back */

enum kind {
	KIND_SM,
	KIND_LEAF,
	KIND_PATH,
};

struct client {
	int port, agent;
	uint16_t sm_lid, own_lid;
	void *request, *reply;
	uint64_t tid;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int complain(const char *what)
{
	fprintf(stderr, "fault_client: %s\n", what);
	return 1;
}

static bool open_port(struct client *client, uint8_t mgmt_class, uint8_t version)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return false;
	client->sm_lid = port.sm_lid;
	client->own_lid = port.base_lid;
	client->port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	if (client->port < 0)
		return false;
	client->agent = umad_register(client->port, mgmt_class, version,
				      mgmt_class == IBA_CLASS_SUBN_ADM, NULL);
	return client->agent >= 0;
}

/* The next answer to question tid, or to any if that is 0: its octets, or 0. */
static int receive(struct client *client, int timeout_ms, uint64_t tid)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000, now;
	struct iba_mad_header header;

	while ((now = now_ns(CLOCK_MONOTONIC)) < end) {
		int length = REPLY_BYTES;

		if (umad_recv(client->port, client->reply, &length,
			      (int)((end - now) / 1000000) + 1) < 0 ||
		    umad_status(client->reply) != 0)
			continue;
		wire_decode(&iba_mad_header_type, umad_get_mad(client->reply), &header);
		if (header.method & IBA_METHOD_GET_RESP && !(header.status & ~DIRECTION) &&
		    (!tid || (uint32_t)header.transaction_id == (uint32_t)tid))
			return length;
	}
	return 0;
}

static uint8_t *prepare(struct client *client, struct iba_mad_header header)
{
	uint8_t *mad = umad_get_mad(client->request);

	header.base_version = 1;
	header.transaction_id = ++client->tid;
	memset(client->request, 0, umad_size() + IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, mad);
	return mad;
}

/* ---- nodes ---- */

static void ask_nodes(struct client *client)
{
	const struct iba_sa_header sa = {0};
	uint8_t *mad = prepare(client, (struct iba_mad_header){
					       .mgmt_class = IBA_CLASS_SUBN_ADM,
					       .class_version = 2,
					       .method = IBA_METHOD_GET_TABLE,
					       .attribute_id = IBA_ATTR_NODE_RECORD,
				       });

	wire_encode(&iba_sa_header_type, &sa, mad + SA_HEADER_OFFSET);
	umad_set_addr(client->request, client->sm_lid, 1, 0, IBA_QP1_Q_KEY);
	umad_send(client->port, client->agent, client->request, IBA_MAD_BYTES, LOST_MS, 0);
}

static void print_count(struct client *client, int length)
{
	struct iba_sa_header sa;
	unsigned int records = 0;

	wire_decode(&iba_sa_header_type, (uint8_t *)umad_get_mad(client->reply) + SA_HEADER_OFFSET,
		    &sa);
	if (sa.attribute_offset && length > IBA_SA_DATA_OFFSET)
		records = (unsigned int)(length - IBA_SA_DATA_OFFSET) / (sa.attribute_offset * 8u);
	printf("%.3f %u\n", (double)now_ns(CLOCK_REALTIME) / 1e9, records);
	fflush(stdout);
}

static int watch_nodes(struct client *client)
{
	if (!open_port(client, IBA_CLASS_SUBN_ADM, 2))
		return complain("cannot open a port");
	for (;;) {
		uint64_t end = now_ns(CLOCK_MONOTONIC) + POLL_MS * (uint64_t)1000000, now;

		ask_nodes(client);
		while ((now = now_ns(CLOCK_MONOTONIC)) < end) {
			int length = receive(client, (int)((end - now) / 1000000) + 1, 0);

			if (length)
				print_count(client, length);
		}
	}
}

/* ---- latency ---- */

/* Get(PathRecord) by SLID and DLID. */
static bool ask_path(struct client *client, int timeout_ms)
{
	const struct iba_sa_header sa = {.component_mask = 1u << 4 | 1u << 5};
	const struct iba_path_record path = {.dlid = client->sm_lid, .slid = client->own_lid};
	uint8_t *mad = prepare(client, (struct iba_mad_header){
					       .mgmt_class = IBA_CLASS_SUBN_ADM,
					       .class_version = 2,
					       .method = IBA_METHOD_GET,
					       .attribute_id = IBA_ATTR_PATH_RECORD,
				       });

	wire_encode(&iba_sa_header_type, &sa, mad + SA_HEADER_OFFSET);
	wire_encode(&iba_path_record_type, &path, mad + IBA_SA_DATA_OFFSET);
	umad_set_addr(client->request, client->sm_lid, 1, 0, IBA_QP1_Q_KEY);
	return umad_send(client->port, client->agent, client->request, IBA_MAD_BYTES, timeout_ms,
			 0) == 0;
}

static bool ask_agent(struct client *client, bool of_sm)
{
	uint8_t *mad = prepare(
		client, (struct iba_mad_header){
				.mgmt_class = of_sm ? IBA_CLASS_SUBN_LID : IBA_CLASS_SUBN_DIRECTED,
				.class_version = 1,
				.method = IBA_METHOD_GET,
				.attribute_id = of_sm ? IBA_ATTR_SM_INFO : IBA_ATTR_NODE_INFO,
			});

	if (!of_sm) { /* by one hop: HopCount, both permissive LIDs, InitialPath */
		mad[7] = 1;
		memset(mad + 32, 0xff, 4);
		mad[128 + 1] = 1;
	}
	umad_set_addr(client->request, of_sm ? client->sm_lid : IBA_LID_PERMISSIVE, 0, 0, 0);
	return umad_send(client->port, client->agent, client->request, IBA_MAD_BYTES, LOST_MS, 0) ==
	       0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t percentile(const GArray *sorted, unsigned int percent)
{
	return sorted->len ? g_array_index(sorted, uint32_t, (sorted->len - 1) * percent / 100) : 0;
}

static bool open_for(struct client *client, enum kind kind)
{
	switch (kind) {
	case KIND_SM:
		return open_port(client, IBA_CLASS_SUBN_LID, 1);
	case KIND_LEAF:
		return open_port(client, IBA_CLASS_SUBN_DIRECTED, 1);
	default:
		return open_port(client, IBA_CLASS_SUBN_ADM, 2);
	}
}

static bool ask(struct client *client, enum kind kind)
{
	return kind == KIND_PATH ? ask_path(client, LOST_MS) : ask_agent(client, kind == KIND_SM);
}

static int measure(struct client *client, enum kind kind, double seconds)
{
	GArray *latencies = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9), asked;
	unsigned int lost = 0;

	if (!open_for(client, kind))
		return complain("cannot open a port");
	while ((asked = now_ns(CLOCK_MONOTONIC)) < end) {
		if (ask(client, kind) && receive(client, LOST_MS, client->tid)) {
			uint32_t took = (uint32_t)((now_ns(CLOCK_MONOTONIC) - asked) / 1000);

			g_array_append_val(latencies, took);
		} else {
			lost++;
		}
		g_usleep(PAUSE_US);
	}
	g_array_sort(latencies, compare);
	printf("{\"answers\": %u, \"lost\": %u, \"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u}\n",
	       latencies->len, lost, percentile(latencies, 50), percentile(latencies, 99),
	       percentile(latencies, 100));
	fflush(stdout);
	g_array_free(latencies, TRUE);
	return 0;
}

/* Sends what is due by now; what cannot be sent is not sent later. */
static int flood(struct client *client, double rate, double seconds)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC), due = 0, sent = 0, refused = 0, now;

	if (!open_port(client, IBA_CLASS_SUBN_ADM, 2))
		return complain("cannot open a port");
	while ((now = now_ns(CLOCK_MONOTONIC)) < begin + (uint64_t)(seconds * 1e9)) {
		uint64_t until = (uint64_t)((double)(now - begin) / 1e9 * rate);

		for (; due < until; due++) {
			bool good = ask_path(client, 0);

			sent += good;
			refused += !good;
		}
		g_usleep(100);
	}
	printf("{\"sent\": %" PRIu64 ", \"refused\": %" PRIu64 "}\n", sent, refused);
	fflush(stdout);
	return 0;
}

static int run(struct client *client, char **words, int n)
{
	static const char *const kinds[] = {"sm", "leaf", "path"};

	if (n == 1 && !strcmp(words[0], "nodes"))
		return watch_nodes(client);
	if (n == 3 && !strcmp(words[0], "flood"))
		return flood(client, g_ascii_strtod(words[1], NULL),
			     g_ascii_strtod(words[2], NULL));
	for (unsigned int i = 0; n == 2 && i < G_N_ELEMENTS(kinds); i++)
		if (!strcmp(words[0], kinds[i]))
			return measure(client, (enum kind)i, g_ascii_strtod(words[1], NULL));
	return complain("usage: fault_client nodes | sm|leaf|path SECONDS | flood RATE SECONDS");
}

int main(int argc, char *argv[])
{
	struct client client = {.tid = (uint64_t)now_ns(CLOCK_MONOTONIC) & 0xffffff};
	int rc;

	/* only the port knows umad_size(), and it is not open yet: at most this many octets */
	client.request = g_malloc0(sizeof(struct ib_user_mad) + IBA_MAD_BYTES);
	client.reply = g_malloc(sizeof(struct ib_user_mad) + REPLY_BYTES);
	rc = run(&client, argv + 1, argc - 1);
	g_free(client.request);
	g_free(client.reply);
	return rc;
}
