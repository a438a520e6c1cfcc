// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "fabric/cable_end.h"

#include <stddef.h>

struct transition {
	uint8_t from; /* set of enum cable_state, as bits */
	uint8_t to, clears, sets;
};

static const struct transition transitions[] = {
#define EVENT(name, ...) [CABLE_EVENT_##name] = {__VA_ARGS__},
#include "fabric/cable_end.def"
#undef EVENT
};

void cable_end_event(struct cable_end *end, enum cable_event event, uint64_t sweep)
{
	const struct transition *transition = &transitions[event];
	unsigned int marks = cable_end_marks(end, sweep);

	if (transition->from >> end->state & 1)
		end->state = transition->to;
	if (transition->sets & CABLE_ASKED)
		end->far_end = NULL;
	end->marks = (uint8_t)((marks & ~(unsigned int)transition->clears) | transition->sets);
	end->sweep = sweep;
}
