#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What the systemd units run, on a host of two InfiniBand ports and an Ethernet port that is made
# up here, and whether systemd accepts the units, where it is installed.
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
PORTS="${two#0x} $one" run start
check "as Debian writes it" 0 "start opensm@$two.service opensm@$one.service cache  dumps "
for bad in 0 0x 0x0 0x12g 12g x12 first; do
	PORTS="$bad" run start
	check "not $bad" 1 "opensm: PORTS: '$([ $bad = 0 ] && echo 0x)$bad' is no port GUID"
done
OPTIONS="--lmc 1" run run first
check "the first port" 0 "--lmc 1 cache  dumps "
echo "$one 0x1 0x1" >"$dir/cache/guid2lid"
echo 7 >"$dir/cache/partitions.state"
echo 8 >"$dir/cache/m_key_generation"
echo 9 >"$dir/cache/partitions.last"
echo 10 >"$dir/cache/options.state"
OPTIONS="--lmc 1" run run $one
given="--guid $one --log_file $dir/log/opensm.$one.log --lmc 1"
check "a port" 0 "$given cache /$one dumps /opensm/$one"
cmp -s "$dir/cache/guid2lid" "$dir/cache/$one/guid2lid" &&
	grep -q 7 "$dir/cache/$one/partitions.state" && \
		grep -q 8 "$dir/cache/$one/m_key_generation" && \
		grep -q 9 "$dir/cache/$one/partitions.last" && \
		grep -q 10 "$dir/cache/$one/options.state"
code=$?
: >"$dir/out"
check "it knows the LIDs of before, and what was changed at run time" 0 ""
echo "$one 0x2 0x2" >"$dir/cache/$one/guid2lid"
run run $one
grep -q 0x2 "$dir/cache/$one/guid2lid"
code=$?
: >"$dir/out"
check "but its own stay" 0 ""

# What udev starts for a new port. The stub of systemctl knows which units are enabled.
device() { # umad device, HCA, port
	mkdir -p "$dir/sys/class/infiniband_mad/$1"
	echo "$2" >"$dir/sys/class/infiniband_mad/$1/ibdev"
	echo "$3" >"$dir/sys/class/infiniband_mad/$1/port"
}

plugged() { # enabled units, umad device
	cat >"$dir/systemctl" <<END
#!/bin/sh
case \$1\$2 in
--quietis-enabled) case " $1 " in *" \$3 "*) exit 0 ;; *) exit 1 ;; esac ;;
*) echo "\$*" ;;
esac
END
	chmod +x "$dir/systemctl"
	env OPENSM_SYSFS="$dir/sys" SYSTEMCTL="$dir/systemctl" "$ports" plugged "$2" \
		>"$dir/out" 2>&1
	code=$?
}

device umad0 mlx5_0 1
device umad1 mlx5_0 2
device umad2 mlx5_1 1
all="--no-block start opensm.service opensm@"
PORTS=ALL plugged opensm.service umad2
check "a new port" 0 "$all$two.service"
PORTS=ALL plugged opensm.service umad1
check "a new port of Ethernet" 0 ""
PORTS=$one plugged opensm.service umad2
check "a new port that PORTS leaves out" 0 ""
PORTS="0x1 0x2C903000A1B2C" plugged opensm.service umad0
check "a GUID in another form" 0 "${all}0x2C903000A1B2C.service"
PORTS=NONE plugged opensm.service umad0
check "NONE takes no new port" 0 ""
plugged opensm.service umad0
check "a new port, none told" 0 "${all}first.service"
PORTS=ALL plugged "" umad0
check "the service is disabled" 0 ""
PORTS=ALL plugged "opensm@$one.service" umad0
check "only an instance is enabled" 0 "--no-block start opensm@$one.service"

# The way back to the classic daemon.
echo "$one 0x3 0x3" >"$dir/cache/$one/guid2lid"
run give-back
check "LIDs go back" 0 ""
if ! [ -e "$dir/cache/$one/guid2lid" ] && grep -q 0x3 "$dir/cache/guid2lid"; then
	check "and are where the classic looks" 0 ""
else
	code=lost check "and are where the classic looks" 0 ""
fi
mkdir -p "$dir/cache/$two"
echo "$two 0x4 0x4" | tee "$dir/cache/$two/guid2lid" >"$dir/cache/$one/guid2lid"
run give-back
check "but not those of two subnets" 0 "opensm: LIDs of 2 subnets stay where they are: \
$dir/cache/$one/guid2lid $dir/cache/$two/guid2lid"

rm -r "$dir/sys"
PORTS=ALL run start
check "no ports" 0 "opensm: no InfiniBand ports"

units="opensm opensm@ opensm-hotplug@"
if [ -e config/opensm-web.service ]; then
	units="$units opensm-web"
	web=$dir/opensm-web.service
fi
if [ -e config/opensm-snmp.service ]; then
	units="$units opensm-snmp"
	snmp=$dir/opensm-snmp.service
fi
if command -v systemd-analyze >/dev/null; then
	# Programs where the build does not have them yet.
	for unit in $units; do
		sed 's|^\(Exec[A-Za-z]*=\)[^ ]*opensm-[psw][a-z]*|\1/bin/true|' \
			"config/$unit.service" >"$dir/$unit.service"
	done
	systemd-analyze verify --man=no "$dir/opensm.service" "$dir/opensm@$one.service" \
		"$dir/opensm-hotplug@umad0.service" ${web:+"$web"} ${snmp:+"$snmp"} \
		>"$dir/all" 2>&1
	code=0
	grep "opensm" "$dir/all" >"$dir/out"
	check "systemd takes them" 0 ""
	for unit in $units; do
		systemd-analyze security --offline=true --threshold=20 "$dir/$unit.service" \
			>"$dir/all" 2>&1
		code=$?
		grep "exposure level" "$dir/all"
		: >"$dir/out"
		check "$unit is exposed by 2.0 at most" 0 ""
	done
else
	echo "no systemd-analyze: the units are not checked by it"
fi

# The catalog of messages, of which test_log_journal.c knows the entries.
catalog=${srcdir:-.}/config/opensm.catalog
if command -v journalctl >/dev/null; then
	mkdir -p "$dir/root/usr/lib/systemd/catalog" "$dir/root/var/lib/systemd/catalog"
	cp "$catalog" "$dir/root/usr/lib/systemd/catalog"
	journalctl --update-catalog --root="$dir/root" >"$dir/out" 2>&1
	code=$?
	check "the journal takes the catalog" 0 ""
	journalctl --list-catalog --root="$dir/root" 2>&1 | grep -c ' opensm: ' >"$dir/out"
	code=$?
	check "all of it" 0 "$(grep -c '^-- ' "$catalog")"
else
	echo "no journalctl: the catalog is not read by it"
fi

echo "test_units: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
