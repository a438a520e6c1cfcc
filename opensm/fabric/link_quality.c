// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Widths and speeds of PortInfo (IBA 14.2.5.6). Speeds come in three families, each faster than
 * the one before: LinkSpeed, LinkSpeedExt, LinkSpeedExt2; one number orders them all.
 */
#include "fabric/link_quality.h"

#include <glib.h>

#include "iba/codes.h"
#include "iba/constants.h"

#define FDR10_NAME "10.3125 Gbps (FDR10)"
#define RANK_EXT 8
#define RANK_EXT2 16

/* All speeds of a port as one mask. */
static uint32_t speeds(unsigned int plain, unsigned int ext, unsigned int ext2)
{
	return (plain & 0x07) | (ext & 0x0F) << RANK_EXT | (ext2 & 0x01) << RANK_EXT2;
}

static uint32_t supported_speeds(const struct iba_port_info *info)
{
	return speeds(info->link_speed_supported, info->link_speed_ext_supported,
		      info->link_speed_ext_supported2);
}

static uint32_t enabled_speeds(const struct iba_port_info *info)
{
	unsigned int ext = info->link_speed_ext_enabled;

	return speeds(info->link_speed_enabled, ext == IBA_LINK_SPEED_EXT_DISABLED ? 0 : ext,
		      info->link_speed_ext_enabled2);
}

/* An extended speed takes precedence over a plain one. */
static uint32_t active_speed(const struct iba_port_info *info)
{
	if (info->link_speed_ext_active2)
		return speeds(0, 0, info->link_speed_ext_active2);
	if (info->link_speed_ext_active)
		return speeds(0, info->link_speed_ext_active, 0);
	return speeds(info->link_speed_active, 0, 0);
}

/* The highest bit, or 0. */
static uint32_t fastest(uint32_t mask)
{
	return mask ? UINT32_C(1) << (31 - __builtin_clz(mask)) : 0;
}

static const char *speed_name(uint32_t speed)
{
	if (speed >> RANK_EXT2)
		return iba_name(IBA_SET_SPEED_EXT2, speed >> RANK_EXT2);
	if (speed >> RANK_EXT)
		return iba_name(IBA_SET_SPEED_EXT, speed >> RANK_EXT);
	return speed ? iba_name(IBA_SET_SPEED, speed) : NULL;
}

static unsigned int lanes(unsigned int width)
{
	return iba_width_lanes((uint8_t)width);
}

/* The widest in a mask of widths; bits are not in the order of lanes (2X is the last). */
static unsigned int widest(unsigned int mask)
{
	unsigned int best = 0;

	for (unsigned int bit = 1; bit <= IBA_WIDTH_2X; bit <<= 1)
		if (mask & bit && (!best || lanes(bit) > lanes(best)))
			best = bit;
	return best;
}

static const struct iba_port_info *other_end(const struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	return peer == FABRIC_NONE || !fabric->ports[peer].known ? &fabric->ports[port].info
								 : &fabric->ports[peer].info;
}

static uint32_t best_speed(const struct fabric *fabric, uint32_t port)
{
	return fastest(supported_speeds(&fabric->ports[port].info) &
		       supported_speeds(other_end(fabric, port)));
}

static unsigned int best_width(const struct fabric *fabric, uint32_t port)
{
	return widest(fabric->ports[port].info.link_width_supported &
		      other_end(fabric, port)->link_width_supported);
}

static unsigned int issues_of_up(const struct fabric *fabric, uint32_t port)
{
	const struct iba_port_info *info = &fabric->ports[port].info;
	unsigned int issues = 0;

	if (!link_width_name(info))
		issues |= LINK_UNKNOWN_WIDTH;
	else if (lanes(info->link_width_active) < lanes(best_width(fabric, port)))
		issues |= LINK_REDUCED_WIDTH;
	if (!link_speed_name(&fabric->ports[port]))
		issues |= LINK_UNKNOWN_SPEED;
	else if (active_speed(info) < best_speed(fabric, port))
		issues |= LINK_REDUCED_SPEED;
	return issues;
}

