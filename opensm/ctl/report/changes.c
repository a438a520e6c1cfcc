// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See changes.h. The words about GIDs that come and go are those of the classic daemon, whose log
 * scripts watch.
 */
#include "ctl/report/changes.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "complib/hash.h"
#include "complib/log.h"
#include "core/printable.h"
#include "ctl/base/answer.h"
#include "iba/constants.h"

#define FLAPS_KEPT 1000 /* from this number on, objects stable for a while are forgotten */

/* How often a node, cable or port has changed recently. */
struct flap {
	uint64_t key;
	struct log_limit limit;
	uint64_t last_ns;	   /* time of the last change */
	unsigned int held_back;	   /* changes not reported, the last of them in line */
	struct changes_line *line; /* NULL: none */
};

struct changes {
	struct actor *actor;
	changes_fn *tell;
	void *arg;
	GHashTable *flaps; /* struct flap, by key */
	struct timer calm;
};

static const char *const kind_names[] = {
	[FABRIC_NODES_GONE] = "nodes_gone",   [FABRIC_LINK_DOWN] = "link_down",
	[FABRIC_PORT_GONE] = "gid_out",	      [FABRIC_NODES_NEW] = "nodes_new",
	[FABRIC_LINK_UP] = "link_up",	      [FABRIC_PORT_NEW] = "gid_in",
	[FABRIC_LID_CHANGED] = "lid_changed",
};

const char *changes_kind_name(enum fabric_change_kind kind)
{
	return kind_names[kind];
}

static void line_free(struct changes_line *line)
{
	if (!line)
		return;
	g_free(line->node);
	g_free(line->text);
	g_free(line->notice);
	g_free(line);
}

/* ---- words ---- */

static const char *type_name(const struct fabric *fabric, uint32_t node)
{
	switch (fabric->nodes[node].type) {
	case IBA_NODE_SWITCH:
		return "switch";
	case IBA_NODE_ROUTER:
		return "router";
	default:
		return "host";
	}
}

/* " and its 8 hosts", " and 2 more switches", ", 2 more switches and their 8 hosts". */
static void append_others(GString *text, const struct fabric_change *change)
{
	uint32_t switches = change->more_switches, hosts = change->more_hosts;

	if (switches)
		g_string_append_printf(text, "%s %u more switch%s", hosts ? "," : " and", switches,
				       switches == 1 ? "" : "es");
	if (hosts)
		g_string_append_printf(text, " and %s %u host%s", switches ? "their" : "its", hosts,
				       hosts == 1 ? "" : "s");
}

static void append_cable(GString *text, const struct fabric *fabric,
			 const struct fabric_change *change)
{
	char here[FABRIC_NAME_SIZE], there[FABRIC_NAME_SIZE];

	g_string_append_printf(text, "%s to %s",
			       fabric_port_name(fabric, change->port, here, sizeof(here)),
			       fabric_port_name(fabric, change->peer, there, sizeof(there)));
}

static void append_nodes(GString *text, const struct fabric *fabric,
			 const struct fabric_change *change)
{
	bool many = change->more_switches || change->more_hosts;
	bool gone = change->kind == FABRIC_NODES_GONE;
	char name[FABRIC_NAME_SIZE];

	g_string_append_printf(text, "%s %s", type_name(fabric, change->node),
			       fabric_node_name(fabric, change->node, name, sizeof(name)));
	append_others(text, change);
	g_string_append_printf(text, " %s %s",
			       many ? (gone ? "are" : "have") : (gone ? "is" : "has"),
			       gone ? "gone" : "appeared");
	if (change->port == FABRIC_NONE)
		return;
	g_string_append_printf(text, ": link %s: ", gone ? "down" : "up");
	append_cable(text, fabric, change);
	if (change->links > 1)
		g_string_append_printf(text, ", and %u more", change->links - 1);
}

/* In the classic daemon's words, down to the blanks that only one of them has. */
static void append_port(GString *text, const struct fabric *fabric,
			const struct fabric_change *change)
{
	const struct fabric_port *port = &fabric->ports[change->port];
	g_autofree char *name = printable_text(fabric_called(fabric, port->node));
	unsigned int last = port->lid + (1u << port->lmc) - 1;

	if (change->kind == FABRIC_PORT_GONE)
		g_string_append_printf(text,
				       "Removed port with GUID:0x%016" PRIx64
				       " LID range [%u, %u] of node:%s",
				       port->guid, port->lid, last, name);
	else
		g_string_append_printf(text,
				       "Discovered new port with GUID:0x%016" PRIx64
				       " LID range [%u,%u] of node: %s",
				       port->guid, port->lid, last, name);
}

