// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A client of the SA on a host of the scenario's fabric. */
#ifndef TESTS_SCENARIO_CLIENT_H
#define TESTS_SCENARIO_CLIENT_H

#include "scenario.h"

struct client;

struct client *client_new(struct scenario *s, unsigned int node);
/* One that Reports come to as well. */
struct client *client_new_subscriber(struct scenario *s, unsigned int node);
void client_free(struct client *client);

uint64_t client_guid(const struct client *client);
struct iba_gid client_gid(const struct client *client);

/*
 * Asks the SA of its port and waits; asks again, up to 10 times, if nothing comes in half a second
 * or the SA is busy. Returns the status, or -1 without an answer; record is replaced by the answer
 * if the status is 0.
 */
int client_ask(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask,
	       const struct wire_type *type, void *record);

/* Requests from now on carry that SM_Key: the SA key makes the client a trusted one. */
void client_trust(struct client *client, uint64_t sm_key);
/* They go by the P_Key at that index of its port. */
void client_set_p_key_index(struct client *client, uint16_t index);
/*
 * The same with GetTable: *n records of the type one behind the other in host order, to be freed
 * with g_byte_array_unref; NULL without a good answer.
 */
GByteArray *client_table(struct client *client, uint16_t attribute, uint64_t mask,
			 const struct wire_type *type, const void *record, unsigned int *n);

/* The same by any method, with any data, which goes by RMPP. */
GByteArray *client_ask_long(struct client *client, uint8_t method, uint16_t attribute,
			    uint64_t mask, const GByteArray *data, const struct wire_type *type,
			    unsigned int *n);

/* The path from this client to a port. */
int client_path(struct client *client, uint64_t guid, struct iba_path_record *path);
/* Joins the IPv4 broadcast group of the default partition; *mlid gets its MLID. */
int client_join_broadcast(struct client *client, uint16_t *mlid);
int client_leave_broadcast(struct client *client);
/*
 * Has a port join (SET) a group of the default partition, which it may make, or leave it (DELETE);
 * another's port for those that the SA trusts. The status, or -1.
 */
int client_member(struct client *client, uint8_t method, struct iba_gid mgid, uint64_t guid,
		  uint16_t *mlid);
/* Asks once to join or leave it, and does not wait. */
void client_send_member(struct client *client, bool join);
/* Sends InformInfo and waits; the status, or -1. */
int client_inform(struct client *client, struct iba_inform_info info);
/* The oldest Report that came and was not fetched before; false: there is none. */
bool client_report(struct client *client, struct iba_sa_notice *notice);
/* It answers no Report any more. */
void client_set_deaf(struct client *client, bool deaf);
/* What came since: a status, or -1. */
int client_answer(const struct client *client);

#endif
