// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How a snapshot travels: as chunks, and a manifest that names them.
 *
 * A chunk is a zstd frame (with checksum) over some whole rows of a table; its name is the first 16
 * octets of the SHA-256 of the frame, in hex. Equal rows give an equal name, and are not sent
 * again. The list of a table's chunks is a chunk itself: for each chunk, in the order of rows, its
 * name, the length of its frame, and the number of its rows. The manifest is all that is mutable:
 * term and epoch, and for each table its hash and the name of its list. It ends with an HMAC-SHA256
 * by the key that the SMs of a subnet share, so that a store, or a program that can write into one,
 * forges nothing.
 */
#ifndef SSA_WIRE_WIRE_H
#define SSA_WIRE_WIRE_H

#include "ssa/table/snapshot.h"

#define SSA_NAME_LENGTH 32	 /* hex digits of a chunk's name */
#define SSA_CHUNK_RAW (2u << 20) /* octets of rows in a chunk that is made; of one row */
#define SSA_CHUNK_MAX (4u << 20) /* of a frame, or raw, that is read */
#define SSA_MANIFEST_MAX 8192u
#define SSA_KEY_MIN 16u /* octets of a key file's content */

/* What a manifest says of a table. */
struct ssa_listed {
	uint16_t id;
	uint32_t row_size;
	uint64_t rows, epoch;
	uint64_t hash[2];
	char list[SSA_NAME_LENGTH + 1]; /* of its chunks; "": the table has no rows */
};

struct ssa_manifest {
	uint64_t prefix, term, epoch, time_us, sm_guid;
	bool authenticated; /* it bore the HMAC of the reader's key */
	unsigned int n;
	struct ssa_listed tables[SSA_TABLE_END]; /* by ascending id */
};

#define SSA_WIRE_ERROR ssa_wire_error_quark()
GQuark ssa_wire_error_quark(void);
enum ssa_wire_error {
	SSA_WIRE_ERROR_BROKEN,	/* torn, or it contradicts itself */
	SSA_WIRE_ERROR_VERSION, /* another major format */
	SSA_WIRE_ERROR_KEY,	/* not signed by our key */
};

/* key: of at least SSA_KEY_MIN octets; NULL: not authenticated. */
GBytes *ssa_manifest_encode(const struct ssa_manifest *manifest, GBytes *key);
/*
 * Believes nothing. With a key, a manifest without its HMAC is an error; without one, HMACs are not
 * looked at, and only what is torn is found. Tables of a later minor version are left out.
 */
bool ssa_manifest_parse(GBytes *bytes, GBytes *key, struct ssa_manifest *manifest, GError **error);
/* Negative, 0, positive: a is older than b, as old, newer, by term, then by epoch. */
int ssa_manifest_compare(const struct ssa_manifest *a, const struct ssa_manifest *b);

/* The frame of some octets, and its name. */
GBytes *ssa_chunk_pack(const void *data, size_t length, char name[SSA_NAME_LENGTH + 1]);
/* The octets of a frame, at most max; checks that the frame has that name. */
GBytes *ssa_chunk_unpack(GBytes *frame, const char *name, size_t max, GError **error);

/* Whether that is the name of a chunk: 32 lower-case hex digits. */
bool ssa_chunk_is_name(const char *name);
/* Whether it is the name of that frame. */
bool ssa_chunk_has_name(GBytes *frame, const char *name);

/* ---- a whole epoch ---- */

/*
 * Cuts whole tables into chunks. Each is given to put(), the list of a table after its chunks;
 * tables without a hash are hashed. before (NULL: none) is the manifest of the last epoch: a table
 * with the same hash keeps its list and epoch, and is not cut; the others have the epoch of made.
 * False and an error that names the table if put() failed, or if a table is too large.
 */
typedef bool (*ssa_put)(void *arg, const char *name, GBytes *frame, GError **error);
bool ssa_wire_cut(const struct ssa_made *made, const struct ssa_manifest *before, ssa_put put,
		  void *arg, struct ssa_manifest *manifest, GError **error);

/* What a reader wants of an epoch. */
struct ssa_wanted {
	bool whole;		   /* all rows of all tables */
	uint64_t guids[SSA_PARTS]; /* else the rows for these ports, of this host; 0 ends them */
	bool addresses;		   /* names, IPv4, IPv6 as well */
	uint64_t limit;		   /* octets of all tables; more is an error; 0: one of these */
};
#define SSA_WHOLE_MAX (UINT64_C(1) << 30)
#define SSA_HOST_MAX (UINT64_C(128) << 20)

/*
 * Puts a snapshot together from chunks that get() gives; what before (NULL: none) has with equal
 * hash is taken from there. The result has been opened, so it is checked. NULL and an error that
 * names the table if a chunk is missing or anything is wrong.
 */
typedef GBytes *(*ssa_get)(void *arg, const char *name, GError **error);
struct ssa_snapshot *ssa_wire_join(const struct ssa_manifest *manifest,
				   const struct ssa_snapshot *before,
				   const struct ssa_wanted *wanted, ssa_get get, void *arg,
				   GError **error);

/*
 * A table of which one row has changed is fetched again, but most of its chunks are as before: a
 * reader that keeps their frames asks the store only for new ones. ssa_frames_get() is the get() of
 * its joins, with the frames as arg; ssa_frames_turn(), after a join that succeeded, drops what it
 * did not use.
 */
struct ssa_frames *ssa_frames_new(ssa_get get, void *arg);
void ssa_frames_free(struct ssa_frames *frames); /* NULL is fine */
GBytes *ssa_frames_get(void *arg, const char *name, GError **error);
void ssa_frames_turn(struct ssa_frames *frames);

/*
 * The names of all chunks of an epoch, lists included, each once (char *): what a store must keep.
 * get() is asked for the lists only.
 */
GPtrArray *ssa_wire_names(const struct ssa_manifest *manifest, ssa_get get, void *arg,
			  GError **error);

#endif
