// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a line of the log is about, for programs: fields beside its text, in the system's journal
 * and in a log as JSON (log_format json). opensm(8) lists them.
 */
#ifndef CORE_ABOUT_H
#define CORE_ABOUT_H

#include "complib/log.h"
#include "core/milestones.h"

/* What is 0 or NULL is not known, and makes no field. */
struct about {
	const char *kind;   /* OPENSM_KIND: "link", as the console's "events" has it */
	const char *change; /* OPENSM_CHANGE: "link_down" */
	const char *state;  /* OPENSM_STATE: "MASTER" */
	uint64_t guid;	    /* OPENSM_GUID: of the node */
	const char *node;   /* OPENSM_NODE: its name */
	uint8_t port;	    /* OPENSM_PORT */
	uint16_t lid;	    /* OPENSM_LID */
	uint64_t peer_guid; /* OPENSM_PEER_GUID: of the node at the other end */
	uint8_t peer_port;  /* OPENSM_PEER_PORT */
	uint64_t generation; /* OPENSM_GENERATION: of the published subnet */
};

void about_write(struct log *log, unsigned int level, const char *file_c,
		 const struct about *about, const char *format, ...) G_GNUC_PRINTF(5, 6);

#define log_about(log, level, about, ...)                                                          \
	do {                                                                                       \
		if (log_wants((log), (level), __FILE__))                                           \
			about_write((log), (level), __FILE__, (about), __VA_ARGS__);               \
	} while (0)
#define log_milestone_about(log, name, about, ...)                                                 \
	log_about(log, LOG_SYS | LOG_INFO | LOG_MESSAGE(MILESTONE_##name), about, __VA_ARGS__)
#define log_milestone_error_about(log, name, about, ...)                                           \
	log_about(log, LOG_SYS | LOG_ERROR | LOG_MESSAGE(MILESTONE_##name), about, __VA_ARGS__)

#endif
