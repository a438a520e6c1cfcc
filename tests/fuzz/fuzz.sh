#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# make fuzz: looks with clang's libFuzzer for inputs that break a target, under AddressSanitizer
# and UndefinedBehaviorSanitizer.
#
#	usage: fuzz.sh SOURCE-DIR BUILD-DIR
#
#	FUZZ_TARGETS	names of targets; by default all
#	FUZZ_RUNS	inputs a target, 1000000 by default
#	FUZZ_SECONDS	seconds a target at most; 0, the default: no limit
#	FUZZ_FLAGS	more flags of libFuzzer
#	FUZZ_SANITIZERS	address,undefined by default; undefined alone runs ten times as many inputs
#
# It builds in BUILD-DIR/fuzz-clang, or in fuzz-clang-SANITIZERS if these are given. Below
# it, corpus/NAME keeps inputs that reach new code for the next time. An input that breaks a target
# is written to BUILD-DIR/tests/fuzz/findings, and the end status is 1. Once the error is repaired,
# keep it as tests/fuzz/corpus/NAME/finding-WHAT.
#
# AFL++ takes the same targets: ../configure CC=afl-clang-fast --enable-libfuzzer
# --enable-sanitizer=address, make fuzz-programs, then
# afl-fuzz -i ../tests/fuzz/corpus/NAME -o out tests/fuzz/fuzz_NAME
set -u
src=$1
top=$2
build=$top/fuzz-clang${FUZZ_SANITIZERS:+-$FUZZ_SANITIZERS}
findings=$top/tests/fuzz/findings
runs=${FUZZ_RUNS:-1000000}
sanitizers=${FUZZ_SANITIZERS:-address,undefined}
# The options of fuzzer-no-link, without the tracing of comparisons, which would halve the speed.
# strcmp and memcmp are traced all the same.
coverage=-fsanitize-coverage=inline-8bit-counters,pc-table

die() {
	echo "make fuzz: $*" >&2
	exit 1
}

command -v clang >/dev/null ||
	die "clang is missing (Debian: packages clang and libclang-rt-14-dev)"
probe=$(mktemp) || die "cannot make a file"
trap 'rm -f "$probe"' EXIT
echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' |
	clang -x c -fsanitize=fuzzer,address,undefined -o "$probe" - 2>/dev/null ||
	die "clang has no libFuzzer here (Debian: package libclang-rt-14-dev)"

export G_SLICE=always-malloc
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_release_to_os_interval_ms=-1}
mkdir -p "$build" "$findings" || die "cannot make $build"
cd "$build" || exit 1
if [ ! -f Makefile ]; then
	"$src/configure" -q CC=clang CFLAGS="-g -O2 $coverage" --enable-libfuzzer \
		--enable-sanitizer="$sanitizers" || die "configure failed"
fi
make -s -j"$(nproc)" fuzz-programs || die "the build failed"

targets=${FUZZ_TARGETS:-$(make -s print-fuzz-programs | sed 's,tests/fuzz/fuzz_,,g')}
status=0
for name in $targets; do
	program=tests/fuzz/fuzz_$name
	own=$build/corpus/$name
	args=(-runs="$runs" -max_total_time="${FUZZ_SECONDS:-0}" -timeout=60 -rss_limit_mb=4096
		-print_final_stats=1 -artifact_prefix="$findings/$name-")
	mkdir -p "$own"
	FUZZ_SEEDS=$own ./"$program" >/dev/null 2>&1 || die "$program does not start"
	[ ! -d "$src/tests/fuzz/corpus/$name" ] || own="$own $src/tests/fuzz/corpus/$name"
	[ ! -f "$src/tests/fuzz/$name.dict" ] || args+=(-dict="$src/tests/fuzz/$name.dict")
	echo "make fuzz: $name"
	# shellcheck disable=SC2086 # a list of words
	if ! ./"$program" "${args[@]}" ${FUZZ_FLAGS:-} $own >"$build/$name.log" 2>&1; then
		tail -n 40 "$build/$name.log"
		found=$(sed -n 's/.*Test unit written to //p' "$build/$name.log" | tail -n 1)
		echo "make fuzz: $name: again by: $build/$program $found"
		status=1
		continue
	fi
	tail -n 12 "$build/$name.log"
done
exit $status
