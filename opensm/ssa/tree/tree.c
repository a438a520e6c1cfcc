// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/tree.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/say.h"
#include "ssa/tree/assign.h"
#include "ssa/tree/join.h"
#include "ssa/tree/remote.h"
#include "ssa/tree/thread.h"

#define NODES_MAX 100000u
#define GATHER_MS 5u /* joins that come together are answered together */
#define GATHER_MAX_MS 50u
#define LISTEN_MS 1000u
#define TRY_AGAIN_MS 500
#define BALANCE_S 60
#define BALANCE_PERCENT 5u /* of the nodes, each time */
#define EPOCH_S 30	   /* as long an epoch may be on its way */
#define WRITE_MS 500u	   /* the list of all nodes, at most that often */

struct known {
	struct ssa_join join;
	uint64_t parents[2]; /* assigned */
	int64_t seen_us;     /* monotonic */
	int64_t seen_s;	     /* UNIX time */
	bool waits;	     /* for an answer */
};

struct ssa_tree {
	struct ssa_tree_config config;
	pthread_t thread;
	int stop_fd;			      /* an eventfd */
	GHashTable *nodes;		      /* struct known by &join.guid */
	struct ssa_remote *listener, *writer; /* NULL: not connected */
	char *channel;
	uint64_t term, epoch; /* the newest that was heard of */
	int64_t epoch_us, balanced_us, written_us;
	bool changed; /* since the list was written */
};

/* ---- nodes ---- */

static void note_epoch(struct ssa_tree *tree, const struct ssa_join *join)
{
	if (join->term < tree->term || (join->term == tree->term && join->epoch <= tree->epoch))
		return;
	tree->term = join->term;
	tree->epoch = join->epoch;
	tree->epoch_us = g_get_monotonic_time();
}

static void take_join(struct ssa_tree *tree, const char *text)
{
	struct ssa_join join;
	struct known *known;

	if (!ssa_join_parse(text, &join))
		return;
	known = g_hash_table_lookup(tree->nodes, &join.guid);
	if (!known) {
		if (g_hash_table_size(tree->nodes) >= NODES_MAX)
			return;
		known = g_new0(struct known, 1);
		/* A node that comes from another core keeps its parents. */
		memcpy(known->parents, join.parents, sizeof(known->parents));
		known->join.guid = join.guid;
		g_hash_table_insert(tree->nodes, &known->join.guid, known);
	}
	known->join = join;
	known->seen_us = g_get_monotonic_time();
	known->seen_s = g_get_real_time() / G_USEC_PER_SEC;
	known->waits = true;
	note_epoch(tree, &join);
}

static void take_list(struct ssa_tree *tree, const char *text)
{
	g_autoptr(GArray) nodes = ssa_tree_parse(text);
	int64_t now_s = g_get_real_time() / G_USEC_PER_SEC;

	for (guint i = 0; i < MIN(nodes->len, NODES_MAX); i++) {
		const struct ssa_listed_node *node =
			&g_array_index(nodes, struct ssa_listed_node, i);
		struct known *known;

		if (g_hash_table_contains(tree->nodes, &node->guid) ||
		    ABS(now_s - node->seen_s) > SSA_JOIN_KEPT_S)
			continue;
		known = g_new0(struct known, 1);
		known->join = (struct ssa_join){.guid = node->guid,
						.roles = node->roles,
						.term = node->term,
						.epoch = node->epoch};
		g_strlcpy(known->join.address, node->address, SSA_JOIN_ADDRESS);
		memcpy(known->parents, node->parents, sizeof(known->parents));
		known->seen_us = g_get_monotonic_time() - (now_s - node->seen_s) * G_USEC_PER_SEC;
		known->seen_s = node->seen_s;
		g_hash_table_insert(tree->nodes, &known->join.guid, known);
	}
}

static gboolean is_silent(gpointer guid, gpointer data, gpointer now_us)
{
	const struct known *known = data;

	(void)guid;
	return *(int64_t *)now_us - known->seen_us > SSA_JOIN_KEPT_S * G_USEC_PER_SEC;
}

/* ---- parents ---- */

