// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "replay.h"

#include <string.h>

#include "client.h"

#define VLS 16
#define SLS 16
#define ROW_BYTES 8 /* of a row of an SL2VL table */
#define BLOCK 64    /* LIDs */
#define DISCARD 0xFF
#define NONE UINT32_MAX
#define HOPS_MAX 64

/* A Set that is not answered yet. */
struct write {
	uint32_t tid;
	unsigned int sw;
	uint16_t attribute;
	uint32_t modifier;
	uint8_t data[BLOCK];
};

struct channel {
	unsigned int sw, port;	  /* it leaves */
	unsigned int to, to_port; /* it leads to */
};

struct host {
	unsigned int node, sw, port; /* at this port of that switch */
	uint16_t lid;
	struct client *client;
};

struct replay {
	struct scenario *s;
	unsigned int n_sw, width; /* switches; ports of the largest, and port 0 */
	unsigned int *node;	  /* [switch] */
	unsigned int *sw;	  /* [node], or NONE */
	unsigned int n_lids;
	uint8_t *lft;	     /* [sw * n_lids + LID] */
	uint8_t *rows;	     /* [((sw * width + out) * width + in) * ROW_BYTES] */
	GArray *writes;	     /* struct write */
	GArray *channels;    /* struct channel: between switches */
	uint32_t *channel;   /* [sw * width + port], or NONE */
	GArray *hosts;	     /* struct host */
	unsigned int sm;     /* host */
	uint16_t *told;	     /* [from * n_hosts + to]: bits of SLs */
	uint16_t *wait;	     /* [(channel * VLS + vl) * width + out]: bits of VLs */
	uint16_t *vls;	     /* [channel]: of the current packets */
	uint16_t *sls;	     /* [host]: from which the current packets come */
	bool *talked, *lost; /* [from * n_hosts + to] */
	uint64_t *lost_since;
	struct replay_count count;
};

static struct host *host_at(const struct replay *r, unsigned int i)
{
	return &g_array_index(r->hosts, struct host, i);
}

static struct channel *channel_at(const struct replay *r, uint32_t i)
{
	return &g_array_index(r->channels, struct channel, i);
}

static uint8_t *row_at(const struct replay *r, unsigned int sw, unsigned int out, unsigned int in)
{
	return r->rows + (((size_t)sw * r->width + out) * r->width + in) * ROW_BYTES;
}

/* ---- the fabric as it is ---- */

static void number_switches(struct replay *r)
{
	unsigned int n = sim_nodes(r->s->sim);

	r->node = g_new(unsigned int, n);
	r->sw = g_new(unsigned int, n);
	for (unsigned int node = 0; node < n; node++) {
		struct sim_node_view view;

		sim_node_view(r->s->sim, node, &view);
		r->sw[node] = NONE;
		if (view.type != IBA_NODE_SWITCH)
			continue;
		r->node[r->n_sw] = node;
		r->sw[node] = r->n_sw++;
		r->width = MAX(r->width, view.num_ports + 1u);
	}
}

static void list_hosts(struct replay *r)
{
	unsigned int sm_port, sm_node = scenario_sm_node(r->s, &sm_port);

	r->hosts = g_array_new(FALSE, FALSE, sizeof(struct host));
	for (unsigned int node = 0; node < sim_nodes(r->s->sim); node++) {
		struct host host = {.node = node, .lid = scenario_lid(r->s, node)};
		struct sim_node_view view;
		unsigned int peer;

		sim_node_view(r->s->sim, node, &view);
		if (view.type == IBA_NODE_SWITCH ||
		    !sim_peer(r->s->sim, node, 1, &peer, &host.port))
			continue;
		host.sw = r->sw[peer];
		if (node == sm_node)
			r->sm = r->hosts->len;
		else
			host.client = client_new(r->s, node);
		g_array_append_val(r->hosts, host);
		r->n_lids = MAX(r->n_lids, host.lid + 1u);
	}
}

static bool is_active(const struct replay *r, unsigned int sw, unsigned int port)
{
	const struct iba_port_info *info = sim_port_info(r->s->sim, r->node[sw], port);

	return info->port_state == IBA_PORT_ACTIVE;
}

/* The other end of a cable between switches through which packets pass. */
static bool crosses(const struct replay *r, unsigned int sw, unsigned int port, unsigned int *to,
		    unsigned int *to_port)
{
	unsigned int peer;

	if (!port || port >= r->width || !sim_link_up(r->s->sim, r->node[sw], port) ||
	    !sim_peer(r->s->sim, r->node[sw], port, &peer, to_port))
		return false;
	*to = r->sw[peer];
	return *to != NONE;
}

