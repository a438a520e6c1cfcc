// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a plug-in asks for, served on the actor "main". Commands are run one at a time, snapshots
 * are made in a pool, MADs go through the window of mad_ask(), and sweeps are asked for once a
 * second: so a plug-in that asks without a pause takes little from others.
 */
#ifndef CTL_PLUGIN_REQUESTS_H
#define CTL_PLUGIN_REQUESTS_H

#include "ctl/command/command.h"
#include "plugin/base/link.h"

struct mad;
struct requests;
struct snapshot_store;

struct requests_config {
	const struct command_env *env; /* copied */
	struct mad *mad;
	struct snapshot_store *snapshots;
	/* Takes the file over; -1: none. */
	void (*answer)(void *arg, const struct link_head *head, const void *octets, int file);
	void *arg;
};

struct requests *requests_new(const struct requests_config *config);
/* False: it is not a request that a host sends, or there are LINK_REQUESTS already. */
bool requests_take(struct requests *requests, const struct link_head *head, const void *octets);
unsigned int requests_waiting(const struct requests *requests);
uint64_t requests_total(const struct requests *requests);
/*
 * No answer is given any more. What other threads still do for it ends in silence, also after the
 * actor was stopped.
 */
void requests_free(struct requests *requests); /* NULL is fine */

#endif
