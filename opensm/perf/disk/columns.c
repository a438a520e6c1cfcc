// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files of columns: see columns.h. Pure functions, but for the file that is read. */
#include "perf/disk/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complib/scalar.h"

#define MAGIC 8
#define AT_VERSION 8
#define AT_COLUMNS 12
#define AT_LENGTH 16
#define AT_CHECKSUM 24
#define HEAD 32
#define ENTRY 12 /* of a chunk in the directory */
#define VARINT_MAX 10
#define CHUNK_MAX (COLUMNS_CHUNK * VARINT_MAX)
#define PLAIN (1u << 31)

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return GUINT32_FROM_LE(value);
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return GUINT64_FROM_LE(value);
}

static void put32(uint8_t *at, uint32_t value)
{
	value = GUINT32_TO_LE(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	value = GUINT64_TO_LE(value);
	memcpy(at, &value, sizeof(value));
}

/* FNV-1a, by octets. */
static uint64_t checksum(uint64_t sum, const uint8_t *octets, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum = (sum ^ octets[i]) * UINT64_C(0x100000001B3);
	return sum;
}

#define CHECKSUM_START UINT64_C(0xCBF29CE484222325)

/* Of the frame, without the field for it. */
static uint64_t frame_checksum(const uint8_t *head, const uint8_t *rest, size_t rest_length)
{
	return checksum(checksum(CHECKSUM_START, head, AT_CHECKSUM), rest, rest_length);
}

static uint64_t chunk_checksum(const uint8_t *octets, size_t length)
{
	return checksum(CHECKSUM_START, octets, length);
}

static uint32_t chunks_of(uint32_t n)
{
	return n / COLUMNS_CHUNK + (n % COLUMNS_CHUNK != 0);
}

/* ---- integers in memory ---- */

static void *place_of(const struct column *column, uint32_t i)
{
	return (char *)column->array + column->offset + i * column->stride;
}

static uint64_t load(const struct column *column, uint32_t i)
{
	return scalar_load(place_of(column, i), column->width);
}

/* False: it does not fit. */
static bool store(const struct column *column, uint32_t i, uint64_t value)
{
	if (column->width < 8 && value >> (8 * column->width))
		return false;
	scalar_store(place_of(column, i), column->width, value);
	return true;
}

/* The sign in bit 0, so that a small difference is a small number either way. */
static uint64_t fold_sign(uint64_t difference)
{
	return difference >> 63 ? ~(difference << 1) : difference << 1;
}

static uint64_t unfold_sign(uint64_t number)
{
	return number & 1 ? ~(number >> 1) : number >> 1;
}

/* ---- writing ---- */

struct columns_writer {
	GByteArray *head, *counts, *directory, *chunks;
	GConverter *deflate; /* NULL: no compression */
	uint8_t raw[CHUNK_MAX], packed[CHUNK_MAX];
};

struct columns_writer *columns_begin(const char *magic, uint32_t version, int level)
{
	struct columns_writer *writer = g_new(struct columns_writer, 1);

	writer->head = g_byte_array_new();
	writer->counts = g_byte_array_new();
	writer->directory = g_byte_array_new();
	writer->chunks = g_byte_array_new();
	writer->deflate = NULL;
	if (level)
		writer->deflate =
			G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_RAW, level));
	g_byte_array_set_size(writer->head, HEAD);
	memset(writer->head->data, 0, HEAD);
	memcpy(writer->head->data, magic, MAGIC);
	put32(writer->head->data + AT_VERSION, version);
	return writer;
}

/* Octets of the values in raw; 0: all are zero. */
static size_t write_varints(uint8_t *raw, const struct column *column, uint32_t first, uint32_t n)
{
	uint64_t before = 0, any = 0;
	size_t length = 0;

	for (uint32_t i = first; i < first + n; i++) {
		uint64_t value = load(column, i), number = value;

		if (column->steps)
			number = fold_sign(value - before);
		before = value;
		any |= number;
		for (; number >= 0x80; number >>= 7)
			raw[length++] = (uint8_t)(number | 0x80);
		raw[length++] = (uint8_t)number;
	}
	return any ? length : 0;
}

/* The length of the chunk in packed; 0: it would not be shorter. */
static size_t deflate(struct columns_writer *writer, size_t length)
{
	size_t in = 0, out = 0;

	if (!writer->deflate || length < 2)
		return 0;
	g_converter_reset(writer->deflate);
	while (out < length - 1) {
		gsize taken, given;
		GConverterResult result = g_converter_convert(
			writer->deflate, writer->raw + in, length - in, writer->packed + out,
			length - 1 - out, G_CONVERTER_INPUT_AT_END, &taken, &given, NULL);

		if (result == G_CONVERTER_ERROR)
			return 0;
		in += taken;
		out += given;
		if (result == G_CONVERTER_FINISHED)
			return out;
	}
	return 0;
}

