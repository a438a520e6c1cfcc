# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# make bench BENCH_FLAGS='--sizes 16 --runs 5': not part of make check.
EXTRA_DIST += tests/bench/bench.py tests/bench/count_mads.c

bench: opensm/opensm$(EXEEXT)
	CC='$(CC)' top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/bench.py $(BENCH_FLAGS)
.PHONY: bench
