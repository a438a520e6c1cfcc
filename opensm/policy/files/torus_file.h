// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * torus-2QoS.conf: the shape of a torus or mesh, and where its coordinates begin;
 * torus-2QoS.conf(5).
 */
#ifndef POLICY_FILES_TORUS_FILE_H
#define POLICY_FILES_TORUS_FILE_H

#include <glib.h>

#include "route/engine.h"

#define TORUS_SEEDS_MAX 64
#define TORUS_PLACES_MAX 49151 /* number of LIDs */

struct torus_file {
	char *name;
	struct route_torus torus; /* without the arrays below */
	GArray *seeds;		  /* struct route_torus_seed */
	GArray *port_order;	  /* uint8_t, each port once */
};

#define TORUS_FILE_ERROR torus_file_error_quark()
GQuark torus_file_error_quark(void);

/*
 * If any line is wrong returns NULL and an error that names file, line, text and what was expected.
 */
struct torus_file *torus_file_load(const char *file, GError **error);
/* Parses length octets of text, which messages call file. */
struct torus_file *torus_file_parse(const char *file, const char *text, size_t length,
				    GError **error);
void torus_file_free(struct torus_file *file); /* NULL is fine */

/* The form that the engine reads; it points into the file. */
struct route_torus torus_file_input(const struct torus_file *file);	      /* empty if NULL */
bool torus_file_same(const struct torus_file *a, const struct torus_file *b); /* not for NULL */

#endif
