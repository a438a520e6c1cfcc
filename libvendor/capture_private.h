// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Internals of the capture: packets as records of a file, and the tap of a vendor port. */
#ifndef LIBVENDOR_CAPTURE_PRIVATE_H
#define LIBVENDOR_CAPTURE_PRIVATE_H

#include "vendor/capture.h"

/* Appends the header of the file. */
void capture_frame_header(GByteArray *out);

/* Appends one record with the packet that carries mad, of IBA_MAD_BYTES octets. */
void capture_frame(GByteArray *out, uint64_t time_ns, const struct capture_address *address,
		   const uint8_t *mad);

/* ICRC and VCRC of a packet that begins with the LRH and ends before the ICRC (IBA 7.8). */
uint32_t capture_icrc(const uint8_t *packet, size_t length);
uint16_t capture_vcrc(const uint8_t *packet, size_t length);

/* Called by vendor.c for a port with a tap. */
struct tap;
uint64_t tap_sending(struct tap *tap, const struct vendor_address *to, const uint8_t *data,
		     size_t length);
void tap_refused(struct tap *tap, uint64_t number); /* number from tap_sending: not sent */
void tap_received(struct tap *tap, const struct vendor_mad *mad);
void tap_free(struct tap *tap);

#endif
