// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The port that the options name: of an HCA, or of a simulated fabric. */
#ifndef CTL_PROCESS_DEVICE_H
#define CTL_PROCESS_DEVICE_H

#include "core/options.h"
#include "vendor/sim.h"
#include "vendor/vendor.h"

struct device {
	struct vendor *vendor; /* closed by whatever takes it over */
	struct sim *sim;       /* NULL on hardware; freed after the port is closed */
};

/*
 * Lists the local ports and asks for one (-g 0); a single port is taken without asking. False and
 * error if there is no port or the user chooses none.
 */
bool device_ask(uint64_t *port_guid, GError **error);

/* Opens the port port_guid; 0: the first suitable port. */
bool device_open(struct device *device, struct runtime *rt, struct log *log,
		 const struct options *options, uint64_t port_guid, GError **error);
/* Call after the daemon that took the port was freed. */
void device_close(struct device *device);

#endif
