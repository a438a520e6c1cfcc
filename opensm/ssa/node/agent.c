// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "client/say.h"
#include "complib/file.h"

#define TRIES 3 /* an epoch may be replaced, and its chunks removed, while it is read */

struct ssa_agent {
	struct ssa_agent_config config;
	char *file;
	struct ssa_snapshot *snapshot;
	struct stat written; /* the file, when it had the snapshot */
	bool joined;	    /* for the ports of the configuration, in this process */
	GHashTable *frames; /* GBytes by name: those that the last epoch uses, and newer ones */
	uint64_t fetched;
};

/* ---- chunks ---- */

struct fetch {
	struct ssa_agent *agent;
	struct ssa_store *store;
};

static GBytes *get_chunk(void *arg, const char *name, GError **error)
{
	struct fetch *fetch = arg;
	struct ssa_agent *agent = fetch->agent;
	GBytes *frame = g_hash_table_lookup(agent->frames, name);

	if (frame)
		return g_bytes_ref(frame);
	frame = ssa_store_get(fetch->store, name, error);
	if (!frame)
		return NULL;
	agent->fetched += g_bytes_get_size(frame);
	/* The store may have a good one the next time. */
	if (ssa_chunk_has_name(frame, name))
		g_hash_table_insert(agent->frames, g_strdup(name), g_bytes_ref(frame));
	return frame;
}

static gboolean is_unused(gpointer name, gpointer frame, gpointer names)
{
	(void)frame;
	return !g_hash_table_contains(names, name);
}

/*
 * Keeps the frames that the epoch uses, also of tables that have not changed: one of their rows may
 * in the next epoch. If that cannot be known, all are kept until the next time.
 */
static void forget_unused(struct fetch *fetch, const struct ssa_manifest *manifest)
{
	g_autoptr(GPtrArray) all = ssa_wire_names(manifest, get_chunk, fetch, NULL);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; all && i < all->len; i++)
		g_hash_table_add(names, all->pdata[i]);
	if (all)
		g_hash_table_foreach_remove(fetch->agent->frames, is_unused, names);
}

/* ---- the file ---- */

static bool same_octets(const struct ssa_snapshot *a, const struct ssa_snapshot *b)
{
	return a && b && g_bytes_equal(a->bytes, b->bytes);
}

static bool look_at_file(const struct ssa_agent *agent, struct stat *status)
{
	return stat(agent->file, status) == 0 && S_ISREG(status->st_mode);
}

/* Its directory is on no disk, so there is nothing to wait for. */
static bool write_file(struct ssa_agent *agent, const struct ssa_snapshot *snapshot, GError **error)
{
	if (!agent->file)
		return true;
	memset(&agent->written, 0, sizeof(agent->written));
	if (!file_replace_octets(agent->file, g_bytes_get_data(snapshot->bytes, NULL),
				 g_bytes_get_size(snapshot->bytes), 0644, false, error))
		return false;
	look_at_file(agent, &agent->written);
	return true;
}

/* Whether the file is the one that was written: it may have been removed, or cut off. */
static bool is_as_written(const struct ssa_agent *agent)
{
	const struct stat *old = &agent->written;
	struct stat now;

	return look_at_file(agent, &now) && now.st_dev == old->st_dev &&
	       now.st_ino == old->st_ino && now.st_size == old->st_size;
}

void ssa_agent_confirm(struct ssa_agent *agent)
{
	g_autoptr(GError) error = NULL;

	if (!agent->snapshot || !agent->file)
		return;
	if (!is_as_written(agent))
		write_file(agent, agent->snapshot, &error);
	else if (utimensat(AT_FDCWD, agent->file, NULL, 0) < 0)
		say(LOG_ERR, "%s: %s", agent->file, g_strerror(errno));
	if (error)
		say(LOG_ERR, "%s", error->message);
}

/* Not mapped: a file that is cut off would end this process. */
static struct ssa_snapshot *read_file(const char *file, GError **error)
{
	g_autoptr(GBytes) bytes = NULL;
	char *octets;
	gsize length;

	if (!g_file_get_contents(file, &octets, &length, error))
		return NULL;
	bytes = g_bytes_new_take(octets, length);
	return ssa_snapshot_open(bytes, error);
}

static void take_file(struct ssa_agent *agent)
{
	g_autoptr(GError) error = NULL;
	struct ssa_snapshot *snapshot;

	if (!agent->file || !look_at_file(agent, &agent->written))
		return;
	snapshot = read_file(agent->file, &error);
	if (snapshot && snapshot->prefix == agent->config.prefix)
		agent->snapshot = g_steal_pointer(&snapshot);
	else
		say(LOG_WARNING, "%s is not used: %s", agent->file,
		    error ? error->message : "it is of another subnet");
	ssa_snapshot_unref(snapshot);
}

/* ---- life ---- */

struct ssa_agent *ssa_agent_new(const struct ssa_agent_config *config)
{
	struct ssa_agent *agent = g_new0(struct ssa_agent, 1);

