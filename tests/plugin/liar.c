// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A routing engine that lies: it makes tables of shortest paths and spoils them in the way that the
 * options name ("liar loop"), or behaves badly. Tests expect that each lie is refused and named,
 * and that nothing else suffers.
 */
#include <errno.h>
#include <fcntl.h>
#include <opensm/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64 /* calls of after */

struct liar {
	unsigned int calls;
	pid_t children[MOST]; /* of after */
	unsigned int n_children;
};

static uint8_t *entry(struct osm_route_output *out, uint32_t sw, uint32_t lid)
{
	return &out->lft[(size_t)sw * out->stride + lid];
}

/* Entries that lead to a LID of a switch by the fewest hops, without its cables to skip. */
static void grow(const struct osm_route_input *in, struct osm_route_output *out, uint32_t root,
		 uint32_t lid, uint8_t port, uint32_t skip)
{
	uint32_t *queue = malloc((in->switches.n + 1) * sizeof(*queue)), first = 0, last = 0;

	for (uint32_t sw = 0; sw < in->switches.n; sw++)
		*entry(out, sw, lid) = OSM_ROUTE_NO_PORT;
	*entry(out, root, lid) = port;
	queue[last++] = root;
	while (first < last) {
		uint32_t sw = queue[first++], e = osm_route_first_edge(in, sw);

		for (; e < osm_route_first_edge(in, sw + 1); e++) {
			uint32_t to = osm_route_edge(in, e)->to;
			uint8_t link = in->links[osm_route_edge(in, e)->first_link];

			if (*entry(out, to, lid) != OSM_ROUTE_NO_PORT || (sw == root && to == skip))
				continue;
			*entry(out, to, lid) = osm_route_port(in, sw, link)->port;
			queue[last++] = to;
		}
	}
	free(queue);
}

static void fill(const struct osm_route_input *in, struct osm_route_output *out)
{
	for (uint32_t sw = 0; sw < in->switches.n; sw++) {
		const struct osm_route_switch *at = osm_route_switch(in, sw);

		for (uint32_t i = 0; at->lid && i < 1u << at->lmc; i++)
			grow(in, out, sw, at->lid + i, 0, OSM_NONE);
	}
	for (uint32_t i = 0; i < in->endports.n; i++) {
		const struct osm_route_endport *to = osm_route_endport(in, i);

		for (uint32_t k = 0; to->sw != OSM_NONE && k < 1u << to->lmc; k++)
			grow(in, out, to->sw, to->lid + k, to->exit, OSM_NONE);
	}
}

/* The endport whose LID is spoilt. */
static const struct osm_route_endport *victim(const struct osm_route_input *in)
{
	return osm_route_endport(in, in->endports.n - 1);
}

static uint32_t neighbour(const struct osm_route_input *in, uint32_t sw)
{
	return osm_route_edge(in, osm_route_first_edge(in, sw))->to;
}

/* ---- lies about tables ---- */

static int honest(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	(void)context;
	fill(in, out);
	out->promises = OSM_ROUTE_SHORTEST;
	return 0;
}

/* What is in use now. */
static int keep(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	(void)context;
	if (!in->old)
		return snprintf(out->note, sizeof(out->note), "there are no old tables");
	memcpy(out->lft, in->old, (size_t)in->switches.n * in->stride);
	return 0;
}

/* Two neighbours lead to each other. */
static int loop(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	uint32_t a = victim(in)->sw ? 0 : neighbour(in, 0), b = neighbour(in, a);

	honest(context, in, out);
	if (b == victim(in)->sw)
		b = osm_route_edge(in, osm_route_first_edge(in, a) + 1)->to;
	for (uint32_t e = osm_route_first_edge(in, a); e < osm_route_first_edge(in, a + 1); e++) {
		uint8_t port = in->links[osm_route_edge(in, e)->first_link];

		if (osm_route_edge(in, e)->to != b)
			continue;
		*entry(out, a, victim(in)->lid) = port;
		*entry(out, b, victim(in)->lid) = osm_route_port(in, a, port)->port;
	}
	return 0;
}

static int hole(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	*entry(out, neighbour(in, victim(in)->sw), victim(in)->lid) = OSM_ROUTE_NO_PORT;
	return 0;
}

/* Shortest paths on a ring. */
static int promise(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	out->promises |= OSM_ROUTE_DEADLOCK_FREE;
	return 0;
}

/* A neighbour does not use its cable to the victim's switch. */
static int detour(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	const struct osm_route_endport *to = victim(in);

	honest(context, in, out);
	grow(in, out, to->sw, to->lid, to->exit, neighbour(in, to->sw));
	return 0;
}

static int port(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	*entry(out, 0, victim(in)->lid) = osm_route_switch(in, 0)->n_ports + 1;
	return 0;
}

