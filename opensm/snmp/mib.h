// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The objects of OPENSM-MIB (mib.def), their values, and how they are found by OID. Pure: an OID is
 * an array of numbers, relative to opensmObjects.
 */
#ifndef SNMP_MIB_H
#define SNMP_MIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIB_OID_MAX 16 /* numbers of an OID relative to opensmObjects */
#define MIB_GUID_LENGTH 8
#define MIB_TEXT_MAX 1024 /* octets of a text; the MIB says so */

enum mib_type { MIB_INTEGER, MIB_GAUGE, MIB_COUNTER64, MIB_OCTETS };

/* TruthValue and RowStatus of RFC 2579. */
enum { MIB_TRUE = 1, MIB_FALSE };
enum mib_row_status {
	MIB_ACTIVE = 1,
	MIB_NOT_IN_SERVICE,
	MIB_NOT_READY,
	MIB_CREATE_AND_GO,
	MIB_CREATE_AND_WAIT,
	MIB_DESTROY,
};

enum mib_table {
#define TABLE(number, symbol, scalars) MIB_##symbol##_TABLE,
#include "snmp/mib.def"
#undef TABLE
	MIB_TABLES
};

/* The objects, by their symbols. */
enum mib_object {
#define OBJECT(table, number, symbol, name, type, writable) MIB_##symbol,
#include "snmp/mib.def"
#undef OBJECT
	MIB_OBJECTS
};

struct mib_object_info {
	enum mib_table table;
	uint32_t number;
	const char *name;
	enum mib_type type;
	bool writable;
};
extern const struct mib_object_info mib_objects[MIB_OBJECTS];

struct oid {
	uint32_t n;
	uint32_t id[MIB_OID_MAX];
};
/* As of bytes: the prefix of another OID is smaller. */
int oid_compare(const struct oid *a, const struct oid *b);
/* Appends; what would be too long is left out. */
void oid_add(struct oid *oid, uint32_t id);
void oid_add_guid(struct oid *oid, uint64_t guid); /* a number for each octet */
/* Numbers from at on; false: they are not those of a GUID. */
bool oid_take_guid(const struct oid *oid, uint32_t at, uint64_t *guid);

/* octets belong to the rows, or are guid. */
struct mib_value {
	enum mib_type type;
	uint64_t number;
	const void *octets;
	size_t length;
	uint8_t guid[MIB_GUID_LENGTH];
};
void mib_set_number(struct mib_value *value, uint64_t number);
void mib_set_flag(struct mib_value *value, bool flag);
void mib_set_text(struct mib_value *value, const char *text); /* its end may be cut off */
void mib_set_guid(struct mib_value *value, uint64_t guid);    /* 0: an empty string */

/* The rows of a table, in the order of their indexes. Scalars are one row with the index 0. */
struct mib_rows {
	const void *data;
	uint32_t n;
	void (*index)(const void *data, uint32_t row, struct oid *index);
	/* False: the row does not have that object. The type is set already. */
	bool (*value)(const void *data, uint32_t row, enum mib_object object,
		      struct mib_value *value);
};

/* The object of an OID; *index is what follows. MIB_OBJECTS: the MIB does not have it. */
enum mib_object mib_resolve(const struct oid *oid, struct oid *index);

enum mib_found { MIB_FOUND, MIB_NO_OBJECT, MIB_NO_INSTANCE };
enum mib_found mib_get(const struct mib_rows rows[MIB_TABLES], const struct oid *oid,
		       struct mib_value *value);
/* The first instance after the OID, into *oid; false: there is none. */
bool mib_next(const struct mib_rows rows[MIB_TABLES], struct oid *oid, struct mib_value *value);

#endif
