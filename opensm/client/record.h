// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Answers of a daemon, as client/control.h defines them, cut out of a stream of octets. Pure but
 * for the files that are handed in. The daemon is not trusted to be short or well-formed.
 */
#ifndef CLIENT_RECORD_H
#define CLIENT_RECORD_H

#include <gio/gio.h>
#include <stdbool.h>

#include "client/control.h"

/* Octets of one answer; a larger one is an error. */
#define RECORD_MAX (64u << 20)

/* An answer of the daemon. */
struct reply {
	enum control_status status;
	char *output;
	bool more; /* another one follows without a request */
	bool key;  /* in answer to the first line: the next line must be the key */
	int file;  /* the answer is in it, and it is to be closed; 0: there is none */
};

void reply_clear(struct reply *reply); /* frees the output and closes the file */

/* The codes of errors in this domain are those of enum control_status. */
#define CLIENT_ERROR client_error_quark()
GQuark client_error_quark(void);
/* Sets the error CONTROL_UNREACHABLE; always false. */
bool client_unreachable(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

struct record_reader {
	GString *input; /* not processed yet */
	size_t record;	/* of input: a record begins at or after this */
	size_t end;	/* of input: it ends at or after this */
	int file;	/* that was received and not handed on yet; 0: none */
};

void record_reader_init(struct record_reader *reader);
void record_reader_clear(struct record_reader *reader);
void record_reader_add(struct record_reader *reader, const char *octets, size_t n);
/* Takes over the descriptor; the last one is kept, as a daemon sends one at a time. */
void record_reader_add_file(struct record_reader *reader, int file);

enum record_result {
	RECORD_READ, /* in *reply, which is to be cleared */
	RECORD_NONE, /* none is complete yet */
	RECORD_WRONG,
};
enum record_result record_reader_next(struct record_reader *reader, struct reply *reply,
				      GError **error);
/*
 * The daemon closed the connection: its last text, if it did not belong to a record, is the reason.
 * Always false.
 */
bool record_reader_closed(struct record_reader *reader, GError **error);

/* Reads what there is from a Unix socket, with a file that may come with it. As g_socket_receive().
 */
gssize record_reader_receive(struct record_reader *reader, GSocket *socket, GError **error);

#endif
