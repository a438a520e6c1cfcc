# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_options tests/unit/test_options_file tests/unit/test_notify
TESTS += tests/unit/test_options tests/unit/test_options_file tests/unit/test_notify

tests_unit_test_options_SOURCES = tests/unit/test_options.c tests/unit/test_options.h
tests_unit_test_options_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_options_LDADD = $(LIBS_CORE) $(CHECK_LIBS)

tests_unit_test_options_file_SOURCES = tests/unit/test_options_file.c tests/unit/test_options.h
tests_unit_test_options_file_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_options_file_LDADD = $(LIBS_CORE) $(CHECK_LIBS)

tests_unit_test_notify_SOURCES = tests/unit/test_notify.c
tests_unit_test_notify_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_notify_LDADD = $(LIBS_CORE) $(CHECK_LIBS)

# Programs that the units run.
TESTS += tests/unit/test_units.sh
dist_check_SCRIPTS += tests/unit/test_units.sh

# The pages as built, against the table.
check_PROGRAMS += tests/unit/test_options_man
TESTS += tests/unit/test_options_man
tests_unit_test_options_man_SOURCES = tests/unit/test_options_man.c
tests_unit_test_options_man_CPPFLAGS = $(AM_CPPFLAGS) -DMAN_DIR='"$(abs_builddir)/man"' \
	-DSAMPLES_DIR='"$(abs_srcdir)/config/samples"'
tests_unit_test_options_man_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_options_man_LDADD = $(LIBS_CORE) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_options_classic
TESTS += tests/unit/test_options_classic
tests_unit_test_options_classic_SOURCES = tests/unit/test_options_classic.c \
	tests/unit/test_options.h
tests_unit_test_options_classic_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_options_classic_LDADD = $(LIBS_CORE) $(CHECK_LIBS)

# Completions of bash, against --help.
dist_check_SCRIPTS += tests/unit/test_completion.py
TESTS += tests/unit/test_completion.py

check_PROGRAMS += tests/unit/test_log_journal
TESTS += tests/unit/test_log_journal
tests_unit_test_log_journal_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_log_journal_LDADD = $(LIBS_CORE) $(CHECK_LIBS)
