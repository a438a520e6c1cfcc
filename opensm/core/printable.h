// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Text from the fabric or from a client as people and programs are shown it, everywhere alike. */
#ifndef CORE_PRINTABLE_H
#define CORE_PRINTABLE_H

/* Octets that are not printable UTF-8 become \xNN. */
char *printable_text(const char *text);

#endif
