// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands that change the fabric, mostly for the worse. */
#include "libvendor/osmsim/console.h"
#include "libvendor/osmsim/issm.h"

#define MS_MAX (UINT64_C(1000) * 3600 * 24)
#define NS_MAX (UINT64_C(3600) * NS_PER_S)

static bool no_cable(struct command *command, const struct sim_port *port)
{
	return command_fail(command, "no cable in port %u of '%s'", port->number,
			    port->node->description);
}

/* ---- cables ---- */

bool command_unlink(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, true);

	return port &&
	       (sim_link_set(command->server->sim, port->node->index, port->number, false) ||
		no_cable(command, port));
}

static bool move(struct command *command, const struct sim_port *from, const struct sim_port *to)
{
	return sim_cable_move(command->server->sim, from->node->index, from->number,
			      to->node->index, to->number) ||
	       command_fail(command, "no cable in port %u of '%s', or one in port %u of '%s'",
			    from->number, from->node->description, to->number,
			    to->node->description);
}

/* Connects one port to another: the cable may be there already, or its far end must be moved. */
static bool link_two(struct command *command, const struct sim_port *port)
{
	const struct sim_port *to = command_end(command, 2, true);

	if (!to)
		return false;
	if (!port->peer)
		return no_cable(command, port);
	if (port->peer == to->node && port->peer_number == to->number)
		return true;
	return move(command, &port->peer->ports[port->peer_number], to);
}

bool command_link(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, true);

	if (!port)
		return false;
	if (command->n_words == 3)
		return command_fail(command, "a second NODE needs a PORT");
	if (command->n_words == 4 && !link_two(command, port))
		return false;
	return sim_link_set(command->server->sim, port->node->index, port->number, true) ||
	       no_cable(command, port);
}

bool command_move(struct command *command)
{
	const struct sim_port *from = command_end(command, 0, true);
	const struct sim_port *to = from ? command_end(command, 2, true) : NULL;

	return to && move(command, from, to);
}

bool command_degrade(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, true);
	uint64_t lanes, mbps;

	if (!port || !command_number(command, 2, 12, &lanes) ||
	    !command_number(command, 3, 1000000, &mbps))
		return false;
	return sim_link_degrade(command->server->sim, port->node->index, port->number, lanes,
				mbps) ||
	       command_fail(command, "no cable there, or no such width or speed");
}

bool command_flap(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, true);
	uint64_t down, up, times;

	if (!port || !command_number(command, 2, MS_MAX, &down) ||
	    !command_number(command, 3, MS_MAX, &up) ||
	    !command_number(command, 4, UINT32_MAX, &times))
		return false;
	return sim_link_flap(command->server->sim, port->node->index, port->number,
			     down * NS_PER_MS, up * NS_PER_MS, times) ||
	       no_cable(command, port);
}

bool command_blackhole(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, true);
	bool on;

	return port && command_on(command, 2, &on) &&
	       sim_link_black_hole(command->server->sim, port->node->index, port->number, on);
}

/* ---- nodes ---- */

static bool power(struct command *command, bool up)
{
	struct sim_node *node = command_node(command, 0);

	if (!node)
		return false;
	sim_node_set(command->server->sim, node->index, up);
	if (up)
		issm_refresh(command->server->issm, node);
	return true;
}

bool command_down(struct command *command)
{
	return power(command, false);
}

bool command_up(struct command *command)
{
	return power(command, true);
}

static bool insert(struct command *command, bool there)
{
	const struct sim_node *node = command_node(command, 0);

	if (!node)
		return false;
	if (!there)
		server_lose_ports(command->server, node);
	sim_device_set(command->server->sim, node->index, there);
	return true;
}

bool command_remove(struct command *command)
{
	return insert(command, false);
}

bool command_insert(struct command *command)
{
	return insert(command, true);
}

static bool mute(struct command *command, bool on)
{
	struct sim_node *node = command_node(command, 0);

	if (node)
		sim_node_mute(command->server->sim, node->index, on);
	return node != NULL;
}

bool command_mute(struct command *command)
{
	return mute(command, true);
}

bool command_unmute(struct command *command)
{
	return mute(command, false);
}

bool command_hang(struct command *command)
{
	struct sim_node *node = command_node(command, 0);
	bool on;

	if (!node || !command_on(command, 1, &on))
		return false;
	sim_node_hang(command->server->sim, node->index, on);
	return true;
}

bool command_stubborn(struct command *command)
{
	struct sim_node *node = command_node(command, 0);
	bool on;

	if (!node || !command_on(command, 1, &on))
		return false;
	sim_node_stubborn(command->server->sim, node->index, on);
	return true;
}

bool command_guid(struct command *command)
{
	struct sim_node *node = command_node(command, 0);
	uint64_t guid;

	if (!node || !command_number(command, 1, UINT64_MAX, &guid))
		return false;
	sim_set_node_guid(command->server->sim, node->index, guid);
	return true;
}

bool command_describe(struct command *command)
{
	struct sim_node *node = command_node(command, 0);

	return node && (sim_set_description(command->server->sim, node->index, command->words[1]) ||
			command_fail(command, "a NodeDescription has at most 64 octets"));
}

