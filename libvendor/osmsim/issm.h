// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* IsSM of ports, set while a process has a named pipe open. */
#ifndef OSMSIM_ISSM_H
#define OSMSIM_ISSM_H

#include "libvendor/osmsim/server.h"

struct issm *issm_new(struct server *server);
void issm_free(struct issm *issm); /* removes the pipes */
/* The pipe of a port, made at the first call. 0 or negative errno. */
int issm_path(struct issm *issm, struct sim_port *port, char *path, size_t size);
/* The node has power again: its ports lost IsSM, though processes still have their pipes open. */
void issm_refresh(struct issm *issm, const struct sim_node *node);

#endif
