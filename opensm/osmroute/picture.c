// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plain SVG, no scripts and no style sheets. Positions follow from the fabric alone, so pictures of
 * two engines can be laid over each other. Busy cables are drawn last, on top of the others.
 */
#include "osmroute/picture.h"

#include <stdlib.h>
#include <string.h>

#include "osmroute/layout.h"
#include "osmroute/quality.h"
#include "osmroute/shade.h"

#define WIDTH_MIN 0.8
#define WIDTH_MOST 4.0	  /* of the busiest cable, if there is room */
#define WIDTH_LEAST 1.2	  /* of the busiest, with many cables */
#define CABLES_DENSE 1500 /* with this many cables, width 1 is legible */
#define LABEL_MAX 28 /* characters shown of a name */
#define LEGEND_SAMPLES 32 /* y */
#define HOST_FILL "#404040"
#define SWITCH_FILL "#f4f4ec"
#define SWITCH_STROKE "#303030"

struct cable {
	uint32_t a, b; /* ports */
	uint64_t load;
};

struct picture_text {
	const struct fabric *fabric;
	const uint64_t *load; /* [port] */
	GArray *cables;	      /* struct cable, idle ones first */
	struct shade shade;
	struct layout layout;
	GString *text;
};

/* ---- parts of the text ---- */

/* Replaces characters that XML 1.0 forbids, in any notation, by spaces. */
static char *escape(const char *name)
{
	g_autofree char *valid = g_utf8_make_valid(name, -1);
	GString *kept = g_string_new(NULL);

	for (const char *c = valid; *c; c = g_utf8_next_char(c)) {
		gunichar code = g_utf8_get_char(c);

		g_string_append_unichar(kept, code < 0x20 || code == 0x7F || code == 0xFFFE ||
							      code == 0xFFFF
						      ? ' '
						      : code);
	}
	g_free(valid);
	valid = g_string_free(kept, FALSE);
	return g_markup_escape_text(valid, -1);
}

static char *name_of(const struct fabric *fabric, uint32_t node)
{
	const struct fabric_node *n = &fabric->nodes[node];

	return n->description[0] ? escape(n->description)
				 : g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", n->guid);
}

/* The start of a name that may be long. */
static char *label_of(const struct fabric *fabric, uint32_t node)
{
	g_autofree char *valid = g_utf8_make_valid(fabric->nodes[node].description, -1);
	g_autofree char *part = NULL;

	if (!valid[0] || g_utf8_strlen(valid, -1) <= LABEL_MAX)
		return name_of(fabric, node);
	part = g_utf8_substring(valid, 0, LABEL_MAX - 1);
	g_free(valid);
	valid = g_strconcat(part, "\xE2\x80\xA6", NULL);
	return escape(valid);
}

/* ' NAME="VALUE"', with a number in a fixed format, in any locale. */
static void add_real(GString *text, const char *name, double value)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	g_ascii_formatd(buffer, sizeof(buffer), "%.1f", value);
	g_string_append_printf(text, " %s=\"%s\"", name, buffer);
}

/* 'X,Y' */
static void add_pair(GString *text, const struct layout_point *point)
{
	char x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_printf(text, "%s,%s", g_ascii_formatd(x, sizeof(x), "%.1f", point->x),
			       g_ascii_formatd(y, sizeof(y), "%.1f", point->y));
}

static void add_point(GString *text, const char *x_name, const char *y_name,
		      const struct layout_point *point)
{
	add_real(text, x_name, point->x);
	add_real(text, y_name, point->y);
}

/* ' stroke="#rrggbb"', and the width. */
static void add_stroke(const struct picture_text *picture, double part)
{
	double width = CLAMP((double)CABLES_DENSE / picture->cables->len, WIDTH_LEAST, WIDTH_MOST);
	char colour[8];

	shade_colour(part, colour);
	g_string_append_printf(picture->text, " stroke=\"%s\"", colour);
	add_real(picture->text, "stroke-width", WIDTH_MIN + (width - WIDTH_MIN) * part);
}

/* ---- cables ---- */

static int compare_cables(const void *a, const void *b)
{
	const struct cable *x = a, *y = b;

	if (x->load != y->load)
		return x->load < y->load ? -1 : 1;
	return x->a < y->a ? -1 : x->a > y->a;
}

static GArray *list_cables(const struct fabric *fabric, const uint64_t *load)
{
	GArray *cables = g_array_new(FALSE, FALSE, sizeof(struct cable));

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t peer = fabric->ports[i].peer;
		struct cable cable = {i, peer, 0};

		if (!shade_is_cable(fabric, i))
			continue;
		cable.load = MAX(load[i], load[peer]);
		g_array_append_val(cables, cable);
	}
	g_array_sort(cables, compare_cables);
	return cables;
}