void columns_add(struct columns_writer *writer, struct column column, uint32_t n)
{
	uint8_t entry[ENTRY], count[4];

	put32(count, n);
	g_byte_array_append(writer->counts, count, sizeof(count));
	for (uint32_t first = 0; first < n; first += COLUMNS_CHUNK) {
		size_t raw =
			write_varints(writer->raw, &column, first, MIN(COLUMNS_CHUNK, n - first));
		size_t packed = deflate(writer, raw), length = packed ? packed : raw;
		const uint8_t *octets = packed ? writer->packed : writer->raw;

		put32(entry, (uint32_t)length | (packed ? 0 : PLAIN));
		put64(entry + 4, chunk_checksum(octets, length));
		g_byte_array_append(writer->directory, entry, sizeof(entry));
		g_byte_array_append(writer->chunks, octets, (guint)length);
	}
}

GByteArray *columns_end(struct columns_writer *writer)
{
	GByteArray *file = writer->head;

	put32(file->data + AT_COLUMNS, writer->counts->len / 4);
	g_byte_array_append(file, writer->counts->data, writer->counts->len);
	g_byte_array_append(file, writer->directory->data, writer->directory->len);
	put64(file->data + AT_LENGTH, (uint64_t)file->len + writer->chunks->len);
	put64(file->data + AT_CHECKSUM,
	      frame_checksum(file->data, file->data + HEAD, file->len - HEAD));
	g_byte_array_append(file, writer->chunks->data, writer->chunks->len);
	g_byte_array_unref(writer->counts);
	g_byte_array_unref(writer->directory);
	g_byte_array_unref(writer->chunks);
	g_clear_object(&writer->deflate);
	g_free(writer);
	return file;
}

/* ---- the directory ---- */

/* Counts the chunks of all columns; false: a column is longer than any may be. */
static bool count_chunks(const uint8_t *counts, uint32_t n_columns, uint64_t *n_chunks)
{
	*n_chunks = 0;
	for (uint32_t i = 0; i < n_columns; i++) {
		uint32_t n = get32(counts + (size_t)i * 4);

		if (n > COLUMNS_VALUES_MAX)
			return false;
		*n_chunks += chunks_of(n);
	}
	return true;
}

bool columns_seal(uint8_t *octets, size_t length)
{
	uint64_t n_chunks, at;
	uint32_t n_columns;
	uint8_t *directory;

	if (length < HEAD)
		return false;
	n_columns = get32(octets + AT_COLUMNS);
	if (n_columns > COLUMNS_MAX || length < HEAD + n_columns * 4 ||
	    !count_chunks(octets + HEAD, n_columns, &n_chunks))
		return false;
	at = HEAD + n_columns * 4 + n_chunks * ENTRY;
	if (at > length)
		return false;
	directory = octets + HEAD + n_columns * 4;
	for (uint64_t i = 0; i < n_chunks; i++, directory += ENTRY) {
		uint32_t size = get32(directory) & ~PLAIN;

		if (size > length - at)
			return false;
		put64(directory + 4, chunk_checksum(octets + at, size));
		at += size;
	}
	put64(octets + AT_LENGTH, length);
	put64(octets + AT_CHECKSUM,
	      frame_checksum(octets, octets + HEAD, (size_t)(directory - octets) - HEAD));
	return true;
}

struct chunk {
	uint64_t at; /* in the file */
	uint64_t checksum;
	uint32_t length;
	bool plain;
};

struct columns_reader {
	char *file;
	int fd;
	GConverter *inflate;
	uint32_t n_columns;
	uint32_t count[COLUMNS_MAX];
	uint32_t first_chunk[COLUMNS_MAX];
	struct chunk *chunks;
	uint8_t packed[CHUNK_MAX], raw[CHUNK_MAX + 1];
};

static bool G_GNUC_PRINTF(4, 5)
	refuse(const char *file, GFileError code, GError **error, const char *format, ...)
{
	g_autofree char *why = NULL;
	va_list args;

	va_start(args, format);
	why = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, G_FILE_ERROR, code, "%s: %s", file, why);
	return false;
}

bool columns_wrong(const struct columns_reader *reader, const char *what, GError **error)
{
	return refuse(reader->file, G_FILE_ERROR_FAILED, error, "%s", what);
}

