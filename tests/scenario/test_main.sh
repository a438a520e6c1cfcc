#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The program as a user sees it: exit codes, messages, background, signals. On a simulated
# fabric; run in the build directory. Prints one line per check.
opensm=${OPENSM:-./opensm/opensm}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# On a busy machine an answer of the simulated fabric may take its time.
echo "transaction_timeout 5000" >"$dir/plain.conf"
passed=0
failed=0
export OSM_CACHE_DIR="$dir/cache"
unset NOTIFY_SOCKET

run() { # everything but the options under test
	timeout 120 "$opensm" -F "$dir/plain.conf" "$@" >"$dir/out" 2>&1 </dev/null
	code=$?
}

check() { # what, command...
	what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok: $what (exit code $code)"
		sed 's/^/    /' "$dir/out"
		tail -n 20 "$dir/log" 2>/dev/null | sed 's/^/    log: /'
	fi
}

says() { # code, text
	[ "$code" -eq "$1" ] && grep -q -- "$2" "$dir/out"
}

# command...: waits until it succeeds, two minutes at most; only a failure takes long.
until_good() {
	tries=1200
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

has_logged() {
	grep -q -- "$1" "$dir/log" 2>/dev/null
}

logged() { # text: waits for it
	until_good has_logged "$1" && return 0
	cat "$dir/log" >"$dir/out" 2>&1
	return 1
}

# pid: it has ended. Its new parent may not have noticed yet, or ever.
has_ended() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

run --help
check "--help" says 0 "Usage: opensm"
run --version
check "--version" says 0 "^OpenSM [0-9]"
for option in --help --version; do
	for program in "$opensm" opensm/opensmctl/opensmctl opensm/osmroute/osmroute \
		libvendor/osmsim/osmsim; do
		"$program" "$option" >/dev/full 2>"$dir/out"
		code=$?
		check "$program $option that cannot be written ends with 1" says 1 "No space left"
	done
done
run --nonsense
check "an unknown option" says 1 "nonsense"
printf 'A=1: ALL=full;\nB=2 ALL;\n' >"$dir/bad.partitions"
printf 'A=1: ALL=ful;\n' >"$dir/good.partitions"
run --check-config --json -f "$dir/log" -P "$dir/bad.partitions" -R minhop,nonsense
check "--check-config ends with 1 if a file is wrong" says 1 '"good":false'
check "--check-config tells where" \
	says 1 'bad.partitions","line":2,"column":1,"severity":"error","text":"found .B=2 ALL'
check "--check-config tells all that is wrong" says 1 "there is no engine nonsense"
run --check-config --json -f "$dir/log" -P "$dir/good.partitions"
check "--check-config ends with 0 if all is well" says 0 '"good":true'
check "--check-config warns" \
	says 0 'good.partitions","line":1,.*"severity":"warning","text":".ful. is taken'
run --check-config --json -f "$dir/log" --lmc 9
check "--check-config tells of options" says 1 '"errors":\[{"file":"","line":0'
echo "0xzz" >"$dir/bad.roots"
run --check-config --json -f "$dir/log" -R updn -a "$dir/bad.roots"
check "--check-config tells where in a file of a routing option" \
	says 1 'bad.roots","line":1,.*"text":"root_guid_file: .0xzz'
echo "nonsense" >"$dir/bad.qos"
run --check-config --json -f "$dir/log" -Y "$dir/bad.qos"
check "--check-config passes over a policy that no start reads" says 0 '"good":true'
run --check-config --json -f "$dir/log" -Q -Y "$dir/bad.qos"
check "--check-config reads one that a start reads" says 1 'bad.qos","line":1'
echo "replication_key_file $dir/none" >"$dir/keys.conf"
run --check-config --json -f "$dir/log" -F "$dir/keys.conf"
check "--check-config reads the key of replication" says 1 "replication_key_file: $dir/none"
run --check-config --json -f "$dir/log" --console socket --console-key-file "$dir/none"
check "--check-config reads the key of the console" says 1 "console_key_file: $dir/none"
run --check-config --json -f "$dir/log" --console local --console-key-file "$dir/none"
check "--check-config passes over a key that nobody asks for" says 0 '"good":true'
"$opensm" -F "$dir/plain.conf" --check-config -f "$dir/log" >/dev/full 2>"$dir/out"
code=$?
check "--check-config that cannot be written ends with 1" says 1 "No space left"
run --create-config "$dir/template"
check "--create-config" test "$code" -eq 0
check "its template" grep -q "^#.*sweep" "$dir/template"
check "its template is read" "$opensm" -F "$dir/template" --version >/dev/null
echo "lmc 9" >"$dir/bad.conf"
run -F "$dir/bad.conf"
check "a wrong option file" says 1 "bad.conf:1: lmc"
run --sim fattree:5 -f "$dir/log"
check "a wrong topology" says 1 "fattree:5"
run --sim fattree:4 -g 0x99 -f "$dir/log"
check "a port that is not there" says 1 "0x0*99"
run --sim fattree:4 -f "$dir/none/log"
check "a log that cannot be written" says 1 "$dir/none/log: No such file"
run --sim fattree:4 -R magic -f "$dir/log"
check "an unknown engine" says 1 "magic"
printf 'torus 3 3 1\nxp_link 0x1 0x2\nyp_link 0x1 0x3\n' >"$dir/torus.conf"
run --sim fattree:4 --once -R torus-2QoS,no_fallback --torus_config "$dir/torus.conf" -f stdout
check "an engine for another net, without fallback" says 1 "torus-2QoS"
run --sim fattree:4 --once -R torus-2QoS --torus_config "$dir/torus.conf" -f stdout
check "an engine for another net, with fallback" says 0 "torus-2QoS"
run --sim fattree:4 -R torus-2QoS --torus_config "$dir/none" -f "$dir/log"
check "an engine without its file" says 1 "$dir/none: No such file"
run --sim fattree:4 --once -R torus-2QoS,minhop --torus_config "$dir/none" -f stdout
check "an engine without its file, and another one" \
	says 0 "01 -> ERR torus_config: $dir/none: No such"
check "and the other one routes" says 0 "falling back to routing engine minhop"
run --check-config --json -f "$dir/log" -R torus-2QoS,minhop --torus_config "$dir/none"
check "--check-config warns of it" says 0 '"severity":"warning","text":"torus_config: '
run --sim fattree:4 --once --congestion_control -f "$dir/log"
check "congestion control" logged "is on: 20 switches and 16 CA ports: as wanted"
"$opensm" -F "$dir/plain.conf" --sim fattree:4 -I -f "$dir/log" >"$dir/out" 2>&1 &
pid=$!
check "-I does not make a MASTER" logged "Entering NOTACTIVE state"
kill $pid
wait $pid
code=$?
check "and ends well" says 0 "^Entering NOTACTIVE state$"
check "which it tells" says 0 "^Exiting SM$"
run -g 0 -B
check "-g 0 in the background" says 1 "guid"
run --sim fattree:4 --once -f stdout
check "--once" says 0 "SUBNET UP"
printf 'm_key 0x5ec2e75ec2\nsm_key 0x5ec2e75ec3\n' >"$dir/keys.conf"
OSM_CACHE_DIR="$dir/keys" # the site of plain.conf never had keys
run -F "$dir/keys.conf" --sim fattree:4 --once -D 0x20 -f stdout
OSM_CACHE_DIR="$dir/cache"
check "-D 0x20 shows what is sent" \
	says 0 ' 0x20 -> sent SubnDirected Get(NodeInfo) 0x0 path 0,1 TID 0x'
check "and what is received" says 0 ' 0x20 -> received SubnDirected GetResp(NodeInfo) 0x0 path 0,1'
check "and what is in it" says 0 'Set(PortInfo) .*: m_key=set .* lid='
check "but no keys" test -z "$(grep -i '5ec2e75ec\|40699686880' "$dir/out")"
OSM_CACHE_DIR="$dir/partitions"
run --sim fattree:4 --once -P "$dir/apart" -f stdout
check "a named partitions.conf is missing" says 1 'apart: there is no such file, but'
run --sim fattree:4 --check-config -P "$dir/apart"
check "which --check-config tells" says 1 'apart: there is no such file, but'
echo 'Default=0x7fff:ALL=limited,SELF=full;' >"$dir/apart"
run --sim fattree:4 --once -P "$dir/apart" -f stdout
check "and one that is there" says 0 "SUBNET UP"
: >"$dir/apart"
run --sim fattree:4 --once -P "$dir/apart" -f stdout
check "what was taken last counts" says 0 'the last accepted partitions are in force'
run --sim fattree:4 --check-config -P "$dir/apart"
check "an error to --check-config" says 1 'the last accepted partitions are in force'
OSM_CACHE_DIR="$dir/cache"
run -F "$dir/plain.conf" --sim fattree:4 --once -D 0xdf -f stdout
check "other flags show no MADs" test -z "$(grep ' -> sent Subn' "$dir/out")"
run --sim fattree:4 --once --progress -f "$dir/log"
check "--progress on a pipe" says 0 "SUBNET UP: 20 switches, 16 hosts, 48 links"
run --sim fattree:4 --once -f "$dir/log"
check "milestones on the standard output" says 0 "^Entering MASTER state$"
check "SUBNET UP too" says 0 "^SUBNET UP$"
check "and the end" says 0 "^Exiting SM$"
check "a fabric that is whole" test -z "$(grep 'no cables join' "$dir/log")"
printf 'Switch 4 "%s"\n[1] "host-0"[%s]\n[2] "host-1"[%s]\n' plane-0 1 1 plane-1 2 2 >"$dir/planes"
printf 'Hca 2 "%s"\n' host-0 host-1 >>"$dir/planes"
run --sim "$dir/planes" --once -f stdout
apart='1 switch of the topology that no cables join to host-0 port 1: plane-1'
check "the log names a plane that is not joined" says 0 "--sim: $apart"
./libvendor/osmsim/osmsim -s "$dir/osmsim" "$dir/planes" </dev/null >"$dir/planes.out" 2>&1 &
osmsim=$!
for _ in $(seq 100); do
	grep -q ' at ' "$dir/planes.out" && break
	sleep 0.1
done
kill $osmsim 2>/dev/null
check "so does osmsim" grep -q "^osmsim: $apart\$" "$dir/planes.out"
check "guid2lid" test -s "$dir/cache/guid2lid"
: >"$dir/file"
OSM_CACHE_DIR="$dir/file/cache" run --sim fattree:4 --once -f "$dir/log"
check "a cache directory that cannot be made" says 0 "file/cache.*LIDs will not survive"

# A missing or malformed policy does not count as no policy.
OSM_CACHE_DIR="$dir/policies" # the site of plain.conf never had one
cp "$dir/plain.conf" "$dir/plain.old"
echo "hm_ports_health_policy_file $dir/policy" >>"$dir/plain.conf"
run --sim fattree:4 --once -f stdout
check "no policy of ports where one is named" says 1 "hm_ports_health_policy_file: .*/policy"
printf 'flapping ca report\nflapping switch isolate 5 of 30\n' >"$dir/policy"
run --sim fattree:4 --once -f stdout
check "a wrong one" says 1 "/policy:2:27: found 'of', expected in, and seconds"
check "that stops the start" test -z "$(grep 'SUBNET UP' "$dir/out")"
sed -i 's/ of / in /' "$dir/policy"
run --sim fattree:4 --once -f stdout
check "a good one" says 0 "SUBNET UP"
mv "$dir/plain.old" "$dir/plain.conf"
OSM_CACHE_DIR="$dir/cache"

# pid: none of the first three descriptors is a file or socket of its own
has_safe_standard() {
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$1/fd/$fd")" = /dev/null ] || return 1
	done
}
for background in "" -B; do
	rm -f "$dir/log" "$dir/pid"
	"$opensm" -F "$dir/plain.conf" --sim fattree:4 $background -J "$dir/pid" -f "$dir/log" \
		--console off <&- >&- 2>&- &
	check "standard descriptors closed $background" logged "SUBNET UP"
	check "they are taken $background" has_safe_standard "$(cat "$dir/pid")"
	kill "$(cat "$dir/pid")"
	wait $!
	code=$?
	check "which is no failure $background" [ "$code" -eq 0 ]
	until_good [ ! -e "$dir/pid" ]