	agent->config = *config;
	agent->file = g_strdup(config->file);
	agent->config.file = agent->file;
	if (config->key)
		g_bytes_ref(config->key);
	agent->frames = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					      (GDestroyNotify)g_bytes_unref);
	take_file(agent);
	return agent;
}

void ssa_agent_free(struct ssa_agent *agent)
{
	if (!agent)
		return;
	g_hash_table_unref(agent->frames);
	ssa_snapshot_unref(agent->snapshot);
	if (agent->config.key)
		g_bytes_unref(agent->config.key);
	g_free(agent->file);
	g_free(agent);
}

const struct ssa_snapshot *ssa_agent_snapshot(const struct ssa_agent *agent)
{
	return agent->snapshot;
}

uint64_t ssa_agent_fetched(const struct ssa_agent *agent)
{
	return agent->fetched;
}

/* ---- epochs ---- */

/* Negative, 0, positive: the manifest is older than the snapshot, as old, newer. */
static int compare(const struct ssa_manifest *manifest, const struct ssa_snapshot *snapshot)
{
	const struct ssa_manifest own = {.term = snapshot->term, .epoch = snapshot->epoch};

	return ssa_manifest_compare(manifest, &own);
}

/* Takes over the snapshot. */
static enum ssa_update take(struct ssa_agent *agent, struct ssa_snapshot *snapshot, GError **error)
{
	bool same = same_octets(agent->snapshot, snapshot);

	if (!same && !write_file(agent, snapshot, error)) {
		ssa_snapshot_unref(snapshot);
		return SSA_UPDATE_FAILED;
	}
	ssa_snapshot_unref(agent->snapshot);
	agent->snapshot = snapshot;
	agent->joined = true;
	return same ? SSA_UPDATE_SAME : SSA_UPDATE_NEWER;
}

static enum ssa_update join(struct ssa_agent *agent, struct ssa_store *store,
			    const struct ssa_manifest *manifest, GError **error)
{
	struct fetch fetch = {agent, store};
	struct ssa_snapshot *snapshot = ssa_wire_join(
		manifest, agent->snapshot, &agent->config.wanted, get_chunk, &fetch, error);
	enum ssa_update update = snapshot ? take(agent, snapshot, error) : SSA_UPDATE_FAILED;

	if (update != SSA_UPDATE_FAILED)
		forget_unused(&fetch, manifest);
	return update;
}

/* found: whether there is a manifest. */
static enum ssa_update try_update(struct ssa_agent *agent, struct ssa_store *store, bool *found,
				  GError **error)
{
	g_autoptr(GBytes) bytes = ssa_store_manifest(store, error);
	struct ssa_manifest manifest;
	int order = 1;

	*found = bytes != NULL;
	if (!bytes || !ssa_manifest_parse(bytes, agent->config.key, &manifest, error))
		return SSA_UPDATE_FAILED;
	if (manifest.prefix != agent->config.prefix) {
		g_set_error(error, SSA_WIRE_ERROR, SSA_WIRE_ERROR_BROKEN,
			    "%s: the manifest is of subnet 0x%016" G_GINT64_MODIFIER
			    "x, expected 0x%016" G_GINT64_MODIFIER "x",
			    ssa_store_uri(store), manifest.prefix, agent->config.prefix);
		return SSA_UPDATE_FAILED;
	}
	if (agent->snapshot)
		order = compare(&manifest, agent->snapshot);
	if (order < 0) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_OLDER,
			    "%s: has term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT
			    ", older than term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT
			    ", which is in use",
			    ssa_store_uri(store), manifest.term, manifest.epoch,
			    agent->snapshot->term, agent->snapshot->epoch);
		return SSA_UPDATE_FAILED;
	}
	return order == 0 && agent->joined ? SSA_UPDATE_SAME : join(agent, store, &manifest, error);
}

/*
 * What is wrong with an epoch is told with its store. An epoch without its chunks is broken, unlike
 * a store that has none yet.
 */
static void tell_store(struct ssa_store *store, bool found, GError *problem)
{
	if (problem->domain == SSA_WIRE_ERROR && !strstr(problem->message, ssa_store_uri(store)))
		g_prefix_error(&problem, "%s: ", ssa_store_uri(store));
	if (found && g_error_matches(problem, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT))
		problem->code = SSA_STORE_ERROR_GONE;
}

enum ssa_update ssa_agent_update(struct ssa_agent *agent, struct ssa_store *store, GError **error)
{
	GError *problem = NULL;
	enum ssa_update update = SSA_UPDATE_FAILED;
	bool found;

	for (unsigned int i = 0; i < TRIES && update == SSA_UPDATE_FAILED; i++) {
		g_clear_error(&problem);
		update = try_update(agent, store, &found, &problem);
		if (problem && !g_error_matches(problem, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT))
			break;
	}
	if (problem) {
		tell_store(store, found, problem);
		g_propagate_error(error, problem);
	}
	return update;
}
