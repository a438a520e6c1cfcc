// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Published subnets and SA requests for the tests of the SA, octets in and octets out. */
#ifndef TESTS_UNIT_TEST_SA_MAKE_H
#define TESTS_UNIT_TEST_SA_MAKE_H

#include "sa/groups/store.h"
#include "sa/sa_private.h"
#include "tests/unit/fabric_make.h"

#define TEST_SA_KEY UINT64_C(0x5AFE)
#define KNOWN_SA_KEY 1 /* the default */

/*
 * A routed subnet of a topology. With variety, links differ in rate and MTU; 0: they do not. All
 * endports are full members of the default partition.
 */
struct subnet *make_subnet(const char *spec, uint8_t lmc, uint64_t variety);

/*
 * The subnet with other partitions: P_Keys of endport n of the fabric are row n % n_rows of rows,
 * each ended by 0. partitions lists those with parameters; it is copied, with names and groups.
 */
struct subnet *with_partitions(struct subnet *subnet, const uint16_t (*rows)[4],
			       unsigned int n_rows, const struct partition *partitions,
			       unsigned int n_partitions);

/* Endport number n of the fabric, CAs only or all. */
uint32_t endport(const struct subnet *subnet, unsigned int n, bool ca_only);
unsigned int n_endports(const struct subnet *subnet);

/* A request, with header fields that tests may spoil. */
struct ask {
	const struct subnet *subnet;
	struct sa_store *store;
	struct sa_registries *registries; /* all; NULL: store, and others that are empty */
	const struct inventory *inventory;
	uint64_t now;
	uint32_t from; /* requester's endport */
	uint16_t p_key_index;
	uint64_t grh_guid; /* of the SGID; 0: there is no GRH */
	uint64_t sm_key;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	uint64_t mask;
	const struct wire_type *type;
	const void *record;
};

struct told {
	bool answered;
	bool waits; /* for the inventory: no answer yet */
	uint64_t want;
	struct iba_mad_header header;
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;
	uint8_t *data; /* whole answer */
	size_t length;
	unsigned int n; /* records in a good answer */
};

/* 256 octets of the request. */
void ask_encode(const struct ask *ask, uint8_t octets[IBA_MAD_BYTES]);
struct told tell(const struct ask *ask);
/* As tell(), for octets that may not be a request. */
struct told tell_octets(const struct ask *ask, const uint8_t *data, size_t length);
void told_record(const struct told *told, const struct wire_type *type, unsigned int index,
		 void *record);
void told_clear(struct told *told);

#endif
