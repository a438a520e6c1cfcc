// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How congestion control stands, for the command cc: answers (ctl/base/answer.h) made of the
 * published report, of the options, and of images of counters; and how they are printed. Any
 * thread. Without a report congestion control has not been on since the start.
 */
#ifndef CTL_CC_CC_VIEW_H
#define CTL_CC_CC_VIEW_H

#include "cc/report.h"
#include "ctl/base/answer.h"
#include "ctl/perfmgr/word.h"

struct cc_view {
	const struct options *options;
	const struct cc_report *report; /* NULL: none yet */
	const struct fabric *fabric;	/* NULL: none yet; it may be newer than the report */
};

/* Each adds its members to a dictionary. */
void cc_view_state(const struct cc_view *view, GVariantBuilder *answer);
void cc_print_state(GVariant *answer, GString *out);

/* Which ports; node_guid 0: of all nodes. */
struct cc_wish {
	uint64_t node_guid;
	bool any_port, any_state;
	uint8_t port;
	enum cc_state state;
	bool fields; /* with what they have, and should have */
};
/* Returns their number. */
unsigned int cc_view_ports(const struct cc_view *view, const struct cc_wish *wish,
			   GVariantBuilder *answer);
void cc_print_ports(GVariant *answer, GString *out);

void cc_view_values(const struct cc_view *view, GVariantBuilder *answer);
void cc_print_values(GVariant *answer, GString *out);

/* The latest n events. */
void cc_view_log(const struct cc_view *view, unsigned int n, GVariantBuilder *answer);
void cc_print_log(GVariant *answer, GString *out);

/*
 * What ports counted before and after the last change, for at most window_ns each; false: files
 * have to be read first (perfmgr/word.h).
 */
bool cc_view_effect(const struct cc_view *view, struct perfmgr_call *counters, uint64_t window_ns,
		    GVariantBuilder *answer);
void cc_print_effect(GVariant *answer, GString *out);

/* ---- for the files of this folder ---- */

/* The LID, and the name of the node that owns it now, as the members key and "KEY_node". */
void cc_add_lid(GVariantBuilder *row, const char *key, const struct fabric *fabric, uint16_t lid);

/*
 * cc_fields.c: settings field by field, as dictionaries of field, wanted, has, differs. A field
 * that is not to be changed has no member "wanted", one that is not known no "has". Both octets
 * may be NULL.
 */
void cc_add_switch_fields(GVariantBuilder *list, const uint8_t *wanted, bool by_topology,
			  const uint8_t *has);
/* With pieces of each (cc/values.h); known: bits, which pieces of has were read. */
void cc_add_ca_fields(GVariantBuilder *list, const uint8_t *wanted, unsigned int n_wanted,
		      const uint8_t *has, unsigned int n_has, uint8_t known);
void cc_print_fields(GVariant *answer, const char *key, GString *out);
void cc_print_wanted(GVariant *answer, const char *key, GString *out); /* without "has" */

#endif