bool command_count(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, true);
	enum sim_port_counter which;
	uint64_t n;

	if (!port || !command_number(command, 3, UINT64_MAX, &n))
		return false;
	if (!sim_find_counter(command->words[2], &which))
		return command_fail(command, "there is no counter %s; see counters NODE PORT",
				    command->words[2]);
	return sim_port_count(command->server->sim, port->node->index, port->number, which, n);
}

/* ---- traffic, errors, agents: commands that the daemon's console has too ---- */

bool command_sim(struct command *command)
{
	g_autoptr(GString) out = g_string_new(NULL);

	if (!sim_command(command->server->sim, command->words, command->n_words, out))
		return command_fail(command, "%s", out->str);
	g_string_append(command->out, out->str);
	return true;
}

/* ---- traps ---- */

/* Fills in those DataDetails that a port has values for. */
static void fill_details(struct iba_notice *notice, const struct sim_port *port)
{
	const struct sim_port *end = &port->node->ports[port->node->sw ? 0 : port->number];
	const struct iba_trap_switch of_switch = {.lid = end->info.lid};
	const struct iba_trap_port of_port = {.lid = end->info.lid, .port_num = port->number};
	const struct iba_trap_local_change change = {
		.lid = end->info.lid,
		.capability_mask = end->info.capability_mask,
	};
	const struct iba_trap_system_image image = {
		.lid = end->info.lid,
		.system_image_guid = port->node->system_image_guid,
	};
	const struct iba_trap_key key = {.lid1 = end->info.lid, .lid2 = end->info.lid};
	const struct iba_trap_gid gid = {.gid = {end->info.gid_prefix, end->guid}};
	const struct {
		unsigned int first, last;
		const struct wire_type *type;
		const void *details;
	} kinds[] = {
		{IBA_TRAP_GID_IN_SERVICE, IBA_TRAP_MCAST_GROUP_DELETED, &iba_trap_gid_type, &gid},
		{IBA_TRAP_LINK_STATE_CHANGE, IBA_TRAP_LINK_STATE_CHANGE, &iba_trap_switch_type,
		 &of_switch},
		{IBA_TRAP_LINK_INTEGRITY, IBA_TRAP_WATCHDOG, &iba_trap_port_type, &of_port},
		{IBA_TRAP_LOCAL_CHANGES, IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type,
		 &change},
		{IBA_TRAP_SYSTEM_IMAGE_GUID, IBA_TRAP_SYSTEM_IMAGE_GUID,
		 &iba_trap_system_image_type, &image},
		{IBA_TRAP_BAD_P_KEY, IBA_TRAP_BAD_Q_KEY, &iba_trap_key_type, &key},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (notice->trap_number >= kinds[i].first && notice->trap_number <= kinds[i].last)
			wire_encode(kinds[i].type, kinds[i].details, notice->data_details);
}

static uint8_t notice_type(unsigned int number)
{
	if (number >= IBA_TRAP_LINK_STATE_CHANGE && number <= IBA_TRAP_WATCHDOG)
		return IBA_NOTICE_URGENT;
	if (number >= IBA_TRAP_BAD_M_KEY && number <= IBA_TRAP_SWITCH_BAD_P_KEY)
		return IBA_NOTICE_SECURITY;
	return number < IBA_TRAP_LINK_STATE_CHANGE ? IBA_NOTICE_SUBN_MGT : IBA_NOTICE_INFO;
}

bool command_trap(struct command *command)
{
	const struct sim_port *port = command_end(command, 0, false);
	struct iba_notice notice = {.is_generic = 1};
	uint64_t number;

	if (!port || !command_number(command, 2, 0xFFFF, &number))
		return false;
	notice.type = notice_type(number);
	notice.producer_type = port->node->type;
	notice.trap_number = number;
	notice.issuer_lid = port->node->ports[port->node->sw ? 0 : port->number].info.lid;
	fill_details(&notice, port);
	return sim_trap(command->server->sim, port->node->index, port->node->sw ? 0 : port->number,
			&notice) ||
	       command_fail(command, "the port is not ACTIVE, or does not know an SM");
}

/* ---- the whole fabric ---- */

static bool set_chance(struct command *command, void (*set)(struct sim *sim, double probability))
{
	double probability;

	if (!command_probability(command, 0, &probability))
		return false;
	set(command->server->sim, probability);
	return true;
}

bool command_loss(struct command *command)
{
	return set_chance(command, sim_set_loss);
}

bool command_duplicate(struct command *command)
{
	return set_chance(command, sim_set_duplicate);
}

bool command_corrupt(struct command *command)
{
	return set_chance(command, sim_set_corrupt);
}

bool command_delay(struct command *command)
{
	uint64_t hop, jitter = 0;

	if (!command_number(command, 0, NS_MAX, &hop) ||
	    (command->n_words > 1 && !command_number(command, 1, NS_MAX, &jitter)))
		return false;
	sim_set_delay(command->server->sim, hop, jitter);
	return true;
}
