// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tells the service manager, if there is one, about the state of the daemon. */
#ifndef CTL_PROCESS_SERVICE_H
#define CTL_PROCESS_SERVICE_H

#include "ctl/daemon.h"

struct service;

/* Between daemon_new and daemon_start. */
struct service *service_new(struct daemon *daemon);
/* Call before and after reading the files again. */
void service_reloading(struct service *service);
void service_reloaded(struct service *service);
/* It ends; may be called repeatedly. */
void service_stopping(struct service *service);
/* Between daemon_stop and daemon_free; NULL is fine. */
void service_free(struct service *service);

#endif