static bool read_at(const struct columns_reader *reader, uint64_t at, void *into, size_t length,
		    GError **error)
{
	char *to = into;

	while (length) {
		ssize_t n = pread(reader->fd, to, length, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return refuse(reader->file, g_file_error_from_errno(errno), error, "%s",
				      g_strerror(errno));
		if (!n)
			return columns_wrong(reader, "it ended while it was read", error);
		to += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	return true;
}

static bool check_head(const struct columns_reader *reader, const uint8_t *head, uint64_t length,
		       const char *magic, uint32_t version, uint32_t n_columns, GError **error)
{
	if (memcmp(head, magic, MAGIC) != 0)
		return refuse(reader->file, G_FILE_ERROR_FAILED, error,
			      "does not begin with '%.8s': it is not a file of that kind", magic);
	if (get32(head + AT_VERSION) != version)
		return refuse(reader->file, G_FILE_ERROR_NOSYS, error,
			      "has version %u, expected %u", get32(head + AT_VERSION), version);
	if (get64(head + AT_LENGTH) != length)
		return refuse(reader->file, G_FILE_ERROR_FAILED, error,
			      "has %" G_GUINT64_FORMAT " octets, expected %" G_GUINT64_FORMAT
			      ": it is torn",
			      length, get64(head + AT_LENGTH));
	if (get32(head + AT_COLUMNS) != n_columns)
		return refuse(reader->file, G_FILE_ERROR_FAILED, error,
			      "has %u columns, expected %u", get32(head + AT_COLUMNS), n_columns);
	return true;
}

/* Chunks follow each other to the end of the file. */
static bool take_directory(struct columns_reader *reader, const uint8_t *directory,
			   uint64_t n_chunks, uint64_t at, uint64_t length, GError **error)
{
	uint32_t chunk = 0;

	for (uint32_t i = 0; i < reader->n_columns; i++) {
		reader->first_chunk[i] = chunk;
		chunk += chunks_of(reader->count[i]);
	}
	reader->chunks = g_new(struct chunk, n_chunks);
	for (uint64_t i = 0; i < n_chunks; i++) {
		const uint8_t *entry = directory + i * ENTRY;
		uint32_t size = get32(entry) & ~PLAIN;

		if (size > CHUNK_MAX || size > length - at)
			return columns_wrong(reader, "a chunk is longer than it may be", error);
		reader->chunks[i] =
			(struct chunk){at, get64(entry + 4), size, (get32(entry) & PLAIN) != 0};
		at += size;
	}
	return at == length || columns_wrong(reader, "there is more than its chunks", error);
}

static bool read_directory(struct columns_reader *reader, const uint8_t *head, uint64_t length,
			   GError **error)
{
	uint8_t counts[COLUMNS_MAX * 4];
	size_t counts_size = (size_t)reader->n_columns * 4;
	g_autofree uint8_t *rest = NULL;
	uint64_t n_chunks, size;

	if (length < HEAD + counts_size)
		return columns_wrong(reader, "it is too short", error);
	if (!read_at(reader, HEAD, counts, counts_size, error))
		return false;
	if (!count_chunks(counts, reader->n_columns, &n_chunks))
		return columns_wrong(reader, "a column is longer than it may be", error);
	size = counts_size + n_chunks * ENTRY;
	if (size > length - HEAD)
		return columns_wrong(reader, "it is too short for its columns", error);
	rest = g_malloc(size);
	if (!read_at(reader, HEAD, rest, size, error))
		return false;
	if (frame_checksum(head, rest, size) != get64(head + AT_CHECKSUM) ||
	    memcmp(rest, counts, counts_size) != 0)
		return columns_wrong(reader, "its head is damaged", error);
	for (uint32_t i = 0; i < reader->n_columns; i++)
		reader->count[i] = get32(counts + (size_t)i * 4);
	return take_directory(reader, rest + counts_size, n_chunks, HEAD + size, length, error);
}

struct columns_reader *columns_open(const char *file, const char *magic, uint32_t version,
				    uint32_t n_columns, GError **error)
{
	struct columns_reader *reader;
	uint8_t head[HEAD];
	struct stat st;
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	bool good;

	if (fd < 0) {
		refuse(file, g_file_error_from_errno(errno), error, "%s", g_strerror(errno));
		return NULL;
	}
	reader = g_new(struct columns_reader, 1);
	reader->file = g_strdup(file);
	reader->fd = fd;
	reader->inflate = NULL;
	reader->chunks = NULL;
	reader->n_columns = n_columns;
	if (fstat(fd, &st) < 0)
		good = refuse(file, g_file_error_from_errno(errno), error, "%s", g_strerror(errno));
	else if (!S_ISREG(st.st_mode))
		good = refuse(file, G_FILE_ERROR_INVAL, error, "is not a regular file");
	else if (st.st_size < HEAD)
		good = columns_wrong(reader, "it is too short", error);
	else
		good = read_at(reader, 0, head, HEAD, error) &&
		       check_head(reader, head, (uint64_t)st.st_size, magic, version, n_columns,
				  error) &&
		       read_directory(reader, head, (uint64_t)st.st_size, error);
	if (good)
		return reader;
	columns_close(reader);
	return NULL;
}

void columns_close(struct columns_reader *reader)
{
	if (!reader)
		return;
	close(reader->fd);
	g_clear_object(&reader->inflate);
	g_free(reader->chunks);
	g_free(reader->file);
	g_free(reader);
}

uint32_t columns_count(const struct columns_reader *reader, unsigned int column)
{
	return reader->count[column];
}

bool columns_zero(const struct columns_reader *reader, unsigned int column)
{
	const struct chunk *chunks = reader->chunks + reader->first_chunk[column];

	for (uint32_t i = 0; i < chunks_of(reader->count[column]); i++)
		if (chunks[i].length)
			return false;
	return true;
}

/* ---- chunks ---- */

/* The length of the chunk in raw; 0: it is damaged, or longer than a chunk may be. */
static size_t inflate(struct columns_reader *reader, size_t length)
{
	size_t in = 0, out = 0;

	if (!reader->inflate)
		reader->inflate =
			G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_RAW));
	g_converter_reset(reader->inflate);
	while (out < sizeof(reader->raw)) {
		gsize taken, given;
		GConverterResult result = g_converter_convert(
			reader->inflate, reader->packed + in, length - in, reader->raw + out,
			sizeof(reader->raw) - out, G_CONVERTER_INPUT_AT_END, &taken, &given, NULL);

		if (result == G_CONVERTER_ERROR)
			return 0;
		in += taken;
		out += given;
		if (result == G_CONVERTER_FINISHED)
			return in == length ? out : 0;
	}
	return 0;
}

