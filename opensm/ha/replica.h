// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What one SM keeps for another: values by section and key, with a meaning only to the module that
 * put them there. Sections unknown to this version are kept like the others.
 */
#ifndef HA_REPLICA_H
#define HA_REPLICA_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Sections; a number is never used for anything else. */
enum replica_section {
	REPLICA_LIDS = 1,     /* port GUID -> base LID, number of LIDs: sm/takeover/replicate.c */
	REPLICA_GROUPS = 2,   /* MGID -> MCMemberRecord (no port), creator, flags: sa/report/ */
	REPLICA_MEMBERS = 3,  /* MGID, port GUID -> JoinState, flags: sa/report/ */
	REPLICA_SERVICES = 4, /* ServiceID, GID, P_Key -> ServiceRecord, owner: sa/report/ */
	REPLICA_SUBSCRIPTIONS = 5, /* sa_subscription_key -> InformInfo, address: sa/report/ */
	REPLICA_ALIASES = 6,	   /* port GUID, index -> alias GUID: sa/report/ */
	REPLICA_CLOCK = 7, /* empty -> the master's time, by which leases end: sa/report/ */
	REPLICA_PARTITIONS = 16, /* as in partition_changes.h: sm/takeover/run_time_partitions.c */
	REPLICA_PATH_SLS = 17,	 /* contents of the file: subnet/path_sls.h */
	REPLICA_CC = 19, /* contents of the file: cc/memory.c */
	REPLICA_P_KEY_INDEXES = 18, /* port GUID, index -> P_Key, time: sm/write/pkey_indexes.c */
};

#define REPLICA_KEY_MAX 255
#define REPLICA_VALUE_MAX 4096
#define REPLICA_REMOVED 0xFFFF /* as length of a value: the entry is removed */

struct replica_entry {
	uint8_t section;
	uint8_t key_length;
	uint16_t value_length;
	uint8_t octets[]; /* key, then value */
};

/* value NULL: the entry is removed. Free with g_free. */
struct replica_entry *replica_entry_new(uint8_t section, const void *key, size_t key_length,
					const void *value, size_t value_length);
static inline const uint8_t *replica_value(const struct replica_entry *entry)
{
	return entry->octets + entry->key_length;
}
static inline bool replica_is_removal(const struct replica_entry *entry)
{
	return entry->value_length == REPLICA_REMOVED;
}

struct replica;

struct replica *replica_new(size_t octets_max);
struct replica *replica_ref(struct replica *replica); /* a shared replica must not be changed */
void replica_unref(struct replica *replica);	      /* NULL is fine */

enum replica_put { REPLICA_SAME, REPLICA_CHANGED, REPLICA_NO_ROOM };
/* Takes ownership of the entry. */
enum replica_put replica_put(struct replica *replica, struct replica_entry *entry);
/* The entry of that section and key, with its current value; NULL: none. */
const struct replica_entry *replica_find(const struct replica *replica,
					 const struct replica_entry *key);
/* The digest of all entries of the section, independent of their order; 0 if there are none. */
uint64_t replica_digest(const struct replica *replica, enum replica_section section);
/* A copy with only that section. */
struct replica *replica_section(const struct replica *replica, enum replica_section section);
/* In no particular order; each must not change the replica. */
void replica_each(const struct replica *replica, uint8_t section,
		  void (*each)(void *arg, const struct replica_entry *entry), void *arg);
size_t replica_octets(const struct replica *replica); /* of memory, approximately */
unsigned int replica_size(const struct replica *replica);

/*
 * A stream: the digest of the replica after it is applied, then entries. Removals are entries too.
 * Keys are entries of which only section and key are used.
 */
GByteArray *replica_write_all(const struct replica *replica);
GByteArray *replica_write(const struct replica *replica, GHashTable *keys);
/* Applies a whole stream, or nothing and returns what is wrong with it. */
bool replica_apply(struct replica *replica, const uint8_t *stream, size_t length,
		   const char **wrong);

/* A set of entries by section and key, which it frees. */
GHashTable *replica_keys_new(void);

/* ---- a text as a section: number of a piece (4) -> up to REPLICA_VALUE_MAX octets ---- */

/* Its entries, each freed with g_free. */
GPtrArray *replica_text_new(enum replica_section section, const char *text);
/* The text in the section, freed with g_free. */
char *replica_text(const struct replica *replica, enum replica_section section);

#endif
