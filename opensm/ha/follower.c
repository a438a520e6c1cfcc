// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The standby's end. It accepts only frames with its own nonce, so recorded frames are useless
 * later:
 *
 *	HELLO of an unknown epoch	is sent the candidate nonce, and changes nothing
 *	UPDATE with the candidate	its sender is live: the candidate becomes the nonce of
 *					the session, for that epoch, and there is a new candidate
 *	UPDATE with the session's	continues, with a higher transfer number or the next piece
 *
 * A transfer is assembled beside the replica, and applied when it is complete.
 *
 * The master's settings arrive in the same way (AGREE), a piece at a time; each answer is a piece
 * of this SM's settings.
 */
#include <string.h>

#include "ha/ha_private.h"

struct follower {
	struct replicator *replicator;
	uint64_t followed; /* GUID of the master; 0: none */
	uint64_t session, candidate;
	uint64_t epoch;	    /* of the session */
	bool bound;	    /* there is a session */
	uint64_t transfer;  /* the last one that began */
	uint32_t pieces;    /* received pieces of it */
	GByteArray *stream; /* of the transfer; NULL: it is finished */
	uint32_t total;
	bool whole; /* it is a transfer of everything */
	uint64_t to;
	struct replica *replica; /* the last complete one; NULL: none */
	uint64_t of;		 /* GUID of the SM that sent it */
	uint64_t serial;	 /* of the replica */
	bool complete;		 /* it belongs to this session */
	bool behind;		 /* the master has announced more than has arrived */
	uint64_t heard_ns;
	uint64_t lids_told, partitions_told; /* digests last reported in this session */
	struct {
		uint64_t transfer; /* the last AGREE of this session; 0: none */
		uint32_t pieces;   /* received pieces of it */
		GString *theirs;   /* received so far; NULL: compared */
		char *mine;	   /* statement sent in return */
		size_t length;	   /* of mine */
	} agree;
	struct accord accord; /* with the master */
};

static void drop_transfer(struct follower *f)
{
	g_clear_pointer(&f->stream, g_byte_array_unref);
}

static void drop_agree(struct follower *f)
{
	if (f->agree.theirs)
		g_string_free(f->agree.theirs, TRUE);
	g_free(f->agree.mine);
	memset(&f->agree, 0, sizeof(f->agree));
}

static void end_session(struct follower *f)
{
	drop_transfer(f);
	drop_agree(f);
	f->lids_told = f->partitions_told = 0;
	f->bound = f->complete = f->behind = false;
	f->session = f->candidate = ha_random(f->replicator);
}

void follower_follow(struct follower *f, uint64_t guid)
{
	if (f->followed == guid)
		return;
	f->followed = guid;
	end_session(f);
	accord_clear(&f->accord);
}

void follower_end(struct follower *f, struct replicator_lead *lead)
{
	uint64_t now = actor_now(f->replicator->actor);

	lead->of = f->of;
	lead->replica = g_steal_pointer(&f->replica);
	lead->vouched = lead->replica && f->complete && !f->behind && f->followed == f->of &&
			now - f->heard_ns <= lead->fresh_ns;
	follower_follow(f, 0);
}

/* ---- transfers ---- */

static uint8_t begin_transfer(struct follower *f, const struct frame *frame)
{
	drop_transfer(f);
	if (frame->piece != 0)
		return FRAME_SEND_ALL;
	if (frame->total > ha_octets_max(f->replicator))
		return FRAME_TOO_LARGE;
	f->whole = frame->flags & FRAME_WHOLE;
	if (!f->whole && (!f->complete || frame->from != f->serial)) {
		f->behind = true;
		return FRAME_SEND_ALL;
	}
	f->transfer = frame->transfer;
	f->pieces = 0;
	f->total = frame->total;
	f->to = frame->to;
	f->stream = g_byte_array_new();
	return FRAME_OK;
}

static bool apply(struct follower *f, const char **wrong)
{
	struct replica *new;

	if (!f->whole)
		return replica_apply(f->replica, f->stream->data, f->stream->len, wrong);
	new = replica_new(ha_octets_max(f->replicator));
	if (!replica_apply(new, f->stream->data, f->stream->len, wrong)) {
		replica_unref(new);
		return false;
	}
	replica_unref(f->replica);
	f->replica = new;
	return true;
}

