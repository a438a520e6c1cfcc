// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What opensm-web tells, and texts in its answers. */
#ifndef WEB_BASE_SAY_H
#define WEB_BASE_SAY_H

#include "client/say.h"

/* Text as a string of JSON, with its quotes; what is not UTF-8 is replaced. */
void say_json(GString *out, const char *text);

#endif
