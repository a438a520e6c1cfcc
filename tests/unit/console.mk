# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
console_tests = tests/unit/test_console tests/unit/test_console_parts \
	tests/unit/test_console_figures tests/unit/test_console_groups \
	tests/unit/test_console_session tests/unit/test_journal tests/unit/test_opensmctl
check_PROGRAMS += $(console_tests)
TESTS += $(console_tests)
tests_unit_test_console_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_console_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_unit_test_journal_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_journal_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_unit_test_console_groups_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_console_groups_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_unit_test_console_session_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_console_session_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)

tests_unit_test_opensmctl_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_opensmctl_LDADD = libopensmctl.a $(LIBS_OPENSM) $(EDIT_LIBS) $(CHECK_LIBS)

# The page as built, against the list of commands.
tests_unit_test_console_parts_CPPFLAGS = $(AM_CPPFLAGS) -DMAN_DIR='"$(abs_builddir)/man"'
tests_unit_test_console_parts_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_console_parts_LDADD = libfabricmake.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_unit_test_console_figures_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_console_figures_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
