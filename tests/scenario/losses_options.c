// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Keys that change, hosts with two ports, and the order in which routes are written. */
#include "losses.h"

#include "client.h"

#define SMA_NS (10 * NS_PER_US)
#define MINUTE_MS 60000

static uint64_t counted_heavy(const struct scenario *s)
{
	return counter_get(&daemon_context(s->daemon)->counters, sweeps_heavy);
}

/* ---- the M_Key changes while the daemon runs ---- */

static void keys_changed(struct losses *losses)
{
	static const char *const confs[] = {
		"m_key 0x1234\n", "m_key 0x5678\n", "m_key 0\n",
		"m_key 0x1234\nm_key_protection_level 1\n",
		"m_key 0x5678\nm_key_protection_level 1\n",
		"m_key 0x1234\nm_key_protection_level 2\n",
		"m_key 0x5678\nm_key_protection_level 2\n",
	};
	struct scenario *s = losses_up(losses, "keys-changed", "fattree:4", SMA_NS);

	for (unsigned int i = 0; s && i < G_N_ELEMENTS(confs); i++) {
		g_autofree char *name = g_strdup_printf("keys-changed %s", confs[i]);

		losses_hangup(s, confs[i]);
		g_strdelimit(g_strchomp(name), "\n", ' ');
		if (report_repair(&losses->report, name, s, LOSS_BOUND_MS))
			continue;
		g_clear_pointer(&s, scenario_free); /* the next change needs a good fabric */
		s = losses_up(losses, "keys-changed", "fattree:4", SMA_NS);
		if (s)
			losses_hangup(s, confs[i]);
		if (s)
			scenario_run_ms(s, MINUTE_MS);
	}
	if (s)
		scenario_free(s);
}

/* ---- a host with two ports loses one that is a member of a group ---- */

static void member_port_lost(struct losses *losses)
{
	struct scenario *s = losses_up(losses, "member-port-lost", "dual_port.topo", SMA_NS);
	unsigned int host;
	struct client *client;
	uint64_t heavy;
	uint16_t mlid;

	if (!s)
		return;
	host = scenario_node(s, "host-5");
	client = client_new(s, host);
	report_at_most(&losses->report, "member-port-joins",
		       client_join_broadcast(client, &mlid) != 0, "failed", 0, NULL);
	client_free(client);
	scenario_run_ms(s, 1000);
	heavy = counted_heavy(s);
	sim_link_set(s->sim, host, 1, false);
	report_repair(&losses->report, "member-port-lost", s, DEAD_BOUND_MS);
	scenario_run_ms(s, MINUTE_MS);
	report_at_most(&losses->report, "member-port-lost-sweeps", counted_heavy(s) - heavy,
		       "heavy sweeps", 0, NULL);
	scenario_free(s);
}

/* ---- routes are written so that the SM's own SMPs always arrive ---- */

static void program_order(struct losses *losses, const char *engine)
{
	g_autofree char *name = g_strdup_printf("program-%s", engine);
	g_autofree char *dropped = g_strdup_printf("%s-dropped", name);
	struct scenario *s = losses_net(losses, "torus:8x8x8", SMA_NS);

	scenario_option(s, "-R", engine);
	scenario_start(s);
	report_repair(&losses->report, name, s, 2000);
	report_at_most(&losses->report, dropped, scenario_counters(s).dropped, "packets", 0, NULL);
	scenario_free(s);
}

static void program_updn(struct losses *losses)
{
	program_order(losses, "updn");
}

static void program_dnup(struct losses *losses)
{
	program_order(losses, "dnup");
}

const struct loss_case losses_cases_options[] = {
	{"keys-changed", "m_key changes by SIGHUP", keys_changed, false},
	{"member-port-lost", "one port of two, in a group", member_port_lost, false},
	{"program-updn", "first sweep of a torus with updn", program_updn, true},
	{"program-dnup", "the same with dnup", program_dnup, true},
	{NULL, NULL, NULL, false},
};