unsigned int link_issues(const struct fabric *fabric, uint32_t port)
{
	const struct iba_port_info *info = &fabric->ports[port].info;
	unsigned int issues = 0;

	if (info->port_physical_state == IBA_PHYS_DISABLED)
		issues |= LINK_DISABLED;
	if (info->link_width_supported & ~info->link_width_enabled)
		issues |= LINK_UNENABLED_WIDTH;
	if (supported_speeds(info) & ~enabled_speeds(info))
		issues |= LINK_UNENABLED_SPEED;
	if (info->port_state > IBA_PORT_DOWN)
		issues |= issues_of_up(fabric, port);
	return issues;
}

/* Mb/s per lane of the one speed in the mask. */
static unsigned int lane_rate(uint32_t speed)
{
	static const struct {
		uint32_t speed;
		unsigned int mbps;
	} rates[] = {
		{IBA_SPEED_SDR, 2500},
		{IBA_SPEED_DDR, 5000},
		{IBA_SPEED_QDR, 10000},
		{IBA_SPEED_EXT_FDR << RANK_EXT, 14063},
		{IBA_SPEED_EXT_EDR << RANK_EXT, 25781},
		{IBA_SPEED_EXT_HDR << RANK_EXT, 53125},
		{IBA_SPEED_EXT_NDR << RANK_EXT, 106250},
		{(uint32_t)IBA_SPEED_EXT2_XDR << RANK_EXT2, 212500},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(rates); i++)
		if (rates[i].speed == speed)
			return rates[i].mbps;
	return 0;
}

/* What a port may run at; a mask that enables nothing supported is ignored. */
static uint32_t usable_speeds(const struct iba_port_info *info)
{
	uint32_t usable = supported_speeds(info) & enabled_speeds(info);

	return usable ? usable : supported_speeds(info);
}

static unsigned int usable_widths(const struct iba_port_info *info)
{
	unsigned int usable = info->link_width_supported & info->link_width_enabled;

	return usable ? usable : info->link_width_supported;
}

unsigned int link_percent(const struct fabric *fabric, uint32_t port)
{
	const struct iba_port_info *info = &fabric->ports[port].info;
	const struct iba_port_info *other = other_end(fabric, port);
	uint64_t best = (uint64_t)lanes(widest(usable_widths(info) & usable_widths(other))) *
			lane_rate(fastest(usable_speeds(info) & usable_speeds(other)));
	uint64_t is = (uint64_t)lanes(info->link_width_active) * lane_rate(active_speed(info));

	if (info->port_state <= IBA_PORT_DOWN || !best || !is || is > best)
		return 100;
	return (unsigned int)(100 * is / best);
}

const char *link_width_name(const struct iba_port_info *info)
{
	return iba_name(IBA_SET_WIDTH, info->link_width_active);
}

/* A port that claims it beside another speed is not believed. */
bool link_is_fdr10(const struct fabric_port *port)
{
	return port->fdr10 & FABRIC_FDR10_ACTIVE && active_speed(&port->info) == IBA_SPEED_QDR;
}

const char *link_speed_name(const struct fabric_port *port)
{
	uint32_t speed = active_speed(&port->info);

	if (link_is_fdr10(port))
		return FDR10_NAME;
	return speed == fastest(speed) ? speed_name(speed) : NULL;
}

unsigned int link_rate(const struct fabric_port *port)
{
	if (port->info.port_state <= IBA_PORT_DOWN)
		return 0;
	return lanes(port->info.link_width_active) * lane_rate(active_speed(&port->info));
}

unsigned int link_best_rate(const struct fabric *fabric, uint32_t port, unsigned int *n_lanes)
{
	*n_lanes = lanes(best_width(fabric, port));
	return *n_lanes * lane_rate(best_speed(fabric, port));
}

char *link_best_name(const struct fabric *fabric, uint32_t port)
{
	const char *width = iba_name(IBA_SET_WIDTH, best_width(fabric, port));
	uint32_t peer = fabric->ports[port].peer, best = best_speed(fabric, port);
	bool fdr10 = best == IBA_SPEED_QDR && peer != FABRIC_NONE &&
		     fabric->ports[port].fdr10 & fabric->ports[peer].fdr10 & FABRIC_FDR10_SUPPORTED;
	const char *speed = fdr10 ? FDR10_NAME : speed_name(best);

	return g_strdup_printf("%s %s", width ? width : "?", speed ? speed : "?");
}
