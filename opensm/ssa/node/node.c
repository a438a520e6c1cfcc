// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/node.h"

#include <stdatomic.h>
#include <string.h>

#include "client/config_file.h"
#include "client/say.h"
#include "ssa/node/acm_files.h"
#include "ssa/node/follow.h"
#include "ssa/node/cores.h"
#include "ssa/tree/member.h"
#include "ssa/node/push.h"
#include "ssa/tree/remote.h"
#include "ssa/node/replica.h"
#include "ssa/tree/tree.h"

#define SYSFS "/sys/class/infiniband"
#define FAKE_GUID UINT64_C(0xFA4E000000000000) /* of the first of the agents that there are not */

/* A part that takes epochs and is told its parents. */
struct part {
	struct ssa_reporter *reporter;
	_Atomic(struct ssa_member *) member; /* NULL: not in the tree, or not yet */
	struct ssa_follow *follow;
	struct ssa_replica *replica;
};

struct ssa_node {
	const struct ssa_settings *settings;
	GBytes *key;
	GArray *guids;	  /* of the ports of this host */
	uint64_t guid;	  /* of this node in the tree */
	GPtrArray *cores; /* URIs at which to join */
	char *address;	  /* of the server; NULL: none */
	struct ssa_push *push;
	struct ssa_tree *tree;
	struct ssa_announcer *announcer;
	struct ssa_members *members;
	GPtrArray *parts; /* struct part */
};

/* ---- parts ---- */

/* The core need not hear of changes before the first join, which tells all. */
static void on_changed(void *arg, bool at_once)
{
	struct part *part = arg;
	struct ssa_member *member = atomic_load(&part->member);

	if (member)
		ssa_member_changed(member, at_once);
}

static void on_parents(void *arg, const char *primary, const char *backup)
{
	struct part *part = arg;

	if (part->follow)
		ssa_follow_parents(part->follow, primary, backup);
	if (part->replica)
		ssa_replica_parents(part->replica, primary, backup);
}

static struct part *add_part(struct ssa_node *node)
{
	struct part *part = g_new0(struct part, 1);

	part->reporter = ssa_reporter_new(on_changed, part);
	g_ptr_array_add(node->parts, part);
	return part;
}

/* The tree's parents, unless the configuration has others. */
static void join(struct ssa_node *node, struct part *part, uint64_t guid, unsigned int roles,
		 const char *address)
{
	const GPtrArray *parents = node->settings->parents;
	bool fixed = parents->len || roles & SSA_ROLE_CORE;

	if (parents->len)
		on_parents(part, parents->pdata[0], parents->len > 1 ? parents->pdata[1] : NULL);
	if (node->members)
		atomic_store(&part->member,
			     ssa_members_add(node->members, guid, roles, address, part->reporter,
					     fixed ? NULL : on_parents, part));
}

static struct ssa_follow_config agent_config(const struct ssa_node *node, const struct part *part)
{
	const struct ssa_settings *settings = node->settings;

	return (struct ssa_follow_config){
		.agent = {.prefix = settings->prefix,
			  .key = node->key,
			  .wanted = {.addresses = settings->addresses}},
		.options = ssa_settings_store(settings, false),
		.reporter = part->reporter,
	};
}

/* Called by the thread of the agent, and before there is one. */
static void write_acm_files(void *arg, const struct ssa_snapshot *snapshot)
{
	const struct ssa_node *node = arg;
	g_autoptr(GError) error = NULL;

	if (!ssa_acm_files_write(node->settings->acm_files, snapshot,
				 (const uint64_t *)(void *)node->guids->data, node->guids->len,
				 &error))
		say(LOG_ERR, "acm_files: %s", error->message);
}

/* The snapshot of the run before may be the current one, and these files not be there yet. */
static void begin_acm_files(struct ssa_node *node, struct ssa_follow_config *config)
{
	struct ssa_snapshot *snapshot = ssa_snapshot_map(config->agent.file, NULL);

	if (snapshot && snapshot->prefix == config->agent.prefix)
		write_acm_files(node, snapshot);
	ssa_snapshot_unref(snapshot);
	config->taken = write_acm_files;
	config->arg = node;
}

