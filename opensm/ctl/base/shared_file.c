// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <unistd.h>

void shared_file_init(struct shared_file *shared)
{
	pthread_mutex_init(&shared->lock, NULL);
	shared->file = -1;
	shared->made = 0;
}

static void drop(struct shared_file *shared)
{
	if (shared->file >= 0)
		close(shared->file);
	shared->file = -1;
}

void shared_file_clear(struct shared_file *shared)
{
	drop(shared);
	pthread_mutex_destroy(&shared->lock);
}

/* The old one is dropped first, so that there is never more than one. */
static void renew(struct shared_file *shared, const struct shared_file_maker *maker, GError **error)
{
	drop(shared);
	shared->file = maker->make(maker->arg, error);
	shared->made += shared->file >= 0;
}

int shared_file_get(struct shared_file *shared, const struct shared_file_maker *maker,
		    GError **error)
{
	int file = -1;

	pthread_mutex_lock(&shared->lock);
	if (shared->file < 0 || !maker->is_right(maker->arg))
		renew(shared, maker, error);
	if (shared->file >= 0) {
		file = fcntl(shared->file, F_DUPFD_CLOEXEC, 0);
		if (file < 0)
			g_set_error(error, G_IO_ERROR, (gint)g_io_error_from_errno(errno),
				    "no descriptor: %s", g_strerror(errno));
	}
	pthread_mutex_unlock(&shared->lock);
	return file;
}

void shared_file_drop(struct shared_file *shared)
{
	pthread_mutex_lock(&shared->lock);
	drop(shared);
	pthread_mutex_unlock(&shared->lock);
}

unsigned int shared_file_made(struct shared_file *shared)
{
	unsigned int made;

	pthread_mutex_lock(&shared->lock);
	made = shared->made;
	pthread_mutex_unlock(&shared->lock);
	return made;
}
