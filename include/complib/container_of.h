// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef COMPLIB_CONTAINER_OF_H
#define COMPLIB_CONTAINER_OF_H

#include <stddef.h>

/*
 * The struct of that type whose member ptr points to, as a timer or a message does; a member of
 * another type than *ptr does not compile.
 */
#define container_of(ptr, type, member)                                                            \
	((type *)((char *)(1 ? (ptr) : &((type *)0)->member) - offsetof(type, member)))

#endif
