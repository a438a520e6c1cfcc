// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Cables behind which a device needs an M_Key that the SM does not know. */
#include <check.h>
#include <string.h>

#include "iba/constants.h"
#include "managers.h"
#include "sm/keys/key_ring.h"
#include "tests/run_suite.h"

/* Counts the directed SMPs that carry the key of another device than the one they go to. */
struct watch {
	const struct scenario *s;
	unsigned int sent, wrong;
};

static uint64_t key_of(const struct scenario *s, unsigned int node)
{
	g_autoptr(GBytes) seed = g_bytes_new_static(SCENARIO_SEED, strlen(SCENARIO_SEED));
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return key_derive(seed, sim_port_guid(s->sim, node, view.type != IBA_NODE_SWITCH), 0);
}

/* Hosts of this net have one port, by which a path enters them. */
static bool find_target(const struct scenario *s, const struct iba_dr_smp *smp, unsigned int *node)
{
	unsigned int port;

	*node = scenario_sm_node(s, &port);
	for (unsigned int hop = 1; hop <= smp->hop_count; hop++)
		if (!sim_peer(s->sim, *node, smp->initial_path[hop], node, &port))
			return false;
	return true;
}

static void on_smp(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		   const uint8_t *data, size_t length)
{
	struct watch *watch = arg;
	struct iba_dr_smp smp;
	unsigned int target;

	(void)now_ns;
	(void)to;
	(void)from;
	if (length < IBA_MAD_BYTES)
		return;
	wire_decode(&iba_dr_smp_type, data, &smp);
	if (smp.mgmt_class != IBA_CLASS_SUBN_DIRECTED || smp.dr_slid != IBA_LID_PERMISSIVE ||
	    (smp.method != IBA_METHOD_GET && smp.method != IBA_METHOD_SET) ||
	    !find_target(watch->s, &smp, &target))
		return;
	watch->sent++;
	for (unsigned int i = 0; i < sim_nodes(watch->s->sim); i++)
		watch->wrong += i != target && smp.m_key == key_of(watch->s, i);
}

/* A ring of switches that have keys of their own is closed by a cable that is new to the SM. */
static struct scenario *start_ring(unsigned int level)
{
	struct scenario *s = scenario_new("ring.topo", 1);
	g_autofree char *conf = scenario_keys_of_ports(s, level);
	unsigned int last = scenario_node(s, "switch-3");

	scenario_conf(s, conf);
	sim_link_set(s->sim, last, 1, false);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 1000);
	sim_link_set(s->sim, last, 1, true);
	return s;
}

/* Switches with one cable are switches, too: a host could be plugged in where they are missed. */
START_TEST(keys_of_switches)
{
	struct scenario *s = start_ring(_i);
	struct watch watch = {.s = s};

	sim_set_trace(s->sim, on_smp, &watch);
	scenario_run_ms(s, 10000);
	sim_set_trace(s->sim, NULL, NULL);
	ck_assert_uint_ne(watch.sent, 0);
	ck_assert_uint_eq(watch.wrong, 0);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cable_keys");
	TCase *tcase = tcase_create("cable_keys");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, keys_of_switches, 2, 4);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
