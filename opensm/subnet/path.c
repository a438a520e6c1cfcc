// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of precedence is the classic daemon's. P_Key: the requested one, that of the QoS level,
 * the first that both ports hold. SL: that of the level, the requested one, that of the partition,
 * sm_sl. MTU and rate: the minimum of links and level, and of the MTU that a device at an end likes
 * best if enable_quirks is set. Life time: that of the level,
 * subnet_timeout. If a requested value is not available there is no path, nor is there one if SL2VL
 * tables drop its packets.
 */
#include "subnet/path.h"

#include "iba/codes.h"
#include "iba/constants.h"
#include "policy/qos/qos_lanes.h"
#include "route/value/lanes.h"

#define TAVOR 0x5A44 /* DeviceID */
#define LAST_PLAIN_RATE IBA_RATE_120 /* the last one without extended speeds */
#define LAST_OLD_RATE IBA_RATE_300   /* the last of the first extension of the codes */

static void find_level(const struct subnet *subnet, const struct policy_wanted *wanted,
		       uint32_t from, uint32_t to, struct policy_path *path)
{
	struct qos_query query = {
		.has_class = wanted->has_class,
		.qos_class = wanted->qos_class,
		.has_service = wanted->has_service,
		.service_id = wanted->service_id,
		.has_p_key = wanted->has_p_key,
		.p_key = wanted->p_key,
	};

	path->level = subnet->qos ? qos_paths_level(subnet->qos, &query, from, to) : NULL;
	path->rule = query.rule;
}

/* The P_Key to use, as the source holds it if the query gives none; 0: the two may not use it. */
static uint16_t usable_p_key(const struct subnet *subnet, const struct policy_wanted *wanted,
			     uint16_t p_key, uint32_t from, uint32_t to)
{
	uint16_t a = partitions_member(subnet->partitions, from, p_key);
	uint16_t b = partitions_member(subnet->partitions, to, p_key);

	if (!a || !b || !((a | b) & P_KEY_FULL))
		return 0;
	return wanted->has_p_key ? wanted->p_key : a;
}

static const char *choose_p_key(const struct subnet *subnet, const struct policy_wanted *wanted,
				uint32_t from, uint32_t to, struct policy_path *path)
{
	const struct qos_level *level = path->level;

	if (level && level->has_p_key) {
		path->p_key_by = POLICY_LEVEL;
		if (wanted->has_p_key && P_KEY_BASE(wanted->p_key) != level->p_key)
			return "the QoS level has another P_Key";
		path->p_key = usable_p_key(subnet, wanted, level->p_key, from, to);
	} else if (wanted->has_p_key) {
		path->p_key_by = POLICY_ASKED;
		path->p_key = usable_p_key(subnet, wanted, wanted->p_key, from, to);
	} else {
		path->p_key_by = POLICY_PARTITION;
		path->p_key = partitions_shared(subnet->partitions, from, to);
	}
	return path->p_key ? NULL
			   : "the two ports share no P_Key of which at least one is a "
			     "full member";
}

static const char *choose_sl(const struct subnet *subnet, const struct policy_wanted *wanted,
			     struct policy_path *path)
{
	const struct partition *partition = partitions_find(subnet->partitions, path->p_key);

	if (path->level && path->level->has_sl) {
		path->sl_by = POLICY_LEVEL;
		path->sl = path->level->sl;
	} else if (wanted->has_sl) {
		path->sl_by = POLICY_ASKED;
		path->sl = wanted->sl;
	} else if (partition) {
		path->sl_by = POLICY_PARTITION;
		path->sl = partition->sl;
	} else {
		path->sl_by = POLICY_OPTION;
		path->sl = subnet->options->sm_sl;
	}
	if (wanted->has_sl && path->sl != wanted->sl)
		return "the QoS level has another SL";
	return NULL;
}

/* Vendors that have sold that HCA under their names. */
bool policy_is_tavor(const struct iba_node_info *info)
{
	static const uint32_t vendors[] = {0x0002C9, 0x0005AD, 0x00066A, 0x0008F1};

	for (size_t i = 0; info->device_id == TAVOR && i < G_N_ELEMENTS(vendors); i++)
		if (info->vendor_id == vendors[i])
			return true;
	return false;
}

static uint8_t best_mtu(const struct subnet *subnet, const struct policy_wanted *wanted,
			uint32_t from, uint32_t to)
{
	const struct fabric *fabric = subnet->fabric;

	if (!subnet->options->enable_quirks || wanted->keeps_mtu)
		return 0;
	return policy_is_tavor(&fabric->nodes[fabric->ports[from].node].info) ||
			       policy_is_tavor(&fabric->nodes[fabric->ports[to].node].info)
		       ? POLICY_TAVOR_MTU
		       : 0;
}

