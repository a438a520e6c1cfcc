// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What an administrator is to do about devices whose M_Key this SM does not know. */
#ifndef SM_KEYS_ADVICE_H
#define SM_KEYS_ADVICE_H

#include <stdbool.h>

#include "core/options.h"

/*
 * Ports answer only their own keys. So the SM cannot identify the device behind a cable that is
 * new to it, not even a switch that it knows by other cables.
 */
static inline bool keys_silence(const struct options *options)
{
	return options->m_key_per_port && options->m_key_protection_level > 1;
}

/* A device behind such a cable: at level 1 switches of this subnet answer with any key. */
#define KEYS_CABLE_ADVICE                                                                          \
	"set m_key_protection_level 1 until the cable is in use, or restart that device"
/* A device that has named itself, but hides its key. */
#define KEYS_DEVICE_ADVICE                                                                         \
	"restart that device, or stop opensm and add a line with its GUID and M_Key to guid2mkey"

#endif
