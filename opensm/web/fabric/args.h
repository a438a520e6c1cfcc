// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Arguments of a question about the fabric, out of texts. */
#ifndef WEB_FABRIC_ARGS_H
#define WEB_FABRIC_ARGS_H

#include <stdbool.h>

#include "web/fabric/fabric.h"

#define ARGS_ROWS_MAX 1000u

/* Bits of those that were given, and of those that a question takes. */
enum arg {
	ARG_NODE = 1 << 0,
	ARG_PORT = 1 << 1,
	ARG_GROUP = 1 << 2,
	ARG_GROUPS = 1 << 3,
	ARG_SET = 1 << 4,
	ARG_SWITCH = 1 << 5,
	ARG_LEVEL = 1 << 6,
	ARG_STATE = 1 << 7,
	ARG_PROBLEM = 1 << 8,
	ARG_NAME = 1 << 9,
	ARG_LID = 1 << 10,
	ARG_SORT = 1 << 11,
	ARG_LIMIT = 1 << 12,
	ARG_AFTER = 1 << 13,
	ARG_VALUE = 1 << 14,
	ARG_HOURS = 1 << 15,
};

enum args_problem {
	PROBLEM_ANY,
	PROBLEM_LOST,
	PROBLEM_SLOW,
	PROBLEM_UNHEALTHY,
	PROBLEM_ALARM,
	PROBLEM_ERRORS,
	PROBLEM_SILENT,
};

enum args_sort { SORT_LOAD, SORT_WAIT, SORT_ERRORS };

enum args_value { VALUE_RATE, VALUE_LOAD, VALUE_WAIT, VALUE_ERRORS };

struct args {
	unsigned int given;		       /* bits of enum arg; what was not given is 0 */
	uint64_t node, group, groups, set, sw; /* GUIDs */
	uint64_t after;			       /* GUID of a node */
	unsigned int after_port, port, level, lid, hours;
	unsigned int limit;   /* ARGS_ROWS_MAX if it was not given */
	unsigned int state;   /* PortState */
	unsigned int problem; /* enum args_problem */
	unsigned int sort;    /* enum args_sort */
	unsigned int value;   /* enum args_value */
	const char *name;     /* of the caller */
};

/* takes: bits of those that this question has. False and error: FABRIC_WRONG. */
bool args_parse(struct args *args, fabric_argument_fn *get, const void *from, unsigned int takes,
		GError **error);

#endif
