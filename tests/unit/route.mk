# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/bench/route_quality
tests_bench_route_quality_LDADD = libfabricmake.a $(LIBS_ROUTE)
