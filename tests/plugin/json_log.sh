#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What JSON loggers do, without a plug-in: json_log.sh FILE OPENSMCTL...
# Adds a line to FILE for each event, from where the file ends on, whoever was restarted since.
file=$1
shift
place=$(tail -n 1 "$file" 2>/dev/null |
	sed -n 's/^{"run":"\(0x[0-9a-f]*\)","serial":\([0-9]*\),.*/\1:\2/p')
exec "$@" events --follow --json --since "${place:-0}" >>"$file"
