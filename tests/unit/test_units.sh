#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What the systemd units run, on a host of two InfiniBand ports and an Ethernet port that is made
# up here, and whether systemd takes the units, where it is installed.
ports=$PWD/config/opensm-ports
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
unset PORTS OPTIONS

port() { # device, number, link layer, GID
	mkdir -p "$dir/sys/class/infiniband/$1/ports/$2/gids"
	echo "$3" >"$dir/sys/class/infiniband/$1/ports/$2/link_layer"
	echo "$4" >"$dir/sys/class/infiniband/$1/ports/$2/gids/0"
}

run() { # arguments of opensm-ports
	env OPENSM_SYSFS="$dir/sys" CACHE_DIRECTORY="$dir/cache" OPENSM_LOGS="$dir/log" \
		SYSTEMCTL="$dir/echo" OPENSM="$dir/echo" "$ports" "$@" >"$dir/out" 2>&1
	code=$?
}

check() { # what, expected code, expected output
	if [ "$code" -eq "$2" ] && [ "$(cat "$dir/out")" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok: $1: code $code, $(cat "$dir/out")"
	fi
}

port mlx5_0 1 InfiniBand fe80:0000:0000:0000:0002:c903:000a:1b2c
port mlx5_0 2 Ethernet fe80:0000:0000:0000:0002:c9ff:fe0a:1b2d
port mlx5_1 1 InfiniBand fe80:0000:0000:0000:0002:c903:000a:1b2e
mkdir -p "$dir/cache" "$dir/log"
cat >"$dir/echo" <<'END'
#!/bin/sh
echo "$* cache ${OSM_CACHE_DIR##*/cache} dumps ${OSM_TMP_DIR##*/log}"
END
chmod +x "$dir/echo"
one=0x0002c903000a1b2c
two=0x0002c903000a1b2e

PORTS=NONE run wanted
check "NONE starts nothing" 1 ""
PORTS=ALL run wanted
check "ALL starts something" 0 ""
run wanted
check "as does nothing at all" 0 ""
PORTS=ALL run start
check "ALL" 0 "start opensm@$one.service opensm@$two.service cache  dumps "
PORTS="$two $one" run start
check "a list" 0 "start opensm@$two.service opensm@$one.service cache  dumps "
run start
check "none told" 0 "start opensm@first.service cache  dumps "
PORTS="$one ib0" run start
check "no GUID" 1 "opensm: PORTS: 'ib0' is no port GUID"
OPTIONS="--lmc 1" run run first
check "the first port" 0 "--lmc 1 cache  dumps "
echo "$one 0x1 0x1" >"$dir/cache/guid2lid"
OPTIONS="--lmc 1" run run $one
given="--guid $one --log_file $dir/log/opensm.$one.log --lmc 1"
check "a port" 0 "$given cache /$one dumps /opensm/$one"
cmp -s "$dir/cache/guid2lid" "$dir/cache/$one/guid2lid"
code=$?
: >"$dir/out"
check "it knows the LIDs of before" 0 ""
echo "$one 0x2 0x2" >"$dir/cache/$one/guid2lid"
run run $one
grep -q 0x2 "$dir/cache/$one/guid2lid"
code=$?
: >"$dir/out"
check "but its own stay" 0 ""
rm -r "$dir/sys"
PORTS=ALL run start
check "no ports" 0 "opensm: no InfiniBand ports"

if command -v systemd-analyze >/dev/null; then
	# Programs where a build has them not yet.
	for unit in opensm.service opensm@.service; do
		sed 's|^\(Exec[A-Za-z]*=\)[^ ]*opensm-ports|\1/bin/true|' "config/$unit" \
			>"$dir/$unit"
	done
	systemd-analyze verify --man=no "$dir/opensm.service" "$dir/opensm@$one.service" \
		>"$dir/all" 2>&1
	code=0
	grep "opensm" "$dir/all" >"$dir/out"
	check "systemd takes them" 0 ""
else
	echo "no systemd-analyze: the units are not checked by it"
fi

echo "test_units: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
