// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Log lines that the system's journal identifies. See milestones.def. */
#ifndef CORE_MILESTONES_H
#define CORE_MILESTONES_H

#include "complib/log.h"

/* Also the numbers of the messages for the log; 0: none. */
enum milestone {
	MILESTONE_NONE,
#define MILESTONE(name, id, meaning) MILESTONE_##name,
#include "core/milestones.def"
#undef MILESTONE
	MILESTONE_COUNT
};

#define log_milestone(log, name, ...)                                                              \
	log_at(log, LOG_SYS | LOG_INFO | LOG_MESSAGE(MILESTONE_##name), __VA_ARGS__)
#define log_milestone_error(log, name, ...)                                                        \
	log_at(log, LOG_SYS | LOG_ERROR | LOG_MESSAGE(MILESTONE_##name), __VA_ARGS__)

/* For struct log_config: the ids of the milestones, MILESTONE_COUNT of them, the first NULL. */
const char *const *milestone_ids(void);

#endif