static int sls(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	out->has_sls = 1;
	out->sl[1] = 1;
	return 0;
}

static int sl(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	out->has_sls = 1;
	out->sl[1] = out->sl[in->switches.n] = 16;
	return 0;
}

/* Hosts of two switches have no SL. */
static int mute(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	out->has_sls = 1;
	out->sl[1] = out->sl[in->switches.n] = OSM_ROUTE_NO_SL;
	return 0;
}

static int vl(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	out->has_sls = 1;
	out->vl[0] = 15;
	return 0;
}

static int turn(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	unsigned int width = osm_route_switch(in, 0)->n_ports + 1u;

	honest(context, in, out);
	out->has_turns = 1;
	for (unsigned int i = 0; i < width * width; i++)
		out->turns[i] = 0xF;
	return 0;
}

static int order(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	out->has_order = 1; /* all switches have place 0 */
	return 0;
}

static int far(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	honest(context, in, out);
	out->has_order = 1;
	out->order[0] = OSM_NONE;
	return 0;
}

/* ---- bad behaviour ---- */

static int fails(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	(void)context;
	(void)in;
	snprintf(out->note, sizeof(out->note), "this is\nno torus");
	return 7;
}

static int silent(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	(void)context;
	(void)in;
	(void)out;
	return -2;
}

/* A note without an end, that is not text. */
static int noisy(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	memset(out->note, 0x81, sizeof(out->note));
	return honest(context, in, out);
}

/* Until its result is not wanted any more. */
static int never(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	while (!in->is_cancelled(in))
		usleep(1000);
	return honest(context, in, out);
}

/* The first time it does not look whether its result is wanted, for 1.3 s. */
static int deaf(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	struct liar *liar = context;

	if (!liar->calls++)
		usleep(1300 * 1000);
	return honest(context, in, out);
}

/* Goes on writing to its tables in a process of its own, as their mapping here is given up. */
static int after(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	struct liar *liar = context;
	volatile uint8_t *octets = out->lft;
	size_t size = (size_t)((uint8_t *)(out->order + in->switches.n) - out->lft);
	unsigned int seed = ++liar->calls;
	pid_t child = fork();

	for (unsigned int i = 0; !child && i < 100000; i++)
		octets[(size_t)rand_r(&seed) * 7 % size] = (uint8_t)rand_r(&seed);
	if (!child)
		_exit(0);
	liar->children[liar->n_children++ % MOST] = child;
	out->has_sls = out->has_turns = out->has_order = 1;
	return honest(context, in, out);
}

/* Cuts off the output, which must not be possible; tells what the kernel says. */
static int cut(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	char path[64], name[128];

	for (int file = 3; file < 256; file++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
		n = readlink(path, name, sizeof(name) - 1);
		name[n < 0 ? 0 : n] = '\0';
		if (strncmp(name, "/memfd:opensm-route-output", 26) != 0)
			continue;
		snprintf(out->note, sizeof(out->note), "cut: %s",
			 ftruncate(file, 0) ? strerror(errno) : "done");
	}
	return honest(context, in, out);
}

/* ---- the plug-in ---- */

static void *create(const struct osm_host *host)
{
	(void)host;
	return calloc(1, sizeof(struct liar));
}

static void destroy(void *context)
{
	struct liar *liar = context;

	for (unsigned int i = 0; i < liar->n_children && i < MOST; i++)
		waitpid(liar->children[i], NULL, 0);
	free(liar);
}

static const struct {
	const char *name;
	int (*route)(void *context, const struct osm_route_input *in, struct osm_route_output *out);
} lies[] = {
	{"honest", honest},   {"keep", keep},	  {"loop", loop},   {"hole", hole},
	{"promise", promise}, {"detour", detour}, {"port", port},   {"sls", sls},
	{"sl", sl},	      {"mute", mute},	  {"vl", vl},	    {"turn", turn},
	{"order", order},     {"far", far},	  {"fails", fails}, {"silent", silent},
	{"noisy", noisy},     {"never", never},	  {"deaf", deaf},   {"after", after},
	{"cut", cut},
};

/* By the last word of the options. */
static int route(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	const char *blank = strrchr(in->options, ' ');
	const char *word = blank ? blank + 1 : in->options;

	for (unsigned int i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		if (!strcmp(lies[i].name, word))
			return lies[i].route(context, in, out);
	snprintf(out->note, sizeof(out->note), "there is no such lie: %s", in->options);
	return 1;
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_engine engine = {sizeof(engine), 0, "liar", "lies", route};
	static const struct osm_engine *const engines[] = {&engine, NULL};
	static const struct osm_plugin plugin = {sizeof(plugin), OSM_PLUGIN_ABI, "liar", "1",	 0,
						 create,	 destroy,	 NULL,	 engines};

	return &plugin;
}
