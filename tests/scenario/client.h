// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A client of the SA on a host of the scenario's fabric. */
#ifndef TESTS_SCENARIO_CLIENT_H
#define TESTS_SCENARIO_CLIENT_H

#include "scenario.h"

struct client;

struct client *client_new(struct scenario *s, unsigned int node);
/* A client that also receives Reports. */
struct client *client_new_subscriber(struct scenario *s, unsigned int node);
void client_free(struct client *client);

uint64_t client_guid(const struct client *client);
struct iba_gid client_gid(const struct client *client);

/*
 * Sends a request to the SA of its port and waits; repeats it, up to 10 times, if half a second
 * passes without an answer or the SA is busy. Returns the status, or -1 without an answer; record
 * is replaced by the answer if the status is 0.
 */
int client_ask(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask,
	       const struct wire_type *type, void *record);

/* Further requests carry this SM_Key: with the SA key the client is a trusted one. */
void client_trust(struct client *client, uint64_t sm_key);
/* Further requests use the P_Key at this index of its port. */
void client_set_p_key_index(struct client *client, uint16_t index);
/*
 * Sends GetTable and waits: *n records of the type in a row, in host order, to be freed with
 * g_byte_array_unref; NULL without a good answer.
 */
GByteArray *client_table(struct client *client, uint16_t attribute, uint64_t mask,
			 const struct wire_type *type, const void *record, unsigned int *n);

/* As client_table() with any method and any data, which is sent by RMPP. */
GByteArray *client_ask_long(struct client *client, uint8_t method, uint16_t attribute,
			    uint64_t mask, const GByteArray *data, const struct wire_type *type,
			    unsigned int *n);

/* The path from this client to a port. */
int client_path(struct client *client, uint64_t guid, struct iba_path_record *path);
/* Joins the IPv4 broadcast group of the default partition; *mlid gets its MLID. */
int client_join_broadcast(struct client *client, uint16_t *mlid);
int client_leave_broadcast(struct client *client);
/*
 * Has a port join (SET) a group of the default partition, which is created if need be, or leave it
 * (DELETE); a trusted client may name another's port. Returns the status, or -1.
 */
int client_member(struct client *client, uint8_t method, struct iba_gid mgid, uint64_t guid,
		  uint16_t *mlid);
/* Sends one request to join or leave the broadcast group, and does not wait. */
void client_send_member(struct client *client, bool join);
/* Sends InformInfo and waits; returns the status, or -1. */
int client_inform(struct client *client, struct iba_inform_info info);
/* The oldest Report that was not fetched before; false: there is none. */
bool client_report(struct client *client, struct iba_sa_notice *notice);
/* From now on it does not answer Reports (or does again). */
void client_set_deaf(struct client *client, bool deaf);
/* The answer since then: a status, or -1. */
int client_answer(const struct client *client);

#endif
