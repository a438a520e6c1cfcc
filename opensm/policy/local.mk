# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libpolicy.a
libpolicy_a_SOURCES =
