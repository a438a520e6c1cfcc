// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file partitions.conf. */
#ifndef POLICY_PARTITION_FILE_H
#define POLICY_PARTITION_FILE_H

#include <glib.h>
#include <stdbool.h>

#define PARTITION_ERROR partition_error_quark()
enum partition_error {
	PARTITION_ERROR_NOT_YET, /* the file defines partitions, which are not implemented */
	PARTITION_ERROR_FILE,	 /* it cannot be read */
};
GQuark partition_error_quark(void);

/*
 * Partitions are not implemented yet: every endport is a full member of the default partition. So
 * a file that defines anything must stop the start, for to go on would open what it closes. True
 * if there is no such file or it holds nothing but blanks and comments.
 */
bool partition_file_check(const char *file, GError **error);

#endif
