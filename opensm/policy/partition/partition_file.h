// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file partitions.conf, as rules: immutable and reference counted. policy/partition/partition.c
 * computes what they mean on a given subnet.
 *
 * The grammar is that of the classic daemon, with these extensions: ranges of GUIDs (0xA-0xB),
 * patterns of NodeDescriptions ("node-*"), named sets of members (@NAME: MEMBERS; used as
 * @NAME=full) and include FILE on a line of its own. What the classic daemon accepts by accident is
 * accepted with a warning; what it cannot read is an error, after which the classic daemon lets
 * every port talk to every other. This one never does: it then has no new rules, and the caller
 * keeps the present ones, or does not start.
 */
#ifndef POLICY_PARTITION_PARTITION_FILE_H
#define POLICY_PARTITION_PARTITION_FILE_H

#include <glib.h>
#include <stdbool.h>

#include "complib/handoff.h"
#include "iba/iba.h"

#define PARTITION_ERROR partition_error_quark()
enum partition_error {
	PARTITION_ERROR_SYNTAX, /* file, line, column, what was found and what was expected */
	PARTITION_ERROR_FILE,	/* the file cannot be read */
	PARTITION_ERROR_LIMIT,	/* too long, or too many included files */
	/* Of requests: */
	PARTITION_ERROR_NOT_MASTER,
	PARTITION_ERROR_UNKNOWN,    /* a partition does not exist */
	PARTITION_ERROR_CONFIGURED, /* partitions.conf defines it */
	PARTITION_ERROR_NAME,	    /* another partition has that name */
	PARTITION_ERROR_IMPOSSIBLE, /* a port cannot have that P_Key */
};
GQuark partition_error_quark(void);

enum partition_membership {
	PARTITION_NO_MEMBER, /* removed at run time, whatever the file says */
	PARTITION_LIMITED,
	PARTITION_FULL,
	PARTITION_BOTH,
};

enum partition_who {
	PARTITION_GUIDS, /* first to last */
	PARTITION_NAMES, /* the pattern matches the NodeDescription */
	PARTITION_ALL,
	PARTITION_CAS,
	PARTITION_SWITCHES,
	PARTITION_ROUTERS,
	PARTITION_SELF, /* the SM's port */
};

struct partition_member {
	uint64_t first, last;
	const char *pattern; /* shell style; NULL except for PARTITION_NAMES */
	uint32_t file, line; /* place: index in rules->files, line from 1 */
	uint8_t who, membership;
};

/* A group that exists without members. */
struct partition_group {
	struct iba_gid mgid;
	uint32_t q_key, flow_label;
	uint8_t mtu, rate, sl, scope, t_class;
	bool own_sl; /* used even without QoS; not inherited from a definition */
};

struct partition_rule {
	uint16_t p_key; /* base; if the definition has none, chosen from 1 upward */
	const char *name;
	const char *head; /* of requests: last text before ':' with more than the P_Key */
	bool ipoib;
	unsigned int indx0; /* see struct partition */
	bool stays;	     /* without members, too; of requests */
	uint8_t sl;
	uint8_t mtu, rate;   /* codes, of its broadcast group; 0: not given */
	uint32_t file, line; /* of its first definition */
	GArray *members;     /* struct partition_member: for each port the last one counts */
	GArray *groups;	     /* struct partition_group, each MGID once */
};

struct partition_rules {
	struct ref ref;
	bool built_in;	     /* no file, or one without definitions */
	bool has_patterns;   /* members depend on NodeDescriptions */
	GPtrArray *rules;    /* struct partition_rule, in the order of the file */
	GPtrArray *files;    /* names */
	uint32_t n_own_files; /* partitions.conf and files it includes; those of changes follow */
	GPtrArray *warnings; /* texts with file and line */
	GStringChunk *texts;
	struct partition_sources *sources; /* everything that was read from n_own_files */
	char *digest; /* of everything that was read */
	uint64_t serial;	     /* set by the publisher: increases with each policy */
	struct partition_changes *changes; /* made at run time; NULL: unknown */
};

struct partition_changes;
struct partition_sources;

/*
 * Loads a file; NULL, or a file that does not exist: the built-in rules. NULL and an error if it is
 * bad.
 */
struct partition_rules *partition_rules_load(const char *file, GError **error);
/* Parses length octets of text, which messages call file. */
struct partition_rules *partition_rules_parse(const char *file, const char *text, size_t length,
					      GError **error);
/*
 * Loads a file and changes, which may be NULL: their definitions come after those of the file,
 * which may include the file that changes are kept in.
 */
struct partition_rules *partition_rules_load_with(const char *file,
						  struct partition_changes *changes,
						  GError **error);
/*
 * Makes rules from what was read before (partition_sources.h), without access to the disk; file is
 * the name of the first file, if there was none.
 */
struct partition_rules *partition_rules_remake(const char *file,
					       const struct partition_sources *sources,
					       struct partition_changes *changes, GError **error);
/* Whether the file name says that there are no partitions: none, or /dev/null. */
bool partition_rules_says_none(const struct partition_rules *rules);
/*
 * Loads a file again. A file without definitions, or that is gone, is bad if the old rules had
 * some: losing or emptying it by accident must not open the subnet.
 */
struct partition_rules *partition_rules_reload(const struct partition_rules *old, const char *file,
					       struct partition_changes *changes, GError **error);
/*
 * Parses definitions of a request or of changes (partition_changes.h), and nothing else: each with
 * its P_Key, and members that are GUIDs. What would be a warning in a file is an error.
 */
struct partition_rules *partition_rules_parse_requests(const char *file, const char *text,
						       size_t length, GError **error);
/* NULL: no rule has that P_Key. */
const struct partition_rule *partition_rules_find(const struct partition_rules *rules,
						  uint16_t p_key);
struct partition_rules *partition_rules_ref(struct partition_rules *rules);
void partition_rules_unref(struct partition_rules *rules); /* NULL is fine */
/* Whether both were made from the same text. */
bool partition_rules_same(const struct partition_rules *a, const struct partition_rules *b);

/* MGID of the IPoIB broadcast group of a partition (RFC 4391, 4). */
struct iba_gid partition_broadcast_mgid(uint16_t p_key, uint8_t scope);

#endif
