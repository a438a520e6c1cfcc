// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files by name: reading one whole, and writing one that nobody else is to read or to redirect.
 *
 * All errors are of the domain G_FILE_ERROR and begin with the name of the file. Nothing here waits
 * for a FIFO or reads a device, whatever has been put in the place of the file.
 */
#ifndef COMPLIB_FILE_H
#define COMPLIB_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_MAX_CONFIG (UINT64_C(64) << 20) /* octets: what people write */
#define FILE_MAX_DUMP (UINT64_C(1) << 30)    /* octets: what programs write of a large fabric */

/*
 * The octets of a regular file, found through symbolic links too, without the byte order mark that
 * a text in UTF-8 may begin with, and a NUL behind them; /dev/null is an empty file. Free with
 * g_free(). *length, in octets, may be left out by NULL. NULL and error
 * if it cannot be opened or read (G_FILE_ERROR_NOENT: there is none), is anything else
 * (G_FILE_ERROR_INVAL), or has more than max octets, now or by the time it is read
 * (G_FILE_ERROR_FAILED).
 */
char *file_read(const char *file, uint64_t max, gsize *length, GError **error);

/*
 * The same of a file that this program has written for itself: one that others may read, as older
 * versions left it, becomes its owner's alone (mode 0600).
 */
char *file_read_own(const char *file, uint64_t max, gsize *length, GError **error);

/*
 * A copy of the line at *at, without its end; *at moves behind that, at most to end.
 * *has_nul: it is no text.
 */
char *file_next_line(const char **at, const char *end, bool *has_nul);

/*
 * The same of the standard input, which may be a pipe and is waited for; the error calls it
 * "standard input".
 */
char *file_read_stdin(uint64_t max, gsize *length, GError **error);

/*
 * The descriptor, to read, of a regular file that holds a secret: -1 and error if it belongs to
 * others than this user or root, or if its mode lets others use it.
 */
int file_open_secret(const char *file, GError **error);

/*
 * The descriptor, to write, of a new file beside the one named; *temporary is its name until the
 * caller renames it, free that with g_free(). mode is less the umask. -1 and error if it cannot be
 * made, or if the name stands for anything but a regular file: a symbolic link is not followed
 * (G_FILE_ERROR_INVAL).
 */
int file_create(const char *file, mode_t mode, char **temporary, GError **error);

/* All octets, whatever a write takes at once; false and errno if not. */
bool file_put(int fd, const void *octets, size_t length);

/*
 * Before anything is opened. Descriptors 0 to 2 that are closed become some that can neither be
 * read nor written, so that no file or socket gets the number and what was not meant for it. And an
 * end of the program whose standard output did not take all that was printed, because a disk is
 * full, becomes one with a message on the standard error and EXIT_FAILURE.
 */
void file_guard_standard(void);
/* Who runs for long and was started without them has nobody to tell: that is no failure. */
void file_ignore_closed_output(void);

/*
 * A file of this text and this mode, whatever the mode of one that it replaces; false and error if
 * not. It is on the disk before it has its name with fsync_it, or where a crash would lose an older
 * one. (GLib's function of that kind leaves the older one's mode from some version on.)
 */
bool file_replace(const char *file, const char *text, mode_t mode, bool fsync_it, GError **error);
/* With fsync_it. */
bool file_write(const char *file, const char *text, mode_t mode, GError **error);

#endif