static void list_channels(struct replay *r)
{
	g_array_set_size(r->channels, 0);
	memset(r->channel, 0xFF, (size_t)r->n_sw * r->width * sizeof(*r->channel));
	for (unsigned int sw = 0; sw < r->n_sw; sw++) {
		struct sim_node_view view;

		sim_node_view(r->s->sim, r->node[sw], &view);
		for (unsigned int port = 1; view.up && port <= view.num_ports; port++) {
			struct channel channel = {.sw = sw, .port = port};

			if (!crosses(r, sw, port, &channel.to, &channel.to_port))
				continue;
			r->channel[sw * r->width + port] = r->channels->len;
			g_array_append_val(r->channels, channel);
		}
	}
}

static void copy_tables(struct replay *r)
{
	static const uint8_t power_on[ROW_BYTES] = {0x01, 0x23, 0x45, 0x67, 0x01, 0x23, 0x45, 0x67};

	for (unsigned int sw = 0; sw < r->n_sw; sw++) {
		struct sim_node_view view;

		sim_node_view(r->s->sim, r->node[sw], &view);
		memcpy(r->lft + (size_t)sw * r->n_lids, view.lft, r->n_lids);
		for (unsigned int out = 0; out <= view.num_ports; out++)
			for (unsigned int in = 0; in <= view.num_ports; in++) {
				const uint8_t *row = sim_sl_to_vl(r->s->sim, r->node[sw], out, in);

				memcpy(row_at(r, sw, out, in), row ? row : power_on, ROW_BYTES);
			}
	}
}

/* ---- entries and lanes: what is known, and what may have been written ---- */

struct entries {
	unsigned int n;
	uint8_t port[8];
};

static void add_entry(struct entries *entries, uint8_t port)
{
	for (unsigned int i = 0; i < entries->n; i++)
		if (entries->port[i] == port)
			return;
	g_assert(entries->n < G_N_ELEMENTS(entries->port));
	entries->port[entries->n++] = port;
}

static void list_entries(const struct replay *r, unsigned int sw, uint16_t lid,
			 struct entries *entries)
{
	entries->n = 0;
	add_entry(entries, r->lft[(size_t)sw * r->n_lids + lid]);
	for (guint i = 0; i < r->writes->len; i++) {
		const struct write *write = &g_array_index(r->writes, struct write, i);

		if (write->sw == sw && write->modifier == lid / BLOCK &&
		    write->attribute == IBA_ATTR_LINEAR_FORWARDING_TABLE)
			add_entry(entries, write->data[lid % BLOCK]);
	}
}

static bool concerns_row(const struct write *write, unsigned int out, unsigned int in)
{
	uint32_t modifier = write->modifier;

	return write->attribute == IBA_ATTR_SL_TO_VL_TABLE &&
	       (modifier & IBA_SL_TO_VL_MOD_ALL_OUTPUT ? out > 0 : (modifier & 0xFF) == out) &&
	       (modifier & IBA_SL_TO_VL_MOD_ALL_INPUT ||
		(modifier >> IBA_SL_TO_VL_MOD_INPUT_SHIFT & 0xFF) == in);
}

static uint16_t vl_bit(const uint8_t *row, unsigned int sl)
{
	return 1u << (row[sl / 2] >> (sl % 2 ? 0 : 4) & 0xF);
}

/* The VLs, as bits, on which packets may leave a switch; those that the cable has. */
static uint16_t vls_of(const struct replay *r, unsigned int sw, unsigned int in, unsigned int out,
		       unsigned int sl)
{
	static const unsigned int operational[] = {1, 1, 2, 4, 8, 15, 1, 1};
	const struct iba_port_info *info = sim_port_info(r->s->sim, r->node[sw], out);
	uint16_t bits = vl_bit(row_at(r, sw, out, in), sl);

	for (guint i = 0; i < r->writes->len; i++) {
		const struct write *write = &g_array_index(r->writes, struct write, i);

		if (write->sw == sw && concerns_row(write, out, in))
			bits |= vl_bit(write->data, sl);
	}
	return bits & ((1u << operational[info->operational_vls & 7]) - 1);
}

/* ---- what waits for what ---- */

