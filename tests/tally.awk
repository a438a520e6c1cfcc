# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Adds up test results. Input: names of tests, one a line; -v dir=DIR: the build directory with
# their .trs and .log files. The figures go to standard output, why a test failed or was skipped
# before them to standard error.
#
# A program of libcheck counts by its checks, a script by the 'N passed, N failed, N skipped' it
# closes with, any other test as one. Automake's verdict overrides a test's own:
# a failure without a failed check, or a test without a verdict, is one more failure.

function tell(line)
{
	print line > "/dev/stderr"
}

# The relevant part of a log: from a sanitizer's report on, else its end.
function tell_log(test, log_file,    line, n, lines, i, first)
{
	first = -1
	while ((getline line < log_file) > 0) {
		if (first < 0 && line ~ /(ERROR|WARNING): [A-Za-z]*Sanitizer|: runtime error: /)
			first = n + 0
		lines[n++] = line
	}
	close(log_file)
	if (first < 0)
		first = n > 40 ? n - 40 : 0
	for (i = first; i < n && i < first + 40; i++)
		tell("    " lines[i])
}

# "87%: Checks: 15, Failures: 1, Errors: 1" adds 13 passed and 2 failed.
function read_libcheck(line,    field)
{
	split(line, field, /[^0-9]+/)
	passed += field[2] - field[3] - field[4]
	failed += field[3] + field[4]
	counted = 1
}

# The last such line of a script is its sum.
function read_closing(line,    field)
{
	split(line, field, /[^0-9]+/)
	passed = field[1]
	failed = field[2]
	skipped = line ~ /skipped/ ? field[3] : 0
	counted = 1
}

function read_log(log_file,    line)
{
	while ((getline line < log_file) > 0) {
		if (line ~ /^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$/)
			read_libcheck(line)
		else if (line ~ /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/)
			read_closing(line)
	}
	close(log_file)
}

function verdict(trs_file,    line, result)
{
	result = "NONE"
	while ((getline line < trs_file) > 0)
		if (sub(/^:test-result: */, "", line)) {
			result = line
			sub(/ .*/, "", result)
		}
	close(trs_file)
	return result
}

NF {
	passed = failed = skipped = counted = 0
	result = verdict(dir "/" $1 ".trs")
	if (result != "NONE")
		read_log(dir "/" $1 ".log")
	if (result == "PASS" || result == "XFAIL") {
		if (!counted)
			passed = 1
	} else if (result == "SKIP") {
		if (!skipped)
			skipped = 1
	} else if (!failed) {
		failed = 1
	}
	if (failed) {
		why = result == "NONE" ? "did not run" : failed " failed; of its log:"
		tell(dir ": " $1 ": " why)
		tell_log($1, dir "/" $1 ".log")
	} else if (skipped) {
		tell(dir ": " $1 ": " skipped " skipped; of its log:")
		tell_log($1, dir "/" $1 ".log")
	}
	all_passed += passed
	all_failed += failed
	all_skipped += skipped
}

END {
	printf "%d passed, %d failed, %d skipped\n", all_passed, all_failed, all_skipped
}
