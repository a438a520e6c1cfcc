// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Handlers of probes, metrics and the API (web/base/web.h). */
#ifndef WEB_API_API_H
#define WEB_API_API_H

#include "web/base/web.h"

/* Probes, of platforms and of load balancers. */
web_handler_fn probe_live;
web_handler_fn probe_ready;
web_handler_fn probe_health;

web_handler_fn metrics_daemon;
web_handler_fn metrics_ports;

/* /api/v1/NAME: answers of the console as JSON. */
web_handler_fn api_console;
web_handler_fn api_sms;

/*
 * Answers a request that the daemon has failed, where status and text are its answer: 503 without a
 * daemon, or if it is a STANDBY or has no subnet yet, with the master's GUID as far as it is
 * known; else with the status failed.
 */
void api_fail(struct web *web, struct request *request, enum control_status status, GBytes *text,
	      unsigned int failed);
/* Has it served if the daemon is MASTER and has a subnet; else fails it with 503. */
void api_of_master(struct web *web, struct request *request, web_handler_fn *serve);

#endif
