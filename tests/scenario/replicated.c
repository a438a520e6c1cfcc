// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "replicated.h"

#include <check.h>

struct managers *m;
struct client **clients;
unsigned int n_clients;

void begin(const char *spec, uint64_t seed)
{
	m = managers_new(spec, seed);
	n_clients = 0;
	clients = g_new0(struct client *, sim_nodes(m->s->sim));
}

void end(void)
{
	for (unsigned int i = 0; i < n_clients; i++)
		client_free(clients[i]);
	g_free(clients);
	managers_free(m);
}

const char *conf(const char *key, const char *more)
{
	g_autofree char *line = managers_replication(m, key);
	g_autofree char *text = g_strconcat(MANAGERS_POLLS, line, more, NULL);

	return g_intern_string(text);
}

void add_clients(unsigned int n)
{
	for (unsigned int i = 0, host = 0; i < n; host++) {
		g_autofree char *name = g_strdup_printf("host-%u", host);

		if (host == 1 || host == 9)
			continue;
		clients[n_clients++] = client_new(m->s, scenario_node(m->s, name));
		i++;
	}
}

uint16_t join(struct client *client, unsigned int number)
{
	struct iba_gid mgid = {UINT64_C(0xFF1200000000ABCD), number};
	uint16_t mlid;
	int status = client_member(client, IBA_METHOD_SET, mgid, client_guid(client), &mlid);

	ck_assert_int_eq(status, 0);
	return mlid;
}

void zero_sets(void)
{
	g_hash_table_remove_all(m->sets.reregistered);
	m->sets.all = m->sets.port_info = m->sets.sm_info = m->sets.reregister = 0;
}

struct mc_groups *groups_of(unsigned int i)
{
	return slot_take(&daemon_context(m->sm[i].daemon)->groups);
}

void check_same_groups(const struct mc_groups *a, const struct mc_groups *b)
{
	struct mc_cursor at_a = {0}, at_b = {0};
	const struct mc_group *of_a, *of_b;

	ck_assert_uint_eq(a->n, b->n);
	while ((of_a = mc_groups_next(a, &at_a)) && (of_b = mc_groups_next(b, &at_b))) {
		ck_assert(iba_gid_equal(of_a->mgid, of_b->mgid));
		ck_assert_uint_eq(of_a->mlid, of_b->mlid);
		ck_assert_uint_eq(of_a->n_ports, of_b->n_ports);
		for (uint32_t j = 0; j < of_a->n_ports; j++)
			ck_assert_uint_eq(of_a->port_guids[j], of_b->port_guids[j]);
	}
}

void up_with_standby(const char *conf1, const char *conf2)
{
	managers_up_with_standby(m, conf1, conf2);
	scenario_run_ms(m->s, 3000);
}

uint64_t take_over(bool retire)
{
	struct mc_groups *before, *after;
	uint64_t ms;

	scenario_run_ms(m->s, 100);
	before = groups_of(0);
	zero_sets();
	if (retire)
		managers_retire(m, 0);
	else
		managers_kill(m, 0);
	ms = managers_settle(m, 1, 10);
	after = groups_of(1);
	check_same_groups(before, after);
	mc_groups_unref(before);
	mc_groups_unref(after);
	return ms;
}