/* "NAME port N: F flows" of one direction. */
static void add_direction(const struct picture_text *picture, uint32_t port)
{
	const struct fabric_port *p = &picture->fabric->ports[port];
	g_autofree char *name = name_of(picture->fabric, p->node);

	g_string_append_printf(picture->text, "%s port %u: %" G_GUINT64_FORMAT " flows", name,
			       p->num, picture->load[port]);
}

static void add_cable(const struct picture_text *picture, const struct cable *cable)
{
	const struct fabric *fabric = picture->fabric;
	const struct layout_point *points = picture->layout.switches;
	uint32_t a = fabric->nodes[fabric->ports[cable->a].node].sw;
	uint32_t b = fabric->nodes[fabric->ports[cable->b].node].sw;
	GString *text = picture->text;
	struct layout_point control = points[a]; /* a curve with this point is straight */

	layout_bend(&picture->layout, a, b, &control);
	g_string_append(text, "<path d=\"M");
	add_pair(text, &points[a]);
	g_string_append(text, " Q");
	add_pair(text, &control);
	g_string_append_c(text, ' ');
	add_pair(text, &points[b]);
	g_string_append_c(text, '"');
	add_stroke(picture, shade_part(&picture->shade, cable->load));
	g_string_append(text, "><title>");
	add_direction(picture, cable->a);
	g_string_append(text, ", ");
	add_direction(picture, cable->b);
	g_string_append(text, "</title></path>\n");
}

static void add_cables(const struct picture_text *picture)
{
	g_string_append(picture->text, "<g id=\"cables\" fill=\"none\" stroke-opacity=\"0.8\">\n");
	for (guint i = 0; i < picture->cables->len; i++)
		add_cable(picture, &g_array_index(picture->cables, struct cable, i));
	g_string_append(picture->text, "</g>\n");
}

/* ---- nodes ---- */

static void add_host(const struct picture_text *picture, uint32_t node,
		     const struct layout_point *point)
{
	g_autofree char *name = name_of(picture->fabric, node);

	g_string_append(picture->text, "<circle");
	add_point(picture->text, "cx", "cy", point);
	g_string_append_printf(picture->text, " r=\"1.5\"><title>%s</title></circle>\n", name);
}

static void add_hosts(const struct picture_text *picture, uint32_t sw)
{
	const struct fabric *fabric = picture->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];
	uint32_t n = 0;

	for (unsigned int num = 1; num <= node->num_ports; num++) {
		uint32_t peer = fabric->ports[node->first_port + num].peer;
		struct layout_point point;

		if (peer == FABRIC_NONE || fabric_is_switch(fabric, fabric->ports[peer].node))
			continue;
		point = layout_host(&picture->layout, sw, n++);
		add_host(picture, fabric->ports[peer].node, &point);
	}
}

static void add_label(const struct picture_text *picture, uint32_t sw)
{
	g_autofree char *label = label_of(picture->fabric, picture->fabric->switches[sw].node);
	struct layout_label place = layout_label(&picture->layout, sw);
	GString *text = picture->text;

	g_string_append(text, "<text");
	add_point(text, "x", "y", &place.at);
	if (place.angle != 0) {
		char angle[G_ASCII_DTOSTR_BUF_SIZE], x[G_ASCII_DTOSTR_BUF_SIZE],
			y[G_ASCII_DTOSTR_BUF_SIZE];

		g_string_append_printf(text, " transform=\"rotate(%s %s %s)\"",
				       g_ascii_formatd(angle, sizeof(angle), "%.1f", place.angle),
				       g_ascii_formatd(x, sizeof(x), "%.1f", place.at.x),
				       g_ascii_formatd(y, sizeof(y), "%.1f", place.at.y));
	}
	g_string_append_printf(text, " text-anchor=\"%s\">%s</text>\n", place.anchor, label);
}

static void add_switch(const struct picture_text *picture, uint32_t sw)
{
	const struct layout_point *point = &picture->layout.switches[sw];
	const struct layout_point corner = {point->x - LAYOUT_BOX / 2, point->y - LAYOUT_BOX / 2};
	g_autofree char *name = name_of(picture->fabric, picture->fabric->switches[sw].node);
	uint32_t hosts = picture->layout.ranks.hosts[sw];

	g_string_append(picture->text, "<rect");
	add_point(picture->text, "x", "y", &corner);
	add_real(picture->text, "width", LAYOUT_BOX);
	add_real(picture->text, "height", LAYOUT_BOX);
	g_string_append_printf(picture->text, "><title>%s", name);
	if (hosts)
		g_string_append_printf(picture->text, ", %u hosts", hosts);
	g_string_append(picture->text, "</title></rect>\n");
}

