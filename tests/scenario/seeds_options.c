// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random options: engines, QoS, keys, partitions and others that change what is in the hardware.
 * Each has its own tests; here they are combined with each other, and with faults.
 */
#include <inttypes.h>

#include "seeds.h"

#define LINES_MAX 12
#define PARTITIONS 3

/* opensm.conf; only values with which a repair does not exceed its bound. */
static const struct key {
	const char *name;
	const char *values[6];
} keys[] = {
	{"qos", {"TRUE", "TRUE", "FALSE"}},
	{"max_op_vls", {"1", "2", "3", "4", "5"}},
	{"qos_max_vls", {"1", "2", "4", "8"}},
	{"qos_sl2vl", {"0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7", "0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3"}},
	{"qos_swe_sl2vl", {"0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1"}},
	{"qos_vlarb_high", {"0:4,1:0,2:1", "1:16"}},
	{"use_optimized_slvl", {"TRUE"}},
	{"m_key", {"0x1122334455667788", "0x42"}},
	{"m_key_protection_level", {"1", "2", "3"}},
	{"m_key_lease_period", {"60"}},
	{"part_enforce", {"both", "in", "out", "off"}},
	{"allow_both_pkeys", {"TRUE"}},
	{"keep_pkey_indexes", {"FALSE"}},
	{"partition_aware_routing", {"TRUE"}},
	{"sm_assigned_guid", {"0x01"}},
	{"lmc_esp0", {"TRUE"}},
	{"sm_sl", {"1", "3"}},
	{"scatter_ports", {"0", "7"}},
	{"port_shifting", {"TRUE"}},
	{"port_profile_switch_nodes", {"TRUE"}},
	{"connect_roots", {"TRUE"}},
	{"avoid_throttled_links", {"TRUE"}},
	{"nue_max_num_vls", {"0", "2", "4"}},
	{"do_mesh_analysis", {"TRUE"}},
	{"lash_start_vl", {"1"}},
	{"audit_nodes", {"3", "100"}},
	{"force_heavy_sweep", {"TRUE"}},
	{"no_clients_rereg", {"TRUE"}},
	{"client_rereg_rate", {"10"}},
	{"use_mfttop", {"FALSE"}},
	{"mc_spread_roots", {"TRUE"}},
	{"membership_grace", {"0", "1"}},
	{"sa_max_memberships", {"1", "3"}},
	{"max_wire_smps", {"4", "16", "0"}},
	{"honor_guid2lid_file", {"TRUE"}},
	{"vl_stall_count", {"3"}},
	{"force_link_speed", {"3"}},
	{"babbling_port_policy", {"TRUE"}},
	{"reassign_lids", {"TRUE"}},
	{"no_partition_enforcement", {"TRUE"}},
	{"consolidate_ipv6_snm_req", {"TRUE"}},
	{"force_link_speed_ext", {"0"}},
	{"packet_life_time", {"0x10", "0x13"}},
	{"subnet_timeout", {"16", "20"}},
	{"transaction_retries", {"1", "5"}},
	{"quasi_ftree_indexing", {"TRUE"}},
	{"max_reverse_hops", {"2"}},
	{"sa_db_dump", {"TRUE"}},
	{"nue_include_switches", {"TRUE"}},
	{"guid_routing_order_no_scatter", {"TRUE"}},
	{"use_original_extended_sa_rates_only", {"TRUE"}},
};

static const char *const engines[] = {
	"minhop", "updn", "dnup", "ftree", "dor", "sssp", "dfsssp", "lash", "nue", "hoplanes",
	"ftree,updn,minhop", "hoplanes,dfsssp,updn",
};

static void append_key(struct scenario *s, GString *conf)
{
	const struct key *key = &keys[scenario_random(s, G_N_ELEMENTS(keys))];
	unsigned int n = 0;

	while (n < G_N_ELEMENTS(key->values) && key->values[n])
		n++;
	g_string_append_printf(conf, "%s %s\n", key->name, key->values[scenario_random(s, n)]);
}

static void append_hosts(struct scenario *s, GString *text)
{
	unsigned int one_in = 1 + scenario_random(s, 8);

	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH && !scenario_random(s, one_in))
			g_string_append_printf(text, ",0x%016" PRIx64 "%s",
					       sim_port_guid(s->sim, node, 1),
					       scenario_random(s, 2) ? "=full" : "");
	}
}

/* Random hosts; all are in the default partition, else the SA would not answer some of them. */
static void make_partitions(struct scenario *s, const char *file)
{
	g_autoptr(GString) text = g_string_new("Default=0x7fff,ipoib:ALL=full;\n");

	for (unsigned int i = 1; i <= PARTITIONS; i++) {
		g_string_append_printf(text, "part%u=0x%x%s:ALL_SWITCHES", i, i,
				       scenario_random(s, 2) ? ",ipoib" : "");
		append_hosts(s, text);
		g_string_append(text, ";\n");
	}
	g_assert(g_file_set_contents(file, text->str, -1, NULL));
}

static void append_keys_of_ports(struct scenario *s, GString *conf)
{
	g_autofree char *own = scenario_keys_of_ports(s, 1); /* unless the file names another one */

	g_string_prepend(conf, own);
}

static void write_conf(struct scenario *s)
{
	g_autoptr(GString) conf = g_string_new(NULL);

	for (unsigned int n = scenario_random(s, LINES_MAX); n; n--)
		append_key(s, conf);
	if (!scenario_random(s, 4))
		append_keys_of_ports(s, conf);
	if (!conf->len)
		g_string_append(conf, "sweep_on_trap TRUE\n"); /* a file without keys is refused */
	scenario_conf(s, conf->str);
}

static char *partitions_file(const struct scenario *s)
{
	return g_build_filename(s->directory, "partitions.conf", NULL);
}

/* GUIDs of some nodes of a type, or of their first ports. */
static void give_guids(struct scenario *s, const char *flag, uint8_t type, bool ports)
{
	g_autofree char *file = g_strdup_printf("%s/guids%s", s->directory, flag);
	g_autoptr(GString) text = g_string_new(NULL);

	if (scenario_random(s, 4))
		return;
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		if (view.type == type && !scenario_random(s, 3))
			g_string_append_printf(text, "0x%016" PRIx64 "\n",
					       ports ? sim_port_guid(s->sim, node, 1)
						     : view.node_guid);
	}
	if (!text->len)
		g_string_append(text, "0xdead\n"); /* an empty file is refused */
	g_assert(g_file_set_contents(file, text->str, -1, NULL));
	scenario_option(s, flag, file);
}

void seed_options(struct scenario *s)
{
	g_autofree char *file = partitions_file(s);

	write_conf(s);
	make_partitions(s, file);
	scenario_option(s, "-P", file);
	scenario_option(s, "-R", engines[scenario_random(s, G_N_ELEMENTS(engines))]);
	give_guids(s, "-a", IBA_NODE_SWITCH, false); /* roots */
	give_guids(s, "-u", IBA_NODE_CA, true);	     /* compute nodes */
	give_guids(s, "-G", IBA_NODE_CA, true);	     /* I/O nodes */
	give_guids(s, "-X", IBA_NODE_CA, true);	     /* their order in routing */
}

void seed_other_options(struct scenario *s)
{
	g_autofree char *file = partitions_file(s);

	write_conf(s);
	if (scenario_random(s, 2))
		make_partitions(s, file);
}
