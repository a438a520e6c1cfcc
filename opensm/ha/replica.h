// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What one SM keeps for another: values by section and key, which mean something only to who put
 * them there. Sections that this version does not know are kept like the others.
 */
#ifndef HA_REPLICA_H
#define HA_REPLICA_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Sections; a number is never used for anything else. */
enum replica_section {
	REPLICA_LIDS = 1,     /* port GUID -> base LID, number of LIDs: sm/election/replicate.c */
	REPLICA_GROUPS = 2,   /* MGID -> MCMemberRecord of nobody, creator, flags: sa/report/ */
	REPLICA_MEMBERS = 3,  /* MGID, port GUID -> JoinState, flags: the same */
	REPLICA_SERVICES = 4, /* ServiceID, GID, P_Key -> ServiceRecord, owner: the same */
	REPLICA_SUBSCRIPTIONS = 5, /* sa_subscription_key -> InformInfo, address: the same */
	REPLICA_ALIASES = 6,	   /* port GUID, index -> alias GUID: the same */
	REPLICA_CLOCK = 7, /* nothing -> time of the SM that leads, by which leases end: the same */
	REPLICA_PARTITIONS = 16, /* of partition_changes.h: sm/election/run_time_partitions.c */
	REPLICA_PATH_SLS = 17,	 /* that of the file: sm/store/path_sls.h */
	REPLICA_P_KEY_INDEXES = 18, /* port GUID, index -> P_Key, time: sm/write/pkey_indexes.c */
};

#define REPLICA_KEY_MAX 255
#define REPLICA_VALUE_MAX 4096
#define REPLICA_REMOVED 0xFFFF /* as length of a value: there is none any more */

struct replica_entry {
	uint8_t section;
	uint8_t key_length;
	uint16_t value_length;
	uint8_t octets[]; /* key, then value */
};

/* value NULL: it is removed. Free with g_free. */
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
struct replica *replica_ref(struct replica *replica); /* who shares it may not change it */
void replica_unref(struct replica *replica);	      /* NULL is fine */

enum replica_put { REPLICA_SAME, REPLICA_CHANGED, REPLICA_NO_ROOM };
/* Takes the entry over. */
enum replica_put replica_put(struct replica *replica, struct replica_entry *entry);
/* Of that section and key, with its value as it is; NULL: there is none. */
const struct replica_entry *replica_find(const struct replica *replica,
					 const struct replica_entry *key);
/* Of all entries of the section, whatever their order; 0 if there are none. */
uint64_t replica_digest(const struct replica *replica, enum replica_section section);
/* A copy that has no other section. */
struct replica *replica_section(const struct replica *replica, enum replica_section section);
/* In no order; each may not change the replica. */
void replica_each(const struct replica *replica, uint8_t section,
		  void (*each)(void *arg, const struct replica_entry *entry), void *arg);
size_t replica_octets(const struct replica *replica); /* of memory, about */
unsigned int replica_size(const struct replica *replica);

/*
 * A stream: the digest of the replica as it is afterwards, then entries. Removals are entries too.
 * Keys are entries of which only section and key count.
 */
GByteArray *replica_write_all(const struct replica *replica);
GByteArray *replica_write(const struct replica *replica, GHashTable *keys);
/* All of a stream, or nothing and what is wrong with it. */
bool replica_apply(struct replica *replica, const uint8_t *stream, size_t length,
		   const char **wrong);

/* Of entries by section and key, which it frees. */
GHashTable *replica_keys_new(void);

/* ---- a text as a section: number of a piece (4) -> up to REPLICA_VALUE_MAX octets ---- */

/* Its entries, to be freed with g_free each. */
GPtrArray *replica_text_new(enum replica_section section, const char *text);
/* What the section has, to be freed with g_free. */
char *replica_text(const struct replica *replica, enum replica_section section);

#endif
