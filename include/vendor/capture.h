// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs as packets in a pcap file that Wireshark and tshark open (link type ERF, InfiniBand
 * records).
 */
#ifndef VENDOR_CAPTURE_H
#define VENDOR_CAPTURE_H

#include "vendor/vendor.h"

struct capture;

/* Contents of the headers of a packet. */
struct capture_address {
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t src_qp, dest_qp; /* packets to QP0 travel on VL 15 */
	uint32_t q_key;
	uint16_t p_key;
	bool has_grh; /* the fields below are valid */
	uint8_t hop_limit, traffic_class;
	uint32_t flow_label;
	struct iba_gid sgid, dgid;
};

/*
 * Creates or replaces the file, readable for its owner only; refuses a name of anything but a
 * regular file. A thread of the capture writes it; if the disk fails, that is logged once and later
 * packets are dropped.
 */
struct capture *capture_new(const char *file, struct log *log, GError **error);

/*
 * Captures a MAD of 24 to 256 octets, or a whole RMPP message as the DATA segments in which it
 * travels. time_ns is CLOCK_REALTIME. Any thread; never waits for the disk. Returns a number for
 * capture_retract.
 */
uint64_t capture_write(struct capture *capture, uint64_t time_ns,
		       const struct capture_address *address, const uint8_t *data, size_t length);

/* Removes a MAD that was not sent after all; possible until it is in the file, about a second. */
void capture_retract(struct capture *capture, uint64_t number);

void capture_free(struct capture *capture); /* once all is written; NULL is ignored */

/*
 * From now until vendor_close every MAD that this port sends and receives goes to file. Call it
 * before the first bind. The port's own LID, GID prefix and P_Keys are learnt from the answers of
 * its SMA; before that, LID 0, the default prefix and P_Key 0xFFFF are shown. Acknowledgements and
 * repetitions of RMPP, which the back end sends itself, are not seen.
 */
bool vendor_capture(struct vendor *vendor, const char *file, struct log *log, GError **error);

#endif
