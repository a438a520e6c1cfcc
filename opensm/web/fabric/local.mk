# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Answers about the fabric, a library of its own: tests need it without a web server.
noinst_LIBRARIES += libwebfabric.a
libwebfabric_a_SOURCES = \
	opensm/web/fabric/args.c opensm/web/fabric/args.h \
	opensm/web/fabric/boxes.c opensm/web/fabric/boxes.h \
	opensm/web/fabric/choose.c opensm/web/fabric/choose.h \
	opensm/web/fabric/emit.c opensm/web/fabric/emit.h \
	opensm/web/fabric/fabric.h \
	opensm/web/fabric/links.c \
	opensm/web/fabric/nodes.c \
	opensm/web/fabric/ports.c \
	opensm/web/fabric/view.c opensm/web/fabric/view.h \
	opensm/web/fabric/whole.c
