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
