// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a SET asks for, as one command for the daemon: all of its rows change together or none
 * does. Pure.
 */
#ifndef SNMP_CHANGES_H
#define SNMP_CHANGES_H

#include "snmp/facts.h"

/* As in RFC 3416. */
enum change_error {
	CHANGE_GOOD = 0,
	CHANGE_WRONG_TYPE = 7,
	CHANGE_WRONG_LENGTH = 8,
	CHANGE_WRONG_VALUE = 10,
	CHANGE_NO_CREATION = 11,
	CHANGE_INCONSISTENT_VALUE = 12,
	CHANGE_RESOURCE_UNAVAILABLE = 13,
	CHANGE_COMMIT_FAILED = 14,
	CHANGE_UNDO_FAILED = 15,
	CHANGE_NOT_WRITABLE = 17,
	CHANGE_INCONSISTENT_NAME = 18,
};

/* A variable binding of the SET. */
struct change_bind {
	struct oid oid;
	enum mib_type type; /* MIB_INTEGER and MIB_OCTETS count, all others are wrong */
	int64_t number;
	const char *octets;
	size_t length;
};

/*
 * The error, with *at the binding that has it. Good: *line is the command, newly allocated, or NULL
 * if there is nothing to do. Partitions of partitions.conf and their members are not writable; a
 * partition is destroyed by a SET of its own.
 */
enum change_error change_plan(const struct facts *facts, const struct change_bind *binds,
			      unsigned int n, unsigned int *at, char **line);

/* Whether the daemon has done it, by its answer in JSON; if not, *why is a text to be freed. */
enum change_error change_result(unsigned int status, const char *output, char **why);

#endif
