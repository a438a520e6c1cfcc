// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The two blocks of a call, on the daemon's side. */
#ifndef PLUGIN_ENGINE_EXCHANGE_H
#define PLUGIN_ENGINE_EXCHANGE_H

#include "plugin/base/block.h"
#include "route/engine.h"

/* Octets of a row in the blocks: as in struct routing. */
static inline uint32_t exchange_stride(const struct fabric *fabric)
{
	return (fabric->max_lid / 64u + 1) * 64;
}

/* The input of a call, frozen. False and error of G_FILE_ERROR. */
bool exchange_input(struct block *block, const struct fabric *fabric,
		    const struct route_input *input, GError **error);

/* An empty output. */
bool exchange_output(struct block *block, const struct fabric *fabric,
		     const struct route_input *input, GError **error);
/* The result is not wanted any more. */
void exchange_cancel(const struct block *output);
/*
 * What the plug-in wrote as a routing of this engine; NULL and error if it is not one. The plug-in
 * may be writing meanwhile.
 */
struct routing *exchange_take(const struct block *output, const struct route_engine *engine,
			      const struct fabric *fabric, const struct route_input *input,
			      GError **error);
/* The note, in printable UTF-8; newly allocated. */
char *exchange_note(const struct block *output);

#endif
