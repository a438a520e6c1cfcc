// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "managers.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>

#define STATUS 0x7FFF /* without the direction bit of a directed route */

static void tell_time(struct managers *m)
{
	tale_detail(m->tale, "[%8.3f] ", (double)runtime_now(m->s->rt) / (double)NS_PER_S);
}

static const char *name_of_guid(const struct managers *m, uint64_t guid)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (m->sm[i].guid == guid)
			return m->sm[i].name;
	return "?";
}

/* ---- the addressee of a packet ---- */

static const char *name_of_lid(const struct managers *m, uint16_t lid)
{
	for (unsigned int i = 0; i < m->n; i++) {
		unsigned int node = (unsigned int)sim_find_guid(m->s->sim, m->sm[i].guid);

		if (sim_port_info(m->s->sim, node, m->sm[i].port)->lid == lid)
			return m->sm[i].name;
	}
	return "?";
}

/* The other end of a directed route, on the way there or back. */
static const char *name_of_path(const struct managers *m, uint64_t from, const uint8_t *data)
{
	unsigned int node = (unsigned int)sim_find_guid(m->s->sim, from), port, peer;
	struct iba_dr_smp smp;

	wire_decode(&iba_dr_smp_type, data, &smp);
	for (unsigned int hop = 1; hop <= smp.hop_count; hop++) {
		unsigned int out = smp.direction ? smp.return_path[smp.hop_count + 1 - hop]
						 : smp.initial_path[hop];

		struct sim_node_view view;

		sim_node_view(m->s->sim, node, &view);
		if (out > view.num_ports || !sim_peer(m->s->sim, node, out, &peer, &port))
			return "?";
		node = peer;
	}
	for (unsigned int i = 0; i < m->n; i++)
		if ((unsigned int)sim_find_guid(m->s->sim, m->sm[i].guid) == node)
			return m->sm[i].name;
	return "?";
}

/* ---- the story ---- */

static const char *method_name(uint8_t method)
{
	switch (method) {
	case IBA_METHOD_GET:
		return "Get";
	case IBA_METHOD_SET:
		return "Set";
	case IBA_METHOD_GET_RESP:
		return "GetResp";
	default:
		return "?";
	}
}

static bool is_to_be_lost(struct managers *m, const char *line)
{
	if (!m->lose || !strstr(line, m->lose))
		return false;
	if (m->lose_nth && --m->lose_nth)
		return false;
	if (!m->lose_all)
		m->lose = NULL;
	return true;
}

/* Ends a line. The simulator decides on the packet's loss after it was recorded here. */
static void end_line(struct managers *m, size_t start)
{
	if (is_to_be_lost(m, m->story->str + start)) {
		tale_say(m->tale, " -- lost");
		sim_set_loss(m->s->sim, 1);
		m->losing = true;
	}
	tale_say(m->tale, "\n");
}

static void tell_sm_info(struct managers *m, uint64_t from, const char *to,
			 const struct iba_smp *smp)
{
	const char *control = iba_name(IBA_SET_SM_INFO_MOD, smp->header.attribute_modifier);
	size_t start = m->story->len;
	struct iba_sm_info info;

	wire_decode(&iba_sm_info_type, smp->data, &info);
	tell_time(m);
	tale_say(m->tale, "%s > %s %s(SMInfo)%s%s", name_of_guid(m, from), to,
		 method_name(smp->header.method), control ? " " : "", control ?: "");
	if (smp->header.status & STATUS)
		tale_say(m->tale, ": status 0x%02x", smp->header.status & STATUS);
	else if (smp->header.method != IBA_METHOD_GET)
		tale_say(m->tale, ": %s, priority %u", iba_name(IBA_SET_SM_STATE, info.sm_state),
			 info.priority);
	end_line(m, start);
}

static void tell_trap(struct managers *m, uint64_t from, const char *to, const struct iba_smp *smp)
{
	struct iba_trap_local_change change;
	struct iba_notice notice;

	wire_decode(&iba_notice_type, smp->data, &notice);
	wire_decode(&iba_trap_local_change_type, notice.data_details, &change);
	if (notice.trap_number != IBA_TRAP_LOCAL_CHANGES ||
	    !(change.change_flags & IBA_TRAP_144_SM_PRIORITY))
		return;
	m->told = change;
	tell_time(m);
	tale_say(m->tale, "%s > %s Trap 144, SMPriority\n", name_of_guid(m, from), to);
}

