# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libmad.a
libmad_a_SOURCES = \
	opensm/mad/ask.c opensm/mad/ask.h \
	opensm/mad/form.c \
	opensm/mad/late.c opensm/mad/late.h \
	opensm/mad/loss.h \
	opensm/mad/mad.c opensm/mad/mad.h opensm/mad/mad_private.h \
	opensm/mad/post.c \
	opensm/mad/rtt.h \
	opensm/mad/smp.c opensm/mad/smp.h \
	opensm/mad/target.c \
	opensm/mad/tid.c opensm/mad/tid.h \
	opensm/mad/transaction.c \
	opensm/mad/trim.c \
	opensm/mad/window.h
