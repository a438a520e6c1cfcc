# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Each kind of test describes itself; check_PROGRAMS and TESTS collect them.
TESTLIB_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -include tests/quiet_check.h
# With a sanitizer, what tests say is compiled more often than run: optimizing it takes a minute of
# CPU, and saves less. What they share does most of their work, and is optimized as the rest is.
if SANITIZED
TEST_CFLAGS = $(TESTLIB_CFLAGS) -O0
else
TEST_CFLAGS = $(TESTLIB_CFLAGS)
endif

# No test may hang: after this many seconds it has failed.
TEST_TIMEOUT = 900
LOG_COMPILER = timeout
AM_LOG_FLAGS = -k 10 $(TEST_TIMEOUT)

# A critical message of GLib means that we called it wrongly; its own pool of small pieces would
# hide errors from sanitizers. The limits of libcheck are for an idle machine. AddressSanitizer is
# the second library where ibsim's is preloaded; with less in its quarantine it needs fewer pages.
AM_TESTS_ENVIRONMENT = \
	G_DEBUG=fatal-criticals; export G_DEBUG; \
	G_SLICE=always-malloc; export G_SLICE; \
	CK_TIMEOUT_MULTIPLIER=$${CK_TIMEOUT_MULTIPLIER:-10}; export CK_TIMEOUT_MULTIPLIER; \
	ASAN_OPTIONS=verify_asan_link_order=0:quarantine_size_mb=32; \
	ASAN_OPTIONS=$$ASAN_OPTIONS:suppressions='$(abs_top_srcdir)/tests/asan.supp'; \
	export ASAN_OPTIONS; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir;

EXTRA_DIST += tests/checks.py tests/tally.awk tests/asan.supp .ci/run
noinst_HEADERS += tests/directory.h tests/memory_used.h tests/quiet_check.h tests/run_suite.h \
	tests/sanitized.h tests/some_seeds.h

# For bootstrap, which runs some of them again in other builds.
print-tests:
	@echo $(TESTS)
print-check-programs:
	@echo $(check_PROGRAMS)
.PHONY: print-tests print-check-programs

include tests/plugin/local.mk
include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/golden/local.mk
include tests/scenario/local.mk
include tests/interop/local.mk
include tests/plugin/abi/local.mk
include tests/style/local.mk
include tests/bench/local.mk
include tests/mutate/local.mk
include tests/page/local.mk
