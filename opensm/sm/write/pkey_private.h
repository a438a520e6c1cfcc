// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What pkey.c, pkey_guard.c and pkey_indexes.c share. */
#ifndef SM_WRITE_PKEY_PRIVATE_H
#define SM_WRITE_PKEY_PRIVATE_H

#include "sm/write/write_private.h"

struct p_key_changes; /* pkey.c */
struct p_key_indexes; /* pkey_indexes.c */

struct p_keys {
	bool settled;		       /* all tables were set by the current rules */
	bool looked;		       /* tables that another SM wrote were checked */
	bool held;		       /* they are kept */
	unsigned int index0_kept;      /* ports in use whose key at index 0 is not that of indx0 */
	struct p_key_changes *changes; /* of the running sweep */
	struct p_key_indexes *indexes;
};

#endif
