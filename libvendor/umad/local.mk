# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libumad_a_SOURCES = libvendor/umad/umad.c libvendor/umad/receiver.c libvendor/umad/ports.c \
	libvendor/umad/events.c libvendor/umad/link.c \
	libvendor/umad/umad_private.h