bool policy_verdict(const struct subnet *subnet, const struct policy_wanted *wanted, uint32_t from,
		    uint32_t to, struct policy_path *path)
{
	const struct qos_level *level;

	*path = (struct policy_path){
		.life = from == to ? 0 : subnet->options->subnet_timeout,
		.life_by = from == to ? POLICY_INSIDE : POLICY_OPTION,
		.hop_limit = wanted->leaves_subnet ? POLICY_HOP_LIMIT : 0,
		.mtu_best = best_mtu(subnet, wanted, from, to),
		.dropped_at = FABRIC_NONE,
	};
	find_level(subnet, wanted, from, to, path);
	level = path->level;
	if (level && level->has_life && from != to) {
		path->life = level->life;
		path->life_by = POLICY_LEVEL;
	}
	path->refused = choose_p_key(subnet, wanted, from, to, path);
	if (!path->refused)
		path->refused = choose_sl(subnet, wanted, path);
	return !path->refused;
}

bool policy_path(const struct subnet *subnet, const struct policy_wanted *wanted, uint32_t from,
		 uint32_t to, struct policy_path *path)
{
	bool may = policy_verdict(subnet, wanted, from, to, path);
	uint8_t sl = path->sl;

	if (may &&
	    !routing_path_sl(subnet->routing, subnet->fabric, from, to, wanted->has_sl, &path->sl))
		path->refused = "the routing engine requires another SL for it, or has none";
	if (path->sl != sl)
		path->sl_by = POLICY_ROUTES;
	return !path->refused;
}

/* ---- SLs that are dropped ---- */

static bool may_drop(const struct subnet *subnet, uint8_t sl)
{
	return subnet->qos && subnet->qos->dropped >> sl & 1;
}

/* The lanes that routes need are in effect, whatever QoS says. */
static bool hop_drops(const struct subnet *subnet, uint8_t sl, uint32_t in, uint32_t out)
{
	const struct qos_place place = {subnet->qos, subnet->fabric};
	uint8_t vl[QOS_SLS];

	if (qos_lanes(subnet->fabric, subnet->routing, in, out, 1, vl) >> sl & 1)
		return false;
	return qos_setup_drops(&place, sl, in, out);
}

/* The egress port of a packet that entered by that port; FABRIC_NONE: it is not forwarded. */
static uint32_t next_out(const struct subnet *subnet, uint32_t in, uint16_t dlid, bool first)
{
	const struct fabric *fabric = subnet->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->ports[in].node];
	uint8_t exit;

	if (node->sw == FABRIC_NONE)
		return first && fabric_port_by_lid(fabric, dlid) != in ? in : FABRIC_NONE;
	exit = routing_port(subnet->routing, node->sw, dlid);
	return exit <= node->num_ports && (exit || !first) ? node->first_port + exit : FABRIC_NONE;
}

uint32_t policy_drops(const struct subnet *subnet, uint8_t sl, uint32_t from, uint16_t dlid)
{
	uint32_t in = from;

	if (!may_drop(subnet, sl))
		return FABRIC_NONE;
	for (unsigned int n = 0; n < IBA_MAX_HOPS && in != FABRIC_NONE; n++) {
		uint32_t out = next_out(subnet, in, dlid, n == 0);

		if (out == FABRIC_NONE || hop_drops(subnet, sl, in, out))
			return out;
		in = subnet->fabric->ports[out].peer;
	}
	return FABRIC_NONE;
}

bool policy_drops_multicast(const struct subnet *subnet, uint8_t sl, uint32_t from)
{
	const struct fabric *fabric = subnet->fabric;
	const struct fabric_node *node;
	uint32_t in = from;

	if (!may_drop(subnet, sl))
		return false;
	if (!fabric_is_switch(fabric, fabric->ports[from].node)) {
		if (hop_drops(subnet, sl, from, from))
			return true;
		in = fabric->ports[from].peer;
	}
	node = in == FABRIC_NONE ? NULL : &fabric->nodes[fabric->ports[in].node];
	for (uint32_t out = 1; node && node->sw != FABRIC_NONE && out <= node->num_ports; out++)
		if (node->first_port + out != in &&
		    fabric->ports[node->first_port + out].peer != FABRIC_NONE &&
		    !hop_drops(subnet, sl, in, node->first_port + out))
			return false;
	return node && node->sw != FABRIC_NONE;
}

/* ---- MTU and rate ---- */

uint8_t policy_known_rate(const struct options *options, uint8_t rate)
{
	uint8_t max = options->max_rate_enum;

	if (options->use_original_extended_sa_rates_only)
		max = MIN(max, LAST_OLD_RATE);
	return rate > max ? iba_rate_limit(rate, max) : rate;
}

