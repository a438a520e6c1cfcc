// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The target of a request: "/path?name=value&name=value", each part with %HH, also after
 * "http://HOST", as RFC 9112 3.2.2 has it. Pure.
 */
#ifndef WEB_BASE_TARGET_H
#define WEB_BASE_TARGET_H

#include "web/base/request.h"

#define TARGET_MAX_ARGUMENTS 64

/*
 * A new request with the path and the arguments, decoded; a name without '=' has the value "". NULL
 * and *why, newly allocated: the path does not begin with '/', is not UTF-8 when decoded, has a
 * NUL or another control character, or too many arguments.
 */
struct request *target_request(const char *method, const char *target, char **why);

#endif
