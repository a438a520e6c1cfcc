# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The built daemon on Debian's ibsim, with infiniband-diags and the classic daemon as its peers.
# OPENSM=/usr/sbin/opensm make check runs the same on the classic daemon.
interop_tests = tests/interop/test_truth.py tests/interop/test_samples.py \
	tests/interop/test_fat_tree_8.py tests/interop/test_fat_tree_16.py \
	tests/interop/test_classic_options.py
dist_check_SCRIPTS += $(interop_tests)
TESTS += $(interop_tests)
EXTRA_DIST += tests/interop/ibsim.py tests/interop/subnet.py tests/interop/tools.py \
	tests/interop/truth.py
