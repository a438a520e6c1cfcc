// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libibumad's functions on buffers whose layout it learns from the kernel when a port is opened:
 * since Linux 2.6.24 the header has a P_Key index. Its ports are never opened here, so it would go
 * by the older layout. Those functions that do not depend on it remain libibumad's.
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