/* Calls add for each switch, in a group with these attributes. */
static void add_group(const struct picture_text *picture, const char *attributes,
		      void (*add)(const struct picture_text *picture, uint32_t sw))
{
	g_string_append_printf(picture->text, "<g %s>\n", attributes);
	for (uint32_t sw = 0; sw < picture->fabric->n_switches; sw++)
		add(picture, sw);
	g_string_append(picture->text, "</g>\n");
}

/* ---- the whole ---- */

static void add_text(const struct picture_text *picture, double x, double y, const char *words)
{
	const struct layout_point at = {x, y};

	g_string_append(picture->text, "<text");
	add_point(picture->text, "x", "y", &at);
	g_string_append_printf(picture->text, ">%s</text>\n", words);
}

/* A sample of a cable with this fraction of the top load, and that load. */
static void add_sample(const struct picture_text *picture, double x, double part, const char *what,
		       double load)
{
	const struct layout_point from = {x, LEGEND_SAMPLES}, to = {x + 24, LEGEND_SAMPLES};
	g_autofree char *words = g_strdup_printf("%s: %.0f", what, load);

	g_string_append(picture->text, "<line");
	add_point(picture->text, "x1", "y1", &from);
	add_point(picture->text, "x2", "y2", &to);
	add_stroke(picture, part);
	g_string_append(picture->text, "/>\n");
	add_text(picture, x + 28, LEGEND_SAMPLES + 4, words);
}

static void add_legend(const struct picture_text *picture, const char *engine)
{
	const struct shade *shade = &picture->shade;
	g_autofree char *head = g_strdup_printf(
		"%s: flows on each cable, in its busier direction, all hosts sending to all",
		engine);
	GString *text = picture->text;

	g_string_append(text, "<g id=\"legend\" font-size=\"11\">\n");
	add_text(picture, 10, 16, head);
	add_sample(picture, 10, 0, "idle", 0);
	add_sample(picture, 90, 0.5, "mean", shade->mean);
	add_sample(picture, 200, shade_part(shade, shade->most), "most", (double)shade->most);
	g_string_append_printf(text,
			       "<rect x=\"310\" y=\"%u\" width=\"10\" height=\"10\""
			       " fill=\"" SWITCH_FILL "\" stroke=\"" SWITCH_STROKE "\"/>\n"
			       "<circle cx=\"379\" cy=\"%u\" r=\"1.5\" fill=\"" HOST_FILL "\"/>\n",
			       LEGEND_SAMPLES - 5, LEGEND_SAMPLES);
	add_text(picture, 325, LEGEND_SAMPLES + 4, "switch");
	add_text(picture, 385, LEGEND_SAMPLES + 4, "host");
	g_string_append(text, "</g>\n");
}

static void add_head(const struct picture_text *picture)
{
	const struct layout *layout = &picture->layout;
	GString *text = picture->text;

	g_string_append_printf(text,
			       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			       "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\""
			       " width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\""
			       " font-family=\"sans-serif\">\n"
			       "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
			       layout->width, layout->height, layout->width, layout->height);
}

char *picture_of_fabric(const struct fabric *fabric, const struct routing *routing)
{
	g_autofree uint64_t *load = quality_load(fabric, routing);
	g_autoptr(GArray) cables = list_cables(fabric, load);
	struct picture_text picture = {fabric, load, cables, .text = g_string_new(NULL)};

	shade_init(&picture.shade, fabric, load);
	layout_init(&picture.layout, fabric);
	add_head(&picture);
	add_legend(&picture, routing->engine->name);
	add_cables(&picture);
	add_group(&picture, "id=\"hosts\" fill=\"" HOST_FILL "\"", add_hosts);
	add_group(&picture, "id=\"switches\" fill=\"" SWITCH_FILL "\" stroke=\"" SWITCH_STROKE "\"",
		  add_switch);
	add_group(&picture,
		  "id=\"labels\" font-size=\"8\" stroke=\"white\" stroke-width=\"2\""
		  " paint-order=\"stroke\"",
		  add_label);
	g_string_append(picture.text, "</svg>\n");
	layout_clear(&picture.layout);
	return g_string_free(picture.text, FALSE);
}
