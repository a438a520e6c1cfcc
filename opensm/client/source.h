// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef CLIENT_SOURCE_H
#define CLIENT_SOURCE_H

#include <glib.h>

/* Takes a source off its loop and gives up the reference; *source NULL: there is none. */
static inline void source_drop(GSource **source)
{
	if (!*source)
		return;
	g_source_destroy(*source);
	g_source_unref(*source);
	*source = NULL;
}

#endif