done
(ulimit -n 100; run --sim fattree:4 --once -f "$dir/log"; exit "$code")
code=$?
check "too few files may be open" says 1 "ulimit -n) is 100, expected 128"
(ulimit -Sn 100; run --sim fattree:4 --once -f "$dir/log"; exit "$code")
code=$?
check "a limit that may be raised" says 0 "SUBNET UP"
rm -f "$dir/log"
for program in "$opensm" opensm/opensmctl/opensmctl; do
	"$program" --version >&- 2>"$dir/out"
	code=$?
	check "$program --version, closed" says 1 "Bad file descriptor"
done

run --sim fattree:5 -B -f "$dir/log"
check "a failure in the background" says 1 "fattree:5"
rm -f "$dir/log"
run --sim fattree:4 -B -J "$dir/pid" -f "$dir/log"
check "the background" test "$code" -eq 0
pid=$(cat "$dir/pid" 2>/dev/null)
check "the process file" kill -0 "$pid"
run --sim fattree:4 -J "$dir/pid" -f "$dir/log.2"
check "a process file that is in use" says 1 "$dir/pid: .*$pid"
check "keeps its number" [ "$(cat "$dir/pid")" = "$pid" ]
check "and who wanted it has no log" [ ! -e "$dir/log.2" ]
check "it works" logged "SUBNET UP"
kill -USR2 "$pid"
check "SIGUSR2" logged "Status: MASTER, subnet up: 20 switches"
kill -HUP "$pid"
check "SIGHUP" logged "SIGHUP"
mv "$dir/log" "$dir/log.1"
kill -USR1 "$pid"
until_good test -e "$dir/log"
kill -HUP "$pid"
check "SIGUSR1" logged "HEAVY SWEEP"
kill -CONT "$pid"
kill -PIPE "$pid"
kill -USR2 "$pid"
check "SIGCONT and SIGPIPE" logged "Status: MASTER, subnet up: 20 switches"
kill -TERM "$pid"
check "SIGTERM" until_good has_ended "$pid"
check "the process file goes" test ! -e "$dir/pid"
echo "$pid and more" >"$dir/pid"
run --sim fattree:4 --once -J "$dir/pid" -f "$dir/log"
check "a process file that was left behind" says 0 "SUBNET UP"
check "goes, too" test ! -e "$dir/pid"
ln -s "$dir/none" "$dir/pid"
run --sim fattree:4 --once -J "$dir/pid" -f "$dir/log"
check "a link is no process file" says 1 "$dir/pid: is a symbolic link"
rm "$dir/pid"

