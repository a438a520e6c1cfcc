// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MADs in the log. */
#ifndef LIBVENDOR_FRAMES_H
#define LIBVENDOR_FRAMES_H

#include "vendor/vendor.h"

/*
 * Logs a line about a MAD that a port sends or receives, if the log wants LOG_FRAMES; log NULL: no
 * line. event says what happened to it: "sent", "received". Keys are only shown as set or not.
 */
void frames_log(struct log *log, const char *event, const struct vendor_address *remote,
		const uint8_t *data, size_t length);
/* Whether frames_log() would log a line. */
bool frames_are_logged(struct log *log);

#endif