/* Whether a section differs from what was last reported of it. */
static bool is_news(const struct follower *f, enum replica_section section, uint64_t *told)
{
	uint64_t digest = replica_digest(f->replica, section);

	if (!digest || digest == *told)
		return false;
	*told = digest;
	return true;
}

/* Saves them on this SM's disk too: after a power failure, whichever SM starts first has them. */
static void tell_lids(struct follower *f)
{
	struct context *context = f->replicator->context;

	if (!is_news(f, REPLICA_LIDS, &f->lids_told))
		return;
	slot_publish(&context->followed_lids, replica_section(f->replica, REPLICA_LIDS));
	event_emit(&context->bus, EVENT_LIDS_FOLLOWED, 0);
}

/* Promised to a client, so saved on this SM's disk too, in case both SMs end at once. */
static void tell_partitions(struct follower *f)
{
	struct replicator *r = f->replicator;
	char *text;

	if (!is_news(f, REPLICA_PARTITIONS, &f->partitions_told))
		return;
	text = replica_text(f->replica, REPLICA_PARTITIONS);
	slot_publish(&r->context->later_partitions, g_bytes_new_take(text, strlen(text)));
	event_emit(&r->context->bus, EVENT_PARTITIONS_FOLLOWED, r->deposed);
	r->deposed = false;
}

static uint8_t end_transfer(struct follower *f)
{
	const char *wrong;
	bool ok = f->stream->len == f->total && apply(f, &wrong), first = !f->complete;

	if (!ok) {
		log_error(f->replicator->log,
			  "replication: the data of SM 0x%016" G_GINT64_MODIFIER "x is not used: "
			  "%s; asking for all of it again",
			  f->followed, f->stream->len == f->total ? wrong : "a piece is missing");
		drop_transfer(f);
		f->behind = true;
		return FRAME_SEND_ALL;
	}
	drop_transfer(f);
	ha_count(f->replicator, f->replica);
	f->serial = f->to;
	f->of = f->followed;
	f->complete = true;
	f->behind = false;
	f->heard_ns = actor_now(f->replicator->actor);
	tell_lids(f);
	tell_partitions(f);
	if (first) {
		log_info(f->replicator->log,
			 "replication: %u entries of SM 0x%016" G_GINT64_MODIFIER "x are stored "
			 "here",
			 replica_size(f->replica), f->followed);
		ha_tell_status(f->replicator);
	}
	return FRAME_OK;
}

static uint8_t take_piece(struct follower *f, const struct frame *frame)
{
	uint8_t status = FRAME_OK;

	if (frame->transfer < f->transfer)
		return FRAME_SEND_ALL; /* a repeated frame, from any SM */
	if (frame->transfer > f->transfer)
		status = begin_transfer(f, frame);
	if (status != FRAME_OK || frame->piece < f->pieces)
		return status;
	if (!f->stream || frame->piece > f->pieces || f->stream->len + frame->length > f->total) {
		drop_transfer(f);
		return FRAME_SEND_ALL;
	}
	f->pieces++;
	g_byte_array_append(f->stream, frame->content, frame->length);
	return frame->flags & FRAME_LAST ? end_transfer(f) : FRAME_OK;
}

static bool is_of_session(struct follower *f, const struct frame *frame)
{
	bool known = f->bound && frame->epoch == f->epoch;

	if (known || frame->nonce != f->candidate)
		return known && frame->nonce == f->session;
	end_session(f);
	f->session = frame->nonce;
	f->bound = true;
	f->epoch = frame->epoch;
	f->transfer = 0;
	return true;
}

/* ---- settings of both ---- */

static void begin_agree(struct follower *f, const struct frame *frame)
{
	const struct statement *own = ha_statement(f->replicator);

	drop_agree(f);
	f->agree.transfer = frame->transfer;
	f->agree.theirs = g_string_new(NULL);
	f->agree.mine = g_strdup(own->text ? own->text : "");
	f->agree.length = own->length;
}

