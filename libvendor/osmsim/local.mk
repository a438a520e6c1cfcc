# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# All of the server but its main(), so that tests can run it within themselves.
noinst_LIBRARIES += libosmsim.a
noinst_HEADERS += libvendor/osmsim/protocol.h
libosmsim_a_SOURCES = \
	libvendor/osmsim/connection.c \
	libvendor/osmsim/commands.def \
	libvendor/osmsim/console.c libvendor/osmsim/console.h \
	libvendor/osmsim/console_change.c \
	libvendor/osmsim/console_show.c \
	libvendor/osmsim/control.c \
	libvendor/osmsim/events.c \
	libvendor/osmsim/request.c libvendor/osmsim/request.h \
	libvendor/osmsim/issm.c libvendor/osmsim/issm.h \
	libvendor/osmsim/mad.c \
	libvendor/osmsim/server.c libvendor/osmsim/server.h

bin_PROGRAMS += libvendor/osmsim/osmsim
libvendor_osmsim_osmsim_SOURCES = libvendor/osmsim/main.c
libvendor_osmsim_osmsim_LDADD = libosmsim.a $(LIBS_SIM)
dist_man_MANS += man/osmsim.1