/* No packet of a dead SM gets through. */
static void count(struct managers *m, uint64_t from)
{
	for (unsigned int i = 0; i < m->n; i++) {
		struct manager *sm = &m->sm[i];

		if (sm->guid == from && sm->sent++ == sm->dies_at && sm->dies_at)
			sim_node_set_loss(m->s->sim, sim_find_guid(m->s->sim, from), 1);
	}
}

static void count_set(struct managers *m, uint64_t now_ns, const struct iba_smp *smp)
{
	struct iba_port_info info;

	m->sets.sm_info += smp->header.attribute_id == IBA_ATTR_SM_INFO;
	m->sets.port_info += smp->header.attribute_id == IBA_ATTR_PORT_INFO;
	m->sets.all++;
	if (smp->header.attribute_id != IBA_ATTR_PORT_INFO)
		return;
	wire_decode(&iba_port_info_type, smp->data, &info);
	if (!info.client_reregister)
		return;
	if (!m->sets.reregister++)
		m->sets.first_ns = now_ns;
	m->sets.last_ns = now_ns;
	g_hash_table_add(m->sets.reregistered, GUINT_TO_POINTER(info.lid));
}

/* The simulator decides on the packet's loss after it was recorded here. */
static void tell_replication(struct managers *m)
{
	m->replicated++;
	if (!m->mute)
		return;
	sim_set_loss(m->s->sim, 1);
	m->losing = true;
}

static void on_packet(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		      const uint8_t *data, size_t length)
{
	struct managers *m = arg;
	struct iba_smp smp;
	const char *name;

	if (m->losing)
		sim_set_loss(m->s->sim, 0);
	m->losing = false;
	count(m, from);
	if (length >= IBA_MAD_BYTES && data[1] == VENDOR_REPLICATION_CLASS)
		tell_replication(m);
	if (length < IBA_MAD_BYTES || !iba_class_is_smp(data[1]))
		return;
	wire_decode(&iba_smp_type, data, &smp);
	if (smp.header.method == IBA_METHOD_SET)
		count_set(m, now_ns, &smp);
	if (smp.header.attribute_id != IBA_ATTR_SM_INFO && smp.header.method != IBA_METHOD_TRAP)
		return;
	name = data[1] == IBA_CLASS_SUBN_DIRECTED ? name_of_path(m, from, data)
						  : name_of_lid(m, to->lid);
	if (smp.header.attribute_id == IBA_ATTR_SM_INFO)
		tell_sm_info(m, from, name, &smp);
	else if (smp.header.method == IBA_METHOD_TRAP)
		tell_trap(m, from, name, &smp);
}

static void on_state(void *arg, uint64_t state)
{
	struct manager *sm = arg;

	tell_time(sm->all);
	tale_say(sm->all->tale, "%s is %s\n", sm->name,
		 iba_name(IBA_SET_SM_STATE, (uint32_t)state));
}

static void on_finished(void *arg, int exit_code)
{
	(void)exit_code;
	((struct manager *)arg)->retired = true;
}

/* ---- life ---- */

struct managers *managers_new(const char *spec, uint64_t seed)
{
	struct managers *m = g_new0(struct managers, 1);

	m->s = scenario_new(spec, seed);
	m->tale = tale_new();
	m->story = tale_text(m->tale, TALE_FULL);
	m->sets.reregistered = g_hash_table_new(NULL, NULL);
	sim_set_trace(m->s->sim, on_packet, m);
	return m;
}

unsigned int managers_add(struct managers *m, const char *host, const char *conf)
{
	struct manager *sm = &m->sm[m->n];
	unsigned int node = scenario_node(m->s, host);
	struct sim_node_view view;

	g_assert(m->n < MANAGERS_MAX);
	sm->all = m;
	g_snprintf(sm->name, sizeof(sm->name), "sm%u", ++m->n);
	sim_node_view(m->s->sim, node, &view);
	sm->port = view.type == IBA_NODE_SWITCH ? 0 : 1;
	sm->guid = sim_port_guid(m->s->sim, node, sm->port);
	sm->directory = g_strdup_printf("%s/%s", m->s->directory, sm->name);
	sm->conf = g_strdup_printf("%s/%s.conf", m->s->directory, sm->name);
	g_assert(g_mkdir(sm->directory, 0700) == 0);
	g_assert(g_file_set_contents(sm->conf, conf, -1, NULL));
	return m->n - 1;
}