/* A piece that arrives twice is answered twice. */
static uint8_t take_agree(struct follower *f, const struct frame *frame)
{
	if (frame->transfer > f->agree.transfer && frame->piece == 0)
		begin_agree(f, frame);
	if (!f->agree.mine || frame->transfer != f->agree.transfer ||
	    frame->piece > f->agree.pieces)
		return FRAME_SEND_ALL;
	if (frame->piece < f->agree.pieces)
		return FRAME_OK;
	if (f->agree.pieces >= AGREEMENT_MAX / FRAME_CONTENT)
		return FRAME_TOO_LARGE;
	f->agree.pieces++;
	if (!f->agree.theirs)
		return FRAME_OK;
	g_string_append_len(f->agree.theirs, (const char *)frame->content, frame->length);
	if (frame->flags & FRAME_LAST) {
		accord_compare(&f->accord, f->replicator, f->followed, f->agree.theirs->str,
			       f->agree.theirs->len);
		g_string_free(g_steal_pointer(&f->agree.theirs), TRUE);
	}
	return FRAME_OK;
}

static void tell_agree(const struct follower *f, const struct frame *frame, struct frame *answer)
{
	size_t at = MIN((size_t)frame->piece * FRAME_CONTENT, f->agree.length);

	answer->length = (uint16_t)MIN(f->agree.length - at, FRAME_CONTENT);
	memcpy(answer->content, f->agree.mine + at, answer->length);
	answer->total = (uint32_t)f->agree.length;
	answer->flags = at + answer->length == f->agree.length ? FRAME_LAST : 0;
}

static void agree(struct follower *f, const struct frame *frame, struct frame *answer)
{
	answer->status = take_agree(f, frame);
	if (answer->status == FRAME_OK)
		tell_agree(f, frame, answer);
}

/* ---- requests ---- */

static void greet(struct follower *f, const struct frame *frame, struct frame *answer)
{
	bool known = f->bound && frame->epoch == f->epoch;

	answer->nonce = known ? f->session : f->candidate;
	answer->transfer = known ? f->transfer : 0;
	answer->from = f->replicator->held_serial;
	if (known && frame->to > f->serial)
		f->behind = true;
}

static void tell_held(const struct replicator *r, const struct frame *frame, struct frame *answer)
{
	size_t length = r->held ? strlen(r->held) : 0, at = (size_t)frame->piece * FRAME_CONTENT;

	if (frame->from != r->held_serial || at >= length) {
		answer->status = FRAME_SEND_ALL;
		return;
	}
	answer->length = (uint16_t)MIN(length - at, FRAME_CONTENT);
	memcpy(answer->content, r->held + at, answer->length);
	answer->flags = at + answer->length == length ? FRAME_LAST : 0;
}

void follower_receive(struct follower *f, const struct frame *frame, struct frame *answer)
{
	answer->epoch = frame->epoch;
	answer->transfer = frame->transfer;
	answer->piece = frame->piece;
	if (!f->followed || frame->sender != f->followed)
		answer->status = FRAME_NOT_FOLLOWED;
	else if (frame->op == FRAME_HELLO)
		greet(f, frame, answer);
	else if (frame->op == FRAME_FETCH)
		tell_held(f->replicator, frame, answer);
	else if (frame->op == FRAME_UPDATE && is_of_session(f, frame))
		answer->status = take_piece(f, frame);
	else if (frame->op == FRAME_AGREE && is_of_session(f, frame))
		agree(f, frame, answer);
	else
		answer->status = FRAME_SEND_ALL;
	if (frame->op == FRAME_HELLO || frame->op == FRAME_UPDATE)
		accord_put_digest(f->replicator, answer);
}

void follower_tell(const struct follower *f, struct replication_status *status)
{
	status->followed = f->followed;
	status->whole = f->complete;
	status->with_followed = accord_tell(&f->accord);
}

struct follower *follower_new(struct replicator *replicator)
{
	struct follower *f = g_new0(struct follower, 1);

	f->replicator = replicator;
	end_session(f);
	return f;
}

void follower_free(struct follower *f)
{
	drop_transfer(f);
	drop_agree(f);
	accord_clear(&f->accord);
	replica_unref(f->replica);
	g_free(f);
}
