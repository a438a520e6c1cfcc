// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Attributes that not every node has, or that nothing depends on: VendorDiag, LedInfo, the
 * ExtendedPortInfo of hardware with FDR10, PortInfoExtended.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

/* ---- VendorDiag: 14.2.5.14 ---- */

/* The only block says that the node is well. */
uint16_t sma_vendor_diag(struct sma_request *request)
{
	const struct iba_vendor_diag diag = {.next_index = 0};

	if (request->modifier)
		return IBA_STATUS_INVALID_FIELD;
	wire_encode(&iba_vendor_diag_type, &diag, request->data);
	return IBA_STATUS_OK;
}

/* ---- LedInfo: 14.2.5.15 ---- */

#define LED_ON 0x80000000

uint16_t sma_led_info(struct sma_request *request)
{
	unsigned int number = request->node->sw ? request->modifier : request->end->number;
	struct iba_led_info led;
	struct sim_port *port;

	if (number > request->node->num_ports)
		return IBA_STATUS_INVALID_FIELD;
	port = &request->node->ports[number];
	wire_decode(&iba_led_info_type, request->data, &led);
	if (request->set)
		port->led = led.led_mask & LED_ON;
	led.led_mask = port->led ? LED_ON : 0;
	memset(request->data, 0, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_led_info_type, &led, request->data);
	return IBA_STATUS_OK;
}

/* The port that a modifier selects, as in PortInfo; NULL: none. */
static struct sim_port *find_port(const struct sma_request *request)
{
	struct sim_node *node = request->node;
	unsigned int number = request->modifier;

	if (!node->sw && !number)
		number = request->in_port;
	return number <= node->num_ports ? &node->ports[number] : NULL;
}

/* ---- ExtendedPortInfo: vendor specific ---- */

/* Only hardware of those generations has the attribute. */
bool sma_has_fdr10(const struct sim_port *port)
{
	return port->speed == TOPOLOGY_FDR10 || port->speed == TOPOLOGY_FDR;
}

uint16_t sma_ext_port_info(struct sma_request *request)
{
	struct sim_port *port = find_port(request);
	struct iba_ext_port_info info;

	if (!request->node->fdr10)
		return IBA_STATUS_UNSUP_METHOD_ATTR;
	if (!port)
		return IBA_STATUS_INVALID_FIELD;
	wire_decode(&iba_ext_port_info_type, request->data, &info);
	if (request->set) {
		if (info.link_speed_enabled > sma_has_fdr10(port))
			return IBA_STATUS_INVALID_FIELD;
		if (info.state_change_enable)
			port->fdr10_enabled = info.link_speed_enabled;
	}
	info = (struct iba_ext_port_info){
		.link_speed_supported = sma_has_fdr10(port),
		.link_speed_enabled = port->fdr10_enabled,
		.link_speed_active = port->fdr10_active,
	};
	memset(request->data, 0, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_ext_port_info_type, &info, request->data);
	if (request->node->ext_port_info_lies)
		memset(request->data, 0xFF, IBA_SMP_DATA_BYTES);
	return IBA_STATUS_OK;
}

/* ---- PortInfoExtended: 14.2.5.19 ---- */

/* Forward error correction: none, fire code, Reed-Solomon with low and with high latency. */
enum fec {
	FEC_NONE = 1 << 0,
	FEC_FIRE = 1 << 1,
	FEC_RS = 1 << 2,
	FEC_RS_LOW_LATENCY = 1 << 3,
};

#define FEC_CAPABILITY 1 /* IsFECModeSupported */

static const uint16_t fec_supported[SIM_FEC_SPEEDS] = {
	FEC_NONE | FEC_FIRE,
	FEC_NONE | FEC_FIRE | FEC_RS | FEC_RS_LOW_LATENCY,
	FEC_RS | FEC_RS_LOW_LATENCY,
	FEC_RS | FEC_RS_LOW_LATENCY,
};

/* The FEC row of the link's speed; SIM_FEC_SPEEDS: a speed without correction. */
static unsigned int fec_row(const struct iba_port_info *info)
{
	uint8_t active = info->link_speed_ext_active;

	return active ? MIN(__builtin_ctz(active), SIM_FEC_SPEEDS - 1) : SIM_FEC_SPEEDS;
}

static const uint16_t *fec_enabled(const struct sim_port *port)
{
	return port->fec ? port->fec : fec_supported;
}

/* The number of the strongest enabled code. */
uint16_t sma_fec_active(const struct sim_port *port)
{
	const uint16_t *enabled = fec_enabled(port);
	unsigned int row = fec_row(&port->info);

	if (row == SIM_FEC_SPEEDS || !enabled[row])
		return 0;
	return 31 - __builtin_clz(enabled[row]);
}

static uint16_t fec_set(struct sim_port *port, const uint16_t wanted[SIM_FEC_SPEEDS])
{
	for (unsigned int i = 0; i < SIM_FEC_SPEEDS; i++)
		if (wanted[i] & ~fec_supported[i])
			return IBA_STATUS_INVALID_FIELD;
	if (!port->fec)
		port->fec = g_memdup2(fec_supported, sizeof(fec_supported));
	for (unsigned int i = 0; i < SIM_FEC_SPEEDS; i++)
		if (wanted[i])
			port->fec[i] = wanted[i];
	return IBA_STATUS_OK;
}

uint16_t sma_port_info_extended(struct sma_request *request)
{
	struct sim_port *port = find_port(request);
	struct iba_port_info_extended info;
	const uint16_t *enabled;
	uint16_t status = IBA_STATUS_OK;

	if (!port)
		return IBA_STATUS_INVALID_FIELD;
	wire_decode(&iba_port_info_extended_type, request->data, &info);
	if (request->set)
		status = fec_set(port, (const uint16_t[]){info.fdr_fec_mode_enabled,
							  info.edr_fec_mode_enabled,
							  info.hdr_fec_mode_enabled,
							  info.ndr_fec_mode_enabled});
	if (status)
		return status;
	enabled = fec_enabled(port);
	info = (struct iba_port_info_extended){
		.capability_mask = FEC_CAPABILITY,
		.fec_mode_active = sma_fec_active(port),
		.fdr_fec_mode_supported = fec_supported[0],
		.edr_fec_mode_supported = fec_supported[1],
		.hdr_fec_mode_supported = fec_supported[2],
		.ndr_fec_mode_supported = fec_supported[3],
		.fdr_fec_mode_enabled = enabled[0],
		.edr_fec_mode_enabled = enabled[1],
		.hdr_fec_mode_enabled = enabled[2],
		.ndr_fec_mode_enabled = enabled[3],
	};
	memset(request->data, 0, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_port_info_extended_type, &info, request->data);
	return IBA_STATUS_OK;
}
