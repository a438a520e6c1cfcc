// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What clients of the REST interface send: P_Keys, GUIDs and objects in JSON. Pure. Mistakes are
 * texts for the client, newly allocated; NULL: there is none.
 */
#ifndef WEB_REST_BODY_H
#define WEB_REST_BODY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BODY_GUIDS_MAX 8192
#define BODY_HOSTS_MAX 8192
#define BODY_DEPTH_MAX 16

/* Names that are shown: of the default partition, and what precedes the P_Key of an unnamed one. */
#define BODY_DEFAULT_NAME "management"
#define BODY_UNNAMED "api_pkey_"

struct body_member {
	uint64_t guid;
	const char *membership; /* a word of partitions.conf */
};

/* Fields that are missing: -1, NULL. */
struct body {
	uint16_t p_key; /* 0: missing */
	GArray *members; /* struct body_member */
	GPtrArray *hosts; /* names */
	const char *membership;
	int ip_over_ib, index0;
	int mtu, rate, sl; /* codes of IBA */
	char *name; /* safe in a definition */
};

/* Hexadecimal or decimal, without the membership bit, from 1 to 0x7fff. */
char *body_p_key(const char *text, uint16_t *p_key);
/* Adds the GUIDs of a list with commas. */
char *body_guids(struct body *body, const char *list);
char *body_hosts(struct body *body, const char *list);

void body_init(struct body *body);
void body_clear(struct body *body);
/* text: an object; unknown fields are ignored. */
char *body_parse(struct body *body, const char *text, gsize size);

/* Rates, by codes of IBA: what a client can be shown, in units of 100 Mb/s; 0: not such a code. */
unsigned int body_rate_shown(unsigned int code);
unsigned int body_rate_true(unsigned int code);

#endif
