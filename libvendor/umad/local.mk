# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libumad_a_SOURCES =