/* Packets to a host on an SL, from a switch where they arrived through a port. */
static void leave(struct replay *r, const struct host *to, unsigned int sl, unsigned int sw,
		  unsigned int in, uint32_t last, GArray *queue)
{
	struct entries entries;

	list_entries(r, sw, to->lid, &entries);
	for (unsigned int i = 0; i < entries.n; i++) {
		unsigned int out = entries.port[i];
		uint32_t next = out < r->width ? r->channel[sw * r->width + out] : NONE;
		uint16_t vls;

		if (next == NONE || !is_active(r, sw, out))
			continue;
		vls = vls_of(r, sw, in, out, sl);
		for (unsigned int vl = 0; last != NONE && vl < VLS; vl++)
			if (r->vls[last] >> vl & 1)
				r->wait[((size_t)last * VLS + vl) * r->width + out] |= vls;
		if (!(vls & ~r->vls[next]))
			continue;
		r->vls[next] |= vls;
		g_array_append_val(queue, next);
	}
}

static void follow(struct replay *r, const struct host *to, unsigned int sl)
{
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	memset(r->vls, 0, r->channels->len * sizeof(*r->vls));
	for (unsigned int from = 0; from < r->hosts->len; from++)
		if (r->sls[from] >> sl & 1)
			leave(r, to, sl, host_at(r, from)->sw, host_at(r, from)->port, NONE, queue);
	for (guint i = 0; i < queue->len; i++) {
		uint32_t at = g_array_index(queue, uint32_t, i);
		const struct channel *channel = channel_at(r, at);

		leave(r, to, sl, channel->to, channel->to_port, at, queue);
	}
}

static uint8_t sm_sl(const struct replay *r, unsigned int host)
{
	return sim_port_info(r->s->sim, host_at(r, host)->node, 1)->master_sm_sl;
}

/* SLs of packets to a host, by where they come from; their union. */
static uint16_t find_sls(struct replay *r, unsigned int to)
{
	uint16_t all = 0;

	for (unsigned int from = 0; from < r->hosts->len; from++) {
		uint16_t sls =
			r->told[from * r->hosts->len + to] | r->told[to * r->hosts->len + from];

		if (from == r->sm || to == r->sm)
			sls |= 1u << sm_sl(r, from == r->sm ? to : from);
		r->sls[from] = from == to ? 0 : sls;
		all |= r->sls[from];
	}
	return all;
}

/* Removes what waits for nothing any more; true if something is left. */
static bool has_cycle(const struct replay *r)
{
	uint32_t n = r->channels->len * VLS, left = n, before;
	g_autofree bool *gone = g_new0(bool, n + 1);

	do {
		before = left;
		for (uint32_t node = 0; node < n; node++) {
			const struct channel *channel = channel_at(r, node / VLS);
			bool waits = false;

			for (unsigned int out = 1; !gone[node] && !waits && out < r->width; out++) {
				uint16_t vls = r->wait[(size_t)node * r->width + out];
				uint32_t next = r->channel[channel->to * r->width + out];

				for (; vls && !waits; vls &= vls - 1)
					waits = !gone[next * VLS + __builtin_ctz(vls)];
			}
			if (gone[node] || waits)
				continue;
			gone[node] = true;
			left--;
		}
	} while (left && left < before);
	return left;
}

bool replay_is_closed(struct replay *r)
{
	memset(r->wait, 0, (size_t)r->channels->len * VLS * r->width * sizeof(*r->wait));
	for (unsigned int to = 0; to < r->hosts->len; to++)
		for (uint16_t sls = find_sls(r, to); sls; sls &= sls - 1)
			follow(r, host_at(r, to), __builtin_ctz(sls));
	return has_cycle(r);
}

/* ---- packets that are lost ---- */

static bool arrives(const struct replay *r, unsigned int from, const struct host *to)
{
	unsigned int sw = host_at(r, from)->sw;

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		uint8_t out = r->lft[(size_t)sw * r->n_lids + to->lid];
		uint32_t next;

		if (sw == to->sw && out == to->port)
			return true;
		next = out < r->width ? r->channel[sw * r->width + out] : NONE;
		if (next == NONE || !is_active(r, sw, out) ||
		    !is_active(r, channel_at(r, next)->to, channel_at(r, next)->to_port))
			return false;
		sw = channel_at(r, next)->to;
	}
	return false;
}

