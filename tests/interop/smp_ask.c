// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads many attributes of SMAs in one process, over libibumad: smpquery would have to be started
 * for each.
 *
 * A line of the standard input is a question: LID, attribute and attribute modifier. The answer is
 * a line: its 64 octets of data in hex, or "none" if none came or its status is not 0.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMP_CLASS_VERSION 1
#define TIMEOUT_MS 20000

struct client {
	int port, agent;
	uint32_t tid;
	void *umad;
};

static bool open_port(struct client *client)
{
	client->port = umad_init() < 0 ? -1 : umad_open_port(NULL, 0);
	if (client->port < 0)
		return false;
	client->agent = umad_register(client->port, UMAD_CLASS_SUBN_LID_ROUTED,
				      SMP_CLASS_VERSION, 0, NULL);
	client->umad = calloc(1, umad_size() + sizeof(struct umad_smp));
	return client->agent >= 0 && client->umad;
}

static bool ask(struct client *client, int lid, unsigned int attribute, unsigned int modifier)
{
	struct umad_smp *smp = umad_get_mad(client->umad);

	memset(client->umad, 0, umad_size() + sizeof(*smp));
	smp->base_version = UMAD_BASE_VERSION;
	smp->mgmt_class = UMAD_CLASS_SUBN_LID_ROUTED;
	smp->class_version = SMP_CLASS_VERSION;
	smp->method = UMAD_METHOD_GET;
	smp->tid = htobe64(++client->tid);
	smp->attr_id = htobe16((uint16_t)attribute);
	smp->attr_mod = htobe32(modifier);
	umad_set_addr(client->umad, lid, 0, 0, 0);
	return umad_send(client->port, client->agent, client->umad, sizeof(*smp), TIMEOUT_MS, 0) ==
	       0;
}

/* The answer to the last question; NULL: there is none. */
static const struct umad_smp *answer(const struct client *client)
{
	const struct umad_smp *smp = umad_get_mad(client->umad);

	do {
		int length = sizeof(*smp);

		if (umad_recv(client->port, client->umad, &length, 2 * TIMEOUT_MS) < 0)
			return NULL;
	} while ((uint32_t)be64toh(smp->tid) != client->tid);
	return umad_status(client->umad) || smp->status ? NULL : smp;
}

static void print(const struct umad_smp *smp)
{
	for (size_t i = 0; smp && i < sizeof(smp->data); i++)
		printf("%02x", smp->data[i]);
	puts(smp ? "" : "none");
	fflush(stdout); /* the simulator's exit handlers may never end */
}

int main(void)
{
	struct client client = {0};
	unsigned int attribute, modifier;
	int lid;

	if (!open_port(&client)) {
		fprintf(stderr, "smp_ask: cannot open a port\n");
		return 1;
	}
	while (scanf("%i %i %i", &lid, (int *)&attribute, (int *)&modifier) == 3)
		print(ask(&client, lid, attribute, modifier) ? answer(&client) : NULL);
	umad_close_port(client.port);
	return feof(stdin) ? 0 : 1;
}
