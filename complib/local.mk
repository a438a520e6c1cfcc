# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libcomplib.a
libcomplib_a_SOURCES =
