# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The library's own sources, linked in, go before libibumad as the preloaded library does.
check_PROGRAMS += tests/unit/test_preload
TESTS += tests/unit/test_preload
tests_unit_test_preload_SOURCES = tests/unit/test_preload.c tests/unit/osmsim_double.c \
	tests/unit/osmsim_double.h $(preload_sources)
tests_unit_test_preload_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_preload_LDADD = $(UMAD_LIBS) $(CHECK_LIBS)
