# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What programs that ask a daemon need; nothing of the daemon itself.
noinst_LIBRARIES += libclient.a
libclient_a_SOURCES = \
	opensm/client/config_file.c opensm/client/config_file.h \
	opensm/client/control.c opensm/client/control.h \
	opensm/client/image.c opensm/client/image.h \
	opensm/client/json.c opensm/client/json.h \
	opensm/client/link.c opensm/client/link.h \
	opensm/client/record.c opensm/client/record.h \
	opensm/client/say.c opensm/client/say.h \
	opensm/client/sockets.c opensm/client/sockets.h \
	opensm/client/source.h
