// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A MAD as a packet in a capture file: a pcap record (nanoseconds, link type 197) that holds an ERF
 * record (type 21, InfiniBand) that holds the packet as it is on the link: LRH, GRH if there is
 * one, BTH, DETH, MAD, ICRC, VCRC (IBA 7.7, 8.3, 9.2, 9.3.3). Pure functions.
 */
#include <string.h>

#include "capture_private.h"

#define PCAP_MAGIC_NS 0xA1B23C4D
#define LINKTYPE_ERF 197
#define SNAP_LENGTH 65535
#define ERF_INFINIBAND 21
#define ERF_VARYING_LENGTH 0x04
#define ERF_BYTES 16
#define NS_PER_S UINT64_C(1000000000)

#define LRH_BYTES 8
#define GRH_BYTES 40
#define BTH_BYTES 12
#define DETH_BYTES 8
#define ICRC_BYTES 4
#define VCRC_BYTES 2
#define LNH_LOCAL 2
#define LNH_GLOBAL 3
#define NEXT_HEADER_BTH 0x1B
#define OPCODE_UD_SEND_ONLY 0x64
#define PACKET_MAX                                                                                 \
	(LRH_BYTES + GRH_BYTES + BTH_BYTES + DETH_BYTES + IBA_MAD_BYTES + ICRC_BYTES + VCRC_BYTES)

struct cursor {
	uint8_t *at;
};

static void put8(struct cursor *cursor, uint8_t value)
{
	*cursor->at++ = value;
}

static void put16(struct cursor *cursor, uint16_t value)
{
	put8(cursor, value >> 8);
	put8(cursor, (uint8_t)value);
}

static void put32(struct cursor *cursor, uint32_t value)
{
	put16(cursor, value >> 16);
	put16(cursor, (uint16_t)value);
}

static void put64(struct cursor *cursor, uint64_t value)
{
	put32(cursor, value >> 32);
	put32(cursor, (uint32_t)value);
}

