// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of REST. */
#ifndef WEB_REST_REST_PRIVATE_H
#define WEB_REST_REST_PRIVATE_H

#include "client/json.h"
#include "web/base/web.h"
#include "web/rest/body.h"

/* A call of the interface, while the daemon is asked. */
struct call {
	struct web *web;
	struct request *request;
	struct body body;
	unsigned int writing; /* enum write_kind */
	uint64_t serial;      /* of the change that is waited for */
	int64_t until_us;     /* end of that wait */
};

/* Holds a reference to the request. */
struct call *call_new(struct web *web, struct request *request);
void call_free(struct call *call);
/* {}, which is what clients expect of what does not exist, too. */
void call_done(struct call *call);

/* ---- reads.c: answers about the subnet ---- */
typedef void rest_read_fn(struct call *call, const char *argument);
rest_read_fn read_version, read_smconf, read_partitions, read_partition;

/* ---- ports.c: by an image of the fabric ---- */
rest_read_fn read_ports;
/* Resolves the hosts of the body to GUIDs, then calls go_on(). */
void ports_of_hosts(struct call *call, void (*go_on)(struct call *call));

/* ---- writes.c ---- */
enum write_kind {
	WRITE_ADD,     /* members; makes the partition */
	WRITE_REPLACE, /* all members; makes the partition */
	WRITE_MAKE,    /* without members */
	WRITE_QOS,
	WRITE_REMOVE, /* members */
	WRITE_DELETE, /* the partition */
};
/* By the body of the call. */
void write_change(struct call *call, enum write_kind kind);
/* The line for the daemon, newly allocated; new: the partition does not exist yet. */
char *write_line(const struct body *body, enum write_kind kind, const char *user, bool new);

/* The object of an answer of "partitions members" as clients read it. */
void reads_add_partition(GString *out, JsonObject *partition, bool guids, bool qos);

#endif