# In the foreground; exec, so that the signal reaches the program itself.
rm -f "$dir/log"
(exec "$opensm" -F "$dir/plain.conf" --sim fattree:4 -f "$dir/log" >"$dir/out" 2>&1) &
pid=$!
logged "SUBNET UP"
kill -TERM "$pid"
wait "$pid"
code=$?
check "SIGTERM in the foreground" test "$code" -eq 0
rm -f "$dir/log"
(exec "$opensm" -F "$dir/plain.conf" --sim fattree:16 -f "$dir/log" >"$dir/out" 2>&1) &
pid=$!
until_good test -s "$dir/log"
kill -TERM "$pid"
wait "$pid"
code=$?
check "SIGTERM before all is built" test "$code" -eq 0
mkdir "$dir/logs"
(exec "$opensm" -F "$dir/plain.conf" --sim fattree:4 -f "$dir/logs/log" \
	--control-socket "$dir/socket" >"$dir/out.2" 2>&1) &
pid=$!
until_good grep -qs "SUBNET UP" "$dir/logs/log"
mv "$dir/logs" "$dir/gone"
kill -USR1 "$pid"
check "SIGUSR1 without the directory of the log" \
	until_good grep -q "cannot reopen log $dir/logs/log: No such file" "$dir/out.2"
