// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files by name: reading a whole file, and writing one that no other user can read or redirect.
 *
 * All errors are of the domain G_FILE_ERROR and begin with the name of the file. No function waits
 * for a FIFO or reads a device, even if one stands in place of the file.
 */
#ifndef COMPLIB_FILE_H
#define COMPLIB_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_MAX_CONFIG (UINT64_C(64) << 20) /* octets: files that people write */
#define FILE_MAX_DUMP (UINT64_C(1) << 30)    /* octets: files about a large fabric */

/*
 * Reads a regular file, also through symbolic links. Skips the byte order mark that a UTF-8 text
 * may begin with, and appends a NUL; /dev/null is an empty file. Free with g_free(). length (in
 * octets) may be NULL. NULL and error if the file cannot be opened or read (G_FILE_ERROR_NOENT: it
 * does not exist), is not a regular file (G_FILE_ERROR_INVAL), or has more than max octets, now or
 * by the time it is read (G_FILE_ERROR_FAILED).
 */
char *file_read(const char *file, uint64_t max, gsize *length, GError **error);

/*
 * As file_read(), for a file that this program wrote for itself: if others may read it, as older
 * versions left it, its mode becomes 0600.
 */
char *file_read_own(const char *file, uint64_t max, gsize *length, GError **error);

/*
 * A copy of the line at *at, without its end; *at moves behind that, at most to end. *has_nul: the
 * line contains a NUL, so it is not text.
 */
char *file_next_line(const char **at, const char *end, bool *has_nul);

/*
 * As file_read(), from the standard input, which may be a pipe; waits for its end. Errors call it
 * "standard input".
 */
char *file_read_stdin(uint64_t max, gsize *length, GError **error);

/*
 * Opens a regular file with a secret for reading. Returns the descriptor; -1 and error if the file
 * belongs to neither this user nor root, or if its mode gives others access.
 */
int file_open_secret(const char *file, GError **error);

/*
 * What stands between the name of a file and the six letters or digits that make its temporary name
 * unique. No other program makes such names.
 */
#define FILE_TEMPORARY ".opensm-new-"

/*
 * The length of FILE in a temporary name FILE.opensm-new-XXXXXX as file_create() makes it; 0: it is
 * another name.
 */
size_t file_temporary(const char *name);

/*
 * Opens a new file beside the named one for writing. Returns the descriptor; *temporary is its name
 * until the caller renames it, to be freed with g_free(). The umask applies to mode. -1 and error
 * if the file cannot be made, or if the name is that of anything but a regular file: symbolic links
 * are not followed (G_FILE_ERROR_INVAL).
 */
int file_create(const char *file, mode_t mode, char **temporary, GError **error);

/* Writes all octets, with as many calls as needed; false and errno if that fails. */
bool file_put(int fd, const void *octets, size_t length);

/*
 * Call before anything is opened. Opens descriptors 0 to 2 that are closed so that they can be
 * neither read nor written: otherwise a file or socket could get the number, and with it output
 * meant for a standard stream. At exit, if not all output could be written to the standard output
 * (full disk), the program prints an error on the standard error and ends with EXIT_FAILURE.
 */
void file_guard_standard(void);
/*
 * For a long-running process started with closed standard output or error: discards that output
 * without failing at exit.
 */
void file_ignore_closed_output(void);

/*
 * Writes a file with these octets and mode, whatever the mode of the file that it replaces; false
 * and error on failure. With fsync_it, or if it replaces a file that a crash could lose, it is on
 * the disk before it gets its name. (GLib's own function keeps the old file's mode since some
 * version.)
 */
bool file_replace_octets(const char *file, const void *octets, size_t length, mode_t mode,
			 bool fsync_it, GError **error);
/* For a string. */
bool file_replace(const char *file, const char *text, mode_t mode, bool fsync_it, GError **error);
/* file_replace() with fsync_it. */
bool file_write(const char *file, const char *text, mode_t mode, GError **error);

#endif
