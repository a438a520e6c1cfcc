# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The provider for ibacm: loaded into a foreign program, hence without the sanitizers of this build,
# and whole in one file. What it does not define are the functions that ibacm exports.
acm_sources = opensm/ssa/acm/answer.c opensm/ssa/acm/neighbours.c opensm/ssa/acm/options.c \
	opensm/ssa/acm/provider.c opensm/ssa/acm/source.c
acm_parts = complib/handoff.c complib/wire.c libvendor/iba/codec.c libvendor/iba/codes.c \
	libvendor/iba/limit.c libvendor/iba/tables.c opensm/ssa/look/look.c \
	opensm/ssa/table/names.c opensm/ssa/table/snapshot.c
noinst_HEADERS += opensm/ssa/acm/acm_private.h
EXTRA_DIST += $(acm_sources)

acm_provider = opensm/ssa/acm/libibacmssa.so
CLEANFILES += $(acm_provider)
if HAVE_ACM
acmdir = $(libdir)/ibacm
acm_DATA = $(acm_provider)
dist_man_MANS += man/ibacmssa.7
endif
$(acm_provider): $(acm_sources) $(acm_parts) $(libssa_a_SOURCES) opensm/ssa/acm/acm_private.h \
		Makefile
	$(AM_V_CCLD)$(MKDIR_P) opensm/ssa/acm && $(CC) -std=gnu11 -pthread $(WARN_CFLAGS) \
		$(GLIB_CFLAGS) $(UMAD_CFLAGS) $(AM_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) \
		-O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -shared \
		-Wl,--gc-sections -Wl,-soname,libibacmssa.so -o $@ \
		$(acm_sources:%=$(srcdir)/%) $(acm_parts:%=$(srcdir)/%) $(GLIB_LIBS)
