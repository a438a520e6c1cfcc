// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes of partition members at run time (partition_changes.h): from a request to the rules in
 * context->partition_rules. All calls are on the actor "main".
 *
 *	taken	checked against all requests before; it may have to wait for the disk
 *	kept	on the disk, published, and with each standby that had everything before
 *	settled	in effect in the subnet
 *
 * What is asked while the disk is busy is written together. Published changes that come fast are
 * set by few sweeps.
 */
#ifndef CTL_SITE_PARTITION_REQUESTS_H
#define CTL_SITE_PARTITION_REQUESTS_H

#include "ctl/site/site_files.h"
#include "ha/replicator.h"
#include "policy/partition/partition_changes.h"

struct partition_requests;

struct partition_requests *partition_requests_new(struct context *context, struct actor *main,
						  struct site_files *site);
void partition_requests_free(struct partition_requests *requests); /* NULL is fine */

/*
 * *serial: of the policy that contains the request. False and error: nothing changes. In virtual
 * time the request is on the disk, too, or has failed.
 */
bool partition_requests_take(struct partition_requests *requests,
			     const struct partition_request *request, uint64_t *serial,
			     GError **error);
/* Saves the changes in effect: others than requested, as those of another SM were taken over. */
void partition_requests_save(struct partition_requests *requests);

enum partition_progress {
	PARTITION_TAKEN,
	PARTITION_KEPT,
	PARTITION_HELD, /* kept; its sweep waits for further changes */
	PARTITION_SETTLED, /* or has failed, or this SM is not MASTER any more */
};
enum partition_progress partition_requests_progress(struct partition_requests *requests,
						    struct replicator *replicator, uint64_t serial);
/* Whether a sweep waits for further changes. */
bool partition_requests_are_held(const struct partition_requests *requests);
/* All requests up to this serial are kept, or have failed. */
uint64_t partition_requests_kept_to(struct partition_requests *requests,
				    struct replicator *replicator);
/* The latest failures, by number: serials and why. False: past the last. */
bool partition_requests_failed(const struct partition_requests *requests, unsigned int number,
			       uint64_t *from, uint64_t *to, const char **why);
/* Why the change failed after it was taken; NULL: it did not. */
const char *partition_requests_failure(const struct partition_requests *requests, uint64_t serial);
/* False: another SM has become MASTER and may not know of it. */
bool partition_requests_are_kept(const struct partition_requests *requests, uint64_t serial);

#endif
