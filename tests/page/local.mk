# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The page of opensm-web: without a browser, and in one.
page_tests = tests/page/test_page.py tests/page/test_browser.py
dist_check_SCRIPTS += $(page_tests)
EXTRA_DIST += tests/page/browser.mjs tests/page/fabric.mjs tests/page/large.mjs \
	tests/page/modules.mjs tests/page/page.mjs
if HAVE_WEB
TESTS += $(page_tests)
endif
distclean-local: clean-page
clean-page:
	rm -rf tests/page/node_modules tests/page/shots tests/page/installed
.PHONY: clean-page
