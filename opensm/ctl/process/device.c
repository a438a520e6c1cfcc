// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Opens a port according to the options. Start-up only: not called while a daemon runs. */
#include "ctl/process/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "iba/constants.h"
#include "vendor/capture.h"

static const char *state_name(const struct vendor_port *port)
{
	const char *name = iba_name(IBA_SET_PORT_STATE, port->state);

	if (!port->infiniband)
		return "not InfiniBand";
	return name ? name : "?";
}

static void list_ports(const GArray *ports)
{
	puts("Local ports:");
	for (guint i = 0; i < ports->len; i++) {
		const struct vendor_port *port = &g_array_index(ports, struct vendor_port, i);

		printf("  %u  %s port %u  0x%016" PRIx64 "  LID %u  %s\n", i + 1, port->device,
		       port->port_num, port->guid, port->lid, state_name(port));
	}
}

bool device_ask(uint64_t *port_guid, GError **error)
{
	g_autoptr(GArray) ports = vendor_umad_ports(error);
	char line[64];
	unsigned long choice;

	if (!ports) {
		g_prefix_error(error, "-g 0: ");
		return false;
	}
	if (!ports->len) {
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_DEVICE,
			    "-g 0: no InfiniBand device on this host; --sim runs without one");
		return false;
	}
	if (ports->len == 1) {
		*port_guid = g_array_index(ports, struct vendor_port, 0).guid;
		return true;
	}
	list_ports(ports);
	for (;;) {
		printf("Number of the port to bind to [1-%u], 0 to leave: ", ports->len);
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			break;
		choice = strtoul(line, NULL, 10);
		if (g_ascii_isdigit(line[0]) && choice == 0)
			break;
		if (choice >= 1 && choice <= ports->len) {
			*port_guid = g_array_index(ports, struct vendor_port, choice - 1).guid;
			return true;
		}
	}
	g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_SUCH_PORT, "-g 0: no port was chosen");
	return false;
}

static void open_sim(struct device *device, struct runtime *rt, struct log *log,
		     const struct options *options, uint64_t port_guid, GError **error)
{
	struct topology *topology = topology_load(options->sim, error);
	g_autofree char *unjoined = NULL;
	struct sim_config config;

	if (!topology) {
		g_prefix_error(error, "--sim: ");
		return;
	}
	sim_config_default(&config);
	config.seed = options->sim_seed;
	config.hop_ns = options->sim_hop_ns;
	config.sma_ns = options->sim_sma_ns;
	config.loss = options->sim_loss;
	device->sim = sim_new(rt, log, topology, &config);
	unjoined = topology_tell_unjoined(topology, port_guid);
	if (unjoined)
		log_info(log, "--sim: %s", unjoined);
	topology_free(topology);
	sim_start(device->sim);
	device->vendor = sim_open(device->sim, port_guid, error);
	if (!device->vendor)
		device_close(device);
}

bool device_open(struct device *device, struct runtime *rt, struct log *log,
		 const struct options *options, uint64_t port_guid, GError **error)
{
	*device = (struct device){0};
	if (options->sim)
		open_sim(device, rt, log, options, port_guid, error);
	else
		device->vendor = vendor_umad_open(rt, log, port_guid, error);
	if (!device->vendor)
		return false;
	if (options->kernel_rmpp && !options->sim)
		vendor_use_kernel_rmpp(device->vendor);
	if (!options->pcap || vendor_capture(device->vendor, options->pcap, log, error))
		return true;
	g_prefix_error(error, "--pcap: ");
	g_clear_pointer(&device->vendor, vendor_close);
	device_close(device);
	return false;
}

void device_close(struct device *device)
{
	g_clear_pointer(&device->sim, sim_free);
}
