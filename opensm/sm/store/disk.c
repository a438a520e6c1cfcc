// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SM does not stop because of a disk. After two seconds the sweep continues, and from then on
 * no sweep waits until the disk has stored everything once:
 *
 *	          disk_wait(): a write is pending         patience is over
 *	 trusted ------------------------------> waits -------------------> hangs
 *	    ^                                      |                          |
 *	    +---------- all was tried -------------+--------------------------+
 */
#include "sm/store/disk.h"

#include "sm/sm_private.h"
#include "core/state/state_writer.h"

#define PATIENCE_NS (2 * NS_PER_S)

struct disk {
	struct sm *sm;
	struct timer patience; /* runs while a sweep waits */
	uint64_t serial;       /* of that sweep */
	bool hangs;
	unsigned int failed; /* bit of enum disk_file: it could not be written */
};

static void go_on(struct disk *disk)
{
	struct sm *sm = disk->sm;

	timer_stop(&disk->patience);
	if (disk->serial != sm->sweep.serial || !sweep_runs(sm))
		return; /* the sweep was cancelled */
	sm->sweep.pending--;
	sweep_advance(sm);
}

static void on_idle(void *arg)
{
	struct disk *disk = arg;

	disk->hangs = false;
	if (timer_running(&disk->patience))
		go_on(disk);
}

static void on_patience(struct timer *timer)
{
	struct disk *disk = container_of(timer, struct disk, patience);

	disk->hangs = true;
	log_error(disk->sm->log,
		  "LIDs, M_Keys or path SLs are not on the disk yet: sweeps continue, but if the "
		  "daemon dies now, the next one may not know them");
	go_on(disk);
}

bool disk_wait(struct sm *sm)
{
	struct disk *disk = sm->store.disk;

	if (sm->dry || disk->hangs || !sm->context->files || state_writer_is_idle(sm->store.writer))
		return false;
	disk->serial = sm->sweep.serial;
	sm->sweep.pending++;
	timer_start(&disk->patience, PATIENCE_NS);
	return true;
}

void disk_written(struct sm *sm, enum disk_file file, bool good)
{
	unsigned int bit = 1u << file;
	struct disk *disk = sm->store.disk;

	disk->failed = good ? disk->failed & ~bit : disk->failed | bit;
	atomic_store(&sm->context->unkept, disk->failed || sm->context->cache_refused);
}

struct disk *disk_new(struct sm *sm)
{
	struct disk *disk = g_new0(struct disk, 1);

	disk->sm = sm;
	timer_init(&disk->patience, sm->actor, on_patience);
	state_writer_on_idle(sm->store.writer, on_idle, disk);
	return disk;
}

void disk_free(struct disk *disk)
{
	timer_stop(&disk->patience);
	g_free(disk);
}
