// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A capture file. A thread that sends or receives a MAD only puts a copy on a list, under a lock
 * that is never held for longer. One thread of the capture takes the list every second, or as soon
 * as it is long, makes packets of it (capture_frame.c) and writes them.
 *
 * A full or slow disk must not hurt the subnet: after the first error nothing is captured any more,
 * and records that would make the list longer than PENDING_MAX octets are dropped and counted.
 */
#include <complib/file.h>
#include <complib/thread.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture_private.h"

#define FLUSH_SECONDS 1
#define PENDING_WAKE (256U << 10)
#define PENDING_MAX (64U << 20)

/* Offsets of the RMPP fields that change from segment to segment (IBA 13.6.2). */
#define AT_CLASS 1
#define AT_RMPP_TYPE 25
#define AT_RMPP_FLAGS 26
#define AT_RMPP_SEGMENT 28
#define AT_RMPP_DATA2 32
#define AT_CLASS_HEADER 36
#define VENDOR_OUI_HEADERS 40

struct record {
	uint64_t number, time_ns;
	struct capture_address address;
	size_t length;
	uint8_t data[];
};

struct capture {
	struct log *log;
	char *file;
	int fd; /* of the thread */
	pthread_t thread;
	pthread_mutex_t lock; /* for the fields below */
	pthread_cond_t wake;
	GPtrArray *pending; /* struct record, ordered by number */
	size_t pending_bytes;
	uint64_t next, dropped;
	bool over, failed;
};

/* ---- from messages to packets; any thread ---- */

static size_t segment_headers(const uint8_t *data)
{
	if (data[AT_CLASS] == IBA_CLASS_SUBN_ADM)
		return IBA_SA_DATA_OFFSET;
	if (data[AT_CLASS] >= IBA_CLASS_VENDOR_OUI_FIRST &&
	    data[AT_CLASS] <= IBA_CLASS_VENDOR_OUI_LAST)
		return VENDOR_OUI_HEADERS;
	return 0; /* a class without RMPP */
}

/* False for a segment, which is a MAD of its own, and for a message that fits one segment. */
static bool is_message(const struct record *record)
{
	size_t headers = segment_headers(record->data);

	return headers && record->length > headers && record->length != IBA_MAD_BYTES &&
	       (record->data[AT_RMPP_FLAGS] & IBA_RMPP_ACTIVE) &&
	       (record->length > IBA_MAD_BYTES || record->data[AT_RMPP_TYPE] == IBA_RMPP_NONE ||
		record->data[AT_RMPP_TYPE] == IBA_RMPP_DATA);
}

static void put32(uint8_t *at, uint32_t value)
{
	value = GUINT32_TO_BE(value);
	memcpy(at, &value, sizeof(value));
}

static void frame_message(const struct record *record, GByteArray *out)
{
	size_t headers = segment_headers(record->data), room = IBA_MAD_BYTES - headers;
	size_t octets = record->length - headers, segments = (octets + room - 1) / room;
	size_t class_header = headers - AT_CLASS_HEADER;

	for (size_t i = 0; i < segments; i++) {
		size_t left = octets - i * room, n = MIN(left, room);
		uint8_t mad[IBA_MAD_BYTES] = {0}, flags = IBA_RMPP_ACTIVE;
		size_t payload = 0;

		memcpy(mad, record->data, headers);
		memcpy(mad + headers, record->data + headers + i * room, n);
		if (i == 0) {
			flags |= IBA_RMPP_FIRST;
			payload = octets + segments * class_header;
		}
		if (i + 1 == segments) {
			flags |= IBA_RMPP_LAST;
			payload = n + class_header;
		}
		mad[AT_RMPP_TYPE] = IBA_RMPP_DATA;
		mad[AT_RMPP_FLAGS] = (mad[AT_RMPP_FLAGS] & 0xF8) | flags;
		put32(mad + AT_RMPP_SEGMENT, (uint32_t)(i + 1));
		put32(mad + AT_RMPP_DATA2, (uint32_t)payload);
		capture_frame(out, record->time_ns, &record->address, mad);
	}
}

static void frame_record(const struct record *record, GByteArray *out)
{
	uint8_t mad[IBA_MAD_BYTES] = {0};

	if (record->length > AT_CLASS_HEADER && is_message(record)) {
		frame_message(record, out);
		return;
	}
	memcpy(mad, record->data, MIN(record->length, sizeof(mad)));
	capture_frame(out, record->time_ns, &record->address, mad);
}

/* ---- the thread ---- */

static bool write_records(struct capture *capture, const GPtrArray *records)
{
	g_autoptr(GByteArray) out = g_byte_array_new();

	for (guint i = 0; i < records->len; i++) {
		frame_record(records->pdata[i], out);
		if (out->len < PENDING_WAKE && i + 1 < records->len)
			continue;
		if (!file_put(capture->fd, out->data, out->len)) {
			log_error(capture->log, "%s: %s: capturing stops", capture->file,
				  g_strerror(errno));
			return false;
		}
		g_byte_array_set_size(out, 0);
	}
	return true;
}