char *changes_text_of(const struct fabric *fabric, const struct fabric_change *change)
{
	GString *text = g_string_new(NULL);
	char name[FABRIC_NAME_SIZE];

	switch (change->kind) {
	case FABRIC_NODES_GONE:
	case FABRIC_NODES_NEW:
		append_nodes(text, fabric, change);
		break;
	case FABRIC_LINK_DOWN:
	case FABRIC_LINK_UP:
		g_string_append_printf(text,
				       "link %s: ", change->kind == FABRIC_LINK_UP ? "up" : "down");
		append_cable(text, fabric, change);
		break;
	case FABRIC_PORT_GONE:
	case FABRIC_PORT_NEW:
		append_port(text, fabric, change);
		break;
	case FABRIC_LID_CHANGED:
		g_string_append_printf(text, "LID of %s: %u, was %u",
				       fabric_port_name(fabric, change->port, name, sizeof(name)),
				       fabric->ports[change->port].lid, change->old_lid);
		break;
	}
	return g_string_free(text, FALSE);
}

static char *make_notice(const struct fabric *fabric, const struct fabric_change *change,
			 uint64_t subnet_prefix)
{
	bool gone = change->kind == FABRIC_PORT_GONE;
	uint64_t gid[2] = {GUINT64_TO_BE(subnet_prefix)};
	char text[INET6_ADDRSTRLEN];

	if (!gone && change->kind != FABRIC_PORT_NEW)
		return NULL;
	gid[1] = GUINT64_TO_BE(fabric->ports[change->port].guid);
	inet_ntop(AF_INET6, gid, text, sizeof(text));
	return g_strdup_printf("Reporting Informational Notice \"GID %s service\", GID:%s",
			       gone ? "out of" : "in", text);
}

/* Of that port of the node, or of the one seen first. */
static uint16_t lid_of(const struct fabric *fabric, uint32_t node, uint32_t port)
{
	const struct fabric_node *of = &fabric->nodes[node];

	if (port == FABRIC_NONE || fabric->ports[port].node != node)
		port = fabric_port_of(fabric, node, MIN(of->info.local_port_num, of->num_ports));
	return fabric->ports[fabric_endport_of(fabric, port)].lid;
}

struct changes_line changes_line_of(const struct fabric *fabric, const struct fabric_change *change)
{
	bool is_nodes = change->kind == FABRIC_NODES_GONE || change->kind == FABRIC_NODES_NEW;
	uint32_t port = is_nodes ? change->peer : change->port;
	uint32_t peer = is_nodes ? change->port : change->peer;
	struct changes_line line = {
		.kind = change->kind,
		.with_node = change->with_node,
		.guid = fabric->nodes[change->node].guid,
		.more_switches = change->more_switches,
		.more_hosts = change->more_hosts,
		.lid = lid_of(fabric, change->node, port),
		.generation = fabric->generation,
	};

	if (port != FABRIC_NONE && fabric->ports[port].node == change->node)
		line.port = fabric->ports[port].num;
	if (peer != FABRIC_NONE) {
		line.peer_guid = fabric->nodes[fabric->ports[peer].node].guid;
		line.peer_port = fabric->ports[peer].num;
	}
	return line;
}

static struct changes_line *make_line(const struct fabric *fabric,
				      const struct fabric_change *change, uint64_t subnet_prefix)
{
	struct changes_line *line = g_new(struct changes_line, 1);

	*line = changes_line_of(fabric, change);
	line->node = g_strdup(fabric_called(fabric, change->node));
	line->text = changes_text_of(fabric, change);
	line->notice = make_notice(fabric, change, subnet_prefix);
	return line;
}

/* ---- flaps ---- */

static void flap_free(gpointer data)
{
	struct flap *flap = data;

	line_free(flap->line);
	g_free(flap);
}

static uint64_t end_key(uint64_t guid, uint8_t port)
{
	return hash_spread(guid + port);
}

/* Key of what comes and goes as a whole: a node, a cable, the LIDs of an endport. */
static uint64_t key_of(const struct changes_line *line)
{
	static const unsigned int subjects[] = {
		[FABRIC_NODES_GONE] = 1,  [FABRIC_NODES_NEW] = 1, [FABRIC_LINK_DOWN] = 2,
		[FABRIC_LINK_UP] = 2,	  [FABRIC_PORT_GONE] = 3, [FABRIC_PORT_NEW] = 3,
		[FABRIC_LID_CHANGED] = 4,
	};
	bool is_link = line->kind == FABRIC_LINK_DOWN || line->kind == FABRIC_LINK_UP;
	uint64_t key = end_key(line->guid, subjects[line->kind] == 1 ? 0 : line->port);

	if (is_link) /* the same for both orders of the ends */
		key += end_key(line->peer_guid, line->peer_port);
	return key * 8 + subjects[line->kind];
}

