// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The assets are in the program, compressed. Their ETag is a checksum: a browser asks each time,
 * and is sent again only what another version of opensm-web has changed.
 */
#include "web/page/page.h"

#include <gio/gio.h>
#include <string.h>

#include "web/page/asset.h"

#define PREFIX "/assets/"
#define FIRST "index.html"

static const char *type_of(const char *name)
{
	static const struct {
		const char *suffix, *type;
	} types[] = {
		{".html", "text/html; charset=utf-8"},
		{".css", "text/css; charset=utf-8"},
		{".js", "text/javascript; charset=utf-8"},
		{".svg", "image/svg+xml"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
		if (g_str_has_suffix(name, types[i].suffix))
			return types[i].type;
	return "application/octet-stream";
}

static GBytes *unpack(GBytes *packed)
{
	g_autoptr(GZlibDecompressor) gzip = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP);
	g_autoptr(GInputStream) from = g_memory_input_stream_new_from_bytes(packed);
	g_autoptr(GInputStream) through = g_converter_input_stream_new(from, G_CONVERTER(gzip));
	g_autoptr(GOutputStream) to = g_memory_output_stream_new_resizable();
	gssize n = g_output_stream_splice(to, through, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL,
					  NULL);

	return n < 0 ? NULL : g_memory_output_stream_steal_as_bytes(G_MEMORY_OUTPUT_STREAM(to));
}

/* The client has this already; If-None-Match may list several. */
static bool has_it(const struct request *request, const char *etag)
{
	const char *known = request_header(request, "If-None-Match");

	return known && strstr(known, etag) != NULL;
}

static void answer(struct request *request, const struct page_asset *asset)
{
	g_autoptr(GBytes) packed = g_bytes_new_static(asset->octets, asset->n);
	g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, packed);
	g_autofree char *etag = g_strdup_printf("\"%.20s\"", sum);
	g_autofree char *header = g_strconcat("W/", etag, NULL);
	GBytes *whole;

	request_set_header(request, "ETag", header);
	request_set_header(request, "Cache-Control", "no-cache");
	if (has_it(request, etag)) {
		request_answer(request, 304, NULL, NULL);
		return;
	}
	if (request_takes_gzip(request)) {
		request_set_header(request, "Content-Encoding", "gzip");
		request_set_header(request, "Vary", "Accept-Encoding");
		request_answer(request, 200, type_of(asset->name), g_bytes_ref(packed));
		return;
	}
	whole = unpack(packed);
	if (whole)
		request_answer(request, 200, type_of(asset->name), whole);
	else
		request_fail(request, 500, "%s: cannot be unpacked", asset->name);
}

void page_serve(struct web *web, struct request *request)
{
	const char *name = g_str_has_prefix(request->path, PREFIX) ? request->path + strlen(PREFIX)
								   : FIRST;

	if (!web->config->page) {
		request_fail(request, 404, "the page is off");
		return;
	}
	for (const struct page_asset *asset = page_assets; asset->name; asset++)
		if (!strcmp(asset->name, name)) {
			answer(request, asset);
			return;
		}
	request_fail(request, 404, "%s: not found", request->path);
}
