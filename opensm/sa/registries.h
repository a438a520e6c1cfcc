// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What clients register with the SA. Owned by the sa actor. */
#ifndef SA_REGISTRIES_H
#define SA_REGISTRIES_H

#include "sa/aliases.h"
#include "sa/services.h"
#include "sa/store.h"
#include "sa/subscribers.h"

struct sa_registries {
	struct sa_store *groups;
	struct sa_services *services;
	struct sa_subscribers *subscribers;
	struct sa_aliases *aliases;
};

#endif
