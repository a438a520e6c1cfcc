// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Straight-line codecs of the types of iba/all.def, for their struct wire_type. */
#ifndef IBA_CODEC_H
#define IBA_CODEC_H

#include <stdint.h>

/* The octets of wire must be 0 before encoding. */
#define IBA_TYPE(type, bits)                                                                       \
	void iba_encode_##type(const void *host, uint8_t *wire);                                   \
	void iba_decode_##type(const uint8_t *wire, void *host);
#include <iba/all.def>

#endif