/* Beside a server, or the daemon, it reads from there. */
static void start_agent(struct ssa_node *node)
{
	const struct ssa_settings *settings = node->settings;
	struct part *part = add_part(node);
	struct ssa_follow_config config = agent_config(node, part);
	const char *beside = settings->store ? settings->store : settings->server;

	config.agent.file = settings->snapshot;
	memcpy(config.agent.wanted.guids, node->guids->data, node->guids->len * sizeof(uint64_t));
	if (beside && !settings->store)
		config.options = ssa_settings_server(settings, false);
	if (settings->acm_files)
		begin_acm_files(node, &config);
	part->follow = ssa_follow_start(&config);
	if (beside)
		ssa_follow_parents(part->follow, beside, NULL);
	else
		join(node, part, node->guid, SSA_ROLE_AGENT, NULL);
}

/* Agents that there are not: each takes all that one would, and writes no file. */
static void start_fakes(struct ssa_node *node)
{
	for (uint32_t i = 0; i < node->settings->fake; i++) {
		struct part *part = add_part(node);
		struct ssa_follow_config config = agent_config(node, part);

		config.agent.wanted.guids[0] =
			node->guids->len
				? g_array_index(node->guids, uint64_t, i % node->guids->len)
				: FAKE_GUID + i;
		part->follow = ssa_follow_start(&config);
		join(node, part, (node->guid ^ FAKE_GUID) + i, SSA_ROLE_AGENT, NULL);
	}
}

static void start_server(struct ssa_node *node)
{
	const struct ssa_settings *settings = node->settings;
	struct part *part = add_part(node);
	const struct ssa_replica_config config = {
		.prefix = settings->prefix,
		.server = settings->server,
		.own = ssa_settings_server(settings, true),
		.parent = ssa_settings_store(settings, false),
		.reporter = part->reporter,
	};

	part->replica = ssa_replica_start(&config);
	join(node, part, node->guid, settings->roles, node->address);
}

static void start_core(struct ssa_node *node)
{
	const struct ssa_settings *settings = node->settings;
	struct part *part = add_part(node);
	const struct ssa_push_config push = {
		.prefix = settings->prefix,
		.key = node->key,
		.local = settings->store,
		.shared = settings->server,
		.others = settings->cores,
		.options = ssa_settings_server(settings, true),
		.reporter = part->reporter,
	};
	struct ssa_tree_config tree = {
		.prefix = settings->prefix,
		.server = settings->server,
		.options = ssa_settings_server(settings, true),
	};

	memcpy(tree.fanout, settings->fanout, sizeof(tree.fanout));
	if (settings->announce && node->address && ssa_core_is_address(node->address))
		node->announcer = ssa_announcer_start(node->address);
	node->push = ssa_push_start(&push);
	node->tree = ssa_tree_start(&tree);
	join(node, part, node->guid, settings->roles, node->address);
}

/* ---- what the configuration leaves open ---- */

static bool find_ports(struct ssa_node *node, GError **error)
{
	const struct ssa_settings *settings = node->settings;

	node->guids = settings->guids->len ? g_array_ref(settings->guids) : ssa_host_guids(SYSFS);
	if (node->guids->len || !(settings->roles & SSA_ROLE_AGENT) || settings->fake)
		return true;
	g_set_error(error, CONFIG_ERROR, 0,
		    "%s has no InfiniBand port: expected port_guid in the configuration", SYSFS);
	return false;
}

/* A node without ports, as a management node may be, is known by its address. */
static void find_guid(struct ssa_node *node)
{
	g_autofree char *name =
		g_strdup_printf("%s %s", g_get_host_name(), node->address ? node->address : "");
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, name, -1);

	node->guid = node->settings->node_guid;
	if (!node->guid && node->guids->len)
		node->guid = g_array_index(node->guids, uint64_t, 0);
	if (!node->guid) {
		sum[16] = '\0';
		node->guid = g_ascii_strtoull(sum, NULL, 16);
	}
}

