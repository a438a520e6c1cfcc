// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Conversion between codes of the IBA and quantities: MTU, rate, time. */
#ifndef IBA_CODES_H
#define IBA_CODES_H

#include <stdint.h>

/* 0 for a code the IBA does not define. */
unsigned int iba_mtu_bytes(uint8_t code);

/* The greatest code whose MTU is at most bytes; 0 below 256. */
uint8_t iba_mtu_code(unsigned int bytes);

/* Rate in tenths of Gb/s (25 is 2.5 Gb/s); 0 for a code the IBA does not define. */
unsigned int iba_rate_tenths(uint8_t code);

/* Negative, 0 or positive if rate a is slower than, equal to or faster than rate b. */
int iba_rate_compare(uint8_t a, uint8_t b);

/* Code of the fastest rate of at most tenths (of Gb/s); 0 if that is below the slowest rate. */
uint8_t iba_rate_code(unsigned int tenths);

/*
 * Code, at most max_code, of the fastest rate that is not above code's, for clients that do not
 * know the later codes; 0 if there is none.
 */
uint8_t iba_rate_limit(uint8_t code, uint8_t max_code);

/* The next slower and the next faster rate; 0 at either end or for an unknown code. */
uint8_t iba_rate_slower(uint8_t code);
uint8_t iba_rate_faster(uint8_t code);

/* Lanes of a LinkWidthActive code; 0 unless exactly one known bit is set. */
unsigned int iba_width_lanes(uint8_t width);

/*
 * SA rate of a link from PortInfo LinkWidthActive, LinkSpeedActive, LinkSpeedExtActive and
 * LinkSpeedExtActive2: LinkSpeedExtActive2 has precedence over LinkSpeedExtActive, and that over
 * LinkSpeedActive (FDR10, a vendor's kind of QDR, has the rate of QDR). 0 if width or speed is not
 * a single known bit; if no code has the exact rate (8X and 12X XDR), the next slower one.
 */
uint8_t iba_link_rate(uint8_t width, uint8_t speed, uint8_t speed_ext, uint8_t speed_ext2);

/*
 * 4.096 us * 2^code in nanoseconds, UINT64_MAX on overflow: for RespTimeValue and similar fields.
 */
uint64_t iba_timeout_ns(uint8_t code);

/* The lowest code (at most 31) whose time is at least ns. */
uint8_t iba_timeout_code(uint64_t ns);

/* Number of data VLs of a VLCap or OperationalVLs code: 1, 2, 4, 8, 15; 0 for an unknown code. */
unsigned int iba_vls_count(uint8_t code);

#endif
