// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The port that the options name: of an HCA, or of a simulated fabric. */
#ifndef CTL_PROCESS_DEVICE_H
#define CTL_PROCESS_DEVICE_H

#include "core/options.h"
#include "vendor/sim.h"
#include "vendor/vendor.h"

struct device {
	struct vendor *vendor; /* whoever takes it over closes it */
	struct sim *sim;       /* NULL on hardware; freed after the port was closed */
};

/*
 * Lists the local ports and asks for one (-g 0). False and error if there is none, the standard
 * input ends, or it is no terminal's user who answers.
 */
bool device_ask(uint64_t *port_guid, GError **error);

/* Opens the port port_guid, 0: the first that suits. */
bool device_open(struct device *device, struct runtime *rt, struct log *log,
		 const struct options *options, uint64_t port_guid, GError **error);
/* After the daemon that took the port was freed. */
void device_close(struct device *device);

#endif
