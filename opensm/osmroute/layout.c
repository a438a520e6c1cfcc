// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rows: a switch is placed above the middle of its neighbours one row below, so that those of a pod
 * are together; the lowest row is in the order of the fabric. The row with the most switches sets
 * the width, and the others are spread over it. A mesh or torus is placed in its grid, and a fabric
 * that has neither rows nor a grid on a circle, group by group.
 */
#include "osmroute/layout.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "osmroute/clusters.h"
#include "osmroute/grid.h"

#define MARGIN 60.0   /* around everything; holds the legend */
#define STEP 16.0     /* least distance between switches side by side */
#define LABEL 120.0   /* space for a name */
#define ROW_MIN 160.0 /* between two rows, more if they are long */
#define ROW_MAX 600.0
#define HOST_STEP 4.0
#define COLUMNS 3 /* of hosts below a switch */
#define CELL 80.0 /* least size of a grid cell */
#define GAP 2.0   /* between two groups on a circle, in steps */
#define LETTER 5.0 /* width of one in a name, or slightly less */
#define TILT 30.0 /* degrees, of names that are longer than a cell is wide */

struct place {
	uint32_t sw;
	double wish; /* preferred position, 0..1 */
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->wish != y->wish)
		return x->wish < y->wish ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* The mean of the neighbours one rank below; in the lowest rank its own number. */
static double wish_of(const struct layout *layout, const struct fabric *fabric, uint32_t sw)
{
	uint8_t num_ports = fabric->nodes[fabric->switches[sw].node].num_ports;
	uint32_t rank = layout->ranks.of[sw];
	double sum = 0;
	unsigned int n = 0;

	for (unsigned int num = 1; rank && num <= num_ports; num++) {
		uint32_t to = ranks_across(fabric, sw, num);

		if (to == FABRIC_NONE || layout->ranks.of[to] != rank - 1)
			continue;
		sum += layout->switches[to].x;
		n++;
	}
	return n ? sum / n : (double)sw / fabric->n_switches;
}

/* Sets x in a row to fractions of the width, 0..1. */
static uint32_t place_row(struct layout *layout, const struct fabric *fabric, uint32_t rank)
{
	g_autofree struct place *places = g_new(struct place, fabric->n_switches + 1);
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		if (layout->ranks.of[sw] == rank)
			places[n++] = (struct place){sw, wish_of(layout, fabric, sw)};
	qsort(places, n, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < n; i++)
		layout->switches[places[i].sw].x = (i + 0.5) / n;
	return n;
}

static uint32_t most_hosts(const struct layout *layout, const struct fabric *fabric)
{
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		most = MAX(most, layout->ranks.hosts[sw]);
	return most;
}

static void lay_rows(struct layout *layout, const struct fabric *fabric)
{
	uint32_t widest = 0, hosts = most_hosts(layout, fabric);
	double width, row, lowest;

	for (uint32_t rank = 0; rank < layout->ranks.n; rank++)
		widest = MAX(widest, place_row(layout, fabric, rank));
	layout->columns = COLUMNS;
	width = MAX(widest * STEP, 400);
	row = CLAMP(width / 5, ROW_MIN, ROW_MAX);
	lowest = MARGIN + LABEL + row * (layout->ranks.n - 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		layout->switches[sw].x = MARGIN + layout->switches[sw].x * width;
		layout->switches[sw].y = lowest - row * layout->ranks.of[sw];
	}
	layout->width = width + 2 * MARGIN;
	layout->height = lowest + LABEL + (hosts / COLUMNS + 1) * HOST_STEP + MARGIN;
}

static void lay_circle(struct layout *layout, const struct fabric *fabric)
{
	double border = MARGIN + LABEL + (most_hosts(layout, fabric) + 2) * HOST_STEP;
	uint32_t n = fabric->n_switches;
	double radius, steps, step = 0;
	struct clusters clusters;

	clusters_init(&clusters, fabric, &layout->ranks);
	steps = n + (clusters.n > 1 ? clusters.n * GAP : 0);
	radius = MAX(steps * STEP / (2 * G_PI), 120);
	layout->centre = (struct layout_point){radius + border, radius + border};
	for (uint32_t i = 0; i < n; i++, step++) {
		uint32_t sw = clusters.order[i];
		double angle;

		if (i && clusters.of[sw] != clusters.of[clusters.order[i - 1]])
			step += GAP;
		angle = 2 * G_PI * step / steps;
		layout->switches[sw].x = layout->centre.x + radius * sin(angle);
		layout->switches[sw].y = layout->centre.y - radius * cos(angle);
	}
	layout->width = layout->height = 2 * (radius + border);
	clusters_clear(&clusters);
}

/* Whether a name would cover that of the next switch in the row. */
static bool is_any_long(const struct layout *layout, const struct fabric *fabric)
{
	bool any = false;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const char *name = fabric->nodes[fabric->switches[sw].node].description;

		/* without a name it has its GUID, with 18 characters */
		any |= LETTER * (name[0] ? g_utf8_strlen(name, -1) : 18) > layout->cell;
	}
	return any;
}