/* How long a pair has been losing packets goes into the count if it has ended. */
static void note_pair(struct replay *r, unsigned int pair, bool arrived, uint64_t now)
{
	if (!arrived && !r->lost_since[pair])
		r->lost_since[pair] = now;
	if (arrived && r->lost_since[pair]) {
		r->count.lost_ns = MAX(r->count.lost_ns, now - r->lost_since[pair]);
		r->lost_since[pair] = 0;
	}
	r->lost[pair] |= !arrived;
}

static void look_for_losses(struct replay *r, uint64_t now)
{
	for (unsigned int from = 0; from < r->hosts->len; from++)
		for (unsigned int to = 0; to < r->hosts->len; to++) {
			unsigned int pair = from * r->hosts->len + to;

			if (r->talked[pair])
				note_pair(r, pair, arrives(r, from, host_at(r, to)), now);
		}
}

/* ---- the wire ---- */

static uint32_t octets4(const uint8_t *data)
{
	return (uint32_t)data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3];
}

static unsigned int node_by_lid(const struct replay *r, uint16_t lid)
{
	for (unsigned int sw = 0; sw < r->n_sw; sw++)
		if (scenario_lid(r->s, r->node[sw]) == lid)
			return r->node[sw];
	return NONE;
}

/* The node that an SMP is for, or NONE. */
static unsigned int target_of(const struct replay *r, const struct vendor_address *to,
			      uint64_t from, const uint8_t *data)
{
	unsigned int node = (unsigned int)sim_find_guid(r->s->sim, from), port, peer;
	struct iba_dr_smp smp;

	if (to->lid != IBA_LID_PERMISSIVE)
		node = node_by_lid(r, to->lid);
	if (data[1] != IBA_CLASS_SUBN_DIRECTED)
		return node;
	wire_decode(&iba_dr_smp_type, data, &smp);
	for (unsigned int hop = 1; hop <= smp.hop_count && node != NONE; hop++) {
		if (!sim_peer(r->s->sim, node, smp.initial_path[hop], &peer, &port))
			return NONE;
		node = peer;
	}
	return node;
}

static bool is_table(const uint8_t *data, uint8_t method)
{
	return scenario_is_smp(data, IBA_MAD_BYTES, method, IBA_ATTR_LINEAR_FORWARDING_TABLE) ||
	       scenario_is_smp(data, IBA_MAD_BYTES, method, IBA_ATTR_SL_TO_VL_TABLE);
}

static void take_write(struct replay *r, unsigned int node, const uint8_t *data)
{
	struct write write = {
		.tid = octets4(data + 12),
		.sw = node == NONE ? NONE : r->sw[node],
		.attribute = data[16] << 8 | data[17],
		.modifier = octets4(data + 20),
	};

	if (write.sw == NONE)
		return; /* an SL2VL table of a host */
	memcpy(write.data, data + IBA_SMP_DATA_OFFSET, sizeof(write.data));
	for (guint i = 0; i < r->writes->len; i++)
		if (g_array_index(r->writes, struct write, i).tid == write.tid)
			return; /* sent again */
	g_array_append_val(r->writes, write);
	r->count.writes++;
	r->count.unsafe += replay_is_closed(r);
}

static void carry_out(struct replay *r, const struct write *write)
{
	uint32_t first = write->modifier * BLOCK;

	if (write->attribute == IBA_ATTR_LINEAR_FORWARDING_TABLE) {
		for (uint32_t i = 0; i < BLOCK && first + i < r->n_lids; i++)
			r->lft[(size_t)write->sw * r->n_lids + first + i] = write->data[i];
		return;
	}
	for (unsigned int out = 0; out < r->width; out++)
		for (unsigned int in = 0; in < r->width; in++)
			if (concerns_row(write, out, in))
				memcpy(row_at(r, write->sw, out, in), write->data, ROW_BYTES);
}

/* What was written before to the same place no longer matters. */
static void take_answer(struct replay *r, const uint8_t *data)
{
	struct write done = {.sw = NONE};

	for (guint i = 0; i < r->writes->len; i++) {
		const struct write *write = &g_array_index(r->writes, struct write, i);

		if (write->tid == octets4(data + 12))
			done = *write;
	}
	if (done.sw == NONE)
		return;
	if (!(data[4] & 0x7F) && !data[5])
		carry_out(r, &done);
	for (guint i = r->writes->len; i-- > 0;) {
		const struct write *write = &g_array_index(r->writes, struct write, i);

		if (write->sw == done.sw && write->attribute == done.attribute &&
		    write->modifier == done.modifier)
			g_array_remove_index(r->writes, i);
	}
}

