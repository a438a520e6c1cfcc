#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Runs within the Debian that boot.py has booted, with ours installed over the classic: the service
# as the real service manager runs it, on ibsim. Prints "ok" or "not ok" and what was checked.
guid=0x0000000000100001
unit=opensm@$guid.service
cd /opt || exit 1

check() { # what, command...
	local what=$1 said
	shift
	if said=$("$@" 2>&1); then
		echo "ok $what"
	else
		echo "not ok $what: $* said: $said"
	fi
}

is() { # expected, command...
	local expected=$1 said
	shift
	said=$("$@" 2>&1)
	[ "$said" = "$expected" ] || { echo "$said"; false; }
}

# Differences of a host with ibsim for its HCA from one with a real HCA.
for name in opensm opensm@; do
	mkdir -p /etc/systemd/system/$name.service.d
	printf '[Unit]\nConditionPathExists=\n' >/etc/systemd/system/$name.service.d/ibsim.conf
done
cat >>/etc/systemd/system/opensm@.service.d/ibsim.conf <<-END
	[Service]
	Environment=LD_PRELOAD=$(echo /usr/lib/*/umad2sim/libumad2sim.so) SIM_HOST=H0
	WorkingDirectory=/tmp
END
cat >net <<-'END'
	Switch 4 "S"
	[1] "H0"[1]
	[2] "H1"[1]

	Hca 1 "H0"
	[1] "S"[1]

	Hca 1 "H1"
	[1] "S"[2]
END
mkfifo commands
ibsim -s net <commands >ibsim.out 2>&1 &
exec 9>commands
until grep -q 'simulator ready' ibsim.out; do sleep 0.1; done

echo "PORTS=\"$guid\"" >/etc/default/opensm
systemctl daemon-reload
check "it starts" systemctl restart opensm.service
check "and is ready only now" grep -q 'SUBNET UP' /var/log/opensm.$guid.log
check "its unit serves" systemctl is-active $unit
check "its status" bash -c "systemctl show -P StatusText $unit | grep 'MASTER, subnet up'"
check "no capability" is 'CapEff:	0000000000000000' \
	grep CapEff "/proc/$(systemctl show -P MainPID $unit)/status"
check "control sockets have their directory" is '2750 root opensm' stat -c '%a %U %G' /run/opensm
check "dumps" test -s /var/log/opensm/$guid/opensm-subnet.lst
check "LIDs" test -s /var/cache/opensm/$guid/guid2lid
for id in 7afcf7a535734c08be2c079fff3132a2 aa58b3314b664441a73e41891501dcbf; do
	check "milestone $id in the journal" is 3 bash -c "journalctl --sync &&
		journalctl -o export -n 1 MESSAGE_ID=$id |
		grep -c -x -e PRIORITY=6 -e SYSLOG_IDENTIFIER=OpenSM -e _SYSTEMD_UNIT=$unit"
done
check "its port in the journal" bash -c "journalctl OPENSM_PORT_GUID=$guid | grep 'SUBNET UP'"
check "it reads its files again" systemctl reload opensm.service
check "and still serves" systemctl is-active $unit
echo 'no_such_key 1' >/etc/opensm/opensm.conf
echo 'lmc 9' >>/etc/opensm/opensm.conf
systemctl restart opensm.service 2>/dev/null
check "what is wrong is in the journal" bash -c "journalctl --sync &&
	journalctl -u $unit | grep lmc"
rm /etc/opensm/opensm.conf
check "it starts again" systemctl restart opensm.service
check "nothing was forbidden" bash -c \
	"! journalctl -u 'opensm*' | grep -E 'Permission|not permitted|Read-only|SIGSYS'"
systemctl stop opensm.service
check "it stops" is inactive bash -c "sleep 3; systemctl is-active $unit"

# A port that udev has seen.
mkdir -p sys/class/infiniband_mad/umad0 sys/class/infiniband/ibsim0/ports/1/gids
echo ibsim0 >sys/class/infiniband_mad/umad0/ibdev
echo 1 >sys/class/infiniband_mad/umad0/port
echo InfiniBand >sys/class/infiniband/ibsim0/ports/1/link_layer
echo fe80:0000:0000:0000:0000:0000:0010:0001 >sys/class/infiniband/ibsim0/ports/1/gids/0
mkdir -p /etc/systemd/system/opensm-hotplug@.service.d
printf '[Service]\nEnvironment=OPENSM_SYSFS=/opt/sys\n' \
	>/etc/systemd/system/opensm-hotplug@.service.d/ibsim.conf
systemctl daemon-reload
check "a new port" systemctl start opensm-hotplug@umad0.service
check "gets its subnet manager" is active bash -c "sleep 3; systemctl is-active $unit"
systemctl stop opensm.service
systemctl disable opensm.service
check "a new port, the service disabled" systemctl start opensm-hotplug@umad0.service
check "gets none" is inactive bash -c "sleep 3; systemctl is-active $unit"
