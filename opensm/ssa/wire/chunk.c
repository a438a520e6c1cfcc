// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chunks: frames of zstd and their names.
 *
 * Short rows are turned before they are compressed: first the first octet of each row, then the
 * second, and so on, as columns of a table repeat themselves more than its rows do. A table of
 * 40,000 ports becomes half as long by that.
 */
#include <stdarg.h>
#include <string.h>
#include <zstd.h>

#include "ssa/wire/wire_private.h"

/* Equal rows must make equal frames: the version of zstd is the only other thing that may count. */
#define LEVEL 3

struct ssa_packer {
	ZSTD_CCtx *compressor;
	ZSTD_DCtx *decompressor;
	GByteArray *turned;
};

GQuark ssa_wire_error_quark(void)
{
	return g_quark_from_static_string("ssa-wire-error");
}

bool ssa_wire_fail(GError **error, enum ssa_wire_error code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (error)
		*error = g_error_new_valist(SSA_WIRE_ERROR, code, format, arguments);
	va_end(arguments);
	return false;
}

/* ---- names ---- */

void ssa_name_print(const uint8_t octets[SSA_NAME_OCTETS], char name[SSA_NAME_LENGTH + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned int i = 0; i < SSA_NAME_OCTETS; i++) {
		name[2 * i] = digits[octets[i] >> 4];
		name[2 * i + 1] = digits[octets[i] & 0xF];
	}
	name[SSA_NAME_LENGTH] = '\0';
}

void ssa_name_scan(const char *name, uint8_t octets[SSA_NAME_OCTETS])
{
	for (unsigned int i = 0; i < SSA_NAME_OCTETS; i++)
		octets[i] = (uint8_t)(g_ascii_xdigit_value(name[2 * i]) << 4 |
				      g_ascii_xdigit_value(name[2 * i + 1]));
}

bool ssa_chunk_is_name(const char *name)
{
	return strlen(name) == SSA_NAME_LENGTH &&
	       strspn(name, "0123456789abcdef") == SSA_NAME_LENGTH;
}

static void name_of(const void *frame, size_t length, char name[SSA_NAME_LENGTH + 1])
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	uint8_t digest[32];
	gsize n = sizeof(digest);

	g_checksum_update(sum, frame, (gssize)length);
	g_checksum_get_digest(sum, digest, &n);
	ssa_name_print(digest, name);
}

bool ssa_chunk_has_name(GBytes *frame, const char *name)
{
	char real[SSA_NAME_LENGTH + 1];
	size_t length;
	const void *data = g_bytes_get_data(frame, &length);

	name_of(data, length, real);
	return strcmp(name, real) == 0;
}

/* ---- frames ---- */

struct ssa_packer *ssa_packer_new(void)
{
	return g_new0(struct ssa_packer, 1);
}

void ssa_packer_free(struct ssa_packer *packer)
{
	ZSTD_freeCCtx(packer->compressor);
	ZSTD_freeDCtx(packer->decompressor);
	if (packer->turned)
		g_byte_array_unref(packer->turned);
	g_free(packer);
}

static ZSTD_CCtx *compressor(struct ssa_packer *packer)
{
	if (!packer->compressor) {
		packer->compressor = ZSTD_createCCtx();
		if (!packer->compressor)
			g_error("no memory for a compressor");
		ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_checksumFlag, 1);
	}
	return packer->compressor;
}

static GBytes *compress(struct ssa_packer *packer, const void *data, size_t length,
			char name[SSA_NAME_LENGTH + 1])
{
	size_t room = ZSTD_compressBound(length), n;
	uint8_t *frame = g_malloc(room);

	n = ZSTD_compress2(compressor(packer), frame, room, data, length);
	if (ZSTD_isError(n)) /* no memory: there is room, and nothing else can go wrong */
		g_error("zstd: %s", ZSTD_getErrorName(n));
	name_of(frame, n, name);
	return g_bytes_new_take(g_realloc(frame, n), n);
}

