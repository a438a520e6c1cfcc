// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An event on its way to a plug-in: this, then its body, then its text with the final NUL. */
#ifndef PLUGIN_BASE_EVENT_RECORD_H
#define PLUGIN_BASE_EVENT_RECORD_H

#include <stdint.h>

#define EVENT_TEXT_MAX 1024u /* octets with the NUL; longer texts are cut */
#define EVENT_BODY_MAX 512u

struct event_record {
	uint32_t octets; /* with body, text and padding: a multiple of 8 */
	uint32_t id;	 /* enum osm_event_id */
	uint64_t serial, time_ns;
	int64_t real_us;
	uint64_t generation;
	uint32_t body_octets; /* a multiple of 8 */
	uint32_t text_octets; /* with the NUL */
};

#endif