static void on_mad(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		   const uint8_t *data, G_GNUC_UNUSED size_t length)
{
	struct replay *r = arg;

	if (is_table(data, IBA_METHOD_SET)) {
		take_write(r, target_of(r, to, from, data), data);
	} else if (is_table(data, IBA_METHOD_GET_RESP)) {
		take_answer(r, data);
		look_for_losses(r, now_ns);
	} else if (scenario_is_smp(data, IBA_MAD_BYTES, IBA_METHOD_GET_RESP, IBA_ATTR_PORT_INFO)) {
		look_for_losses(r, now_ns);
	}
}

/* ---- the whole ---- */

void replay_ask(struct replay *r, unsigned int n)
{
	for (unsigned int from = 0; from < r->hosts->len; from++)
		for (unsigned int to = 0; to < r->hosts->len; to++) {
			struct iba_path_record path;
			uint16_t *told = &r->told[from * r->hosts->len + to];
			uint64_t guid = sim_port_guid(r->s->sim, host_at(r, to)->node, 1);

			if (from == to || !host_at(r, from)->client ||
			    (*told && scenario_random(r->s, n)))
				continue;
			if (!client_path(host_at(r, from)->client, guid, &path))
				*told = 1u << path.sl;
		}
}

struct replay *replay_new(struct scenario *s)
{
	struct replay *r = g_new0(struct replay, 1);
	size_t n_ports, n_pairs;

	r->s = s;
	number_switches(r);
	list_hosts(r);
	n_ports = (size_t)r->n_sw * r->width;
	n_pairs = (size_t)r->hosts->len * r->hosts->len;
	r->lft = g_malloc((size_t)r->n_sw * r->n_lids);
	r->rows = g_malloc0(n_ports * r->width * ROW_BYTES);
	r->writes = g_array_new(FALSE, FALSE, sizeof(struct write));
	r->channels = g_array_new(FALSE, FALSE, sizeof(struct channel));
	r->channel = g_new(uint32_t, n_ports);
	r->told = g_new0(uint16_t, n_pairs);
	r->wait = g_new0(uint16_t, n_ports * VLS * r->width);
	r->vls = g_new0(uint16_t, n_ports);
	r->sls = g_new0(uint16_t, r->hosts->len);
	r->talked = g_new0(bool, n_pairs);
	r->lost = g_new0(bool, n_pairs);
	r->lost_since = g_new0(uint64_t, n_pairs);
	replay_ask(r, 1);
	return r;
}

void replay_free(struct replay *r)
{
	for (unsigned int i = 0; i < r->hosts->len; i++)
		if (host_at(r, i)->client)
			client_free(host_at(r, i)->client);
	g_free(r->node);
	g_free(r->sw);
	g_free(r->lft);
	g_free(r->rows);
	g_array_unref(r->writes);
	g_array_unref(r->channels);
	g_free(r->channel);
	g_array_unref(r->hosts);
	g_free(r->told);
	g_free(r->wait);
	g_free(r->vls);
	g_free(r->sls);
	g_free(r->talked);
	g_free(r->lost);
	g_free(r->lost_since);
	g_free(r);
}

void replay_begin(struct replay *r)
{
	size_t n_pairs = (size_t)r->hosts->len * r->hosts->len;

	r->count = (struct replay_count){0};
	g_array_set_size(r->writes, 0);
	list_channels(r);
	copy_tables(r);
	memset(r->lost, 0, n_pairs * sizeof(*r->lost));
	memset(r->lost_since, 0, n_pairs * sizeof(*r->lost_since));
	for (unsigned int i = 0; i < n_pairs; i++)
		r->talked[i] = arrives(r, i / r->hosts->len, host_at(r, i % r->hosts->len));
	r->count.before = replay_is_closed(r);
	sim_set_trace(r->s->sim, on_mad, r);
}

void replay_end(struct replay *r, struct replay_count *count)
{
	size_t n_pairs = (size_t)r->hosts->len * r->hosts->len;

	sim_set_trace(r->s->sim, NULL, NULL);
	r->count.after = replay_is_closed(r);
	for (unsigned int i = 0; i < n_pairs; i++) {
		bool arrived = arrives(r, i / r->hosts->len, host_at(r, i % r->hosts->len));

		r->count.lost += r->lost[i] && arrived;
		if (!arrived)
			r->told[i] = 0;
	}
	*count = r->count;
}
