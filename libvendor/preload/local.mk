# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Preloaded into foreign programs, hence without the sanitizers of this build, and with no symbols
# but libibumad's, writev and in the second library libibverbs's: their versions are not needed, for
# a preloaded library goes before.
preload_sources = libvendor/preload/buffer.c libvendor/preload/client.c \
	libvendor/preload/device.c libvendor/preload/port.c
verbs_sources = $(preload_sources) libvendor/preload/verbs.c
preload_headers = libvendor/preload/preload_private.h libvendor/osmsim/protocol.h
noinst_HEADERS += libvendor/preload/preload_private.h
EXTRA_DIST += $(verbs_sources)

preload_library = libvendor/preload/libosmsim-preload.so
verbs_library = libvendor/preload/libosmsim-verbs.so
preloaddir = $(pkglibdir)
preload_DATA = $(preload_library) $(verbs_library)
CLEANFILES += $(preload_DATA)
link_preload = $(MKDIR_P) libvendor/preload && $(CC) -std=gnu11 -pthread $(WARN_CFLAGS) \
	$(UMAD_CFLAGS) -I. -I$(srcdir)/include -I$(srcdir) $(CPPFLAGS) $(CFLAGS) \
	$(LDFLAGS) -O2 -fPIC -fvisibility=hidden -shared -Wl,-z,defs \
	-Wl,-soname,$(@F) -o $@
$(preload_library): $(preload_sources) $(preload_headers) Makefile
	$(AM_V_CCLD)$(link_preload) $(preload_sources:%=$(srcdir)/%)
$(verbs_library): $(verbs_sources) $(preload_headers) Makefile
	$(AM_V_CCLD)$(link_preload) $(verbs_sources:%=$(srcdir)/%)

bin_PROGRAMS += libvendor/preload/osmsim-run
libvendor_preload_osmsim_run_SOURCES = libvendor/preload/osmsim-run.c
libvendor_preload_osmsim_run_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' \
	-DBINDIR='"$(bindir)"'
dist_man_MANS += man/osmsim-run.1
