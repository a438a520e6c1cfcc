// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables behind which a device needs an M_Key that the SM does not know: they are left out, health
 * names them with what to do, and no key of another device is sent there.
 */
#include <check.h>
#include <string.h>

#include "ctl/command/command.h"
#include "iba/constants.h"
#include "managers.h"
#include "policy/keys/key_ring.h"
#include "tests/run_suite.h"

#define ADVICE                                                                                     \
	"set m_key_protection_level 1 until the cable is in use, or restart that device"

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

static unsigned int in_health(struct scenario *s, const char *text)
{
	struct command_env env = {.daemon = s->daemon, .sim = s->sim};
	struct command_answer answer;
	unsigned int n = 0;

	command_run(&env, "health", true, &answer);
	for (const char *at = answer.text; (at = strstr(at, text)); at++)
		n++;
	g_free(answer.text);
	return n;
}

static unsigned int in_log(const struct scenario *s, const char *text)
{
	unsigned int n = 0;

	for (const char *at = s->text->str; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static void append(const char *file, const char *line)
{
	g_autofree char *text = NULL, *longer = NULL;

	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	longer = g_strconcat(text, line, NULL);
	ck_assert(g_file_set_contents_full(file, longer, -1, 0, 0600, NULL));
}

static void set_level(struct scenario *s, unsigned int level)
{
	g_autofree char *conf = scenario_keys_of_ports(s, level);

	scenario_conf(s, conf);
	ck_assert(daemon_reread(s->daemon, NULL));
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

/* At level 1 switches answer Gets with any key, and so identify themselves. */
START_TEST(new_cable_at_level_1)
{
	struct scenario *s = start_ring(1);

	scenario_converge(s, 30);
	ck_assert_uint_eq(in_health(s, ADVICE), 0);
	scenario_free(s);
}
END_TEST

START_TEST(new_cable_is_left_out)
{
	struct scenario *s = start_ring(_i);
	struct watch watch = {.s = s};

	sim_set_trace(s->sim, on_smp, &watch);
	scenario_run_ms(s, 60000);
	ck_assert_uint_ne(watch.sent, 0);
	ck_assert_uint_eq(watch.wrong, 0);
	ck_assert_uint_eq(in_health(s, ADVICE), 2);
	ck_assert_uint_eq(in_health(s, "behind switch-3 ("), 1);
	ck_assert_uint_eq(in_health(s, "behind switch-4 ("), 1);
	ck_assert_uint_eq(in_log(s, ADVICE ": excluded\n"), 2);
	scenario_check_log(s, "SUBNET UP", true);
	sim_set_trace(s->sim, NULL, NULL);
	scenario_free(s);
}
END_TEST

/* What health advises helps, without interrupting the packets of anyone. */
START_TEST(lower_level_helps)
{
	struct scenario *s = start_ring(2);

	scenario_run_ms(s, 30000);
	ck_assert_uint_eq(in_health(s, ADVICE), 2);
	set_level(s, 1);
	scenario_converge(s, 70);
	ck_assert_uint_eq(in_health(s, ADVICE), 0);
	set_level(s, 2);
	scenario_run_ms(s, 5000);
	scenario_converge(s, 10);
	ck_assert_uint_eq(in_health(s, ADVICE), 0);
	scenario_free(s);
}
END_TEST

START_TEST(restart_helps)
{
	struct scenario *s = start_ring(3);
	unsigned int last = scenario_node(s, "switch-3");

	scenario_run_ms(s, 30000);
	ck_assert_uint_eq(in_health(s, ADVICE), 2);
	sim_node_set(s->sim, last, false);
	scenario_run_ms(s, 2000);
	sim_set_m_key(s->sim, last, 0, 0, 0, 0);
	sim_node_set(s->sim, last, true);
	scenario_converge(s, 70);
	ck_assert_uint_eq(in_health(s, ADVICE), 0);
	scenario_free(s);
}
END_TEST

/* A host with the key of another subnet is named by the port before it, with the same advice. */
START_TEST(foreign_host_is_named)
{
	struct scenario *s = start_ring(2);
	unsigned int host = scenario_node(s, "host-5");

	sim_link_set(s->sim, host, 1, false);
	scenario_run_ms(s, 2000);
	sim_set_m_key(s->sim, host, 1, 0xF00D, 2, 0);
	sim_link_set(s->sim, host, 1, true);
	scenario_run_ms(s, 60000);
	ck_assert_uint_eq(in_health(s, "behind switch-1 ("), 1);
	scenario_free(s);
}
END_TEST

/* A host that answers, but hides a key of its own: the file guid2mkey tells the SM that key. */
START_TEST(hidden_key)
{
	static const char line[] = "m_key: 'host-5' (";
	struct scenario *s = scenario_new("ring.topo", 1);
	g_autofree char *conf = scenario_keys_of_ports(s, 1), *file = NULL, *key = NULL;
	unsigned int host = scenario_node(s, "host-5");
	uint64_t guid = sim_port_guid(s->sim, host, 1);

	sim_set_m_key(s->sim, host, 1, 0xF00D, 1, 0);
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_run_ms(s, 20000);
	ck_assert_uint_eq(in_health(s, line), 1);
	ck_assert_uint_eq(in_health(s, "add a line with its GUID and M_Key to guid2mkey"), 1);
	scenario_stop(s);
	file = g_build_filename(s->cache_dir, "guid2mkey", NULL);
	key = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x 0xF00D\n", guid);
	append(file, key);
	scenario_start(s);
	scenario_converge(s, 20);
	ck_assert_uint_eq(in_health(s, line), 0);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cable_keys");
	TCase *tcase = tcase_create("cable_keys");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, new_cable_at_level_1);
	tcase_add_loop_test(tcase, new_cable_is_left_out, 2, 4);
	tcase_add_test(tcase, lower_level_helps);
	tcase_add_test(tcase, restart_helps);
	tcase_add_test(tcase, foreign_host_is_named);
	tcase_add_test(tcase, hidden_key);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
