// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether SMs agree: this SM's statement of its settings, and the result of comparing it with that
 * of another SM.
 *
 * The master sends its statement, a piece at a time (AGREE), and gets the standby's in the answers,
 * so that both can compare. It does so once a standby has everything, and again when either
 * statement changes: the standby's digest comes with its answers to heartbeats.
 */
#include <inttypes.h>
#include <string.h>

#include "ha/ha_private.h"

#define DIGEST_BYTES 8

/* ---- this SM's statement ---- */

void ha_statement_clear(struct replicator *r)
{
	agreed_unref(r->statement.agreed);
	g_free(r->statement.text);
	r->statement = (struct statement){0};
}

const struct statement *ha_statement(struct replicator *r)
{
	struct agreed *agreed = slot_take(&r->context->agreed);

	if (agreed == r->statement.agreed || !r->key) {
		agreed_unref(agreed);
		return &r->statement;
	}
	ha_statement_clear(r);
	r->statement.agreed = agreed;
	if (agreed) {
		r->statement.text = agreement_text(agreed, r->key);
		r->statement.length = strlen(r->statement.text);
		r->statement.digest =
			agreement_digest(r->statement.text, r->statement.length, r->key);
	}
	return &r->statement;
}

void accord_put_digest(struct replicator *r, struct frame *answer)
{
	uint64_t digest = GUINT64_TO_BE(ha_statement(r)->digest);

	memcpy(answer->content, &digest, DIGEST_BYTES);
	answer->length = DIGEST_BYTES;
}

uint64_t accord_get_digest(const struct frame *answer)
{
	uint64_t digest = 0;

	if (answer->minor >= 1 && answer->length >= DIGEST_BYTES)
		memcpy(&digest, answer->content, DIGEST_BYTES);
	return GUINT64_FROM_BE(digest);
}

/* ---- the result ---- */

const char *agreement_state_text(enum agreement agreement)
{
	static const char *const texts[] = {
		[AGREEMENT_UNKNOWN] = "it has not reported its options",
		[AGREEMENT_OLD] = "it runs an older version, which does not report its options",
		[AGREEMENT_UNREADABLE] = "its report is not understood",
		[AGREEMENT_SAME] = "it has the same",
		[AGREEMENT_DIFFERS] = "it differs",
	};

	return texts[agreement];
}

void accord_set(struct accord *accord, enum agreement state)
{
	g_clear_pointer(&accord->is.differences, g_ptr_array_unref);
	accord->is.state = state;
}

void accord_clear(struct accord *accord)
{
	accord_set(accord, AGREEMENT_UNKNOWN);
	g_clear_pointer(&accord->told, g_free);
}

/* Logs each change of the result, and when both agree again. */
static void tell(struct accord *accord, struct replicator *r, uint64_t guid, unsigned int compared)
{
	const char *role = r->role == HA_LEADS ? "standby" : "master";
	const GPtrArray *differences = accord->is.differences;
	g_autofree char *now = differences->len ? agreement_tell(differences) : NULL;

	if (!g_strcmp0(now, accord->told))
		return;
	if (now)
		log_error(r->log,
			  "the %s, SM 0x%016" PRIx64 ", differs from this one, so a takeover "
			  "will change the subnet: %s",
			  role, guid, now);
	else
		log_info(r->log,
			 "the %s, SM 0x%016" PRIx64 ", no longer differs from this one: %u "
			 "options compared",
			 role, guid, compared);
	g_free(accord->told);
	accord->told = g_steal_pointer(&now);
}

void accord_compare(struct accord *accord, struct replicator *r, uint64_t guid, const char *text,
		    size_t length)
{
	const struct statement *own = ha_statement(r);
	GPtrArray *differences = NULL;
	unsigned int compared = 0;

	if (own->agreed)
		differences = agreement_compare(own->agreed, r->key, text, length, &compared);
	accord_set(accord, !differences	      ? AGREEMENT_UNREADABLE
			   : differences->len ? AGREEMENT_DIFFERS
					      : AGREEMENT_SAME);
	accord->is.differences = differences;
	if (differences)
		tell(accord, r, guid, compared);
	else
		log_error(r->log,
			  "replication: the options that SM 0x%016" PRIx64 " reports are not "
			  "understood",
			  guid);
	ha_tell_status(r);
}

struct replication_agreement accord_tell(const struct accord *accord)
{
	struct replication_agreement told = accord->is;

	if (told.differences)
		g_ptr_array_ref(told.differences);
	return told;
}
