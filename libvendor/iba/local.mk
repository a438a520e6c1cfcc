# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
libiba_a_SOURCES = \
	include/iba/iba.h \
	include/iba/all.def \
	include/iba/mad.def \
	include/iba/smp.def \
	include/iba/notice.def \
	include/iba/sa.def \
	include/iba/pm.def \
	include/iba/cc.def \
	include/iba/constants.h \
	include/iba/constants.def \
	include/iba/attributes.def \
	include/iba/attributes.h \
	include/iba/codes.h \
	include/iba/limit.h \
	libvendor/iba/codec.c libvendor/iba/codec.h \
	libvendor/iba/tables.c \
	libvendor/iba/names.c \
	libvendor/iba/attributes.c \
	libvendor/iba/codes.c \
	libvendor/iba/limit.c
