# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Plug-ins for tests: shared objects that include only opensm/plugin.h. The tests find them in the
# build tree; with a sanitizer they are compiled with it.
plugin_objects = tests/plugin/liar.so tests/plugin/torus_dor.so tests/plugin/odd.so \
	tests/plugin/torus_turns.so tests/plugin/glibby.so $(plugin_groups:.c=.so) \
	$(plugin_wrongs)
# What the plug-ins that sites had for the classic daemon do, in at most 60 lines each.
plugin_groups = tests/plugin/path_tables.c tests/plugin/database.c tests/plugin/statsd.c \
	tests/plugin/manager.c
plugin_scripts = tests/plugin/oms.py tests/plugin/json_log.sh
plugin_wrongs = tests/plugin/wrong0.so tests/plugin/wrong1.so tests/plugin/wrong2.so \
	tests/plugin/wrong3.so tests/plugin/wrong4.so tests/plugin/wrong5.so \
	tests/plugin/wrong6.so tests/plugin/wrong7.so tests/plugin/wrong8.so \
	tests/plugin/wrong9.so tests/plugin/wrong10.so
plugin_sources = tests/plugin/liar.c tests/plugin/torus_dor.c tests/plugin/odd.c \
	tests/plugin/torus_turns.c tests/plugin/glibby.c tests/plugin/wrong.c $(plugin_groups)
EXTRA_DIST += $(plugin_sources) $(plugin_scripts)
check_DATA += $(plugin_objects)
CLEANFILES += $(plugin_objects)

PLUGIN_COMPILE = $(MKDIR_P) $(@D) && $(CC) -std=gnu11 -pthread -I$(srcdir)/include $(WARN_CFLAGS) \
	$(SAN_CFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS)
tests/plugin/%.so: tests/plugin/%.c include/opensm/plugin.h
	$(AM_V_CCLD)$(PLUGIN_COMPILE) $(GLIB_CFLAGS) -o $@ $< $(PLUGIN_LIBS)
$(plugin_wrongs): tests/plugin/wrong.c include/opensm/plugin.h
	$(AM_V_CCLD)$(PLUGIN_COMPILE) -DWRONG=$(@:tests/plugin/wrong%.so=%) -o $@ \
		$(srcdir)/tests/plugin/wrong.c
tests/plugin/glibby.so: PLUGIN_LIBS = $(GLIB_LIBS)
