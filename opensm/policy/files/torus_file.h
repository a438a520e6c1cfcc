// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* torus-2QoS.conf: the shape of a torus or mesh, and from where to find it; torus-2QoS.conf(5). */
#ifndef POLICY_FILES_TORUS_FILE_H
#define POLICY_FILES_TORUS_FILE_H

#include <glib.h>

#include "route/engine.h"

#define TORUS_SEEDS_MAX 64
#define TORUS_PLACES_MAX 49151 /* LIDs */

struct torus_file {
	char *name;
	struct route_torus torus; /* without what follows */
	GArray *seeds;		  /* struct route_torus_seed */
	GArray *port_order;	  /* uint8_t, each once */
};

#define TORUS_FILE_ERROR torus_file_error_quark()
GQuark torus_file_error_quark(void);

/* NULL and error, which names file, line, text and what was expected, if any line is wrong. */
struct torus_file *torus_file_load(const char *file, GError **error);
/* The same of length octets of text, called file in messages. */
struct torus_file *torus_file_parse(const char *file, const char *text, size_t length,
				    GError **error);
void torus_file_free(struct torus_file *file); /* NULL is fine */

/* As the engine reads it; it points into the file. */
struct route_torus torus_file_input(const struct torus_file *file);	      /* none if NULL */
bool torus_file_same(const struct torus_file *a, const struct torus_file *b); /* both not NULL */

#endif
