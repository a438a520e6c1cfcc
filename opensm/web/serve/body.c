// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file is sent as it is, or compressed piece by piece: neither is in the memory of this process
 * as a whole, and the main loop runs other things between the pieces.
 */
#include "web/serve/body.h"

#include <string.h>
#include <zlib.h>

#define GZIP_MIN 1000		 /* octets; less is not worth it */
#define GZIP_LOCAL_MAX (1 << 20) /* within this host, compressing more costs more than it saves */
#define GZIP_WINDOW (15 + 16)	 /* the greatest one, with gzip's header */
#define PIECE 65536

static const char *const always[][2] = {
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
};

/* ---- compressed ---- */

struct squeezer {
	z_stream stream;
	GBytes *body;	   /* NULL: in the file */
	struct held *file; /* NULL: in the body */
	uint64_t at;	   /* of the file */
	char in[PIECE];
	bool ended; /* no more input */
};

static void squeezer_free(void *data)
{
	struct squeezer *squeezer = data;

	deflateEnd(&squeezer->stream);
	if (squeezer->body)
		g_bytes_unref(squeezer->body);
	held_unref(squeezer->file);
	g_free(squeezer);
}

/* The next input; false: it cannot be read. */
static bool refill(struct squeezer *squeezer)
{
	ssize_t n;

	if (squeezer->body || squeezer->ended || squeezer->stream.avail_in)
		return true;
	n = held_read(squeezer->file, squeezer->in, PIECE, squeezer->at);
	if (n < 0)
		return false;
	squeezer->at += (uint64_t)n;
	squeezer->ended = n == 0;
	squeezer->stream.next_in = (Bytef *)squeezer->in;
	squeezer->stream.avail_in = (uInt)n;
	return true;
}

static ssize_t read_squeezed(void *data, uint64_t position, char *out, size_t max)
{
	struct squeezer *squeezer = data;
	int result = Z_OK;

	(void)position;
	squeezer->stream.next_out = (Bytef *)out;
	squeezer->stream.avail_out = (uInt)MIN(max, G_MAXUINT);
	while (squeezer->stream.avail_out == max && result == Z_OK) {
		if (!refill(squeezer))
			return MHD_CONTENT_READER_END_WITH_ERROR;
		result = deflate(&squeezer->stream, squeezer->ended ? Z_FINISH : Z_NO_FLUSH);
	}
	max -= squeezer->stream.avail_out;
	if (max)
		return (ssize_t)max;
	return result == Z_STREAM_END ? MHD_CONTENT_READER_END_OF_STREAM
				      : MHD_CONTENT_READER_END_WITH_ERROR;
}

static struct MHD_Response *squeezed(const struct request *request)
{
	const struct answer *answer = request_taken_answer(request);
	struct squeezer *squeezer = g_new0(struct squeezer, 1);
	gsize size = 0;

	if (deflateInit2(&squeezer->stream, 1, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		g_free(squeezer);
		return NULL;
	}
	if (answer->body) {
		squeezer->body = g_bytes_ref(answer->body);
		squeezer->stream.next_in = (Bytef *)g_bytes_get_data(answer->body, &size);
		squeezer->stream.avail_in = (uInt)size;
		squeezer->ended = true;
	} else {
		squeezer->file = held_ref(answer->file);
	}
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE / 2, read_squeezed,
						 squeezer, squeezer_free);
}

/* ---- as it is ---- */

static void unref_bytes(void *bytes)
{
	g_bytes_unref(bytes);
}

static ssize_t read_held(void *file, uint64_t position, char *out, size_t max)
{
	ssize_t n = held_read(file, out, max, position);

	return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void unref_held(void *file)
{
	held_unref(file);
}

static struct MHD_Response *plain(const struct request *request)
{
	const struct answer *answer = request_taken_answer(request);
	gsize size = 0;
	void *octets;

	if (answer->file)
		return MHD_create_response_from_callback(held_size(answer->file), PIECE, read_held,
							 held_ref(answer->file), unref_held);
	if (!answer->body)
		return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	octets = (void *)g_bytes_get_data(answer->body, &size);
	return MHD_create_response_from_buffer_with_free_callback_cls(size, octets, unref_bytes,
								      g_bytes_ref(answer->body));
}

/* ---- which of them ---- */

static bool is_text(const char *type)
{
	return type &&
	       (g_str_has_prefix(type, "text/") || g_str_has_prefix(type, "application/json") ||
		g_str_has_prefix(type, "application/openmetrics-text"));
}

uint64_t body_size(const struct answer *answer)
{
	if (answer->body)
		return g_bytes_get_size(answer->body);
	return answer->file ? held_size(answer->file) : 0;
}

static const char *header_of(const struct answer *answer, const char *name)
{
	for (guint i = 0; i + 1 < answer->headers->len; i += 2)
		if (!g_ascii_strcasecmp(answer->headers->pdata[i], name))
			return answer->headers->pdata[i + 1];
	return NULL;
}

static bool is_worth_squeezing(const struct request *request)
{
	const struct answer *answer = request_taken_answer(request);
	uint64_t size = body_size(answer);

	return is_text(answer->type) && !header_of(answer, "Content-Encoding") &&
	       size >= GZIP_MIN && request_takes_gzip(request) &&
	       (!request_caller(request)->local || size <= GZIP_LOCAL_MAX);
}

static void add_headers(struct MHD_Response *response, const struct answer *answer, bool gzip)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(always); i++)
		MHD_add_response_header(response, always[i][0], always[i][1]);
	for (guint i = 0; i + 1 < answer->headers->len; i += 2)
		MHD_add_response_header(response, answer->headers->pdata[i],
					answer->headers->pdata[i + 1]);
	if (!header_of(answer, "Cache-Control"))
		MHD_add_response_header(response, "Cache-Control", "no-store");
	if (answer->type)
		MHD_add_response_header(response, "Content-Type", answer->type);
	if (is_text(answer->type))
		MHD_add_response_header(response, "Vary", "Accept-Encoding");
	if (gzip)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
}

struct MHD_Response *body_response(struct request *request)
{
	bool gzip = is_worth_squeezing(request);
	struct MHD_Response *response = gzip ? squeezed(request) : plain(request);

	if (response)
		add_headers(response, request_taken_answer(request), gzip);
	return response;
}