/* The octets of a chunk that is not all zeros. */
static const uint8_t *read_chunk(struct columns_reader *reader, const struct chunk *chunk,
				 size_t *length, GError **error)
{
	if (!read_at(reader, chunk->at, reader->packed, chunk->length, error))
		return NULL;
	*length = 0;
	if (chunk_checksum(reader->packed, chunk->length) == chunk->checksum)
		*length = chunk->plain ? chunk->length : inflate(reader, chunk->length);
	if (*length)
		return chunk->plain ? reader->packed : reader->raw;
	columns_wrong(reader, "a chunk is damaged", error);
	return NULL;
}

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	unsigned int shift = 0;
	uint64_t sum = 0;

	for (; *at < end && shift < 70; shift += 7) {
		uint8_t octet = *(*at)++;

		if (shift == 63 && octet > 1)
			return false;
		sum |= (uint64_t)(octet & 0x7F) << shift;
		if (!(octet & 0x80)) {
			*value = sum;
			return true;
		}
	}
	return false;
}

/* Of the n values of a chunk, those numbered from..to-1 go to `into` from number at on. */
static bool take_values(const uint8_t *octets, size_t length, uint32_t n, const struct column *into,
			uint32_t from, uint32_t to, uint32_t at)
{
	const uint8_t *end = octets + length;
	uint64_t before = 0, number;

	for (uint32_t i = 0; i < n; i++) {
		if (!take_varint(&octets, end, &number))
			return false;
		if (into->steps)
			number = before += unfold_sign(number);
		if (i >= from && i < to && !store(into, at + i - from, number))
			return false;
	}
	return octets == end;
}

bool columns_read(struct columns_reader *reader, unsigned int column, struct column into,
		  uint32_t first, uint32_t n, GError **error)
{
	uint32_t count = reader->count[column], end = first + n;

	g_assert(first <= count && n <= count - first);
	for (uint32_t number = first / COLUMNS_CHUNK; n && number <= (end - 1) / COLUMNS_CHUNK;
	     number++) {
		const struct chunk *chunk = &reader->chunks[reader->first_chunk[column] + number];
		uint32_t start = number * COLUMNS_CHUNK, from = MAX(first, start) - start;
		uint32_t values = MIN(COLUMNS_CHUNK, count - start);
		const uint8_t *octets;
		size_t length;

		if (!chunk->length)
			continue;
		octets = read_chunk(reader, chunk, &length, error);
		if (!octets)
			return false;
		if (!take_values(octets, length, values, &into, from, MIN(end - start, values),
				 start + from - first))
			return columns_wrong(reader, "the values of a chunk are wrong", error);
	}
	return true;
}