static bool is_due(const struct capture *capture)
{
	return capture->over || capture->pending_bytes >= PENDING_WAKE;
}

/* Waits until there is work; the caller gets the pending records. */
static GPtrArray *take_pending(struct capture *capture, bool *over, uint64_t *dropped)
{
	GPtrArray *taken = NULL;
	struct timespec until;
	int expired = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += FLUSH_SECONDS;
	pthread_mutex_lock(&capture->lock);
	while (!is_due(capture) && expired == 0)
		expired = pthread_cond_timedwait(&capture->wake, &capture->lock, &until);
	taken = capture->pending;
	capture->pending = g_ptr_array_new_with_free_func(g_free);
	capture->pending_bytes = 0;
	*dropped = capture->dropped;
	capture->dropped = 0;
	*over = capture->over;
	pthread_mutex_unlock(&capture->lock);
	return taken;
}

static void *writer(void *arg)
{
	struct capture *capture = arg;
	bool over = false, ok = true;

	while (!over) {
		uint64_t dropped;
		g_autoptr(GPtrArray) records = take_pending(capture, &over, &dropped);

		if (dropped)
			log_error(capture->log, "%s: the disk is too slow: %" PRIu64 " MADs lost",
				  capture->file, dropped);
		if (!ok || write_records(capture, records))
			continue;
		ok = false;
		pthread_mutex_lock(&capture->lock);
		capture->failed = true;
		pthread_mutex_unlock(&capture->lock);
	}
	return NULL;
}

/* ---- for other threads ---- */

static struct record *record_new(uint64_t time_ns, const struct capture_address *address,
				 const uint8_t *data, size_t length)
{
	struct record *record = g_malloc(sizeof(*record) + length);

	record->time_ns = time_ns;
	record->address = *address;
	record->length = length;
	memcpy(record->data, data, length);
	return record;
}

uint64_t capture_write(struct capture *capture, uint64_t time_ns,
		       const struct capture_address *address, const uint8_t *data, size_t length)
{
	struct record *record = record_new(time_ns, address, data, length);
	uint64_t number;

	pthread_mutex_lock(&capture->lock);
	number = record->number = capture->next++;
	if (!capture->failed && capture->pending_bytes + length <= PENDING_MAX) {
		g_ptr_array_add(capture->pending, record);
		capture->pending_bytes += sizeof(*record) + length;
		record = NULL;
		if (is_due(capture))
			pthread_cond_signal(&capture->wake);
	} else if (!capture->failed) {
		capture->dropped++;
	}
	pthread_mutex_unlock(&capture->lock);
	g_free(record);
	return number;
}

void capture_retract(struct capture *capture, uint64_t number)
{
	pthread_mutex_lock(&capture->lock);
	for (guint i = capture->pending->len; i-- > 0;) {
		const struct record *record = capture->pending->pdata[i];

		if (record->number < number)
			break;
		if (record->number == number) {
			capture->pending_bytes -= sizeof(*record) + record->length;
			g_ptr_array_remove_index(capture->pending, i);
			break;
		}
	}
	pthread_mutex_unlock(&capture->lock);
}

static int create_file(const char *file, GError **error)
{
	g_autoptr(GByteArray) header = g_byte_array_new();
	g_autofree char *temporary = NULL;
	/* MADs contain M_Keys and SM_Keys: other users must not read the file. */
	int fd = file_create(file, 0600, &temporary, error);

	if (fd < 0) {
		g_prefix_error(error, "cannot write ");
		return -1;
	}
	capture_frame_header(header);
	if (file_put(fd, header->data, header->len) && rename(temporary, file) == 0)
		return fd;
	g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_SYSTEM, "cannot write %s: %s", file,
		    g_strerror(errno));
	unlink(temporary);
	close(fd);
	return -1;
}

static void capture_destroy(struct capture *capture)
{
	close(capture->fd);
	g_ptr_array_unref(capture->pending);
	pthread_cond_destroy(&capture->wake);
	pthread_mutex_destroy(&capture->lock);
	g_free(capture->file);
	g_free(capture);
}

struct capture *capture_new(const char *file, struct log *log, GError **error)
{
	int fd = create_file(file, error), why;
	struct capture *capture;
	pthread_condattr_t attr;

	if (fd < 0)
		return NULL;
	capture = g_new0(struct capture, 1);
	capture->log = log;
	capture->file = g_strdup(file);
	capture->fd = fd;
	capture->pending = g_ptr_array_new_with_free_func(g_free);
	pthread_mutex_init(&capture->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&capture->wake, &attr);
	pthread_condattr_destroy(&attr);
	why = thread_try(&capture->thread, NULL, writer, capture);
	if (why == 0)
		return capture;
	g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_SYSTEM, "%s: no thread to write it: %s", file,
		    g_strerror(why));
	capture_destroy(capture);
	return NULL;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	pthread_mutex_lock(&capture->lock);
	capture->over = true;
	pthread_cond_signal(&capture->wake);
	pthread_mutex_unlock(&capture->lock);
	pthread_join(capture->thread, NULL);
	capture_destroy(capture);
}
