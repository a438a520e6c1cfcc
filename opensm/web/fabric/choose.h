// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which nodes and ports of an image arguments ask for. */
#ifndef WEB_FABRIC_CHOOSE_H
#define WEB_FABRIC_CHOOSE_H

#include "web/fabric/args.h"
#include "web/fabric/view.h"

/* Part of the name, in any case of letters; true if no name was given. */
bool choose_name(const struct fabric_view *view, uint32_t node, const struct args *args);
/* Whether the port has the problem that was asked for; true if none was. */
bool choose_problem(const struct image_port *port, const struct args *args);
/* The node itself, or one of its ports. */
bool choose_node_problem(const struct fabric_view *view, uint32_t node, const struct args *args);
/* The first port behind that of the argument after; 0 if it was not given. */
uint32_t choose_first_port(const struct fabric_view *view, const struct args *args);
uint32_t choose_first_node(const struct fabric_view *view, const struct args *args);
/* The port that node and port name; IMAGE_NONE and error. */
uint32_t choose_port(const struct fabric_view *view, const struct args *args, GError **error);

#endif