/* A core tells all cores of itself, its own server among them. */
static void find_cores(struct ssa_node *node)
{
	const struct ssa_settings *settings = node->settings;
	bool has_own = !(settings->roles & SSA_ROLE_CORE);

	node->cores = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < settings->cores->len; i++) {
		has_own |= !strcmp(settings->cores->pdata[i],
				   settings->server ? settings->server : "");
		g_ptr_array_add(node->cores, g_strdup(settings->cores->pdata[i]));
	}
	if (!has_own)
		g_ptr_array_insert(node->cores, 0, g_strdup(settings->server));
}

/* Of what was found only the address counts: the rest is as the configuration says. */
static GPtrArray *find_at_sa(void *arg, GError **error)
{
	const struct ssa_node *node = arg;
	const struct ssa_settings *settings = node->settings;
	const char *user = settings->core_user;
	GPtrArray *cores = ssa_cores_find(error);

	for (guint i = 0; cores && i < cores->len; i++) {
		g_autofree char *address = cores->pdata[i];

		cores->pdata[i] =
			g_strdup_printf("%s://%s%s%s", settings->ca_file ? "rediss" : "redis",
					user ? user : "", user ? "@" : "", address);
	}
	return cores;
}

static void prepare(struct ssa_node *node)
{
	const struct ssa_settings *settings = node->settings;
	struct ssa_members_config config = {
		.prefix = settings->prefix,
		.options = ssa_settings_store(settings, true),
		.all = settings->roles & SSA_ROLE_CORE,
	};

	if (settings->server)
		node->address = settings->address ? g_strdup(settings->address)
						  : ssa_remote_address(settings->server);
	find_guid(node);
	find_cores(node);
	config.cores = node->cores;
	if (ssa_settings_finds_cores(settings)) {
		config.find = find_at_sa;
		config.arg = node;
	}
	if (node->cores->len || config.find)
		node->members = ssa_members_new(&config);
}

/* ---- life ---- */

struct ssa_node *ssa_node_start(const struct ssa_settings *settings, GError **error)
{
	struct ssa_node *node = g_new0(struct ssa_node, 1);

	node->settings = settings;
	node->parts = g_ptr_array_new_with_free_func(g_free);
	if (settings->key_file)
		node->key = ssa_key_read(settings->key_file, error);
	if ((settings->key_file && !node->key) || !find_ports(node, error)) {
		ssa_node_stop(node);
		return NULL;
	}
	if (!settings->key_file)
		say(LOG_WARNING, "no key_file: epochs are taken from any program that can write "
				 "into a store");
	prepare(node);
	if (settings->roles & SSA_ROLE_CORE)
		start_core(node);
	if (settings->roles & (SSA_ROLE_DISTRIBUTION | SSA_ROLE_ACCESS))
		start_server(node);
	if (settings->fake)
		start_fakes(node);
	else if (settings->roles & SSA_ROLE_AGENT)
		start_agent(node);
	if (node->members)
		ssa_members_start(node->members);
	return node;
}

/* The members are called by parts, and call them: the parts end while their members still are. */
void ssa_node_stop(struct ssa_node *node)
{
	if (!node)
		return;
	ssa_members_stop(node->members);
	for (guint i = 0; i < node->parts->len; i++) {
		struct part *part = node->parts->pdata[i];

		ssa_follow_stop(part->follow);
		ssa_replica_stop(part->replica);
	}
	ssa_announcer_stop(node->announcer);
	ssa_push_stop(node->push);
	ssa_tree_stop(node->tree);
	ssa_members_free(node->members);
	for (guint i = 0; i < node->parts->len; i++)
		ssa_reporter_free(((struct part *)node->parts->pdata[i])->reporter);
	g_ptr_array_unref(node->parts);
	if (node->cores)
		g_ptr_array_unref(node->cores);
	if (node->guids)
		g_array_unref(node->guids);
	if (node->key)
		g_bytes_unref(node->key);
	g_free(node->address);
	g_free(node);
}