static uint32_t moves_allowed(struct ssa_tree *tree, uint32_t n)
{
	int64_t now_us = g_get_monotonic_time();

	if (now_us - tree->balanced_us < BALANCE_S * G_USEC_PER_SEC ||
	    now_us - tree->epoch_us < EPOCH_S * G_USEC_PER_SEC)
		return 0;
	tree->balanced_us = now_us;
	return MAX(n * BALANCE_PERCENT / 100, 1);
}

static struct ssa_tree_node *assign(struct ssa_tree *tree, uint32_t *n)
{
	struct ssa_assign_rules rules = {0};
	struct ssa_tree_node *nodes =
		g_new0(struct ssa_tree_node, g_hash_table_size(tree->nodes) + 1);
	GHashTableIter iter;
	gpointer value;

	*n = 0;
	g_hash_table_iter_init(&iter, tree->nodes);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct known *known = value;

		/* A node without a server cannot be a parent. */
		nodes[*n].roles = *known->join.address ? known->join.roles : SSA_ROLE_AGENT;
		nodes[*n].guid = known->join.guid;
		nodes[*n].bad = known->join.bad;
		memcpy(nodes[(*n)++].parents, known->parents, sizeof(known->parents));
	}
	memcpy(rules.fanout, tree->config.fanout, sizeof(rules.fanout));
	rules.moves = moves_allowed(tree, *n);
	ssa_assign(nodes, *n, &rules);
	return nodes;
}

static bool send_answer(struct ssa_tree *tree, const struct known *known, GError **error)
{
	g_autofree char *key = ssa_remote_key(tree->config.prefix, "parents", known->join.guid);
	g_autofree char *text = NULL;
	struct ssa_answer answer = {.number = known->join.number};

	for (unsigned int i = 0; i < 2; i++) {
		const struct known *parent =
			known->parents[i] ? g_hash_table_lookup(tree->nodes, &known->parents[i])
					  : NULL;

		answer.guids[i] = parent ? parent->join.guid : 0;
		g_strlcpy(answer.addresses[i], parent ? parent->join.address : "",
			  SSA_JOIN_ADDRESS);
	}
	text = ssa_answer_text(&answer);
	return ssa_remote_set(tree->writer, key, text, SSA_JOIN_KEPT_S, error);
}

/* A node that has not joined hears of new parents when it does. */
static bool answer_all(struct ssa_tree *tree, const struct ssa_tree_node *nodes, uint32_t n,
		       GError **error)
{
	for (uint32_t i = 0; i < n; i++) {
		struct known *known = g_hash_table_lookup(tree->nodes, &nodes[i].guid);

		tree->changed |=
			memcmp(known->parents, nodes[i].parents, sizeof(known->parents)) != 0;
		memcpy(known->parents, nodes[i].parents, sizeof(known->parents));
	}
	for (uint32_t i = 0; i < n; i++) {
		struct known *known = g_hash_table_lookup(tree->nodes, &nodes[i].guid);

		if (!known->waits)
			continue;
		if (!send_answer(tree, known, error))
			return false;
		known->waits = false;
		tree->changed = true;
	}
	return true;
}

static bool write_list(struct ssa_tree *tree, const struct ssa_tree_node *nodes, uint32_t n,
		       GError **error)
{
	g_autofree char *key = ssa_remote_key(tree->config.prefix, "tree", 0);
	g_autoptr(GString) text = g_string_new(NULL);

	tree->changed = false;
	tree->written_us = g_get_monotonic_time();
	for (uint32_t i = 0; i < n; i++) {
		const struct known *known = g_hash_table_lookup(tree->nodes, &nodes[i].guid);
		struct ssa_listed_node node = {.guid = known->join.guid,
					       .roles = known->join.roles,
					       .term = known->join.term,
					       .epoch = known->join.epoch,
					       .seen_s = known->seen_s};

		memcpy(node.parents, known->parents, sizeof(node.parents));
		g_strlcpy(node.address, known->join.address, sizeof(node.address));
		ssa_tree_append(text, &node);
	}
	return ssa_remote_set(tree->writer, key, text->str, SSA_JOIN_KEPT_S, error);
}