static void lay_grid(struct layout *layout, const struct fabric *fabric,
		     const struct grid_cell *cells)
{
	uint32_t rows = (most_hosts(layout, fabric) + COLUMNS - 1) / COLUMNS;

	layout->is_grid = true;
	layout->columns = COLUMNS;
	layout->cell = MAX(CELL, 4 * LAYOUT_BOX + rows * HOST_STEP);
	layout->tilt = is_any_long(layout, fabric) ? TILT : 0;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		layout->switches[sw].x = MARGIN + layout->cell * (0.5 + cells[sw].x);
		layout->switches[sw].y = MARGIN + layout->cell * (0.5 + cells[sw].y) +
					 (layout->tilt != 0 ? LABEL / 2 : 0);
		layout->width = MAX(layout->width, layout->switches[sw].x);
		layout->height = MAX(layout->height, layout->switches[sw].y);
	}
	layout->width = MAX(layout->width, 400) + MAX(layout->cell, LABEL + MARGIN / 2);
	layout->height += layout->cell;
}

void layout_init(struct layout *layout, const struct fabric *fabric)
{
	g_autofree struct grid_cell *cells = NULL;

	*layout = (struct layout){.switches = g_new0(struct layout_point, fabric->n_switches + 1)};
	ranks_init(&layout->ranks, fabric);
	if (!layout->ranks.layered)
		cells = grid_cells(fabric);
	if (layout->ranks.layered)
		lay_rows(layout, fabric);
	else if (cells)
		lay_grid(layout, fabric, cells);
	else
		lay_circle(layout, fabric);
}

bool layout_bend(const struct layout *layout, uint32_t a, uint32_t b, struct layout_point *control)
{
	const struct layout_point *from = &layout->switches[a], *to = &layout->switches[b];
	double x = to->x - from->x, y = to->y - from->y, length = hypot(x, y);
	double aside;

	if (!layout->is_grid || length < 1.5 * layout->cell)
		return false;
	aside = layout->cell * (1 - layout->cell / length); /* the curve goes half as far */
	if (x + y < 0) /* the same side for either order of the ends */
		aside = -aside;
	control->x = from->x + x / 2 + y / length * aside;
	control->y = from->y + y / 2 - x / length * aside;
	return true;
}

void layout_clear(struct layout *layout)
{
	ranks_clear(&layout->ranks);
	g_free(layout->switches);
	*layout = (struct layout){0};
}

/* A point beyond a switch, away from the centre. */
static struct layout_point outwards(const struct layout *layout, uint32_t sw, double distance)
{
	struct layout_point point = layout->switches[sw];
	double x = point.x - layout->centre.x, y = point.y - layout->centre.y;
	double radius = hypot(x, y);

	return (struct layout_point){point.x + x / radius * distance,
				     point.y + y / radius * distance};
}

struct layout_point layout_host(const struct layout *layout, uint32_t sw, uint32_t i)
{
	struct layout_point point = layout->switches[sw];

	if (!layout->columns)
		return outwards(layout, sw, LAYOUT_BOX + i * HOST_STEP);
	if (layout->is_grid) { /* beside the cables that go down */
		point.x += LAYOUT_BOX + i % layout->columns * HOST_STEP;
		point.y += LAYOUT_BOX + i / layout->columns * HOST_STEP;
		return point;
	}
	point.x += ((double)(i % layout->columns) - (layout->columns - 1) / 2.0) * HOST_STEP;
	point.y += LAYOUT_BOX + i / layout->columns * HOST_STEP;
	return point;
}

struct layout_label layout_label(const struct layout *layout, uint32_t sw)
{
	struct layout_point point = layout->switches[sw];
	uint32_t hosts = layout->ranks.hosts[sw];
	double angle;

	if (layout->is_grid) {
		point.x += LAYOUT_BOX * 0.8;
		point.y -= LAYOUT_BOX * 0.8;
		return (struct layout_label){point, -layout->tilt, "start"};
	}
	if (layout->columns) { /* upright: upper names above, lowest below their hosts */
		uint32_t rows = (hosts + layout->columns - 1) / layout->columns;
		bool lowest = layout->ranks.of[sw] == 0;

		point.x += 3; /* half the height of letters */
		point.y += lowest ? LAYOUT_BOX + rows * HOST_STEP : -LAYOUT_BOX;
		return (struct layout_label){point, -90, lowest ? "end" : "start"};
	}
	point = outwards(layout, sw, LAYOUT_BOX + hosts * HOST_STEP);
	angle = atan2(point.y - layout->centre.y, point.x - layout->centre.x) * 180 / G_PI;
	if (fabs(angle) <= 90)
		return (struct layout_label){point, angle, "start"};
	return (struct layout_label){point, angle + 180, "end"};
}