void managers_start(struct managers *m, unsigned int i)
{
	struct manager *sm = &m->sm[i];
	char *words[] = {"opensm", "-F", sm->conf, NULL};
	struct daemon_config config = {
		.rt = m->s->rt, .log = m->s->log, .cache_dir = sm->directory, .self_check = true};
	g_autoptr(GError) error = NULL;
	enum options_request request;

	if (!options_load(&config.options, &request, 3, words, NULL, &error))
		g_error("%s", error->message);
	config.vendor = sim_open(m->s->sim, sm->guid, &error);
	if (!config.vendor)
		g_error("%s", error->message);
	sm->retired = false;
	sm->daemon = daemon_new(&config, &error);
	g_assert_no_error(error);
	options_unref(config.options);
	daemon_on_finished(sm->daemon, on_finished, sm);
	event_subscribe(&daemon_context(sm->daemon)->bus, EVENT_SM_STATE, daemon_actor(sm->daemon),
			on_state, sm);
	daemon_start(sm->daemon);
}

void managers_kill(struct managers *m, unsigned int i)
{
	if (!m->sm[i].daemon)
		return;
	if (m->s->daemon == m->sm[i].daemon)
		m->s->daemon = NULL;
	daemon_free(g_steal_pointer(&m->sm[i].daemon));
	tell_time(m);
	tale_say(m->tale, "%s is gone\n", m->sm[i].name);
}

static bool has_sent_all(void *arg)
{
	const struct manager *sm = arg;

	return sm->sent >= sm->dies_at;
}

bool managers_kill_at(struct managers *m, unsigned int i, uint64_t packets, unsigned int seconds)
{
	struct manager *sm = &m->sm[i];
	bool dead;

	sm->dies_at = sm->sent + packets;
	dead = runtime_run(m->s->rt, has_sent_all, sm, runtime_now(m->s->rt) + seconds * NS_PER_S);
	managers_kill(m, i);
	sm->dies_at = 0;
	sim_node_set_loss(m->s->sim, sim_find_guid(m->s->sim, sm->guid), 0);
	return dead;
}

static void ignore(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	vendor_mad_free(mad);
}

static void add_stranger(struct managers *m, const char *host)
{
	uint64_t guid = sim_port_guid(m->s->sim, scenario_node(m->s, host), 1);
	struct vendor_client client = {.receive = ignore};

	client.actor = m->stranger_actor = actor_new(m->s->rt, "stranger");
	m->stranger = sim_open(m->s->sim, guid, NULL);
	/* Where an SM already runs, it is the SM that gets requests. */
	g_assert(vendor_bind(m->stranger, IBA_CLASS_SUBN_LID, true, &client, NULL) ||
		 vendor_bind(m->stranger, IBA_CLASS_SUBN_LID, false, &client, NULL));
}

static void send_to(struct managers *m, unsigned int i, const char *host, struct iba_smp *smp)
{
	unsigned int node = (unsigned int)sim_find_guid(m->s->sim, m->sm[i].guid);
	const struct vendor_address to = {.lid = scenario_lid(m->s, node)};
	uint8_t wire[IBA_MAD_BYTES] = {0};

	smp->header.base_version = IBA_BASE_VERSION;
	smp->header.mgmt_class = IBA_CLASS_SUBN_LID;
	smp->header.class_version = 1;
	if (!m->stranger)
		add_stranger(m, host);
	wire_encode(&iba_smp_type, smp, wire);
	vendor_send(m->stranger, &to, wire, sizeof(wire), 200);
	scenario_run_ms(m->s, 20);
}

void managers_set(struct managers *m, unsigned int i, const char *host, uint16_t attribute,
		  uint32_t modifier, const struct wire_type *type, const void *value)
{
	struct iba_smp smp = {
		.header = {.method = IBA_METHOD_SET,
			   .attribute_id = attribute,
			   .attribute_modifier = modifier,
			   .transaction_id = 1000 + modifier},
	};

	wire_encode(type, value, smp.data);
	send_to(m, i, host, &smp);
}

void managers_ask(struct managers *m, unsigned int i, const char *host)
{
	struct iba_smp smp = {
		.header = {.method = IBA_METHOD_GET,
			   .attribute_id = IBA_ATTR_SM_INFO,
			   .transaction_id = 2000 + m->asked++},
	};

	send_to(m, i, host, &smp);
}

