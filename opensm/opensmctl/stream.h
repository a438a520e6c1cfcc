// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The lines of "opensmctl events --follow", made from the daemon's answers. Pure.
 *
 * Serial numbers of events begin again with each run of the daemon, and each run has a number.
 * Beside events there are lines of the kind "stream", about the stream itself: where it starts,
 * that the connection is lost or back, that the daemon was started again, that events were missed.
 */
#ifndef OPENSMCTL_STREAM_H
#define OPENSMCTL_STREAM_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define STREAM_WAIT_S 25 /* how long the daemon waits for news before it answers */

struct stream {
	bool json;
	char *kinds; /* "link,node"; NULL: all */
	char *run;   /* the one that the serial is of; NULL: not known, the daemon's present one */
	bool since;  /* the serial is known */
	uint64_t serial; /* of what was told last */
	bool started;	 /* there was an answer */
	bool joined;	 /* by the present connection, too */
};

/* Whether the words of a command line are to be followed. */
bool stream_is_meant(char *const *words);
/* The words after "events". False and error, of G_OPTION_ERROR. */
bool stream_parse(struct stream *stream, char *const *words, GError **error);
void stream_clear(struct stream *stream);

/* What to ask next: news are only waited for from a daemon that is known to be in the same run. */
char *stream_question(const struct stream *stream, bool waits);
/*
 * Appends the lines that an answer gives, each with its line end. False: that is something else.
 * *waits: the next question is to wait for news.
 */
bool stream_take(struct stream *stream, const char *answer, GString *lines, bool *waits);
/* The connection is lost: a line about it, once until the daemon answers again. */
void stream_lose(struct stream *stream, const char *why, GString *lines);

#endif