/* 4-bit remainders, least significant bit first, of Ethernet's polynomial, */
static const uint32_t crc32_of[16] = {
	0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
	0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
	0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

/* and of x^16 + x^12 + x^3 + x + 1. */
static const uint16_t crc16_of[16] = {
	0x0000, 0x1A01, 0x3402, 0x2E03, 0x6804, 0x7205, 0x5C06, 0x4607,
	0xD008, 0xCA09, 0xE40A, 0xFE0B, 0xB80C, 0xA20D, 0x8C0E, 0x960F,
};

static inline uint32_t crc32_octet(uint32_t crc, uint8_t octet)
{
	crc ^= octet;
	crc = crc >> 4 ^ crc32_of[crc & 15];
	return crc >> 4 ^ crc32_of[crc & 15];
}

static inline uint16_t crc16_octet(uint16_t crc, uint8_t octet)
{
	crc ^= octet;
	crc = (uint16_t)(crc >> 4 ^ crc16_of[crc & 15]);
	return (uint16_t)(crc >> 4 ^ crc16_of[crc & 15]);
}

/* Fields that routers and switches may change on the way count as ones. */
static uint8_t invariant(const uint8_t *packet, size_t at)
{
	bool global = (packet[1] & 3) == LNH_GLOBAL;
	size_t bth = global ? LRH_BYTES + GRH_BYTES : LRH_BYTES;

	if (at == 0)
		return packet[0] | 0xF0; /* VL */
	if (at == bth + 4)
		return 0xFF; /* reserved field of the BTH */
	if (!global)
		return packet[at];
	if (at < LRH_BYTES)
		return 0xFF;
	if (at == LRH_BYTES)
		return packet[at] | 0x0F; /* traffic class, flow label */
	if (at < LRH_BYTES + 4 || at == LRH_BYTES + 7)
		return 0xFF; /* and hop limit */
	return packet[at];
}

uint32_t capture_icrc(const uint8_t *packet, size_t length)
{
	size_t headers = MIN(length, LRH_BYTES + GRH_BYTES + BTH_BYTES), i;
	uint32_t crc = UINT32_MAX;

	for (i = 0; i < headers; i++)
		crc = crc32_octet(crc, invariant(packet, i));
	for (; i < length; i++)
		crc = crc32_octet(crc, packet[i]);
	return GUINT32_SWAP_LE_BE(~crc); /* the least significant octet is sent first */
}

uint16_t capture_vcrc(const uint8_t *packet, size_t length)
{
	uint16_t crc = UINT16_MAX;

	for (size_t i = 0; i < length; i++)
		crc = crc16_octet(crc, packet[i]);
	return GUINT16_SWAP_LE_BE((uint16_t)~crc);
}

static void put_grh(struct cursor *cursor, const struct capture_address *address)
{
	put32(cursor, UINT32_C(6) << 28 | (uint32_t)address->traffic_class << 20 |
			      (address->flow_label & 0xFFFFF));
	put16(cursor, BTH_BYTES + DETH_BYTES + IBA_MAD_BYTES + ICRC_BYTES);
	put8(cursor, NEXT_HEADER_BTH);
	put8(cursor, address->hop_limit);
	put64(cursor, address->sgid.prefix);
	put64(cursor, address->sgid.guid);
	put64(cursor, address->dgid.prefix);
	put64(cursor, address->dgid.guid);
}

static void put_headers(struct cursor *cursor, const struct capture_address *address)
{
	bool smp = address->dest_qp == IBA_QP0;
	size_t octets = LRH_BYTES + BTH_BYTES + DETH_BYTES + IBA_MAD_BYTES + ICRC_BYTES +
			(address->has_grh ? GRH_BYTES : 0);

	put8(cursor, smp ? IBA_MGMT_VL << 4 : 0);
	put8(cursor, (uint8_t)(address->sl << 4 | (address->has_grh ? LNH_GLOBAL : LNH_LOCAL)));
	put16(cursor, address->dlid);
	put16(cursor, (uint16_t)(octets / 4));
	put16(cursor, address->slid);
	if (address->has_grh)
		put_grh(cursor, address);
	put8(cursor, OPCODE_UD_SEND_ONLY);
	put8(cursor, 0);
	put16(cursor, address->p_key);
	put32(cursor, address->dest_qp & 0xFFFFFF);
	put32(cursor, 0); /* the PSN, known only to the HCA */
	put32(cursor, address->q_key);
	put32(cursor, address->src_qp & 0xFFFFFF);
}

static size_t make_packet(uint8_t *packet, const struct capture_address *address,
			  const uint8_t *mad)
{
	struct cursor cursor = {packet};

	put_headers(&cursor, address);
	memcpy(cursor.at, mad, IBA_MAD_BYTES);
	cursor.at += IBA_MAD_BYTES;
	put32(&cursor, capture_icrc(packet, (size_t)(cursor.at - packet)));
	put16(&cursor, capture_vcrc(packet, (size_t)(cursor.at - packet)));
	return (size_t)(cursor.at - packet);
}

void capture_frame_header(GByteArray *out)
{
	uint8_t header[24] = {0};
	struct cursor cursor = {header};

	put32(&cursor, PCAP_MAGIC_NS);
	put16(&cursor, 2);
	put16(&cursor, 4);
	cursor.at += 8;
	put32(&cursor, SNAP_LENGTH);
	put32(&cursor, LINKTYPE_ERF);
	g_byte_array_append(out, header, sizeof(header));
}

void capture_frame(GByteArray *out, uint64_t time_ns, const struct capture_address *address,
		   const uint8_t *mad)
{
	uint8_t packet[PACKET_MAX], header[16 + ERF_BYTES];
	size_t length = make_packet(packet, address, mad);
	uint64_t seconds = time_ns / NS_PER_S, ns = time_ns % NS_PER_S;
	uint64_t erf_time = GUINT64_TO_LE(seconds << 32 | (ns << 32) / NS_PER_S);
	struct cursor cursor = {header};

	put32(&cursor, (uint32_t)seconds);
	put32(&cursor, (uint32_t)ns);
	put32(&cursor, (uint32_t)(ERF_BYTES + length));
	put32(&cursor, (uint32_t)(ERF_BYTES + length));
	memcpy(cursor.at, &erf_time, sizeof(erf_time));
	cursor.at += sizeof(erf_time);
	put8(&cursor, ERF_INFINIBAND);
	put8(&cursor, ERF_VARYING_LENGTH);
	put16(&cursor, (uint16_t)(ERF_BYTES + length));
	put16(&cursor, 0);
	put16(&cursor, (uint16_t)length);
	g_byte_array_append(out, header, sizeof(header));
	g_byte_array_append(out, packet, (guint)length);
}
