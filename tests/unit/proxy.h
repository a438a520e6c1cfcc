// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A vendor port between a daemon and the simulated fabric, through which a test falsifies what
 * comes back: for answers that the simulated SMAs, which are honest, never give.
 */
#ifndef TESTS_UNIT_PROXY_H
#define TESTS_UNIT_PROXY_H

#include "ctl/daemon.h"
#include "subnet/subnet.h"
#include "vendor/sim.h"

struct proxy;

/* A daemon on a simulated fabric in virtual time. */
struct bed {
	struct runtime *rt;
	GString *text; /* of the log */
	struct log *log;
	struct sim *sim;
	struct options *options; /* change them before bed_start */
	struct proxy *proxy;
	struct daemon *daemon;
	uint64_t sm_guid; /* port to start on; 0: the first host's */

	/* Gets each MAD from the fabric before the daemon; may change it. False: lost. */
	bool (*falsify)(struct bed *bed, struct vendor_mad *mad);
	struct vendor_mad *held; /* by falsify, for bed_release */
	uint64_t n;		 /* for the test's own use */
};

struct bed *bed_new(const char *spec);
void bed_free(struct bed *bed);
void bed_start(struct bed *bed);
void bed_run_ms(struct bed *bed, uint64_t ms);
uint64_t bed_counted(const struct bed *bed); /* heavy sweeps finished */
bool bed_logged(const struct bed *bed, const char *text);
struct subnet *bed_subnet(struct bed *bed); /* to be put back with subnet_unref; may be NULL */

/* Delivers the held MAD to the daemon now. */
void bed_release(struct bed *bed);

/* Delivers a MAD of class 1 or 0x81 to the daemon as if it had come from the fabric. */
void bed_inject(struct bed *bed, struct vendor_mad *mad);

/* Fields of a MAD in wire order. */
static inline uint16_t mad_attribute(const struct vendor_mad *mad)
{
	return mad->data[16] << 8 | mad->data[17];
}
static inline uint32_t mad_modifier(const struct vendor_mad *mad)
{
	return (uint32_t)mad->data[20] << 24 | mad->data[21] << 16 | mad->data[22] << 8 |
	       mad->data[23];
}
/* A response of an SMA with that attribute. */
static inline bool mad_answers(const struct vendor_mad *mad, uint16_t attribute)
{
	return mad->status == VENDOR_RECEIVED && mad->length == 256 &&
	       mad->data[3] == IBA_METHOD_GET_RESP && mad_attribute(mad) == attribute;
}
#define SMP_DATA 64

#endif
