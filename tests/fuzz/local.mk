# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A program a decoder or parser. In make check each runs on some thousand inputs; make fuzz takes
# FUZZ_RUNS=number and FUZZ_SERIES=number, best in a build with --enable-sanitizer.
check_LIBRARIES += libfuzz.a
libfuzz_a_SOURCES = tests/fuzz/fuzz.c tests/fuzz/fuzz.h tests/fuzz/mutate.c
libfuzz_a_CFLAGS = $(TEST_CFLAGS)

fuzz_programs = tests/fuzz/fuzz_guid2lid tests/fuzz/fuzz_options tests/fuzz/fuzz_sa \
	tests/fuzz/fuzz_topology tests/fuzz/fuzz_wire
check_PROGRAMS += $(fuzz_programs)
TESTS += $(fuzz_programs)

tests_fuzz_fuzz_guid2lid_LDADD = libfuzz.a $(LIBS_SM)
tests_fuzz_fuzz_options_LDADD = libfuzz.a $(LIBS_CORE)
tests_fuzz_fuzz_sa_SOURCES = tests/fuzz/fuzz_sa.c tests/fuzz/no_check.c
tests_fuzz_fuzz_sa_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_sa_LDADD = libfuzz.a libsamake.a libfabricmake.a $(LIBS_SA)
tests_fuzz_fuzz_topology_LDADD = libfuzz.a $(LIBS_SIM)
tests_fuzz_fuzz_wire_LDADD = libfuzz.a $(LIBS_IBA)

fuzz: $(fuzz_programs)
	for program in $(fuzz_programs); do \
		top_srcdir='$(abs_top_srcdir)' ./$$program || exit 1; \
	done
.PHONY: fuzz
