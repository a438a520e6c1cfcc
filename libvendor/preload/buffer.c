// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libibumad's functions on buffers whose layout it learns from the kernel when a port is opened:
 * since Linux 2.6.24 the header has a P_Key index. With this library libibumad never opens a port,
 * so it would use the older layout. Functions that do not depend on the layout remain libibumad's.
 */
#include "preload_private.h"

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

int umad_set_pkey(void *umad, int pkey_index)
{
	((struct ib_user_mad *)umad)->addr.pkey_index = pkey_index;
	return 0;
}

int umad_get_pkey(void *umad)
{
	return ((struct ib_user_mad *)umad)->addr.pkey_index;
}
