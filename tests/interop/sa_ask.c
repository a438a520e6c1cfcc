// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sends any given request to the SA of any subnet manager, over libibumad.
 *
 * A line of the standard input is a question: method, attribute and component mask in hex, then the
 * data in hex; "+" before the method sends it by RMPP. The answer is a line of JSON: method,
 * attribute, status, and the records in hex. No answer: null.
 */
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>
#include <iba/iba.h>

#define RMPP_HEADER_OFFSET 24
#define SA_HEADER_OFFSET 36
#define LINE_BYTES 65536
#define REPLY_BYTES (1 << 20)
#define TIMEOUT_MS 3000

struct client {
	int port, agent;
	uint16_t sm_lid;
	uint32_t tid;
	uint8_t *reply;
};

struct question {
	struct iba_mad_header header;
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;
	GByteArray *data;
};

static bool open_port(struct client *client)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return false;
	client->sm_lid = port.sm_lid;
	client->port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	if (client->port < 0)
		return false;
	client->agent = umad_register(client->port, IBA_CLASS_SUBN_ADM, 2, 1, NULL);
	client->reply = g_malloc0(umad_size() + REPLY_BYTES);
	return client->agent >= 0;
}

static GByteArray *from_hex(const char *hex)
{
	GByteArray *octets = g_byte_array_new();

	for (; g_ascii_isxdigit(hex[0]) && g_ascii_isxdigit(hex[1]); hex += 2) {
		uint8_t octet =
			(uint8_t)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1]));

		g_byte_array_append(octets, &octet, 1);
	}
	return octets;
}

/* False: the line is not a question. */
static bool parse(struct client *client, char *line, struct question *question)
{
	bool by_rmpp = *line == '+';
	unsigned int method, attribute;
	int at = 0;

	if (sscanf(line + by_rmpp, "%x %x %" SCNx64 " %n", &method, &attribute,
		   &question->sa.component_mask, &at) != 3 ||
	    !at)
		return false;
	question->header = (struct iba_mad_header){
		.base_version = IBA_BASE_VERSION,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = IBA_SA_CLASS_VERSION,
		.method = (uint8_t)method,
		.transaction_id = ++client->tid,
		.attribute_id = (uint16_t)attribute,
	};
	question->data = from_hex(line + by_rmpp + at);
	question->rmpp.rmpp_version = IBA_RMPP_VERSION;
	if (by_rmpp)
		question->rmpp = (struct iba_rmpp_header){
			.rmpp_version = IBA_RMPP_VERSION,
			.rmpp_type = IBA_RMPP_DATA,
			.rmpp_flags = IBA_RMPP_ACTIVE | IBA_RMPP_FIRST,
			.segment_number = 1,
			.data2 = question->data->len + iba_sa_header_bytes,
		};
	return true;
}

static bool ask(const struct client *client, const struct question *question)
{
	bool by_rmpp = question->rmpp.rmpp_flags & IBA_RMPP_ACTIVE;
	size_t length = IBA_SA_DATA_OFFSET + question->data->len;
	g_autofree void *umad = g_malloc0(umad_size() + MAX(length, IBA_MAD_BYTES));
	uint8_t *mad = umad_get_mad(umad);

	wire_encode(&iba_mad_header_type, &question->header, mad);
	wire_encode(&iba_rmpp_header_type, &question->rmpp, mad + RMPP_HEADER_OFFSET);
	wire_encode(&iba_sa_header_type, &question->sa, mad + SA_HEADER_OFFSET);
	memcpy(mad + IBA_SA_DATA_OFFSET, question->data->data, question->data->len);
	umad_set_addr(umad, client->sm_lid, 1, 0, IBA_QP1_Q_KEY);
	return umad_send(client->port, client->agent, umad, by_rmpp ? (int)length : IBA_MAD_BYTES,
			 TIMEOUT_MS, 0) == 0;
}

static void print_answer(const uint8_t *mad, int length)
{
	struct iba_mad_header header;
	struct iba_sa_header sa;
	int stride;

	wire_decode(&iba_mad_header_type, mad, &header);
	wire_decode(&iba_sa_header_type, mad + SA_HEADER_OFFSET, &sa);
	stride = header.status ? 0 : sa.attribute_offset * 8;
	printf("{\"method\": %u, \"attribute\": %u, \"status\": %u, \"records\": [", header.method,
	       header.attribute_id, header.status);
	for (int at = IBA_SA_DATA_OFFSET; stride && at + stride <= length; at += stride) {
		printf(at > IBA_SA_DATA_OFFSET ? ", \"" : "\"");
		for (int i = 0; i < stride; i++)
			printf("%02x", mad[at + i]);
		printf("\"");
		if (header.method == IBA_METHOD_GET_RESP)
			break; /* the rest of the MAD is padding */
	}
	printf("]}\n");
}

/* False: no answer came in time. */
static bool receive(const struct client *client)
{
	uint8_t *mad;
	struct iba_mad_header header;

	for (;;) {
		int length = REPLY_BYTES;

		if (umad_recv(client->port, client->reply, &length, 2 * TIMEOUT_MS) < 0)
			return false;
		mad = umad_get_mad(client->reply);
		wire_decode(&iba_mad_header_type, mad, &header);
		if ((uint32_t)header.transaction_id != client->tid)
			continue;
		if (umad_status(client->reply) != 0)
			return false;
		print_answer(mad, length);
		return true;
	}
}

int main(void)
{
	struct client client = {0};
	g_autofree char *line = g_malloc(LINE_BYTES);

	if (!open_port(&client)) {
		fprintf(stderr, "sa_ask: cannot open a port\n");
		return 1;
	}
	while (fgets(line, LINE_BYTES, stdin)) {
		struct question question = {0};

		if (!parse(&client, line, &question)) {
			fprintf(stderr, "sa_ask: expected METHOD ATTRIBUTE MASK DATA\n");
			return 1;
		}
		if (!ask(&client, &question) || !receive(&client))
			printf("null\n");
		g_byte_array_unref(question.data);
		fflush(stdout); /* the simulator's exit handlers may never end */
	}
	umad_close_port(client.port);
	return 0;
}
