#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# pack.sh OUTPUT ASSET...: writes a C file with the table of these assets (asset.h), each compressed
# by gzip. Not by glib-compile-resources, whose tables can be written to.
set -e
output=$1
shift
mkdir -p "$(dirname "$output")"
{
	echo '#include "web/page/asset.h"'
	n=0
	for asset in "$@"; do
		echo "static const unsigned char octets$n[] = {"
		gzip -9nc "$asset" | od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
		echo '};'
		n=$((n + 1))
	done
	echo 'const struct page_asset page_assets[] = {'
	n=0
	for asset in "$@"; do
		echo "{\"$(basename "$asset")\", octets$n, sizeof(octets$n)},"
		n=$((n + 1))
	done
	echo '{0}};'
} >"$output.new"
mv "$output.new" "$output"
