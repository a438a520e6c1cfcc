# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# make bench BENCH_FLAGS='--sizes 16 --runs 5' measures; make check only tries it.
EXTRA_DIST += tests/bench/bench.py tests/bench/lab.py tests/bench/phases.py tests/bench/table.py \
	tests/bench/count_mads.c

check_PROGRAMS += tests/bench/sa_client
tests_bench_sa_client_LDADD = $(LIBS_IBA) $(UMAD_LIBS)

# Preloaded into foreign programs, hence without the sanitizers of this build.
check_DATA += tests/bench/count_mads.so
CLEANFILES += tests/bench/count_mads.so
tests/bench/count_mads.so: $(srcdir)/tests/bench/count_mads.c Makefile
	$(AM_V_CCLD)$(MKDIR_P) tests/bench && $(CC) -std=gnu11 $(WARN_CFLAGS) $(UMAD_CFLAGS) \
		-O2 -fPIC -shared -o $@ $(srcdir)/tests/bench/count_mads.c -ldl

dist_check_SCRIPTS += tests/bench/test_bench.py
TESTS += tests/bench/test_bench.py

bench: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
	tests/bench/sa_client$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/bench.py $(BENCH_FLAGS)
.PHONY: bench