/* Links on the path may be of a newer kind than the device at its end. */
uint8_t policy_rate_of_end(const struct iba_port_info *end, uint8_t rate)
{
	bool has_mask2 = end->capability_mask & IBA_PORT_CAP_CAPABILITY_MASK2;
	unsigned int caps = has_mask2 ? end->capability_mask2 : 0;
	unsigned int needs = IBA_PORT_CAP2_LINK_SPEED_HDR | IBA_PORT_CAP2_LINK_SPEED_NDR |
			     IBA_PORT_CAP2_LINK_SPEED_XDR;

	if (rate == IBA_RATE_28)
		needs = IBA_PORT_CAP2_LINK_WIDTH_2X;
	else if (rate == IBA_RATE_50)
		needs |= IBA_PORT_CAP2_LINK_WIDTH_2X;
	if (rate <= LAST_OLD_RATE || caps & needs)
		return rate;
	return iba_rate_limit(rate, end->capability_mask & IBA_PORT_CAP_EXTENDED_SPEEDS ?
					    LAST_OLD_RATE : LAST_PLAIN_RATE);
}

static void choose_rate(const struct subnet *subnet, const struct policy_way *way,
			struct policy_path *path)
{
	const struct fabric *fabric = subnet->fabric;
	uint32_t to = fabric_port_by_lid(fabric, way->dlid);
	uint8_t known = policy_known_rate(subnet->options, way->rate);

	path->rate = policy_rate_of_end(&fabric->ports[way->from].info, known);
	if (to != FABRIC_NONE)
		path->rate = policy_rate_of_end(&fabric->ports[to].info, path->rate);
	path->rate_by = path->rate != known	? POLICY_ENDS
			: known != way->rate	? POLICY_OPTION
						: POLICY_LINK;
}

bool policy_path_on(const struct subnet *subnet, const struct policy_way *way,
		    struct policy_path *path)
{
	const struct qos_level *level = path->level;

	path->mtu = way->mtu;
	choose_rate(subnet, way, path);
	path->mtu_by = POLICY_LINK;
	if (level && level->has_mtu && level->mtu < way->mtu) {
		path->mtu = level->mtu;
		path->mtu_by = POLICY_LEVEL;
	}
	if (path->mtu_best && path->mtu > path->mtu_best) {
		path->mtu = path->mtu_best;
		path->mtu_by = POLICY_DEVICE;
	}
	if (level && level->has_rate && iba_rate_compare(path->rate, level->rate) > 0) {
		path->rate = level->rate;
		path->rate_by = POLICY_LEVEL;
	}
	path->dropped_at = policy_drops(subnet, path->sl, way->from, way->dlid);
	path->refused =
		path->dropped_at == FABRIC_NONE ? NULL : "SL2VL tables drop packets of its SL";
	return !path->refused;
}

/* If a port has none of the named LIDs, any LID will do: otherwise it would be unreachable. */
bool policy_path_ends_at(const struct policy_path *path, unsigned int n, unsigned int lids)
{
	const GArray *bits = path->level ? path->level->path_bits : NULL;

	return !bits || qos_ranges_have(bits, n) || !qos_ranges_begin_below(bits, lids);
}

static char *tell_level(const struct policy_path *path)
{
	g_autofree char *name = g_strescape(path->level->name, NULL);

	return path->rule ? g_strdup_printf("QoS level %s, by the rule in line %u", name,
					    path->rule->line)
			  : g_strdup_printf("QoS level %s, as no rule matches", name);
}

char *policy_path_tell(const struct subnet *subnet, const struct policy_path *path,
		       enum policy_reason reason, const char *option)
{
	const struct partition *partition = partitions_find(subnet->partitions, path->p_key);

	switch (reason) {
	case POLICY_ASKED:
		return g_strdup("asked for");
	case POLICY_LEVEL:
		return tell_level(path);
	case POLICY_PARTITION:
		return partition ? g_strdup_printf("partition %s", partition->name)
				 : g_strdup("a P_Key that both hold");
	case POLICY_OPTION:
		return g_strdup_printf("option %s", option);
	case POLICY_LINK:
		return g_strdup("the links on the path");
	case POLICY_ENDS:
		return g_strdup("the ends, which have no code for a faster rate");
	case POLICY_DEVICE:
		return g_strdup_printf("a Tavor HCA at an end, by option %s", option);
	case POLICY_ROUTES:
		return g_strdup_printf("routing engine %s", subnet->routing->engine->name);
	default:
		return g_strdup("it does not leave the port");
	}
}
