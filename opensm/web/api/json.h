// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reading the daemon's answers, as other programs that ask it do. */
#ifndef WEB_API_JSON_H
#define WEB_API_JSON_H

#include "client/json.h"

#endif