static bool settle(struct ssa_tree *tree, GError **error)
{
	int64_t now_us = g_get_monotonic_time();
	uint32_t n;
	g_autofree struct ssa_tree_node *nodes = NULL;

	if (g_hash_table_foreach_remove(tree->nodes, is_silent, &now_us))
		tree->changed = true;
	nodes = assign(tree, &n);
	return answer_all(tree, nodes, n, error) &&
	       (!tree->changed || now_us - tree->written_us < WRITE_MS * INT64_C(1000) ||
		write_list(tree, nodes, n, error));
}

/* ---- the thread ---- */

static void disconnect(struct ssa_tree *tree)
{
	g_clear_pointer(&tree->listener, ssa_remote_close);
	g_clear_pointer(&tree->writer, ssa_remote_close);
}

/* Whether it is to stop, at the latest after that time. */
static bool must_stop(const struct ssa_tree *tree, int ms)
{
	struct pollfd stop = {tree->stop_fd, POLLIN, 0};

	return poll(&stop, 1, ms) > 0;
}

static bool connect_both(struct ssa_tree *tree, GError **error)
{
	const struct ssa_tree_config *config = &tree->config;
	g_autofree char *key = ssa_remote_key(config->prefix, "tree", 0), *text = NULL;
	GError *problem = NULL;

	tree->listener =
		ssa_remote_open_until(config->server, &config->options, tree->stop_fd, error);
	if (!tree->listener ||
	    !ssa_remote_order(tree->listener, RESP_ARRAY, error, "SUBSCRIBE", tree->channel, NULL))
		return false;
	tree->writer = ssa_remote_open(config->server, &config->options, error);
	text = tree->writer ? ssa_remote_get(tree->writer, key, &problem) : NULL;
	if (text)
		take_list(tree, text);
	if (problem)
		g_propagate_error(error, problem);
	return tree->writer && !problem;
}

/* What has come; the first is waited for. */
static bool listen_once(struct ssa_tree *tree, GError **error)
{
	int64_t until_us = 0;
	unsigned int ms = tree->changed ? WRITE_MS : LISTEN_MS;
	struct resp_reply *reply;

	do {
		if (!ssa_remote_wait(tree->listener, ms, &reply, error))
			return false;
		if (reply && reply->kind == RESP_ARRAY && reply->n == 3 &&
		    reply->elements[2]->kind == RESP_TEXT)
			take_join(tree, reply->elements[2]->text);
		resp_reply_free(reply);
		ms = GATHER_MS;
		if (!until_us)
			until_us = g_get_monotonic_time() + GATHER_MAX_MS * INT64_C(1000);
	} while (reply && g_get_monotonic_time() < until_us);
	return true;
}

static void *run(void *arg)
{
	struct ssa_tree *tree = arg;
	bool told = false;

	while (!must_stop(tree, 0)) {
		g_autoptr(GError) error = NULL;

		if ((tree->writer || connect_both(tree, &error)) && listen_once(tree, &error) &&
		    settle(tree, &error)) {
			told = false;
			continue;
		}
		disconnect(tree);
		if (must_stop(tree, 0))
			break;
		if (!told)
			say(LOG_WARNING, "the tree cannot be kept: %s", error->message);
		told = true;
		must_stop(tree, TRY_AGAIN_MS);
	}
	disconnect(tree);
	return NULL;
}

struct ssa_tree *ssa_tree_start(const struct ssa_tree_config *config)
{
	struct ssa_tree *tree = g_new0(struct ssa_tree, 1);

	tree->config = *config;
	tree->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (tree->stop_fd < 0)
		g_error("eventfd: %s", g_strerror(errno));
	tree->nodes = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	tree->channel = ssa_remote_key(config->prefix, "join", 0);
	tree->epoch_us = tree->balanced_us = g_get_monotonic_time();
	ssa_thread_start(&tree->thread, run, tree);
	return tree;
}

void ssa_tree_stop(struct ssa_tree *tree)
{
	if (!tree)
		return;
	eventfd_write(tree->stop_fd, 1);
	pthread_join(tree->thread, NULL);
	close(tree->stop_fd);
	g_hash_table_unref(tree->nodes);
	g_free(tree->channel);
	g_free(tree);
}
