# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# All of the program but its main(), so that tests can call it.
noinst_LIBRARIES += libopensmctl.a
libopensmctl_a_SOURCES = \
	opensm/opensmctl/arguments.c opensm/opensmctl/arguments.h \
	opensm/opensmctl/complete.c opensm/opensmctl/complete.h \
	opensm/opensmctl/connect.c opensm/opensmctl/connect.h \
	opensm/opensmctl/editor.c opensm/opensmctl/editor.h \
	opensm/opensmctl/follow.c opensm/opensmctl/follow.h \
	opensm/opensmctl/peer.c opensm/opensmctl/peer.h \
	opensm/opensmctl/show.c opensm/opensmctl/show.h \
	opensm/opensmctl/stream.c opensm/opensmctl/stream.h \
	opensm/opensmctl/watch.c opensm/opensmctl/watch.h
libopensmctl_a_CFLAGS = $(AM_CFLAGS) $(EDIT_CFLAGS)

bin_PROGRAMS += opensm/opensmctl/opensmctl
opensm_opensmctl_opensmctl_SOURCES = opensm/opensmctl/main.c
opensm_opensmctl_opensmctl_LDADD = libopensmctl.a $(LIBS_OPENSM) $(EDIT_LIBS)
dist_man_MANS += man/opensmctl.8
