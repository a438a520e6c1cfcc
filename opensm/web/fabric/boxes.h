// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a picture of a part of the fabric shows: boxes, and bundles of cables between them. */
#ifndef WEB_FABRIC_BOXES_H
#define WEB_FABRIC_BOXES_H

#include "web/fabric/args.h"
#include "web/fabric/view.h"

enum box_kind { BOX_SWITCH, BOX_GROUP, BOX_SET, BOX_GROUPS };

struct box {
	enum box_kind kind;
	uint32_t head; /* node */
	uint32_t switches, hosts;
	uint32_t lost, slow; /* ends of cables; a cable in the box counts twice */
	uint32_t loops; /* cables that lead back to the same switch */
	uint32_t unhealthy, silent;
	uint32_t alarm;		   /* the most severe */
	float errors_minute, load; /* the sum, and the greatest */
};

struct bundle {
	uint32_t a, b; /* boxes, a < b; b IMAGE_NONE: what is not shown */
	uint32_t cables, lost, slow, alarm;
	float errors_minute, octets_s; /* sums of both directions */
	float load;		       /* the greatest */
};

struct boxes {
	const struct fabric_view *view;
	GArray *boxes;	  /* struct box */
	GArray *bundles;  /* struct bundle */
	uint32_t *box_of; /* [node]: of a switch that is shown, else IMAGE_NONE */
	uint32_t boxes_left_out, bundles_left_out;
};

/* Opens the fabric, or what one of the arguments group, set and groups names. */
bool boxes_open(struct boxes *boxes, const struct fabric_view *view, const struct args *args,
		GError **error);
/* Each switch is a box. */
void boxes_open_whole(struct boxes *boxes, const struct fabric_view *view);
/* The argument that opens it, newly allocated. */
char *boxes_opening(const struct boxes *boxes, const struct box *box);
void boxes_find_bundles(struct boxes *boxes);
void boxes_clear(struct boxes *boxes);

void boxes_emit(const struct boxes *boxes, struct emit *emit);
void boxes_emit_bundles(const struct boxes *boxes, struct emit *emit);

#endif
