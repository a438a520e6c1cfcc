// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin verify: the answers of the snapshot beside those of the SA, for a sample of ports. */
#include <stdio.h>
#include <string.h>

#include "iba/iba.h"
#include "ssa/admin/admin.h"
#include "ssa/node/sa.h"

#define SHOWN_MAX 10

struct result {
	uint32_t same, asked, differ, silent;
};

/* The status, and with 0 the octets of the record; negative: no answer. */
static int ask(struct ssa_sa *sa, const struct iba_path_record *wanted, uint64_t mask,
	       uint8_t octets[iba_path_record_bytes])
{
	const struct ssa_sa_request request = {IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, mask,
					       &iba_path_record_type, wanted};
	struct ssa_sa_answer answer;
	int status = ssa_sa_ask(sa, &request, &answer);

	if (status < 0 || answer.length < iba_path_record_bytes)
		return -1;
	memcpy(octets, answer.data, iba_path_record_bytes);
	return status;
}

/* ---- the sample ---- */

/* Both answer with that record, or both with none. */
static void compare(struct ssa_sa *sa, const struct ssa_snapshot *snapshot, uint32_t from,
		    uint32_t to, struct result *result)
{
	uint8_t own[iba_path_record_bytes] = {0}, octets[iba_path_record_bytes];
	struct iba_path_record wanted, record;
	uint64_t mask;
	const char *why = NULL;
	enum ssa_look look = admin_look_up(snapshot, from, to, &wanted, &mask, &record, &why);
	int status;

	if (look == SSA_LOOK_ASK) {
		result->asked++;
		return;
	}
	status = ask(sa, &wanted, mask, octets);
	if (status < 0) {
		result->silent++;
		return;
	}
	if (look == SSA_LOOK_FOUND)
		wire_encode(&iba_path_record_type, &record, own);
	if ((status == 0) == (look == SSA_LOOK_FOUND) &&
	    (status || !memcmp(own, octets, sizeof(own)))) {
		result->same++;
		return;
	}
	if (result->differ++ < SHOWN_MAX)
		fprintf(stderr, "ssadmin: %s: %s here, %s at the SA\n", ssa_look_name(snapshot, to),
			look == SSA_LOOK_FOUND ? "a path" : "no path",
			status			 ? "none"
			: look == SSA_LOOK_FOUND ? "another one"
						 : "one");
}

/* Ports at equal distances, which are other ones for other counts. */
static void sample(struct ssa_sa *sa, const struct ssa_snapshot *snapshot, uint32_t from,
		   uint32_t count, struct result *result)
{
	uint32_t n = snapshot->n_endports;

	count = MIN(count, n);
	for (uint32_t i = 0; i < count; i++)
		compare(sa, snapshot, from, (uint32_t)((uint64_t)i * n / count), result);
}

static void tell(const struct admin *admin, const struct ssa_snapshot *snapshot,
		 const struct result *result)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();

	if (!admin->json) {
		printf("term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT
		       ": %u answers as those of the SA, %u differ, %u are left to the SA, "
		       "%u without an answer of the SA\n",
		       snapshot->term, snapshot->epoch, result->same, result->differ, result->asked,
		       result->silent);
		return;
	}
	json_builder_begin_object(builder);
	admin_add_number(builder, "term", snapshot->term);
	admin_add_number(builder, "epoch", snapshot->epoch);
	admin_add_number(builder, "same", result->same);
	admin_add_number(builder, "differ", result->differ);
	admin_add_number(builder, "asked", result->asked);
	admin_add_number(builder, "silent", result->silent);
	json_builder_end_object(builder);
	admin_print(builder);
}

static enum admin_status verify(const struct admin *admin, struct ssa_sa *sa,
				const struct ssa_snapshot *snapshot)
{
	struct result result = {0};
	uint64_t guid = ssa_sa_gid(sa).guid;
	uint32_t from = ssa_look_guid(snapshot, guid);

	if (from == SSA_NONE) {
		fprintf(stderr,
			"ssadmin: verify: the snapshot has no port 0x%016" G_GINT64_MODIFIER
			"x, which is that of this host\n",
			guid);
		return ADMIN_NO;
	}
	sample(sa, snapshot, from, admin->count, &result);
	tell(admin, snapshot, &result);
	if (result.differ)
		return ADMIN_NO;
	return result.silent ? ADMIN_UNREACHABLE : ADMIN_DONE;
}

enum admin_status admin_verify(const struct admin *admin)
{
	GError *error = NULL;
	struct ssa_snapshot *snapshot = admin_snapshot(admin, &error);
	struct ssa_sa *sa = snapshot ? ssa_sa_open(&error) : NULL;
	enum admin_status status;

	if (sa)
		status = verify(admin, sa, snapshot);
	else
		status = admin_fail(ADMIN_UNREACHABLE, error);
	ssa_sa_close(sa);
	ssa_snapshot_unref(snapshot);
	return status;
}
