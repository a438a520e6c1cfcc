# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Style as figures and hard limits, on the sources and on the libraries' symbols. The checker
# itself is shown files that break each rule. tests/style/check_style.py --format also measures
# conformity with .clang-format.
style_tests = tests/style/check_style.py tests/style/test_bootstrap.py \
	tests/style/test_check_style.py
dist_check_SCRIPTS += $(style_tests)
TESTS += $(style_tests)
EXTRA_DIST += tests/style/csource.py tests/style/draws.py tests/style/figures.py \
	tests/style/floors.py tests/style/floors_known \
	tests/style/objects.py tests/style/prose.py tests/style/prose_known \
	tests/style/rules.py tests/style/suite.py tests/style/tree.py
