// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routes in files: forwarding tables (lfts_file) as written by opensm-lfts.dump, dump_lfts,
 * dump_fts and ibroute, and hop counts (lid_matrix_dump_file) as in opensm-lid-matrix.dump.
 */
#ifndef POLICY_FILES_LFT_FILE_H
#define POLICY_FILES_LFT_FILE_H

#include <glib.h>

#include "route/engine.h"

struct lft_file {
	char *name;
	GArray *lfts;	 /* struct route_lft, each switch at most once */
	GArray *entries; /* struct route_lft_entry, each LID of a switch at most once */
};

struct hops_file {
	char *name;
	GArray *rows; /* struct route_hops_row, each LID of a switch at most once */
	GArray *hops; /* uint8_t */
};

#define LFT_FILE_ERROR lft_file_error_quark()
GQuark lft_file_error_quark(void);

/*
 * If any line is wrong returns NULL and an error that names file, line, text and what was expected.
 */
struct lft_file *lft_file_load(const char *file, GError **error);
struct hops_file *hops_file_load(const char *file, GError **error);
/* Parses length octets of text, which messages call file. */
struct lft_file *lft_file_parse(const char *file, const char *text, size_t length, GError **error);
struct hops_file *hops_file_parse(const char *file, const char *text, size_t length,
				  GError **error);
void lft_file_free(struct lft_file *file); /* NULL is fine */
void hops_file_free(struct hops_file *file);

/* The form that engines read; it points into the file. */
struct route_lfts lft_file_input(const struct lft_file *file); /* empty if NULL */
struct route_hops_rows hops_file_input(const struct hops_file *file);

#endif
