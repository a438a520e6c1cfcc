// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Names come from the nodes: whatever they contain, the text stays one quoted string. */
#include "osmroute/draw.h"

#include "osmroute/quality.h"
#include "osmroute/shade.h"

#define WIDTH_MIN 0.5
#define WIDTH_MAX 6.0

struct drawing {
	const struct fabric *fabric;
	const uint64_t *load;
	struct shade shade;
	bool hosts; /* draw hosts */
	GString *text;
};

static void add_label(GString *text, const char *label)
{
	g_autofree char *valid = g_utf8_make_valid(label, -1);

	g_string_append_c(text, '"');
	for (const char *c = valid; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_c(text, '\\');
		g_string_append_c(text, g_ascii_iscntrl(*c) ? ' ' : *c);
	}
	g_string_append_c(text, '"');
}

/* Number of hosts at ports of the switch. */
static unsigned int count_hosts(const struct fabric *fabric, const struct fabric_node *node)
{
	unsigned int n = 0;

	for (unsigned int num = 1; num <= node->num_ports; num++) {
		uint32_t peer = fabric->ports[node->first_port + num].peer;

		n += peer != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[peer].node);
	}
	return n;
}

static void add_node(const struct drawing *drawing, uint32_t index)
{
	const struct fabric *fabric = drawing->fabric;
	const struct fabric_node *node = &fabric->nodes[index];
	bool is_switch = fabric_is_switch(fabric, index);
	unsigned int n = is_switch && !drawing->hosts ? count_hosts(fabric, node) : 0;
	g_autofree char *name =
		node->description[0] ? g_strdup(node->description)
				     : g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", node->guid);
	g_autofree char *label = n ? g_strdup_printf("%s (%u hosts)", name, n) : g_strdup(name);

	g_string_append_printf(drawing->text, "\tn%u [shape=%s, label=", index,
			       is_switch ? "box" : "ellipse");
	add_label(drawing->text, label);
	g_string_append(drawing->text, "];\n");
}

/* A number in a fixed format, in any locale. */
static void add_real(GString *text, double value)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append(text, g_ascii_formatd(buffer, sizeof(buffer), "%.3f", value));
}

static void add_cable(const struct drawing *drawing, uint32_t port)
{
	const struct fabric *fabric = drawing->fabric;
	const struct fabric_port *a = &fabric->ports[port], *b = &fabric->ports[a->peer];
	bool inner = fabric_is_switch(fabric, a->node) && fabric_is_switch(fabric, b->node);
	uint64_t load = MAX(drawing->load[port], drawing->load[a->peer]);
	double part = shade_part(&drawing->shade, load);
	char colour[8];
	GString *text = drawing->text;

	if (!inner && !drawing->hosts)
		return;
	g_string_append_printf(text, "\tn%u -- n%u [", a->node, b->node);
	if (!inner) {
		g_string_append(text, "color=gray];\n");
		return;
	}
	shade_colour(part, colour);
	g_string_append_printf(text, "color=\"%s\", penwidth=", colour);
	add_real(text, WIDTH_MIN + (WIDTH_MAX - WIDTH_MIN) * part);
	g_string_append_printf(text,
			       ", tooltip=\"port %u: %" G_GUINT64_FORMAT
			       " flows, port %u: %" G_GUINT64_FORMAT "\"];\n",
			       a->num, drawing->load[port], b->num, drawing->load[a->peer]);
}

char *draw_fabric(const struct fabric *fabric, const struct routing *routing)
{
	g_autofree uint64_t *load = quality_load(fabric, routing);
	struct drawing drawing = {
		.fabric = fabric,
		.load = load,
		.hosts = fabric->n_nodes <= DRAW_NODES_MAX,
		.text = g_string_new("graph fabric {\n\tnode [fontsize=10];\n"),
	};

	shade_init(&drawing.shade, fabric, load);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (drawing.hosts || fabric_is_switch(fabric, i))
			add_node(&drawing, i);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].peer != FABRIC_NONE && i < fabric->ports[i].peer)
			add_cable(&drawing, i);
	g_string_append(drawing.text, "}\n");
	return g_string_free(drawing.text, FALSE);
}