/* The octets that one whole frame says it has; at most SSA_CHUNK_MAX. */
static bool content_size(GBytes *frame, const char *name, size_t *size, GError **error)
{
	size_t length;
	const void *data = g_bytes_get_data(frame, &length);
	unsigned long long n;

	if (length > SSA_CHUNK_MAX)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "chunk %s has %zu octets, at most %u are expected", name,
				     length, SSA_CHUNK_MAX);
	if (!ssa_chunk_has_name(frame, name))
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "what is kept as chunk %s is another one, or torn", name);
	n = ZSTD_getFrameContentSize(data, length);
	if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR || n > SSA_CHUNK_MAX ||
	    ZSTD_findFrameCompressedSize(data, length) != length)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "chunk %s is not a zstd frame of at most %u octets", name,
				     SSA_CHUNK_MAX);
	*size = (size_t)n;
	return true;
}

static bool decompress(struct ssa_packer *packer, GBytes *frame, const char *name, uint8_t *data,
		       size_t length, GError **error)
{
	size_t n, size;
	const void *octets = g_bytes_get_data(frame, &size);

	if (!packer->decompressor)
		packer->decompressor = ZSTD_createDCtx();
	if (!packer->decompressor)
		g_error("no memory for a decompressor");
	n = ZSTD_decompressDCtx(packer->decompressor, data, length, octets, size);
	if (ZSTD_isError(n) || n != length)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN, "chunk %s: zstd: %s", name,
				     ZSTD_isError(n) ? ZSTD_getErrorName(n) : "too short");
	return true;
}

GBytes *ssa_chunk_pack(const void *data, size_t length, char name[SSA_NAME_LENGTH + 1])
{
	struct ssa_packer *packer = ssa_packer_new();
	GBytes *frame = compress(packer, data, length, name);

	ssa_packer_free(packer);
	return frame;
}

GBytes *ssa_chunk_unpack(GBytes *frame, const char *name, size_t max, GError **error)
{
	struct ssa_packer *packer;
	uint8_t *data;
	size_t size;
	bool done;

	if (!content_size(frame, name, &size, error))
		return NULL;
	if (size > max) {
		ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
			      "chunk %s is of %zu octets, at most %zu are expected", name, size,
			      max);
		return NULL;
	}
	packer = ssa_packer_new();
	data = g_malloc(MAX(size, 1));
	done = decompress(packer, frame, name, data, size, error);
	ssa_packer_free(packer);
	if (done)
		return g_bytes_new_take(data, size);
	g_free(data);
	return NULL;
}

/* ---- rows ---- */

static bool is_turned(uint32_t row_size, size_t rows)
{
	return row_size > 1 && row_size <= SSA_TURNED_MAX && rows > 1;
}

static uint8_t *room_to_turn(struct ssa_packer *packer, size_t length)
{
	if (!packer->turned)
		packer->turned = g_byte_array_new();
	g_byte_array_set_size(packer->turned, (guint)length);
	return packer->turned->data;
}

/* Rows of n octets become n rows. */
static void turn(const uint8_t *from, size_t rows, size_t n, uint8_t *to)
{
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < n; i++)
			to[i * rows + row] = from[row * n + i];
}

GBytes *ssa_packer_rows(struct ssa_packer *packer, const uint8_t *data, uint32_t row_size,
			size_t rows, char name[SSA_NAME_LENGTH + 1])
{
	size_t length = rows * row_size;

	if (is_turned(row_size, rows)) {
		uint8_t *turned = room_to_turn(packer, length);

		turn(data, rows, row_size, turned);
		data = turned;
	}
	return compress(packer, data, length, name);
}

bool ssa_unpack_rows(struct ssa_packer *packer, GBytes *frame, const char *name, uint8_t *data,
		     uint32_t row_size, size_t rows, GError **error)
{
	size_t length = rows * row_size, size;
	bool turned = is_turned(row_size, rows);
	uint8_t *to = data;

	if (!content_size(frame, name, &size, error))
		return false;
	if (size != length)
		return ssa_wire_fail(error, SSA_WIRE_ERROR_BROKEN,
				     "chunk %s is of %zu octets, %zu rows of %u are expected", name,
				     size, rows, row_size);
	if (turned)
		to = room_to_turn(packer, length);
	if (!decompress(packer, frame, name, to, length, error))
		return false;
	if (turned)
		turn(to, row_size, rows, data);
	return true;
}