check "is in the old file, too" until_good grep -q "cannot reopen log" "$dir/gone/log"
opensm/opensmctl/opensmctl -s "$dir/socket" health >"$dir/out" 2>&1
code=$?
check "health tells it" grep -q "^ERROR files: the log could not be reopened" "$dir/out"
mkdir "$dir/logs"
kill -USR1 "$pid"
until_good test -e "$dir/logs/log"
opensm/opensmctl/opensmctl -s "$dir/socket" health >"$dir/out" 2>&1
code=$?
check "until it can" says 0 "^healthy"
ln -sf /dev/full "$dir/logs/log"
kill -USR1 "$pid"
kill -HUP "$pid"
check "a log that is full" until_good grep -q "No space left on device; lines are lost" "$dir/out.2"
opensm/opensmctl/opensmctl -s "$dir/socket" health >"$dir/out" 2>&1
code=$?
check "health tells it" says 13 "^ERROR files: lines of the log are being lost"
rm "$dir/logs/log"
kill -USR1 "$pid"
until_good grep -qs "lines of the log were lost" "$dir/logs/log"
opensm/opensmctl/opensmctl -s "$dir/socket" health >"$dir/out" 2>&1
code=$?
check "until it takes lines again" says 0 "^healthy"
kill -TERM "$pid"
wait "$pid"
code=$?
check "and goes on" test "$code" -eq 0

# Plans.
run --sim fattree:4 --plan -f "$dir/plan.log"
check "a plan" says 2 "^Sets: 289; ports brought up: 96; LIDs: 36 new, 0 changed;"
check "of 20 nodes" [ "$(grep -c "^[a-zA-Z]* '.*' (0x" "$dir/out")" -eq 20 ]
check "leaves no log" [ ! -e "$dir/plan.log" ]
run --sim fattree:4 --plan -v
check "and of all" [ "$(grep -c "^[a-zA-Z]* '.*' (0x" "$dir/out")" -eq 36 ]
run --sim fattree:4 --plan --json
check "as JSON" says 2 '^{"complete":true,"changes":true,"switches":20,"hosts":16,'
run --sim fattree:4 --plan -g 0x99
check "of no port" says 1 "no port of the simulated fabric has GUID 0x0000000000000099"
"$opensm" -F "$dir/plain.conf" --sim fattree:4 --plan >/dev/full 2>"$dir/out"
code=$?
check "that cannot be written" says 1 "opensm: cannot write to the standard output: No space"

echo "test_main: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
