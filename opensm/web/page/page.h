// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The page for browsers: / and /assets/NAME. */
#ifndef WEB_PAGE_PAGE_H
#define WEB_PAGE_PAGE_H

#include "web/base/web.h"

web_handler_fn page_serve;

#endif