static void say(struct changes *changes, struct flap *flap, struct changes_line *line, bool is_over)
{
	g_autofree char *text = NULL;

	if (flap->held_back) {
		text = g_steal_pointer(&line->text);
		line->text = g_strdup_printf("%s; %u changes %s were not logged", text,
					     flap->held_back - is_over,
					     is_over ? "before" : "since the last line");
	}
	changes->tell(changes->arg, line);
	flap->held_back = 0;
	line_free(flap->line);
	flap->line = NULL;
}

static gboolean is_forgotten(gpointer key, gpointer value, gpointer arg)
{
	const struct flap *flap = value;
	const uint64_t *now = arg;

	(void)key;
	return !flap->line && *now - flap->last_ns > CHANGES_BURST * CHANGES_INTERVAL_NS;
}

static struct flap *flap_of(struct changes *changes, const struct changes_line *line)
{
	uint64_t now = actor_now(changes->actor), key = key_of(line);
	struct flap *flap = g_hash_table_lookup(changes->flaps, &key);

	if (flap)
		return flap;
	if (g_hash_table_size(changes->flaps) % FLAPS_KEPT == FLAPS_KEPT - 1)
		g_hash_table_foreach_remove(changes->flaps, is_forgotten, &now);
	flap = g_new0(struct flap, 1);
	flap->key = key;
	g_hash_table_insert(changes->flaps, &flap->key, flap);
	return flap;
}

/* Takes over the line. */
static void tell_or_hold(struct changes *changes, struct changes_line *line)
{
	struct flap *flap = flap_of(changes, line);
	unsigned int held_back;

	flap->last_ns = actor_now(changes->actor);
	if (log_limit_pass(&flap->limit, flap->last_ns, CHANGES_BURST, CHANGES_INTERVAL_NS,
			   &held_back)) {
		say(changes, flap, line, false);
		line_free(line);
		return;
	}
	flap->held_back++;
	line_free(flap->line);
	flap->line = line;
	if (!timer_running(&changes->calm))
		timer_start(&changes->calm, CHANGES_CALM_NS);
}

/*
 * Reports the last change of what is stable again, so that the last line shows the present state.
 */
static void on_calm(struct timer *timer)
{
	struct changes *changes = container_of(timer, struct changes, calm);
	uint64_t now = actor_now(changes->actor);
	GHashTableIter iter;
	struct flap *flap;
	bool waits = false;

	g_hash_table_iter_init(&iter, changes->flaps);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&flap)) {
		struct changes_line *line = flap->line;

		if (line && now - flap->last_ns < CHANGES_CALM_NS) {
			waits = true;
		} else if (line) {
			flap->line = NULL;
			say(changes, flap, line, true);
			line_free(line);
		}
	}
	if (waits)
		timer_start(timer, CHANGES_CALM_NS / 2);
}

/* ---- the interface ---- */

/* Each endport has a line, for scripts; of nodes and cables, one that tells of all is enough. */
static bool is_told(const struct fabric_change *change)
{
	return !change->with_node || change->kind == FABRIC_PORT_GONE ||
	       change->kind == FABRIC_PORT_NEW;
}

unsigned int changes_tell(struct changes *changes, const GArray *all, const struct fabric *old,
			  const struct fabric *now, uint64_t subnet_prefix)
{
	unsigned int n = 0;

	for (guint i = 0; i < all->len; i++) {
		const struct fabric_change *change = &g_array_index(all, struct fabric_change, i);
		const struct fabric *in = fabric_change_is_loss(change) ? old : now;

		if (is_told(change) && ++n <= CHANGES_TOLD)
			tell_or_hold(changes, make_line(in, change, subnet_prefix));
	}
	return n - MIN(n, CHANGES_TOLD);
}

struct changes *changes_new(struct actor *actor, changes_fn *tell, void *arg)
{
	struct changes *changes = g_new0(struct changes, 1);

	changes->actor = actor;
	changes->tell = tell;
	changes->arg = arg;
	changes->flaps = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, flap_free);
	timer_init(&changes->calm, actor, on_calm);
	return changes;
}

void changes_free(struct changes *changes)
{
	if (!changes)
		return;
	timer_stop(&changes->calm);
	g_hash_table_unref(changes->flaps);
	g_free(changes);
}
