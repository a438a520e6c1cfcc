// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of REST. */
#ifndef WEB_REST_REST_PRIVATE_H
#define WEB_REST_REST_PRIVATE_H

#include "client/json.h"
#include "web/base/web.h"
#include "web/rest/body.h"

#define REST_PATIENCE_MS 9000 /* of a whole request: clients give up after 10 s */

/* A call of the interface, while the daemon is asked. */
struct call {
	struct web *web;
	struct request *request;
	struct body body;
	unsigned int writing; /* enum write_kind */
	GPtrArray *unknown;   /* of hosts that are not in the subnet */
	uint64_t serial;      /* of the change that is waited for */
	int64_t until_us;     /* end of that wait */
};

/* Holds a reference to the request. */
struct call *call_new(struct web *web, struct request *request);
void call_free(struct call *call);
/* What is left of that time for the next step. */
unsigned int patience_of(const struct call *call);
/* {}, which is what clients expect of what does not exist, too. */
void call_done(struct call *call);

/* ---- reads.c: answers about the subnet ---- */
typedef void rest_read_fn(struct call *call);
rest_read_fn read_version, read_smconf, read_partitions, read_partition;

/* ---- lists.c: of what the console lists ---- */
rest_read_fn read_vports, read_unhealthy;

/* ---- ports.c: by an image of the fabric ---- */
rest_read_fn read_ports;
/*
 * Adds the ports of the hosts of the body to its members, then calls go_on(). A host that is not in
 * the subnet fails the request; a removal goes on without it, unless a member of the partition that
 * is not there either may be a port of it.
 */
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
void write_change(struct call *call);
/* What the request is about: the definition that it asks for, as far as it could be read. */
char *write_about(const struct body *body, enum write_kind kind);
/* The line for the daemon, newly allocated; new: the partition does not exist yet. */
char *write_line(const struct body *body, enum write_kind kind, const char *user, bool new);

/* The object of an answer of "partitions members" as clients read it. */
void reads_add_partition(GString *out, JsonObject *partition, bool guids, bool qos);

#endif
