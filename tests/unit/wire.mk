# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
wire_tests = tests/unit/test_wire tests/unit/test_iba tests/unit/test_iba_golden \
	tests/unit/test_iba_codes tests/unit/test_iba_ibmad \
	tests/unit/test_capture tests/unit/test_frames tests/unit/test_admission
check_PROGRAMS += $(wire_tests)
TESTS += $(wire_tests)

tests_unit_test_wire_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_wire_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_iba_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_iba_LDADD = $(LIBS_IBA) $(CHECK_LIBS)
tests_unit_test_iba_golden_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_iba_golden_LDADD = $(LIBS_IBA) $(CHECK_LIBS)
tests_unit_test_iba_codes_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_iba_codes_LDADD = $(LIBS_IBA) $(CHECK_LIBS)
tests_unit_test_admission_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_admission_LDADD = libvendor.a $(LIBS_IBA) $(CHECK_LIBS)
tests_unit_test_capture_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_capture_LDADD = libvendor.a $(LIBS_IBA) $(CHECK_LIBS)
tests_unit_test_frames_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_frames_LDADD = libvendor.a $(LIBS_IBA) $(CHECK_LIBS)

# Without libibmad the last one says so and is counted as skipped.
if HAVE_IBMAD
tests_unit_test_iba_ibmad_CFLAGS = $(TEST_CFLAGS) -DHAVE_IBMAD=1 $(IBMAD_CFLAGS)
tests_unit_test_iba_ibmad_LDADD = $(LIBS_IBA) $(CHECK_LIBS) $(IBMAD_LIBS)
else
tests_unit_test_iba_ibmad_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_iba_ibmad_LDADD = $(LIBS_IBA) $(CHECK_LIBS)
endif
