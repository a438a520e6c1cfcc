# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Do the tests notice if the sources are wrong? make mutate tries it with the files that differ from
# the branch main, MUTATE='--sample 150 --seed 2 opensm/sm opensm/sa opensm/mad' with others. That
# takes long, beginning with a build and a run of each test; make check tries only the
# tool.
EXTRA_DIST += tests/mutate/accepted.py tests/mutate/operators.py tests/mutate/mutate.py \
	tests/mutate/survivors tests/mutate/switch.c tests/mutate/switch.h
dist_check_SCRIPTS += tests/mutate/test_mutate.py
TESTS += tests/mutate/test_mutate.py

mutate:
	top_srcdir='$(abs_top_srcdir)' $(srcdir)/tests/mutate/mutate.py $(MUTATE)
.PHONY: mutate
