// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How a link runs, and the best that its two ends have in common. Pure. */
#ifndef FABRIC_LINK_QUALITY_H
#define FABRIC_LINK_QUALITY_H

#include "fabric/fabric.h"

enum link_issue {
	LINK_DISABLED = 1 << 0,	       /* PortPhysicalState Disabled */
	LINK_REDUCED_WIDTH = 1 << 1,   /* narrower than both ends support */
	LINK_REDUCED_SPEED = 1 << 2,   /* slower than both ends support */
	LINK_UNENABLED_WIDTH = 1 << 3, /* a supported width is not enabled */
	LINK_UNENABLED_SPEED = 1 << 4, /* a supported speed is not enabled */
	LINK_UNKNOWN_WIDTH = 1 << 5,   /* a code that the IBA does not define */
	LINK_UNKNOWN_SPEED = 1 << 6,
};

/* Issues of a port whose PortInfo is known. */
unsigned int link_issues(const struct fabric *fabric, uint32_t port);

/*
 * The rate of a link that is up, in percent of the best that both ends support and have enabled;
 * 100 also if it is not known.
 */
unsigned int link_percent(const struct fabric *fabric, uint32_t port);

/*
 * "4X" and "25.78125 Gbps" per lane; NULL for a code that the IBA does not define. FDR10, which is
 * hardly faster than QDR and has its rate, is named, but counts as QDR in all of the above.
 */
const char *link_width_name(const struct iba_port_info *info);
const char *link_speed_name(const struct fabric_port *port);
bool link_is_fdr10(const struct fabric_port *port);

/* Mb/s on the wire of a link that is up; 0: it is down, or the IBA does not define its codes. */
unsigned int link_rate(const struct fabric_port *port);
/* Mb/s that both ends of a port support, 0 if that is unknown, and with how many lanes. */
unsigned int link_best_rate(const struct fabric *fabric, uint32_t port, unsigned int *n_lanes);

/* The best that both ends of a port support: "4X 106.25 Gbps", newly allocated. */
char *link_best_name(const struct fabric *fabric, uint32_t port);

#endif
