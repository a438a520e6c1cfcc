// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ha/frame.h"

#include <glib.h>
#include <string.h>

#include "iba/iba.h"
#include "vendor/vendor.h"

#define OUI_AT 13

struct cursor {
	uint8_t *at;
};

static void put(struct cursor *cursor, uint64_t value, unsigned int octets)
{
	while (octets-- > 0)
		*cursor->at++ = (uint8_t)(value >> 8 * octets);
}

static uint64_t get(struct cursor *cursor, unsigned int octets)
{
	uint64_t value = 0;

	while (octets-- > 0)
		value = value << 8 | *cursor->at++;
	return value;
}

static void make_mac(const char *key, const uint8_t *frame, uint8_t mac[FRAME_MAC_BYTES])
{
	GHmac *hmac = g_hmac_new(G_CHECKSUM_SHA256, (const guchar *)key, strlen(key));
	gsize length = FRAME_MAC_BYTES;

	g_hmac_update(hmac, frame + FRAME_MAC_BYTES, FRAME_BYTES - FRAME_MAC_BYTES);
	g_hmac_get_digest(hmac, mac, &length);
	g_hmac_unref(hmac);
}

void frame_encode(const struct frame *frame, const char *key, uint8_t *data)
{
	struct cursor cursor = {data + FRAME_AT + FRAME_MAC_BYTES};

	memset(data, 0, FRAME_AT + FRAME_BYTES);
	put(&(struct cursor){data + OUI_AT}, VENDOR_REPLICATION_OUI, 3);
	put(&cursor, frame->major, 1);
	put(&cursor, frame->minor, 1);
	put(&cursor, frame->op, 1);
	put(&cursor, frame->status, 1);
	put(&cursor, frame->sender, 8);
	put(&cursor, frame->epoch, 8);
	put(&cursor, frame->nonce, 8);
	put(&cursor, frame->transfer, 8);
	put(&cursor, frame->from, 8);
	put(&cursor, frame->to, 8);
	put(&cursor, frame->piece, 4);
	put(&cursor, frame->total, 4);
	put(&cursor, frame->flags, 2);
	put(&cursor, frame->length, 2);
	memcpy(cursor.at, frame->content, MIN(frame->length, FRAME_CONTENT));
	make_mac(key, data + FRAME_AT, data + FRAME_AT);
}

/* Takes the same time for any difference. */
static bool is_authentic(const char *key, const uint8_t *frame)
{
	uint8_t mac[FRAME_MAC_BYTES], different = 0;

	make_mac(key, frame, mac);
	for (unsigned int i = 0; i < FRAME_MAC_BYTES; i++)
		different |= mac[i] ^ frame[i];
	return !different;
}

static void decode_head(struct frame *frame, struct cursor *cursor)
{
	frame->major = (uint8_t)get(cursor, 1);
	frame->minor = (uint8_t)get(cursor, 1);
	frame->op = (uint8_t)get(cursor, 1);
	frame->status = (uint8_t)get(cursor, 1);
	frame->sender = get(cursor, 8);
	frame->epoch = get(cursor, 8);
	frame->nonce = get(cursor, 8);
	frame->transfer = get(cursor, 8);
	frame->from = get(cursor, 8);
	frame->to = get(cursor, 8);
	frame->piece = (uint32_t)get(cursor, 4);
	frame->total = (uint32_t)get(cursor, 4);
	frame->flags = (uint16_t)get(cursor, 2);
	frame->length = (uint16_t)get(cursor, 2);
}

enum frame_verdict frame_decode(struct frame *frame, const char *key, const uint8_t *data,
				size_t length)
{
	struct cursor cursor = {(uint8_t *)data + FRAME_AT + FRAME_MAC_BYTES};

	if (length < FRAME_AT + FRAME_BYTES ||
	    get(&(struct cursor){(uint8_t *)data + OUI_AT}, 3) != VENDOR_REPLICATION_OUI)
		return FRAME_FOREIGN;
	if (!is_authentic(key, data + FRAME_AT))
		return FRAME_FORGED;
	decode_head(frame, &cursor);
	if (frame->major != FRAME_MAJOR || frame->length > FRAME_CONTENT)
		return FRAME_STRANGE;
	memcpy(frame->content, cursor.at, frame->length);
	return FRAME_GOOD;
}
