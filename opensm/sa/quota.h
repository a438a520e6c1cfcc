// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How many entries of a registry there are, and how many each port has made, both bounded. */
#ifndef SA_QUOTA_H
#define SA_QUOTA_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct sa_quota {
	GHashTable *by_port; /* uint64_t port GUID, owned -> entries */
	unsigned int n, max, max_of_port;
};

void sa_quota_init(struct sa_quota *quota, unsigned int max, unsigned int max_of_port);
void sa_quota_clear(struct sa_quota *quota);
unsigned int sa_quota_of(const struct sa_quota *quota, uint64_t port_guid); /* entries */
/* Whether that port may have one more. */
bool sa_quota_allows(const struct sa_quota *quota, uint64_t port_guid);
/* It has one more, whether it may or not. */
void sa_quota_count(struct sa_quota *quota, uint64_t port_guid);
/* Both; false: that port, or all of them, may have no more. */
bool sa_quota_take(struct sa_quota *quota, uint64_t port_guid);
void sa_quota_give(struct sa_quota *quota, uint64_t port_guid);

#endif
