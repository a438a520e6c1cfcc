# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Plug-ins for tests: shared objects that include only opensm/plugin.h. The tests find them in the
# build tree; with a sanitizer they are compiled with it.
plugin_objects = tests/plugin/liar.so tests/plugin/torus_dor.so
plugin_sources = tests/plugin/liar.c tests/plugin/torus_dor.c
EXTRA_DIST += $(plugin_sources)
check_DATA += $(plugin_objects)
CLEANFILES += $(plugin_objects)

PLUGIN_COMPILE = $(MKDIR_P) $(@D) && $(CC) -std=gnu11 -pthread -I$(srcdir)/include $(WARN_CFLAGS) \
	$(SAN_CFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS)
tests/plugin/%.so: tests/plugin/%.c include/opensm/plugin.h
	$(AM_V_CCLD)$(PLUGIN_COMPILE) $(GLIB_CFLAGS) -o $@ $< $(PLUGIN_LIBS)