void managers_control(struct managers *m, unsigned int i, const char *host, unsigned int control)
{
	const struct iba_sm_info info = {
		.guid = sim_port_guid(m->s->sim, scenario_node(m->s, host), 1),
		.sm_key = 1,
		.priority = 15,
		.sm_state = IBA_SM_MASTER,
	};

	managers_set(m, i, host, IBA_ATTR_SM_INFO, control, &iba_sm_info_type, &info);
}

static bool is_retired(void *arg)
{
	return ((struct manager *)arg)->retired;
}

void managers_retire(struct managers *m, unsigned int i)
{
	struct manager *sm = &m->sm[i];

	daemon_retire(sm->daemon);
	if (!runtime_run(m->s->rt, is_retired, sm, runtime_now(m->s->rt) + 3 * NS_PER_S))
		scenario_fail(m->s, "%s does not retire\n%s", sm->name, m->story->str);
	managers_kill(m, i);
}

void managers_configure(struct managers *m, unsigned int i, const char *conf)
{
	g_autoptr(GError) error = NULL;

	scenario_write_conf(m->sm[i].conf, conf);
	if (!daemon_reread(m->sm[i].daemon, &error))
		g_error("%s", error->message);
}

void managers_free(struct managers *m)
{
	vendor_close(m->stranger);
	if (m->stranger_actor)
		actor_free(m->stranger_actor);
	for (unsigned int i = 0; i < m->n; i++) {
		managers_kill(m, i);
		g_free(m->sm[i].directory);
		g_free(m->sm[i].conf);
	}
	m->s->daemon = NULL;
	sim_set_trace(m->s->sim, NULL, NULL);
	scenario_free(m->s);
	tale_free(m->tale);
	g_hash_table_unref(m->sets.reregistered);
	g_free(m);
}

/* ---- looking ---- */

unsigned int managers_state(const struct managers *m, unsigned int i)
{
	return atomic_load(&daemon_context(m->sm[i].daemon)->sm_state);
}

unsigned int managers_running(const struct managers *m)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < m->n; i++)
		n += m->sm[i].daemon != NULL;
	return n;
}

unsigned int managers_masters(const struct managers *m)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < m->n; i++)
		n += m->sm[i].daemon && managers_state(m, i) == IBA_SM_MASTER;
	return n;
}

struct wanted {
	struct managers *m;
	unsigned int master; /* or MANAGERS_ANY */
};

static char *what_is_wrong(void *arg)
{
	const struct wanted *wanted = arg;
	struct managers *m = wanted->m;
	unsigned int master = wanted->master;

	if (managers_masters(m) != 1)
		return g_strdup_printf("%u masters", managers_masters(m));
	for (unsigned int i = 0; master == MANAGERS_ANY; i++)
		if (m->sm[i].daemon && managers_state(m, i) == IBA_SM_MASTER)
			master = i;
	if (managers_state(m, master) != IBA_SM_MASTER)
		return g_strdup_printf("%s is not the master", m->sm[master].name);
	m->s->daemon = m->sm[master].daemon;
	m->s->sm_guid = m->sm[master].guid;
	return scenario_violation(m->s);
}

uint64_t managers_settle(struct managers *m, unsigned int master, unsigned int seconds)
{
	struct wanted wanted = {m, master};
	struct scenario_state state = {.wrong = what_is_wrong, .arg = &wanted};
	g_autofree char *wrong = NULL;
	uint64_t ms = scenario_until_steady(m->s, seconds, &state, &wrong);

	if (ms == UINT64_MAX)
		scenario_fail(m->s, "not settled in %u s: %s\n--- the story ---\n%s", seconds,
			      wrong, m->story->str);
	return ms;
}

char *managers_replication(struct managers *m, const char *key)
{
	g_autofree char *name = g_compute_checksum_for_string(G_CHECKSUM_MD5, key, -1);
	g_autofree char *file = g_build_filename(m->s->directory, name, NULL);

	ck_assert(g_file_set_contents(file, key, -1, NULL));
	ck_assert_int_eq(g_chmod(file, 0600), 0);
	return g_strdup_printf("replication_key_file %s\n", file);
}

void managers_up_with_standby(struct managers *m, const char *conf1, const char *conf2)
{
	managers_add(m, "host-1", conf1);
	managers_add(m, "host-9", conf2);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	managers_start(m, 1);
}
