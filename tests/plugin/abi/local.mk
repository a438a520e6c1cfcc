# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Plug-ins that were compiled with an earlier header still fit. After an addition to the header:
# tests/plugin/abi/test_layout.py --update.
abi_tests = tests/plugin/abi/test_layout.py tests/plugin/abi/test_changes.py \
	tests/plugin/abi/test_installed.py tests/plugin/abi/test_older.py
dist_check_SCRIPTS += $(abi_tests)
TESTS += $(abi_tests)
EXTRA_DIST += tests/plugin/abi/layout.py tests/plugin/abi/layout.txt
