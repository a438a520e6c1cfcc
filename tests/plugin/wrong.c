// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plug-ins that cannot be loaded; compiled with WRONG for each of the ways. Texts alone never stop
 * one: with WRONG_TEXTS it is loaded.
 */
#include "opensm/plugin.h"

#define WRONG_NOTHING 0 /* no symbol at all */
#define WRONG_CLASSIC 1 /* a plug-in of the classic daemon */
#define WRONG_ABI 2
#define WRONG_SIZE 3
#define WRONG_NULL 4
#define WRONG_NO_CREATE 5
#define WRONG_ENGINE_NAME 6
#define WRONG_ENGINES 7 /* one too many */
#define WRONG_TWICE 8
#define WRONG_NO_ROUTE 9
#define WRONG_TEXTS 10 /* longer than is shown, and not UTF-8 */

#if WRONG == WRONG_CLASSIC
extern const struct {
	const char *version;
	void *(*create)(void *osm);
	void (*delete)(void *context);
	void (*report)(void *context, int event, void *data);
} osm_event_plugin;
const __typeof__(osm_event_plugin) osm_event_plugin = {"OpenSM 3.3.23", 0, 0, 0};
#elif WRONG != WRONG_NOTHING
static void *create(const struct osm_host *host)
{
	return (void *)host;
}

static void destroy(void *context)
{
	(void)context;
}

#if WRONG != WRONG_NO_ROUTE
static int route(void *context, const struct osm_route_input *input,
		 struct osm_route_output *output)
{
	(void)context, (void)input, (void)output;
	return 1;
}
#endif

#if WRONG == WRONG_NO_ROUTE
#define WRONG_ROUTE NULL
#else
#define WRONG_ROUTE route
#endif
#define ENGINE(text)                                                                               \
	{                                                                                          \
		.size = sizeof(struct osm_engine), .name = text, .route = WRONG_ROUTE              \
	}
static const struct osm_engine names[17] = {
	ENGINE(WRONG == WRONG_ENGINE_NAME ? "a,b" : "a"),
	ENGINE(WRONG == WRONG_TWICE ? "a" : "b"),
	ENGINE("c"),
	ENGINE("d"),
	ENGINE("e"),
	ENGINE("f"),
	ENGINE("g"),
	ENGINE("h"),
	ENGINE("i"),
	ENGINE("j"),
	ENGINE("k"),
	ENGINE("l"),
	ENGINE("m"),
	ENGINE("n"),
	ENGINE("o"),
	ENGINE("p"),
	ENGINE("q"),
};
#define E(i) &names[i]
static const struct osm_engine *const engines[] = {
	E(0),
	E(1),
	E(2),
	E(3),
	E(4),
	E(5),
	E(6),
	E(7),
	E(8),
	E(9),
	E(10),
	E(11),
	E(12),
	E(13),
	E(14),
	E(15),
	WRONG == WRONG_ENGINES ? E(16) : NULL,
	NULL,
};

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_plugin plugin = {
		.size = sizeof(plugin) - (WRONG == WRONG_SIZE ? 8 : 0),
		.abi = OSM_PLUGIN_ABI + (WRONG == WRONG_ABI ? 1 : 0),
#if WRONG == WRONG_TEXTS
		.name = "0123456789012345678901234567890123456789012345678901234567890\u20AC",
		.version = "caf\xE9",
#else
		.name = "wrong",
#endif
		.create = WRONG == WRONG_NO_CREATE ? NULL : create,
		.destroy = destroy,
		.engines = engines,
	};

	return WRONG == WRONG_NULL ? NULL : &plugin;
}
#endif
